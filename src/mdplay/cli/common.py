"""What the commands share: games and positions as arguments, JSON, progress on stderr."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

import click
from click.shell_completion import CompletionItem

from mdplay import Game, Run
from mdplay.errors import short
from mdplay.naming import registry
from mdplay.naming.specs import Parameter, parameters, read_spec

Command = TypeVar("Command", bound=Callable[..., Any])

SHOW_AFTER_SECONDS = 1.0
SHOW_EVERY_SECONDS = 0.1


class GameName(click.ParamType[Game[Any]]):
    """A game by name, or a user's ``file.py:Class``; the latter plays a trial game before anything else."""

    name = "game"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Game[Any]:
        """Return the game that the text names."""
        if isinstance(value, Game):
            return value
        game = registry.make(value)
        if read_spec(value).file is not None:
            from mdplay.checking.check import try_game  # late: built-in games need no trial

            try_game(game)
        return game

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin with what was typed, and files."""
        found = [CompletionItem(name) for name in registry.names() if name.startswith(incomplete)]
        return found or [CompletionItem(incomplete, type="file")]


class TextLines:
    """The lines of a text file, read one after the other; ``name`` is the file's."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __iter__(self) -> Iterator[str]:
        from mdplay.storage.files import read_lines

        return read_lines(self.name)


class TextFile(click.ParamType[TextLines]):
    """A text file, or ``-`` for the standard input; it is read line by line, with bounded lines."""

    name = "filename"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> TextLines:
        """Return the lines; raise FormatError if the file cannot be read."""
        if value != "-" and not Path(value).is_fifo():  # the writer of a FIFO would find it closed
            from mdplay.storage.files import opened

            with opened(value):
                pass
        return TextLines(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return files."""
        return [CompletionItem(incomplete, type="file")]


class Count(click.IntRange):
    """An integer of at most 64 bits, the range of compiled code."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number that the text means."""
        number: int = super().convert(value, param, ctx)
        if number >> 63 not in (0, -1):
            self.fail(f"{short(value)} is beyond 64 bits.", param, ctx)
        return number


class Number(click.FloatRange):
    """A number, neither infinite nor nan."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number that the text means."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{short(value)} is not a finite number.", param, ctx)
        return number


class Seed(Count):
    """Any integer of 64 bits; help shows no range."""

    name = "integer"

    def _describe_range(self) -> str:
        return ""


class AnyNumber(Number):
    """Any finite number; help shows no range."""

    name = "float"

    def _describe_range(self) -> str:
        return ""


ANY_COUNT = 1 << 62  # help shows no upper limit from here on
MAX_SECONDS = 1e9  # of a time limit
SECONDS = Number(0, MAX_SECONDS, min_open=True)
THREADS = Count(1, 1024)

game_argument = click.argument("game", type=GameName())
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
seed_option = click.option("--seed", type=Seed(), default=0, show_default=True, help="Seed of the random numbers.")
SETTINGS: dict[str, dict[str, Any]] = {  # how the command line writes the settings of a run
    "seconds": {"type": SECONDS, "metavar": "T"},
    "memory": {"metavar": "SIZE"},
    "threads": {"type": THREADS, "help": "Number of threads.  [default: one per core]"},
    "file": {"metavar": "FILE"},
    "save_every": {"type": Number(0), "metavar": "T", "show_default": True},
    "executor": {
        "metavar": "E",
        "help": "serial, processes, ray or ray:ADDRESS.  [default: threads of this process]",
    },
}


def setting(name: str, *names: str, **given: Any) -> Callable[[Command], Command]:
    """Return the option of a setting of ``Run``, with its default and help; ``names`` are further names of it."""
    (known,) = (parameter for parameter in parameters(Run) if parameter.name == name)
    written = {"default": known.default, "help": known.help, **SETTINGS[name], **given}
    return click.option(f"--{name.replace('_', '-')}", *names, name, **written)


threads_option, executor_option = setting("threads"), setting("executor")
position_option = click.option(
    "--position", "-p", metavar="P", help="Position in the notation of the game, or moves:a,b,c."
)


def options(*group: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Combine options into one decorator, in the order of the help text."""

    def add(command: Command) -> Command:
        for option in reversed(group):
            command = option(command)
        return command

    return add


def state_of(game: Game[Any], position: str | None) -> Any:
    """Return the state of ``--position``, or the start."""
    if position is None:
        return game.initial()
    from mdplay.naming.notation import parse_position  # late: most commands start at the beginning

    return parse_position(game, position)


def option_of(option: Parameter) -> click.Option:
    """Return the option of the command line that is a learner's; one that is not given is None.

    Each learner has its own default.
    """
    names, attributes = _written(option)
    shown = "" if option.default is None or option.kind is bool else f"  [default: {option.default}]"
    return click.Option(names, **{**attributes, "default": None, "help": option.help + shown})


def options_of(kind: type, *names: str) -> Callable[[Command], Command]:
    """Return a decorator that adds the options with the given names of a dataclass, with its defaults."""
    listed = [_written(option) for option in parameters(kind) if option.name in names]
    return options(*(click.option(*flags, **attributes, show_default=True) for flags, attributes in listed))


def _written(option: Parameter) -> tuple[list[str], dict[str, Any]]:
    """Return the names and attributes of an option of the command line; ``lambda_`` is written ``--lambda``."""
    names = [f"--{option.name.rstrip('_').replace('_', '-')}", option.name]
    kind = {"is_flag": True} if option.kind is bool else {"type": _kind(option)}
    return names, {**kind, "default": option.default, "help": option.help}


def _kind(option: Parameter) -> Any:
    span = option.between
    if option.kind is int and span:
        return Count(int(span.low), None if span.high >= ANY_COUNT else int(span.high))
    if option.kind is int:
        return Seed()
    if option.kind is float:
        return Number(span.low, span.high) if span else AnyNumber()
    return str


def print_json(document: Any) -> None:
    """Print one JSON document on stdout."""
    click.echo(json.dumps(document, indent=2))


class ShowLine(Protocol):
    """Callback that draws a progress line."""

    def __call__(self, done: int, total: int | None = None, /) -> None:
        """Draw the number of finished items, and their total if it is known only now."""


@contextmanager
def progress(
    label: str, total: int | None = None, *, status: Callable[[], str] | None = None
) -> Iterator[ShowLine]:
    """Yield a callback that draws a progress line on stderr, on terminals only and after one second.

    ``status`` returns a text that is appended to the line.
    """
    began, drawn, last = time.monotonic(), False, 0.0
    terminal = sys.stderr.isatty()

    def show(done: int, found: int | None = None) -> None:
        nonlocal drawn, last
        seconds = time.monotonic() - began
        if terminal and seconds > max(SHOW_AFTER_SECONDS, last + SHOW_EVERY_SECONDS):
            drawn, last = True, seconds
            line = _line(label, done, found or total, seconds)
            more = f"  {status()}" if status is not None else ""
            click.echo(f"\r{line}{more}\x1b[K", err=True, nl=False)

    try:
        yield show
    finally:
        if drawn:
            click.echo("\r\x1b[K", err=True, nl=False)


def _line(label: str, done: int, total: int | None, seconds: float) -> str:
    speed = f"{done / seconds:,.0f}/s"
    if not total:
        return f"{label}  {done:,}  {speed}  {seconds:.0f} s"
    share = min(1.0, done / total)
    bar = ("#" * int(30 * share)).ljust(30, ".")
    left = f"{seconds / share - seconds:.0f} s left" if share > 0 else ""
    return f"{label}  [{bar}] {share:4.0%}  {speed}  {left}"
