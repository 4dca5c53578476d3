"""Planning in a model of several shards, each held by a worker of an executor.

Jacobi sweeps with MacQueen's bounds come first:

    every round   each shard sweeps its own states from the values of all; slices of values go from worker to
                  worker, and the extremes of the change to the driver
    in between    action elimination, as in `mdplay.planning.methods`, removes choices that cannot become optimal
    at the end    one sweep over all choices in doubles proves the bounds, with the rounding of
                  `mdplay.planning.backends`

The first rounds of a large model use single precision; the proof never does.  A model that mixes slowly would need
too many sweeps, so policy iteration follows after a few of them.  A *stage* of it begins with values and ends with
the values of their greedy policy, solved by BiCGSTAB only as far as is useful (as ``ipi`` of
`mdplay.planning.methods`).  The Bellman sweep of a stage, over all choices and in doubles, proves bounds.  A stage
that lost a shard is repeated from its values.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from mdplay import FormatError, LimitError, Plan
from mdplay.distributed.planning_local import BackedUp, LocalShard, Lost
from mdplay.distributed.planning_shard import Answer, Facts, Shards, Swept, write_shards
from mdplay.planning.arrays import Change, backup_error
from mdplay.planning.backends import Margins, half_width, margins, span
from mdplay.planning.krylov import System, iterate
from mdplay.planning.methods import COARSE, COARSE_LIMIT, COARSE_STATES, MAX_SWEEPS, Show, rate_of, slack_of
from mdplay.planning.model import Model
from mdplay.runtime.executors import Actors, Executor, using
from mdplay.states.graph_search import Floats

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
    """Policy iteration in the making; ``tell`` is called with the proven error of each stage."""

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
        first, solved = max(most for most, _ in told), True
        if first > error:
            system = _ShardSystem(self._actors, self._stage)
            left, iterations = iterate(system, sum(square for _, square in told), error)
            solved = left <= error or left < first
            self.iterations += iterations
        self.policies += 1
        return self._actors.exchange("finish", self._stage, solved)[0]


class _ShardSystem(System):
    """The equations of a policy, of which each shard has those of its states."""

    def __init__(self, actors: Actors, stage: int) -> None:
        self._actors, self._stage = actors, stage

    def search(self, alpha: float, omega: float, beta: float) -> float:
        self._parcels, largest = self._actors.scatter("search", self._stage, alpha, omega, beta)
        return float(max(largest))

    def along(self) -> float:
        return float(sum(self._actors.call("along", self._stage, self._parcels)))

    def shorten(self, alpha: float) -> None:
        self._parcels, _ = self._actors.scatter("shorten", self._stage, alpha)

    def across(self) -> tuple[float, float, float, float]:
        products = self._actors.call("across", self._stage, self._parcels)
        tr, tt, sr, st = (float(sum(parts)) for parts in zip(*products, strict=True))
        return tr, tt, sr, st


def mixes_slowly(history: list[tuple[int, float]], tolerance: float, sweeps: int) -> bool:
    """Return whether sweeps at the rate of the last ones would not close the bounds within ``sweeps`` more."""
    (begin, first), (end, last) = history[len(history) // 2], history[-1]
    if not 0.0 < last < first:
        return last > 0.0
    rate = (last / first) ** (1.0 / (end - begin))
    return bool(np.log(tolerance / last) / np.log(rate) > sweeps)


DRIVER_PATIENCE = 3  # proving sweeps without progress: doubles hide it
FIRST_SWEEPS, MANY_SWEEPS = 24, 200  # a model that needs this many more after the first ones mixes slowly


class Whole(NamedTuple):
    """What all shards are together, as bounds ask for it."""

    discount: float
    endless: bool
    longest: int
    largest_reward: float
    reward_error: float

    def backup_error(self, largest_value: float) -> float:
        """Return a bound for the error of one backup of values up to this size."""
        return backup_error(self.longest, self.largest_reward, largest_value, self.reward_error)


def plan_sharded(
    model: Model | Shards,
    executor: Executor | str,
    *,
    shards: int | None = None,
    method: str = "auto",
    tolerance: float = 1e-6,
    folder: str | Path | None = None,
    show: Show | None = None,
) -> Plan:
    """Return the plan of a model by the workers of an executor, a shard each; the discount must be below 1.

    A model in memory is first written to ``folder`` (default: a temporary one) as ``shards`` files (default: one
    for each worker); all workers must see that folder.  ``method``: jacobi, ipi, or auto: sweeps
    first, and policies if those are slow.  The answer is the same for any number of workers; by policies, another
    number of shards changes the last bits.
    """
    if not 0.0 < tolerance < np.inf:
        raise FormatError(f"the tolerance is {tolerance}; it must be positive and finite")
    if not 0.0 <= model.discount < 1.0:
        raise FormatError(
            f"an executor plans with a discount below 1, not {model.discount:g}; leave out the executor"
        )
    with using(executor, shards) as chosen, TemporaryDirectory(prefix="mdplay-shards-") as temporary:
        began = time.perf_counter()
        if not isinstance(model, Shards):
            model = write_shards(model, folder or temporary, shards or chosen.workers)
        actors = chosen.actors(LocalShard, len(model.cuts) - 1, model)
        try:
            return _Planning(actors, model, tolerance, show).plan(method, began)
        finally:
            actors.close()


class _Planning:
    """A plan in the making."""

    def __init__(self, actors: Actors, shards: Shards, tolerance: float, show: Show | None) -> None:
        self._actors, self._shards, self._tolerance, self._show = actors, shards, tolerance, show
        facts: list[Facts] = actors.call("facts")
        self._whole = Whole(
            shards.discount,
            all(one.endless for one in facts),
            max(one.longest for one in facts),
            max(one.largest_reward for one in facts),
            shards.reward_error,
        )
        limit = COARSE_LIMIT * (1.0 - shards.discount)
        self._coarse = shards.num_states >= COARSE_STATES and self._whole.largest_reward < limit
        self._history: list[tuple[int, float]] = []
        self._largest = 0.0  # of the values before the last sweep

    def plan(self, method: str, began: float) -> Plan:
        """Plan until the bounds are closed, or as close as doubles allow."""
        if method == "ipi":
            return self._by_policies(None, began)
        slices: Any = None
        before: Change | None = None
        tries, least = 0, np.inf
        while True:
            everything = self._near_enough(before)
            previous, (slices, swept) = slices, self._sweep(slices, everything)
            change = Change(min(one.low for one in swept), max(one.high for one in swept), 0)
            miss = half_width(self._whole, change)
            self._tell(miss)
            most = max(one.largest for one in swept)
            if everything and not self._coarse:
                found = margins(self._whole, change, self._whole.backup_error(self._largest), most)
                tries, least = (0, miss) if miss < 0.9 * least else (tries + 1, least)
                if found.high - found.low <= 2.0 * self._tolerance or tries >= DRIVER_PATIENCE:
                    answers = self._actors.call("decide", previous, found.width, found.shift)
                    return self._answer(slices, found, answers, "jacobi", "swept", began)
            if method == "auto" and len(self._history) == FIRST_SWEEPS and self._is_slow():
                return self._by_policies(slices, began)
            self._largest = most
            if self._coarse and span(self._whole, change) <= COARSE * most:
                self._coarse = False
            rate = rate_of(self._whole, before, change)
            self._actors.call("eliminate", slack_of(self._whole, change, rate))
            before = change

    def _is_slow(self) -> bool:
        return mixes_slowly(self._history, self._tolerance, MANY_SWEEPS)

    def _by_policies(self, slices: Any, began: float) -> Plan:
        """Plan by policy iteration, from values if there are any."""
        if slices is None:
            slices, _ = self._actors.exchange("zeros")
        policies = Policies(self._actors, self._whole, self._tolerance, self._tell)
        found = policies.plan(slices)
        how = f"{policies.policies} policies solved in {policies.iterations} iterations"
        return self._answer(found.values, found.margins, found.answers, "ipi", how, began)

    def _near_enough(self, before: Change | None) -> bool:
        """Return whether the next sweep may prove the bounds: the last one was within the tolerance."""
        return before is not None and not self._coarse and half_width(self._whole, before) <= 0.9 * self._tolerance

    def _sweep(self, slices: Any, everything: bool) -> tuple[Any, list[Swept]]:
        return self._actors.exchange("sweep", slices, self._coarse, everything)

    def _tell(self, miss: float) -> None:
        if not np.isfinite(miss):
            raise LimitError("the values become larger than doubles can tell: divide all rewards by a number")
        self._history.append((len(self._history) + 1, miss))
        if len(self._history) >= MAX_SWEEPS:
            raise LimitError(f"the bounds are not closed after {MAX_SWEEPS} sweeps: leave out the executor")
        if self._show is not None:
            self._show(*self._history[-1])

    def _answer(
        self, slices: Any, found: Margins, answers: list[Answer], method: str, how: str, began: float
    ) -> Plan:
        new = np.concatenate(self._actors.fetch(slices))
        value, lower, upper = found.around(new)
        action = np.concatenate([one.action for one in answers])
        for array in (value, lower, upper):
            array[action < 0] = 0.0
        if self._shards.minimise:
            value, lower, upper = _turned(value), _turned(upper), _turned(lower)
        return Plan(
            value=value,
            action=action,
            lower=lower,
            upper=upper,
            undecided=np.concatenate([one.undecided for one in answers]),
            method=method,
            reason=f"{len(answers)} shards, {how} by the workers of an executor",
            iterations=len(self._history),
            history=tuple(self._history),
            seconds=time.perf_counter() - began,
            tolerance=self._tolerance,
        )


def _turned(values: Floats) -> Floats:
    return np.asarray(0.0 - values)
