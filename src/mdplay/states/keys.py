"""States as short keys, and a hash table of them.

A packed state has a 64-bit word for each field, most of them nearly empty.  A *layout* puts the fields side by
side into as few words as they need; its row j tells where field j goes:

    layout[j] = (word, shift, size)         key[word] |= field << shift, provided that field < 2**size

Tic-Tac-Toe's (mine, theirs, player) of 9 + 9 + 1 bits is one word instead of three.  The widths are what random
games have shown; a solver that meets a wider field starts again with that field widened.

    table[slot * (K + 1) ...] = (*key, entry)     entry 0 = the slot is free; slots are a power of two

A key of K words and what is known of it stand side by side, so that a look costs one line of the cache; slots
are probed in order.  Tables and keys are flat arrays, ``unchecked_view`` in kernels.

What a few random games show of the states of a game: how wide the fields are, and play without end.

What every kernel that walks over states asks of a game: what may happen next, and the least image.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import U64, WORD, elements, mix, nonempty
from mdplay.checking.contract_checks import SLACK, diagnose_position
from mdplay.compiling import State, get, inlined, load, pack, put, unpack, width
from mdplay.errors import GameError, LimitError
from mdplay.game import Game
from mdplay.rng import Random

# A game with more than THIN_LEVELS plies and on average fewer than THIN new states each seems to be infinite.
THIN_LEVELS, THIN = 1 << 15, 4
FEW_GAMES, FEW_MOVES = 8, 200  # that show how wide the fields are


def refuse_thin(game: Game[Any], levels: int, known: int) -> None:
    """Raise LimitError if a game goes on and on with hardly a new state at a ply."""
    if levels > THIN_LEVELS and known < THIN * levels:
        name = type(game).__name__
        raise LimitError(f"{name} goes on for more than {THIN_LEVELS:,} plies; does every game end?")


def refuse_endless(game: Game[Any], start: State) -> None:
    """Raise LimitError if a random game goes on and on, and no state of it comes again."""
    seen = set()
    for s in random_game(game, start, Random(0), THIN_LEVELS + 1):
        if s in seen:
            return
        seen.add(s)
    if len(seen) > THIN_LEVELS:
        name = type(game).__name__
        raise LimitError(
            f"a random game of {name} goes on for more than {THIN_LEVELS:,} plies; does every game end?"
        )


def images_of(game: Game[Any], s: State, fold: bool) -> list[Any]:
    """Return the images of a state, or only the state itself."""
    return [s, *(game.image(s, k) for k in range(1, game.symmetries()))] if fold else [s]


def widths_needed(game: Game[Any], s: State, layout: Layout, fold: bool) -> list[int]:
    """Return the widths that the successors of a state need, or raise what is wrong with the game there."""
    widths = widths_of(layout)
    images = [image for t in successors_of(game, s) for image in images_of(game, t, fold)]
    needed = list(map(max, widths, widths_among(images))) if images else widths
    if needed == widths:
        diagnose_position(game, s)
        raise GameError(f"a rule of {type(game).__name__} changes its answer in {game.text(s)}")
    return needed


def successors_of(game: Game[Any], s: State) -> list[Any]:
    """Return the states one ply after a state."""
    if nonempty(game.outcomes(s)):
        return [game.outcome(s, i) for i in elements(game.outcomes(s))]
    return [game.step(s, action) for action in elements(game.legal(s))]


def widths_among(states: Sequence[Any]) -> list[int]:
    """Return the bits that each field needs for these states."""
    return [max(1, *(int(v) & WORD for v in column)).bit_length() for column in zip(*states, strict=True)]


def states_seen(game: Game[Any], start: State) -> list[Any]:
    """Return the states of a few random games, played in plain Python."""
    return [s for seed in range(FEW_GAMES) for s in random_game(game, start, Random(seed), FEW_MOVES)]


def random_game(game: Game[Any], s: State, rng: Random, plies: int) -> Iterator[Any]:
    """Yield the states of a random game from a given state, at most those of ``plies`` plies."""
    yield s
    for _ in range(plies):
        outcomes, legal = game.outcomes(s), game.legal(s)
        if nonempty(outcomes):
            s = game.outcome(s, rng.pick(outcomes))
        elif nonempty(legal):
            s = game.step(s, rng.pick(legal))
        else:
            return
        yield s


@inlined
def canonical(game: Game[Any], s: State) -> Any:
    """Return the least image of a state under the game's symmetries, by its words."""
    if game.has_symmetries:
        least = pack(game, s)
        best = s
        for k in range(1, game.symmetries()):
            image = game.image(s, k)
            packed = pack(game, image)
            if packed < least:
                least, best = packed, image
        return best
    return s


@inlined
def choices_of(game: Game[Any], s: State) -> Any:
    """Return the outcomes of chance if it moves, else the legal actions; and whether chance moves."""
    if game.has_outcomes:
        outcomes = game.outcomes(s)
        if nonempty(outcomes):
            return outcomes, True
    return game.legal(s), False


@inlined
def no_player(game: Game[Any], s: State) -> bool:
    """Return whether the player to move is neither 0 nor 1, which no game may say."""
    wrong: bool = game.player(s) >> 1 != 0
    return wrong


@inlined
def no_chance(probability: float) -> bool:
    """Return whether a number is no probability of an outcome; a NaN is none."""
    return not 0.0 < probability <= 1.0 + SLACK


Layout = NDArray[np.int64]
WORD_BITS = 64


class Keys(NamedTuple):
    """A list of keys as kernels take it: all their words, where the fields are in them, the words of one key."""

    all_words: NDArray[np.int64]
    layout: NDArray[np.int64]  # the rows one after the other
    words: int


def layout_of(widths: Sequence[int]) -> Layout:
    """Return a layout for fields of these widths in bits, each in one piece, the first ones lowest."""
    rows, word, used = [], 0, 0
    for size in widths:
        if used + size > WORD_BITS:
            word, used = word + 1, 0
        rows.append((word, used % WORD_BITS, size))
        used += size
    return np.array(rows, np.int64)


def num_words(layout: Layout) -> int:
    """Return the number of words of a key."""
    return int(layout[-1, 0]) + 1


def least_fields(game: Game[Any], s: State, *, fold: bool = True) -> tuple[int, ...]:
    """Return the fields of a state as words, with ``fold`` those of its least image, in plain Python."""
    images = [game.image(s, k) for k in range(1, game.symmetries())] if fold and game.has_symmetries else []
    return min(tuple(int(v) & WORD for v in image) for image in (s, *images))


def key_of(game: Game[Any], s: State, layout: Layout, *, fold: bool = True) -> NDArray[np.int64] | None:
    """Return the key of a state, or of its least image, in plain Python; None if a field is wider than allowed."""
    key = [0] * num_words(layout)
    for field, (word, shift, size) in zip(least_fields(game, s, fold=fold), layout.tolist(), strict=True):
        if field >> size:
            return None
        key[word] |= field << shift
    return np.array(key, np.uint64).view(np.int64)


def key_at(keys: NDArray[np.int64], number: int, words: int) -> NDArray[np.int64]:
    """Return the key of a number in a list of keys."""
    return keys[number * words : (number + 1) * words]


def packed_of(keys: NDArray[np.int64], layout: Layout) -> NDArray[np.uint64]:
    """Return the packed states of a list of keys, a row each."""
    rows = keys.view(np.uint64).reshape(-1, num_words(layout))
    columns = [
        rows[:, word] >> np.uint64(shift) & np.uint64((1 << size) - 1) for word, shift, size in layout.tolist()
    ]
    return np.column_stack(columns)


def keys_of(fields: NDArray[np.uint64], layout: Layout) -> NDArray[np.int64]:
    """Return the list of the keys of packed states, all of which fit the layout."""
    rows = np.zeros((len(fields), num_words(layout)), np.uint64)
    for column, (word, shift, _) in zip(fields.T, layout.tolist(), strict=True):
        rows[:, word] |= column << np.uint64(shift)
    return rows.view(np.int64).ravel()


def state_of(game: Game[Any], key: NDArray[np.int64], layout: Layout) -> Any:
    """Return the state of a key, in plain Python."""
    return unpack(game, fields_of(key.tolist(), layout))


def fields_of(key: Sequence[int], layout: Layout) -> tuple[int, ...]:
    """Return the fields of a state, as words, from the words of its key: the inverse of ``key_of``."""
    return tuple((int(key[word]) & WORD) >> shift & (1 << width) - 1 for word, shift, width in layout.tolist())


def widths_of(layout: Layout) -> list[int]:
    """Return the widths that a layout was made for."""
    return [int(size) for size in layout[:, 2]]


@inlined
def write_key(
    game: Game[Any], s: State, layout: Layout, num_words: int, out_key: NDArray[np.uint64], at: int
) -> bool:
    """Write the key of a state from place ``at`` on; return False if a field is wider than the layout allows."""
    packed = pack(game, s)
    fits = True
    for j in range(num_words):
        put(out_key, at + j, 0)
    for j in range(len(packed)):
        field, size = U64(packed[j]), get(layout, 3 * j + 2)
        fits &= size == WORD_BITS or field >> size == 0
        place = at + get(layout, 3 * j)
        put(out_key, place, get(out_key, place) | field << get(layout, 3 * j + 1))
    return fits


@inlined
def read_key(game: Game[Any], keys: NDArray[np.int64], at: int, layout: Layout, row: NDArray[np.uint64]) -> Any:
    """Return the state of the key from place ``at`` on; ``row`` is room for a word a field."""
    for j in range(width(game)):
        size = get(layout, 3 * j + 2)
        field = U64(get(keys, at + get(layout, 3 * j))) >> get(layout, 3 * j + 1)
        put(row, j, field if size == WORD_BITS else field & (U64(1) << size) - U64(1))
    return load(game, row, 0)


@inlined
def hash_key(key: Any, at: int, num_words: int) -> Any:
    """Return the hash of a key, a word."""
    h = mix(get(key, at), num_words)
    for j in range(1, num_words):
        h = mix(h, get(key, at + j))
    return h


@inlined
def find_key(table: NDArray[np.uint64], last: int, first: int, key: Any, at: int, num_words: int) -> int:
    """Return the slot of a key, or the free slot where it belongs; look from slot ``first`` on.

    ``last`` is the number of slots less one.
    """
    slot = first
    while get(table, slot * (num_words + 1) + num_words) != 0:
        same = True
        for j in range(num_words):
            same &= get(table, slot * (num_words + 1) + j) == get(key, at + j)
        if same:
            break
        slot = (slot + 1) & last
    return slot
