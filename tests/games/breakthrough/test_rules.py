"""Breakthrough: counts derived by hand, games side by side with OpenSpiel's, small boards solved twice."""

from functools import cache

import pytest

from mdplay import GameError, PositionError, make, perft, solve
from mdplay.bits import elements, nonempty
from mdplay.games.breakthrough.rules import Breakthrough
from mdplay.rng import Random


def test_number_of_move_sequences():
    """On 8 x 8 the foremost pawns have three moves each, two at the border: 22, and as many replies."""
    assert [ply.paths for ply in perft(Breakthrough(), depth=2)][1:] == [22, 22 * 22]


def test_pawns_move_take_and_win():
    game = Breakthrough(4, 3)
    s = game.parse("ooo/.../xo./xxx x")
    assert [game.move_text(s, a) for a in elements(game.legal(s))] == [
        "a1b2",
        "b1c2",
        "c1b2",
        "c1c2",
        "a2a3",
        "a2b3",
    ]
    taken = game.step(s, 2)
    assert game.text(taken) == "ooo/.../xx./.xx o"
    through = game.step(game.parse("o../..x/.../x.. x"), 5 - 1)
    assert elements(game.legal(through)) == [] and game.result(through) == 1
    last = game.step(game.parse(".../.../.o./x.. x"), 2)
    assert elements(game.legal(last)) == [] and game.result(last) == 1


@pytest.mark.parametrize("rows, cols, number", [(8, 8, 0), (8, 8, 1), (6, 6, 2), (7, 5, 3)])
def test_random_games_agree_with_open_spiel(rows, cols, number):
    """OpenSpiel writes its moves by cells as we do, from the top; its first player begins there."""
    pyspiel = pytest.importorskip("pyspiel")
    game, rng = Breakthrough(rows, cols), Random(3, number)
    theirs = pyspiel.load_game(f"breakthrough(rows={rows},columns={cols})").new_initial_state()

    def name(text):
        return "".join(c if c.isalpha() else str(rows + 1 - int(c)) for c in text.rstrip("*"))

    s = game.initial()
    while nonempty(game.legal(s)):
        known = {name(theirs.action_to_string(a)): a for a in theirs.legal_actions()}
        ours = {game.move_text(s, a): a for a in elements(game.legal(s))}
        assert sorted(known) == sorted(ours) and theirs.current_player() == s.player
        action = rng.pick(game.legal(s))
        theirs.apply_action(known[game.move_text(s, action)])
        s = game.step(s, action)
    assert theirs.is_terminal() and theirs.returns()[0] == game.result(s)


def test_a_small_board_is_solved_as_by_plain_recursion(needs_compiler):
    game = Breakthrough(5, 2)

    @cache
    def value(s):
        moves = elements(game.legal(s))
        return max((-value(game.step(s, a)) for a in moves), default=-1)

    assert solve(game).value() == value(game.initial())


@pytest.mark.parametrize(
    "text", ["", "ooo/ooo/xxx/xxx", "ooo/ooo/xxx/xx x", "x../.o./xxx/xx. x", "xxo/xxx/xxx/xxx x"]
)
def test_bad_positions_are_refused(text):
    with pytest.raises(PositionError):
        Breakthrough(4, 3).parse(text)


def test_boards_that_do_not_fit():
    with pytest.raises(GameError, match="out of range"):
        make("breakthrough:rows=9")
