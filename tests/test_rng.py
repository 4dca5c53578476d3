from hypothesis import given
from hypothesis import strategies as st

from mdplay.bits import WORD, Wide
from mdplay.rng import Random, advance, pick, scramble, stream


def test_splitmix64_gives_the_published_words():
    # Seed 1234567: the test vector of splitmix64 given at rosettacode.org, "Pseudo-random numbers/Splitmix64".
    x, words = 1234567, []
    for _ in range(5):
        x = advance(x)
        words.append(scramble(x))
    assert words == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_streams_of_one_seed_differ_and_repeat():
    words = [Random(7, number).word() for number in range(1000)]
    assert len(set(words)) == 1000
    assert words == [Random(7, number).word() for number in range(1000)]
    assert stream(7, 0) != stream(8, 0)


def test_pick_is_uniform():
    mask = 0b1011_0001
    counts = {}
    rng = Random(1)
    for _ in range(8000):
        element = rng.pick(mask)
        counts[element] = counts.get(element, 0) + 1
    assert sorted(counts) == [0, 4, 5, 7]
    assert all(abs(n - 2000) < 6 * (8000 * 0.25 * 0.75) ** 0.5 for n in counts.values())


def test_pick_takes_the_extremes():
    assert pick(0b1010, 0) == 1
    assert pick(0b1010, WORD) == 3


@given(st.sets(st.integers(0, 127), min_size=1), st.integers(0, WORD))
def test_a_stream_draws_from_masks_of_two_words_too(actions, seed):
    whole = sum(1 << action for action in actions)
    assert Random(seed).pick(Wide(whole & WORD, whole >> 64)) in actions


def test_high_actions_are_drawn_as_often_as_low_ones():
    rng, mask = Random(1), Wide(1 << 5, 1 << 13 | 1 << 16)
    drawn = [rng.pick(mask) for _ in range(3000)]
    assert {action: 900 < drawn.count(action) < 1100 for action in (5, 77, 80)} == {5: True, 77: True, 80: True}


def test_unit_and_below_have_the_right_mean():
    rng = Random(3)
    assert abs(sum(rng.unit() for _ in range(10_000)) / 10_000 - 0.5) < 6 * (1 / 12 / 10_000) ** 0.5
    assert abs(sum(rng.below(10) for _ in range(10_000)) / 10_000 - 4.5) < 6 * (8.25 / 10_000) ** 0.5
