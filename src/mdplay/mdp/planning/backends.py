"""The backends that sweep over model arrays: what both can do, and which one fits a model.

numpy sweeps small models, which need no compiler; compiled kernels on several threads sweep large ones.  Both
answer the same questions:

    bellman_backup(value, out_value, out_choice)   one sweep: the best reward + discount * E[value] of every state
    step(value, out_value)                         the same for the values alone
    candidates(value, slack)                       action elimination: a backend over the few choices left, or None
    policy(choice)                                 one choice a state, to sweep or solve alone
    gauss_seidel(order, blocks, value, ...)        sweeps in place, block after block
    q_values(value)                                the q value of every choice
    best(q_value, value, out_value)                the value of every state then, and how it differs from another
    decide(q_value, width, shift)                  the actions, by the rule for ties
"""

from __future__ import annotations

from typing import Protocol

from mdplay.mdp.arrays import Change, Decision, ModelArrays
from mdplay.mdp.planning.plain_backend import PlainBackend
from mdplay.states.walks import Floats, Integers

PLAIN_TRANSITIONS = 60_000  # up to here numpy answers before numba would have been imported


class FixedPolicy(Protocol):
    """One choice a state: what a policy does."""

    def step(self, value: Floats, out_value: Floats) -> Change:
        """Sweep once: out = reward + discount * E[value]."""

    def solve(self, value: Floats, error: float) -> Floats:
        """Return the policy's value with every residual at most ``error``, starting from a guess."""


class Choices(Protocol):
    """Some choices of each state, to sweep over."""

    arrays: ModelArrays

    def bellman_backup(self, value: Floats, out_value: Floats, out_choice: Integers) -> Change:
        """Back up every state once; of equally good choices the first is taken."""

    def step(self, value: Floats, out_value: Floats) -> Change:
        """Back up every state once, for the values alone."""

    def candidates(self, value: Floats, slack: float) -> Choices | None:
        """Return the choices whose q value in the last backup reached the value less the slack, if they are few.

        Nothing proves that the best choices of all are among them: sweep over all choices in the end.
        """

    def policy(self, choice: Integers) -> FixedPolicy:
        """Return the policy of one choice a state."""


class Backend(Choices, Protocol):
    """Sweeps over all choices of a model."""

    def gauss_seidel(
        self, order: Integers, blocks: Integers, out_value: Floats, threshold: float, limit: int
    ) -> int:
        """Sweep in place through each block of states until it changes by no more than the threshold."""

    def q_values(self, value: Floats) -> Floats:
        """Return the q value of every choice; the next sweep may overwrite the answer."""

    def best(self, q_value: Floats, value: Floats, out_value: Floats) -> Change:
        """Find the largest q value of every state; return how that differs from a value."""

    def decide(self, q_value: Floats, width: float, shift: float = 0.0) -> Decision:
        """Choose by the rule for ties; ``width`` is how far the difference of two q values may be off.

        All q values are off by the shift together, which matters to the rule only.
        """


def backend_for(arrays: ModelArrays, threads: int | None = None) -> Backend:
    """Return the backend that fits the size of the model."""
    if len(arrays.target) <= PLAIN_TRANSITIONS:
        return PlainBackend(arrays)
    from mdplay.mdp.planning.compiled_backend import CompiledBackend  # for start-up: it needs numba

    return CompiledBackend(arrays, threads)
