"""One shard at work on a model that mixes slowly: policies are solved by a Krylov method, all shards together.

The shard's *vector* has the values of its own states, and after them those of its *ghosts*: states of other shards
that its transitions lead to.  The shards that own these send them whenever they change, one parcel for each shard.

    begin, improve     Gauss-Seidel sweeps of the own states, forwards and backwards; ghosts stand still
    back_up            one Bellman sweep over all choices: it tells how good the values are, and the greedy policy
    arrange            the equations of that policy, own states in the order of their values
    search, along, shorten, across
                       an iteration of BiCGSTAB (mdplay.planning.krylov); the preconditioner is a Gauss-Seidel
                       pass over the own states
    finish             the values that were found

Sums go to the driver by shard, so nothing depends on who has which shard.  A shard that was made again knows
nothing of a stage that is under way, and raises `Lost`: the driver begins the stage anew.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mdplay import MdplayError
from mdplay.compiling import kernel
from mdplay.distributed.planning_shard import Answer, Shard, Shards, Slices, sweep_rows
from mdplay.planning import krylov
from mdplay.planning.arrays import ChoiceArrays, ModelArrays, largest
from mdplay.planning.kernels import expectation
from mdplay.states.graph_search import Floats, Integers

Parcels = list[Floats]


class Lost(MdplayError):
    """A shard was made again, and knows nothing of the stage."""


class BackedUp(NamedTuple):
    """What a Bellman sweep did to a shard's values."""

    low: float
    high: float
    before: float  # the largest value that was swept
    largest: float  # of the new ones


@kernel
def sweep_in_place(first_choice: Integers, choices: ChoiceArrays, backwards: bool, out_vector: Floats) -> None:
    """Back up the own states one after the other, in place."""
    first_transition, target, probability, reward, discount = choices
    count = len(first_choice) - 1
    for i in range(count):
        state = np.uint64(count - 1 - i if backwards else i)
        begin, end = np.uint64(first_choice[state]), np.uint64(first_choice[state + np.uint64(1)])
        most = -np.inf if begin < end else 0.0
        for choice in range(begin, end):
            first, last = first_transition[choice], first_transition[choice + np.uint64(1)]
            mean = expectation(target, probability, out_vector, np.uint64(first), np.uint64(last))
            most = max(most, reward[choice] + discount * mean)
        out_vector[state] = most


class LocalShard(Shard):
    """The rows of a range of states, with the values of those that they lead to."""

    def __init__(self, number: int, shards: Shards) -> None:
        super().__init__(number, shards)
        self._number, self._cuts = number, np.array(shards.cuts)
        self._local: ModelArrays | None = None
        self._stage = -1

    # ---------------------------------------------------------------- ghosts
    def ghosts(self) -> tuple[list[Integers], None]:
        """Return for each shard the numbers, among its own, of the states whose values are wanted here."""
        if self._local is None:
            self._find_ghosts()
        owner = np.searchsorted(self._cuts, self._ghosts, side="right") - 1
        own = self._ghosts - self._cuts[owner]
        return [own[owner == shard] for shard in range(len(self._cuts) - 1)], None

    def _find_ghosts(self) -> None:
        """List the states of others that transitions lead to, and number targets by their places in the vector."""
        begin, end = self._span
        place = np.zeros(self._num_states, np.uint32)
        place[self._all.target] = 1
        place[begin:end] = 0
        self._ghosts = np.flatnonzero(place)
        place[begin:end] = np.arange(end - begin)
        place[self._ghosts] = np.arange(end - begin, end - begin + len(self._ghosts))
        target, all_rows = place[self._all.target], self._all
        rows = (all_rows.first_choice, all_rows.first_transition, target, all_rows.probability, all_rows.reward)
        self._local = ModelArrays(*rows, all_rows.discount)

    def _halo(self, vector: Floats, places: list[Integers]) -> Parcels:
        """Return what each shard wants of the own states' entries of a vector."""
        return [vector[wanted] for wanted in places]

    def _put(self, parcels: Parcels, vector: Floats) -> None:
        """Write the ghosts' entries of a vector."""
        np.concatenate(parcels, out=vector[self._all.num_states :])

    def _rows_at(self, stage: int) -> ModelArrays:
        if self._stage != stage or self._local is None:
            raise Lost(f"shard {self._number} was made again")
        return self._local

    # ---------------------------------------------------------------- values
    def zeros(self) -> tuple[Floats, None]:
        """Return values to begin with."""
        return np.zeros(self._all.num_states), None

    def begin(self, stage: int, wanted: list[Integers], slices: Slices) -> tuple[Parcels, None]:
        """Begin a stage from values of all shards."""
        if self._local is None:
            self._find_ghosts()
        self._wanted, self._stage = [np.array(places) for places in wanted], stage
        self._current = np.concatenate([slices[self._number], np.zeros(len(self._ghosts))])
        return self._halo(self._current, self._wanted), None

    def improve(self, stage: int, parcels: Parcels, sweeps: int) -> tuple[Parcels, None]:
        """Sweep forwards and backwards, in place."""
        rows = self._rows_at(stage)
        self._put(parcels, self._current)
        for _ in range(sweeps):
            sweep_in_place(rows.first_choice, rows.choices, False, self._current)
            sweep_in_place(rows.first_choice, rows.choices, True, self._current)
        return self._halo(self._current, self._wanted), None

    def back_up(self, stage: int, parcels: Parcels) -> tuple[Parcels, BackedUp]:
        """Sweep all states at once, over all choices."""
        rows, count = self._rows_at(stage), self._all.num_states
        self._put(parcels, self._current)
        own, value = self._current[:count], np.empty(count)
        low, high = sweep_rows(
            rows.first_choice, rows.choices, self._current, own, self._q_value, value, self._choice
        )
        told = BackedUp(low, high, largest(own), largest(value))
        self._current[:count] = value
        return self._halo(self._current, self._wanted), told

    def values(self, stage: int) -> tuple[Floats, None]:
        """Return the own values."""
        self._rows_at(stage)
        return self._current[: self._all.num_states].copy(), None

    def choose(self, stage: int, width: float, shift: float) -> Answer:
        """Return the actions by the q values of the last sweep."""
        self._rows_at(stage)
        return self._chosen(width, shift)

    # ---------------------------------------------------------------- a policy's equations
    def arrange(self, stage: int, parcels: Parcels) -> tuple[float, float]:
        """Prepare to solve the greedy policy; return the residual's largest entry, and the sum of squares."""
        model, count, ghosts = self._rows_at(stage), self._all.num_states, len(self._ghosts)
        self._put(parcels, self._current)
        order = np.argsort(-self._current[:count], kind="stable").astype(np.uint32)
        self._rank = np.arange(count + ghosts, dtype=np.uint32)
        self._rank[order] = np.arange(count, dtype=np.uint32)
        live, first = self._all.live, model.first_transition
        chosen = self._choice[live].astype(np.int64)
        size = int((first[chosen + 1] - first[chosen]).sum())
        rows = (self._choice, model.first_choice, model.choices)
        self._places = [self._rank[wanted] for wanted in self._wanted]
        b = np.where(live[order], self._all.reward[np.where(live[order], self._choice[order], 0)], 0.0)
        self._system = krylov.System(krylov.arranged(order, self._rank, *rows, size=size), b)
        return self._system.begin(np.concatenate([self._current[order], self._current[count:]]))

    def search(self, stage: int, alpha: float, omega: float, beta: float) -> tuple[Parcels, float]:
        """End an iteration, begin the next; return the new direction, and the residual's largest entry."""
        self._rows_at(stage)
        most = self._system.search(alpha, omega, beta)
        return self._halo(self._system.space.p_hat, self._places), most

    def along(self, stage: int, parcels: Parcels) -> float:
        """Return the shadow's product with the matrix times the direction."""
        self._rows_at(stage)
        self._put(parcels, self._system.space.p_hat)
        return self._system.along()

    def shorten(self, stage: int, alpha: float) -> tuple[Parcels, None]:
        """Go along the direction; return the correction of the residual that is left."""
        self._rows_at(stage)
        self._system.shorten(alpha)
        return self._halo(self._system.space.s_hat, self._places), None

    def across(self, stage: int, parcels: Parcels) -> tuple[float, float, float, float]:
        """Return the products that determine the step along the correction."""
        self._rows_at(stage)
        self._put(parcels, self._system.space.s_hat)
        return self._system.across()

    def finish(self, stage: int, solved: bool) -> tuple[Floats, None]:
        """Return the own values: the solution, or what there was before if there is none."""
        self._rows_at(stage)
        count = self._all.num_states
        if solved:
            self._current[:count] = self._system.space.x[self._rank[:count]]
        return self.values(stage)
