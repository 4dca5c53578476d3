"""One hash of everything that rules depend on, so that no cache returns outdated results.

The hash of a game covers what its rules can reach, from the methods of the contract on:

    methods        the code of every method and helper function that is called, its defaults, its closure
    attributes     the *value* of every table, parameter and constant that is mentioned, whatever computes it:
                   a ``cached_property``, ``__post_init__``, a data file, an import inside a function
    annotations    resolved, down to the fields and methods of the NamedTuples
    classes        with all their bases: what ``super()`` calls and what the class of a constant inherits

A user's module counts as such whatever its name: ``code.py`` is not the standard library's ``code``.  A ``Watch``
records where each value was found, to detect a constant that is changed later in the same process, as in a
notebook: every verb calls ``refresh``.

Comments, docstrings, line numbers and texts for people that no rule uses do not count.  An object that has no hash
(an open file, an object of an unknown class) raises ``Unhashable``: the caller then uses no cache.

There are two forms of code: byte code for compiled kernels (cache.py), because it needs no file and takes no time
to parse; the syntax tree for saved files (identity.py), because it is the same in every version of Python.
"""

from __future__ import annotations

import hashlib
import operator
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
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

from mdplay.game import NEVER_COMPILED, REMEMBERED, Compiled, Game
from mdplay.storage.folders import is_installed

F = TypeVar("F", bound=Callable[..., Any])

TOOLCHAIN = {*sys.stdlib_module_names, "numpy", "numba", "llvmlite", "scipy"} - {"__main__"}
PLAIN = (type(None), bool, int, float, complex, str, bytes, range, type(...))
NAMED = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)
DIGITS = 32
MADE_BY_DATACLASS = "<string>"  # the file of the methods that ``dataclass`` and ``NamedTuple`` write
MADE_BY_NAMED_TUPLE = ("_fields", "_field_defaults", "_make", "_replace", "_asdict")
READS = (
    "open",
    "input",
    "eval",
    "exec",
    "globals",
    "locals",
    "__import__",
    "environ",
    "getenv",
    "read_text",
    "read_bytes",
)
MISSING = object()


class Unhashable(Exception):
    """Raised for a value that cannot be hashed; the message names it."""


# ---------------------------------------------------------------- what the rules of an instance reach
class Watch:
    """The places of all values in a hash, to detect when one of them has changed."""

    def __init__(self) -> None:
        self.places: list[tuple[Mapping[str, Any], str, Any]] = []  # a namespace, a name and the value found there
        self.functions: list[tuple[FunctionType, CodeType, Any, Any]] = []
        self.cells: list[tuple[Any, Any]] = []
        self.properties: list[tuple[Any, str, Any]] = []
        self.contents: list[tuple[Any, Any]] = []  # a value that may change without being replaced, and a copy

    def has_changed(self) -> bool:
        """Return whether a value is no longer the one that was hashed."""
        return (
            any(names.get(name, MISSING) is not value for names, name, value in self.places)
            or any(
                f.__code__ is not c or f.__defaults__ is not d or f.__kwdefaults__ is not k
                for f, c, d, k in self.functions
            )
            or any(_content(cell) is not value for cell, value in self.cells)
            or any(not _is_same(one, name, value) for one, name, value in self.properties)
            or any(not _holds(value, copy) for value, copy in self.contents)
        )


def _copy_of(value: Any) -> Any:
    """Return a copy of a list, set, mapping, array or object, for later comparison."""
    if isinstance(value, list):
        return list(value)
    if isinstance(value, set):
        return set(value)
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tobytes"):
        return value.tobytes()
    return {field.name: getattr(value, field.name) for field in fields(value)} | _beyond_fields(value)


def _holds(value: Any, copy: Any) -> bool:
    """Return whether a value holds the same objects as its copy; these objects are watched separately."""
    found = _copy_of(value)
    if isinstance(found, (bytes, set)):
        return bool(found == copy)
    if len(found) != len(copy):
        return False
    if isinstance(found, list):
        return all(map(operator.is_, found, copy))
    return all(name in copy and copy[name] is inner for name, inner in found.items())


def _beyond_fields(value: Any) -> dict[str, Any]:
    """Return the attributes of a dataclass that are not fields; of a cached property only the code counts."""
    cls, known = type(value), {field.name for field in fields(value)}
    return {
        name: attribute
        for name, attribute in sorted(getattr(value, "__dict__", {}).items())
        if name not in known and not isinstance(getattr(cls, name, None), cached_property)
    }


def _is_same(instance: Any, name: str, value: Any) -> bool:
    try:
        found = getattr(instance, name)
        return type(found) is type(value) and bool(found == value)
    except Exception:  # it raises, or is of a class whose comparison does: hash it again
        return False


_WATCHES: WeakKeyDictionary[type, Watch] = WeakKeyDictionary()  # of the last hashed instance of each class
_CACHES: list[Any] = []  # functions that clear the caches of ``per_game``


def per_game(maxsize: int) -> Callable[[F], F]:
    """Return ``lru_cache`` for a function of a game; it is cleared when the rules of a game change."""

    def decorate(function: F) -> F:
        cached = lru_cache(maxsize=maxsize)(function)
        _CACHES.append(cached.cache_clear)
        return cast(F, cached)

    return decorate


def forget_with(clear: Callable[[], None]) -> None:
    """Register a function to be called when the rules of a game change in this process."""
    _CACHES.append(clear)


def remember(instance: Compiled, watch: Watch) -> None:
    """Store the places of the values in the hash of an instance."""
    vars(instance).setdefault("_watched", []).append(watch)
    _WATCHES[type(instance)] = watch


def refresh(instance: Compiled) -> None:
    """Discard the hashes of a user's game or selector if a value that its rules mention has changed."""
    watched = vars(instance).get("_watched") or [_WATCHES.get(type(instance))]
    if any(watch is not None and watch.has_changed() for watch in watched):
        for name in REMEMBERED:
            vars(instance).pop(name, None)
        _WATCHES.pop(type(instance), None)
        for clear in _CACHES:
            clear()


def has_changed(instance: Compiled, identity: str) -> bool:
    """Return whether an instance has changed since an identity was computed for it."""
    memory = vars(instance)
    return memory.get("_identity") != identity or any(watch.has_changed() for watch in memory.get("_watched", ()))


@dataclass(frozen=True)
class Reach:
    """What the rules of a game or selector reach: its hash, and the attributes that it covers."""

    text: str
    covered: frozenset[str]


def reach(instance: Compiled, begin: Callable[[], Digest], names: Iterable[str] | None = None) -> Reach:
    """Return what the named attributes (default: those of the contract) reach, or raise Unhashable."""
    return _reach(instance, begin, names, begin())


def reach_and_watch(instance: Compiled, begin: Callable[[], Digest], names: Iterable[str] | None = None) -> Reach:
    """Return the result of ``reach``, and watch its values for ``refresh``."""
    digest = begin()
    found = _reach(instance, begin, names, digest)
    if not in_toolchain_or_ours(type(instance).__module__):
        remember(instance, digest.watch)
    return found


def _reach(instance: Compiled, begin: Callable[[], Digest], names: Iterable[str] | None, digest: Digest) -> Reach:
    try:
        covered = Reaching(instance, digest).feed(roots(instance) if names is None else names)
    except RecursionError:
        raise Unhashable(f"{type(instance).__name__} refers to itself") from None
    return Reach(digest.text(), frozenset(covered))


def roots(instance: Compiled) -> set[str]:
    """Return the attributes that any kernel may use: those of the contract and the parameters."""
    contract = Game if isinstance(instance, Game) else type(instance)
    found = {name for name in dir(contract) if not name.startswith("_")} - set(NEVER_COMPILED)
    return found | {field.name for field in fields(instance)}  # type: ignore[arg-type]


class Reaching:
    """Feeds attributes of an instance, and all attributes that they mention, to a digest."""

    def __init__(self, instance: Compiled, digest: Digest) -> None:
        self.instance, self.digest = instance, digest
        self.cls = type(instance).__mro__[1] if getattr(type(instance), "_is_checked", False) else type(instance)
        known = (name for name in (*dir(self.cls), *vars(instance)) if not name.startswith("__"))
        self.attributes = set(known) - set(REMEMBERED)
        self.methods: list[FunctionType] = []
        own = getattr(self.cls, "__getattribute__", None)
        if hasattr(self.cls, "__getattr__") or own is not getattr(object, "__getattribute__", None):
            raise Unhashable(f"{self.cls.__name__} computes attributes in __getattr__ or __getattribute__")

    def feed(self, names: Iterable[str]) -> set[str]:
        """Feed attributes and all attributes that they reach; return the names of all of them."""
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
        if isinstance(member, property) and not in_toolchain_or_ours(getattr(member.fget, "__module__", "")):
            self.digest.watch.properties.append((self.instance, name, value))

    def _words(self) -> set[str]:
        """Return the texts for people that rules use nevertheless: ``self.board(...)``, a table called text."""
        near = self.digest.names & set(NEVER_COMPILED)
        if not near:
            return set()
        asked = [asked_of_self(method) for method in self.methods]
        return near if None in asked else near & frozenset().union(*filter(None, asked))


@lru_cache(maxsize=1024)
def asked_of_self(method: FunctionType) -> frozenset[str] | None:
    """Return the attributes of its first argument that a method uses; None if it passes that argument on."""
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
    """A sha256 of Python values.  ``names`` are the names that the functions fed so far mention.

    ``code`` feeds the code of a function; ``aside`` returns whether the functions of a module count by name only.
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
        self.watch = Watch()

    def text(self) -> str:
        """Return the hash so far in hexadecimal digits."""
        return self._hash.hexdigest()[:DIGITS]

    def tag(self, *parts: str | bytes) -> None:
        """Add texts, each with its length."""
        for part in parts:
            data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
            self._hash.update(len(data).to_bytes(8, "little") + data)

    def feed(self, value: Any) -> None:
        """Add a value and everything that it depends on, or raise Unhashable."""
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
        if isinstance(row, list):
            self.watch.contents.append((row, _copy_of(row)))
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
        """Feed a container of other values; return whether the value is one."""
        if isinstance(value, (set, Mapping, list)):
            self.watch.contents.append((value, _copy_of(value)))
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
        """Feed an object of a known kind; return whether the value is one."""
        inner = _undecorated(value)
        if inner is not value:
            self.tag(type(value).__name__, repr(getattr(value, "targetoptions", "")))
            self.feed(inner)
        elif isinstance(value, Compiled):
            self.feed_class(type(value))
            Reaching(value, self).feed(roots(value))
        elif is_dataclass(value):
            self.watch.contents.append((value, _copy_of(value)))
            self.feed_class(type(value))
            self._feed_all([getattr(value, field.name) for field in fields(value)])
            for name, attribute in _beyond_fields(value).items():
                self.tag("attribute", name)
                self.feed(attribute)
        elif hasattr(value, "tobytes") and hasattr(value, "dtype") and not value.dtype.hasobject:
            if getattr(getattr(value, "flags", None), "writeable", False):
                self.watch.contents.append((value, _copy_of(value)))
            order = getattr(getattr(value, "flags", None), "c_contiguous", True)
            self.tag(str(value.dtype), repr((getattr(value, "shape", ()), order)), value.tobytes())
        elif isinstance(value, NAMED) or _is_named(value):
            self.tag(type(value).__qualname__, _name_of(value))
        else:
            return False
        return True

    def feed_class(self, cls: type) -> None:
        """Add a class: its name, the fields of a NamedTuple, the members of a user's class and of its bases."""
        self.tag("class", cls.__qualname__)
        if self._known(cls) or self._aside(cls.__module__):
            return
        if hasattr(cls, "_fields"):
            self._feed_hints(cls)
            self._feed_fixed([cls._fields, getattr(cls, "_field_defaults", {})])
            made = {*MADE_BY_NAMED_TUPLE, *cls._fields}
        else:
            made = set()
        for name, member in sorted(vars(cls).items()):
            if name not in made and _is_written(name, member):
                if not in_toolchain_or_ours(cls.__module__):
                    self.watch.places.append((vars(cls), name, member))
                self.tag(name)
                self.feed(member)
        for base in (*cls.__bases__, type(cls)):
            if not self._aside(base.__module__):
                self.tag("base")
                self.feed_class(base)

    def _feed_function(self, function: FunctionType) -> None:
        if self._aside(function.__module__):
            self.tag("function", function.__module__, function.__qualname__)
            return
        if self._known(function):
            return
        names = code_names(function.__code__)
        if not names.isdisjoint(READS) and (unknown := reads_of(function)):
            raise Unhashable(f"{function.__qualname__} uses {unknown}, whose answer may change")
        watch = None if in_toolchain_or_ours(function.__module__) else self.watch
        if watch is not None:
            found = (function, function.__code__, function.__defaults__, function.__kwdefaults__)
            watch.functions.append(found)
        self._code(self, function)
        self._feed_hints(function)
        self._feed_fixed([function.__defaults__, function.__kwdefaults__ or {}])
        self.names |= names
        for name, value in _mentioned(function, sorted(names), watch):
            self.tag(name)
            with blaming(name):
                self.feed(value)
            if isinstance(value, str):
                self.names.add(value)  # getattr(self, NAME)
        for cell in function.__closure__ or ():
            self.watch.cells.append((cell, _content(cell)))
            self.feed(_content(cell))

    def _feed_hints(self, thing: Any) -> None:
        """Add resolved annotations; one that cannot be resolved counts as its text."""
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
        """Return whether a function or class was fed before; if so, feed its number."""
        if known := thing in self._seen:
            self.tag(str(self._seen[thing]))
        self._seen.setdefault(thing, len(self._seen))
        return known

    def _apart(self, value: Any) -> bytes:
        """Return the hash of one element, so that the order of sets and dicts does not count."""
        inner = Digest(self._code, self._aside)
        inner.watch, contents = self.watch, len(self.watch.contents)
        inner.feed(value)
        if len(self.watch.contents) > contents and self.watch.contents[contents][0] is value:
            del self.watch.contents[contents]  # a pair that was created only to be fed
        self.names |= inner.names
        return inner._hash.digest()

    def _feed_fixed(self, values: list[Any]) -> None:
        """Add values whose containers do not change later."""
        before = len(self.watch.contents)
        self._feed_all(values)
        del self.watch.contents[before:]

    def _feed_all(self, values: Iterable[Any]) -> None:
        values = list(values)
        self.tag(str(len(values)))
        for value in values:
            self.feed(value)


def feed_code(digest: Digest, function: FunctionType) -> None:
    """Add the byte code and the constants of a function to a digest, without its docstring."""
    _feed_byte_code(digest, function.__code__, function.__doc__)


def _feed_byte_code(digest: Digest, code: CodeType, docstring: str | None = None) -> None:
    consts = code.co_consts
    if docstring is not None and consts and consts[0] == docstring:
        consts = (None, *consts[1:])
    digest.tag(code.co_code, code.co_exceptiontable)
    digest.tag(repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)))
    digest.tag(repr((code.co_argcount, code.co_kwonlyargcount, code.co_flags, len(consts))))
    for const in consts:
        if isinstance(const, CodeType):
            _feed_byte_code(digest, const)
        else:
            digest.feed(const)


@contextmanager
def blaming(name: str) -> Iterator[None]:
    """Add the name of the value to the message if a part of it has no hash."""
    try:
        yield
    except Unhashable as error:
        raise Unhashable(f"{name}: {error}") from None


# ---------------------------------------------------------------- what a function mentions
def mentions(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the globals that a function mentions, and the attributes of users' modules that it mentions."""
    yield from _mentioned(function, sorted(code_names(function.__code__)), None)


def _mentioned(function: FunctionType, names: list[str], watch: Watch | None) -> Iterator[tuple[str, Any]]:
    for name in names:
        if name in function.__globals__:
            yield from _reached(name, function.__globals__, name, names, 4, watch)


def _reached(
    path: str, space: Mapping[str, Any], at: str, names: list[str], depth: int, watch: Watch | None
) -> Iterator[tuple[str, Any]]:
    """Yield a value; of a module also the attributes that are mentioned, so that ``a.b.helper`` counts."""
    value = space[at]
    if watch is not None:
        watch.places.append((space, at, value))
    yield path, value
    if isinstance(value, ModuleType) and not in_toolchain(value.__name__) and depth:
        for name in names:
            if name in vars(value):
                yield from _reached(f"{path}.{name}", vars(value), name, names, depth - 1, watch)
            elif hasattr(value, name):
                yield f"{path}.{name}", getattr(value, name)


def reads_of(function: FunctionType) -> str | None:
    """Return a name by which a function reads what is not in its code: a file, the environment, code in a text.

    Methods and fields of such names do not count: only the builtin functions, ``os.environ`` and paths.
    """
    return min(_loaded(function.__code__).intersection(READS), default=None)


def _loaded(code: CodeType) -> set[str]:
    """Return the names of READS that code takes from the builtins, from ``os``, or calls on a path."""
    from dis import get_instructions

    own, os_names = {"environ", "getenv"}, set(code.co_names) & {"os", "environ", "getenv"}
    found = {str(i.argval) for i in get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    if "os" in os_names or found & own:
        found |= own & set(code.co_names)
    if "Path" in code.co_names or "pathlib" in code.co_names:
        found |= {"read_text", "read_bytes"} & set(code.co_names)
    return found.union(*(_loaded(const) for const in code.co_consts if isinstance(const, CodeType)))


def code_names(code: CodeType) -> set[str]:
    """Return the names of globals and attributes in code, and the texts that could name an attribute."""
    inner = (code_names(const) for const in code.co_consts if isinstance(const, CodeType))
    texts = (const for const in code.co_consts if isinstance(const, str) and const.isidentifier())
    return set(code.co_names).union(texts, *inner)


def in_toolchain(module: str | None) -> bool:
    """Return whether a module belongs to Python or to a library whose version is known.

    The name alone does not suffice: a user's file may have the name of a module of the standard library.
    """
    root = (module or "").partition(".")[0]
    if root not in TOOLCHAIN:
        return False
    present = sys.modules.get(root)
    if root not in _REAL or _REAL[root][0] is not present:
        _REAL[root] = present, _is_real(present)
    return _REAL[root][1]


_REAL: dict[str, tuple[ModuleType | None, bool]] = {}  # module by name, and whether it belongs to the toolchain


def _is_real(module: ModuleType | None) -> bool:
    """Return whether a module with a name of the toolchain belongs to the toolchain."""
    file = getattr(module, "__file__", None)
    if file is None:
        return True  # built in, or not imported at all
    return is_installed(Path(file))


def in_toolchain_or_ours(module: str) -> bool:
    """Return whether a module is not a user's."""
    return module.partition(".")[0] == "mdplay" or in_toolchain(module)


def _is_written(name: str, member: Any) -> bool:
    """Return whether a member of a class was written by hand, not by Python, ``dataclass`` or ``NamedTuple``."""
    if isinstance(member, types.MemberDescriptorType) or name.startswith("_abc_"):
        return False
    if not name.startswith("__"):
        return True
    inner = _undecorated(member)
    made = isinstance(inner, FunctionType) and inner.__code__.co_filename == MADE_BY_DATACLASS
    return isinstance(inner, FunctionType) and not made and not in_toolchain(inner.__module__)


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
    """Return whether an object of the toolchain is known by its name: a ufunc, a type of numba, ``typing.Any``."""
    root = type(value).__module__.partition(".")[0]
    return root in ("numba", "llvmlite", "typing") or type(value).__qualname__ in ("ufunc", "dtype", "Struct")


def _name_of(value: object) -> str:
    return getattr(value, "__qualname__", None) or re.sub(r"0x[0-9a-f]+", "", repr(value))


def _shown(value: object) -> str:
    return f"a value of the class {type(value).__qualname__}"
