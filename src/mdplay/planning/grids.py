"""Grid worlds drawn in characters.

    ............      .  a cell           #  a wall
    ............      S  the start        G  a goal: the episode ends
    ............      *  a cliff: the agent returns to the start
    S**********G      O  a hole: the episode ends

Lines of settings may follow the drawing:

    moves king        four (default), king (eight directions) or stay (king and no move)
    wind 0001112210   upward displacement in each column
    gusts yes         the wind varies by one, with equal probability
    slip 0.1          probability of each of the two neighbouring directions
    reward -1         reward of a step (default -1); cliff -100, goal and hole: rewards on entering them
    discount 0.95
    A = goal 10       a character of your own: goal, hole, cliff, cell or wall, and the reward on entering it
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from mdplay.errors import FormatError, short
from mdplay.planning.mdp import MDP

FOUR = ((-1, 0), (0, 1), (1, 0), (0, -1))  # up, right, down, left
KING = (*FOUR, (-1, 1), (1, 1), (1, -1), (-1, -1))
MOVES = {"four": FOUR, "king": KING, "stay": (*KING, (0, 0))}
ARROWS = ("↑", "→", "↓", "←", "↗", "↘", "↙", "↖", "·")
KINDS = {".": "cell", "#": "wall", "S": "start", "G": "goal", "*": "cliff", "O": "hole"}
OWN_KINDS = ("cell", "wall", "goal", "cliff", "hole")
SETTINGS = ("moves", "wind", "gusts", "slip", "reward", "goal", "cliff", "hole", "discount")
MAX_CELLS = 1_000_000


@dataclass(frozen=True, eq=False)
class Grid:
    """A drawn grid world; its states are the cells that are not walls, row by row."""

    rows: tuple[str, ...]
    mdp: MDP
    starts: tuple[int, ...]
    cells: tuple[tuple[int, int], ...]  # row and column of each state
    actions: tuple[str, ...]


@dataclass
class _Settings:
    """The settings below a drawing."""

    moves: str = "four"
    wind: tuple[int, ...] = ()
    gusts: bool = False
    slip: float = 0.0
    reward: float = -1.0
    goal: float | None = None
    cliff: float = -100.0
    hole: float | None = None
    discount: float = 1.0
    kinds: dict[str, str] = field(default_factory=lambda: dict(KINDS))
    rewards: dict[str, float] = field(default_factory=dict)  # of characters of the user's own


def is_grid(text: str) -> bool:
    """Return whether the first line of a text that is not empty is a row of a drawing."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return len(first) > 1 and " " not in first and sum(c in KINDS for c in first) * 2 > len(first)


def read_grid(text: str) -> Grid:
    """Return the grid world of a drawing; raise FormatError, naming the place, if it is malformed."""
    rows, settings = _read(text.splitlines())
    unknown = {c for row in rows for c in row} - set(settings.kinds)
    for y, row in enumerate(rows):
        for x, character in enumerate(row):
            if character in unknown:
                raise FormatError(
                    f"row {y + 1}, column {x + 1}: character {character!r} is unknown; use one of "
                    f"{' '.join(KINDS)} or add a line such as {character} = goal 10"
                )
    kind = [[settings.kinds[c] for c in row] for row in rows]
    cells = [(y, x) for y in range(len(rows)) for x in range(len(rows[0])) if kind[y][x] != "wall"]
    number = {cell: i for i, cell in enumerate(cells)}
    starts = [i for i, (y, x) in enumerate(cells) if kind[y][x] == "start"]
    if not starts:
        raise FormatError("the drawing has no start; write S in a cell")
    table = [
        (s, action, *_entered(rows, kind, number, starts[0], settings, cell, to), share)
        for s, cell in enumerate(cells)
        if kind[cell[0]][cell[1]] not in ("goal", "hole", "cliff")
        for action in range(len(MOVES[settings.moves]))
        for to, share in _targets(rows, kind, settings, cell, action)
    ]
    state, action, target, reward, share = (np.array(column) for column in zip(*table, strict=True))
    mdp = MDP.from_transitions(
        state, action, target, reward, share, num_states=len(cells), discount=settings.discount, keep_rewards=True
    )
    return Grid(tuple(rows), mdp, tuple(starts), tuple(cells), ARROWS[: len(MOVES[settings.moves])])


# ---------------------------------------------------------------- drawing
def draw_plan(grid: Grid, value: npt.NDArray[np.float64], action: npt.NDArray[np.int64]) -> str:
    """Return the policy as arrows and the values below it, in characters; walls and ends as in the drawing."""
    arrows = [list(row) for row in grid.rows]
    numbers = [["" for _ in row] for row in grid.rows]
    for (y, x), number, a in zip(grid.cells, value.tolist(), action.tolist(), strict=True):
        if a >= 0:
            arrows[y][x] = grid.actions[a]
            numbers[y][x] = f"{number:.2f}"
        else:
            numbers[y][x] = grid.rows[y][x]
    width = max(len(word) for row in numbers for word in row)
    table = ["  ".join(word.rjust(width) for word in row).rstrip() for row in numbers]
    return "\n".join([*("".join(row) for row in arrows), "", *table]) + "\n"


def paint_plan(grid: Grid, value: npt.NDArray[np.float64], action: npt.NDArray[np.int64]) -> Callable[[Any], None]:
    """Return a function that paints the values as a heat map and the policy as arrows into a figure."""

    def paint(figure: Any) -> None:
        heat = np.full((len(grid.rows), len(grid.rows[0])), np.nan)
        axes = figure.add_subplot()
        for (y, x), number, a in zip(grid.cells, value.tolist(), action.tolist(), strict=True):
            text = grid.actions[a] if a >= 0 else grid.rows[y][x]
            heat[y, x] = number if a >= 0 and np.isfinite(number) else np.nan
            axes.text(x, y, text, ha="center", va="center")
        image = axes.imshow(heat, cmap="viridis", alpha=0.7)
        figure.colorbar(image, label="value")
        axes.set_xticks([])
        axes.set_yticks([])

    return paint


# ---------------------------------------------------------------- reading
def _read(lines: Iterable[str]) -> tuple[list[str], _Settings]:
    """Return the rows of the drawing and the settings below it."""
    rows: list[str] = []
    settings = _Settings()
    for number, line in enumerate(lines, 1):
        words = line.split("//")[0].split()
        if not words:
            continue
        if len(words) == 1 and words[0] not in SETTINGS:
            if rows and len(words[0]) != len(rows[0]):
                raise FormatError(
                    f"line {number}: {len(words[0])} characters, but the first row has {len(rows[0])}; "
                    "all rows need the same length"
                )
            rows.append(words[0])
        else:
            _set(settings, words, number)
    if not rows:
        raise FormatError("there is no drawing; write rows of cells such as S...G")
    if len(rows) * len(rows[0]) > MAX_CELLS:
        raise FormatError(f"a drawing has at most {MAX_CELLS:,} cells")
    if settings.wind and len(settings.wind) != len(rows[0]):
        raise FormatError(f"wind has {len(settings.wind)} digits, but there are {len(rows[0])} columns")
    return rows, settings


def _set(settings: _Settings, words: list[str], number: int) -> None:
    """Read a line of a setting or of a character of the user's own."""
    name, *rest = words
    try:
        if rest[:1] == ["="] and len(name) == 1 and len(rest) in (2, 3) and rest[1] in OWN_KINDS:
            settings.kinds[name] = rest[1]
            if len(rest) == 3:
                settings.rewards[name] = float(Fraction(rest[2]))
        elif name == "moves" and rest[0] in MOVES:
            settings.moves = rest[0]
        elif name == "wind":
            settings.wind = tuple(int(c) for c in "".join(rest))
        elif name == "gusts":
            settings.gusts = {"yes": True, "no": False}[rest[0]]
        elif name in ("slip", "reward", "goal", "cliff", "hole", "discount") and len(rest) == 1:
            setattr(settings, name, float(Fraction(rest[0])))
        else:
            raise ValueError(name)
    except (ValueError, KeyError, IndexError, ZeroDivisionError):
        raise FormatError(
            f"line {number}: {short(' '.join(words))!r} is not a setting of a grid; "
            f"the settings are {', '.join(SETTINGS)}"
        ) from None
    if not 0.0 <= settings.slip <= 0.5:
        raise FormatError(f"line {number}: slip={settings.slip} must lie between 0 and 0.5")
    if not 0.0 < settings.discount <= 1.0:
        raise FormatError(f"line {number}: discount={settings.discount} must be above 0 and at most 1")


def _targets(
    rows: list[str], kind: list[list[str]], settings: _Settings, cell: tuple[int, int], action: int
) -> list[tuple[tuple[int, int], float]]:
    """Return the cells that an action may lead to, with their probabilities; walls and borders stop a move."""
    moves = MOVES[settings.moves]
    aims = [(action, 1.0)]
    if settings.slip and action < 4:
        left, right = (action - 1) % 4, (action + 1) % 4
        aims = [(action, 1.0 - 2.0 * settings.slip), (left, settings.slip), (right, settings.slip)]
    wind = settings.wind[cell[1]] if settings.wind else 0
    gusts = [(wind - 1, 1 / 3), (wind, 1 / 3), (wind + 1, 1 / 3)] if settings.gusts and wind else [(wind, 1.0)]
    found = []
    for aim, share in aims:
        for gust, chance in gusts:
            y = min(max(cell[0] + moves[aim][0] - gust, 0), len(rows) - 1)
            x = min(max(cell[1] + moves[aim][1], 0), len(rows[0]) - 1)
            to = cell if kind[y][x] == "wall" else (y, x)
            if share * chance > 0.0:
                found.append((to, share * chance))
    return found


def _entered(
    rows: list[str],
    kind: list[list[str]],
    number: dict[tuple[int, int], int],
    start: int,
    settings: _Settings,
    cell: tuple[int, int],
    to: tuple[int, int],
) -> tuple[int, float]:
    """Return the state and the reward of a move into a cell."""
    what, character = kind[to[0]][to[1]], rows[to[0]][to[1]]
    reward = settings.reward
    if what == "goal" and settings.goal is not None:
        reward = settings.goal
    if what == "hole" and settings.hole is not None:
        reward = settings.hole
    if what == "cliff":
        reward = settings.cliff
    if character in settings.rewards and (to != cell or what == "cell"):
        reward = settings.rewards[character]
    return start if what == "cliff" else number[to], reward
