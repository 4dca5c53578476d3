from mdplay.game import num_players
from mdplay.games.connect_four.rules import ConnectFour
from mdplay.games.twenty48.rules import Twenty48
from mdplay.naming.registry import make
from tests.helpers import NIM, write


def test_flags_tell_what_a_game_overrides():
    assert Twenty48.has_outcomes and Twenty48.has_reward and not Twenty48.has_order
    assert ConnectFour.has_order and not ConnectFour.has_outcomes


def test_number_of_players():
    assert (num_players(ConnectFour()), num_players(Twenty48())) == (2, 1)


def test_defaults_for_people(tmp_path):
    nim = make(str(write(tmp_path, "nim.py", NIM)))
    s = nim.initial()
    assert (nim.text(s), nim.move_text(s, 2)) == ("21,0", "2")
    assert nim.board(s) == "pile = 21\nplayer = 0"
