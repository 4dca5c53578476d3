"""Random games replayed side by side with OpenSpiel's own: every move must mean the same to both."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from mdplay.bits import elements, nonempty
from mdplay.game import Game, num_players
from mdplay.games.connect_four.rules import ConnectFour
from mdplay.games.dots_and_boxes.rules import DotsAndBoxes
from mdplay.games.tic_tac_toe.rules import TicTacToe
from mdplay.games.twenty48.rules import Twenty48
from mdplay.rng import Random

pyspiel = pytest.importorskip("pyspiel")


@dataclass(frozen=True)
class Pair:
    """A game of ours, the text that makes OpenSpiel's, and how actions and chance outcomes are renumbered."""

    game: Game[Any]
    theirs: str
    action: Callable[[int], int] = lambda a: a
    outcome: Callable[[int], int] = lambda i: i
    games: int = 30


def line_of_dots_and_boxes(game: DotsAndBoxes) -> Callable[[int], int]:
    """OpenSpiel numbers vertical lines row by row, we column by column."""

    def renumber(action: int) -> int:
        across = (game.rows + 1) * game.cols
        if action < across:
            return action
        c, r = divmod(action - across, game.rows)
        return across + r * (game.cols + 1) + c

    return renumber


def dots_and_boxes(rows: int, cols: int) -> Pair:
    game = DotsAndBoxes(rows, cols)
    theirs = f"dots_and_boxes(num_rows={rows},num_cols={cols},utility_margin=True)"
    return Pair(game, theirs, line_of_dots_and_boxes(game))


PAIRS = [
    Pair(TicTacToe(), "tic_tac_toe", games=200),
    Pair(TicTacToe(misere=True), "misere(game=tic_tac_toe())", games=200),
    Pair(ConnectFour(), "connect_four", games=100),
    Pair(ConnectFour(5, 8), "connect_four(rows=5,columns=8)", games=100),
    dots_and_boxes(1, 1),
    dots_and_boxes(2, 2),
    dots_and_boxes(2, 3),
    dots_and_boxes(4, 3),
    # up, right, down, left; cell by cell a 2 and then a 4
    Pair(Twenty48(), "2048(max_tile=131072)", lambda a: (3, 1, 0, 2)[a], lambda i: 2 * (i // 4) + i % 4, games=12),
]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.theirs)
def test_random_games_agree(pair):
    for number in range(pair.games):
        replay(pair, Random(11, number))


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS[:-1], ids=lambda pair: pair.theirs)
def test_ten_thousand_random_games_agree(pair):
    for number in range(10_000):
        replay(pair, Random(12, number))


def replay(pair: Pair, rng: Random) -> None:
    """Play one random game in both; compare legal moves, player, probabilities, rewards and returns."""
    game, s, theirs = pair.game, pair.game.initial(), pyspiel.load_game(pair.theirs).new_initial_state()
    points = [0.0, 0.0]
    while not (over := theirs.is_terminal()) or nonempty(game.legal(s)):
        if nonempty(game.outcomes(s)):
            s = compare_chance(pair, s, theirs, rng)
            continue
        legal = {pair.action(a) for a in elements(game.legal(s))}
        assert not over
        assert legal == set(theirs.legal_actions()) | forgotten(theirs), f"{game.text(s)}\n{theirs}"
        mover = game.player(s)
        assert mover == theirs.current_player()
        action = rng.pick(game.legal(s))
        points[mover] += game.reward(s, action)
        s = game.step(s, action)
        theirs.apply_action(pair.action(action))
        compare_points(game, theirs, points)
    assert returns(game, s, points) == theirs.returns()


def forgotten(theirs: Any) -> set[int]:
    """The moves of 2048 that OpenSpiel 2.0.2 carries out but does not list among the legal ones.

    A tile that the last move has merged keeps its mark, so a move that does nothing but merge it again is
    left out; carrying it out clears the marks first, and hands over to chance if and only if a tile moves.
    """
    if theirs.get_game().get_type().short_name != "2048":
        return set()
    return {a for a in range(4) if applied(theirs, a).is_chance_node()}


def applied(theirs: Any, action: int) -> Any:
    after = theirs.clone()
    after.apply_action(action)
    return after


def compare_points(game: Game[Any], theirs: Any, points: list[float]) -> None:
    """Compare the points so far, where OpenSpiel tells them before the end."""
    model = theirs.get_game().get_type().reward_model
    if game.has_reward and model == pyspiel.GameType.RewardModel.REWARDS:
        assert returns(game, None, points) == theirs.returns()


def compare_chance(pair: Pair, s: Any, theirs: Any, rng: Random) -> Any:
    """Compare the outcomes of chance and their probabilities, then draw one for both."""
    game = pair.game
    assert theirs.is_chance_node()
    ours = {pair.outcome(i): game.probability(s, i) for i in elements(game.outcomes(s))}
    assert ours == pytest.approx(dict(theirs.chance_outcomes()))
    i = game.draw(s, rng.word())
    theirs.apply_action(pair.outcome(i))
    return game.outcome(s, i)


def returns(game: Game[Any], s: Any, points: list[float]) -> list[float]:
    """What each player has at the end: the only one its points, one of two the difference and the result."""
    if num_players(game) == 1:
        return points[:1]
    total = points[0] - points[1] + game.result(s)
    return [total, -total]
