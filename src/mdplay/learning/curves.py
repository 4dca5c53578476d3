"""How the learning of a network went: self-play by blocks of episodes, and games against an opponent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdplay.files import write
from mdplay.plots import save_plot
from mdplay.words import counted

if TYPE_CHECKING:
    from mdplay.charts import Series


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
        games = counted(self.games, "game")
        return f"{self.score:.1%} ({self.low:.1%} .. {self.high:.1%}) in {games} against {self.opponent}"


@dataclass(frozen=True)
class Point:
    """A stretch of episodes: how many there were up to its end, what player 0 got in them, and how long they were.

    ``seconds`` is the time of learning up to its end; ``examined`` what the network was worth there, if asked.
    """

    episodes: int
    seconds: float
    mean: float
    length: float
    examined: Examined | None = None

    def line(self) -> str:
        """Return the point as a line for people."""
        told = (
            f"{self.episodes:>11,}  mean {self.mean:>10,.3f} in {self.length:.1f} moves  {self.seconds:>7,.1f} s"
        )
        return f"{told}  {self.examined.text()}" if self.examined else told


def point_from(data: Mapping[str, Any]) -> Point:
    """Return the point that a file tells."""
    seconds, mean, length = (float(data[name]) for name in ("seconds", "mean", "length"))
    games = data.get("examined")
    return Point(int(data["episodes"]), seconds, mean, length, _examined_from(games) if games else None)


def _examined_from(data: Mapping[str, Any]) -> Examined:
    score, low, high = (float(data[name]) for name in ("score", "low", "high"))
    return Examined(str(data["opponent"]), int(data["games"]), score, low, high)


def write_csv(path: str | Path, points: Sequence[Point]) -> None:
    """Write a curve as CSV."""
    rows = ["episodes,seconds,mean,length,opponent,games,score,low,high"]
    for point in points:
        known = asdict(point)
        examined = known.pop("examined") or dict.fromkeys(("opponent", "games", "score", "low", "high"), "")
        rows.append(",".join(_field(value) for value in (*known.values(), *examined.values())))
    write(path, "\n".join([*rows, ""]))


def _field(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return f'"{value}"' if "," in str(value) else str(value)


def label(points: Sequence[Point]) -> str:
    """Return what a curve tells."""
    opponent = next((point.examined.opponent for point in points if point.examined), None)
    return "result of the first player in self-play" if opponent is None else f"score against {opponent}"


def series(points: Sequence[Point]) -> Series:
    """Return a curve for a notebook: the score against the opponent with its interval, else that of self-play."""
    from mdplay.charts import Series

    examined = [(point.episodes, point.examined) for point in points if point.examined]
    if not examined:
        return Series("self-play", [point.episodes for point in points], [point.mean for point in points])
    scores = [(one.score, one.low, one.high) for _, one in examined]
    return Series(label(points), [episodes for episodes, _ in examined], *zip(*scores, strict=True))


def paint(figure: Any, points: Sequence[Point], title: str = "") -> None:
    """Paint the score against the opponent with its interval; without one, what the first player gets."""
    examined = [(point.episodes, point.examined) for point in points if point.examined]
    axes = figure.add_subplot(xlabel="episodes", ylabel=label(points), title=title)
    if examined:
        episodes = [n for n, _ in examined]
        axes.plot(episodes, [one.score for _, one in examined], marker="o")
        axes.fill_between(
            episodes, [one.low for _, one in examined], [one.high for _, one in examined], alpha=0.25
        )
        axes.set_ylim(0, 1)
    else:
        axes.plot([point.episodes for point in points], [point.mean for point in points], marker="o")
    axes.grid(True)
    axes.set_xlim(left=0)


def draw(path: str | Path, points: Sequence[Point], title: str = "") -> None:
    """Draw a curve into a picture (.png, .svg or .pdf)."""
    save_plot(lambda figure: paint(figure, points, title), path)
