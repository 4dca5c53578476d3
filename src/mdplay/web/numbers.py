"""Numbers of the page: those that JSON can hold, and the points of a learning curve in the lines of a training."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

POINT = re.compile(r"\s*(?P<episodes>[\d,]+).*?(?:mean|first player)\s+(?P<mean>[-+]?[\d,.]*\d)")


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
