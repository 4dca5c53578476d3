"""Learned utilities of points, the share of games won by the player who took a point: files, plots and an agent.

A game may define ``layers``, ``rows`` and ``cols``, by which the points are laid out, and ``lines_through``, the
number of winning lines through each point.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import Mask, as_int, elements, nonempty
from mdplay.compiling import State
from mdplay.compiling.contract import mask_size
from mdplay.compiling.identity import check_rules
from mdplay.errors import FormatError, GameError, pluralize
from mdplay.evaluating.evaluation import TIE
from mdplay.game import Game
from mdplay.position import takes_state
from mdplay.rng import Random
from mdplay.storage.files import read_text, write
from mdplay.views.charts import save_plot

Shape = tuple[int, int, int]


def paint(figure: Any, runs: Sequence[PointUtilities], shape: Shape, title: str = "") -> None:
    """Paint a row of layers for each run; each run has its own scale."""
    figure.suptitle(title)
    grid = figure.subplots(len(runs), shape[0], squeeze=False)
    for axes, run in zip(grid, runs, strict=True):
        _draw_run(figure, axes, run, shape)


def _draw_run(figure: Any, axes: Any, run: PointUtilities, shape: Shape) -> None:
    values = run.utilities.reshape(shape)
    low, high = float(values.min()), float(values.max())
    for z, plot in enumerate(axes):
        image = plot.imshow(values[z], cmap="YlOrRd", vmin=low, vmax=high)
        plot.set_title(f"z = {z}" if shape[0] > 1 else "", fontsize=11)
        plot.set_xticks(range(shape[2]))
        plot.set_yticks(range(shape[1]))
        plot.tick_params(labelsize=9, length=0)
        _write_values(plot, values[z], (low + 2 * high) / 3)
    axes[0].set_ylabel(pluralize(run.num_games, "game"), fontsize=11)
    figure.colorbar(image, ax=list(axes), shrink=0.9, label="utility")


def _write_values(plot: Any, layer: Any, dark: float) -> None:
    """Write each utility into its cell, white on dark ones."""
    for (y, x), value in np.ndenumerate(layer):
        plot.text(x, y, f"{value:.3f}", ha="center", va="center", fontsize=10, color="w" if value > dark else "k")


NEUTRAL = 0.5  # the utility of a point without games
TRIALS = 20  # random games that show which points there are


@dataclass(frozen=True)
class PointUtilities:
    """What a run has learned: wins and games of every point, and who won the games played."""

    explore: str
    seed: int
    wins: NDArray[np.int64]
    games: NDArray[np.int64]
    losses: int  # games that player 0 lost, tied and won
    ties: int
    victories: int
    seconds: float
    rules: str | None = None  # the identity of the game
    game: Game[Any] | None = None
    earlier: tuple[PointUtilities, ...] = ()  # runs of other numbers of games, each from scratch

    @property
    def num_games(self) -> int:
        """The number of games played."""
        return self.losses + self.ties + self.victories

    @property
    def utilities(self) -> NDArray[np.float64]:
        """The utility of every point, in point order."""
        return np.where(self.games > 0, self.wins / np.maximum(self.games, 1), NEUTRAL)

    def highest(self, count: int) -> list[int]:
        """Return the points of the highest utilities; ties go to the smallest point."""
        return [int(point) for point in np.argsort(-self.utilities, kind="stable")[:count]]

    # ---------------------------------------------------------------- as every learner's
    @property
    def curve(self) -> tuple[PointUtilities, ...]:
        """The runs, this one the last."""
        return (*self.earlier, self)

    def agent(self) -> PointsAgent:
        """Return a player that takes the free point of the highest utility."""
        return PointsAgent(self._known_game(), self)

    @takes_state
    def value(self, state: Any) -> float:
        """Return the utility of the best free point; that of a point without games where none is free."""
        free = elements(self._known_game().legal(state))
        return max((float(self.utilities[point]) for point in free), default=NEUTRAL)

    def _known_game(self) -> Game[Any]:
        if self.game is None:
            raise GameError("the game of these utilities is not known; read them for a game")
        return self.game

    def save(self, path: str | Path) -> None:
        """Write the runs as JSON, for ``read_points`` and the agent ``points:FILE``."""
        write(path, json.dumps(self.document()))

    def document(self) -> dict[str, Any]:
        """Return all runs for JSON."""
        return {"runs": [{**run.run_document(), **run.layout()} for run in self.curve]}

    def text(self) -> str:
        """Return all runs for people: layer by layer, point by point."""
        return "\n".join(line for run in self.curve for line in _lines(run))

    def plot(self, path: str | Path) -> None:
        """Draw the layers of each run as heat maps into a picture (.png, .svg or .pdf)."""
        title = f"utility of each point, {self.explore}, seed {self.seed}"
        layers, rows, cols = shape = shape_of(self._known_game())
        size = (0.75 * cols * layers + 2.0, (0.7 * rows + 0.7) * len(self.curve) + 0.8)
        save_plot(lambda figure: paint(figure, self.curve, shape, title), path, size)

    def write_curve(self, path: str | Path) -> None:
        """Write a line of CSV for every point of every run."""
        rows = [
            f"{run.num_games},{point},{wins},{games}"
            for run in self.curve
            for point, (wins, games) in enumerate(zip(run.wins, run.games, strict=True))
        ]
        write(path, "\n".join(["episodes,point,wins,games", *rows, ""]))

    def _repr_html_(self) -> str:
        """Show the utility of every point, laid out as on the board."""
        from mdplay.views.charts import heat_map
        from mdplay.views.html import sentence

        shape = (1, 1, len(self.utilities)) if self.game is None else shape_of(self.game)
        games = pluralize(self.num_games, "game")
        about = f"{games}, {self.explore}, seed {self.seed}: share of games won by the player who took a point."
        return sentence(about) + heat_map(self.utilities.reshape(shape).tolist())

    # ---------------------------------------------------------------- one run
    def layout(self) -> dict[str, Any]:
        """Return the utilities as the game lays its points out, and how many of the richest points are on top."""
        game = self._known_game()
        rich = rich_points(game)
        layers = self.utilities.reshape(shape_of(game)).tolist()
        return {"layers": layers, "rich_points": rich, "rich_points_on_top": self.on_top(rich)}

    def on_top(self, points: Sequence[int]) -> int:
        """Return how many of some points are among as many of the highest utilities."""
        return len(set(self.highest(len(points))) & set(points))

    def run_document(self) -> dict[str, Any]:
        """Return this run for JSON; ``from_run`` reads it back."""
        return {
            "games": self.num_games,
            "explore": self.explore,
            "seed": self.seed,
            "results": {"player 0": self.victories, "player 1": self.losses, "ties": self.ties},
            "seconds": self.seconds,
            "rules": self.rules,
            "utilities": self.utilities.tolist(),
            "point_wins": self.wins.tolist(),
            "point_games": self.games.tolist(),
        }

    @classmethod
    def from_run(cls, document: dict[str, Any], game: Game[Any] | None = None) -> PointUtilities:
        """Return the run that ``run_document`` wrote."""
        results = document["results"]
        wins, games = (np.array(document[name], np.int64) for name in ("point_wins", "point_games"))
        if wins.ndim != 1 or wins.shape != games.shape or (wins < 0).any() or (wins > games).any():
            raise FormatError("its points have not won between none and all of their games")
        return cls(
            str(document["explore"]),
            int(document["seed"]),
            wins,
            games,
            int(results["player 1"]),
            int(results["ties"]),
            int(results["player 0"]),
            float(document["seconds"]),
            document.get("rules"),
            game,
        )


def num_points(game: Game[Any]) -> int:
    """Return the number of points: one more than the highest action of the first position.

    Where random games show further points (not every point is free at first) it is all that a mask may hold.
    """
    first = game.legal(game.initial())
    seen = as_int(first)
    for number in range(TRIALS):
        seen |= _points_seen(game, Random(0, number))
    if seen == as_int(first):
        return seen.bit_length()
    return mask_size(game)


def _points_seen(game: Game[Any], rng: Random) -> int:
    """Return the points that are free at some time of a random game."""
    s, seen = game.initial(), 0
    for _ in range(mask_size(game)):
        free: Mask = game.legal(s)
        seen |= as_int(free)
        if not nonempty(free):
            break
        s = game.step(s, rng.pick(free))
    return seen


def rich_points(game: Game[Any]) -> list[int]:
    """Return the points on the most lines, where the game counts lines (``lines_through``); else none."""
    lines = _lines_through(game)
    return [point for point, count in enumerate(lines) if count == max(lines)]


def _lines_through(game: Game[Any]) -> Sequence[int]:
    found: Sequence[int] = getattr(game, "lines_through", ())
    return found


def shape_of(game: Game[Any]) -> tuple[int, int, int]:
    """Return the layout of the points, layers x rows x columns, by the attributes of the game; else one row."""
    count = num_points(game)
    shape = getattr(game, "layers", 1), getattr(game, "rows", 0), getattr(game, "cols", 0)
    return shape if prod(shape) == count else (1, 1, count)


# ---------------------------------------------------------------- for people
def _lines(run: PointUtilities) -> Iterator[str]:
    """Yield the lines that tell of one run."""
    speed = run.num_games / run.seconds
    yield f"{pluralize(run.num_games, 'game')}, {run.explore}, seed {run.seed} ({speed:,.0f} games/s)"
    yield f"player 1 won {run.victories:,}, player 2 {run.losses:,}, tied {run.ties:,}\n"
    yield from _layer_lines(run)
    yield "\npoint  utility     wins    games"
    for point, (utility, wins, games) in enumerate(zip(run.utilities, run.wins, run.games, strict=True)):
        yield f"{point:>5}  {utility:.5f} {wins:>8,} {games:>8,}"
    yield ""
    if run.game is not None and (rich := rich_points(run.game)):
        lines, of = pluralize(max(_lines_through(run.game)), "line"), len(rich)
        yield f"{run.on_top(rich)} of the {of} points on {lines} are among the {of} highest\n"


def _layer_lines(run: PointUtilities) -> Iterator[str]:
    shape = (1, 1, len(run.utilities)) if run.game is None else shape_of(run.game)
    for z, layer in enumerate(run.utilities.reshape(shape)):
        if shape[0] > 1:
            yield f"layer z = {z}"
        for row in layer:
            yield "  " + "  ".join(f"{value:.4f}" for value in row)


# ---------------------------------------------------------------- files, and play by them
def read_points(path: str | Path, game: Game[Any] | None = None) -> list[PointUtilities]:
    """Read the runs of a file that ``learn`` wrote, or raise FormatError."""
    try:
        runs = json.loads(read_text(Path(path).expanduser()))["runs"]
        found = [PointUtilities.from_run(run, game) for run in runs]
    except FormatError:
        raise
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        known = 'a JSON object with a list of "runs", as learn writes it'
        raise FormatError(f"{path} holds no utilities of points; such a file is {known}") from None
    if not found:
        raise FormatError(f"{path} holds no run")
    return found


class PointsAgent:
    """Play the free point of the highest utility, of a file's last run or of a run; ties at random."""

    def __init__(self, game: Game[Any], file: str | PointUtilities) -> None:
        self.game = game
        run = read_points(file, game)[-1] if isinstance(file, str) else file
        name = file if isinstance(file, str) else "the run"
        self.utilities = run.utilities
        if len(self.utilities) != num_points(game):
            raise FormatError(f"{name} has {len(self.utilities)} points; this game has {num_points(game)}")
        check_rules(name, run.rules, game, "learn the points again")

    def act(self, state: State, rng: Random) -> int:
        """Return the best point."""
        values = self.values(state)
        most = max(values.values())
        tied = [point for point, value in values.items() if value >= most - TIE]
        return tied[rng.below(len(tied))]

    def values(self, state: State) -> dict[int, float]:
        """Return the utility of each free point."""
        return {point: float(self.utilities[point]) for point in elements(self.game.legal(state))}
