"""Real games with one rule broken each: ``check_game`` must find the fault and name it in one sentence."""

from dataclasses import dataclass

import pytest

from mdplay.bits import U64, below, nth, popcount
from mdplay.checking.check import check_game
from mdplay.errors import GameError
from mdplay.games.connect_four import rules as connect_four
from mdplay.games.dots_and_boxes import rules as dots_and_boxes
from mdplay.games.qubic import rules as qubic
from mdplay.games.tic_tac_toe import rules as tic_tac_toe
from mdplay.games.twenty48 import rules as twenty48
from tests.helpers import COMPILED


@dataclass(frozen=True)
class LosesLines(dots_and_boxes.DotsAndBoxes):
    def step(self, s: dots_and_boxes.State, action: int) -> dots_and_boxes.State:
        return dots_and_boxes.State(1 << action, 1 - s.player)


@dataclass(frozen=True)
class KeepsTheTurn(connect_four.ConnectFour):
    def step(self, s: connect_four.State, action: int) -> connect_four.State:
        foot = action * (self.rows + 1)
        disc = ((s.mine | s.theirs) + (1 << foot)) & ((1 << self.rows) - 1 << foot)
        return connect_four.State(s.mine | disc, s.theirs, s.player)

    def result(self, s: connect_four.State) -> int:
        return 1 if self.has_won(s.mine) else 0

    def legal(self, s: connect_four.State) -> int:
        free, mask = ~(s.mine | s.theirs), 0
        for c in range(self.cols):
            mask |= (free >> (c * (self.rows + 1) + self.rows - 1) & 1) << c
        return mask

    def text(self, s: connect_four.State) -> str:
        return f"{s.mine}"

    def parse(self, text: str) -> connect_four.State:
        return connect_four.State(int(text), 0, 0)


@dataclass(frozen=True)
class MarksATakenCell(tic_tac_toe.TicTacToe):
    def legal(self, s: tic_tac_toe.State) -> int:
        return 0 if self.has_line(s.theirs) or s.mine | s.theirs == self.full else self.full & ~s.theirs


@dataclass(frozen=True)
class FullColumnsOpen(connect_four.ConnectFour):
    def legal(self, s: connect_four.State) -> int:
        over = self.has_won(s.theirs) or popcount(s.mine | s.theirs) == self.rows * self.cols
        return 0 if over else (1 << self.cols) - 1


@dataclass(frozen=True)
class NeverEnds(tic_tac_toe.TicTacToe):
    def step(self, s: tic_tac_toe.State, action: int) -> tic_tac_toe.State:
        if s.mine | s.theirs | 1 << action == self.full:
            return tic_tac_toe.State(0, 0, 0)
        return tic_tac_toe.State(s.theirs, s.mine | 1 << action, 1 - s.player)


@dataclass(frozen=True)
class TooManyFours(twenty48.Twenty48):
    def probability(self, s: twenty48.State, i: int) -> float:
        return (0.2 if i & 1 else 0.9) * 2.0 / popcount(self.outcomes(s))


@dataclass(frozen=True)
class DrawsNoFours(twenty48.Twenty48):
    def draw(self, s: twenty48.State, word: U64) -> int:
        free = self.outcomes(s) & twenty48.ONES
        return nth(free, below(word, popcount(free)))


@dataclass(frozen=True)
class ShiftIsNoSymmetry(connect_four.ConnectFour):
    def mirror(self, discs: int) -> int:
        height = self.rows + 1
        return discs >> height | (discs & self.column) << (self.cols - 1) * height


@dataclass(frozen=True)
class OneWrongSymmetry(qubic.Qubic):
    def image(self, s: qubic.State, k: int) -> qubic.State:
        if k == 101:
            return qubic.State(s.mine >> 1 | (s.mine & 1) << 63, s.theirs >> 1 | (s.theirs & 1) << 63, s.player)
        return qubic.State(self.moved(s.mine, k), self.moved(s.theirs, k), s.player)


@dataclass(frozen=True)
class TurnsThePlayers(dots_and_boxes.DotsAndBoxes):
    def image(self, s: dots_and_boxes.State, k: int) -> dots_and_boxes.State:
        return dots_and_boxes.State(s.lines, s.player if k == 0 else 1 - s.player)


@dataclass(frozen=True)
class NumbersTwice(dots_and_boxes.DotsAndBoxes):
    def index(self, s: dots_and_boxes.State) -> int:
        return s.lines & ~2


@dataclass(frozen=True)
class BeyondTheTable(dots_and_boxes.DotsAndBoxes):
    def size(self) -> int:
        return self.full


@dataclass(frozen=True)
class GrowsOutOfTheWord(tic_tac_toe.TicTacToe):
    def step(self, s: tic_tac_toe.State, action: int) -> tic_tac_toe.State:
        return tic_tac_toe.State(s.theirs, s.mine | 1 << action * 9, 1 - s.player)


@dataclass(frozen=True)
class ForgetsWhoMoves(tic_tac_toe.TicTacToe):
    def text(self, s: tic_tac_toe.State) -> str:
        return f"{s.mine | s.theirs:09b}"


BUGS = [
    (LosesLines(), "action .* in .* is not what the scoring sets promise"),
    (
        KeepsTheTurn(),
        "the second player .player == 1. never moved in 6 random games; does step change the player?",
    ),
    (MarksATakenCell(), "parse reads .* it was the text of"),
    (FullColumnsOpen(2, 3), "parse reads .* it was the text of"),
    (NeverEnds(2, 2, 3), "a random game did not end within 500 moves"),
    (TooManyFours(), "the probabilities sum to 1.1, not 1, in 0000000000000000"),
    (DrawsNoFours(), "draw gave outcome .* 0 of 2000 times, its probability is 0.00625"),
    (ShiftIsNoSymmetry(), "symmetry 1 is none: .* end with different results"),
    (OneWrongSymmetry(), "symmetry 101 is none: .* end with different results"),
    (TurnsThePlayers(), "symmetry 1 is none: .* have different players to move"),
    (NumbersTwice(), "action .* in .* is not what the scoring sets promise"),
    (BeyondTheTable(), "a game with scoring sets has 2\\*\\*n states"),
    (GrowsOutOfTheWord(), "does not fit the annotated int"),
    (ForgetsWhoMoves(), "parse reads .* it was the text of"),
]


@pytest.mark.parametrize("game, sentence", BUGS, ids=[type(game).__name__ for game, _ in BUGS])
def test_a_planted_bug_is_found_and_named(game, sentence):
    with pytest.raises(GameError, match=sentence) as caught:
        check_game(game, games=6, max_moves=500, compiled=False)
    assert "\n" not in str(caught.value)


@dataclass(frozen=True)
class WrapsAround(tic_tac_toe.TicTacToe):
    """A shift that is exact in Python and wraps at 64 bits when compiled."""

    def legal(self, s: tic_tac_toe.State) -> int:
        if self.has_line(s.theirs) or (s.mine + 1) << 62 >> 62 != s.mine + 1:
            return 0
        return self.full & ~(s.mine | s.theirs)


@pytest.mark.skipif(not COMPILED, reason="needs the compiler")
def test_rules_that_mean_something_else_compiled_are_found():
    with pytest.raises(GameError, match=r"legal is \[\] compiled but \[.*\] in plain Python"):
        check_game(WrapsAround(), games=2)
