"""`MDP`: a model with a door for every form that other programs keep MDPs in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy.typing as npt

from mdplay.errors import GameError
from mdplay.mdp.assembly import Transitions, assemble
from mdplay.mdp.formats import cs747, explicit, tables, umb
from mdplay.mdp.model import Model
from mdplay.states.walks import Floats


class MDP(Model):
    """A finite MDP; see `mdplay.mdp.model` for its arrays, which must not be changed afterwards."""

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
        from mdplay.mdp.games import mdp_of  # for start-up: games need numba
        from mdplay.states.graph import explore

        graph = explore(game, show=show)
        if game.endless and discount == 1.0 and graph.has_cycle:
            told = f"endless play of {type(game).__name__} is worth {game.endless} to player 0"
            raise GameError(f"{told}, and nothing in an MDP; take a discount below 1, or mdplay solve")
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
