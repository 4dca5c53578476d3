"""Compiled kernels on disk, in a folder of the user's own.

One file an entry, named by all that its machine code depends on: the kernel's fingerprint, the argument types
(a game's type carries its fingerprint), the sources of the bridge, the processor, the versions of mdplay, Python,
numba, llvmlite and numpy, and the settings of numba such as the optimisation level.
So there is no index to race for, no entry is ever stale, and two processes may write at once.  numba's own
cache stamps a function's file only, not the helpers it calls (numba #8396), and shares one index.

    <cache>/kernels/sample-81c5..-2f9c....bin        sha256 of its name and of the rest | a pickled CompileResult

A kernel file is executed when it is loaded.  So the folder must be the user's own and closed to others
(``mdplay.storage.folders``), and nothing is unpickled before its checksum is right: a damaged file is removed and
the kernel compiled again.  An entry that was not used for ``KEEP_DAYS`` days is removed when a new one is written.

What compiled code depends on, as one hash: byte code, and the values that it used (``mdplay.compiling.digest``).

A game's fingerprint is its type's name in compiled code.  It covers what the contract's methods reach, and the
code of all other methods, which kernels of its own may call.  A kernel's file has in its key besides what the
kernel mentions of the game beyond that (``beyond``).  When in doubt the hash changes: that costs a compilation,
never a wrong answer.
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
    """Return the hash of a function and all that it mentions, and the names that it mentions.

    Raise Unhashable if something of it has no hash.
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
    """Return another name, where the first instance of this one has other rules by now and may be compiled."""
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
    """Return the hash of the methods that no rule calls; of one that has none, its code alone."""
    total = _begin()
    for name in sorted(set(dir(type(instance))) - covered - set(NEVER_COMPILED)):
        method = getattr(type(instance), name)
        if isinstance(method, FunctionType) and not name.startswith("__") and not in_toolchain(method.__module__):
            total.tag(name)
            feed_code(total, method)
    return total.text()


def beyond(instance: Compiled, covered: frozenset[str], names: Iterable[str]) -> str:
    """Return the hash of what names of a kernel reach of an instance beyond what is covered already."""
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
PART_DAYS = 0.1  # what a killed writer left is removed after so long
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
    """Return how the names of a kernel's files begin that were made for these games and selectors.

    A look at the folder then tells what is probably kept, before numba is imported; the whole name decides.
    """
    try:
        key = repr((function_fingerprint(function)[0], list(identities)))
    except Unhashable:
        key = UNKNOWN
    return f"{function.__name__}-{hashlib.sha256(key.encode()).hexdigest()[:12]}-"


def is_kept(function: FunctionType, identities: Iterable[str]) -> bool:
    """Tell whether a kernel was compiled for these games and selectors before; the versions may have changed."""
    folder = folder_of_kernels()
    return folder is not None and any(folder.glob(f"{stem(function, identities)}*{SUFFIX}"))


# ---------------------------------------------------------------- files with a checksum
def read_checked(path: Path) -> bytes | None:
    """Return the content of an entry; None if there is none, and a damaged one is removed."""
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
    """Write an entry, whole or not at all."""
    number, part = mkstemp(suffix=PART, prefix=f"{path.stem}.", dir=path.parent)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(_checksum(path, data) + data)
        Path(part).replace(path)
    finally:
        Path(part).unlink(missing_ok=True)


def _checksum(path: Path, data: bytes) -> bytes:
    """Return the sha256 of an entry; its name is part of it, so that no entry stands for another."""
    total = hashlib.sha256(path.name.encode())
    total.update(data)
    return total.digest()


def prune(keep_days: float = KEEP_DAYS) -> int:
    """Remove the entries, and the remains of killed writers, that were not used lately; return how many."""
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
