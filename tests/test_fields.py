from dataclasses import dataclass
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdplay import Game, Position, PositionError
from mdplay.bits import U64, WORD
from mdplay.game import read_fields, write_fields


class State(NamedTuple):
    board: U64
    pile: int
    fast: bool
    player: int


@dataclass(frozen=True)
class Fields(Game[State]):
    def initial(self) -> State:
        return State(0, 3, False, 0)

    def legal(self, s: State) -> int:
        return 100 // s.pile & 1

    def step(self, s: State, action: int) -> State:
        return State(s.board, s.pile - 1, s.fast, 1 - s.player)


WHOLE = st.integers(-(2**63), 2**63 - 1).filter(bool)


@given(st.builds(State, st.integers(0, WORD), WHOLE, st.booleans(), st.integers(0, 1)))
def test_what_is_written_is_read_back(s):
    game = Fields()
    back = Position.parse(game, game.text(s)).state
    assert back == s and type(back.fast) is bool
    assert read_fields(game, f"({write_fields(s)})") == s


@pytest.mark.parametrize(
    "text, sentence",
    [
        (
            "0,1,0",
            "is not a position; give its fields as board,pile,fast,player, or the moves played as moves:a,b,c",
        ),
        ("a,b,c,d", "'a,b,c,d' is not a position; give its fields as"),
        ("", "'' is not a position"),
        ("1" * 5000, "is not a position"),
        ("-1,1,0,0", "board=-1 is out of range; 0 to 18446744073709551615"),
        ("0,9223372036854775808,0,0", "pile=9223372036854775808 is out of range"),
        ("0,1,2,0", "fast=2 is out of range; 0 to 1"),
        ("0,1,0,2", "'0,1,0,2' is not a position: player must be 0 or 1, not 2"),
        ("0,0,0,0", "'0,0,0,0' is not a position: the rules raise ZeroDivisionError"),
    ],
)
def test_what_is_no_position_is_refused(text, sentence):
    with pytest.raises(PositionError, match=sentence):
        read_fields(Fields(), text)


def test_a_game_that_numbers_its_states_is_asked():
    @dataclass(frozen=True)
    class Numbered(Fields):
        def index(self, s: State) -> int:
            return 3 - s.pile

        def size(self) -> int:
            return 4

    assert read_fields(Numbered(), "0,2,0,0").pile == 2
    with pytest.raises(PositionError, match=r"its number is -4, outside of 0 \.\. 3"):
        read_fields(Numbered(), "0,7,0,0")
