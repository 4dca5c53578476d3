"""Backward induction on a hash table: every state reachable from a start, by one depth-first search.

The search opens a state, visits its followers and closes it with its value to its mover:

    over      the result, signed
    chance    the sum of probability * value(outcome)
    player    the best of reward + value(next), where value(next) is negated if the other player moves next

Each edge costs one lookup in the table; a follower that is still open closes a circle, which the search reports.
States that are images of each other under the game's symmetries share an entry.  The distance is the number of
plies to the end when the loser delays it and everybody else hurries; with chance there is none.

The last word of a row of the table is its entry:

    0            free
    1            open
    otherwise    closed, with a whole value: value << 32 | 2 + distance
                 closed, with a real value: the bits of the number, XOR those of a NaN that no game has

Whole values of 2**31 and more are kept like real ones, below 2**53, and without distances; a search that meets
one starts again in that form.  No value is cut: ``limit`` bounds all that a search may write.

A state where chance moves right after an action has no slot: it is searched again whenever it is met, from states
that are closed then.  2048 so needs little more than half the memory.

A search that fills its table returns; Python doubles the table, keeping what is closed, and starts again.
It runs down to where it was, because closed states are not entered: so a search may stop and go on at any time.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import WORD, elements, lowest, nonempty, popcount, without_lowest
from mdplay.bridge import borrow, get, kernel, load, native, pack, part, prefetch, put, unpack, width
from mdplay.checking.promises import SLACK, blame_position
from mdplay.contract import method_hints
from mdplay.errors import CycleError, GameError, HugeError, LimitError
from mdplay.game import Game
from mdplay.running import Show, Watch
from mdplay.solving.values import TIE, StateValue
from mdplay.states.choices import canonical, choices_of, no_chance, no_player
from mdplay.states.keys import (
    Layout,
    find_key,
    hash_key,
    key_of,
    layout_of,
    num_words,
    state_of,
    widths_of,
    write_key,
)
from mdplay.states.memory import require
from mdplay.states.sampling import sample_games, sample_widths
from mdplay.stopping import StillRunning, finishing

FREE, OPEN, CLOSED = 0, 1, 2
NOT_A_VALUE = 0x7FF8_0000_0000_0001
FIRST_SLOTS, MANY_SLOTS, FEW_SLOTS, FIRST_DEPTH = 1 << 12, 1 << 18, 1 << 20, 1 << 8
NO_SLOT, PASSING = -1, 2
FULL_SHARE = 0.75  # of the slots in use: time to double
SHORT_LIMIT, WHOLE_LIMIT = 2.0**31 - 1.0, 2.0**53 - 1.0  # of whole values beside a distance, and by themselves
REAL_LIMIT = float(np.finfo(np.float64).max)
MOST_DEPTH = 1 << 18  # plies of a line, all different: games without end would fill the memory
MOST_DISTANCE = (1 << 32) - 1 - CLOSED

FINISHED, STOPPED, CIRCLE, TOO_WIDE, FULL, TOO_DEEP, TOO_LARGE, BROKEN = range(8)
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


@kernel(plain_first=True)
def search_states(
    game: Any,
    layout: Any,
    whole: bool,
    limit: float,
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

    Why every access is inside: a slot is at most ``last``, by the hash's mask or ``find_key``, which ends because
    ``most`` leaves slots free; a follower c and all that belongs to it is below ``len(hints)``, and a frame below
    ``len(frames)``, because both are asked for before a state is opened.
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
                bests[depth] = 0.0 if by_chance else -np.inf if nonempty(mask) else final_value(game, s)
                frames[depth, NEXT], frames[depth, SLOT] = end, slot
                frames[depth, CHANCE], frames[depth, DISTANCE] = by_chance, -1
                total = 0.0
                while nonempty(mask):
                    choice = lowest(mask)
                    mask = without_lowest(mask)
                    t = game.step(s, choice) if not by_chance else game.outcome(s, choice)
                    gains[end] = 0.0
                    if by_chance:
                        gains[end] = game.probability(s, choice)
                        total += gains[end]
                        if no_chance(gains[end]):
                            return BROKEN, count, c
                    elif game.has_reward:
                        gains[end] = game.reward(s, choice)
                        if not abs(gains[end]) <= limit:
                            return TOO_LARGE, count, c
                    if no_player(game, t):
                        return BROKEN, count, c
                    t = canonical(game, t)
                    packed = pack(game, t)
                    for j in range(len(packed)):
                        followers[end, j] = packed[j]
                    if not write_key(game, t, borrow(layout), num_words, key, end * num_words):
                        return TOO_WIDE, count, end
                    first = int(hash_key(key, end * num_words, num_words) & last)
                    prefetch(table, first * row)
                    hints[end] = first << 2 | (game.player(s) != game.player(t))
                    if game.has_outcomes and not by_chance and nonempty(game.outcomes(t)):
                        hints[end] |= PASSING
                    end += 1
                if by_chance and abs(total - 1.0) > SLACK:
                    return BROKEN, count, c
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
            if not abs(value) <= limit or distance > MOST_DISTANCE:
                return TOO_LARGE, count, frames[depth - 1, NEXT]
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


@kernel(plain_first=True)
def keep_closed(rows: Any, num_words: int, out_rows: Any) -> int:
    """Copy the closed slots of a table into an empty one; return their number.

    It has more slots than are closed, so ``find_key`` comes to a free one; all slots are within its mask.
    """
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


@kernel(plain_first=True, writes=False)
def look_up(rows: Any, keys: Any, whole: bool) -> Any:
    """Return the slot of a key or where it belongs, whether it is closed, its value and its distance.

    A search leaves a quarter of the slots free, so the lookup ends; every slot is within the mask.
    """
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
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class HashTable:
    """Values and distances of all states that were reached from the starts asked for so far."""

    method = "hashed"

    def __init__(
        self, game: Game[Any], *, memory: int | None = None, show: Show | None = None, huge: float = math.inf
    ) -> None:
        self.game = game
        self.whole = has_whole_values(game)
        self.memory, self.huge = memory, huge
        self._show = show
        self._depth = FIRST_DEPTH
        self._unseen: Any = None  # the start of a search of which nobody knows how large it will be
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
        except StillRunning:
            raise  # the kernel still writes: what was kept last stays
        except KeyboardInterrupt:
            if keep:
                with finishing():
                    keep(self)
            raise

    def closed(self) -> NDArray[np.int64]:
        """Return the rows of all closed states: the words of the key, then the entry."""
        rows = self.rows.reshape(-1, self.num_words + 1)
        closed: NDArray[np.int64] = rows[(rows[:, -1] != FREE) & (rows[:, -1] != OPEN)]
        return closed

    def restore(self, layout: Layout, rows: NDArray[np.int64], *, whole: bool) -> None:
        """Begin with states that were closed before: rows as ``closed`` returns them, of a table as ``whole``."""
        self.whole = whole
        self._use_layout(layout)
        slots = FIRST_SLOTS
        while FULL_SHARE * slots < len(rows):
            slots *= 2
        self._require(f"a table of {len(rows):,} states", slots)
        self.rows = np.ascontiguousarray(rows).ravel()
        self._rebuild(slots)

    def states(self) -> Iterator[Any]:
        """Yield every state that has a value, in the order of their keys; of symmetric ones the least image."""
        keys = np.ascontiguousarray(self.closed()[:, :-1])
        for number in np.lexsort(keys.view(np.uint64).T):
            yield state_of(self.game, keys[number], self.layout)

    def lookup(self, state: Any, player: int) -> StateValue:
        """Return what a state is worth to a player, and the plies to the end unless values are fractions."""
        if not self._find(state)[0] and nonempty(self.game.outcomes(state)):
            return self._mean_lookup(state, player)
        self.close(state)
        _, value, distance = self._find(state)
        return StateValue(value if player == self.game.player(state) else -value, distance if self.whole else None)

    def _mean_lookup(self, state: Any, player: int) -> StateValue:
        """Return the mean over the outcomes of chance."""
        values = [
            self.game.probability(state, i) * self.lookup(self.game.outcome(state, i), player).value
            for i in elements(self.game.outcomes(state))
        ]
        return StateValue(math.fsum(values), None)

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
    def _limit(self) -> float:
        """The largest value that an entry holds exactly."""
        return SHORT_LIMIT if self.whole else WHOLE_LIMIT if has_whole_values(self.game) else REAL_LIMIT

    @property
    def _slots(self) -> int:
        return len(self.rows) // (self.num_words + 1)

    def _prepare(self, state: Any) -> None:
        """Choose a layout by a few random games; more are played when the table has grown."""
        self._use_layout(layout_of(sample_widths(self.game, state)))
        self._unseen = state

    def _survey(self, state: Any) -> None:
        """Play many random games: refuse a game that they show to be too large, and widen the layout in time."""
        sampled = sample_games(self.game, state, by_symmetry=self.game.has_symmetries)
        self._require(
            f"a table of more than {sampled.least_states:.1g} states", int(sampled.least_states / FULL_SHARE)
        )
        if sampled.least_states > self.huge:
            raise HugeError(f"a table of more than {sampled.least_states:.1g} states is huge; try method=proof")
        self._widen(sampled.widths)

    def _widen(self, widths: Sequence[int]) -> None:
        """Begin anew if a field needs more bits than it has."""
        wider = [max(pair) for pair in zip(widths_of(self.layout), widths, strict=True)]
        if wider != widths_of(self.layout):
            self._use_layout(layout_of(wider))

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
        table = (self.layout.ravel(), self.whole, self._limit, self._count, watch.stop, watch.progress, self.rows)
        task = partial(search_states, native(self.game), *table, keys, followers, hints, gains, frames, bests)
        try:
            with stopped_after(watch, seconds):
                status, self._count, at = watch.run([task])[0]
        except BaseException:
            with finishing() if seconds else nullcontext():  # somebody keeps what is closed
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
        """Make room for what a search met, or say what is wrong with the game."""
        if status == CIRCLE:
            text = self.game.text(unpack(self.game, tuple(self._trouble)))
            raise CycleError(f"the game can come back to {text}; backward induction needs games that cannot")
        if status == TOO_LARGE and self.whole:
            self.whole = False
            self._use_layout(self.layout)
            return
        if status in (TOO_LARGE, BROKEN):
            blame_position(self.game, unpack(self.game, tuple(self._trouble)))
            what = f"values of {type(self.game).__name__} come to more than {self._limit:.2g}"
            raise GameError(f"{what}, which is not kept exactly")
        if status == TOO_WIDE:
            self._widen([field.bit_length() for field in self._trouble])
            return
        if status == TOO_DEEP:
            if self._depth >= MOST_DEPTH:
                what = f"{type(self.game).__name__} goes on for more than {self._depth:,} plies"
                raise LimitError(f"{what}; backward induction needs games that come to an end; use mdplay search")
            self._depth *= 4
            needed = 2 * 8 * self._depth * FOLLOWERS * (self.num_words + width(self.game) + 2)
            require(needed, self.memory, f"a game of more than {self._depth // 4} plies")
        if status == FULL and self._slots >= MANY_SLOTS and self._unseen is not None:
            state, self._unseen = self._unseen, None
            self._survey(state)
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
