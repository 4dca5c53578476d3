"""How the learning of a network went: self-play by blocks of episodes, and what judges found on the way.

A judge is an opponent that the network plays games with, or exact values that its moves are compared with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdplay.errors import pluralize
from mdplay.storage.files import write
from mdplay.views.plots import save_plot

if TYPE_CHECKING:
    from mdplay.views.charts import Series


KEPT = "share of moves that keep the exact value"


@dataclass(frozen=True)
class Examined:
    """Games against an opponent: the share of the points, and its 95 % interval."""

    opponent: str
    games: int
    score: float
    low: float
    high: float

    def text(self) -> str:
        """Return the score for people."""
        games = pluralize(self.games, "game")
        return f"{self.score:.1%} ({self.low:.1%} .. {self.high:.1%}) in {games} against {self.opponent}"


@dataclass(frozen=True)
class Kept:
    """Moves compared with exact values: the share that kept the value, and its 95 % interval.

    The positions are those of random games in which not every move keeps it.
    """

    positions: int
    share: float
    low: float
    high: float

    def text(self) -> str:
        """Return the share for people."""
        asked = pluralize(self.positions, "position")
        return f"value kept in {self.share:.1%} ({self.low:.1%} .. {self.high:.1%}) of {asked}"


Found = tuple[Examined | None, Kept | None]  # of both judges, each where it was asked
NO_JUDGE: Found = (None, None)


@dataclass(frozen=True)
class Point:
    """A stretch of episodes: how many there were up to its end, what player 0 got in them, and how long they were.

    ``seconds`` is the time of learning up to its end; ``examined`` and ``kept`` what the judges found, if asked.
    """

    episodes: int
    seconds: float
    mean: float
    length: float
    examined: Examined | None = None
    kept: Kept | None = None

    def line(self) -> str:
        """Return the point as a line for people."""
        told = (
            f"{self.episodes:>11,}  mean {self.mean:>10,.3f} in {self.length:.1f} moves  {self.seconds:>7,.1f} s"
        )
        return "  ".join([told, *(one.text() for one in (self.examined, self.kept) if one)])


def point_from(data: Mapping[str, Any]) -> Point:
    """Return the point that a file tells."""
    seconds, mean, length = (float(data[name]) for name in ("seconds", "mean", "length"))
    games, kept = data.get("examined"), data.get("kept")
    found = _examined_from(games) if games else None, _kept_from(kept) if kept else None
    return Point(int(data["episodes"]), seconds, mean, length, *found)


def _examined_from(data: Mapping[str, Any]) -> Examined:
    score, low, high = (float(data[name]) for name in ("score", "low", "high"))
    return Examined(str(data["opponent"]), int(data["games"]), score, low, high)


def _kept_from(data: Mapping[str, Any]) -> Kept:
    return Kept(int(data["positions"]), *(float(data[name]) for name in ("share", "low", "high")))


def write_csv(path: str | Path, points: Sequence[Point]) -> None:
    """Write a curve as CSV."""
    rows = ["episodes,seconds,mean,length,opponent,games,score,low,high,positions,kept,kept_low,kept_high"]
    for point in points:
        known = asdict(point)
        examined, kept = known.pop("examined") or dict.fromkeys("12345", ""), known.pop("kept")
        values = *known.values(), *examined.values(), *(kept or dict.fromkeys("1234", "")).values()
        rows.append(",".join(map(_field, values)))
    write(path, "\n".join([*rows, ""]))


def _field(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return f'"{value}"' if "," in str(value) else str(value)


def label(points: Sequence[Point]) -> str:
    """Return what a curve tells."""
    opponent = next((point.examined.opponent for point in points if point.examined), None)
    if opponent is not None:
        return f"score against {opponent}"
    return KEPT if any(point.kept for point in points) else "result of the first player in self-play"


def series(points: Sequence[Point]) -> list[Series]:
    """Return the curves for a notebook: what each judge found, with its interval; without one, self-play."""
    from mdplay.views.charts import Series

    judged = [Series(name, episodes, *bands) for name, episodes, bands in _judged(points)]
    return judged or [Series("self-play", [point.episodes for point in points], [point.mean for point in points])]


def paint(figure: Any, points: Sequence[Point], title: str = "") -> None:
    """Paint what each judge found, with its interval; without one, what the first player gets in self-play."""
    judged = _judged(points)
    axes = figure.add_subplot(xlabel="episodes", ylabel="share" if len(judged) > 1 else label(points), title=title)
    for name, episodes, (shares, low, high) in judged:
        axes.plot(episodes, shares, marker="o", label=name)
        axes.fill_between(episodes, low, high, alpha=0.25)
        axes.set_ylim(0, 1)
    if not judged:
        axes.plot([point.episodes for point in points], [point.mean for point in points], marker="o")
    if len(judged) > 1:
        axes.legend()
    axes.grid(True)
    axes.set_xlim(left=0)


Bands = tuple[list[float], list[float], list[float]]  # the shares, and their intervals' ends


def _judged(points: Sequence[Point]) -> list[tuple[str, list[int], Bands]]:
    """Return what each judge found: its name, the episodes, the shares and their intervals."""
    games = [(p.episodes, p.examined.score, p.examined.low, p.examined.high) for p in points if p.examined]
    exact = [(p.episodes, p.kept.share, p.kept.low, p.kept.high) for p in points if p.kept]
    found = []
    for name, rows in ((label(points), games), (KEPT, exact)):
        if rows:
            episodes, shares, low, high = (list(column) for column in zip(*rows, strict=True))
            found.append((name, episodes, (shares, low, high)))
    return found


def draw(path: str | Path, points: Sequence[Point], title: str = "") -> None:
    """Draw a curve into a picture (.png, .svg or .pdf)."""
    save_plot(lambda figure: paint(figure, points, title), path)
