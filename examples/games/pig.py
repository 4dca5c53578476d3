"""Pig: roll a die as often as you like and add up; a 1 loses the turn and its total, hold banks it."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from mdplay import Between, Game

HOLD, ROLL = 0, 1


class State(NamedTuple):
    """The score, and what the turn has brought so far."""

    first: int  # points in the bank of player 0
    second: int
    total: int  # of this turn
    rolling: bool  # the die is in the air: chance moves
    player: int


@dataclass(frozen=True)
class Pig(Game[State]):
    """Whoever has the target first wins."""

    target: Annotated[int, Between(2, 1000)] = 100
    faces: Annotated[int, Between(2, 20)] = 6

    def initial(self) -> State:
        """Return empty banks."""
        return State(0, 0, 0, False, 0)

    def legal(self, s: State) -> int:
        """Roll always, hold once there is something to hold; a bank that is full ends the game."""
        if max(s.first, s.second) >= self.target:
            return 0
        return 1 << ROLL | (1 << HOLD if s.total else 0)

    def step(self, s: State, action: int) -> State:
        """Throw the die, or bank the total."""
        if action == ROLL:
            return State(s.first, s.second, s.total, True, s.player)
        if s.player:
            return State(s.first, min(self.target, s.second + s.total), 0, False, 0)
        return State(min(self.target, s.first + s.total), s.second, 0, False, 1)

    def outcomes(self, s: State) -> int:
        """Return the faces of a die in the air: outcome i is the face i + 1."""
        return (1 << self.faces) - 1 if s.rolling else 0

    def outcome(self, s: State, i: int) -> State:
        """Return what a face does."""
        if i == 0:
            return State(s.first, s.second, 0, False, 1 - s.player)
        return State(s.first, s.second, min(self.target, s.total + i + 1), False, s.player)

    def probability(self, s: State, i: int) -> float:
        """Return that of every face."""
        return 1.0 / self.faces

    def result(self, s: State) -> int:
        """Return 1 if the bank of player 0 is full."""
        return 1 if s.first >= self.target else -1

    # ---------------------------------------------------------------- words for people
    def move_text(self, s: State, action: int) -> str:
        """Return hold or roll."""
        return "roll" if action == ROLL else "hold"

    def outcome_text(self, s: State, i: int) -> str:
        """Return the face that came."""
        return f"rolled-{i + 1}"

    def board(self, s: State) -> str:
        """Tell the banks and the turn."""
        return f"bank {s.first} : {s.second}, this turn {s.total}{', rolling' if s.rolling else ''}"
