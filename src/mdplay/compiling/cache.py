"""Compiled kernels on disk, in a private folder of the user.

Each entry is one file.  Its name contains a hash of everything that its machine code depends on: the fingerprint
of the kernel, the argument types (the type of a game carries its fingerprint), the sources of this folder, the
processor, the versions of mdplay, Python, numba, llvmlite and numpy, and the settings of numba such as the
optimisation level.  So no entry is outdated, there is no shared index, and two processes may write at once.  The
cache of numba stamps the file of a function only, not the helpers that it calls (numba #8396), and shares one
index.

    <cache>/kernels/sample-81c5..-2f9c....bin        sha256 of its name and of the rest | a pickled CompileResult

A kernel file is executed when it is loaded.  So the folder must belong to the user and be closed to others
(``mdplay.storage.folders``), and a file is unpickled only if its checksum is correct: a damaged file is removed
and the kernel compiled again.  An entry that was not used for ``KEEP_DAYS`` days is removed when a new one is
written.

The fingerprint of a game (``mdplay.compiling.digest``, with byte code) is the name of its type in compiled code.
It covers what the methods of the contract reach, and the code of all other methods, which kernels of the game may
call.  The key of a kernel also covers what else the kernel mentions of the game (``beyond``).  In doubtful cases
the hash changes, which costs a compilation.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import mkstemp
from types import FunctionType

from mdplay import bits, game, rng
from mdplay.compiling.digest import (
    Digest,
    Reaching,
    Unhashable,
    feed_code,
    has_changed,
    in_toolchain,
    reach_and_watch,
)
from mdplay.compiling.plain import BOUNDS
from mdplay.game import NEVER_COMPILED, Compiled
from mdplay.storage.folders import cache_folder, is_own, private_folder

NAMED = ("contract", "digest", "identity")  # modules of this folder whose functions count by their names
STAMPED = (bits, game, rng)  # modules that the compiler replaces or calls while it translates a kernel
UNKNOWN = "?"  # in the fingerprint of an object without a hash: no later lookup finds it
LIVE: dict[str, Compiled] = {}  # identity -> a game or selector with it
COVERED: dict[str, frozenset[str]] = {}  # fingerprint -> the attributes whose content it covers


@cache
def function_fingerprint(function: FunctionType) -> tuple[str, frozenset[str]]:
    """Return the hash of a function and everything that it mentions, and the names that it mentions.

    Raise Unhashable if a part of it has no hash.
    """
    total = _begin()
    total.feed(function)
    return total.text(), frozenset(total.names)


def identity(instance: Compiled) -> str:
    """Return the name and fingerprint of a game or selector, and remember the instance under it."""
    memory = vars(instance)
    if "_identity" not in memory:
        cls = type(instance)
        name = f"{cls.__module__}.{cls.__qualname__}#{instance_fingerprint(instance)}"
        if (present := LIVE.get(name)) is not None and has_changed(present, name):
            name = _apart(name)
        memory["_identity"] = name
        LIVE.setdefault(name, instance)  # the first one: its state class is in compiled code
    return str(memory["_identity"])


def _apart(name: str) -> str:
    """Return another name for a game whose name belongs to an instance that has changed since."""
    text = name.rpartition("#")[2]
    other = f"{text}{UNKNOWN}{secrets.token_hex(4)}"
    if text in COVERED:
        COVERED[other] = COVERED[text]
    return f"{name.removesuffix(text)}{other}"


def instance_fingerprint(instance: Compiled) -> str:
    """Return the hash of a game or selector: what its rules reach, its other methods, its parameters."""
    try:
        found = reach_and_watch(instance, _begin)
    except Unhashable:
        return f"{UNKNOWN}{secrets.token_hex(8)}"
    text = hashlib.sha256(f"{found.text} {_others(instance, found.covered)}".encode()).hexdigest()[:32]
    COVERED[text] = found.covered
    return text


def _others(instance: Compiled, covered: frozenset[str]) -> str:
    """Return the hash of the code of all methods that no rule calls."""
    total = _begin()
    for name in sorted(set(dir(type(instance))) - covered - set(NEVER_COMPILED)):
        method = getattr(type(instance), name)
        if isinstance(method, FunctionType) and not name.startswith("__") and not in_toolchain(method.__module__):
            total.tag(name)
            feed_code(total, method)
    return total.text()


def beyond(instance: Compiled, covered: frozenset[str], names: Iterable[str]) -> str:
    """Return the hash of what the names in a kernel reach of an instance beyond the covered attributes."""
    more = set(names) - covered - set(NEVER_COMPILED)
    total = _begin()
    Reaching(instance, total).feed(more)
    return total.text()


def _begin() -> Digest:
    return Digest(feed_code, _is_stamped, bridge_stamp())


def _is_stamped(module: str | None) -> bool:
    """Return whether ``bridge_stamp`` covers a module; the values that it stores while it runs must not count."""
    return in_toolchain(module) or module in [f"{__package__}.{name}" for name in NAMED]


@cache
def bridge_stamp() -> bytes:
    """Return the hash of mdplay's version and of the sources of this folder and its subfolders.

    The code of a function does not say how it is compiled, so every fingerprint begins with this hash.
    """
    total, here = hashlib.sha256(), Path(__file__).parent
    version = here.with_name("__init__.py")
    for path in (version, *sorted(here.rglob("*.py")), *(Path(str(module.__file__)) for module in STAMPED)):
        total.update(path.name.encode() + b"\0" + path.read_bytes())
    return total.digest()


KEEP_DAYS = 90
PART_DAYS = 0.1  # part files of killed writers are removed after this time
SUFFIX, PART = ".bin", ".part"
CHECKSUM = 32  # bytes


def kernels_folder() -> Path:
    """Return the folder of the compiled kernels."""
    return cache_folder() / ("checked-kernels" if BOUNDS else "kernels")


@cache
def trusted_folder(folder: Path) -> Path | None:
    """Return the folder if kernels may be loaded from it and written to it; else None, with one warning."""
    return private_folder(folder, "compiled kernels")


def folder_of_kernels() -> Path | None:
    """Return the folder of the compiled kernels if it may be used."""
    return trusted_folder(kernels_folder())


def entries() -> Iterator[Path]:
    """Yield the files of all compiled kernels."""
    yield from kernels_folder().glob(f"*{SUFFIX}")


def stem(function: FunctionType, identities: Iterable[str]) -> str:
    """Return the beginning of the file names of a kernel for these games and selectors.

    A listing of the folder then shows what is probably cached, before numba is imported; the full name decides.
    """
    try:
        key = repr((function_fingerprint(function)[0], list(identities)))
    except Unhashable:
        key = UNKNOWN
    return f"{function.__name__}-{hashlib.sha256(key.encode()).hexdigest()[:12]}-"


def is_kept(function: FunctionType, identities: Iterable[str]) -> bool:
    """Return whether a kernel is cached for these games and selectors, maybe by other versions."""
    folder = folder_of_kernels()
    return folder is not None and any(folder.glob(f"{stem(function, identities)}*{SUFFIX}"))


# ---------------------------------------------------------------- files with a checksum
def read_checked(path: Path) -> bytes | None:
    """Return the content of an entry, or None; a damaged entry is removed."""
    try:
        with path.open("rb") as file:
            own, content = is_own(os.fstat(file.fileno())), file.read()
    except OSError:
        return None
    data = content[CHECKSUM:]
    if own and content[:CHECKSUM] == _checksum(path, data):
        return data
    with suppress(OSError):
        path.unlink(missing_ok=True)
    return None


def write_checked(path: Path, data: bytes) -> None:
    """Write an entry atomically."""
    number, part = mkstemp(suffix=PART, prefix=f"{path.stem}.", dir=path.parent)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(_checksum(path, data) + data)
        Path(part).replace(path)
    finally:
        Path(part).unlink(missing_ok=True)


def _checksum(path: Path, data: bytes) -> bytes:
    """Return the sha256 of the name and content of an entry, so that no entry is taken for another."""
    total = hashlib.sha256(path.name.encode())
    total.update(data)
    return total.digest()


def prune(keep_days: float = KEEP_DAYS) -> int:
    """Remove entries and part files that were not used for ``keep_days`` days; return their number."""
    return sum(_removed(path, keep_days) for path in kernels_folder().glob("*"))


def _removed(path: Path, keep_days: float) -> bool:
    """Remove a file that is too old; another process may have done so first."""
    days = min(keep_days, PART_DAYS) if path.suffix == PART else keep_days
    try:
        if path.stat().st_mtime >= time.time() - days * 86_400:
            return False
        path.unlink()
    except OSError:
        return False
    return True
