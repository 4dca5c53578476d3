import pytest

from mdplay import IllegalMove, PositionError
from mdplay.games.connect_four.rules import ConnectFour
from mdplay.games.tic_tac_toe.rules import TicTacToe
from mdplay.games.twenty48.rules import Twenty48
from mdplay.naming.notation import (
    event_text,
    find_action,
    find_event,
    find_outcome,
    follow,
    parse_position,
    play_moves,
    result_text,
    split_moves,
)
from mdplay.naming.registry import make
from tests.helpers import NIM, write


def test_moves_by_name():
    assert find_action(Twenty48(), Twenty48().parse("1" + "0" * 15), " RIGHT ") == 1
    with pytest.raises(IllegalMove, match="'8' is not a legal move in .*; choose from 1, 2, 3, 4, 5, 6, 7"):
        find_action(ConnectFour(), ConnectFour().initial(), "8")
    with pytest.raises(IllegalMove, match="'8' is not a legal move in 111220000; the game is over"):
        find_action(TicTacToe(), TicTacToe().parse("111220000"), "8")


def test_outcomes_by_name_or_number():
    game = Twenty48(rows=1, cols=2)
    s = game.initial()
    assert find_outcome(game, s, " 4@1 ") == find_outcome(game, s, "*5") == 5
    with pytest.raises(
        IllegalMove, match=r"'2@2' is no outcome of chance in .*; choose from 2@0, 4@0, 2@1, 4@1, \*0"
    ):
        find_outcome(game, s, "2@2")


def test_an_event_is_an_outcome_where_chance_moves_and_an_action_elsewhere():
    game = Twenty48(rows=2, cols=2)
    s, played = game.initial(), []
    for text in ("2@0", "2@1", "left"):
        event = find_event(game, s, text)
        played.append(event_text(game, s, event))
        s = follow(game, s, event)
    assert played == ["2@0", "2@1", "left"]
    assert game.text(s) == "2000+1"


def test_moves_are_separated_by_commas_or_space():
    assert split_moves(" 4,4\n5 ,, 3\t") == ["4", "4", "5", "3"]
    assert split_moves(" ") == []
    game = ConnectFour()
    assert play_moves(game, game.parse("44"), "5, 3") == game.parse("4453")


def test_every_game_reads_moves(tmp_path):
    assert parse_position(TicTacToe(), "moves:4,0") == TicTacToe().parse("200010000")
    assert parse_position(Twenty48(), "moves:2@0,4@5,left") == Twenty48().parse("1000200000000000+1")
    assert parse_position(Twenty48(), "moves:*0,*21,left") == Twenty48().parse("1000200000000000+1")
    nim = make(str(write(tmp_path, "nim.py", NIM)))
    assert parse_position(nim, "moves:0,2") == (17, 0)
    with pytest.raises(PositionError, match="give its fields as pile,player, or the moves played"):
        parse_position(nim, "17")
    with pytest.raises(PositionError, match="move 2: '9' is not a legal move"):
        parse_position(nim, "moves:0,9")
    with pytest.raises(PositionError, match="move 1: 'up' is no outcome of chance"):
        parse_position(Twenty48(), "moves:up")


@pytest.mark.parametrize(
    "game, value, words",
    [
        ("tic-tac-toe", 1, "player 1 wins"),
        ("tic-tac-toe", -1, "player 2 wins"),
        ("tic-tac-toe", 0, "a draw"),
        ("dots-and-boxes", 1, "player 1 wins by 1"),
        ("dots-and-boxes", -4, "player 2 wins by 4"),
        ("tic-tac-toe", -8, "player 2 wins by 8"),  # a result that is no mere win tells by how much
        ("2048", 132, "132 points"),
    ],
)
def test_results_in_words(game, value, words):
    assert result_text(make(game), value) == words
