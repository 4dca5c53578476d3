"""What proof search knows of Connect Four, as a view: the same game, with the threats in the state.

A *threat* is an empty cell that would complete a four.  Bits are the board's (see rules.py), an action
is the cell that the disc drops into, and the result is the score:

    the winner's discs not yet placed, plus one; negative if player 1 won; 0 for a draw

On 7 x 6 that is 22 minus the discs that the winner has placed, the usual convention.

A threat that can be filled now wins.  The opponent's must be filled, and never may the cell below one be.  And on
a board of even height *zugzwang* tells much of the end (after Allis, A Knowledge-based Approach of Connect-Four,
1988).

*Claim even.*  Player 1 answers every move in the same column.  Then the empty cells of the second, fourth ... row
fall to her and the others to player 0, but for the ? below: a column with an odd number of empty cells begins with
an even cell, and a move on one of these she answers on another one, so either player may get it.

    6  1 1 1 1
    5  0 0 0 0      x, player 0, to move: who gets which cell
    4  1 ? 1 ?
    3  0 x 0 o

No disc comes above a threat of hers on an even row: the move below it loses.  If player 0 can make no four of what
may fall to him, he does not win; if player 1 has one in what must fall to her, she does.

*The last word.*  Player 1 is to move, and in one of the columns with an odd number of empty cells player 0 has a
threat on an odd row.  He answers in the same column, or on another ?; in this one the even cells are hers, and at
last only the cell below the threat is left to her.  If she can make no four of what may fall to her, he wins.

Connect Four games as strings of columns, ``4453``: a digit a move, from 1 at the left, a game a line.

It is how the solvers on the web take positions and how their test files write them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from mdplay.bits import completing_four, has_four, popcount, without_lowest
from mdplay.errors import FormatError
from mdplay.game import Bounds, Game, ProofView
from mdplay.games.connect_four.rules import State as Board
from mdplay.playing.formats import ForeignFormat, from_the_start
from mdplay.playing.records import Record

MAX_COLUMNS = 9  # columns that one digit can name


class MoveStrings(ForeignFormat):
    """A line of digits for each game."""

    ending: ClassVar[str] = ".moves"

    def __init__(self, game: Game[Any]) -> None:
        super().__init__(game)
        if getattr(game, "cols", 0) > MAX_COLUMNS:
            raise FormatError(f"a digit tells at most {MAX_COLUMNS} columns")

    def dump(self, record: Record) -> str:
        """Return the columns of a game."""
        return "".join(from_the_start(record, "moves").moves) + "\n"

    def load(self, text: str) -> list[Record]:
        """Return the games of all lines that are not empty."""
        lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), start=1)]
        return [self.replayed(f"line {number}", list(line)) for number, line in lines if line]


MIRROR_UNTIL = 14  # discs; later hardly any position meets its mirror image in a search


class State(NamedTuple):
    """Both players' discs and threats as bit boards."""

    mine: int  # the discs of the player to move
    theirs: int
    my_threats: int
    their_threats: int


@dataclass(frozen=True)
class ThreatView(ProofView[State]):
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

    @cached_property
    def tops(self) -> int:
        """The bits above the columns."""
        return self.bottom << self.rows

    # ---------------------------------------------------------------- rules
    def initial(self) -> State:
        """Return the empty board."""
        return State(0, 0, 0, 0)

    def convert(self, s: Board) -> State:
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
        """Return whether the discs contain a four."""
        return has_four(discs, self.height)

    # ---------------------------------------------------------------- knowledge
    def bounds(self, s: State) -> Bounds:
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
            moves = s.my_threats & drops
        elif moves == 0 or without_lowest(forced):
            low = high = -(left >> 1)  # 0 on the full board
        if self.player(s):
            low, high = -high, -low
        if low < high and not self.rows & 1:
            low, high = max(low, self.at_least(s, drops)), min(high, self.claim_even(s, drops))
        return Bounds(low, high, moves)

    def claim_even(self, s: State, drops: int) -> int:
        """Return an upper bound of the score, if player 1 answers every move in the same column."""
        first, second, threats = s.mine, s.theirs, s.their_threats
        if self.player(s):
            first, second, threats = s.theirs, s.mine, s.my_threats
        empty, odd = self.full & ~(first | second), drops & self.even_rows
        shared = odd if without_lowest(odd) else 0  # a single one is hers: it is her turn
        barred = self.upward(threats & self.even_rows & ~drops)
        if self.has_won(first | (empty & ~self.even_rows | shared) & ~barred):
            return self.cells
        return -1 if self.has_won(second | empty & self.even_rows & ~shared) else 0

    def at_least(self, s: State, drops: int) -> int:
        """Return a lower bound of the score: 0 if player 1 can make no four, more by the last word of player 0."""
        empty, odd = self.full & ~(s.mine | s.theirs), self.player(s)
        if odd and s.their_threats & ~self.even_rows & self.upward(drops & self.even_rows):
            score = self.last_word(s, drops & self.even_rows, drops)
            if score > 0:
                return score
        return -self.cells if self.has_won((s.mine if odd else s.theirs) | empty) else 0

    def last_word(self, s: State, odd: int, drops: int) -> int:
        """Return the least that player 0 gets if he has the last word in one of the columns of the drops, or 0."""
        free = self.full & ~(s.mine | s.theirs | self.even_rows) | odd
        free &= ~self.upward(s.their_threats & self.even_rows & ~drops)
        left = odd
        while left:
            drop, left = left & -left, without_lowest(left)
            column = self.upward(drop)
            threats = s.their_threats & column & ~self.even_rows
            below = (threats & -threats) - drop
            if threats and not self.has_won(s.mine | free & ~column | below & self.even_rows):
                return (popcount(column) - popcount(below) + 1) >> 1
        return 0

    def upward(self, cells: int) -> int:
        """Return the lowest of the cells in each column and all above it: what x | -x is to a column's bits x."""
        return (cells | self.tops - cells) & self.full

    def ordering_score(self, s: State) -> int:
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
