import json
import random

import numpy as np
import pytest

from mdplay.bits import members
from mdplay.bridge import word
from mdplay.errors import FormatError, GameError
from mdplay.games.connect_four import ConnectFour
from mdplay.games.dots_and_boxes import DotsAndBoxes
from mdplay.games.qubic import Qubic
from mdplay.games.tic_tac_toe import TicTacToe
from mdplay.learning import points
from mdplay.learning.points import PointsAgent, learn, num_points, rich_points, shape_of
from mdplay.rng import Random
from tests.helpers import COMPILED

QUBIC = Qubic()


def overlap(run):
    rich = set(rich_points(QUBIC))
    return len(rich & set(run.highest(len(rich))))


@pytest.mark.parametrize("seed", range(5))
def test_pure_exploration_finds_the_sixteen_points_on_seven_lines(seed, needs_compiler):
    assert overlap(learn(QUBIC, games=10_000, explore="always", seed=seed)) == 16


def test_annealing_and_few_games_do_not(needs_compiler):
    assert 4 < overlap(learn(QUBIC, games=1_000, explore="always")) < 16
    assert 4 < overlap(learn(QUBIC, games=100_000, seed=1)) < 16


def test_utilities_of_random_games_agree_with_six_million_elsewhere(needs_compiler):
    # notes of an independent program: whoever holds a point wins 0.5604 / 0.5236 (first), 0.5091 / 0.4718 (second)
    run = learn(QUBIC, games=400_000, explore="always", seed=3)
    rich = np.isin(np.arange(64), rich_points(QUBIC))
    assert run.utilities[rich].mean() == pytest.approx((0.5604 + 0.5091) / 2, abs=0.003)
    assert run.utilities[~rich].mean() == pytest.approx((0.5236 + 0.4718) / 2, abs=0.003)
    assert run.victories / run.num_games == pytest.approx(0.5272, abs=0.004)
    assert run.games.sum() / run.num_games == pytest.approx(35.47, abs=0.1)


def test_every_count_is_accounted_for():
    run = learn(TicTacToe(), games=300, seed=2)
    assert run.num_games == 300 and (run.wins <= run.games).all() and (run.games <= 300).all()
    # a decided game of k moves gives ceil(k/2) or floor(k/2) wins: at least three
    assert run.wins.sum() >= 3 * (run.victories + run.losses)
    again = learn(TicTacToe(), games=300, seed=2)
    assert (again.wins == run.wins).all() and (again.games == run.games).all()
    assert (learn(TicTacToe(), games=300, seed=3).wins != run.wins).any()


def by_hand(game, games, seed):
    """The same rules in plain Python, with a random source of its own: only the statistics can agree."""
    rng, wins, played = random.Random(seed), [0] * num_points(game), [0] * num_points(game)
    for number in range(games):
        s, moves = game.initial(), []
        while free := members(game.legal(s)):
            if rng.random() < number / games:
                utility = {p: wins[p] / played[p] if played[p] else 0.5 for p in free}
                free = [p for p in free if utility[p] == max(utility.values())]
            moves.append((rng.choice(free), s.player))
            s = game.step(s, moves[-1][0])
        for point, player in moves:
            played[point] += 1
            wins[point] += game.result(s) == (-1 if player else 1)
    return np.array(wins), np.array(played)


def test_annealing_agrees_with_plain_python():
    # Both share the rule, not the random numbers: compare means over seeds, and the centre's part in the end.
    count = 30 if COMPILED else 8
    ours = [learn(TicTacToe(), games=300, seed=seed) for seed in range(count)]
    hand = [by_hand(TicTacToe(), 300, seed) for seed in range(count)]
    mine, theirs = np.array([r.utilities for r in ours]), np.array([w / g for w, g in hand])
    error = np.sqrt((mine.var(0) + theirs.var(0)) / (count - 1))
    assert (abs(mine.mean(0) - theirs.mean(0)) < 4.5 * error).all()
    played = np.array([r.games for r in ours]).mean(0), np.array([g for _, g in hand]).mean(0)
    assert played[0] == pytest.approx(played[1], rel=0.15)


def test_ties_of_the_best_point_are_drawn_and_worse_points_never():
    utility = np.array([0.5, 0.7, 0.7 - 1e-12, 0.2])
    drawn = [int(points.best_point(0b1111, utility, word(Random(0, i).word()))) for i in range(50)]
    assert set(drawn) == {1, 2} and 10 < drawn.count(1) < 40
    assert int(points.best_point(0b1001, utility, word(Random(1).word()))) == 0


def test_games_that_are_not_of_points_are_refused():
    with pytest.raises(GameError, match="played twice"):
        learn(ConnectFour(), games=50)
    assert learn(DotsAndBoxes(), games=50).games.sum() == 600  # every line is drawn in every game
    with pytest.raises(ValueError, match="games=0"):
        learn(QUBIC, games=0)
    with pytest.raises(ValueError, match="explore='never'"):
        learn(QUBIC, games=1, explore="never")


def test_layout():
    assert (shape_of(QUBIC), shape_of(TicTacToe()), shape_of(DotsAndBoxes())) == ((4, 4, 4), (1, 3, 3), (1, 1, 12))
    assert len(rich_points(QUBIC)) == 16 and rich_points(DotsAndBoxes()) == []


def test_agent_plays_the_best_free_point(tmp_path):
    game = TicTacToe()
    run = learn(game, games=2000, explore="always")
    file = tmp_path / "points.json"
    file.write_text(json.dumps({"runs": [run.as_dict()]}))
    agent = PointsAgent(game, str(file))
    assert agent.act(game.initial(), Random(0)) == run.highest(1)[0] == 4  # the centre is on the most lines
    assert agent.act(game.step(game.initial(), 4), Random(0)) == run.highest(2)[1]
    with pytest.raises(FormatError, match="9 points; this game has 64"):
        PointsAgent(QUBIC, str(file))
    file.write_text("{}")
    with pytest.raises(FormatError, match="holds no utilities"):
        PointsAgent(game, str(file))
    with pytest.raises(FormatError, match="cannot read"):
        PointsAgent(game, str(tmp_path / "missing.json"))
