"""Numbers of the page: rounded ones, those that JSON can hold, points of a curve in the lines of a training."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

POINT = re.compile(r"\s*(?P<episodes>[\d,]+).*?(?:mean|first player)\s+(?P<mean>[-+]?[\d,.]*\d)")

TIE = 1e-9  # as that of solvers: values that differ by less, in proportion, are equal


def rounded_off(number: float) -> float:
    """Return the integer that a number is but for rounding errors, else the number itself: 2e-16 is 0."""
    nearest = round(number) if math.isfinite(number) else number
    return float(nearest) if abs(number - nearest) <= TIE * max(1.0, abs(number)) else number


def points_of(line: str) -> list[list[float]]:
    """Return the point of a line such as ``1,000  mean  2,345.6  max ...``; none if it is another line."""
    found = POINT.match(line)
    return [[float(found[name].replace(",", "")) for name in ("episodes", "mean")]] if found else []


def plain(number: float) -> float | str:
    """Return a number as JSON can hold it: what is infinite or none as a text."""
    return float(number) if math.isfinite(number) else str(float(number))


def plain_list(numbers: Iterable[float]) -> list[float | str]:
    """Return numbers as JSON can hold them."""
    return [plain(number) for number in numbers]
