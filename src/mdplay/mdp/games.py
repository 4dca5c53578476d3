"""A game against a fixed opponent as an MDP.

Every state of the game's graph is a state of the MDP, in the same order.  The player's own edges are its
choices; a state in which the opponent or chance moves has one choice, action 0, with all edges as transitions.
Terminal states have value 0; the result of the game is the reward for entering them.

With a discount below 1 a step of the MDP is a decision of the player with everything that follows until its next
decision, as in Gymnasium: the moves of the opponent and of chance take no time, and the rewards on the way are not
discounted.  Every choice then leads to decisions of the player and to terminal states only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mdplay.errors import GameError
from mdplay.mdp.arrays import UNIT, largest
from mdplay.mdp.expectation import expected_rewards
from mdplay.mdp.model import Model
from mdplay.states.graph import CHANCE, END, GameGraph
from mdplay.states.walks import Floats, lengths

MAX_EVENTS = 10_000  # moves of the opponent and of chance between two decisions that are followed
NEGLIGIBLE = 2.0**-60  # the probability that remains after MAX_EVENTS must be below this


@dataclass(frozen=True)
class Score:
    """The value of the end of a game to a player who won, drew or lost."""

    win: float = 1.0
    draw: float = 0.0
    loss: float = -1.0


def mdp_of(
    graph: GameGraph, player: int, weights: Floats, *, score: Score | None = None, discount: float = 1.0
) -> Model:
    """Return the MDP of a player against an opponent who takes edge e with probability ``weights[e]``."""
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
    model = Model(
        first_choice=np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(choices)]),
        action=np.where(is_own, graph.action, 0)[starts],
        first_transition=first,
        target=graph.target,
        probability=choice,
        reward=expected_rewards(first, gains, choice),
        reward_error=error,
    )
    return model if discount == 1.0 else by_decision(model, own | (graph.kind == END), discount)


def by_decision(model: Model, keeps: npt.NDArray[np.bool_], discount: float) -> Model:
    """Return the discounted MDP in which a step ends at the next state of ``keeps``.

    A state that is not kept has at most one choice.  Raise GameError if play can go on without end between two
    kept states.
    """
    from scipy.sparse import csr_array  # for start-up

    shape = (model.num_choices, model.num_states)
    rows = csr_array((model.probability, model.target, model.first_transition), shape=shape)
    passed = np.flatnonzero(~keeps)
    inner = model.first_choice[passed].astype(np.int64)  # the only choice of each state that is passed through
    paths, earned = rows[inner][:, passed], model.reward[inner]
    ends, gains, rest, depth = rows[inner][:, keeps], earned.copy(), paths, 1
    onward, added = ends.copy(), earned
    while rest.nnz and rest.sum(axis=1).max() > NEGLIGIBLE:
        if (depth := depth + 1) > MAX_EVENTS:
            raise GameError(
                f"the opponent and chance can move more than {MAX_EVENTS:,} times between two decisions; "
                "a discount needs decisions, use discount=1"
            )
        onward, added = paths @ onward, paths @ added
        ends, gains, rest = ends + onward, gains + added, rest @ paths
    into = rows[:, passed]
    found = csr_array(rows[:, keeps] + into @ ends)
    found.sum_duplicates()
    error = model.reward_error + 4.0 * depth * UNIT * largest(model.reward)
    return Model(
        first_choice=model.first_choice,
        action=model.action,
        first_transition=found.indptr,
        target=np.flatnonzero(keeps)[found.indices],
        probability=found.data,
        reward=model.reward + into @ gains,
        discount=discount,
        reward_error=error * depth,
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
