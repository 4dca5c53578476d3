"""Proofs of a game's result that the game brings (``proofs`` of mdplay.registry): the strategy as a book.

``prove`` takes the file of a checkpoint and returns a proof, whose ``book`` is None where none was found;
``verify`` takes the book and returns a verdict.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from shutil import rmtree
from typing import Any

from mdplay.engines import Engine
from mdplay.errors import FormatError, UnknownName
from mdplay.game import Game
from mdplay.registry import bringers, brought
from mdplay.running import Show

SAVE_SECONDS = 10.0


def checkpoint_of(book: Path, engine: Engine | str | None = None) -> Path:
    """Return where a proof that was stopped is kept; with an engine it is a folder of answers."""
    if not book.name:
        raise FormatError(f"a book needs the name of a file, not '{'' if book == Path() else book}'")
    return book.with_name(book.name + (".checkpoint" if engine is None else ".answers"))


def prove_strategy(
    game: Game[Any],
    book: Path,
    *,
    fresh: bool = False,
    engine: Engine | str | None = None,
    threads: int | None = None,
    save_seconds: float = SAVE_SECONDS,
    pause: Callable[[int, int], None] | None = None,
    show: Show | None = None,
) -> Any:
    """Prove a game's result, write the strategy as a book if that succeeds, and return the proof.

    It goes on from its checkpoint, unless it is to begin ``fresh``.  ``pause`` is told how many of all answers are
    proved.
    """
    prove, checkpoint = _brought(game, "prove"), checkpoint_of(book, engine)
    if not book.absolute().parent.is_dir():  # before the work, not after it
        raise FormatError(f"cannot write {book}: there is no folder {book.absolute().parent}")
    if fresh and checkpoint.is_dir():
        rmtree(checkpoint)
    elif fresh:
        checkpoint.unlink(missing_ok=True)
    proof = prove(checkpoint, engine=engine, threads=threads, save_seconds=save_seconds, pause=pause, show=show)
    if proof.book is not None:
        proof.save(book)
    return proof


def verify_strategy(
    game: Game[Any],
    book: Path,
    *,
    engine: Engine | str | None = None,
    threads: int | None = None,
    show: Show | None = None,
) -> Any:
    """Check a book that claims a game's result, and return the verdict; an ``engine`` shares the work out."""
    return _brought(game, "verify")(book, engine=engine, threads=threads, show=show)


def _brought(game: Game[Any], what: str) -> Any:
    try:
        return brought(game, "proofs")[what]
    except KeyError:
        known = ", ".join(bringers("proofs"))
        raise UnknownName(f"{type(game).__name__} brings no proof of its result; choose {known}") from None
