from mdplay import make
from mdplay.games.connect_four.knowledge import MoveStrings


def test_a_string_of_columns_is_the_position_of_the_same_text():
    """The solvers on the web write positions so: 4453 is the one that ``--position 4453`` names."""
    game = make("connect-four")
    (record,) = MoveStrings(game).load("4453\r\n\n")
    assert record.replay().state == game.parse("4453")
    assert (record.agents, record.result) == (("?", "?"), None)
    assert MoveStrings(game).dump(record) == "4453\n"
