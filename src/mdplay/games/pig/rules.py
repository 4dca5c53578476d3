"""Pig: roll a die as often as you dare; a 1 loses what the turn has brought, holding keeps it.

The mover rolls (action 0) or holds (action 1).  A roll of 2 to 6 is added to the turn's total; a 1 ends the turn
with nothing.  A player who holds adds the total to the score, and wins at once with ``goal`` points or more.  A
turn begins with a roll.  Outcome i is the roll i + 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import mdplay.svg as draw
from mdplay.errors import PositionError
from mdplay.game import Between, Game

ROLL, HOLD = 0, 1
SIDES = 6
STEPS = 21  # of a cell: a twentieth of the goal, or two points of a turn
WIDTH, HEIGHT = 320, 190


class State(NamedTuple):
    """Two scores, the total of the turn, and whether the die is in the air."""

    mine: int  # the score of the player to move
    theirs: int
    turn: int
    rolling: int
    player: int


@dataclass(frozen=True)
class Pig(Game[State]):
    """The first to ``goal`` points wins."""

    goal: Annotated[int, Between(2, 500)] = 100

    def initial(self) -> State:
        """Return the start, without points."""
        return State(0, 0, 0, 0, 0)

    def legal(self, s: State) -> int:
        """Return roll, and hold once the turn has a total; nothing when the goal is reached, or the die rolls."""
        if s.rolling or s.theirs >= self.goal:
            return 0
        return 0b11 if s.turn else 0b01

    def step(self, s: State, action: int) -> State:
        """Throw the die, or pass it on with the total kept."""
        if action == ROLL:
            return State(s.mine, s.theirs, s.turn, 1, s.player)
        return State(s.theirs, s.mine + s.turn, 0, 0, 1 - s.player)

    def result(self, s: State) -> int:
        """Return +1 if player 0 has won, else -1: the one who has just held."""
        return 2 * s.player - 1

    # ---------------------------------------------------------------- the die
    def outcomes(self, s: State) -> int:
        """Return the six rolls while the die is in the air."""
        return (1 << SIDES) - 1 if s.rolling else 0

    def outcome(self, s: State, i: int) -> State:
        """Add the roll, pass the die on after a 1, or end the game at the goal."""
        if i == 0:
            return State(s.theirs, s.mine, 0, 0, 1 - s.player)
        total = s.turn + i + 1
        if s.mine + total >= self.goal:
            return State(s.theirs, self.goal, 0, 0, 1 - s.player)
        return State(s.mine, s.theirs, total, 0, s.player)

    def probability(self, s: State, i: int) -> float:
        """Return a sixth."""
        return 1.0 / SIDES

    # ---------------------------------------------------------------- cells
    @property
    def num_cells(self) -> int:
        """The score of each player, and the turn."""
        return 3

    @property
    def cell_values(self) -> int:
        """Steps of a score towards the goal; the total of a turn while the die rolls."""
        return STEPS

    def cell(self, s: State, i: int) -> int:
        """Return a score in steps, as near ones have nearly the same value; or 0, and a roll's total from 1 on."""
        if i == 2:
            return s.rolling * min(s.turn // 2 + 1, STEPS - 1)
        return (s.mine if i == s.player else s.theirs) * (STEPS - 1) // self.goal

    # ---------------------------------------------------------------- words for people
    def parse(self, text: str) -> State:
        """Read ``mine-theirs+turn``, a star while the die rolls, then ``x`` or ``o`` for the player."""
        head, player = text.strip()[:-1], text.strip()[-1:]
        rolling, head = int(head.endswith("*")), head.removesuffix("*")
        numbers = head.replace("-", "+").split("+")
        if player not in ("x", "o") or len(numbers) != 3 or not all(n.isdecimal() for n in numbers):
            raise PositionError(f"{text!r} is not a position: give mine-theirs+turn and x or o, as 31-40+12x")
        mine, theirs, turn = map(int, numbers)
        if mine + turn >= self.goal or theirs > self.goal or turn == 1 or (theirs == self.goal and turn + rolling):
            raise PositionError(
                f"{text!r} cannot be reached: the game is to {self.goal}, a turn brings 0 or 2 and more"
            )
        return State(mine, theirs, turn, rolling, "xo".index(player))

    def text(self, s: State) -> str:
        """Return the scores and the turn, as ``parse`` reads them; a rolling die has a star."""
        return f"{s.mine}-{s.theirs}+{s.turn}{'*' if s.rolling else ''}{'xo'[s.player]}"

    def move_text(self, s: State, action: int) -> str:
        """Return roll or hold."""
        return ("roll", "hold")[action]

    def outcome_text(self, s: State, i: int) -> str:
        """Return the roll after a star."""
        return f"*{i + 1}"

    def board(self, s: State) -> str:
        """Show both scores and the turn."""
        first, second = (s.theirs, s.mine) if s.player else (s.mine, s.theirs)
        turn = "the die rolls" if s.rolling else f"this turn {s.turn}"
        return f"player 1: {first}\nplayer 2: {second}\nplayer {s.player + 1} to move, {turn}; goal {self.goal}"

    def svg(self, s: State) -> str:
        """Draw two bars towards the goal, and a die to click."""
        first, second = (s.theirs, s.mine) if s.player else (s.mine, s.theirs)
        shapes = [draw.rect(0, 0, WIDTH, HEIGHT, "panel", 10)]
        for row, (score, kind) in enumerate(zip((first, second), draw.PLAYERS, strict=True)):
            y, ours = 16 + 40 * row, row == s.player
            shapes.append(draw.rect(12, y, 230, 28, "hole", 6))
            scale = 230 / self.goal
            shapes.append(draw.rect(12, y, min(230, score * scale), 28, kind, 6))
            if ours and s.turn:
                shapes.append(draw.rect(12 + score * scale, y, s.turn * scale, 28, f"{kind} tint", 6))
            shapes.append(
                draw.label(280, y + 14, f"{score}{f' + {s.turn}' if ours and s.turn else ''}", "ink", 16)
            )
        for action, x in ((ROLL, 80), (HOLD, 220)):
            if self.legal(s) >> action & 1:
                name = self.move_text(s, action)
                shape = draw.rect(x - 60, 116, 120, 50, "hole", 8) + draw.label(x - 28, 141, name, "ink", 18)
                target = draw.rect(x - 60, 116, 120, 50, "open", 8)
                shapes.append(draw.move(action, name, shape, target, at=(x + 26, 141, 20)))
        return draw.picture(WIDTH, HEIGHT, shapes, self.board(s))
