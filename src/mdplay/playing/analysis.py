"""What an agent thinks of a position: the move it would make, and what each move is worth, as far as it knows.

A value is what the rest of the game is worth to the player to move.  It is *exact* if it follows from the rules (a
solution, a proven node of a search), else an *estimate*.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mdplay.game import Game
from mdplay.playing.agents import Agent, blaming, choose
from mdplay.rng import Random
from mdplay.searching.result import SearchAgent


class MoveValue(NamedTuple):
    """The value of a move, and whether that is exact."""

    value: float
    exact: bool

    def __str__(self) -> str:
        return f"exact {self.value:+.6g}" if self.exact else f"estimate {self.value:+.3g}"


@dataclass(frozen=True)
class Analysis:
    """A move, and what the moves are worth; empty if the agent does not know."""

    action: int
    values: dict[int, MoveValue] = field(default_factory=dict)

    @property
    def ranked(self) -> list[tuple[int, MoveValue]]:
        """The moves by their value, the best first."""
        return sorted(self.values.items(), key=lambda pair: -pair[1].value)


def analyse(agent: Agent, name: str, game: Game[Any], state: Any, *, seed: int = 0) -> Analysis:
    """Ask an agent about a position in which a player moves; raise AgentError if it fails."""
    with blaming(name, game, state):
        if isinstance(agent, SearchAgent):
            found = agent.search(state, seed=seed)
            return Analysis(
                found.action, {move.action: MoveValue(move.value, move.proven) for move in found.moves}
            )
        if hasattr(agent, "values"):
            exact = bool(getattr(agent, "exact", False))
            values = {action: MoveValue(value, exact) for action, value in agent.values(state).items()}
            return Analysis(max(values, key=lambda action: values[action].value), values)
    return Analysis(choose(agent, name, game, state, Random(seed)))
