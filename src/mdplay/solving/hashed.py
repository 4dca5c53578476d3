"""Backward induction on a hash table: every state reachable from a start, by one depth-first search.

The search (`hashed_kernel.py`) opens a state, visits its successors and closes it with its value for the player to
move:

    terminal  the result, signed
    chance    the sum of probability * value(outcome)
    player    the best of reward + value(next), where value(next) is negated if the other player moves next

States that are images of each other under the game's symmetries share an entry.  The distance is the number of
plies to the end if the loser delays it and every other player hurries; with chance there is none.

A search that fills its table returns; Python doubles the table, copies the closed states and starts again.  Closed
states are not entered, so the search quickly reaches the state where it stopped: it can be interrupted at any
time.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import elements, nonempty
from mdplay.checking.contract_checks import diagnose_position
from mdplay.compiling import State, native, unpack, width
from mdplay.errors import CycleError, FormatError, GameError, LimitError
from mdplay.game import Game
from mdplay.rng import Random
from mdplay.runtime.memory import budget, require
from mdplay.runtime.signals import defer_exit, saving
from mdplay.runtime.threads import Show, TaskGroup, stopped_after
from mdplay.solving.hashed_kernel import (
    BROKEN,
    CIRCLE,
    CLOSED,
    COLUMNS,
    END,
    FINISHED,
    FREE,
    FULL,
    FULL_SHARE,
    NOT_A_VALUE,
    OPEN,
    STOPPED,
    TOO_DEEP,
    TOO_LARGE,
    TOO_WIDE,
    OpenStates,
    Rows,
    distance_of,
    keep_closed,
    look_up,
    search_states,
    value_of,
)
from mdplay.solving.values import (
    Arrays,
    Lacking,
    Question,
    StateValue,
    Survey,
    Table,
    has_integer_values,
)
from mdplay.states.game_length import random_game
from mdplay.states.keys import (
    WORD_BITS,
    Layout,
    key_of,
    layout_of,
    least_fields,
    num_words,
    packed_of,
    state_of,
    widths_of,
)
from mdplay.states.sampling import sample_widths

FIRST_SLOTS = 1 << 12  # of a new table
MANY_SLOTS = 1 << 18  # from here on the number of states is estimated before the table grows
FEW_SLOTS = 1 << 20  # up to here a table grows by a factor of 4, then of 2
FIRST_DEPTH = 1 << 8  # plies of a line, at first
MAX_DEPTH = 1 << 18  # plies of a line: games without end would fill the memory
SHORT_LIMIT = 2.0**31 - 1.0  # of integer values that are stored beside a distance
INTEGER_LIMIT = 2.0**53 - 1.0  # of integer values without a distance
REAL_LIMIT = float(np.finfo(np.float64).max)
MAX_PLAIN = 12_000  # states that a trial in plain Python can solve in time
GAMES = 16  # random games by which the number of states is compared with MAX_PLAIN
SUCCESSORS = 16  # room for the successors of each open state, on average


# ---------------------------------------------------------------- tables of sorted keys
def sorted_index(
    game: Game[Any], state: State, layout: Layout, keys: NDArray[np.uint64], fold: bool
) -> int | None:
    """Return the row of a state in a table of sorted keys; None if it is not there."""
    key = key_of(game, state, layout, fold=fold)
    if key is None:
        return None
    wanted = tuple(key.view(np.uint64).tolist())
    at = bisect_left(range(len(keys)), wanted, key=lambda i: tuple(keys[i].tolist()))
    return at if at < len(keys) and tuple(keys[at].tolist()) == wanted else None


def check_layout(game: Game[Any], arrays: Arrays, count: int) -> None:
    """Raise FormatError unless the keys of a file have the layout of the game's states."""
    layout, keys = arrays["layout"], arrays["keys"]
    fits = layout.shape == (width(game), 3)
    widths = widths_of(layout) if fits else []
    fits = fits and all(1 <= w <= WORD_BITS for w in widths) and np.array_equal(layout, layout_of(widths))
    if not fits or keys.shape != (count, num_words(layout)):
        raise FormatError(f"the keys in the file are not those of states of {game!r}")


# ---------------------------------------------------------------- the solver
class HashTable(Table):
    """Values and distances of all states that are reachable from the starts asked for so far."""

    method = kind = "hashed"

    def __init__(self, game: Game[Any], *, memory: int | None = None, show: Show | None = None) -> None:
        self.game = game
        self.integral = has_integer_values(game)
        self.memory = memory
        self._show = show
        self._depth = FIRST_DEPTH
        self._search: Callable[..., Any] = search_states
        self._survey: Survey | None = None  # of a start whose number of states is not yet estimated
        self._use_layout(layout_of([1] * width(game)))

    def __len__(self) -> int:
        return self._count

    def close(self, state: State) -> None:
        """Find the value of every state that is reachable from a state.

        Raise CycleError if a position repeats, LimitError if the states do not fit.
        """
        if (lacking := self.fill(Question(self.game, state))) is not None:
            raise lacking.error(lacking.reason)

    def fill(self, question: Question) -> Lacking | None:
        """Do so for the state of a question, with checkpoints; return what keeps the table from being filled."""
        state, checkpoint = question.state, question.checkpoint
        if self._find(state)[0]:
            return None
        if not self._count:
            self._use_layout(layout_of(sample_widths(self.game, state)))
            self._survey = question.survey
        with saving(partial(checkpoint, self) if checkpoint else None):
            while (status := self._run(state, question.run.save_every if checkpoint else None)) != FINISHED:
                if (lacking := self._prepare_again(status, question.huge)) is not None:
                    return lacking
                if checkpoint and status == STOPPED:
                    checkpoint(self)
        return None

    def lookup(self, state: State, player: int) -> StateValue:
        """Return the value of a state for a player, and the plies to the end unless values are fractions."""
        if not self._find(state)[0] and nonempty(self.game.outcomes(state)):
            return self._mean_lookup(state, player)
        self.close(state)
        _, value, distance = self._find(state)
        sign = 1 if player == self.game.player(state) else -1
        return StateValue(sign * value, distance if self.integral else None)

    def _mean_lookup(self, state: State, player: int) -> StateValue:
        """Return the mean over the outcomes of chance."""
        values = [
            self.game.probability(state, i) * self.lookup(self.game.outcome(state, i), player).value
            for i in elements(self.game.outcomes(state))
        ]
        return StateValue(math.fsum(values), None)

    def states(self) -> Iterator[Any]:
        """Yield every state that has a value, in the order of their keys; of symmetric ones the least image."""
        keys = np.ascontiguousarray(self._closed()[:, :-1])
        for number in np.lexsort(keys.view(np.uint64).T):
            yield state_of(self.game, keys[number], self.layout)

    def arrays(self) -> Arrays:
        """Return the states, values and distances as arrays, in the order of a file."""
        return self._sorted().arrays()

    def to_arrays(self) -> tuple[Arrays, dict[str, Any]]:
        """Return the closed states in the order of their keys."""
        return self._sorted().to_arrays()

    def _sorted(self) -> SortedTable:
        rows = self._closed()
        order = np.lexsort(rows[:, :-1].view(np.uint64).T[::-1])
        keys, entries = rows[order, :-1].view(np.uint64), rows[order, -1]
        arrays = {
            "layout": self.layout,
            "keys": np.ascontiguousarray(keys),
            "entries": np.ascontiguousarray(entries),
        }
        return SortedTable(self.game, arrays, self.integral)

    def restore(self, found: SortedTable) -> None:
        """Start from the states of a file."""
        self.integral = found.integral
        self._use_layout(np.array(found.layout))
        slots = FIRST_SLOTS
        while FULL_SHARE * slots < len(found):
            slots *= 2
        require(self._bytes(slots), self.memory, f"a table of {len(found):,} states")
        self.rows = np.column_stack([found.keys.view(np.int64), found.entries]).ravel()
        self._rebuild(slots)

    # ---------------------------------------------------------------- the search
    def _closed(self) -> NDArray[np.int64]:
        """Return the rows of all closed states: the words of the key, then the entry."""
        rows = self.rows.reshape(-1, self.num_words + 1)
        closed: NDArray[np.int64] = rows[(rows[:, -1] != FREE) & (rows[:, -1] != OPEN)]
        return closed

    def _find(self, state: State) -> tuple[bool, float, int]:
        key = key_of(self.game, state, self.layout)
        if key is None:
            return False, 0.0, 0
        _, closed, value, distance = look_up(self.rows, key, self.integral)
        return closed, value, distance

    def _use_layout(self, layout: Layout, slots: int = FIRST_SLOTS) -> None:
        self.layout, self.num_words = layout, num_words(layout)
        self.rows = np.zeros(slots * (self.num_words + 1), np.int64)
        self._count = 0

    @property
    def _limit(self) -> float:
        """The largest value that an entry holds exactly."""
        return SHORT_LIMIT if self.integral else INTEGER_LIMIT if has_integer_values(self.game) else REAL_LIMIT

    @property
    def _slots(self) -> int:
        return len(self.rows) // (self.num_words + 1)

    def _bytes(self, slots: int) -> int:
        return slots * 8 * (self.num_words + 1)

    def _estimate(self, survey: Survey, huge: float) -> Lacking | None:
        """Estimate the number of states by many random games; widen the layout, or return why they do not fit."""
        least = survey.sample.least_states
        what = f"a table of more than {least:.1g} states"
        if lacking := self._lacking(self._bytes(int(least / FULL_SHARE)), what):
            return lacking
        if least > huge:
            return Lacking(f"{what} is huge; use method='proof'", LimitError, huge=True)
        self._widen(survey.sample.widths)
        return None

    def _lacking(self, needed: float, what: str) -> Lacking | None:
        try:
            require(needed, self.memory, what)
        except LimitError as error:
            return Lacking(str(error), LimitError)
        return None

    def _is_large(self) -> bool:
        """Return whether a trial in plain Python would take too long: few states of random games are closed."""
        room = self._bytes(MANY_SLOTS) <= budget(self.memory)
        if not room or self._survey is None or search_states.is_ready(native(self.game)):
            return False
        start = self._survey.state
        games = (random_game(self.game, Random(0, number), start=start) for number in range(GAMES))
        met = [s for s in set().union(*games) if not nonempty(self.game.outcomes(s))]
        closed = sum(self._find(s)[0] for s in met)
        return closed * MAX_PLAIN < self._count * len(met)

    def _widen(self, widths: Sequence[int]) -> None:
        """Start again if a field needs more bits than it has."""
        wider = [max(pair) for pair in zip(widths_of(self.layout), widths, strict=True)]
        if wider != widths_of(self.layout):
            self._use_layout(layout_of(wider), self._slots)

    def _run(self, state: State, seconds: float | None) -> int:
        """Search from a state until the arrays are full or ``seconds`` have passed; return the status."""
        key = key_of(self.game, state, self.layout)
        fields = list(least_fields(self.game, state))  # the least image, whose key is looked up
        if key is None:
            self._trouble = fields
            return TOO_WIDE
        way = self._room()
        way.keys[: self.num_words] = key
        way.successors[0], way.frames[0, END] = fields, 1  # frame 0 is never closed
        way.hints[0] = int(look_up(self.rows, key, self.integral)[0]) << 2
        watch = TaskGroup(1, self._show)
        table = Rows(self.rows, self.layout.ravel(), self.integral, self._limit)
        task = partial(self._search, native(self.game), table, self._count, watch.stop, watch.progress, way)
        try:
            with stopped_after(watch, seconds):
                status, self._count, at = watch.run([task])[0]
        except BaseException:
            with defer_exit() if seconds else nullcontext():  # the closed states are about to be saved
                self._rebuild(self._slots)
            raise
        self._trouble = [int(field) for field in way.successors[at]]
        return int(status)

    def _room(self) -> OpenStates:
        """Return arrays for the open states and their successors."""
        room = SUCCESSORS * self._depth
        return OpenStates(
            np.zeros((self._depth, COLUMNS), np.int64),
            np.zeros(self._depth),
            np.zeros((room, width(self.game)), np.uint64),
            np.zeros(room * self.num_words, np.int64),
            np.zeros(room, np.int64),
            np.zeros(room),
        )

    def _rebuild(self, slots: int) -> None:
        """Copy the closed states to a table with a number of slots."""
        rows = np.zeros(slots * (self.num_words + 1), np.int64)
        self._count = int(keep_closed(self.rows, self.num_words, rows))
        self.rows = rows

    def _prepare_again(self, status: int, huge: float) -> Lacking | None:
        """Make room for a search to continue, or return why it cannot; raise GameError if a rule is wrong."""
        name = type(self.game).__name__
        if status == CIRCLE:
            text = self.game.text(unpack(self.game, tuple(self._trouble)))
            reason = f"the game has cycles (position {text} repeats); use method='retrograde' or 'value-iteration'"
            return Lacking(reason, CycleError, cycles=True)
        if status == TOO_LARGE and self.integral:
            self.integral = False
            self._use_layout(self.layout)
            return None
        if status in (TOO_LARGE, BROKEN):
            diagnose_position(self.game, unpack(self.game, tuple(self._trouble)))
            raise GameError(f"values of {name} exceed {self._limit:.2g}, the largest that is stored exactly")
        if status == TOO_WIDE:
            self._widen([field.bit_length() for field in self._trouble])
            return None
        if status == TOO_DEEP:
            if self._depth >= MAX_DEPTH:
                what = f"a game of {name} can last more than {self._depth:,} plies"
                return Lacking(f"{what}; backward induction needs games that end; use mdplay search", LimitError)
            self._depth *= 4
            needed = 2 * 8 * self._depth * SUCCESSORS * (self.num_words + width(self.game) + 2)
            if lacking := self._lacking(needed, f"a game of more than {self._depth // 4} plies"):
                return lacking
        if status == FULL and self._slots >= MANY_SLOTS and self._survey is not None:
            survey, self._survey = self._survey, None
            if lacking := self._estimate(survey, huge):
                return lacking
        if status == FULL and self._slots == FIRST_SLOTS and self._is_large():
            self._search = search_states.compiled_first
            self._use_layout(self.layout, MANY_SLOTS)  # finding so few states again is faster than copying them
            return None
        growth = 4 if self._slots < FEW_SLOTS else 2
        slots = self._slots * (growth if status == FULL else 1)
        what = f"a table of more than {self._count:,} states"
        if lacking := self._lacking(self._bytes(slots + self._slots), what):
            return lacking
        self._rebuild(slots)
        return None


class SortedTable(Table):
    """The states of a hash table in the order of their keys, as they are in a file."""

    method = kind = "hashed"
    array_types: ClassVar = {"layout": "int64", "keys": "uint64", "entries": "int64"}

    def __init__(self, game: Game[Any], arrays: Arrays, integral: bool) -> None:
        self.game, self.integral = game, integral
        self.layout, self.keys, self.entries = arrays["layout"], arrays["keys"], arrays["entries"]
        self._more = HashTable(game)  # for states that the file does not have

    def __len__(self) -> int:
        return len(self.entries)

    def lookup(self, state: State, player: int) -> StateValue:
        """Return the value of a state for a player; a state that the file does not have is solved."""
        at = sorted_index(self.game, state, self.layout, self.keys, fold=True)
        if at is None:
            return self._more.lookup(state, player)
        entry, sign = int(self.entries[at]), 1.0 if player == self.game.player(state) else -1.0
        distance = distance_of(entry, self.integral) if self.integral else None
        return StateValue(sign * float(value_of(entry, self.integral)), distance)

    def states(self) -> Iterator[Any]:
        """Yield every state of the file, in the order of their keys; of symmetric ones the least image."""
        return (state_of(self.game, np.array(key).view(np.int64), self.layout) for key in self.keys)

    def arrays(self) -> Arrays:
        """Return the states, values and distances as arrays."""
        states = packed_of(np.ascontiguousarray(self.keys), self.layout).view(np.int64)
        if self.integral:
            values, distances = self.entries >> 32, (self.entries & 0xFFFF_FFFF) - CLOSED
            return {"states": states, "values": values.astype(np.float64), "distances": distances}
        return {"states": states, "values": (self.entries ^ NOT_A_VALUE).view(np.float64)}

    def to_arrays(self) -> tuple[Arrays, dict[str, Any]]:
        """Return the arrays of the file."""
        return {"layout": self.layout, "keys": self.keys, "entries": self.entries}, {"whole": self.integral}

    @classmethod
    def from_arrays(cls, game: Game[Any], arrays: Arrays, facts: Mapping[str, Any]) -> SortedTable:
        """Return the table of a file."""
        check_layout(game, arrays, len(arrays["entries"]))
        return cls(game, arrays, bool(facts.get("whole", has_integer_values(game))))


def fill(question: Question) -> Table | Lacking:
    """Return the values of all states that are reachable from the start."""
    table = HashTable(question.game, memory=question.run.bytes, show=question.run.progress)
    if isinstance(question.begun, SortedTable):
        table.restore(question.begun)
    return table.fill(question) or table
