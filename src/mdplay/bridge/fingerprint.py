"""What compiled code depends on, as one hash: byte code, and the values that it used (``mdplay.digest``).

A game's fingerprint is its type's name in compiled code.  It covers what the contract's methods reach, and the
code of all other methods, which kernels of its own may call.  A kernel's file has in its key besides what the
kernel mentions of the game beyond that (``beyond``).  When in doubt the hash changes: that costs a compilation,
never a wrong answer.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import FunctionType

from mdplay import bits, constructs, contract, digest, game, rng, sources
from mdplay.digest import Digest, Reaching, Unhashable, has_changed, in_toolchain, reach_and_watch
from mdplay.game import NEVER_COMPILED, Compiled
from mdplay.sources import feed_code

STAMPED = (contract, digest, sources)  # their sources are in every hash, and their functions count by name
ALSO_STAMPED = (bits, constructs, game, rng)  # what the compiler replaces or calls while it translates a kernel
UNKNOWN = "?"  # in the fingerprint of what has no hash: it is never found again
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
            feed_byte_code(total, method)
    return total.text()


def beyond(instance: Compiled, covered: frozenset[str], names: Iterable[str]) -> str:
    """Return the hash of what names of a kernel reach of an instance beyond what is covered already."""
    more = set(names) - covered - set(NEVER_COMPILED)
    total = _begin()
    Reaching(instance, total).feed(more)
    return total.text()


def _begin() -> Digest:
    return Digest(feed_byte_code, _is_stamped, bridge_stamp())


def _is_stamped(module: str | None) -> bool:
    """Tell whether a module is covered as a whole: what it remembers while it runs must not count."""
    return in_toolchain(module) or module in [other.__name__ for other in STAMPED]


@cache
def bridge_stamp() -> bytes:
    """Return the hash of mdplay's version and of the bridge's own sources, those of its subpackages included.

    The code of a function does not say how the bridge translates it, so every fingerprint begins with this hash.
    """
    total, bridge = hashlib.sha256(), Path(__file__).parent
    others = (Path(str(module.__file__)) for module in (*STAMPED, *ALSO_STAMPED))
    for path in (
        bridge.with_name("__init__.py"),
        *sorted(bridge.rglob("*.py")),
        *others,
    ):  # the first has the version
        total.update(path.name.encode() + b"\0" + path.read_bytes())
    return total.digest()


def feed_byte_code(total: Digest, function: FunctionType) -> None:
    """Add the byte code and constants of a function, without its docstring."""
    feed_code(total, function.__code__, function.__doc__)
