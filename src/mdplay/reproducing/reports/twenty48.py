"""2048 as the report tells it: one pattern under its eight images, look-ups in one table, moves of before-states.

A board is sixteen exponents, row by row: 0 empty, 1 the tile 2, 3 the tile 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from numpy.typing import NDArray

Cells = tuple[int, ...]
FOUR = 0.1  # the share of fours among the tiles that pop up
LEFT, RIGHT, UP, DOWN = range(4)


def exponents_of(tiles: Sequence[int]) -> list[int]:
    """Return the exponents of tiles; 0 for an empty cell."""
    return [tile.bit_length() - 1 if tile else 0 for tile in tiles]


def index(exponents: Sequence[int]) -> int:
    """Return the place in the table: the first cell's exponent is the lowest nibble."""
    return sum(exponent << 4 * i for i, exponent in enumerate(exponents))


def isomorphic(pattern: Cells) -> list[Cells]:
    """Return the eight patterns that turning and reflecting the board makes of one."""
    found, points = [], [divmod(cell, 4) for cell in pattern]
    for _ in range(2):
        for _ in range(4):
            found.append(tuple(4 * r + c for r, c in points))
            points = [(c, 3 - r) for r, c in points]  # a quarter turn
        points = [(r, 3 - c) for r, c in points]
    return found


def places(pattern: Cells, board: Sequence[int]) -> list[int]:
    """Return where the eight look-ups of a board are."""
    return [index([board[cell] for cell in image]) for image in isomorphic(pattern)]


def estimate(table: NDArray, pattern: Cells, board: Sequence[int]) -> float:  # type: ignore[type-arg]
    """Return the value of a board: the sum of eight look-ups."""
    return float(sum(table[place] for place in places(pattern, board)))


def update(table: NDArray, pattern: Cells, board: Sequence[int], amount: float) -> float:  # type: ignore[type-arg]
    """Add the same amount to every look-up of a board, and return the new value."""
    for place in places(pattern, board):
        table[place] += amount
    return estimate(table, pattern, board)


def slide(row: Sequence[int]) -> tuple[list[int], int]:
    """Return a row pushed to its first cell, and the points."""
    tiles, points = [exponent for exponent in row if exponent], 0
    out: list[int] = []
    while tiles:
        first = tiles.pop(0)
        if tiles and tiles[0] == first:
            tiles.pop(0)
            first += 1
            points += 1 << first
        out.append(first)
    return out + [0] * (len(row) - len(out)), points


def push(board: Sequence[int], move: int) -> tuple[list[int], int]:
    """Return a board pushed left, right, up or down, and the points."""
    out, points = list(board), 0
    for line in range(4):
        cells = [4 * line + i if move in (LEFT, RIGHT) else 4 * i + line for i in range(4)]
        cells = cells[::-1] if move in (RIGHT, DOWN) else cells
        row, earned = slide([board[cell] for cell in cells])
        points += earned
        for cell, exponent in zip(cells, row, strict=True):
            out[cell] = exponent
    return out, points


def move_values(table: NDArray, pattern: Cells, board: Sequence[int]) -> dict[int, float]:  # type: ignore[type-arg]
    """Return what every legal move is worth: its points and the mean over the tiles that may pop up."""
    found = {}
    for move in (LEFT, RIGHT, UP, DOWN):
        after, points = push(board, move)
        if after != list(board):
            found[move] = points + _expected(table, pattern, after)
    return found


def _expected(table: NDArray, pattern: Cells, after: list[int]) -> float:  # type: ignore[type-arg]
    empty = [cell for cell in range(16) if not after[cell]]
    two, four = (
        fmean(estimate(table, pattern, [*after[:cell], tile, *after[cell + 1 :]]) for cell in empty)
        for tile in (1, 2)
    )
    return (1 - FOUR) * two + FOUR * four
