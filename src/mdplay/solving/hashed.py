"""Backward induction on a hash table: every state reachable from a start, by one depth-first walk.

The walk opens a state, visits its followers and closes it with its value to its mover:

    over      the result, signed
    chance    the sum of probability * value(outcome)
    player    the best of reward + value(next), where value(next) is negated if the other player moves next

Each edge costs one look into the table; a follower that is still open closes a circle, which the walk reports.
States that are images of each other under the game's symmetries share an entry.  The distance is the number of
plies to the end when the loser delays it and everybody else hurries; with chance there is none.

    marks[slot]    0 free, 1 open, 2 + distance closed          values[slot]    to the mover
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import lowest, rest, some
from mdplay.bridge import kernel, native, pack, part, unpack, width, words
from mdplay.contract import method_hints
from mdplay.errors import GameError, LimitError
from mdplay.game import Game
from mdplay.running import Show, Watch
from mdplay.solving.hashing import canonical
from mdplay.solving.keys import Layout, find_key, layout_of, num_words, widths_of, write_key
from mdplay.solving.memory import budget, in_words
from mdplay.solving.sampling import look_at

FREE, OPEN, CLOSED = 0, 1, 2
MAX_DISTANCE = (1 << 16) - 1 - CLOSED
FIRST_SLOTS = 1 << 12
TIE = 1e-9  # values this close, in proportion to the best, are equal
FINISHED, STOPPED, CIRCLE, TOO_WIDE, TOO_LARGE, TOO_LONG = range(6)


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
def doubled(keys: Any, marks: Any, values: Any) -> Any:
    """Return the table in twice the room."""
    num_slots = 2 * len(marks)
    new_keys = np.zeros((num_slots, keys.shape[1]), keys.dtype)
    new_marks, new_values = np.zeros(num_slots, marks.dtype), np.zeros(num_slots, values.dtype)
    for old in range(len(marks)):
        if marks[old] != FREE:
            slot = find_key(new_keys, new_marks, keys[old])
            new_keys[slot] = keys[old]
            new_marks[slot], new_values[slot] = marks[old], values[old]
    return new_keys, new_marks, new_values


@kernel
def walk(
    game: Any,
    start: Any,
    layout: Any,
    keys: Any,
    marks: Any,
    values: Any,
    count: int,
    max_slots: int,
    stop: Any,
    progress: Any,
    out_trouble: Any,
) -> Any:
    """Close every state that ``start`` reaches; return how it went, the number of states and the table.

    What is closed already stays.  ``out_trouble`` gets the state at which a walk failed.
    """
    s = canonical(game, unpack(game, start))
    t = s
    mask = game.legal(s)
    key = np.zeros(keys.shape[1], keys.dtype)
    stack, todo, by_chance, slots = [s], [mask], [False], [0]  # of every open state on the way to s
    best, distance, gain, share = [0.0], [0], [0.0], [0.0]
    depth, value, far, status = 0, 0.0, 0, FINISHED
    fits = write_key(game, s, layout, key)
    slot = find_key(keys, marks, key)
    entering = marks[slot] == FREE
    while fits and (entering or depth > 0):
        if entering:
            if 10 * count > 7 * len(marks):
                if 2 * len(marks) > max_slots:
                    status = TOO_LARGE
                    break
                keys, marks, values = doubled(keys, marks, values)
                for i in range(depth):
                    write_key(game, stack[i], layout, key)
                    slots[i] = find_key(keys, marks, key)
                write_key(game, s, layout, key)
                slot = find_key(keys, marks, key)
            for j in range(len(key)):
                keys[slot, j] = key[j]
            marks[slot] = OPEN
            count += 1
            if depth == len(stack):
                stack.append(s)
                todo.append(mask)
                by_chance.append(False)
                slots.append(slot)
                best.append(0.0)
                distance.append(0)
                gain.append(0.0)
                share.append(0.0)
            mask = game.legal(s)
            by_chance[depth] = False
            if game.has_outcomes:
                outcomes = game.outcomes(s)
                if some(outcomes):
                    mask = outcomes
                    by_chance[depth] = True
            stack[depth], todo[depth], slots[depth] = s, mask, slot
            best[depth], distance[depth] = (0.0 if by_chance[depth] else -np.inf), -1
            if not some(mask):
                best[depth] = final_value(game, s)
            depth += 1
            entering = False
            if count & 4095 == 0:
                progress[0] = count
                if stop[0]:
                    status = STOPPED
                    break
        top = depth - 1
        s = stack[top]
        mask = todo[top]
        if some(mask):  # the next follower of s
            choice = lowest(mask)
            todo[top] = rest(mask)
            if game.has_outcomes and by_chance[top]:
                t = canonical(game, game.outcome(s, choice))
                share[top] = game.probability(s, choice)
            else:
                t = canonical(game, game.step(s, choice))
                if game.has_reward:
                    gain[top] = game.reward(s, choice)
            fits = write_key(game, t, layout, key)
            slot = find_key(keys, marks, key)
            if not fits or marks[slot] == OPEN:
                s = t
                status = CIRCLE
                break
            if marks[slot] == FREE:
                s = t
                entering = True
                continue
            value, far = float(values[slot]), int(marks[slot]) - CLOSED
        else:  # s is done: close it and hand its value to the state before
            value, far = best[top], distance[top] + 1
            if game.has_outcomes:
                far = 0
            if far > MAX_DISTANCE:
                status = TOO_LONG
                break
            slot = slots[top]
            values[slot], marks[slot] = value, CLOSED + far
            depth -= 1
            if depth == 0:
                break
            t = s
            top -= 1
            s = stack[top]
        value = signed(game, s, t, value)
        if game.has_outcomes and by_chance[top]:
            best[top] += share[top] * value
        else:
            value += gain[top]
            if is_better(value, far, best[top], distance[top]):
                best[top], distance[top] = max(value, best[top]), far
    if not fits:
        status = TOO_WIDE
    if status != FINISHED:
        write_words(game, s, out_trouble)
    progress[0] = count
    return status, count, keys, marks, values


@part
def write_words(game: Any, s: Any, out_words: Any) -> None:
    """Write a state's words into an array."""
    packed = pack(game, s)
    for j in range(len(packed)):
        out_words[j] = packed[j]


@kernel
def look_up(game: Any, start: Any, layout: Any, keys: Any, marks: Any) -> int:
    """Return the slot of a state, or -1 if the table does not have it."""
    key = np.zeros(keys.shape[1], keys.dtype)
    if not write_key(game, canonical(game, unpack(game, start)), layout, key):
        return -1
    slot = find_key(keys, marks, key)
    return slot if marks[slot] >= CLOSED else -1


class HashTable:
    """Values and distances of all states that were reached from the starts asked for so far."""

    method = "hashed"

    def __init__(self, game: Game[Any], *, memory: int | None = None, show: Show | None = None) -> None:
        self.game = game
        self.memory = memory
        self._show = show
        self.layout: Layout = layout_of([1] * width(game))
        self._clear()

    def __len__(self) -> int:
        return self._count

    @property
    def slot_bytes(self) -> int:
        """The bytes of one slot."""
        return 8 * num_words(self.layout) + self.marks.itemsize + self.values.itemsize

    def close(self, state: Any) -> None:
        """Give a value to every state that this one reaches; raise LimitError if they do not fit."""
        if self.find(state) >= 0:
            return
        if not self._count:
            self._prepare(state)
        self._walk(state)

    def find(self, state: Any) -> int:
        """Return the slot of a state, or -1."""
        return int(look_up(native(self.game), words(state), self.layout, self.keys, self.marks))

    def value_and_distance(self, state: Any) -> tuple[float, int | None]:
        """Return what a state is worth to its mover, and the plies to the end; None with chance."""
        self.close(state)
        slot = self.find(state)
        distance = None if self.game.has_outcomes else int(self.marks[slot]) - CLOSED
        return float(self.values[slot]), distance

    # ---------------------------------------------------------------- the work
    def _clear(self) -> None:
        self._count = 0
        self.keys: NDArray[np.uint64] = np.zeros((FIRST_SLOTS, num_words(self.layout)), np.uint64)
        self.marks: NDArray[np.uint16] = np.zeros(FIRST_SLOTS, np.uint16)
        self.values: NDArray[Any] = np.zeros(FIRST_SLOTS, np.int32 if has_whole_values(self.game) else np.float64)

    def _prepare(self, state: Any) -> None:
        """Choose a layout by random games, and refuse a game that they show to be too large."""
        look = look_at(self.game, state, by_symmetry=self.game.has_symmetries)
        self.layout = layout_of(look.widths)
        self._clear()
        needed = look.least_states * self.slot_bytes / 0.7
        if needed > budget(self.memory):
            raise LimitError(
                f"the game has more than {look.least_states:.1g} states from there; a table of them would need"
                f" at least {in_words(needed)} of memory, and {in_words(budget(self.memory))} may be used"
            )

    def _walk(self, state: Any) -> None:
        watch = Watch(1, self._show)
        trouble = np.zeros(width(self.game), np.uint64)
        max_slots = budget(self.memory) // self.slot_bytes * 2 // 3  # the old table lives on while it is doubled
        arguments = (native(self.game), words(state), self.layout, self.keys, self.marks, self.values)
        task = partial(walk, *arguments, self._count, max_slots, watch.stop, watch.progress, trouble)
        try:
            status, self._count, self.keys, self.marks, self.values = watch.run([task])[0]
        except BaseException:
            self._clear()
            raise
        if status != FINISHED:
            reached = self._count
            self._clear()
            self._recover(status, trouble, state, reached)

    def _recover(self, status: int, trouble: NDArray[np.uint64], state: Any, reached: int) -> None:
        """Start again with wider fields, or say what is wrong."""
        if status == TOO_WIDE:
            pairs = zip(widths_of(self.layout), trouble, strict=True)
            self.layout = layout_of([max(old, int(field).bit_length()) for old, field in pairs])
            self._clear()
            self._walk(state)
            return
        if status == TOO_LARGE:
            raise LimitError(
                f"more than {reached:,} states are reached from there, and the table of {self.slot_bytes} bytes"
                f" a slot has no room for more in {in_words(budget(self.memory))} of memory"
            )
        text = self.game.text(unpack(self.game, tuple(int(field) for field in trouble)))
        if status == CIRCLE:
            raise GameError(f"the game can come back to {text}; backward induction needs games that cannot")
        raise GameError(f"a game from {text} may last more than {MAX_DISTANCE} plies; does every game end?")


def has_whole_values(game: Game[Any]) -> bool:
    """Tell whether all values are whole numbers: no chance, and rewards and results annotated as such."""
    kinds = [method_hints(type(game), getattr(type(game), name))["return"] for name in ("reward", "result")]
    flags = (game.has_reward, game.has_result)
    return not game.has_outcomes and all(
        kind in (int, bool) for kind, flag in zip(kinds, flags, strict=True) if flag
    )
