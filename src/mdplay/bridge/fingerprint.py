"""What compiled code depends on, as one hash: the reason why no stale result is ever served.

A function's fingerprint covers its byte code, constants, annotations and everything it mentions: helper
functions in any file, module constants, classes, closures, other kernels, recursively.  Comments, docstrings,
line numbers and words for people do not count.  A game's covers its class, its methods and its parameters.  When
in doubt the hash changes: that costs a compilation, never a wrong answer.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache, cached_property
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from mdplay.game import NEVER_COMPILED

TOOLCHAIN = {*sys.stdlib_module_names, "numpy", "numba", "llvmlite", "scipy"} - {"__main__"}


def function_fingerprint(function: FunctionType) -> str:
    """Return the hash of a function and all that it mentions."""
    digest = Digest()
    digest.feed(function)
    return digest.text()


def instance_fingerprint(instance: Any) -> str:
    """Return the hash of a frozen dataclass: its class, its base classes and its field values.

    Tables in a ``cached_property`` enter by the code that makes them.
    """
    digest = Digest()
    digest.feed([(f.name, getattr(instance, f.name)) for f in fields(instance)])
    for base in type(instance).__mro__:
        if _of_a_user(base):
            digest.feed_class(base)
    return digest.text()


@cache
def bridge_stamp() -> bytes:
    """Return the hash of the bridge's own sources: what it makes of a function is not in the function."""
    total = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        total.update(path.read_bytes())
    return total.digest()


class Digest:
    """A sha256 that takes Python values; each function is fed once."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256(bridge_stamp())
        self._seen: set[Any] = set()

    def text(self) -> str:
        """Return the hash so far as 32 hexadecimal digits."""
        return self._hash.hexdigest()[:32]

    def feed(self, value: Any) -> None:
        """Add a value and all that it depends on."""
        value = _undecorated(value)
        self._tag(type(value).__name__)
        if isinstance(value, FunctionType):
            self._feed_function(value)
        elif isinstance(value, CodeType):
            self._feed_code(value, value.co_consts)
        elif isinstance(value, (set, frozenset)):
            self._feed_all(sorted(value, key=repr))
        elif isinstance(value, dict):
            self._feed_all(sorted(value.items(), key=repr))
        elif isinstance(value, (tuple, list)):
            self._feed_all(value)
        elif isinstance(value, type):
            self.feed_class(value)
        elif isinstance(value, ModuleType):
            self._tag(value.__name__)
        elif is_dataclass(value):
            self._feed_all([type(value), *((f.name, getattr(value, f.name)) for f in fields(value))])
        elif hasattr(value, "tobytes") and hasattr(value, "dtype"):
            self._tag(f"{value.dtype}{getattr(value, 'shape', ())}", value.tobytes())
        else:
            self._tag(repr(value))

    def feed_class(self, cls: type) -> None:
        """Add a class: its name, its annotations and, if a user wrote it, all its members."""
        self._tag(cls.__qualname__)
        if cls in self._seen or not _of_a_user(cls):
            return
        self._seen.add(cls)
        self.feed(repr(vars(cls).get("__annotations__", "")))
        for name, member in sorted(vars(cls).items()):
            if not name.startswith(("__", "_abc_")) and name not in NEVER_COMPILED:
                self.feed((name, member))

    def _feed_function(self, function: FunctionType) -> None:
        if function in self._seen or _root(function.__module__) in TOOLCHAIN:
            self._tag(function.__qualname__)
            return
        self._seen.add(function)
        code = function.__code__
        consts = code.co_consts
        if function.__doc__ is not None and consts and consts[0] == function.__doc__:
            consts = (None, *consts[1:])  # as if there were no docstring
        self._feed_code(code, consts)
        self.feed(repr(function.__annotations__))
        self.feed((function.__defaults__, function.__kwdefaults__))
        self._feed_all(mentions(function))
        self._feed_all([cell.cell_contents for cell in function.__closure__ or ()])

    def _feed_code(self, code: CodeType, consts: tuple[Any, ...]) -> None:
        self._tag(code.co_code.hex())
        self._feed_all((code.co_names, code.co_varnames, consts))

    def _feed_all(self, values: Iterable[Any]) -> None:
        for value in values:
            self.feed(value)
        self._tag("end")

    def _tag(self, *parts: str | bytes) -> None:
        for part in parts:
            self._hash.update(part.encode() if isinstance(part, str) else part)
            self._hash.update(b"\0")


def mentions(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the globals that a function mentions, and what it mentions of modules that users wrote."""
    names = sorted(_names(function.__code__))
    for name in names:
        if name in function.__globals__:
            yield from _reached(name, function.__globals__[name], names, depth=4)


def _reached(path: str, value: Any, names: list[str], depth: int) -> Iterator[tuple[str, Any]]:
    """Yield the value; of a module also its mentioned attributes, so that ``a.b.helper`` counts."""
    yield path, value
    if isinstance(value, ModuleType) and _root(value.__name__) not in TOOLCHAIN and depth:
        for name in names:
            if hasattr(value, name):
                yield from _reached(f"{path}.{name}", getattr(value, name), names, depth - 1)


def _names(code: CodeType) -> set[str]:
    inner = (_names(const) for const in code.co_consts if isinstance(const, CodeType))
    return set(code.co_names).union(*inner)


def _undecorated(value: Any) -> Any:
    """Return the function behind a dispatcher, a cached property, a property, a static or a cached function."""
    if isinstance(value, cached_property):
        return value.func
    if isinstance(value, property):
        return value.fget
    if isinstance(value, (staticmethod, classmethod)):
        return value.__func__
    if isinstance(value, type):
        return value
    return getattr(value, "py_func", getattr(value, "__wrapped__", value))


def _of_a_user(cls: type) -> bool:
    return _root(cls.__module__) not in TOOLCHAIN


def _root(module: str | None) -> str:
    return (module or "").partition(".")[0]
