"""How the learning of a network went: self-play by blocks of episodes, and what judges found on the way.

A judge is an opponent that the network plays games with, or exact values that its moves are compared with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from mdplay.errors import pluralize
from mdplay.storage.files import write
from mdplay.views.charts import save_plot

if TYPE_CHECKING:
    from mdplay.views.charts import Series


KEPT = "share of moves that keep the exact value"
_JUDGED = ("opponent", "games", "score", "low", "high", "positions", "kept", "kept_low", "kept_high")
COLUMNS = ("episodes", "seconds", "mean", "length", *_JUDGED)  # of a CSV file


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


class CurvePoint(Protocol):
    """A point of a learning curve, of any kind."""

    LABEL: ClassVar[str]  # label of the axis of values if there are no evaluations
    SERIES: ClassVar[Mapping[str, str]]  # names of the series by the attributes that they show

    @property
    def episodes(self) -> int:
        """The number of episodes up to this point."""

    @property
    def mean(self) -> float:
        """The mean score of the episodes since the previous point."""

    @property
    def examined(self) -> Examined | None:
        """The score against an opponent, if it was evaluated."""

    @property
    def kept(self) -> Kept | None:
        """The accuracy by exact values, if it was evaluated."""

    def columns(self) -> dict[str, Any]:
        """Return the entries of a row of a CSV file by the names of their columns."""


@dataclass(frozen=True)
class Point:
    """A stretch of episodes: how many there were up to its end, what player 0 got in them, and how long they were.

    ``seconds`` is the time of learning up to its end; ``examined`` and ``kept`` what the judges found, if asked.
    """

    LABEL: ClassVar[str] = "result of the first player in self-play"
    SERIES: ClassVar[Mapping[str, str]] = {"mean": "self-play"}

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

    def columns(self) -> dict[str, Any]:
        """Return the entries of a row of a CSV file by the names of their columns."""
        known = asdict(self)
        examined, kept = known.pop("examined") or dict.fromkeys("12345", ""), known.pop("kept")
        values = *known.values(), *examined.values(), *(kept or dict.fromkeys("1234", "")).values()
        return dict(zip(COLUMNS, values, strict=True))


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


def write_csv(path: str | Path, points: Sequence[CurvePoint], columns: Sequence[str] = COLUMNS) -> None:
    """Write a curve as CSV: ``columns``, then further columns of its points; missing entries are 0."""
    rows = [point.columns() for point in points]
    names = list(dict.fromkeys([*columns, *(name for row in rows for name in row)]))
    lines = [names, *([row.get(name, 0) for name in names] for row in rows)]
    write(path, "".join(",".join(map(_field, line)) + "\n" for line in lines))


def _field(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return f'"{value}"' if "," in str(value) else str(value)


def label(points: Sequence[CurvePoint]) -> str:
    """Return the label of the axis of values."""
    opponent = next((point.examined.opponent for point in points if point.examined), None)
    if opponent is not None:
        return f"score against {opponent}"
    if any(point.kept for point in points):
        return KEPT
    return points[0].LABEL if points else Point.LABEL


def series(points: Sequence[CurvePoint]) -> list[Series]:
    """Return the series for a notebook: those of the evaluations, with intervals; without any, of self-play."""
    from mdplay.views.charts import Series

    judged = [Series(name, episodes, *bands) for name, episodes, bands in _judged(points)]
    episodes, names = [point.episodes for point in points], (points[0] if points else Point).SERIES
    return judged or [Series(names[y], episodes, [float(getattr(point, y)) for point in points]) for y in names]


def paint(figure: Any, points: Sequence[CurvePoint], title: str = "") -> None:
    """Plot the evaluations, with their intervals; without any, the mean score of self-play."""
    judged = _judged(points)
    axes = figure.add_subplot(xlabel="episodes", ylabel="share" if len(judged) > 1 else label(points), title=title)
    for name, episodes, (shares, low, high) in judged:
        axes.plot(episodes, shares, marker="o", label=name)
        axes.fill_between(episodes, low, high, alpha=0.25)
        axes.set_ylim(0, 1)
    if not judged:
        mark = "o" if len(points) == 1 else None  # a line of one point would be invisible
        axes.plot([point.episodes for point in points], [point.mean for point in points], marker=mark)
    if len(judged) > 1:
        axes.legend()
    axes.grid(True)
    axes.set_xlim(left=0)


Bands = tuple[list[float], list[float], list[float]]  # the shares, and their intervals' ends


def _judged(points: Sequence[CurvePoint]) -> list[tuple[str, list[int], Bands]]:
    """Return what each judge found: its name, the episodes, the shares and their intervals."""
    games = [(p.episodes, p.examined.score, p.examined.low, p.examined.high) for p in points if p.examined]
    exact = [(p.episodes, p.kept.share, p.kept.low, p.kept.high) for p in points if p.kept]
    found = []
    for name, rows in ((label(points), games), (KEPT, exact)):
        if rows:
            episodes, shares, low, high = (list(column) for column in zip(*rows, strict=True))
            found.append((name, episodes, (shares, low, high)))
    return found


def draw(path: str | Path, points: Sequence[CurvePoint], title: str = "") -> None:
    """Draw a curve into a picture (.png, .svg or .pdf)."""
    save_plot(lambda figure: paint(figure, points, title), path)
