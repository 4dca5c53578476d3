"""Othello: published counts, games side by side with OpenSpiel's, the exact value of a small board."""

import pytest

from mdplay import GameError, PositionError, make, perft, solve
from mdplay.bits import elements, nonempty
from mdplay.games.othello.rules import Othello, State
from mdplay.rng import Random

PASS = 64  # OpenSpiel's action


def test_number_of_move_sequences():
    """Published perft counts of 8 x 8; nobody has to pass before the ninth move."""
    assert [ply.paths for ply in perft(Othello(), depth=5)][1:] == [4, 12, 56, 244, 1396]


def test_the_second_player_wins_4_by_4_by_eight_discs(needs_compiler):
    """Known since the 1990s: perfect play ends 3 to 11."""
    assert solve(make("othello:side=4,discs=yes")).value() == -8


def test_who_cannot_move_is_passed_over():
    game = Othello(4)
    after = game.step(game.parse("xo../xo../...x/.... x"), 2)  # x encloses the disc on b1; o encloses nothing
    assert after.player == 0 and game.text(after) == "xxx./xo../...x/.... x"
    over = game.parse("xx../..../...o/.... o")  # neither can move
    assert elements(game.legal(over)) == [] and game.result(over) == 1
    assert Othello(4, discs=True).result(game.parse("xxx./..../...o/.... o")) == 2


@pytest.mark.parametrize("number", range(6))
def test_random_games_agree_with_open_spiel(number):
    pyspiel = pytest.importorskip("pyspiel")
    game, rng = Othello(), Random(5, number)
    s, theirs = game.initial(), pyspiel.load_game("othello").new_initial_state()
    while nonempty(game.legal(s)):
        if theirs.legal_actions() == [PASS]:
            theirs.apply_action(PASS)
        assert theirs.current_player() == s.player and theirs.legal_actions() == elements(game.legal(s))
        action = rng.pick(game.legal(s))
        s = game.step(s, action)
        theirs.apply_action(action)
    assert theirs.is_terminal() and theirs.returns()[0] == game.result(s)


def test_words():
    game = Othello(4)
    assert (
        game.text(game.initial()) == "..../.ox./.xo./.... x"
        and game.parse(game.text(game.initial())) == game.initial()
    )
    assert [game.move_text(game.initial(), a) for a in elements(game.legal(game.initial()))] == [
        "b1",
        "a2",
        "d3",
        "c4",
    ]
    assert game.initial() == State(1 << 6 | 1 << 9, 1 << 5 | 1 << 10, 0)


@pytest.mark.parametrize("text", ["", "..../.ox./.xo./....", "..../.ox./.xo./... x", "xxo./..../..../.... z"])
def test_bad_positions_are_refused(text):
    with pytest.raises(PositionError):
        Othello(4).parse(text)


def test_who_cannot_move_is_not_to_move():
    with pytest.raises(PositionError, match="o has no move here"):
        Othello(4).parse("xo../..../..../.... o")
    with pytest.raises(GameError, match="4, 6 or 8"):
        make("othello:side=5")
