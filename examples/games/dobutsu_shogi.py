"""Dobutsu Shogi, "let's catch the lion": take the lion, or bring yours safely to the far row.

    g l e     0  1  2      player 2, small letters, moves down
    . c .     3  4  5
    . C .     6  7  8
    E L G     9 10 11      player 1, capitals, moves up

The lion goes one step in any direction, the giraffe straight, the elephant aslant, the chick one step ahead.  A
chick that walks to the far row becomes a hen, which cannot go back aslant.  What is taken changes sides, a hen as
a chick, and may be dropped on any free cell instead of a move.

Actions 0 .. 57 are the steps from a cell to a neighbour (``STEPS``), action 58 + 12 * k + cell drops a chick
(k = 0), an elephant (1) or a giraffe (2).

``forced``: who can take the lion has no other moves.  That changes no value and no distance, and leaves only the
positions that matter: 246,803,167, counted once with their mirror images and whoever moves (Tanaka 2009).
"""

from dataclasses import dataclass
from typing import NamedTuple

from mdplay import U64, Game, Wide
from mdplay.bits import add, nonempty

CHICK, ELEPHANT, GIRAFFE, LION, HEN = 1, 2, 3, 4, 5  # of player 1; those of player 2 are 8 more
LETTERS = ".CEGLH...ceglh"
SIDES = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))  # row, column: number 7 - k is back
MAY_GO = (0, 0b0000_0010, 0b1010_0101, 0b0101_1010, 0b1111_1111, 0b0101_1111)  # a bit for each of SIDES
STEPS = tuple(
    (cell, cell + 3 * down + right, k)
    for cell in range(12)
    for k, (down, right) in enumerate(SIDES)
    if 0 <= cell // 3 + down < 4 and 0 <= cell % 3 + right < 3
)
NUM_STEPS = len(STEPS)
LEFT, MIDDLE, RIGHT = 0x00F00F00F00F, 0x0F00F00F00F0, 0xF00F00F00F00


class State(NamedTuple):
    """Four bits for each cell, two for each kind of piece in a hand; an empty board: the lion was taken."""

    board: int
    hands: int  # chicks, elephants and giraffes of player 1, then of player 2
    player: int


@dataclass(frozen=True)
class DobutsuShogi(Game[State]):
    """Positions come back, and a draw by repetition is endless play; the second player wins."""

    forced: bool = True

    def initial(self) -> State:
        """Return the position drawn above."""
        return State(0x3_4_2_0_1_0_0_9_0_A_C_B, 0, 0)

    def has_tried(self, board: int, player: int) -> bool:
        """Tell whether a player's lion is on the far row."""
        lion, home = LION + 8 * player, 36 * player
        for shift in range(home, home + 12, 4):
            if board >> shift & 15 == lion:
                return True
        return False

    def legal(self, s: State) -> Wide:
        """Return the steps and drops; none when a lion is taken, or stands on the far row and cannot be."""
        nothing = Wide(U64(0), U64(0))
        catching, moves = nothing, nothing
        if s.board == 0 or self.has_tried(s.board, s.player):
            return nothing
        for k in range(NUM_STEPS):
            start, to, side = STEPS[k]
            piece, taken = s.board >> 4 * start & 15, s.board >> 4 * to & 15
            if piece == 0 or piece >> 3 != s.player or (taken != 0 and taken >> 3 == s.player):
                continue
            if MAY_GO[piece & 7] >> (7 - side if s.player else side) & 1:
                moves = add(moves, k)
                if taken & 7 == LION:
                    catching = add(catching, k)
        if nonempty(catching):
            return catching if self.forced else self.with_drops(s, moves)
        return nothing if self.has_tried(s.board, 1 - s.player) else self.with_drops(s, moves)

    def with_drops(self, s: State, moves: Wide) -> Wide:
        """Add a drop of every kind in the mover's hand to every free cell."""
        for kind in range(3):
            if s.hands >> 6 * s.player + 2 * kind & 3:
                for cell in range(12):
                    if s.board >> 4 * cell & 15 == 0:
                        moves = add(moves, NUM_STEPS + 12 * kind + cell)
        return moves

    def step(self, s: State, action: int) -> State:
        """Drop a piece, or step with one; what stood there goes into the hand, and a lion ends the game."""
        hand = 6 * s.player
        if action >= NUM_STEPS:
            kind, cell = (action - NUM_STEPS) // 12, (action - NUM_STEPS) % 12
            dropped = (kind + 1 + 8 * s.player) << 4 * cell
            return State(s.board | dropped, s.hands - (1 << hand + 2 * kind), 1 - s.player)
        start, to, _ = STEPS[action]
        piece, taken, hands = s.board >> 4 * start & 15, s.board >> 4 * to & 7, s.hands
        if taken == LION:
            return State(0, 0, 1 - s.player)
        if taken == HEN:
            hands += 1 << hand
        elif taken:
            hands += 1 << hand + 2 * (taken - 1)
        if piece & 7 == CHICK and to // 3 == 3 * s.player:
            piece += HEN - CHICK
        board = s.board & ~(15 << 4 * start) & ~(15 << 4 * to) | piece << 4 * to
        return State(board, hands, 1 - s.player)

    def result(self, s: State) -> int:
        """Return who won: the player to move only if the lion was left alone on the far row."""
        won = s.board != 0 and self.has_tried(s.board, s.player)
        return 1 - 2 * s.player if won else 2 * s.player - 1

    def symmetries(self) -> int:
        """Return 2: the board and its mirror."""
        return 2

    def image(self, s: State, k: int) -> State:
        """Reflect the board from left to right."""
        if k == 0:
            return s
        board = s.board & MIDDLE | (s.board & LEFT) << 8 | (s.board & RIGHT) >> 8
        return State(board, s.hands, s.player)

    # ---------------------------------------------------------------- words for people
    def move_text(self, s: State, action: int) -> str:
        """Return from where to where, as b2b3, or the piece and where it is dropped, as C*a1."""
        if action >= NUM_STEPS:
            kind, cell = divmod(action - NUM_STEPS, 12)
            return f"{LETTERS[kind + 1]}*{_name(cell)}"
        start, to, _ = STEPS[action]
        return _name(start) + _name(to)

    def board(self, s: State) -> str:
        """Draw the cells, capitals for player 1, and both hands below."""
        cells = [LETTERS[s.board >> 4 * cell & 15] for cell in range(12)]
        held = [LETTERS[k % 3 + 1 + 8 * (k // 3)] * (s.hands >> 2 * k & 3) for k in range(6)]
        return "\n".join([*(" ".join(cells[row : row + 3]) for row in (0, 3, 6, 9)), "".join(held)]).rstrip()


def _name(cell: int) -> str:
    return "abc"[cell % 3] + str(4 - cell // 3)
