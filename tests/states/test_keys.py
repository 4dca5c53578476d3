"""Layouts of short keys."""

import pytest

from mdplay import make
from mdplay.states.keys import key_of, layout_of, num_words, widths_of


@pytest.mark.parametrize(
    "widths, words", [([9, 9, 1], 1), ([32, 32], 1), ([33, 32], 2), ([64, 64, 1], 3), ([60, 5, 5, 60], 3)]
)
def test_fields_stand_side_by_side_in_few_words(widths, words):
    layout = layout_of(widths)
    assert num_words(layout) == words
    assert widths_of(layout) == widths
    taken = [set() for _ in range(words)]
    for word, shift, width in layout.tolist():
        bits = set(range(shift, shift + width))
        assert not bits & taken[word]
        assert max(bits) < 64
        taken[word] |= bits


def test_images_of_a_state_share_a_key():
    game = make("tic-tac-toe")
    layout, s = layout_of([9, 9, 1]), game.parse("120000000")
    keys = {tuple(key_of(game, game.image(s, k), layout)) for k in range(game.symmetries())}
    assert len(keys) == 1


def test_a_field_that_is_too_wide_has_no_key():
    game = make("tic-tac-toe")
    assert key_of(game, game.parse("000000001"), layout_of([1, 8, 1])) is not None
    assert key_of(game, game.parse("120000000"), layout_of([1, 1, 1])) is None
