"""Values of positions of Dots and Boxes by the search that knows chains (chains.py): threads, files and bounds.

A position is proved when it is asked for.  Positions that are not quiet lead to one quiet position; the boxes that
can be taken before are played out here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import elements
from mdplay.checking.contract_checks import number_of, spot_check
from mdplay.errors import FormatError, GameError, LimitError
from mdplay.game import Game
from mdplay.games.dots_and_boxes import chains
from mdplay.games.dots_and_boxes.chains import BUCKET, IMAGES, OUTSIDE, Board, Memory, beyond
from mdplay.games.dots_and_boxes.rules import DotsAndBoxes, State
from mdplay.runtime.memory import budget
from mdplay.runtime.run import Run
from mdplay.runtime.threads import Show, TaskGroup, num_threads, stopped_after
from mdplay.solving.proof.book import find_books
from mdplay.solving.values import Arrays, Choice, Cost, Lacking, Question, Solver, StateValue, Table

MIN_BUCKET_BITS = 14  # so that the rest of the hash and two bounds fit into an entry of the table
MAX_BUCKET_BITS = 32  # of a file that is read
CHUNK = 1 << 18  # entries of the table that are copied at once, and positions that are learned at once
MAX_BOOK_PLIES = 12  # opening books are read for positions with at most this number of lines
TABLE_BITS = {24: 18, 32: 22, 37: 25, 60: 26}  # log2 of the number of entries, by the largest number of lines
MAX_TABLE_LINES = 24  # boards with at most this number of lines (3 x 3 boxes) are solved by tables
AFTER_TABLES, BEFORE_TABLES = 2.9, 0.9  # costs: a table of sets costs 1.0 or 2.5, of numbers 2.0
MAX_TABLE_BITS = 29  # of the largest boards, if the memory is given
QUICK_LINES = 20  # positions with at most this number of missing lines are searched by one thread
SHOWN_DEPTH = 3  # moves from the root whose numbers give the share of a question that is done


@dataclass(frozen=True)
class ChainBounds:
    """The proven bounds of a position's value for the player to move."""

    low: int
    high: int
    nodes: int
    seconds: float

    @property
    def exact(self) -> bool:
        """Whether the value is known."""
        return self.low == self.high


class ChainSearch:
    """Values of positions of one board, proved when they are asked for.

    The table has an entry of 8 bytes for each of ``1 << table_bits`` positions; by default that depends on the
    number of lines, and at most half of ``memory`` bytes (default: most of the free memory) are used; boards with
    38 lines and more use half of the ``memory`` that is given, up to 4 GiB.  ``threads`` (default 1) search one
    position together.
    """

    def __init__(
        self, game: Game[Any], *, table_bits: int | None = None, memory: int | None = None, threads: int = 1
    ) -> None:
        if not isinstance(game, DotsAndBoxes):
            raise GameError(f"chains are known in Dots and Boxes only, not in {game!r}")
        spot_check(game)
        self.game = game
        middle = game.rows + game.cols * 1j  # of the grid of dots, lines and boxes
        places = [complex(*divmod(cell, 2 * game.cols + 1)) - middle for cell in game.cells]
        self._order = sorted(range(game.num_lines), key=lambda i: (abs(places[i].real) + abs(places[i].imag), i))
        self._number = {line: i for i, line in enumerate(self._order)}
        self._boxes = [self._renumber(box) for box in game.boxes]
        touching = [[i for i, box in enumerate(self._boxes) if box >> line & 1] for line in range(game.num_lines)]
        self._sides = [(*pair, OUTSIDE, OUTSIDE)[:2] for pair in touching]
        self._alike = self._groups(touching)
        self._board = self._arrays()
        if table_bits is None:
            table_bits = next(bits for lines, bits in TABLE_BITS.items() if game.num_lines <= lines)
            if memory is not None and table_bits == max(TABLE_BITS.values()):
                table_bits = MAX_TABLE_BITS
            table_bits = min(table_bits, (budget(memory) // 16).bit_length() - 1)
        self.bucket_bits = max(MIN_BUCKET_BITS, table_bits - 3)
        self.table = np.zeros(BUCKET << self.bucket_bits, np.int64)
        depth = game.num_lines + 2
        self._stacks = [
            [np.zeros(depth * size, np.int64) for size in (chains.FRAME, chains.MAX_MOVES * chains.MOVE, IMAGES)]
            for _ in range(threads)
        ]
        self._asked: tuple[int, int, int] | None = None  # the bounds and the goal of the question that is searched

    def _renumber(self, lines: int) -> int:
        """Return a set of lines of the game with the numbers of the search."""
        return sum(1 << self._number[line] for line in elements(lines))

    @staticmethod
    def _groups(touching: list[list[int]]) -> list[tuple[int, ...]]:
        """Return the groups of interchangeable lines: those that belong to the same single box."""
        single: dict[int, list[int]] = {}
        for line, boxes in enumerate(touching):
            if len(boxes) == 1:
                single.setdefault(boxes[0], []).append(line)
        return [tuple(lines) for lines in single.values() if len(lines) > 1]

    def _arrays(self) -> Board:
        """Return the arrays of the kernel.

        The images map the first line of a group of interchangeable lines to the first line of its image, and so
        on; a position in which the lines of every group are drawn in order has images of the same kind.
        """
        count = self.game.num_lines
        images = np.zeros((count, IMAGES), np.int64)
        for k in range(IMAGES):
            symmetry = self.game.images[k % len(self.game.images)]
            image = [self._number[symmetry[self._order[line]]] for line in range(count)]
            for group in self._alike:
                for line, target in zip(group, sorted(image[line] for line in group), strict=True):
                    image[line] = target
            images[:, k] = [1 << line for line in image]
        before = np.zeros(count, np.int64)
        for group in self._alike:
            for i, line in enumerate(group):
                before[line] = sum(1 << other for other in group[:i])
        sides = np.array(self._sides, np.int64).ravel()
        return Board(np.array(self._boxes, np.int64), sides, before, images.ravel())

    def prove(
        self,
        state: Any = None,
        *,
        seconds: float | None = None,
        show: Show | None = None,
        least: int | None = None,
    ) -> ChainBounds:
        """Return the value of a position for the player to move, or bounds if ``seconds`` do not suffice.

        ``least`` is a lower bound that is known, of a position in which no box can be completed.
        """
        began, nodes = time.perf_counter(), 0
        drawn = self._drawn(self.game.initial() if state is None else state)
        quiet = self._settled(drawn)
        left = sum(box & ~quiet != 0 for box in self._boxes)
        low, high, goal = -left, left, -(left & 1)
        if least is not None and least > low and quiet == drawn:
            low, goal = least, max(goal, least + 2)
        try:
            while low < high:
                rest = None if seconds is None else max(0.0, seconds - (time.perf_counter() - began))
                self._asked = low, high, goal
                found_low, found_high, count = self._narrow(quiet, goal, left, rest, show)
                nodes += count
                low, high = max(low, found_low), min(high, found_high)
                if low < goal <= high:
                    break
                goal = low + 2 if low >= goal else high
        finally:
            self._asked = None
        low, high = self._bounds(drawn, (low, high), {})
        return ChainBounds(low, high, nodes, time.perf_counter() - began)

    @property
    def status(self) -> str:
        """What is proved of the position that is searched now, and the share of the question that is done."""
        if self._asked is None:
            return ""
        low, high, goal = self._asked
        frames, share, part = self._stacks[0][0].reshape(-1, chains.FRAME), 0.0, 1.0
        for frame in frames[:SHOWN_DEPTH]:
            part /= max(1, int(frame[chains.COUNT]))
            share += part * int(frame[chains.INDEX])
        left = int(frames[0][chains.LEFT])
        known = [f"at least {low}"] * (low > -left) + [f"at most {high}"] * (high < left)
        return f"{', '.join(known) or 'no bounds yet'}; at least {goal}? {min(share, 1.0):.0%}"

    def _narrow(
        self, drawn: int, goal: int, left: int, seconds: float | None, show: Show | None
    ) -> tuple[int, int, int]:
        """Return bounds of a quiet position that decide a goal, unless time is over, and the number of nodes."""
        missing = (1 << self.game.num_lines) - 1 & ~drawn
        stacks = self._stacks if missing.bit_count() > QUICK_LINES else self._stacks[:1]
        watch, busy = TaskGroup(len(stacks), show), np.full(len(stacks) * chains.SHARED_DEPTH, -1, np.int64)
        question = chains.Question(missing, goal, left)

        def search(thread: int) -> tuple[int, int]:
            memory = Memory(self.table, *stacks[thread])
            settings = thread, self.bucket_bits, self._board, memory, busy
            low, high = chains.narrow(question, *settings, watch.stop, watch.progress)
            watch.stop[0] = 1  # the answer of one thread is enough
            return int(low), int(high)

        with stopped_after(watch, seconds):
            if seconds == 0.0:
                watch.stop[0] = 1
            found = watch.run([partial(search, thread) for thread in range(len(stacks))])
        lows, highs = zip(*found, strict=True)
        return max(lows), min(highs), int(watch.progress.sum())

    def learn(self, numbers: NDArray[np.int64], values: NDArray[np.int64]) -> None:
        """Store the values of positions, given by their drawn lines.

        Boxes that lack one line are taken first; positions that are not quiet after that are left out.
        """
        missing = np.zeros_like(numbers)
        for line, place in self._number.items():
            missing |= (~numbers >> line & 1) << place
        taken, last = np.zeros_like(missing), np.zeros_like(missing)
        for box in self._boxes:
            own = missing & box
            single = (own != 0) & (own & own - 1 == 0)
            taken += single
            last |= np.where(single, own, 0)
        missing, values = missing & ~last, values - taken
        quiet, left = np.ones(len(missing), np.bool_), np.zeros_like(missing)
        for box in self._boxes:
            own = missing & box
            quiet &= (own == 0) | (own & own - 1 != 0)
            left += own != 0
        for group in self._alike:
            count = sum(missing >> line & 1 for line in group)
            for line, others in zip(reversed(group), range(len(group)), strict=True):
                missing = missing & ~(1 << line) | np.where(count > others, 1 << line, 0)
        missing = missing[quiet]
        keys = np.full_like(missing, np.iinfo(np.int64).max)
        for images in self._board.images.reshape(-1, IMAGES).T:
            image = np.zeros_like(missing)
            for line, bit in enumerate(images.tolist()):
                image |= (missing >> line & 1) * bit
            keys = np.minimum(keys, image)
        chains.learn(keys, left[quiet], values[quiet], self.table, self.bucket_bits)

    def used_entries(self) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Return the used entries of the table and their number in each bucket, also while threads search."""
        entries, counts = [], []
        for first in range(0, len(self.table), CHUNK):
            chunk = self.table[first : first + CHUNK].copy()
            entries.append(chunk[chunk != 0])
            counts.append(np.count_nonzero(chunk.reshape(-1, BUCKET), axis=1).astype(np.uint8))
        return np.concatenate(entries), np.concatenate(counts)

    def restore(self, entries: NDArray[np.int64], counts: NDArray[np.uint8], bucket_bits: object) -> None:
        """Replace the table by one that ``used_entries`` returned; raise FormatError if the numbers do not fit."""
        fits = type(bucket_bits) is int and MIN_BUCKET_BITS <= bucket_bits <= MAX_BUCKET_BITS
        if not fits or counts.shape != (1 << bucket_bits,) or (counts > BUCKET).any():  # type: ignore[operator]
            raise FormatError("the table of the search is damaged: its buckets do not fit")
        if entries.shape != (int(counts.sum(dtype=np.int64)),):
            raise FormatError("the table of the search is damaged: it has another number of entries")
        assert isinstance(bucket_bits, int)
        self.bucket_bits, self.table = bucket_bits, np.zeros(BUCKET << bucket_bits, np.int64)
        self.table.reshape(-1, BUCKET)[np.arange(BUCKET) < counts[:, None]] = entries

    def canonical(self, state: Any) -> int:
        """Return an integer that is equal for symmetric positions; interchangeable lines count as symmetry."""
        lines, images = elements(self._drawn(state)), self._board.images.reshape(-1, IMAGES)
        return int(images[lines].sum(axis=0).min())

    def _drawn(self, state: Any) -> int:
        """Return the lines of a position with the numbers of the search, interchangeable lines in order."""
        return self._in_order(self._renumber(number_of(self.game, state)))

    # ---------------------------------------------------------------- positions that are not quiet
    def _in_order(self, drawn: int) -> int:
        """Return the position with the interchangeable lines drawn in order."""
        for group in self._alike:
            count = sum(drawn >> line & 1 for line in group)
            drawn &= ~sum(1 << line for line in group)
            drawn |= sum(1 << line for line in group[:count])
        return drawn

    def _settled(self, drawn: int) -> int:
        """Return the quiet position that is left when all boxes that can be completed are taken."""
        while lines := self._forced(drawn):
            drawn |= 1 << lines[0]
        return self._in_order(drawn)

    def _bounds(self, drawn: int, rest: tuple[int, int], known: dict[int, tuple[int, int]]) -> tuple[int, int]:
        """Return the bounds of a position, from those of the quiet position that is left.

        All lines of play lead to it; they differ in who moves then, and in the boxes that were taken.  ``known``
        has the bounds of the positions on the way.
        """
        if drawn in known:
            return known[drawn]
        found = []
        for line in self._forced(drawn):
            after = drawn | 1 << line
            gain = sum(box != OUTSIDE and not self._boxes[box] & ~after for box in self._sides[line])
            low, high = self._bounds(after, rest, known)
            found.append((gain + low, gain + high) if gain else (-high, -low))
        known[drawn] = (max(low for low, _ in found), max(high for _, high in found)) if found else rest
        return known[drawn]

    def _forced(self, drawn: int) -> list[int]:
        """Return the lines worth drawing while a box can be completed; none if the position is quiet.

        A box is taken at once, except the last two of a chain and the last four of a loop.  There the choice is
        to take them or to spare them by drawing the line between::

            A --take-- B --spare-- ...
            A --take-- B --spare-- C --l3-- D        A and D lack one line

        If several chains or loops offer this choice, one of them is taken first.  Which one matters: the box
        behind a chain may be taken later, and the chain then offers no choice any more.
        """
        kept: dict[int, int] = {}  # the line to take, by the line to spare
        for start, box_lines in enumerate(self._boxes):
            missing = box_lines & ~drawn
            if missing.bit_count() != 1:
                continue
            take, spare, box, length, closed = missing.bit_length() - 1, -1, start, 1, False
            while True:
                box = int(beyond(missing.bit_length() - 1, box, self._board.sides))
                further = 0 if box == OUTSIDE else self._boxes[box] & ~drawn & ~missing
                if box == OUTSIDE or further.bit_count() > 1:
                    break
                length, closed = length + 1, further == 0
                if closed:
                    break
                if length == 2:
                    spare = further.bit_length() - 1
                missing = further
            if length != (4 if closed else 2):
                return [take]
            kept[spare] = take
        return [*kept.values(), *kept] if len(kept) == 1 else list(kept.values())


class ChainTable(Table):
    """A chain search as the table of a solution.

    ``seconds`` limits the time for one position.  Its value comes first; the moves share the rest of the time.
    ``checkpoint(table)`` is called every ``save_every`` seconds of a search, and after it.
    """

    method = "chains"
    kind = "chains"
    array_types: ClassVar[Mapping[str, str]] = {"entries": "int64", "counts": "uint8"}
    on_demand = True

    def __init__(
        self, game: Game[Any], *, run: Run | None = None, checkpoint: Callable[[Table], None] | None = None
    ) -> None:
        run = run or Run()
        self.game, self.search = game, ChainSearch(game, memory=run.bytes, threads=num_threads(run.threads))
        self.seconds, self._show, self._nodes = run.seconds, run.progress, 0
        self._checkpoint, self._save_every, self._saved = checkpoint, run.save_every, time.monotonic()
        self._known: dict[int, ChainBounds] = {}  # of one of each set of symmetric positions
        self._is_saved = True
        self._has_books = False  # not read before a position of the opening is asked for

    def __len__(self) -> int:
        return self._nodes

    @property
    def status(self) -> str:
        """What is proved so far, while a position is searched."""
        return self.search.status

    def lookup(self, state: Any, player: int) -> StateValue:
        """Return the value of a position for a player; raise LimitError if the time did not suffice."""
        low, high = self.bounds(state, player)
        if low < high:
            within = "" if self.seconds is None else f" within {self.seconds:g} s"
            raise LimitError(f"{self.game.text(state)} is not solved{within}: its value is {low:g} to {high:g}")
        return StateValue(low, self._lines_left(state))

    def bounds(self, state: Any, player: int) -> tuple[float, float]:
        """Return the bounds of a position's value for a player."""
        found = self._proved(state, self.seconds)
        self.save()
        mine = player == self.game.player(state)
        return (float(found.low), float(found.high)) if mine else (-float(found.high), -float(found.low))

    def choices(self, state: Any) -> list[Choice]:
        """Return every action with the bounds of its value."""
        game, actions = self.game, elements(self.game.legal(state))
        if not actions:
            return []
        value = self._proved(state, self.seconds)
        left = None if self.seconds is None else self.seconds - value.seconds
        after = {action: game.step(state, action) for action in actions}
        todo = {self.search.canonical(after[action]): action for action in actions}
        for i, action in enumerate(todo.values()):
            began = time.perf_counter()
            share = None if left is None else max(0.0, left) / (len(todo) - i)
            least = None if game.reward(state, action) else -value.high  # no move is better than the position
            self._proved(after[action], share, least)
            left = None if left is None else left - (time.perf_counter() - began)
        self.save()
        return [self._choice(state, action, after[action]) for action in actions]

    def _choice(self, state: Any, action: int, after: Any) -> Choice:
        proved, gain = self._proved(after, 0.0), int(self.game.reward(state, action))
        low, high = (proved.low, proved.high) if gain else (-proved.high, -proved.low)
        return Choice(action, float(low + gain), float(high + gain), self._lines_left(state))

    def _proved(self, state: Any, seconds: float | None, least: int | None = None) -> ChainBounds:
        """Return what is known of a position; search it for ``seconds`` if its value is not known."""
        key = self.search.canonical(state)
        known = self._known.get(key)
        if known is None or (not known.exact and seconds != 0.0):
            self._read_books(state)
            try:
                known = self.search.prove(state, seconds=seconds, show=self._watch, least=least)
            except KeyboardInterrupt:
                self._is_saved = False
                self.save()
                raise
            self._known[key], self._is_saved = known, self._is_saved and not known.nodes
            self._nodes += known.nodes
        return known

    def _watch(self, nodes: int) -> None:
        """Save the table if it is time; show the number of nodes."""
        if time.monotonic() - self._saved > self._save_every:
            self._is_saved = False
            self.save()
        if self._show is not None:
            self._show(self._nodes + nodes)

    def _read_books(self, state: Any) -> None:
        """Learn the opening books of the board before the first position of the opening.

        Opening a chain leads past some plies, so that books after consecutive plies are worth more than one.
        """
        if not self._has_books and self.game.index(state).bit_count() <= MAX_BOOK_PLIES:
            self._has_books = True
            for book in find_books(self.game, max_plies=MAX_BOOK_PLIES):
                book.teach(self)

    def learn(self, rows: NDArray[np.uint64], scores: NDArray[np.int64]) -> None:
        """Store the values of packed states, for their players to move, as proved."""
        lines = State._fields.index("lines")
        for first in range(0, len(rows), CHUNK):
            chunk = slice(first, first + CHUNK)
            self.search.learn(rows[chunk, lines].astype(np.int64), scores[chunk])

    def _lines_left(self, state: Any) -> int:
        """Return the plies to the end: every line is drawn."""
        return int(self.game.size().bit_length() - 1 - self.game.index(state).bit_count())

    # ---------------------------------------------------------------- files
    def save(self) -> None:
        """Save what is proved, if there is a file and it does not have that yet."""
        if self._checkpoint is not None and not self._is_saved:
            self._checkpoint(self)
        self._saved, self._is_saved = time.monotonic(), True

    def to_arrays(self) -> tuple[Arrays, dict[str, Any]]:
        """Return the used entries of the search's table and their number in each bucket."""
        entries, counts = self.search.used_entries()
        return {"entries": entries, "counts": counts}, {"bucket_bits": self.search.bucket_bits}

    @classmethod
    def from_arrays(cls, game: Game[Any], arrays: Arrays, facts: Mapping[str, Any]) -> ChainTable:
        """Return a table with the saved entries."""
        made = cls(game, run=Run(memory=1 << MIN_BUCKET_BITS))
        made.search.restore(arrays["entries"], arrays["counts"], facts["bucket_bits"])
        return made

    def take(self, other: ChainTable) -> None:
        """Continue with the entries of another table of the same board."""
        self.search.table, self.search.bucket_bits = other.search.table, other.search.bucket_bits


class ChainSolver(Solver):
    """The solver of Dots and Boxes for boards with more than MAX_TABLE_LINES lines."""

    name = ChainTable.method
    on_demand = True

    def applies(self, question: Question) -> Cost | Lacking:
        """Apply to perfect play; tables of all positions come first on small boards."""
        game: Any = question.game
        if question.opponent != "perfect" or question.objective != "difference":
            return Lacking("a perfect opponent and the difference of points")
        return AFTER_TABLES if game.num_lines <= MAX_TABLE_LINES else BEFORE_TABLES

    def fill(self, question: Question) -> ChainTable:
        """Return a table that proves positions when they are asked for, with what the file has proved."""
        table = ChainTable(question.game, run=question.run, checkpoint=question.checkpoint)
        if isinstance(question.begun, ChainTable):
            table.take(question.begun)
        return table
