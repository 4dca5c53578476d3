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

A state where chance moves right after an action has no slot: it is walked again whenever it is met, from states
that are closed then.  2048 so needs little more than half the memory.

A walk that fills its table returns; Python doubles the table, keeping what is closed, and starts the walk again.
It runs down to where it was, because closed states are not entered: so a walk may stop and go on at any time.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import WORD, lowest, members, popcount, rest, some
from mdplay.bridge import borrow, get, kernel, load, native, pack, part, prefetch, put, unpack, width
from mdplay.contract import method_hints
from mdplay.errors import GameError
from mdplay.game import Game
from mdplay.running import Show, Watch
from mdplay.solving.hashing import canonical, choices_of
from mdplay.solving.keys import Layout, find_key, hash_key, key_of, layout_of, num_words, widths_of, write_key
from mdplay.solving.memory import require
from mdplay.solving.sampling import look_at
from mdplay.solving.worth import TIE, Worth

FREE, OPEN, CLOSED = 0, 1, 2
NOT_A_VALUE = 0x7FF8_0000_0000_0001
FIRST_SLOTS, FEW_SLOTS, FIRST_DEPTH = 1 << 12, 1 << 20, 1 << 8
NO_SLOT, PASSING = -1, 2
FULL_SHARE = 0.75  # of the slots in use: time to double

FINISHED, STOPPED, CIRCLE, TOO_WIDE, FULL, TOO_DEEP = range(6)
NEXT, END, SLOT, CHANCE, DISTANCE, COLUMNS = range(6)  # of a frame: an open state on the way
FOLLOWERS = 16  # room for the followers of each open state, on the average
AHEAD = 4  # followers asked for before they are looked at


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
    if best == -np.inf:
        return True
    slack = TIE * max(1.0, abs(best))
    if value > best + slack:
        return True
    return value >= best - slack and (distance > best_distance if best < -slack else distance < best_distance)


@part
def entry_of(whole: bool, value: float, distance: int) -> int:
    """Return the entry of a closed state."""
    if whole:
        return (int(value) << 32) + CLOSED + distance
    return int(np.float64(value).view(np.int64) ^ NOT_A_VALUE)


@part
def is_closed(entry: int) -> bool:
    """Tell whether an entry holds a value."""
    return entry != FREE and entry != OPEN


@part
def value_of(entry: int, whole: bool) -> float:
    """Return the value in a closed entry."""
    return float(entry >> 32) if whole else np.int64(entry ^ NOT_A_VALUE).view(np.float64)


@part
def distance_of(entry: int, whole: bool) -> int:
    """Return the distance in a closed entry; 0 where none is kept."""
    return int(entry & 0xFFFF_FFFF) - CLOSED if whole else 0


@kernel
def walk(
    game: Any,
    layout: Any,
    whole: bool,
    count: int,
    stop: Any,
    progress: Any,
    rows: Any,
    keys: Any,
    followers: Any,
    hints: Any,
    gains: Any,
    frames: Any,
    bests: Any,
) -> Any:
    """Close follower 0 and every state that it reaches, in place; return how it went, the states, the follower.

    A frame is an open state: its followers from NEXT to END are still to be looked at.  Follower c has its words
    in ``followers[c]``, its key in ``keys``, in ``gains[c]`` the reward or the probability of going there, and in
    ``hints[c]`` the slot where it may be, then a bit for having none, then a bit for the other player's turn.
    """
    table, key = borrow(rows), borrow(keys)
    num_words = len(keys) // len(hints)
    row = num_words + 1
    last = len(rows) // row - 1
    most = int(FULL_SHARE * len(rows) / row)
    depth, distance = 0, 0
    while True:
        c, end = frames[depth, NEXT], frames[depth, END]
        if c < end:
            if c + AHEAD < end:
                prefetch(table, (hints[c + AHEAD] >> 2) * row)
            slot, entry = NO_SLOT, FREE
            if not hints[c] & PASSING:
                slot = find_key(table, last, hints[c] >> 2, key, c * num_words, num_words)
                entry = get(table, slot * row + num_words)
            if entry == FREE:
                s = load(game, followers, c)
                mask, by_chance = choices_of(game, s)
                if count >= most or stop[0]:
                    return (STOPPED if stop[0] else FULL), count, c
                if depth + 1 == len(frames) or end + popcount(mask) > len(hints):
                    return TOO_DEEP, count, c
                if slot != NO_SLOT:
                    for j in range(num_words):
                        put(table, slot * row + j, get(key, c * num_words + j))
                    put(table, slot * row + num_words, OPEN)
                    count += 1
                depth += 1
                bests[depth] = 0.0 if by_chance else -np.inf if some(mask) else final_value(game, s)
                frames[depth, NEXT], frames[depth, SLOT] = end, slot
                frames[depth, CHANCE], frames[depth, DISTANCE] = by_chance, -1
                while some(mask):
                    choice = lowest(mask)
                    mask = rest(mask)
                    t = game.step(s, choice) if not by_chance else game.outcome(s, choice)
                    gains[end] = 0.0
                    if by_chance:
                        gains[end] = game.probability(s, choice)
                    elif game.has_reward:
                        gains[end] = game.reward(s, choice)
                    t = canonical(game, t)
                    packed = pack(game, t)
                    for j in range(len(packed)):
                        followers[end, j] = packed[j]
                    if not write_key(game, t, borrow(layout), num_words, key, end * num_words):
                        return TOO_WIDE, count, end
                    first = int(hash_key(key, end * num_words, num_words) & last)
                    prefetch(table, first * row)
                    hints[end] = first << 2 | (game.player(s) != game.player(t))
                    if game.has_outcomes and not by_chance and some(game.outcomes(t)):
                        hints[end] |= PASSING
                    end += 1
                frames[depth, END] = end
                progress[0] = count
                continue
            if entry == OPEN:
                return CIRCLE, count, c
            value, distance = value_of(entry, whole), distance_of(entry, whole)
        elif depth == 0:
            return FINISHED, count, 0
        else:  # no follower is left: close the state and go on with the one before
            value, distance = bests[depth], frames[depth, DISTANCE] + 1
            if frames[depth, SLOT] != NO_SLOT:
                put(table, frames[depth, SLOT] * row + num_words, entry_of(whole, value, distance))
            depth -= 1
            c = frames[depth, NEXT]
        if hints[c] & 1:
            value = -value
        if frames[depth, CHANCE]:
            bests[depth] += gains[c] * value
        else:
            value += gains[c]
            if is_better(value, distance, bests[depth], frames[depth, DISTANCE]):
                frames[depth, DISTANCE] = distance
            bests[depth] = max(value, bests[depth])
        frames[depth, NEXT] = c + 1


@kernel
def keep_closed(rows: Any, num_words: int, out_rows: Any) -> int:
    """Copy the closed slots of a table into an empty one; return their number."""
    old, new = borrow(rows), borrow(out_rows)
    row = num_words + 1
    last, count = len(out_rows) // row - 1, 0
    for at in range(0, len(rows), row):
        if is_closed(get(old, at + num_words)):
            first = int(hash_key(old, at, num_words) & last)
            slot = find_key(new, last, first, old, at, num_words)
            for j in range(row):
                put(new, slot * row + j, get(old, at + j))
            count += 1
    return count


@kernel
def look_up(rows: Any, keys: Any, whole: bool) -> Any:
    """Return the slot of a key or where it belongs, whether it is closed, its value and its distance."""
    table, key, num_words = borrow(rows), borrow(keys), len(keys)
    last = len(rows) // (num_words + 1) - 1
    slot = find_key(table, last, int(hash_key(key, 0, num_words) & last), key, 0, num_words)
    entry = get(table, slot * (num_words + 1) + num_words)
    return slot, is_closed(entry), value_of(entry, whole), distance_of(entry, whole)


@contextmanager
def stopped_after(watch: Watch, seconds: float | None) -> Iterator[None]:
    """Stop the kernels of a watch after so many seconds, if any are given."""
    if seconds is None:
        yield
        return
    timer = threading.Timer(seconds, lambda: watch.stop.fill(1))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


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

    def close(self, state: Any, *, keep: Callable[[HashTable], None] | None = None, seconds: float = 60.0) -> None:
        """Give a value to every state that this one reaches; raise LimitError if they do not fit.

        ``keep`` is called every so many seconds, and when the work is interrupted, to save what is closed.
        """
        if self._find(state)[0]:
            return
        if not self._count:
            self._prepare(state)
        try:
            while (status := self._walk(state, seconds if keep else None)) != FINISHED:
                self._prepare_again(status)
                if keep and status == STOPPED:
                    keep(self)
        except KeyboardInterrupt:
            if keep:
                keep(self)
            raise

    def closed(self) -> NDArray[np.int64]:
        """Return the rows of all closed states: the words of the key, then the entry."""
        rows = self.rows.reshape(-1, self.num_words + 1)
        closed: NDArray[np.int64] = rows[(rows[:, -1] != FREE) & (rows[:, -1] != OPEN)]
        return closed

    def restore(self, layout: Layout, rows: NDArray[np.int64]) -> None:
        """Begin with states that were closed before: rows as ``closed`` returns them."""
        self._use_layout(layout)
        slots = FIRST_SLOTS
        while FULL_SHARE * slots < len(rows):
            slots *= 2
        self._require(f"a table of {len(rows):,} states", slots)
        self.rows = np.ascontiguousarray(rows).ravel()
        self._rebuild(slots)

    def worth(self, state: Any, player: int) -> Worth:
        """Return what a state is worth to a player, and the plies to the end unless values are fractions."""
        if not self._find(state)[0] and some(self.game.outcomes(state)):
            return self._mean_worth(state, player)
        self.close(state)
        _, value, distance = self._find(state)
        return Worth(value if player == self.game.player(state) else -value, distance if self.whole else None)

    def _mean_worth(self, state: Any, player: int) -> Worth:
        """Return the mean over the outcomes of chance."""
        values = [
            self.game.probability(state, i) * self.worth(self.game.outcome(state, i), player).value
            for i in members(self.game.outcomes(state))
        ]
        return Worth(math.fsum(values), None)

    # ---------------------------------------------------------------- the work
    def _find(self, state: Any) -> tuple[bool, float, int]:
        key = key_of(self.game, state, self.layout)
        if key is None:
            return False, 0.0, 0
        _, closed, value, distance = look_up(self.rows, key, self.whole)
        return closed, value, distance

    def _use_layout(self, layout: Layout) -> None:
        self.layout, self.num_words = layout, num_words(layout)
        self.rows = np.zeros(FIRST_SLOTS * (self.num_words + 1), np.int64)
        self._count = 0

    @property
    def _slots(self) -> int:
        return len(self.rows) // (self.num_words + 1)

    def _prepare(self, state: Any) -> None:
        """Choose a layout by random games, and refuse a game that they show to be too large."""
        look = look_at(self.game, state, by_symmetry=self.game.has_symmetries)
        self._use_layout(layout_of(look.widths))
        self._require(f"a table of more than {look.least_states:.1g} states", int(look.least_states / FULL_SHARE))

    def _require(self, what: str, slots: int) -> None:
        require(slots * 8 * (self.num_words + 1), self.memory, what)

    def _walk(self, state: Any, seconds: float | None) -> int:
        """Close what the state reaches, as far as the arrays have room or the seconds last; return the status."""
        key = key_of(self.game, state, self.layout)
        fields = [int(v) & WORD for v in state]
        if key is None:
            self._trouble = fields
            return TOO_WIDE
        room = FOLLOWERS * self._depth
        keys, hints, gains = np.zeros(room * self.num_words, np.int64), np.zeros(room, np.int64), np.zeros(room)
        followers = np.zeros((room, width(self.game)), np.uint64)
        frames, bests = np.zeros((self._depth, COLUMNS), np.int64), np.zeros(self._depth)
        keys[: self.num_words], followers[0], frames[0, END] = key, fields, 1  # frame 0 is never closed
        hints[0] = int(look_up(self.rows, key, self.whole)[0]) << 2
        watch = Watch(1, self._show)
        table = (self.layout.ravel(), self.whole, self._count, watch.stop, watch.progress, self.rows)
        task = partial(walk, native(self.game), *table, keys, followers, hints, gains, frames, bests)
        try:
            with stopped_after(watch, seconds):
                status, self._count, at = watch.run([task])[0]
        except BaseException:
            self._rebuild(self._slots)
            raise
        self._trouble = [int(field) for field in followers[at]]
        return int(status)

    def _rebuild(self, slots: int) -> None:
        """Move what is closed into a table of so many slots."""
        rows = np.zeros(slots * (self.num_words + 1), np.int64)
        self._count = int(keep_closed(self.rows, self.num_words, rows))
        self.rows = rows

    def _prepare_again(self, status: int) -> None:
        """Make room for what a walk met, or say what is wrong with the game."""
        if status == CIRCLE:
            text = self.game.text(unpack(self.game, tuple(self._trouble)))
            raise GameError(f"the game can come back to {text}; backward induction needs games that cannot")
        if status == TOO_WIDE:
            pairs = zip(widths_of(self.layout), self._trouble, strict=True)
            self._use_layout(layout_of([max(old, field.bit_length()) for old, field in pairs]))
            return
        if status == TOO_DEEP:
            self._depth *= 4
            needed = 2 * 8 * self._depth * FOLLOWERS * (self.num_words + width(self.game) + 2)
            require(needed, self.memory, f"a game of more than {self._depth // 4} plies")
        growth = 4 if self._slots < FEW_SLOTS else 2
        slots = self._slots * (growth if status == FULL else 1)
        self._require(f"a table of more than {self._count:,} states", slots + self._slots)
        self._rebuild(slots)


def has_whole_values(game: Game[Any]) -> bool:
    """Tell whether all values are whole numbers: no chance, and rewards and results annotated as such."""
    kinds = [method_hints(type(game), getattr(type(game), name))["return"] for name in ("reward", "result")]
    flags = (game.has_reward, game.has_result)
    return not game.has_outcomes and all(
        kind in (int, bool) for kind, flag in zip(kinds, flags, strict=True) if flag
    )
