"""What rules depend on, as one hash: the reason why nothing stale is ever served.

The hash of a game covers what its rules can reach, from the methods of the contract on:

    methods        the code of every method and helper function that is called, its defaults, its closure
    attributes     the *value* of every table, parameter and constant that is mentioned, however it came about:
                   a ``cached_property``, ``__post_init__``, a data file, an import inside a function
    annotations    resolved, down to the fields of the NamedTuples

Comments, docstrings, line numbers and words for people that no rule calls do not count.  What has no hash (an open
file, an object of an unknown class) raises ``Unhashable``: the caller works anew instead of guessing.

How code enters is the caller's choice: as byte code for compiled kernels (bridge/fingerprint.py), as its syntax
tree for files that outlive a version of Python (identity.py).
"""

from __future__ import annotations

import hashlib
import re
import sys
import types
import typing
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cached_property, lru_cache, partial
from types import CodeType, FunctionType, ModuleType
from typing import Any

from mdplay.game import NEVER_COMPILED, Compiled, Game

TOOLCHAIN = {*sys.stdlib_module_names, "numpy", "numba", "llvmlite", "scipy"} - {"__main__"}
PLAIN = (type(None), bool, int, float, complex, str, bytes, range, type(...))
NAMED = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)
DIGITS = 32


class Unhashable(Exception):
    """A value whose content no hash can tell; the message names it."""


# ---------------------------------------------------------------- what an instance's rules reach
@dataclass(frozen=True)
class Reach:
    """What the rules of a game or selector reach: its hash, and the attributes that it covers."""

    text: str
    covered: frozenset[str]


def reach(instance: Compiled, begin: Callable[[], Digest], names: Iterable[str] | None = None) -> Reach:
    """Return what the named attributes (default: those of the contract) reach, or raise Unhashable."""
    digest = begin()
    try:
        covered = Reaching(instance, digest).feed(roots(instance) if names is None else names)
    except RecursionError:
        raise Unhashable(f"{type(instance).__name__} refers to itself") from None
    return Reach(digest.text(), frozenset(covered))


def roots(instance: Compiled) -> set[str]:
    """Return the attributes that any kernel may ask for: the contract's, and the parameters."""
    contract = Game if isinstance(instance, Game) else type(instance)
    found = {name for name in dir(contract) if not name.startswith("_")} - set(NEVER_COMPILED)
    return found | {field.name for field in fields(instance)}  # type: ignore[arg-type]


class Reaching:
    """Feeds a digest with attributes of an instance, and with all that these mention of it."""

    def __init__(self, instance: Compiled, digest: Digest) -> None:
        self.instance, self.digest = instance, digest
        self.cls = type(instance).__mro__[1] if getattr(type(instance), "_is_checked", False) else type(instance)
        known = (name for name in (*dir(self.cls), *vars(instance)) if not name.startswith("__"))
        self.attributes = set(known) - {"_identity", "_rules"}
        self.methods: list[FunctionType] = []
        own = getattr(self.cls, "__getattribute__", None)
        if hasattr(self.cls, "__getattr__") or own is not getattr(object, "__getattribute__", None):
            raise Unhashable(f"{self.cls.__name__} makes up attributes when it is asked for them")

    def feed(self, names: Iterable[str]) -> set[str]:
        """Feed attributes and whatever they reach; return the names of all of them."""
        covered: set[str] = set()
        waiting = set(names) & self.attributes
        while waiting:
            for name in sorted(waiting):
                self.digest.tag(name)
                self._feed_attribute(name)
            covered |= waiting
            found = (self.digest.names - set(NEVER_COMPILED)) | self._words()
            waiting = (found & self.attributes) - covered
        return covered

    def _feed_attribute(self, name: str) -> None:
        member = getattr(self.cls, name, None)
        if isinstance(member, FunctionType):
            self.methods.append(member)
            self.digest.feed(member)
            return
        try:
            value = getattr(self.instance, name)
        except Exception as error:
            raise Unhashable(f"{self.cls.__name__}.{name} raises {type(error).__name__}: {error}") from None
        with blaming(f"{self.cls.__name__}.{name}"):
            self.digest.feed(value)

    def _words(self) -> set[str]:
        """Return the words for people that rules use all the same: ``self.board(...)``, a table called text."""
        near = self.digest.names & set(NEVER_COMPILED)
        if not near:
            return set()
        asked = [asked_of_self(method) for method in self.methods]
        return near if None in asked else near & frozenset().union(*filter(None, asked))


@lru_cache(maxsize=1024)
def asked_of_self(method: FunctionType) -> frozenset[str] | None:
    """Return the attributes that a method asks of its first argument; None if it hands that on to others."""
    from dis import get_instructions

    code = method.__code__
    me = code.co_varnames[0] if code.co_argcount else ""
    asked, on_top = set(), False
    for instruction in get_instructions(code):
        if on_top:
            if instruction.opname not in ("LOAD_ATTR", "LOAD_METHOD"):
                return None
            asked.add(str(instruction.argval))
        value = instruction.argval
        touched = value if isinstance(value, tuple) and value else (value,)
        on_top = touched[-1] == me and "LOAD_FAST" in instruction.opname  # from 3.13 on also after a store
        if me in touched[:-1] or (touched[-1] == me and "LOAD_FAST" not in instruction.opname and me):
            if instruction.opname.startswith(("LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL", "LOAD_CONST")):
                continue  # something else of that name
            return None
    return frozenset(asked)


# ---------------------------------------------------------------- values
class Digest:
    """A sha256 that takes Python values.  ``names`` are those that the functions fed so far mention.

    ``code`` feeds the code of a function; ``aside`` tells which modules count by the names of their functions.
    """

    def __init__(
        self,
        code: Callable[[Digest, FunctionType], None],
        aside: Callable[[str], bool],
        start: bytes = b"",
    ) -> None:
        self._hash = hashlib.sha256(start)
        self._code, self._aside = code, aside
        self._seen: dict[Any, int] = {}
        self.names: set[str] = set()

    def text(self) -> str:
        """Return the hash so far in hexadecimal digits."""
        return self._hash.hexdigest()[:DIGITS]

    def tag(self, *parts: str | bytes) -> None:
        """Add texts, each with its length."""
        for part in parts:
            data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
            self._hash.update(len(data).to_bytes(8, "little") + data)

    def feed(self, value: Any) -> None:
        """Add a value and all that it depends on, or raise Unhashable."""
        kind = type(value)
        if kind in (tuple, list):
            self._feed_row(value)
        elif kind in PLAIN:
            self.tag(kind.__name__, repr(value))
        elif isinstance(value, FunctionType):
            self._feed_function(value)
        elif isinstance(value, type):
            self.feed_class(value)
        elif isinstance(value, ModuleType):
            self.tag("module", value.__name__)
        elif not self._feed_container(value) and not self._feed_object(value):
            raise Unhashable(f"{_shown(value)} has no hash")

    def _feed_row(self, row: tuple[Any, ...] | list[Any]) -> None:
        kinds = set(map(type, row))
        if kinds in ({int}, {float}):
            try:  # large tables at the speed of C
                code = "q" if kinds == {int} else "d"
                self.tag(type(row).__name__, code, array(code, row).tobytes())
                return
            except OverflowError:
                pass
        self.tag(type(row).__name__)
        self._feed_all(row)

    def _feed_container(self, value: Any) -> bool:
        """Feed what holds other values; return whether it was one."""
        if isinstance(value, (set, frozenset)):
            self.tag(type(value).__name__, *sorted(self._apart(item) for item in value))
        elif isinstance(value, Mapping):
            self.tag(type(value).__name__, *sorted(self._apart(list(pair)) for pair in value.items()))
        elif isinstance(value, (tuple, list)):  # a NamedTuple
            self.feed_class(type(value))
            self._feed_all(value)
        elif isinstance(value, Enum):
            self.tag(type(value).__qualname__, value.name)
            self.feed(value.value)
        elif isinstance(value, partial):
            self._feed_all([value.func, value.args, value.keywords])
        elif isinstance(value, types.MethodType):
            self._feed_all([value.__func__, value.__self__])
        else:
            return False
        return True

    def _feed_object(self, value: Any) -> bool:
        """Feed an object of a known kind; return whether it was one."""
        inner = _undecorated(value)
        if inner is not value:
            self.tag(type(value).__name__, repr(getattr(value, "targetoptions", "")))
            self.feed(inner)
        elif isinstance(value, Compiled):
            self.feed_class(type(value))
            Reaching(value, self).feed(roots(value))
        elif is_dataclass(value):
            self.feed_class(type(value))
            self._feed_all([getattr(value, field.name) for field in fields(value)])
        elif hasattr(value, "tobytes") and hasattr(value, "dtype") and not value.dtype.hasobject:
            order = getattr(getattr(value, "flags", None), "c_contiguous", True)
            self.tag(str(value.dtype), repr((getattr(value, "shape", ()), order)), value.tobytes())
        elif isinstance(value, NAMED) or _is_named(value):
            self.tag(type(value).__qualname__, _name_of(value))
        else:
            return False
        return True

    def feed_class(self, cls: type) -> None:
        """Add a class: its name, the fields of a NamedTuple, the members of what a user wrote."""
        self.tag("class", cls.__qualname__)
        if self._known(cls) or self._aside(cls.__module__):
            return
        if hasattr(cls, "_fields"):
            self._feed_hints(cls)
            self._feed_all([cls._fields, getattr(cls, "_field_defaults", {})])
            return
        for name, member in sorted(vars(cls).items()):
            if not name.startswith(("__", "_abc_")) and not isinstance(member, types.MemberDescriptorType):
                self.tag(name)
                self.feed(member)

    def _feed_function(self, function: FunctionType) -> None:
        if self._aside(function.__module__):
            self.tag("function", function.__module__, function.__qualname__)
            return
        if self._known(function):
            return
        self._code(self, function)
        self._feed_hints(function)
        self._feed_all([function.__defaults__, function.__kwdefaults__ or {}])
        self.names |= code_names(function.__code__)
        for name, value in mentions(function):
            self.tag(name)
            with blaming(name):
                self.feed(value)
            if isinstance(value, str):
                self.names.add(value)  # getattr(self, NAME)
        for cell in function.__closure__ or ():
            self.feed(_content(cell))

    def _feed_hints(self, thing: Any) -> None:
        """Add annotations as what they mean; one that cannot be resolved counts as it is written."""
        try:
            hints = typing.get_type_hints(thing)
        except Exception:
            hints = getattr(thing, "__annotations__", {})
        for name, hint in hints.items():
            self.tag(name)
            self._feed_hint(hint)

    def _feed_hint(self, hint: object) -> None:
        if isinstance(hint, type) and not typing.get_args(hint):
            self.feed_class(hint)
            return
        inner = typing.get_args(hint)
        self.tag("hint", "" if inner else getattr(hint, "__name__", str(hint)))
        for part in inner:
            self._feed_hint(part)

    def _known(self, thing: Any) -> bool:
        """Tell whether a function or class was fed before; if so, say which one it was."""
        if known := thing in self._seen:
            self.tag(str(self._seen[thing]))
        self._seen.setdefault(thing, len(self._seen))
        return known

    def _apart(self, value: Any) -> bytes:
        """Return the hash of one element, so that the order of sets and dicts does not count."""
        inner = Digest(self._code, self._aside)
        inner.feed(value)
        self.names |= inner.names
        return inner._hash.digest()

    def _feed_all(self, values: Iterable[Any]) -> None:
        values = list(values)
        self.tag(str(len(values)))
        for value in values:
            self.feed(value)


@contextmanager
def blaming(name: str) -> Iterator[None]:
    """Name what was fed when something inside it has no hash."""
    try:
        yield
    except Unhashable as error:
        raise Unhashable(f"{name}: {error}") from None


# ---------------------------------------------------------------- what a function mentions
def mentions(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the globals that a function mentions, and what it mentions of modules that users wrote."""
    names = sorted(code_names(function.__code__))
    for name in names:
        if name in function.__globals__:
            yield from _reached(name, function.__globals__[name], names, depth=4)


def _reached(path: str, value: Any, names: list[str], depth: int) -> Iterator[tuple[str, Any]]:
    """Yield the value; of a module also its mentioned attributes, so that ``a.b.helper`` counts."""
    yield path, value
    if isinstance(value, ModuleType) and not in_toolchain(value.__name__) and depth:
        for name in names:
            if hasattr(value, name):
                yield from _reached(f"{path}.{name}", getattr(value, name), names, depth - 1)


def code_names(code: CodeType) -> set[str]:
    """Return the names of globals and attributes in a code, and the texts that could name an attribute."""
    inner = (code_names(const) for const in code.co_consts if isinstance(const, CodeType))
    texts = (const for const in code.co_consts if isinstance(const, str) and const.isidentifier())
    return set(code.co_names).union(texts, *inner)


def in_toolchain(module: str | None) -> bool:
    """Tell whether a module belongs to Python or to the libraries whose versions are known."""
    return (module or "").partition(".")[0] in TOOLCHAIN


def _undecorated(value: Any) -> Any:
    """Return the function behind a dispatcher, a cached property, a property, a static or a cached function."""
    if isinstance(value, cached_property):
        return value.func
    if isinstance(value, property):
        return value.fget
    if isinstance(value, (staticmethod, classmethod)):
        return value.__func__
    return getattr(value, "py_func", getattr(value, "__wrapped__", value))


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return ...  # not filled yet


def _is_named(value: object) -> bool:
    """Tell whether an object of the toolchain is known by its name: a ufunc, a type of numba, ``typing.Any``."""
    root = type(value).__module__.partition(".")[0]
    return root in ("numba", "llvmlite", "typing") or type(value).__qualname__ in ("ufunc", "dtype", "Struct")


def _name_of(value: object) -> str:
    return getattr(value, "__qualname__", None) or re.sub(r"0x[0-9a-f]+", "", repr(value))


def _shown(value: object) -> str:
    return f"a value of the class {type(value).__qualname__}"
