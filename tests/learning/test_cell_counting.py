"""Tests of ``mdplay.learning.cell_counting``.

Here are tested besides: ``mdplay.learning.cell_utilities`` and ``mdplay.learning.learned``.
"""

import json
import random
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from mdplay.bits import elements
from mdplay.compiling import word
from mdplay.errors import FormatError, GameError, LimitError, UnknownName
from mdplay.game import Game
from mdplay.games.connect_four.rules import ConnectFour
from mdplay.games.dots_and_boxes.rules import DotsAndBoxes
from mdplay.games.qubic.rules import Qubic
from mdplay.games.tic_tac_toe.rules import TicTacToe
from mdplay.learning import cell_counting as counting
from mdplay.learning.cell_counting import learn_utilities as learn
from mdplay.learning.cell_utilities import PointsAgent, num_points, read_points, rich_points, shape_of
from mdplay.rng import Random
from tests.helpers import COMPILED

QUBIC = Qubic()


def overlap(run):
    rich = set(rich_points(QUBIC))
    return len(rich & set(run.highest(len(rich))))


@pytest.mark.parametrize("seed", range(5))
def test_pure_exploration_finds_the_sixteen_points_on_seven_lines(seed, needs_compiler):
    assert overlap(learn(QUBIC, episodes=10_000, explore="always", seed=seed)) == 16


def test_annealing_and_few_games_do_not(needs_compiler):
    assert 4 < overlap(learn(QUBIC, episodes=1_000, explore="always")) < 16
    assert 4 < overlap(learn(QUBIC, episodes=100_000, seed=1)) < 16


def test_utilities_of_random_games_agree_with_six_million_elsewhere(needs_compiler):
    # notes of an independent program: whoever holds a point wins 0.5604 / 0.5236 (first), 0.5091 / 0.4718 (second)
    run = learn(QUBIC, episodes=400_000, explore="always", seed=3)
    rich = np.isin(np.arange(64), rich_points(QUBIC))
    assert run.utilities[rich].mean() == pytest.approx((0.5604 + 0.5091) / 2, abs=0.003)
    assert run.utilities[~rich].mean() == pytest.approx((0.5236 + 0.4718) / 2, abs=0.003)
    assert run.victories / run.num_games == pytest.approx(0.5272, abs=0.004)
    assert run.games.sum() / run.num_games == pytest.approx(35.47, abs=0.1)


def test_every_count_is_accounted_for():
    run = learn(TicTacToe(), episodes=300, seed=2)
    assert run.num_games == 300 and (run.wins <= run.games).all() and (run.games <= 300).all()
    # a decided game of k moves gives ceil(k/2) or floor(k/2) wins: at least three
    assert run.wins.sum() >= 3 * (run.victories + run.losses)
    again = learn(TicTacToe(), episodes=300, seed=2)
    assert (again.wins == run.wins).all() and (again.games == run.games).all()
    assert (learn(TicTacToe(), episodes=300, seed=3).wins != run.wins).any()


def by_hand(game, games, seed):
    """The same rules in plain Python, with a random source of its own: only the statistics can agree."""
    rng, wins, played = random.Random(seed), [0] * num_points(game), [0] * num_points(game)
    for number in range(games):
        s, moves = game.initial(), []
        while free := elements(game.legal(s)):
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
    ours = [learn(TicTacToe(), episodes=300, seed=seed) for seed in range(count)]
    hand = [by_hand(TicTacToe(), 300, seed) for seed in range(count)]
    mine, theirs = np.array([r.utilities for r in ours]), np.array([w / g for w, g in hand])
    error = np.sqrt((mine.var(0) + theirs.var(0)) / (count - 1))
    assert (abs(mine.mean(0) - theirs.mean(0)) < 4.5 * error).all()
    played = np.array([r.games for r in ours]).mean(0), np.array([g for _, g in hand]).mean(0)
    assert played[0] == pytest.approx(played[1], rel=0.15)


def test_ties_of_the_best_point_are_drawn_and_worse_points_never():
    utility = np.array([0.5, 0.7, 0.7 - 1e-12, 0.2])
    drawn = [int(counting.best_point(0b1111, utility, word(Random(0, i).word()))) for i in range(50)]
    assert set(drawn) == {1, 2} and 10 < drawn.count(1) < 40
    assert int(counting.best_point(0b1001, utility, word(Random(1).word()))) == 0


def test_games_that_are_not_of_points_are_refused():
    with pytest.raises(GameError, match="played twice"):
        learn(ConnectFour(), episodes=50)
    assert learn(DotsAndBoxes(), episodes=50).games.sum() == 600  # every line is drawn in every game
    with pytest.raises(LimitError, match="episodes=0"):
        learn(QUBIC, episodes=0)
    with pytest.raises(UnknownName, match="no way to explore 'never'"):
        learn(QUBIC, episodes=1, explore="never")


class Taken(NamedTuple):
    points: int
    moves: int
    player: int


@dataclass(frozen=True)
class Restricted(Game[Taken]):
    """Take points, one of the first few at first; later on there are fifty more, in the end a last one."""

    last: int = 40

    def initial(self) -> Taken:
        return Taken(0, 0, 0)

    def legal(self, s: Taken) -> int:
        if s.moves >= 8:
            return 0
        return ((1 << 10) - 1 if s.moves == 0 else (1 << 40) - 1 | 1 << self.last) & ~s.points

    def step(self, s: Taken, action: int) -> Taken:
        return Taken(s.points | 1 << action, s.moves + 1, 1 - s.player)

    def result(self, s: Taken) -> int:
        return 1 if s.points & 1 << 39 else -1


@dataclass(frozen=True)
class Rare(Restricted):
    """A point beyond all others is free only after a rare sequence."""

    def legal(self, s: Taken) -> int:
        if s.moves >= 8 or s.points >> 62:
            return 0
        return 1 << 62 if s.points == 7 else ((1 << 10) - 1) & ~s.points


def test_points_that_are_not_free_at_first_have_room(tmp_path):
    run = learn(Restricted(), episodes=400, seed=1)
    assert len(run.games) == num_points(Restricted()) == 64
    assert run.games.sum() == 400 * 8 and run.games[10:41].all() and not run.games[41:].any()
    assert shape_of(Restricted()) == (1, 1, 64)
    file = tmp_path / "points.json"
    run.save(file)
    assert PointsAgent(Restricted(), str(file)).act(Restricted().initial(), Random(0)) < 10


def test_a_point_that_nobody_foresaw_is_told():
    with pytest.raises(GameError, match="has points that neither"):
        learn(Rare(), episodes=20_000, explore="always")


def test_layout():
    assert (shape_of(QUBIC), shape_of(TicTacToe()), shape_of(DotsAndBoxes())) == ((4, 4, 4), (1, 3, 3), (1, 1, 12))
    assert len(rich_points(QUBIC)) == 16 and rich_points(DotsAndBoxes()) == []


def test_agent_plays_the_best_free_point(tmp_path):
    game = TicTacToe()
    run = learn(game, episodes=2000, explore="always")
    file = tmp_path / "points.json"
    run.save(file)
    agent = PointsAgent(game, str(file))
    assert agent.act(game.initial(), Random(0)) == run.highest(1)[0] == 4  # the centre is on the most lines
    assert agent.act(game.step(game.initial(), 4), Random(0)) == run.highest(2)[1]
    with pytest.raises(FormatError, match="9 points; this game has 64"):
        PointsAgent(QUBIC, str(file))
    with pytest.raises(FormatError, match="the rules of TicTacToe have changed since .* learn the points again"):
        PointsAgent(TicTacToe(misere=True), str(file))
    for text in ("{}", "[" * 100_000, '{"runs": [{}]}', "[]"):
        file.write_text(text)
        with pytest.raises(
            FormatError, match="holds no utilities of points; such a file is a JSON object .* writes it$"
        ):
            PointsAgent(game, str(file))
    with pytest.raises(FormatError, match="cannot read"):
        PointsAgent(game, str(tmp_path / "missing.json"))


@pytest.mark.parametrize(
    "name, value",
    [
        ("point_wins", [10**30] * 9),
        ("point_wins", [float("inf")] * 9),
        ("point_wins", [[1]] * 9),
        ("point_wins", [-1] * 9),
        ("point_wins", [10**6] * 9),
        ("point_games", [1] * 8),
        ("seed", float("inf")),
        ("results", []),
    ],
)
def test_a_damaged_file_is_refused(tmp_path, name, value):
    run = learn(TicTacToe(), episodes=10).run_document()
    (tmp_path / "points.json").write_text(json.dumps({"runs": [{**run, name: value}]}))
    with pytest.raises(FormatError):
        read_points(tmp_path / "points.json")
    (tmp_path / "points.json").write_text("[" * 100_000)
    with pytest.raises(FormatError):
        read_points(tmp_path / "points.json")
