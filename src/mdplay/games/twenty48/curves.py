"""Learning curves: for every thousand episodes the mean score, the maximum and the tiles reached."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.storage.files import write
from mdplay.views.plots import save_plot

BLOCK = 1000


@dataclass(frozen=True)
class Point:
    """A block of episodes: how many there were up to its end, their mean and best score, and the tiles.

    ``tiles`` maps each tile to the share of games that reached it or a larger one.
    """

    episodes: int
    mean: float
    max: int
    tiles: dict[int, float]

    def line(self) -> str:
        """Return the point as a line for people; tiles that every game reached are left out."""
        shares = [(tile, share) for tile, share in self.tiles.items() if share < 1.0]
        table = "".join(f"  {tile} {share:.1%}" for tile, share in shares)
        return f"{self.episodes:>9,}  mean {self.mean:>10,.1f}  max {self.max:>8,}{table}"


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


def write_csv(path: str | Path, points: Sequence[Point]) -> None:
    """Write a curve as CSV: episodes, mean, max, and a column for every tile."""
    tiles = sorted({tile for point in points for tile in point.tiles})
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["episodes", "mean", "max", *tiles])
    for point in points:
        shares = [f"{point.tiles.get(tile, 0.0):.6g}" for tile in tiles]
        table.writerow([point.episodes, f"{point.mean:.6f}", point.max, *shares])
    write(path, text.getvalue())


def paint(figure: Any, curves: dict[str, Sequence[Point]], title: str = "") -> None:
    """Paint curves of mean scores, each under its name."""
    axes = figure.add_subplot(xlabel="episodes", ylabel="mean score of 1000 episodes", title=title)
    for name, points in curves.items():
        mark = "o" if len(points) == 1 else None  # a line of one point would not be seen
        axes.plot([point.episodes for point in points], [point.mean for point in points], marker=mark, label=name)
    axes.grid(True)
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.legend()


def draw(path: str | Path, curves: dict[str, Sequence[Point]], title: str = "") -> None:
    """Draw curves of mean scores into a picture (.png, .svg or .pdf)."""
    save_plot(lambda figure: paint(figure, curves, title), path)
