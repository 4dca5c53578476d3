"""Specs: ``name:key=value,...`` and ``path/file.py:Class:key=value,...`` - games, agents and selectors by a text.

connect-four:rows=5,cols=5       a name and its options
ucb1(c=2)                        the same in brackets, for a spec inside a spec
rules/nim.py:Nim:pile=7          a class of a user's file, and its options
nim.py    nim.py:pile=7          the only class there
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import os
import re
import sys
import typing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from types import ModuleType, UnionType
from typing import Any

from mdplay.errors import GameError, UnknownName, short, unknown
from mdplay.game import Between
from mdplay.runtime.signals import Process

COMMA = re.compile(r",(?![^(]*\))")  # not between brackets: selector=ucb1(c=1,d=2) is one parameter
_FILE_END = re.compile(r"\.py(?=:|$)")
_BARE_NAME = re.compile(r"[\w-]*[:(]")
_NAME_AND_OPTIONS = re.compile(r"(?P<name>[^:(]*)(?:\((?P<inside>.*)\)|:(?P<after>.*))?", re.DOTALL)


@dataclass(frozen=True)
class Spec:
    """What a text names: something registered, or a class of a user's file; its options are still a text."""

    file: Path | None
    name: str
    options: str


def read_spec(text: str) -> Spec:
    """Return the parts of a text.  No file is opened or imported; at most its existence is checked."""
    text = text.strip()
    end = _end_of_file(text)
    if end is None:
        return Spec(None, *_name_and_options(text))
    name, options = _name_and_options(text[end:].removeprefix(":"))
    if "=" in name:
        name, options = "", text[end + 1 :]
    return Spec(home(Path(text[:end])), name, options)


def _end_of_file(text: str) -> int | None:
    """Return where the path of a user's file ends; None if the text begins with a name.

    A folder may be called ``a.py`` too: only a ``.py`` before a colon or the end counts, and of several the first
    that is a file.  The options of a name may hold a path: ``mcts:selector=mine.py:Rule``.
    """
    ends = [match.end() for match in _FILE_END.finditer(text)]
    there = next((end for end in ends if _is_file(text[:end])), None)
    if there is not None or not ends or _BARE_NAME.match(text):
        return there
    return ends[0]


def _is_file(path: str) -> bool:
    try:
        return Path(path).expanduser().is_file()
    except (OSError, ValueError, RuntimeError):  # too long, a loop of links, no home folder: loading reports it
        return False


def _name_and_options(text: str) -> tuple[str, str]:
    found = _NAME_AND_OPTIONS.fullmatch(text)
    if found is None:
        return text, ""
    return found["name"].strip(), (found["inside"] or found["after"] or "").strip()


# ---------------------------------------------------------------- parameters
@dataclass(frozen=True)
class Parameter:
    """A parameter of a game, agent, selector or learner: its type and default, its range and help if any."""

    name: str
    kind: type
    default: Any
    between: Between | None
    help: str = ""

    def parse(self, text: str) -> Any:
        """Return the value that a text means, or raise UnknownName or GameError."""
        try:
            value = _READERS[self.kind](text)
        except (KeyError, ValueError):
            raise GameError(f"{self.name}={short(text)} is not {_KINDS.get(self.kind, 'readable')}") from None
        return self._within(value, text)

    def accept(self, value: Any) -> Any:
        """Return a value that data gives; raise GameError if it is of another kind or out of range."""
        kinds = (int, float) if self.kind is float else (self.kind,)
        if type(value) not in kinds or self.kind not in _READERS:
            raise GameError(f"{self.name}={_shown(value)} is not {_KINDS.get(self.kind, 'readable')}")
        return self._within(value, _shown(value))

    def _within(self, value: Any, text: str) -> Any:
        span = self.between or _SPANS.get(self.kind)
        if span is not None and not span.low <= value <= span.high:
            raise GameError(f"{self.name}={short(text)} is out of range; {span.low} to {span.high}")
        return value

    def __str__(self) -> str:
        span = f" ({self.between.low}..{self.between.high})" if self.between else ""
        return f"{self.name}={self.default}{span}"


_READERS: dict[type, Callable[[str], Any]] = {
    int: lambda text: int(text, 0),
    float: float,
    bool: lambda text: {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[
        text.lower()
    ],
    str: str,
}
_SPANS = {
    int: Between(-(1 << 63), (1 << 64) - 1),
    float: Between(-sys.float_info.max, sys.float_info.max),  # neither infinite nor nan
}
_KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}


def _shown(value: object) -> str:
    """Return a value of data for a sentence: a file may hold numbers and texts of any length."""
    return str(value)[:40] if not isinstance(value, int) or abs(value) < 1 << 64 else "a huge number"


def parameters(maker: Callable[..., Any]) -> list[Parameter]:
    """Return the parameters of a maker of games, agents or selectors, or of a learner, in order."""
    is_data = inspect.isfunction(maker) or is_dataclass(maker)  # each base's fields are read in its own module
    hints = typing.get_type_hints(maker if is_data else maker.__init__, include_extras=True)
    found = []
    for name, parameter in inspect.signature(maker).parameters.items():
        hint = hints.get(name, str)
        kind, *notes = typing.get_args(hint) if typing.get_origin(hint) is typing.Annotated else (hint,)
        between = next((note for note in notes if isinstance(note, Between)), None)
        told = next((note for note in notes if isinstance(note, str)), "")
        found.append(Parameter(name, _written(kind), parameter.default, between, told))
    return found


def _written(kind: Any) -> Any:
    """Return the kind of ``X | None`` or ``X | Thing`` that a text can mean; of several kinds it is the text."""
    kinds = [choice for choice in typing.get_args(kind) if choice in _READERS]
    if not isinstance(kind, UnionType) or not kinds:
        return kind
    return kinds[0] if len(kinds) == 1 else str


def read_parameters(known: list[Parameter], text: str) -> dict[str, Any]:
    """Return the values that ``name=value,...`` gives to known parameters, or raise MdplayError.

    A comma inside parentheses is part of a value: ``selector=ucb1(c=1),expansion=all``.
    """
    by_name = {parameter.name: parameter for parameter in known}
    given = {}
    for item in filter(None, (item.strip() for item in COMMA.split(text))):
        name, equals, value = item.partition("=")
        if not equals:
            raise UnknownName(f"{item!r} is not a parameter; write name=value, with {_listed(by_name)}")
        if name not in by_name:
            raise (
                unknown("parameter", name, by_name)
                if by_name
                else UnknownName(f"no parameters here, not {name!r}")
            )
        given[name] = by_name[name].parse(value)
    return given


def _listed(known: dict[str, Parameter]) -> str:
    return ", ".join(map(str, known.values())) or "no parameters at all"


# ---------------------------------------------------------------- a user's file
def home(path: Path) -> Path:
    """Return a path with its ~ as the home folder it means."""
    try:
        return path.expanduser()
    except RuntimeError:
        raise GameError(f"{path}: there is no home folder of {path.parts[0]}") from None


def load_module(path: Path) -> ModuleType:
    """Import a Python file of a user; raise GameError in one sentence.

    The modules beside the file can be imported while it is loaded; in a process of mdplay's own, later too.  They
    come last on the path, and a file with the name of another module gets a name of its own, so that neither hides
    a module of somebody else.
    """
    resolved = _existing(path)
    with _importable(str(resolved.parent)):
        return _loaded(path, resolved)


@contextmanager
def _importable(folder: str) -> Iterator[None]:
    """Put a folder at the end of ``sys.path``, for good in a process of mdplay's own."""
    if folder in sys.path:
        yield
        return
    sys.path.append(folder)
    try:
        yield
    finally:
        if not Process.is_own:
            sys.path.remove(folder)


def _loaded(path: Path, resolved: Path) -> ModuleType:
    name = _module_name(resolved)
    present = sys.modules.get(name)
    if present is not None and getattr(present, "__file__", None) == str(resolved):
        return present
    spec = importlib.util.spec_from_file_location(name, resolved)
    if spec is None or spec.loader is None:
        raise GameError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        sys.modules.pop(name, None)
        if isinstance(error, (KeyboardInterrupt, MemoryError)):
            raise
        raise GameError(f"{path.name} cannot be imported: {_blame(error, path)}") from None
    return module


def _existing(path: Path) -> Path:
    """Return the whole path of a file, or raise GameError."""
    try:
        if path.is_file():
            return path.resolve()
        reason = f"there is no file {path}"
    except (OSError, ValueError, RuntimeError) as error:  # too long, a loop of links, a character that cannot be
        reason = f"{path} cannot be read: {getattr(error, 'strerror', None) or error}"
    raise GameError(reason)


def _module_name(path: Path) -> str:
    """Return the name under which a file is imported: its own, unless a module of another place has it.

    Compiled kernels are found again by it: where it can be, it does not depend on the folder.
    """
    for name in (path.stem, f"{path.stem}_file"):
        present = sys.modules.get(name)
        if getattr(present, "__file__", None) == str(path) or (present is None and not _is_elsewhere(name, path)):
            return name
    return f"{path.stem}_{hashlib.sha256(os.fsencode(path)).hexdigest()[:8]}"


def _is_elsewhere(name: str, path: Path) -> bool:
    """Return whether importing a name would load another file than this one."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return False
    return spec is not None and os.path.realpath(spec.origin or "") != str(path)


def _blame(error: BaseException, path: Path) -> str:
    """Return the error and the last line of the user's file on the way to it."""
    line = error.lineno if isinstance(error, SyntaxError) else None
    trace = error.__traceback__
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename) == path.resolve():
            line = trace.tb_lineno
        trace = trace.tb_next
    place = f" (line {line})" if line else ""
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    if isinstance(error, ImportError) and error.path:
        message = message.replace(f" ({error.path})", "")
    return f"{type(error).__name__}: {message}{place}"
