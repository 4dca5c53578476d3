"""A game against a fixed opponent as an MDP.

Every state of the game's graph is a state, in the same order.  The player's own edges are its choices; where the
opponent or chance moves there is one choice, action 0, with all edges as transitions.  The ends are terminal:
their value is earned on entering them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mdplay.mdp.arrays import UNIT, largest
from mdplay.mdp.expectation import expected_rewards
from mdplay.mdp.model import Model
from mdplay.states.graph import CHANCE, END, GameGraph
from mdplay.states.walks import Floats, lengths


@dataclass(frozen=True)
class Score:
    """The value of the end of a game to a player who won, drew or lost."""

    win: float = 1.0
    draw: float = 0.0
    loss: float = -1.0


def mdp_of(
    graph: GameGraph, player: int, weights: Floats, *, score: Score | None = None, discount: float = 1.0
) -> Model:
    """Return the MDP of a player against an opponent who takes edges with these probabilities."""
    own = graph.kind == player
    is_own = own[graph.owner]
    others = (
        np.where(graph.kind[graph.owner] == CHANCE, graph.chance, weights) if graph.game.has_outcomes else weights
    )
    choice, begins = np.where(is_own, 1.0, others), is_own.copy()
    begins[graph.first_edge[:-1][lengths(graph.first_edge) > 0].astype(np.int64)] = True
    starts = np.flatnonzero(begins)
    first = np.append(starts, len(graph.target))
    gains, error = _gains(graph, player, score)
    choices = np.where(own, lengths(graph.first_edge), lengths(graph.first_edge) > 0)
    return Model(
        first_choice=np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(choices)]),
        action=np.where(is_own, graph.action, 0)[starts],
        first_transition=first,
        target=graph.target,
        probability=choice,
        reward=expected_rewards(first, gains, choice),
        discount=discount,
        reward_error=error,
    )


def _gains(graph: GameGraph, player: int, score: Score | None) -> tuple[Floats, float]:
    """Return what each edge earns a player, the value of an end included, and by how much that may be off."""
    sign = 1.0 - 2.0 * player
    result = sign * graph.result
    if score is not None:
        result = np.where(result > 0.0, score.win, np.where(result < 0.0, score.loss, score.draw))
    final: Floats = np.where(graph.kind == END, result[: graph.num_states], 0.0)[graph.target]
    if not graph.game.has_reward:
        return final, 0.0
    points = sign * graph.points
    gains: Floats = points + final
    rounded = (gains - points != final) | (gains - final != points)
    return gains, 2.0 * UNIT * largest(gains[rounded])
