"""Opening books: the scores of all positions after a number of plies, proved once.

A prover that has learned a book answers every position before it at once, because only a few plies are searched.

The file (mdplay.storage.arrays) contains one byte for each position, its score for the player to move, compressed.
The positions and their order follow from the rules.  Of the images of a position under the board's
symmetries, the smallest by its packed words is kept, in ascending order.  An unfinished book has ``UNKNOWN`` where
nothing is proved yet; it is written every minute, and the same call continues it.

Books that users make are kept in the cache folder, under the game's identity.  Books of 7 x 6 Connect Four and of
4 x 4 Dots and Boxes are part of the package.  A book of other rules is neither found nor read.

A game may also register proofs of its result (``proofs`` of mdplay.naming.registry), with the strategy as a book.

``prove`` takes the file of a checkpoint and returns a proof, whose ``book`` is None where none was found;
``verify`` takes the book and returns a verdict.
"""

from __future__ import annotations

import inspect
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from mdplay.compiling import Words, unpack
from mdplay.compiling.identity import check_rules, game_identity
from mdplay.errors import FormatError, UnknownName
from mdplay.game import Game
from mdplay.learning.network import named_network
from mdplay.naming.registry import extras_of, games_with_extras
from mdplay.naming.transfer import GameSpec, rebuild, recipe_of
from mdplay.runtime.executors import Executor, using
from mdplay.runtime.run import Run, RunOptions, run_of
from mdplay.runtime.signals import defer_exit
from mdplay.runtime.threads import TaskGroup, num_threads
from mdplay.solving.proof.prover import MEMORY, SETTINGS, Prover
from mdplay.solving.proof.table import LIMIT
from mdplay.solving.values import Question, Solver, Table
from mdplay.states.keys import packed_of
from mdplay.states.perft import Plies
from mdplay.storage import arrays as store
from mdplay.storage.files import make_folder
from mdplay.storage.folders import cache_folder


def checkpoint_of(book: Path, executor: Executor | str | None = None) -> Path:
    """Return where a proof that was stopped is kept; with an executor it is a folder of answers."""
    if not book.name:
        raise FormatError(f"a book needs the name of a file, not '{'' if book == Path() else book}'")
    return book.with_name(book.name + (".checkpoint" if executor is None else ".answers"))


def prove_strategy(
    game: Game[Any],
    book: Path,
    *,
    fresh: bool = False,
    pause: Callable[[int, int], None] | None = None,
    run: Run | None = None,
    **settings: Unpack[RunOptions],
) -> Any:
    """Prove a game's result, write the strategy as a book if that succeeds, and return the proof.

    The proof is resumed from its checkpoint, which is written every ``save_every`` seconds, unless ``fresh`` is
    set.  ``pause`` is called with the number of answers that are proved and the number of all answers.
    """
    run = run_of("prove_strategy", ("executor", "threads", "save_every", "progress"), run, settings)
    prove, checkpoint = _brought(game, "prove"), checkpoint_of(book, run.executor)
    if not book.absolute().parent.is_dir():  # before the work, not after it
        raise FormatError(f"cannot write {book}: there is no folder {book.absolute().parent}")
    if fresh and checkpoint.is_dir():
        rmtree(checkpoint)
    elif fresh:
        checkpoint.unlink(missing_ok=True)
    given = {"executor": run.executor, "threads": run.threads, "save_seconds": run.save_every}
    proof = prove(checkpoint, **given, pause=pause, show=run.progress)
    if proof.book is not None:
        proof.save(book)
    return proof


def verify_strategy(game: Game[Any], book: Path, *, run: Run | None = None, **settings: Unpack[RunOptions]) -> Any:
    """Check a book that claims a game's result, and return the verdict; an ``executor`` shares the work."""
    run = run_of("verify_strategy", ("executor", "threads", "progress"), run, settings)
    return _brought(game, "verify")(book, executor=run.executor, threads=run.threads, show=run.progress)


def _brought(game: Game[Any], what: str) -> Any:
    try:
        return extras_of(game, "proofs")[what]
    except KeyError:
        known = ", ".join(games_with_extras("proofs"))
        raise UnknownName(f"{type(game).__name__} brings no proof of its result; choose {known}") from None


KIND = "opening book"
UNKNOWN = -128
BATCH = 32  # positions between two looks at the clock
BOOK_SAVE_SECONDS = 60.0
SUFFIX = ".book"
ShowOf = Callable[[int, int], None]
MAX_PLIES = 64  # of a book that is read: the positions beyond would never end


@dataclass(frozen=True)
class OpeningBook:
    """The positions of a game after ``plies`` plies, as packed rows, and their scores for the player to move."""

    game: Game[Any]
    plies: int
    rows: Words
    scores: NDArray[np.int8]
    path: Path

    @property
    def complete(self) -> bool:
        """Whether every score is known."""
        return bool((self.scores != UNKNOWN).all())

    def teach(self, prover: Table) -> None:
        """Store the scores in a table that solves positions on demand."""
        known = self.scores != UNKNOWN
        prover.learn(self.rows[known], self.scores[known].astype(np.int64))

    def save(self) -> None:
        """Write the book to its file, atomically."""
        make_folder(self.path.parent)
        meta = {"game": repr(self.game), "rules": game_identity(self.game), "plies": self.plies}
        packed = np.frombuffer(zlib.compress(self.scores.tobytes(), 9), np.uint8)
        store.save(self.path, {"packed": packed}, kind=KIND, meta=meta)

    def document(self) -> dict[str, Any]:
        """Return what ``mdplay book --json`` prints of a saved book."""
        size = self.path.stat().st_size
        return {"path": str(self.path), "plies": self.plies, "positions": len(self.rows), "bytes": size}


def positions(game: Game[Any], plies: int) -> Words:
    """Return the positions after ``plies`` plies as packed rows, one of each set of images, in ascending order."""
    found, watch = Plies(game, game.initial(), fold=True), TaskGroup()
    for _ in range(plies):
        found.advance(watch)
    layer = packed_of(found.layer.keys, found.layer.layout)
    order = np.lexsort(layer.T[::-1])
    return layer[order]


def load_book(path: Path, game: Game[Any]) -> OpeningBook:
    """Read a book, finished or not; raise FormatError if it is damaged or another game's."""
    stored = store.load(path, kind=KIND, types={"scores": "int8", "packed": "uint8"})
    if stored.meta.get("game") != repr(game):
        raise FormatError(f"{path} is a book of {stored.meta.get('game')}, not of {game!r}")
    check_rules(path, stored.meta.get("rules"), game, "name a new file and make the book again")
    plies = stored.meta.get("plies")
    if type(plies) is not int or not 0 <= plies <= MAX_PLIES:
        raise FormatError(f"{path} is damaged: its positions are after {plies!r:.40} plies")
    rows = positions(game, plies)
    scores = _scores_of(path, stored.arrays, len(rows))
    if scores.shape != (len(rows),):
        raise FormatError(f"{path} has {scores.size} scores; after {plies} plies there are {len(rows)} positions")
    if (np.abs(scores[scores != UNKNOWN].astype(np.int64)) > LIMIT).any():
        raise FormatError(f"{path} has a score beyond {LIMIT}, which no proof can have given")
    return OpeningBook(game, plies, rows, scores, path)


def _scores_of(path: Path, arrays: store.Arrays, count: int) -> NDArray[np.int8]:
    """Return the scores of a file, which are compressed unless an earlier version wrote them."""
    if "scores" in arrays:
        return arrays["scores"]
    if "packed" not in arrays:
        raise FormatError(f"{path} is damaged: it has no array 'packed'")
    try:  # at most one byte more than there are positions, whatever the file claims
        content = zlib.decompressobj().decompress(arrays["packed"].tobytes(), count + 1)
    except zlib.error as error:
        raise FormatError(f"{path} is damaged: {error}") from None
    return np.frombuffer(content, np.int8)


def make_book(
    game: Game[Any],
    plies: int,
    path: Path | None = None,
    *,
    run: Run | None = None,
    **settings: Unpack[RunOptions],
) -> OpeningBook:
    """Prove every position after ``plies`` plies, on all cores; resume an unfinished book.

    ``path`` is by default where ``solve`` looks, ``memory`` that of a prover.  With an ``executor``
    (mdplay.runtime.executors) batches of positions go to its workers, and ``memory`` is the limit of each.
    ``progress`` gets the number of positions done and of all.  On Ctrl-C the finished part is saved.
    """
    run = run_of("make_book", ("memory", "threads", "executor", "progress"), run, settings)
    path, show = path or user_path(game, plies), run.progress
    book = _begun(game, plies, path)
    try:
        if run.executor is None:
            table = _prover(game, Run(memory=run.bytes, threads=run.threads))
            book.teach(table)
            _fill(book, table.scores, show)
        else:
            _fill_by(run.executor, run.threads, Order(recipe_of(game), plies, run.bytes), book, show)
    finally:
        with defer_exit():
            book.save()
    return book


def _begun(game: Game[Any], plies: int, path: Path) -> OpeningBook:
    if not path.exists():
        rows = positions(game, plies)
        return OpeningBook(game, plies, rows, np.full(len(rows), UNKNOWN, np.int8), path)
    book = load_book(path, game)
    if book.plies != plies:
        raise FormatError(f"{path} is a book of {book.plies} plies, not of {plies}; name another file")
    return replace(book, scores=book.scores.copy())  # the file's own array cannot be written


class Order(NamedTuple):
    """What a worker needs to know of a book."""

    recipe: GameSpec
    plies: int
    memory: int | None


def prove_batch(number: int, order: Order) -> NDArray[np.int8]:
    """Prove the positions of a batch: the task of an executor."""
    table, rows = _prover_of(order)
    batch = rows[number * BATCH : (number + 1) * BATCH]
    return np.array(table.scores(unpack(table.game, row.tolist()) for row in batch), np.int8)


@lru_cache(maxsize=1)
def _prover_of(order: Order) -> tuple[Table, Words]:
    game = rebuild(order.recipe)
    return _prover(game, Run(memory=order.memory, threads=1)), positions(game, order.plies)


def _prover(game: Game[Any], run: Run) -> Table:
    """Return a table that solves positions on demand: the game's own, or that of proof search."""
    for solver in extras_of(game, "solvers").values():
        made: Solver = solver()
        if made.on_demand:
            table = made.fill(Question(game, game.initial(), run=run))
            assert isinstance(table, Table)
            return table
    return Prover(game, memory=run.bytes or MEMORY, threads=num_threads(run.threads))


class _Filling:
    """A book that is filled, told about and saved now and then."""

    def __init__(self, book: OpeningBook, show: ShowOf | None) -> None:
        self.book, self.show = book, show
        self._saved = time.monotonic()

    def enter(self, batch: Any, scores: Any) -> None:
        """Take the scores of some positions."""
        self.book.scores[batch] = scores
        if self.show is not None:
            self.show(int(np.count_nonzero(self.book.scores != UNKNOWN)), len(self.book.rows))
        if time.monotonic() - self._saved > BOOK_SAVE_SECONDS:
            self.book.save()
            self._saved = time.monotonic()


def _fill(book: OpeningBook, scores: Callable[..., Any], show: ShowOf | None) -> None:
    filling, left = _Filling(book, show), np.flatnonzero(book.scores == UNKNOWN)
    for i in range(0, len(left), BATCH):
        batch = left[i : i + BATCH]
        filling.enter(batch, scores(unpack(book.game, book.rows[j].tolist()) for j in batch))


def _fill_by(
    executor: Executor | str, workers: int | None, order: Order, book: OpeningBook, show: ShowOf | None
) -> None:
    filling, left = _Filling(book, show), np.unique(np.flatnonzero(book.scores == UNKNOWN) // BATCH)

    def done(number: int, scores: NDArray[np.int8]) -> None:
        filling.enter(slice(number * BATCH, (number + 1) * BATCH), scores)

    with using(executor, workers) as chosen:
        chosen.run(prove_batch, left.tolist(), order, done=done)


# ---------------------------------------------------------------- where books are
def file_name(game: Game[Any], plies: int) -> str:
    """Return the name of a book's file: the game, its parameters and the plies."""
    given = [f"{field.name}={getattr(game, field.name)}" for field in fields(game)]  # type: ignore[arg-type]
    return "-".join([type(game).__name__, *given, f"plies={plies}"]) + SUFFIX


def user_path(game: Game[Any], plies: int) -> Path:
    """Return where a user's book of the game is kept; other rules have another file."""
    return cache_folder() / "books" / game_identity(game)[:16] / file_name(game, plies)


def find_book(game: Game[Any], *, max_plies: int = 12) -> OpeningBook | None:
    """Return the deepest finished book of a game that there is, a user's or the package's, or None."""
    return next(find_books(game, max_plies=max_plies), None)


def find_books(game: Game[Any], *, max_plies: int = 12) -> Iterator[OpeningBook]:
    """Yield the finished books of a game, the deepest first; of two after equally many plies the user's."""
    shipped = Path(inspect.getfile(type(game))).parent
    for plies in range(max_plies, 0, -1):
        for path in (user_path(game, plies), shipped / file_name(game, plies)):
            if path.exists() and _has_rules_of(path, game) and (book := load_book(path, game)).complete:
                yield book
                break


def _has_rules_of(path: Path, game: Game[Any]) -> bool:
    """Return whether a book is of the game's rules: a user's game may have the name of one of ours."""
    return bool(store.load(path, kind=KIND).meta.get("rules") == game_identity(game))


def prover_for(game: Game[Any], **options: Any) -> Prover:
    """Return a prover, with the options of `Prover`, that knows the opening book of the game, if there is one."""
    prover = Prover(game, **{**options, "threads": num_threads(options.get("threads"))})
    if book := find_book(game):
        book.teach(prover)
    return prover


def table_for(question: Question) -> Prover:
    """Return the prover that answers a question."""
    name = question.network
    return prover_for(
        question.game,
        network=None if name is None else named_network(str(name), question.game),
        weak=question.objective == "win",
        **{setting: getattr(question.run, setting) for setting in SETTINGS},
    )
