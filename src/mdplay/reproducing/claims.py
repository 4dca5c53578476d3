"""What a report says beside what came out here: equal, better, or different, and then why.

A claim is made from the facts of the figures whenever the page is made, never typed in: ``here`` is what was
computed, and its mark is what a comparison said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from mdplay.reproducing.steps import ResultTable

EQUAL, BETTER, DIFFERS = MARKS = ("equal", "better", "differs")
HEADER = ("the report says", "here", "how checked", "mark")


@dataclass(frozen=True)
class Claim:
    """One line of a report: what it says, what came out here, how that was checked, and the mark."""

    says: str
    here: str
    how: str
    mark: str
    why: str = ""


def equal(says: str, here: str, how: str, holds: bool, why: str = "") -> Claim:
    """Return a claim that holds, or differs."""
    return Claim(says, here, how, EQUAL if holds else DIFFERS, why)


def better(says: str, here: str, how: str, holds: bool, why: str) -> Claim:
    """Return a claim that is surpassed here, or differs."""
    return Claim(says, here, how, BETTER if holds else DIFFERS, why)


def differs(says: str, here: str, how: str, why: str) -> Claim:
    """Return a claim that does not hold as it is written."""
    return Claim(says, here, how, DIFFERS, why)


def tally(claims: Sequence[Claim]) -> str:
    """Return how many claims have which mark, in words."""
    counts = Counter(claim.mark for claim in claims)
    return ", ".join(f"{counts[mark]} {mark}" for mark in MARKS if counts[mark])


def table(claims: Sequence[Claim]) -> ResultTable:
    """Return the claims as a table of sentences."""
    rows = [[c.says, c.here, c.how, f"{c.mark}: {c.why}" if c.why else c.mark] for c in claims]
    return ResultTable(HEADER, rows, prose=True)


def small(difference: float) -> str:
    """Return a difference for people: 0, or its order."""
    return f"{difference:.0e}" if difference else "0"
