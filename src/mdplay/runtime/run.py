"""``Run``: limits, storage, executor and progress of a computation, by the same words in every verb.

    solve(game, run=Run(seconds=10, memory="2GB"))
    solve(game, seconds=10, memory="2GB")            the same

A setting that has no effect in a verb is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, TypeVar

from mdplay.errors import ArgumentError, LimitError, check_integer, check_seconds, short, unknown

if TYPE_CHECKING:
    from mdplay.runtime.executors import Executor

Progress = Callable[..., None]  # called with the number of finished items
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kMGT]?)(i?)B?\s*", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
MAX_BYTES = 1 << 50  # a larger limit of memory is refused
MIN_PLAIN = 1 << 16  # a text without a unit that means fewer bytes is refused


class RunOptions(TypedDict, total=False):
    """The settings of a run as keywords of a verb."""

    seconds: float | None
    memory: int | str | None
    threads: int | None
    file: str | Path | None
    save_every: float
    executor: Executor | str | None
    progress: Progress | None


@dataclass(frozen=True)
class Run:
    """The limits of a computation, where it is saved, where it runs and who is informed of its progress.

    A limit that is None is not set.  ``memory`` is stored in bytes; it may be given as a text such as "2GB" or
    "512MiB".  ``progress`` is called with the number of finished items a few times a second.  What each setting
    means in a verb is described there.
    """

    seconds: Annotated[float | None, "Time limit in seconds."] = None
    memory: Annotated[int | str | None, "Memory limit: bytes, or a text such as 2GB."] = None
    threads: Annotated[int | None, "Number of threads, or of workers of the executor."] = None
    file: Annotated[str | Path | None, "Save the work to this file, or resume it from there."] = None
    save_every: Annotated[float, "Seconds between two checkpoints of the file."] = 60.0
    executor: Annotated[Any, "Executor, or its name: serial, processes, ray or ray:ADDRESS."] = None
    progress: Annotated[Progress | None, "Function that is called with the number of finished items."] = None

    def __post_init__(self) -> None:
        check_seconds(self.seconds)
        object.__setattr__(self, "memory", None if self.memory is None else in_bytes(self.memory))

    @property
    def bytes(self) -> int | None:
        """The memory limit in bytes."""
        assert not isinstance(self.memory, str)
        return self.memory


def in_bytes(memory: int | str) -> int:
    """Return the bytes that a number or a text means: ``"2GB"``, ``"1.5 MiB"``, ``"4096k"``, ``2000000000``.

    Raise LimitError for any other text, and for more than MAX_BYTES.
    """
    if isinstance(memory, str):
        if (found := _SIZE.fullmatch(memory)) is None:
            raise LimitError(f"memory={short(memory)!r} is not a size; write for example 2GB")
        number, unit, binary = found.groups()
        if not unit and float(number) < MIN_PLAIN:
            raise LimitError(
                f"memory={short(memory)} is a number of bytes; write the unit, for example {number}GB"
            )
        memory = int(float(number) * (1024 if binary else 1000) ** _POWERS[unit.lower()])
    check_integer("memory", memory)
    if memory > MAX_BYTES:
        raise LimitError(f"memory={short(str(memory))} is too large; give at most {MAX_BYTES >> 40} TiB")
    return memory


def run_of(verb: str, settings: Iterable[str], run: Run | None, given: Mapping[str, Any]) -> Run:
    """Return ``run`` with the settings that are given by keyword.

    ``settings`` are those that have an effect in the verb; raise ArgumentError for any other one.
    """
    allowed, defaults = tuple(settings), {field.name: field.default for field in fields(Run)}
    for name in given:
        if name not in defaults:
            raise ArgumentError(f"{verb}: {unknown('option', name, allowed)}")
    made = replace(run or Run(), **given)
    for name, default in defaults.items():
        if name not in allowed and getattr(made, name) != default:
            raise ArgumentError(
                f"{name} has no effect in {verb}; remove it (its settings are {', '.join(allowed)})"
            )
    return made


T = TypeVar("T")


def options_and_run(
    verb: str, kind: type[T], settings: Iterable[str], run: Run | None, given: Mapping[str, Any]
) -> tuple[T, Run]:
    """Return the options of a method, a frozen dataclass, and the run that keywords give.

    Raise ArgumentError for a keyword that is neither an option nor a setting of the verb.
    """
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    allowed, rest = tuple(settings), {name: value for name, value in given.items() if name not in names}
    for name in rest:
        if name not in {field.name for field in fields(Run)}:
            raise ArgumentError(f"{verb}: {unknown('option', name, (*names, *allowed))}")
    return kind(**{name: given[name] for name in given if name in names}), run_of(verb, allowed, run, rest)
