"""2048 on rows x cols cells (at most 16): one player, chance, points.

Cell r * cols + c is a nibble of the board, the exponent of its tile: 0 empty, 1 the tile 2, ... 15 the tile 32768.
Two tiles of 32768 do not merge.  Actions: 0 left, 1 right, 2 up, 3 down.  After a move, chance puts a 2 (90 %)
or a 4 (10 %) on an empty cell; outcome 4 * cell puts a 2 there, 4 * cell + 1 a 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Annotated, Any, ClassVar, NamedTuple

import mdplay.svg as draw
from mdplay.bits import U64, below, elements, nth, popcount
from mdplay.boards import adjacent_cells, cell_images, render
from mdplay.errors import GameError, PositionError
from mdplay.game import Between, Game

MOVES = ("left", "right", "up", "down")
ONES = 0x1111_1111_1111_1111
TILE = 80  # of the picture, in pixels
EDGE = 24  # around the board, where the moves are
TILE_COLOURS = (  # of 2, 4, 8 ... 32768: sand, orange, red, then gold, green, blue, violet
    *("#efe3d0", "#eed3a4", "#f0a868", "#ee8a51", "#ea6a47", "#dd4a2f", "#e0b53c", "#d7a41f"),
    *("#b99a14", "#7fa22b", "#3f9a57", "#218f86", "#2b74b8", "#4a55b5", "#6d3fa5"),
)
FOUR_SHARE = 429_496_730  # of 2**32: a tenth, the probability of a 4


class State(NamedTuple):
    """The tiles, and how many chance still has to place before the player moves."""

    board: U64
    popups: int


class Push(NamedTuple):
    """What a move makes of a board, and the points it earns."""

    board: U64
    points: int


def occupied(board: U64) -> U64:
    """Return bit 0 of every nibble that is not zero."""
    pairs = board | board >> 1
    return (pairs | pairs >> 2) & ONES


def transpose(x: U64) -> U64:
    """Swap rows and columns of a 4 x 4 board: first inside the 2 x 2 blocks, then the blocks."""
    y = (x & 0xF0F0_0F0F_F0F0_0F0F) | (x & 0x0000_F0F0_0000_F0F0) << 12 | (x & 0x0F0F_0000_0F0F_0000) >> 12
    return (y & 0xFF00_FF00_00FF_00FF) | (y & 0x00FF_00FF_0000_0000) >> 24 | (y & 0x0000_0000_FF00_FF00) << 24


@dataclass(frozen=True)
class Twenty48(Game[State]):
    """Slide and merge; a merge earns the new tile."""

    rows: Annotated[int, Between(1, 16)] = 4
    cols: Annotated[int, Between(1, 16)] = 4
    view: ClassVar[str] = "tiles"

    def __post_init__(self) -> None:
        """Refuse boards that do not fit 16 nibbles."""
        if not (self.rows >= 1 and self.cols >= 1 and 2 <= self.rows * self.cols <= 16):
            raise GameError(f"a board of {self.rows} x {self.cols} cells does not fit; 2 to 16 cells")

    def initial(self) -> State:
        """Return the empty board, on which chance places two tiles."""
        return State(0, 2)

    def legal(self, s: State) -> int:
        """Return the directions in which a tile moves or merges."""
        across = self.movable(s.board, 4, self.left_of_another)
        down = self.movable(s.board, 4 * self.cols, self.above_another)
        return across | down << 2

    def movable(self, board: U64, shift: int, pairs: U64) -> int:
        """Return bit 0 if a tile can move towards lower cells, bit 1 towards higher ones.

        ``pairs`` are the cells that have a neighbour ``shift`` bits higher.
        """
        full = occupied(board)
        higher = full >> shift
        equal = ~occupied(board ^ board >> shift) & full & pairs
        biggest = board & board >> 1 & board >> 2 & board >> 3
        merges = (equal & ~biggest) != 0
        to_lower = merges or (higher & ~full & pairs) != 0
        to_higher = merges or (full & ~higher & pairs) != 0
        return to_lower | to_higher << 1

    def step(self, s: State, action: int) -> State:
        """Push the tiles; chance moves next."""
        return State(self.push(s.board, action).board, 1)

    def reward(self, s: State, action: int) -> int:
        """Return the sum of the merged tiles."""
        return self.push(s.board, action).points

    def push(self, board: U64, action: int) -> Push:
        """Return the board after a push, and the points."""
        if self.rows == 4 and self.cols == 4:
            return self.push_by_rows(board, action)
        return self.push_cells(board, action)

    def push_cells(self, board: U64, action: int) -> Push:
        """Push cell by cell, on any board."""
        across = action < 2
        length, lines = (self.cols, self.rows) if across else (self.rows, self.cols)
        along, aside = (4, 4 * self.cols) if across else (4 * self.cols, 4)
        first = 0
        if action & 1:  # the far end is where tiles go
            first, along = along * (length - 1), -along
        out, points = U64(0), 0
        for line in range(lines):
            cell = to = first + line * aside
            last = 0
            for _ in range(length):
                tile = int(board >> cell & 15)
                if tile != 0 and tile == last and tile < 15:
                    out += U64(1) << to - along
                    points += 2 << tile
                    last = 0
                elif tile != 0:
                    out |= U64(tile) << to
                    to += along
                    last = tile
                cell += along
        return Push(out, points)

    def push_by_rows(self, board: U64, action: int) -> Push:
        """Push the four rows of a 4 x 4 board, or its columns made rows, by table."""
        board = board if action < 2 else transpose(board)
        out, points = U64(0), 0
        for r in range(4):
            row = int(board >> 16 * r & 0xFFFF)
            pushed = self.row_right[row] if action & 1 else self.row_left[row]
            out |= U64(pushed) << 16 * r
            points += self.row_points[row]
        return Push(out if action < 2 else transpose(out), points)

    # ---------------------------------------------------------------- chance
    def outcomes(self, s: State) -> U64:
        """Return bits 4 * cell and 4 * cell + 1 for every empty cell while a tile is due."""
        free = ~occupied(s.board) & self.cells
        return free | free << 1 if s.popups else U64(0)

    def outcome(self, s: State, i: int) -> State:
        """Place a 2 or a 4."""
        return State(s.board | U64(1 + (i & 1)) << (i & 60), s.popups - 1)

    def probability(self, s: State, i: int) -> float:
        """Return 0.9 or 0.1, shared by the empty cells."""
        return (0.1 if i & 1 else 0.9) * 2.0 / popcount(self.outcomes(s))

    def draw(self, s: State, word: U64) -> int:
        """Draw a cell by the high half of the word and the tile by its low half."""
        free = ~occupied(s.board) & self.cells
        return nth(free, below(word, popcount(free))) + ((word & 0xFFFF_FFFF) < FOUR_SHARE)

    # ---------------------------------------------------------------- tables
    @cached_property
    def cells(self) -> int:
        """Bit 0 of every cell."""
        return ONES & (1 << 4 * self.rows * self.cols) - 1

    @cached_property
    def left_of_another(self) -> int:
        """Bit 0 of every cell with a right neighbour."""
        return sum(1 << 4 * cell for cell in range(self.rows * self.cols) if cell % self.cols < self.cols - 1)

    @cached_property
    def above_another(self) -> int:
        """Bit 0 of every cell with a lower neighbour."""
        return sum(1 << 4 * cell for cell in range((self.rows - 1) * self.cols))

    @cached_property
    def row_left(self) -> tuple[int, ...]:
        """A row of four cells pushed left."""
        return row_tables().left

    @cached_property
    def row_right(self) -> tuple[int, ...]:
        """A row of four cells pushed right."""
        return row_tables().right

    @cached_property
    def row_points(self) -> tuple[int, ...]:
        """The points of pushing a row, either way."""
        return row_tables().points

    # ---------------------------------------------------------------- knowledge
    def symmetries(self) -> int:
        """Return 8 for a square board, else 4."""
        return len(self.images)

    def image(self, s: State, k: int) -> State:
        """Turn or reflect the board."""
        out = U64(0)
        for cell in range(self.rows * self.cols):
            out |= (s.board >> 4 * cell & 15) << 4 * self.images[k][cell]
        return State(out, s.popups)

    @cached_property
    def images(self) -> tuple[tuple[int, ...], ...]:
        """Where each symmetry takes each cell."""
        return cell_images(self.rows, self.cols)

    # ---------------------------------------------------------------- cells
    @cached_property
    def num_cells(self) -> int:
        """The cells, row by row."""
        return self.rows * self.cols

    @property
    def cell_values(self) -> int:
        """The exponents of the tiles."""
        return 16

    def cell(self, s: State, i: int) -> int:
        """Return the exponent of the tile in a cell, 0 for an empty one."""
        return int(s.board >> 4 * i & 15)

    def neighbours(self, i: int) -> int:
        """Return the cells that touch a cell."""
        return adjacent_cells(self.rows, self.cols)[i]

    # ---------------------------------------------------------------- words for people
    def parse(self, text: str) -> State:
        """Read rows * cols hexadecimal exponents, row by row; ``+1`` or ``+2`` at the end: tiles still to come."""
        cells, _, popups = "".join(text.split()).partition("+")
        size = self.rows * self.cols
        if len(cells) != size or set(cells.lower()) - set("0123456789abcdef") or popups not in ("", "1", "2"):
            raise PositionError(f"{text!r} is not a position: give {size} hexadecimal exponents, row by row")
        if not popups and not cells.strip("0"):
            raise PositionError(f"{text!r} has no tile; write {cells}+2 for the start")
        if len(cells.replace("0", "")) + int(popups or 0) > size:
            raise PositionError(f"{text!r} has no room for {popups} more tiles")
        return State(sum(int(cell, 16) << 4 * i for i, cell in enumerate(cells)), int(popups or 0))

    def text(self, s: State) -> str:
        """Return the exponents in hexadecimal, and the tiles still to come."""
        cells = "".join(f"{s.board >> 4 * i & 15:x}" for i in range(self.rows * self.cols))
        return f"{cells}+{s.popups}" if s.popups else cells

    def move_text(self, s: State, action: int) -> str:
        """Return left, right, up or down."""
        return MOVES[action]

    def outcome_text(self, s: State, i: int) -> str:
        """Return the tile and its cell, as in ``2@5``."""
        return f"{2 << (i & 1)}@{i // 4}"

    def board(self, s: State) -> str:
        """Draw the tiles by their values."""
        tiles = [int(s.board >> 4 * i & 15) for i in range(self.rows * self.cols)]
        return render([str(1 << t) if t else "." for t in tiles], self.cols)

    def svg(self, s: State) -> str:
        """Draw the tiles, the warmer the higher."""
        width, height = self.cols * TILE + 12 + 2 * EDGE, self.rows * TILE + 12 + 2 * EDGE
        shapes = [draw.rect(EDGE, EDGE, width - 2 * EDGE, height - 2 * EDGE, "panel", 12)]
        for cell in range(self.rows * self.cols):
            x, y = cell % self.cols * TILE + 6 + EDGE, cell // self.cols * TILE + 6 + EDGE
            shapes.append(self._svg_tile(s.board >> 4 * cell & 15, x, y))
        shapes += [self._svg_move(action, width, height) for action in self._actions(s)]
        return draw.picture(width, height, shapes, self.board(s))

    def _svg_tile(self, exponent: int, x: float, y: float) -> str:
        if exponent == 0:
            return draw.rect(x + 4, y + 4, TILE - 8, TILE - 8, "hole", 8)
        number, colour = str(1 << exponent), TILE_COLOURS[exponent - 1]
        size = min(32.0, 92 / len(number))
        ink = "#5a4a3a" if exponent < 3 else "#fff"
        tile = draw.rect(x + 4, y + 4, TILE - 8, TILE - 8, "tile", 8, fill=colour)
        return tile + draw.label(x + TILE / 2, y + TILE / 2, number, "tile", size, fill=ink, font_weight="700")

    def _actions(self, s: State) -> list[int]:
        return [] if self.outcomes(s) else elements(self.legal(s))

    def _svg_move(self, action: int, width: float, height: float) -> str:
        """Return the edge towards which the tiles are pushed."""
        sideways, far = action < 2, action % 2
        long, deep = (height, width) if sideways else (width, height)
        begin = deep - EDGE if far else 0
        place: tuple[float, float, float, float] = (
            (begin, EDGE, EDGE, long - 2 * EDGE) if sideways else (EDGE, begin, long - 2 * EDGE, EDGE)
        )
        middle = (begin + EDGE / 2, long / 2) if sideways else (long / 2, begin + EDGE / 2)
        return draw.move(action, MOVES[action], draw.rect(*place, "open", 8), at=(*middle, EDGE / 2))


class RowTables(NamedTuple):
    """Every row of four cells pushed left and right, and the points of either."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    points: tuple[int, ...]


@cache
def row_tables() -> RowTables:
    """Return the tables of rows, made from those of shorter rows: first one cell, then two, three, four.

    A row gets one more cell, first (lowest): a tile there that equals the first of the others merges with it.
    Every start needs the tables, so numpy makes them.
    """
    import numpy as np

    tiles = np.arange(16)
    left = points = packed = turned = np.zeros(1, np.int64)  # of no cells; packed: moved together, none merged
    for _ in range(4):
        first, others = packed & 15, packed >> 4
        merging = np.flatnonzero((first > 0) & (first < 15))
        tile, behind = first[merging], others[merging]
        pushed, moved = (left[:, None] << 4) + tiles, (packed[:, None] << 4) + tiles
        pushed[:, 0], moved[:, 0] = left, packed  # no new tile
        pushed[merging, tile] = tile + 1 | left[behind] << 4
        earned = np.repeat(points[:, None], 16, axis=1)
        earned[merging, tile] = (2 << tile) + points[behind]
        turned = ((turned[:, None] >> 4) + (tiles << 12)).ravel()
        left, points, packed = pushed.ravel(), earned.ravel(), moved.ravel()
    right = turned[left[turned]]
    return RowTables(tuple(left.tolist()), tuple(right.tolist()), tuple(points.tolist()))


@dataclass(frozen=True)
class ReachTile(Twenty48):
    """2048 until there is a tile of 2**exponent: the value is the probability of reaching it under best play.

    A board with the tile ends the game and has value 1; merges earn nothing.
    """

    exponent: int = 11

    directions = Twenty48.legal  # the rules of 2048 under names that compiled rules can call
    tiles_to_come = Twenty48.outcomes

    def legal(self, s: State) -> int:
        """Return the directions in which a tile moves; none once the tile is there."""
        return 0 if self.is_reached(s.board) else self.directions(s)

    def outcomes(self, s: State) -> U64:
        """Return the tiles that may pop up; none once the tile is there."""
        return U64(0) if self.is_reached(s.board) else self.tiles_to_come(s)

    def reward(self, s: State, action: int) -> int:
        """Return 0: merges earn nothing here."""
        return 0

    def result(self, s: State) -> int:
        """Return 1 if the tile is there, else 0."""
        return 1 if self.is_reached(s.board) else 0

    def is_reached(self, board: U64) -> bool:
        """Return whether a tile is at least as large as the one aimed at."""
        for cell in range(self.rows * self.cols):
            if board >> 4 * cell & 15 >= self.exponent:
                return True
        return False


def reach_tile(game: Game[Any], aim: str) -> ReachTile:
    """Return the game of reaching a tile, given as a text, on the board of a game of 2048."""
    tile = int(aim) if aim.isdecimal() and len(aim) < 9 else 0
    if not isinstance(game, Twenty48):
        raise GameError(f"only 2048 has tiles to reach, not {type(game).__name__}")
    if tile < 4 or tile & tile - 1 or tile > 1 << 15:
        raise GameError(f"{aim} is not a tile to reach; choose a power of two, 4 to {1 << 15}")
    return ReachTile(game.rows, game.cols, exponent=tile.bit_length() - 1)
