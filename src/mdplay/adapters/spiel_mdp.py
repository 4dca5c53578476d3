"""Games of OpenSpiel as MDPs: every state that a player meets against a fixed opponent.

model, number = mdp_of(pyspiel.load_game("tic_tac_toe"))
plan(model).value[number[str(state)]]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mdplay.adapters.spaces import library
from mdplay.errors import GameError, LimitError
from mdplay.mdp.process import MDP

if TYPE_CHECKING:
    import pyspiel
else:
    pyspiel = library("pyspiel")

MAX_STATES = 1_000_000
Policy = Callable[[Any], Mapping[int, float]]  # from a state of theirs to the probabilities of actions


def uniform(state: Any) -> dict[int, float]:
    """Play every legal action with equal probability."""
    actions = state.legal_actions()
    return {action: 1.0 / len(actions) for action in actions}


def mdp_of(
    game: Any,
    *,
    player: int = 0,
    opponent: Policy = uniform,
    discount: float = 1.0,
    key: Callable[[Any], Any] = str,
    max_states: int = MAX_STATES,
) -> tuple[MDP, dict[Any, int]]:
    """Return what a player of an OpenSpiel game faces, and the number of each state by its key.

    States are those in which the player moves; the last number is the end.  ``key`` tells states apart: by their
    text, unless a game's text leaves something out.  A reward is what the player's return rises by.
    """
    if game.get_type().dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
        raise GameError("an MDP needs a game in which players move one after the other")
    return _Walk(player, opponent, key, max_states).mdp(game, discount)


class _Walk:
    """All states in which the player moves, breadth first, numbered as they are met."""

    def __init__(self, player: int, opponent: Policy, key: Callable[[Any], Any], most: int) -> None:
        self.player, self.opponent, self.key, self.most = player, opponent, key, most
        self.number: dict[Any, int] = {}
        self.waiting: list[Any] = []
        self.rows: list[tuple[int, int, int, float, float]] = []

    def mdp(self, game: Any, discount: float) -> tuple[MDP, dict[Any, int]]:
        for _, state in self._next_turns(game.new_initial_state(), 1.0):
            self._numbered(state)
        done = 0
        while done < len(self.waiting):
            self._expand(done, self.waiting[done])
            self.waiting[done] = None
            done += 1
        end = len(self.number)
        columns = zip(*((s, a, end if t < 0 else t, r, p) for s, a, t, r, p in self.rows), strict=True)
        made = MDP.from_transitions(*map(np.array, columns), num_states=end + 1, discount=discount)
        return made, self.number

    def _expand(self, number: int, state: Any) -> None:
        before = state.returns()[self.player]
        for action in state.legal_actions():
            for probability, follower in self._next_turns(state.child(action), 1.0):
                target = -1 if follower.is_terminal() else self._numbered(follower)
                gain = follower.returns()[self.player] - before
                self.rows.append((number, action, target, gain, probability))

    def _next_turns(self, state: Any, probability: float) -> Iterator[tuple[float, Any]]:
        """Yield the states in which the player moves next, and ends, with their probabilities."""
        if state.is_terminal() or state.current_player() == self.player:
            yield probability, state
            return
        choices = state.chance_outcomes() if state.is_chance_node() else self.opponent(state).items()
        for action, share in choices:
            if share > 0:
                yield from self._next_turns(state.child(action), probability * share)

    def _numbered(self, state: Any) -> int:
        key = self.key(state)
        if key not in self.number:
            if len(self.number) >= self.most:
                raise LimitError(f"the game has more than {self.most:,} states; raise max_states")
            self.number[key] = len(self.number)
            self.waiting.append(state)
        return self.number[key]
