import pytest

from mdplay.errors import IllegalMove, PositionError
from mdplay.game import find_action, num_players, parse_position
from mdplay.games.connect_four import ConnectFour
from mdplay.games.tic_tac_toe import TicTacToe
from mdplay.games.twenty48 import Twenty48
from mdplay.registry import make
from tests.helpers import NIM, write


def test_flags_tell_what_a_game_overrides():
    assert Twenty48.has_outcomes and Twenty48.has_reward and not Twenty48.has_order
    assert ConnectFour.has_order and not ConnectFour.has_outcomes


def test_number_of_players():
    assert (num_players(ConnectFour()), num_players(Twenty48())) == (2, 1)


def test_moves_by_name():
    assert find_action(Twenty48(), Twenty48().parse("1" + "0" * 15), " RIGHT ") == 1
    with pytest.raises(IllegalMove, match="'8' is not a legal move in .*; choose from 1, 2, 3, 4, 5, 6, 7"):
        find_action(ConnectFour(), ConnectFour().initial(), "8")


def test_every_game_reads_moves(tmp_path):
    assert parse_position(TicTacToe(), "moves:4,0") == TicTacToe().parse("200010000")
    assert parse_position(Twenty48(), "moves:2@0,4@5,left") == Twenty48().parse("1000200000000000+1")
    assert parse_position(Twenty48(), "moves:*0,*21,left") == Twenty48().parse("1000200000000000+1")
    nim = make(str(write(tmp_path, "nim.py", NIM)))
    assert parse_position(nim, "moves:0,2") == (17, 0)
    with pytest.raises(PositionError, match="give the moves played"):
        parse_position(nim, "17")
    with pytest.raises(PositionError, match="move 2: '9' is not a legal move"):
        parse_position(nim, "moves:0,9")
    with pytest.raises(PositionError, match="move 1: 'up' is no outcome of chance"):
        parse_position(Twenty48(), "moves:up")


def test_defaults_for_people(tmp_path):
    nim = make(str(write(tmp_path, "nim.py", NIM)))
    s = nim.initial()
    assert (nim.text(s), nim.move_text(s, 2)) == ("21,0", "2")
    assert nim.board(s) == "pile = 21\nplayer = 0"
