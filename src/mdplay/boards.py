"""Small tools for games on a rectangular board: lines, symmetries, boards in characters, names of cells."""

from __future__ import annotations

from collections.abc import Sequence

from mdplay.errors import PositionError

LETTERS = "abcdefgh"  # of the columns


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


# ---------------------------------------------------------------- words for people
def cell_name(cell: int, cols: int) -> str:
    """Return a cell as its column's letter and its row's number, as in ``d3``."""
    return f"{LETTERS[cell % cols]}{cell // cols + 1}"


def marks_of(mine: int, theirs: int, player: int, size: int) -> str:
    """Return the cells as characters: x the first player, o the second, a dot empty; ``mine`` is to move."""
    first, second = (theirs, mine) if player else (mine, theirs)
    return "".join("x" if first >> i & 1 else "o" if second >> i & 1 else "." for i in range(size))


def rows_of(marks: str, cols: int) -> list[str]:
    """Return the rows of cells that are characters, row by row."""
    return [marks[i : i + cols] for i in range(0, len(marks), cols)]


def masks_of(cells: Sequence[str], marks: str) -> tuple[int, ...]:
    """Return for each mark the mask of the cells that hold it."""
    return tuple(sum(1 << i for i, cell in enumerate(cells) if cell == mark) for mark in marks)


def read_rows(text: str, rows: int, cols: int) -> list[str]:
    """Read ``.ox/...``, rows of cells parted by slashes; or raise PositionError."""
    found = text.strip().lower().split("/")
    if [len(row) for row in found] != [cols] * rows or set("".join(found)) - set(".xo"):
        shape = f"{rows} rows of {cols} cells . x o from the top, slashes between them"
        raise PositionError(f"{text!r} is not a board: give {shape}")
    return found


def read_mover(text: str) -> tuple[str, int]:
    """Read what stands before a space, and who moves after it: ``x`` or ``o``; or raise PositionError."""
    board, _, mover = text.strip().partition(" ")
    if mover.lower() not in ("x", "o"):
        raise PositionError(f"{text!r} does not say who moves: give the board, a space and x or o")
    return board, "xo".index(mover.lower())


def player_to_move(first: int, second: int, text: str) -> int:
    """Return who moves after the discs of both players, x and o, or raise PositionError if x was not first."""
    player = first.bit_count() - second.bit_count()
    if player not in (0, 1):
        raise PositionError(f"{text!r}: x has {first.bit_count()} discs and o {second.bit_count()}; x moves first")
    return player
