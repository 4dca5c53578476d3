"""Small tools for games on a rectangular board: lines, symmetries, pictures in characters."""

from __future__ import annotations

from collections.abc import Sequence

from mdplay.errors import PositionError


def lines_of_cells(rows: int, cols: int, length: int) -> tuple[int, ...]:
    """Return every straight line of ``length`` cells as a mask, cells numbered row by row."""
    found = []
    for r in range(rows):
        for c in range(cols):
            for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
                last_r, last_c = r + (length - 1) * dr, c + (length - 1) * dc
                if last_r < rows and 0 <= last_c < cols:
                    found.append(sum(1 << (r + i * dr) * cols + c + i * dc for i in range(length)))
    return tuple(dict.fromkeys(found))


def cell_images(rows: int, cols: int) -> tuple[tuple[int, ...], ...]:
    """Return the symmetries of the board, the identity first: where each takes each cell.

    There are eight of a square, else four: bit 0 of the number turns rows over, bit 1 columns, bit 2 transposes.
    """
    return tuple(
        tuple(_image(r, c, rows, cols, k) for r in range(rows) for c in range(cols))
        for k in range(8 if rows == cols else 4)
    )


def _image(r: int, c: int, rows: int, cols: int, k: int) -> int:
    if k & 1:
        r = rows - 1 - r
    if k & 2:
        c = cols - 1 - c
    return c * rows + r if k & 4 else r * cols + c


def adjacent_cells(rows: int, cols: int) -> tuple[int, ...]:
    """Return for each cell, row by row, the mask of the up to eight cells that touch it."""
    return tuple(_touching(r, c, rows, cols) for r in range(rows) for c in range(cols))


def _touching(r: int, c: int, rows: int, cols: int) -> int:
    near_rows, near_cols = range(max(0, r - 1), min(rows, r + 2)), range(max(0, c - 1), min(cols, c + 2))
    return sum(1 << y * cols + x for y in near_rows for x in near_cols) & ~(1 << r * cols + c)


def render(cells: Sequence[str], cols: int) -> str:
    """Return the cells as a picture in characters, in columns of equal width."""
    width = max(len(cell) for cell in cells)
    rows = [cells[i : i + cols] for i in range(0, len(cells), cols)]
    return "\n".join(" ".join(cell.rjust(width) for cell in row) for row in rows)


def player_to_move(first: int, second: int, text: str) -> int:
    """Return who moves after the discs of both players, x and o, or raise PositionError if x was not first."""
    player = first.bit_count() - second.bit_count()
    if player not in (0, 1):
        raise PositionError(f"{text!r}: x has {first.bit_count()} discs and o {second.bit_count()}; x moves first")
    return player
