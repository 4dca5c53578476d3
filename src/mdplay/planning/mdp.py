"""`MDP`: a model with a door for every form that other programs keep MDPs in.

A game against a fixed opponent as an MDP.

Every state of the game's graph is a state of the MDP, in the same order.  The player's own edges are its
choices; a state in which the opponent or chance moves has one choice, action 0, with all edges as transitions.
Terminal states have value 0; the result of the game is the reward for entering them.

With a discount below 1 a step of the MDP is a decision of the player with everything that follows until its next
decision, as in Gymnasium: the moves of the opponent and of chance take no time, and the rewards on the way are not
discounted.  Every choice then leads to decisions of the player and to terminal states only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from mdplay.errors import GameError
from mdplay.planning.arrays import UNIT, Transitions, assemble, expected_rewards, largest
from mdplay.planning.formats import cs747, explicit, tables
from mdplay.planning.formats import explicit as umb
from mdplay.planning.model import Model
from mdplay.states.graph import CHANCE, END, GameGraph
from mdplay.states.graph_search import Floats, lengths


class MDP(Model):
    """A finite MDP; see `mdplay.planning.model` for its arrays, which must not be changed afterwards."""

    @classmethod
    def _of(cls, model: Model) -> Self:
        """Return a model as an MDP; its arrays were checked when it was made, and are shared."""
        mdp = cls.__new__(cls)
        vars(mdp).update(vars(model))
        return mdp

    @classmethod
    def from_transitions(
        cls,
        state: npt.ArrayLike,
        action: npt.ArrayLike,
        target: npt.ArrayLike,
        reward: npt.ArrayLike,
        probability: npt.ArrayLike,
        *,
        num_states: int,
        discount: float,
        minimise: bool = False,
        keep_rewards: bool = False,
    ) -> Self:
        """Return the MDP of transitions in any order; repeated ones are added up.

        ``keep_rewards`` keeps the reward of every transition beside the expectation of each choice.
        """
        transitions = Transitions(state, action, target, reward, probability)
        model = assemble(
            transitions, num_states=num_states, discount=discount, minimise=minimise, keep_rewards=keep_rewards
        )
        return cls._of(model)

    @classmethod
    def from_cs747(cls, path: str | Path, *, keep_rewards: bool = False) -> Self:
        """Return the MDP in a text file of the CS747 course."""
        return cls._of(cs747.read_mdp(path, keep_rewards=keep_rewards))

    def to_cs747(self, path: str | Path) -> None:
        """Write the MDP as a text file of the CS747 course."""
        cs747.write_mdp(self, path)

    @classmethod
    def from_nested(cls, nested: Sequence[Sequence[Any]], *, discount: float, minimise: bool = False) -> Self:
        """Return the MDP of ``nested[state][action] = [[target, reward, probability], ...]``.

        An empty list is an action that is not available; a state without any action is terminal.
        """
        return cls._of(tables.from_nested(nested, discount=discount, minimise=minimise))

    def to_nested(self) -> list[list[list[list[float]]]]:
        """Return ``nested[state][action] = [[target, reward, probability], ...]``."""
        return tables.to_nested(self)

    @classmethod
    def from_dense(
        cls, probability: npt.ArrayLike, reward: npt.ArrayLike, *, discount: float, minimise: bool = False
    ) -> Self:
        """Return the MDP of ``probability[action, state, target]``.

        The rewards are ``[state]``, ``[state, action]`` or ``[action, state, target]``.  A row of zeros is an
        action that is not available.
        """
        return cls._of(tables.from_dense(probability, reward, discount=discount, minimise=minimise))

    def to_dense(self) -> tuple[Floats, Floats]:
        """Return ``probability[action, state, target]`` and ``reward[state, action]``."""
        return tables.to_dense(self)

    @classmethod
    def from_matrices(
        cls, matrices: Sequence[Any], reward: npt.ArrayLike, *, discount: float, minimise: bool = False
    ) -> Self:
        """Return the MDP of one scipy sparse matrix ``[state, target]`` an action.

        The rewards are ``[state]`` or ``[state, action]``.
        """
        return cls._of(tables.from_matrices(matrices, reward, discount=discount, minimise=minimise))

    @classmethod
    def from_pairs(
        cls,
        state: npt.ArrayLike,
        action: npt.ArrayLike,
        probability: Any,
        reward: npt.ArrayLike,
        *,
        discount: float,
        minimise: bool = False,
    ) -> Self:
        """Return the MDP of state-action pairs; row i of the matrix ``probability`` belongs to pair i.

        A scipy CSR matrix whose pairs are sorted is taken over without a copy of its probabilities.
        """
        return cls._of(tables.from_pairs(state, action, probability, reward, discount=discount, minimise=minimise))

    @classmethod
    def from_game(
        cls, game: Any, *, player: int = 0, opponent: Any = "uniform", discount: float = 1.0, show: Any = None
    ) -> Self:
        """Return the MDP of a player in a game against a fixed opponent.

        ``opponent`` is "uniform" or a function from a state to an action or to probabilities by action.  State
        i of the MDP is ``mdplay.states.graph.explore(game).state(i)``; state 0 is the start.  A discount applies
        to each decision of the player; moves of the opponent and of chance are part of the step.  The value of a
        state in which one of these moves is that of the rest of the step.  Infinite play earns nothing: if the
        game gives it a value (``endless``), GameError is raised for a discount of 1.
        """
        from mdplay.states.graph import explore

        graph = explore(game, show=show)
        if game.endless and discount == 1.0 and graph.has_cycle:
            told = f"infinite play of {type(game).__name__} has the value {game.endless} for player 0"
            raise GameError(f"{told}, but 0 in an MDP; use a discount below 1, or mdplay solve")
        return cls._of(mdp_of(graph, player, graph.weights(opponent, 1 - player), discount=discount))

    @classmethod
    def from_gymnasium(cls, table: Mapping[int, Mapping[int, Sequence[Any]]], *, discount: float) -> Self:
        """Return the MDP of ``P[s][a] = [(probability, target, reward, terminated)]`` of a Gymnasium table.

        What is terminated earns nothing afterwards: such transitions lead to one more state, the last.
        """
        return cls._of(tables.from_gymnasium(table, discount=discount))

    @classmethod
    def from_drn(
        cls, path: str | Path, *, reward: str | None = None, discount: float = 1.0, minimise: bool = False
    ) -> Self:
        """Return the MDP of a file of the model checker Storm, with the rewards of one of its models."""
        return cls._of(explicit.read_drn(path, reward=reward, discount=discount, minimise=minimise))

    @classmethod
    def from_umb(
        cls, path: str | Path, *, reward: str | None = None, discount: float = 1.0, minimise: bool = False
    ) -> Self:
        """Return the MDP of a file in the unified Markov binary format, with the rewards of one of its models."""
        return cls._of(umb.read_umb(path, reward=reward, discount=discount, minimise=minimise))

    @classmethod
    def from_explicit(
        cls,
        transitions: str | Path,
        *,
        state_rewards: str | Path | None = None,
        transition_rewards: str | Path | None = None,
        discount: float = 1.0,
        minimise: bool = False,
    ) -> Self:
        """Return the MDP of explicit files of PRISM or Storm: `.tra`, and rewards where they are given."""
        files = {"state_rewards": state_rewards, "transition_rewards": transition_rewards}
        return cls._of(explicit.read_explicit(transitions, **files, discount=discount, minimise=minimise))


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
