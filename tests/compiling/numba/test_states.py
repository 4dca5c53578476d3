from hypothesis import given
from hypothesis import strategies as st

from mdplay.compiling import pack, unpack, viewed, width, words
from mdplay.games.connect_four.rules import ConnectFour, State

INTS = st.integers(-(1 << 63), (1 << 63) - 1)


@given(INTS, INTS, INTS)
def test_negative_fields_come_back(a, b, c):
    game, state = ConnectFour(), State(a, b, c)
    assert unpack(game, words(state)) == state
    assert unpack(game, pack(game, state)) == state


def test_width_is_the_number_of_fields():
    assert width(ConnectFour()) == 3


def test_a_game_that_is_its_own_study_has_its_states_already():
    game, state = ConnectFour(), ConnectFour().parse("4453")
    assert viewed(game, state) == state
    assert viewed(game.proof_view(), state) == game.proof_view().convert(state)
