"""Backward induction on a hash table: every state reachable from a start, by one depth-first search.

The search (`hashed_kernel.py`) opens a state, visits its followers and closes it with its value to its mover:

    over      the result, signed
    chance    the sum of probability * value(outcome)
    player    the best of reward + value(next), where value(next) is negated if the other player moves next

States that are images of each other under the game's symmetries share an entry.  The distance is the number of
plies to the end when the loser delays it and everybody else hurries; with chance there is none.

A search that fills its table returns; Python doubles the table, keeping what is closed, and starts again.
It runs down to where it was, because closed states are not entered: so a search may stop and go on at any time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import elements, nonempty
from mdplay.checking.contract_checks import diagnose_position
from mdplay.compiling import native, unpack, width
from mdplay.compiling.contract import method_hints
from mdplay.errors import CycleError, GameError, HugeError, LimitError
from mdplay.game import Game
from mdplay.rng import Random
from mdplay.runtime.memory import budget, require
from mdplay.runtime.signals import defer_exit, saving
from mdplay.runtime.threads import Show, TaskGroup, stopped_after
from mdplay.solving.hashed_kernel import (
    BROKEN,
    CIRCLE,
    COLUMNS,
    END,
    FINISHED,
    FREE,
    FULL,
    FULL_SHARE,
    OPEN,
    STOPPED,
    TOO_DEEP,
    TOO_LARGE,
    TOO_WIDE,
    OpenStates,
    Rows,
    keep_closed,
    look_up,
    search_states,
)
from mdplay.solving.values import StateValue
from mdplay.states.game_length import random_game
from mdplay.states.keys import Layout, key_of, layout_of, least_fields, num_words, state_of, widths_of
from mdplay.states.sampling import sample_games, sample_widths

FIRST_SLOTS, MANY_SLOTS, FEW_SLOTS, FIRST_DEPTH = 1 << 12, 1 << 18, 1 << 20, 1 << 8
SHORT_LIMIT, WHOLE_LIMIT = 2.0**31 - 1.0, 2.0**53 - 1.0  # of whole values beside a distance, and by themselves
REAL_LIMIT = float(np.finfo(np.float64).max)
MOST_DEPTH = 1 << 18  # plies of a line, all different: games without end would fill the memory
MOST_PLAIN = 12_000  # states that plain Python may get through in time
GAMES = 16  # random games that tell how many there are
FOLLOWERS = 16  # room for the followers of each open state, on the average


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
        self._search: Callable[..., Any] = search_states
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
        with saving(partial(keep, self) if keep else None):
            while (status := self._walk(state, seconds if keep else None)) != FINISHED:
                self._prepare_again(status)
                if keep and status == STOPPED:
                    keep(self)

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

    def _use_layout(self, layout: Layout, slots: int = FIRST_SLOTS) -> None:
        self.layout, self.num_words = layout, num_words(layout)
        self.rows = np.zeros(slots * (self.num_words + 1), np.int64)
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

    def _is_large(self) -> bool:
        """Tell whether a trial would not get through: so little of what random games meet is closed already."""
        room = MANY_SLOTS * 8 * (self.num_words + 1) <= budget(self.memory)
        if not room or self._unseen is None or search_states.is_ready(native(self.game)):
            return False
        games = (random_game(self.game, Random(0, number), start=self._unseen) for number in range(GAMES))
        met = [s for s in set().union(*games) if not nonempty(self.game.outcomes(s))]
        closed = sum(self._find(s)[0] for s in met)
        return closed * MOST_PLAIN < self._count * len(met)

    def _widen(self, widths: Sequence[int]) -> None:
        """Begin anew if a field needs more bits than it has."""
        wider = [max(pair) for pair in zip(widths_of(self.layout), widths, strict=True)]
        if wider != widths_of(self.layout):
            self._use_layout(layout_of(wider), self._slots)

    def _require(self, what: str, slots: int) -> None:
        require(slots * 8 * (self.num_words + 1), self.memory, what)

    def _walk(self, state: Any, seconds: float | None) -> int:
        """Close what the state reaches, as far as the arrays have room or the seconds last; return the status."""
        key = key_of(self.game, state, self.layout)
        fields = list(least_fields(self.game, state))  # the least image, whose key is looked up
        if key is None:
            self._trouble = fields
            return TOO_WIDE
        way = self._room()
        way.keys[: self.num_words], way.followers[0], way.frames[0, END] = (
            key,
            fields,
            1,
        )  # frame 0 is never closed
        way.hints[0] = int(look_up(self.rows, key, self.whole)[0]) << 2
        watch = TaskGroup(1, self._show)
        table = Rows(self.rows, self.layout.ravel(), self.whole, self._limit)
        task = partial(self._search, native(self.game), table, self._count, watch.stop, watch.progress, way)
        try:
            with stopped_after(watch, seconds):
                status, self._count, at = watch.run([task])[0]
        except BaseException:
            with defer_exit() if seconds else nullcontext():  # somebody keeps what is closed
                self._rebuild(self._slots)
            raise
        self._trouble = [int(field) for field in way.followers[at]]
        return int(status)

    def _room(self) -> OpenStates:
        """Return room for the states on the way."""
        room = FOLLOWERS * self._depth
        return OpenStates(
            np.zeros((self._depth, COLUMNS), np.int64),
            np.zeros(self._depth),
            np.zeros((room, width(self.game)), np.uint64),
            np.zeros(room * self.num_words, np.int64),
            np.zeros(room, np.int64),
            np.zeros(room),
        )

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
            diagnose_position(self.game, unpack(self.game, tuple(self._trouble)))
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
        if status == FULL and self._slots == FIRST_SLOTS and self._is_large():
            self._search = search_states.compiled_first
            self._use_layout(self.layout, MANY_SLOTS)  # to find so few states again is quicker than to move them
            return
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
