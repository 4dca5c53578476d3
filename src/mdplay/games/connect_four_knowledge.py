"""What a solver may know of Connect Four, as a study: the same game, with the threats in the state.

A *threat* is an empty cell that would complete a four.  Bits are the board's (see connect_four.py), an action
is the cell that the disc drops into, and the result is the score:

    the winner's discs not yet placed, plus one; negative if player 1 won; 0 for a draw

On 7 x 6 that is 22 minus the discs that the winner has placed, the usual convention.

Three facts make most of a search unnecessary.  A threat that can be filled now wins.  The opponent's must be
filled, and never may the cell below one be.  And on a board of even height the second player can *claim even*
(Allis, A Knowledge-based Approach of Connect-Four, 1988): always answer in the same column.  He then gets every
empty cell of the second, fourth ... row; if the first player cannot make a four of the others, he does not win.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from mdplay.bits import completing_four, has_four, popcount, rest
from mdplay.game import Look, Study
from mdplay.games.connect_four import State as Board

MIRROR_UNTIL = 14  # discs; later hardly any position meets its mirror image in a search


class State(NamedTuple):
    """Both players' discs and threats as bit boards."""

    mine: int  # the discs of the player to move
    theirs: int
    my_threats: int
    their_threats: int


@dataclass(frozen=True)
class Threats(Study[State]):
    """Connect Four with threats; the moves are cells and the result is the score."""

    rows: int = 6
    cols: int = 7

    # ---------------------------------------------------------------- the board
    @cached_property
    def height(self) -> int:
        """The bits of a column."""
        return self.rows + 1

    @cached_property
    def cells(self) -> int:
        """The number of cells."""
        return self.rows * self.cols

    @cached_property
    def bottom(self) -> int:
        """The lowest row."""
        return sum(1 << c * self.height for c in range(self.cols))

    @cached_property
    def full(self) -> int:
        """All cells."""
        return self.bottom * ((1 << self.rows) - 1)

    @cached_property
    def even_rows(self) -> int:
        """The second, fourth ... row."""
        return self.bottom * sum(1 << r for r in range(1, self.rows, 2))

    # ---------------------------------------------------------------- rules
    def initial(self) -> State:
        """Return the empty board."""
        return State(0, 0, 0, 0)

    def enter(self, s: Board) -> State:
        """Return the board with its threats."""
        empty = self.full & ~(s.mine | s.theirs)
        return State(s.mine, s.theirs, self.completing(s.mine) & empty, self.completing(s.theirs) & empty)

    def player(self, s: State) -> int:
        """Return who moves: the parity of the discs."""
        return popcount(s.mine | s.theirs) & 1

    def legal(self, s: State) -> int:
        """Return the cells on top of the columns; none once there is a four."""
        return 0 if self.has_won(s.theirs) else ((s.mine | s.theirs) + self.bottom) & self.full

    def step(self, s: State, action: int) -> State:
        """Put a disc on a cell; only the mover's threats can grow."""
        cell = 1 << action
        mine = s.mine | cell
        threats = self.completing(mine) & ~(mine | s.theirs)
        return State(s.theirs, mine, s.their_threats & ~cell, threats)

    def result(self, s: State) -> int:
        """Return player 0's score."""
        num_discs = popcount(s.mine | s.theirs)
        score = (self.cells + 2 - num_discs) >> 1 if self.has_won(s.theirs) else 0
        return score if num_discs & 1 else -score

    def completing(self, discs: int) -> int:
        """Return the cells that complete a four of the discs, taken or not."""
        return self.full & completing_four(discs, self.height)

    def has_won(self, discs: int) -> bool:
        """Tell whether the discs contain a four."""
        return has_four(discs, self.height)

    # ---------------------------------------------------------------- knowledge
    def look(self, s: State) -> Look:
        """Settle what one move wins or cannot save; leave out the moves below the opponent's threats."""
        taken = s.mine | s.theirs
        left = self.cells - popcount(taken)
        drops = (taken + self.bottom) & self.full
        forced = drops & s.their_threats
        moves = drops & ~(s.their_threats >> 1)
        moves = moves & forced if forced else moves
        low, high = -(max(left - 2, 0) >> 1), (left - 1) >> 1
        if s.my_threats & drops:
            low = high = (left + 1) >> 1
        elif moves == 0 or rest(forced):
            low = high = -(left >> 1)  # 0 on the full board
        if self.player(s):
            low, high = -high, -low
        return Look(low, min(high, self.claim_even(s, drops)), moves)

    def claim_even(self, s: State, drops: int) -> int:
        """Return an upper bound of the score, if player 1 can answer every move in the same column."""
        if self.rows & 1 or rest(drops & self.even_rows):  # more than one column with an odd number of cells left
            return self.cells
        empty = self.full & ~(s.mine | s.theirs)
        odd = self.player(s)
        first, second = (s.theirs, s.mine) if odd else (s.mine, s.theirs)
        if self.has_won(first | empty & ~self.even_rows):
            return self.cells
        return -1 if self.has_won(second | empty & self.even_rows) else 0

    def promise(self, s: State) -> int:
        """Count threats; those of the rows that fall to their owner at the end count three times."""
        odd = self.player(s)
        first, second = (s.their_threats, s.my_threats) if odd else (s.my_threats, s.their_threats)
        lasting = popcount(first & ~self.even_rows) - popcount(second & self.even_rows)
        return 4 * (popcount(first) - popcount(second)) + 8 * lasting

    def order(self, s: State, action: int) -> int:
        """Prefer the centre."""
        return -abs(2 * (action // self.height) + 1 - self.cols)

    def key(self, s: State) -> int:
        """Return the columns, in each the mover's discs below a marker bit; of a board and its mirror the less."""
        board = s.mine + s.mine + s.theirs + self.bottom
        if popcount(s.mine | s.theirs) < MIRROR_UNTIL:
            return min(board, self.mirror(board))
        return board

    @cached_property
    def key_bits(self) -> int:  # type: ignore[override]
        """The bits of the board."""
        return self.cols * self.height

    def mirror(self, board: int) -> int:
        """Swap column c with column cols - 1 - c, marker bits included."""
        out, column = 0, (1 << self.height) - 1
        for _ in range(self.cols):
            out = out << self.height | board & column
            board >>= self.height
        return out

    # ---------------------------------------------------------------- words for people
    def distance(self, s: State, score: int) -> int:
        """Return the plies to the end: of the board, or of the winner's last disc."""
        num_discs = (s.mine | s.theirs).bit_count()
        if score == 0:
            return self.cells - num_discs
        second_wins = score < 0
        placed = (self.cells + (0 if second_wins else 1)) // 2 + 1 - abs(score)
        return 2 * placed - (0 if second_wins else 1) - num_discs
