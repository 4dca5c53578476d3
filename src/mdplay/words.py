"""Numbers in words, for sentences that people read."""

from __future__ import annotations

_PLURALS = {"ply": "plies", "table entry": "table entries"}


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 state``, ``2 states``, ``1,000 random games``."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Return what several are called; of some words the last one changes."""
    return _PLURALS.get(noun, f"{noun}s")
