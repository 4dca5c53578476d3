"""A user's own evaluator at the leaves of a search: one call of Python for a batch of states.

    def evaluator(states):
        values = ...             # one value for each state, for the player to move in it
        priors = ...             # one row for each state, one column for each action
        return values, priors    # or values alone

Values are results, from -1 to 1, or in games with rewards the points still to come for the player to move minus
those of the opponent.  Lists, NumPy arrays and tensors of PyTorch and JAX are accepted.  An ``Evaluator``, such as
a solution, can be used as well; it has no priors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import elements
from mdplay.errors import ArgumentError, short
from mdplay.evaluating.evaluation import Evaluator, final_evaluation
from mdplay.game import Game

ROUNDING = 1e-6  # a value beyond the range by at most this, as float32 may round it, is clipped

LeafEvaluator = Callable[[Sequence[Any]], Any]
Array = NDArray[np.float64]


class LeafValues(NamedTuple):
    """The values of a batch of states for their players to move, and the priors; no columns if there are none."""

    values: Array
    priors: Array


class LeafBatches:
    """Calls an evaluator with at most ``batch`` states and checks what it returns, at most ``limit`` in size."""

    def __init__(self, game: Game[Any], evaluator: LeafEvaluator | Evaluator, limit: float, batch: int) -> None:
        if isinstance(evaluator, Evaluator):
            evaluator = partial(_position_values, evaluator)
        if not callable(evaluator):
            kind = "a function of a list of states, which returns their values"
            raise ArgumentError(f"evaluator={short(repr(evaluator))} is not a function; give {kind}")
        self._game, self._evaluator, self._limit, self.batch = game, evaluator, limit, batch

    def __call__(self, states: Sequence[Any]) -> LeafValues:
        """Return the values of the states; raise ArgumentError if the evaluator returns something else."""
        found = self._evaluator(states)
        has_priors = isinstance(found, tuple) and len(found) == 2 and (found[1] is None or np.ndim(found[1]) == 2)
        values, priors = found if has_priors else (found, None)
        return LeafValues(self._values(states, values), self._priors(states, priors))

    def _values(self, states: Sequence[Any], found: Any) -> Array:
        values = _array(found, f"one value for each of {len(states)} states")
        if values.size != len(states):
            raise ArgumentError(f"the evaluator returned {values.size} values for {len(states)} states")
        values = values.reshape(len(states))
        for state, value in zip(states, values.tolist(), strict=True):
            if not abs(value) <= self._limit + ROUNDING:
                span = f"values are from -{self._limit:g} to {self._limit:g}, for the player to move"
                raise ArgumentError(f"the evaluator returned {value:g} in {self._game.text(state)}; {span}")
        return np.clip(values, -self._limit, self._limit)

    def _priors(self, states: Sequence[Any], found: Any) -> Array:
        if found is None:
            return np.zeros((len(states), 0))
        priors = _array(found, "priors, one row for each state and one column for each action")
        least = 1 + max(elements(self._game.legal(state))[-1] for state in states)
        if priors.shape[0] != len(states) or priors.shape[1] < least:
            shape = f"{len(states)} rows and at least {least} columns, one for each action"
            raise ArgumentError(f"the evaluator returned priors of shape {priors.shape}; they need {shape}")
        if not (np.isfinite(priors).all() and (priors >= 0).all()):
            raise ArgumentError(
                "the evaluator returned a prior that is negative or no number; return probabilities"
            )
        return priors


def _position_values(evaluator: Evaluator, states: Sequence[Any]) -> list[float]:
    """Return the values of an evaluator for positions; 0 for a position whose value it does not know."""
    found = [final_evaluation(evaluator, state).value for state in states]
    return [0.0 if value is None else value.value for value in found]


def _array(found: Any, wanted: str) -> Array:
    """Return numbers as an array; a tensor is detached and moved to the CPU."""
    if hasattr(found, "detach"):
        found = found.detach().cpu()
    try:
        return np.ascontiguousarray(np.asarray(found, np.float64))
    except (TypeError, ValueError):
        raise ArgumentError(f"the evaluator returned {short(repr(found))}; it must return {wanted}") from None
