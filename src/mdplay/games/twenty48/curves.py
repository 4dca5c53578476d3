"""Learning curves: for every thousand episodes the mean score, the maximum and the tiles reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

BLOCK = 1000  # episodes from point to point
COLUMNS = ("episodes", "mean", "max")  # of a CSV file, followed by one for each tile


@dataclass(frozen=True)
class Point:
    """A block of episodes: how many there were up to its end, their mean and best score, and the tiles.

    ``tiles`` maps each tile to the share of games that reached it or a larger one.
    """

    LABEL: ClassVar[str] = "score"
    SERIES: ClassVar[Mapping[str, str]] = {"mean": "mean", "max": "best"}
    examined = kept = None  # no opponent, no exact values

    episodes: int
    mean: float
    max: int
    tiles: dict[int, float]

    def line(self) -> str:
        """Return the point as a line for people; tiles that every game reached are left out."""
        shares = [(tile, share) for tile, share in self.tiles.items() if share < 1.0]
        table = "".join(f"  {tile} {share:.1%}" for tile, share in shares)
        return f"{self.episodes:>9,}  mean {self.mean:>10,.1f}  max {self.max:>8,}{table}"

    def columns(self) -> dict[str, Any]:
        """Return the entries of a row of a CSV file by the names of their columns."""
        row = {"episodes": self.episodes, "mean": f"{self.mean:.6f}", "max": self.max}
        return {**row, **{str(tile): share for tile, share in self.tiles.items()}}


def curve(scores: NDArray[np.int32], exponents: NDArray[np.uint8], block: int = BLOCK) -> list[Point]:
    """Return a point for every block of episodes; the last one may be shorter.

    ``exponents`` are those of the largest tile of each game.
    """
    return [_point(scores[i : i + block], exponents[i : i + block], i) for i in range(0, len(scores), block)]


def last_point(scores: NDArray[np.int32], exponents: NDArray[np.uint8]) -> Point:
    """Return the point of the block that was begun last."""
    begin = (len(scores) - 1) // BLOCK * BLOCK
    return _point(scores[begin:], exponents[begin:], begin)


def _point(scores: NDArray[np.int32], exponents: NDArray[np.uint8], before: int) -> Point:
    return Point(before + len(scores), float(scores.mean()), int(scores.max()), shares(exponents))


def shares(exponents: NDArray[Any]) -> dict[int, float]:
    """Return for every tile the share of games that reached it or a larger one."""
    return {1 << e: float(np.mean(exponents >= e)) for e in range(1, int(exponents.max()) + 1)}
