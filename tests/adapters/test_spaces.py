import numpy as np
import pytest

from mdplay import GameError, make
from mdplay.adapters.spaces import library, mask_of, num_actions, num_bits, observe_bits, read_bits
from tests.nim import Nim, State


def test_actions_are_counted_in_random_games():
    counts = {"connect-four": 7, "tic-tac-toe": 9, "qubic": 64, "2048": 4, "dots-and-boxes": 12}
    assert {name: num_actions(make(name)) for name in counts} == counts


def test_a_game_may_say_how_many_actions_it_has():
    class Said(Nim):
        num_actions = 5

    assert num_actions(Said()) == 5


def test_an_action_that_was_never_seen_is_a_sentence():
    with pytest.raises(GameError, match="has an action 3 where 3 actions were seen; give it num_actions"):
        mask_of(Nim(), [0, 3], 3)


def test_bits_are_those_of_the_fields():
    bits = observe_bits(Nim())(State(5, 1))
    assert len(bits) == num_bits(Nim()) == 65
    assert np.flatnonzero(bits).tolist() == [0, 2, 64]


def test_negative_fields_have_bits_too():
    assert observe_bits(Nim())(State(-1, 0)).sum() == 64


@pytest.mark.parametrize("state", [State(5, 1), State(-1, 0), State(-(1 << 63), 1)])
def test_bits_are_read_back(state):
    assert read_bits(Nim())(observe_bits(Nim())(state)) == state


def test_a_library_that_is_not_there_is_a_sentence():
    with pytest.raises(GameError, match=r"this needs nowhere; pip install 'mdplay\[adapters\]'"):
        library("nowhere.at.all")
