"""Backward induction on a hash table: every state reachable from a start, by one depth-first walk.

The walk opens a state, visits its followers and closes it with its value to its mover:

    over      the result, signed
    chance    the sum of probability * value(outcome)
    player    the best of reward + value(next), where value(next) is negated if the other player moves next

Each edge costs one look into the table; a follower that is still open closes a circle, which the walk reports.
States that are images of each other under the game's symmetries share an entry.  The distance is the number of
plies to the end when the loser delays it and everybody else hurries; with chance there is none.

The last word of a row of the table is its entry:

    0            free
    1            open
    otherwise    closed, with a whole value: value << 32 | 2 + distance
                 closed, with a real value: the bits of the number, XOR those of a NaN that no game has

A walk that fills its table returns; Python doubles the table, keeping what is closed, and starts the walk again.
It runs down to where it was, because closed states are not entered: so a walk may stop and go on at any time.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import lowest, rest, some
from mdplay.bridge import kernel, native, pack, part, unpack, width, words
from mdplay.contract import method_hints
from mdplay.errors import GameError
from mdplay.game import Game
from mdplay.running import Show, Watch
from mdplay.solving.hashing import canonical
from mdplay.solving.keys import Layout, find_key, hash_key, layout_of, num_words, widths_of, write_key
from mdplay.solving.memory import require
from mdplay.solving.sampling import look_at

FREE, OPEN, CLOSED = 0, 1, 2
NOT_A_VALUE = 0x7FF8_0000_0000_0001
FIRST_SLOTS, FIRST_DEPTH = 1 << 12, 1 << 8
FULL_SHARE = 0.7  # of the slots in use: time to double
TIE = 1e-9  # values this close, in proportion to the best, are equal
FINISHED, STOPPED, CIRCLE, TOO_WIDE, FULL, TOO_DEEP = range(6)
BEST, DISTANCE, GAIN, SHARE, SLOT, CHANCE, COLUMNS = range(7)  # of a frame: an open state on the way


@part
def signed(game: Any, s: Any, t: Any, value: float) -> float:
    """Return what t is worth to the mover of s, given what it is worth to its own."""
    return value if game.player(s) == game.player(t) else -value


@part
def final_value(game: Any, s: Any) -> float:
    """Return what a finished game is worth to the player whose turn it would be."""
    result = float(game.result(s))
    return -result if game.player(s) == 1 else result


@part
def is_better(value: float, distance: int, best: float, best_distance: int) -> bool:
    """Tell whether a value and distance are preferred: more, else sooner, or later when it is a loss."""
    slack = TIE * max(1.0, abs(best))
    if value > best + slack or best == -np.inf:
        return True
    return value >= best - slack and (distance > best_distance if best < -slack else distance < best_distance)


@part
def entry_of(whole: bool, value: float, distance: int) -> int:
    """Return the entry of a closed state."""
    if whole:
        return (int(value) << 32) + CLOSED + distance
    return np.float64(value).view(np.int64) ^ NOT_A_VALUE


@part
def value_of(entry: int, whole: bool) -> float:
    """Return the value in a closed entry."""
    return float(entry >> 32) if whole else np.int64(entry ^ NOT_A_VALUE).view(np.float64)


@part
def distance_of(entry: int, whole: bool) -> int:
    """Return the distance in a closed entry; 0 where none is kept."""
    return int(entry & 0xFFFF_FFFF) - CLOSED if whole else 0


@part
def choices_of(game: Any, s: Any) -> Any:
    """Return the outcomes of chance if it moves, else the legal actions; and whether chance moves."""
    if game.has_outcomes:
        outcomes = game.outcomes(s)
        if some(outcomes):
            return outcomes, True
    return game.legal(s), False


@kernel
def walk(
    game: Any,
    start: Any,
    layout: Any,
    whole: bool,
    count: int,
    stop: Any,
    progress: Any,
    rows: Any,
    frames: Any,
    out_trouble: Any,
) -> Any:
    """Close every state that ``start`` reaches, in place; return how it went and the number of states.

    What is closed already stays.  ``out_trouble`` gets the state at which a walk failed.
    """
    t = canonical(game, unpack(game, start))
    mask, by_chance = choices_of(game, t)
    stack, todo = [t] * len(frames), [mask] * len(frames)
    entries = rows.view(np.int64)
    key = np.zeros(rows.shape[1] - 1, np.uint64)
    column, last, most = len(key), len(rows) - 1, int(FULL_SHARE * len(rows))
    depth, value, distance = 0, 0.0, 0
    while True:
        fits = write_key(game, t, layout, key)
        slot = int(hash_key(key) & last)
        while entries[slot, column] != FREE:  # written out: a call would count references, at twice the cost
            same = True
            for word in range(len(key)):
                same &= rows[slot, word] == key[word]
            if same:
                break
            slot = (slot + 1) & last
        entry = entries[slot, column]
        status = trouble(fits, entry, count < most, depth < len(frames), stop[0])
        if status != FINISHED:
            write_words(game, t, out_trouble)
            return status, count
        known = entry != FREE
        if known:
            value, distance = value_of(entry, whole), distance_of(entry, whole)
        else:  # open t
            for word in range(len(key)):
                rows[slot, word] = key[word]
            entries[slot, column] = OPEN
            mask, by_chance = choices_of(game, t)
            stack[depth], todo[depth] = t, mask
            frames[depth, SLOT], frames[depth, CHANCE] = slot, by_chance
            frames[depth, GAIN], frames[depth, DISTANCE] = 0.0, -1.0
            frames[depth, BEST] = 0.0 if by_chance else -np.inf if some(mask) else final_value(game, t)
            depth += 1
            count += 1
            progress[0] = count
        while True:
            top = depth - 1
            if top < 0:
                return FINISHED, count
            s, mask = stack[top], todo[top]
            if known:  # hand the value of t to s
                value = signed(game, s, t, value)
                if game.has_outcomes and frames[top, CHANCE] != 0.0:
                    frames[top, BEST] += frames[top, SHARE] * value
                elif is_better(value + frames[top, GAIN], distance, frames[top, BEST], int(frames[top, DISTANCE])):
                    frames[top, BEST] = max(value + frames[top, GAIN], frames[top, BEST])
                    frames[top, DISTANCE] = distance
            if some(mask):
                break
            value, distance = frames[top, BEST], int(frames[top, DISTANCE]) + 1  # close s
            entries[int(frames[top, SLOT]), column] = entry_of(whole, value, distance)
            known, t = True, s
            depth -= 1
        choice = lowest(mask)
        todo[top] = rest(mask)
        if game.has_outcomes and frames[top, CHANCE] != 0.0:
            t = game.outcome(s, choice)
            frames[top, SHARE] = game.probability(s, choice)
        else:
            t = game.step(s, choice)
            if game.has_reward:
                frames[top, GAIN] = game.reward(s, choice)
        t = canonical(game, t)


@part
def trouble(fits: bool, entry: int, has_room: bool, is_shallow: bool, stop: int) -> int:
    """Return why a walk cannot go on with a state, or FINISHED if it can."""
    if not fits:
        return TOO_WIDE
    if entry == OPEN:
        return CIRCLE
    if entry == FREE:
        return FULL if not has_room else TOO_DEEP if not is_shallow else STOPPED if stop else FINISHED
    return FINISHED


@kernel
def keep_closed(rows: Any, out_rows: Any) -> int:
    """Copy the closed slots of a table into an empty one; return their number."""
    count = 0
    column = rows.shape[1] - 1
    for old in range(len(rows)):
        if rows[old, column] > OPEN:
            out_rows[find_key(out_rows, rows[old, :column])] = rows[old]
            count += 1
    return count


@part
def write_words(game: Any, s: Any, out_words: Any) -> None:
    """Write a state's words into an array."""
    packed = pack(game, s)
    for j in range(len(packed)):
        out_words[j] = packed[j]


@kernel
def look_up(game: Any, start: Any, layout: Any, whole: bool, rows: Any) -> Any:
    """Return whether a state is closed, its value and its distance."""
    key = np.zeros(rows.shape[1] - 1, np.uint64)
    if not write_key(game, canonical(game, unpack(game, start)), layout, key):
        return False, 0.0, 0
    entry = rows.view(np.int64)[find_key(rows, key), rows.shape[1] - 1]
    return entry != FREE and entry != OPEN, value_of(entry, whole), distance_of(entry, whole)


class HashTable:
    """Values and distances of all states that were reached from the starts asked for so far."""

    method = "hashed"

    def __init__(self, game: Game[Any], *, memory: int | None = None, show: Show | None = None) -> None:
        self.game = game
        self.whole = has_whole_values(game)
        self.memory = memory
        self._show = show
        self._depth = FIRST_DEPTH
        self._use_layout(layout_of([1] * width(game)))

    def __len__(self) -> int:
        return self._count

    def close(self, state: Any) -> None:
        """Give a value to every state that this one reaches; raise LimitError if they do not fit."""
        if self._find(state)[0]:
            return
        if not self._count:
            self._prepare(state)
        while (status := self._walk(state)) != FINISHED:
            self._prepare_again(status)

    def value_and_distance(self, state: Any) -> tuple[float, int | None]:
        """Return what a state is worth to its mover, and the plies to the end; None unless values are whole."""
        self.close(state)
        _, value, distance = self._find(state)
        return value, distance if self.whole else None

    # ---------------------------------------------------------------- the work
    def _find(self, state: Any) -> tuple[bool, float, int]:
        found: tuple[bool, float, int] = look_up(
            native(self.game), words(state), self.layout, self.whole, self.rows
        )
        return found

    def _use_layout(self, layout: Layout) -> None:
        self.layout = layout
        self.rows: NDArray[np.uint64] = np.zeros((FIRST_SLOTS, num_words(layout) + 1), np.uint64)
        self._count = 0

    def _prepare(self, state: Any) -> None:
        """Choose a layout by random games, and refuse a game that they show to be too large."""
        look = look_at(self.game, state, by_symmetry=self.game.has_symmetries)
        self._use_layout(layout_of(look.widths))
        self._require(f"a table of more than {look.least_states:.1g} states", int(look.least_states / FULL_SHARE))

    def _require(self, what: str, slots: int) -> None:
        require(slots * 8 * self.rows.shape[1], self.memory, what)

    def _walk(self, state: Any) -> int:
        watch = Watch(1, self._show)
        self._trouble = np.zeros(width(self.game), np.uint64)
        frames = np.zeros((self._depth, COLUMNS))
        arguments = (native(self.game), words(state), self.layout, self.whole, self._count)
        task = partial(walk, *arguments, watch.stop, watch.progress, self.rows, frames, self._trouble)
        try:
            status, self._count = watch.run([task])[0]
        except BaseException:
            self._rebuild(len(self.rows))
            raise
        return int(status)

    def _rebuild(self, slots: int) -> None:
        """Move what is closed into a table of so many slots."""
        rows = np.zeros((slots, self.rows.shape[1]), np.uint64)
        self._count = int(keep_closed(self.rows, rows))
        self.rows = rows

    def _prepare_again(self, status: int) -> None:
        """Make room for what a walk met, or say what is wrong with the game."""
        fields = [int(field) for field in self._trouble]
        if status == CIRCLE:
            text = self.game.text(unpack(self.game, tuple(fields)))
            raise GameError(f"the game can come back to {text}; backward induction needs games that cannot")
        if status == TOO_WIDE:
            pairs = zip(widths_of(self.layout), fields, strict=True)
            self._use_layout(layout_of([max(old, field.bit_length()) for old, field in pairs]))
            return
        if status == TOO_DEEP:
            self._depth *= 4
            require(16 * self._depth * COLUMNS, self.memory, f"a game of more than {self._depth // 4} plies")
        slots = len(self.rows) * (2 if status == FULL else 1)
        self._require(f"a table of more than {self._count:,} states", slots + len(self.rows))
        self._rebuild(slots)


def has_whole_values(game: Game[Any]) -> bool:
    """Tell whether all values are whole numbers: no chance, and rewards and results annotated as such."""
    kinds = [method_hints(type(game), getattr(type(game), name))["return"] for name in ("reward", "result")]
    flags = (game.has_reward, game.has_result)
    return not game.has_outcomes and all(
        kind in (int, bool) for kind, flag in zip(kinds, flags, strict=True) if flag
    )
