import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from mdplay import make, play
from mdplay.playing.terminal import paint


@given(st.sampled_from(["tic-tac-toe", "connect-four", "dots-and-boxes", "qubic"]), st.integers(0, 99))
def test_colours_change_no_character(name, seed):
    game = make(name)
    boards = [p.board for p in play(game, "random", "random", seed=seed).replay().positions]
    for before, board in pairwise(boards):
        assert re.sub(r"\x1b\[[0-9;]*m", "", paint(board, before)) == board


def test_the_last_mark_stands_out():
    game = make("tic-tac-toe")
    before, after = game.parse("100000000"), game.parse("100020000")
    painted = paint(game.board(after), game.board(before))
    assert painted.count("\x1b[7m") == painted.count(";7m") + painted.count("[7m") == 1
    assert "\x1b[33m\x1b[1m\x1b[7mO" in painted


def test_tiles_have_a_colour_each():
    game = make("2048:rows=2,cols=2")
    painted = paint(game.board(game.parse("1230")), tiles=True)
    assert len(set(re.findall(r"\x1b\[3\dm", painted))) == 3
    assert "\x1b[7m" not in painted
