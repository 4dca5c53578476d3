"""How often an agent's moves keep the exact value, over positions from random games.

A move keeps the value when no other is worth more, within 1e-9 * max(1, |best|).  What moves are worth is asked
of an *oracle*: any agent with ``values(state) -> {action: value}`` for the player to move.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from mdplay.bits import nonempty, popcount
from mdplay.checking.broken import ENDLESS, check_kept
from mdplay.checking.limits import MAX_MOVES, move_limit
from mdplay.checking.promises import hold_promises
from mdplay.errors import LimitError, UnknownName
from mdplay.game import Game
from mdplay.playing.agents import make_agent
from mdplay.position import as_state
from mdplay.rng import Random

TOLERANCE = 1e-9
TRIES = 100  # games in a row without a new position, before the game counts as exhausted


@runtime_checkable
class Oracle(Protocol):
    """Whoever knows what moves are worth."""

    def values(self, state: Any) -> dict[int, float]:
        """Return the exact value of every move to the player to move."""


class Player(Protocol):
    """Whoever chooses moves."""

    def act(self, state: Any, rng: Random) -> int:
        """Return a legal action."""


class ProofOracle:
    """Proves every position it is asked about: for games too large for a table of all positions."""

    def __init__(self, game: Game[Any]) -> None:
        from mdplay.solving.proof.prover import Prover

        self._prover = Prover(game)

    def values(self, state: Any) -> dict[int, float]:
        """Return the exact value of every move to the player to move."""
        return {choice.action: choice.low for choice in self._prover.choices(state)}


@dataclass(frozen=True)
class Accuracy:
    """The share of positions in which the agent kept the exact value; ``lost`` are the others."""

    positions: int
    kept: int
    lost: tuple[str, ...]

    @property
    def share(self) -> float:
        """The share of positions in which the value was kept."""
        return self.kept / self.positions

    @property
    def standard_error(self) -> float:
        """The standard error of the share."""
        return math.sqrt(self.share * (1.0 - self.share) / self.positions)

    def document(self) -> dict[str, Any]:
        """Return the statistics for JSON."""
        counts = {"positions": self.positions, "kept": self.kept, "share": self.share}
        return {**counts, "standard_error": self.standard_error, "lost": list(self.lost)}


def keeps_value(values: dict[int, float], action: int) -> bool:
    """Tell whether no move is worth more than the action."""
    best = max(values.values())
    return values[action] >= best - TOLERANCE * max(1.0, abs(best))


def measure_accuracy(
    game: Game[Any],
    agent: Player | str,
    oracle: Oracle | str = "perfect",
    states: Iterable[Any] | None = None,
    *,
    count: int = 200,
    seed: int = 0,
) -> Accuracy:
    """Ask the agent for a move in every state and compare with what the oracle knows.

    Both may be named; the oracle ``proof`` proves each position.  By default the states are ``count`` of those
    that random games meet.
    """
    player = make_agent(game, agent) if isinstance(agent, str) else agent
    knower = named_oracle(game, oracle) if isinstance(oracle, str) else oracle
    asked = sample_states(game, count, seed=seed) if states is None else [as_state(game, s) for s in states]
    lost = [
        game.text(s)
        for number, s in enumerate(asked)
        if not keeps_value(knower.values(s), player.act(s, Random(seed, number)))
    ]
    return Accuracy(len(asked), len(asked) - len(lost), tuple(lost))


def named_oracle(game: Game[Any], name: str) -> Oracle:
    """Return ``proof``, or an agent that knows what moves are worth; raise UnknownName if it does not."""
    found = ProofOracle(game) if name == "proof" else make_agent(game, name)
    if not isinstance(found, Oracle):
        raise UnknownName(f"agent {name} does not know what moves are worth; choose one that does, as perfect")
    return found


def sample_states(game: Game[Any], count: int, *, seed: int = 0) -> list[Any]:
    """Return different states with a choice of moves, met in random games; fewer if the game has no more."""
    hold_promises(game)
    found: dict[Any, None] = {}
    fruitless = number = 0
    while len(found) < count and fruitless < TRIES:
        known = len(found)
        for s in _random_game(game, Random(seed, number)):
            if popcount(game.legal(s)) > 1 and len(found) < count:
                found[s] = None
        fruitless = 0 if len(found) > known else fruitless + 1
        number += 1
    if not found:
        raise LimitError("random games met no position with a choice of moves")
    return list(found)


def critical_states(game: Game[Any], oracle: Oracle, count: int, *, seed: int = 0) -> dict[Any, dict[int, float]]:
    """Return states of random games in which not every move keeps the value, and what their moves are worth.

    Each game gives one state, of any depth; fewer states if so many games in a row gave none that is new.
    """
    hold_promises(game)
    found: dict[Any, dict[int, float]] = {}
    fruitless = number = 0
    while len(found) < count and fruitless < TRIES:
        rng = Random(seed, number)
        states, known = [s for s in _random_game(game, rng) if popcount(game.legal(s)) > 1], len(found)
        number += 1
        if states and (s := states[rng.below(len(states))]) not in found:
            values = oracle.values(s)
            if not all(keeps_value(values, action) for action in values):
                found[s] = values
        fruitless = 0 if len(found) > known else fruitless + 1
    if not found:
        raise LimitError("random games met no position in which a move loses value")
    return found


def _random_game(game: Game[Any], rng: Random) -> Iterator[Any]:
    """Yield the states of a random game in which a player moves."""
    s = game.initial()
    limit = move_limit(game)
    for _ in range(limit):
        if nonempty(game.outcomes(s)):
            s = game.outcome(s, game.draw(s, rng.word()))
        elif nonempty(game.legal(s)):
            yield s
            s = game.step(s, rng.pick(game.legal(s)))
        else:
            return
    if limit == MAX_MOVES:
        check_kept(game, ENDLESS, MAX_MOVES)
