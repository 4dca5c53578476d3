"""Masks of several words: compiled and plain agree, for any number of words."""

from dataclasses import dataclass
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mdplay import Game, check_game, mcts, playouts, solve
from mdplay.bits import (
    U64,
    WORD,
    add,
    difference,
    discard,
    elements,
    has,
    intersection,
    lowest,
    nonempty,
    nth,
    popcount,
    union,
    without_lowest,
)
from mdplay.compiling import inlined, kernel
from mdplay.compiling.contract import mask_size
from mdplay.rng import Random, pick
from mdplay.searching.depth_limited import depth_limited


class Three(NamedTuple):
    a: U64
    b: U64
    c: U64


class State(NamedTuple):
    a: U64
    b: U64
    c: U64
    played: int
    player: int


@dataclass(frozen=True)
class Last(Game[State]):
    """Take one of 192 cells away; after ten moves the game is over."""

    def initial(self) -> State:
        return State(U64(-1), U64(-1), U64(-1), 0, 0)

    def free(self, s: State) -> Three:
        return Three(s.a, s.b, s.c)

    def legal(self, s: State) -> Three:
        return self.free(s) if s.played < 10 else Three(0, 0, 0)

    def step(self, s: State, action: int) -> State:
        left = discard(self.free(s), action)
        return State(left.a, left.b, left.c, s.played + 1, 1 - s.player)

    def result(self, s: State) -> int:
        return 1 if has(self.free(s), 191) else -1


def figures(m, other, k, a, word):
    """Return what every function says of a mask, the masks as their words."""
    tail, more, less = without_lowest(m), add(m, a), discard(m, a)
    both, common, rest = union(m, other), intersection(m, other), difference(m, other)
    return (
        nonempty(m), popcount(m), lowest(m), nth(m, k), has(m, a), pick(m, word),
        int(tail[0]), int(tail[1]), int(tail[2]), int(more[0]), int(more[1]), int(more[2]),
        int(less[0]), int(less[1]), int(less[2]), int(both[2]), int(common[1]), int(rest[0]),
    )  # fmt: skip


in_kernels = inlined(figures)


@kernel
def compiled_figures(game, a, b, c, d, e, f, k, action, word):
    mask, other = game.free(State(U64(a), U64(b), U64(c), 0, 0)), game.free(State(U64(d), U64(e), U64(f), 0, 0))
    return in_kernels(mask, other, k, action, U64(word))


def signed(word):
    return word - (word >> 63 << 64)


WORDS = st.one_of(st.just(0), st.integers(0, WORD))


@settings(max_examples=60)
@given(st.tuples(*[WORDS] * 6), st.integers(0, 191), WORDS, st.data())
def test_compiled_masks_are_the_plain_ones(words, action, word, data):
    mask, other = Three(*words[:3]), Three(*words[3:])
    if not nonempty(mask):
        return
    k = data.draw(st.integers(0, popcount(mask) - 1))
    plain = figures(mask, other, k, action, word)
    compiled = compiled_figures(Last(), *map(signed, words), k, action, signed(word))
    assert [int(x) & WORD for x in compiled] == [int(x) & WORD for x in plain]
    assert nth(mask, k) == elements(mask)[k]
    assert set(elements(union(mask, other))) == set(elements(mask)) | set(elements(other))
    assert set(elements(difference(mask, other))) == set(elements(mask)) - set(elements(other))


def test_a_game_of_192_actions_keeps_the_contract():
    assert mask_size(Last()) == 192
    assert check_game(Last(), games=2).positions == 21  # two games of ten moves from one start


def test_random_play_tries_high_actions():
    assert {Random(seed).pick(Three(0, 1 << 13, 1 << 16)) for seed in range(20)} == {77, 144}


def test_all_actions_are_equally_likely(needs_compiler):
    """Cell 191 is still there after ten of 192 cells went with probability 182/192."""
    found = playouts(Last(), games=4000, seed=1)
    assert found.mean == pytest.approx(2 * 182 / 192 - 1, abs=0.04)  # 5 standard errors of 0.44 / 63


class Six(NamedTuple):
    a: U64
    b: U64
    c: U64
    d: U64
    e: U64
    f: U64


class Point(NamedTuple):
    last: int
    player: int


@dataclass(frozen=True)
class Upwards(Game[Point]):
    """On a board of 19 x 19 every point must lie behind the one before, by up to 99; who has none left loses."""

    def initial(self) -> Point:
        return Point(-1, 0)

    def legal(self, s: Point) -> Six:
        mask = Six(0, 0, 0, 0, 0, 0)
        for point in range(s.last + 1, min(361, s.last + 100)):
            mask = add(mask, point)
        return mask

    def step(self, s: Point, action: int) -> Point:
        return Point(action, 1 - s.player)

    def result(self, s: Point) -> int:
        return 2 * s.player - 1


def test_a_board_of_361_points_checked_solved_and_searched():
    """Whoever takes 360 wins, and so whoever takes 260, 160, 60: any step can be made up to a hundred."""
    assert mask_size(Upwards()) == 384
    assert check_game(Upwards(), games=2).games == 2
    found = solve(Upwards())
    assert (found.value(), found.best()) == (1, [60])
    result = mcts(Upwards(), Point(261, 0), simulations=500, seed=1)
    assert (result.action, result.proven) == (360, True)
    assert depth_limited(Upwards(), Point(261, 1), depth=1).action == 360
