"""Policy iteration over shards, for models that mix slowly: the driver's side (mdplay.mdp.sharding.local works).

A *stage* begins with values and ends with those of the greedy policy that sweeps have found from them, solved by
BiCGSTAB only as far as is useful (as ``ipi`` of mdplay.mdp.planning.methods).  The Bellman sweep of a stage, over
all choices and in doubles, proves bounds.  A stage that lost a shard is done again from its values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mdplay.engines import Actors
from mdplay.mdp.arrays import Change
from mdplay.mdp.planning.bounds import Margins, half_width, margins
from mdplay.mdp.planning.krylov import ITERATIONS
from mdplay.mdp.sharding.local import BackedUp, Lost
from mdplay.mdp.sharding.shard import Answer

ROUNDS, SWEEPS = 4, 3  # of sweeps in place: ghosts are exchanged between the rounds
FORCING = (
    0.01  # the part of the Bellman residual that is left to a policy; 0.05 and twice the sweeps are no faster
)
PATIENCE = 10  # stages without progress: doubles hide it
REACHED = 0.9  # of the tolerance


class Proven(NamedTuple):
    """Values with their bounds, and the choices."""

    values: Any  # what stands for the slices of all shards
    margins: Margins
    answers: list[Answer]


class Policies:
    """Policy iteration in the making; ``tell`` is told the proven error of each stage."""

    def __init__(self, actors: Actors, whole: Any, tolerance: float, tell: Callable[[float], None]) -> None:
        self._actors, self._whole, self._tolerance, self._tell = actors, whole, tolerance, tell
        self._stage = 0
        self.policies, self.iterations = 0, 0

    def plan(self, values: Any) -> Proven:
        """Go on from values until the bounds are closed, or as close as doubles allow."""
        least, since = np.inf, 0
        while True:
            try:
                parcels, backed = self._improved(values)
                change = Change(min(one.low for one in backed), max(one.high for one in backed), 0)
                miss = half_width(self._whole, change)
                if miss <= REACHED * self._tolerance or since >= PATIENCE:
                    found = self._proven(change, backed)
                    if found.margins.high - found.margins.low <= 2.0 * self._tolerance or since >= PATIENCE:
                        self._tell(miss)
                        return found
                values = self._solved(parcels, change, backed)
            except Lost:
                continue
            self._tell(miss)
            least, since = (miss, 0) if miss < 0.9 * least else (least, since + 1)

    def _improved(self, values: Any) -> tuple[Any, list[BackedUp]]:
        """Sweep in place, then once over all choices."""
        self._stage += 1
        wanted, _ = self._actors.scatter("ghosts")
        parcels, _ = self._actors.scatter("begin", self._stage, wanted, values)
        for _ in range(ROUNDS):
            parcels, _ = self._actors.scatter("improve", self._stage, parcels, SWEEPS)
        return self._actors.scatter("back_up", self._stage, parcels)

    def _proven(self, change: Change, backed: list[BackedUp]) -> Proven:
        error = self._whole.backup_error(max(one.before for one in backed))
        found = margins(self._whole, change, error, max(one.largest for one in backed))
        answers = self._actors.call("choose", self._stage, found.width, found.shift)
        return Proven(self._actors.exchange("values", self._stage)[0], found, answers)

    def _solved(self, parcels: Any, change: Change, backed: list[BackedUp]) -> Any:
        """Solve the greedy policy as far as is useful and rounding allows; return what stands for its values."""
        noise = self._whole.backup_error(max(one.largest for one in backed))
        error = max(FORCING * change.step, noise)
        told = self._actors.call("arrange", self._stage, parcels)
        solved = max(most for most, _ in told) <= error or self._iterated(sum(square for _, square in told), error)
        self.policies += 1
        return self._actors.exchange("finish", self._stage, solved)[0]

    def _iterated(self, rho: float, error: float) -> bool:
        """Do iterations of BiCGSTAB; say whether the residual became small enough, or at least smaller."""
        call, scatter, stage = self._actors.call, self._actors.scatter, self._stage
        alpha, omega, beta, first = 0.0, 0.0, 0.0, np.inf
        for _ in range(ITERATIONS):
            directions, largest = scatter("search", stage, alpha, omega, beta)
            left = max(largest)
            first = min(first, left) if np.isinf(first) else first
            if not np.isfinite(left) or left <= error:
                return bool(left <= error)
            self.iterations += 1
            along = sum(call("along", stage, directions))
            if along == 0.0:
                break
            alpha = rho / along
            corrections, _ = scatter("shorten", stage, alpha)
            tr, tt, sr, st = (sum(products) for products in zip(*call("across", stage, corrections), strict=True))
            omega = tr / tt if tt > 0.0 else 0.0
            before, rho = rho, sr - omega * st
            if omega == 0.0 or before == 0.0:
                break
            beta = (rho / before) * (alpha / omega)
        left = max(scatter("search", stage, alpha, omega, 0.0)[1])
        return bool(left < first)


def mixes_slowly(history: list[tuple[int, float]], tolerance: float, sweeps: int) -> bool:
    """Say whether sweeps at the rate of the last ones would not close the bounds within so many more."""
    (begin, first), (end, last) = history[len(history) // 2], history[-1]
    if not 0.0 < last < first:
        return last > 0.0
    rate = (last / first) ** (1.0 / (end - begin))
    return bool(np.log(tolerance / last) / np.log(rate) > sweeps)
