"""Value iteration for two players, chance and cycles: lower and upper bounds of all values, which converge.

Player 0 maximizes, player 1 minimizes, and chance takes the mean over its edges (Shapley 1953).  ``low`` is never
above the value of a state and ``high`` never below it: the mean of lower bounds is a lower bound, and the rounding
error of a computed mean is subtracted from a lower and added to an upper bound.

Strong components are solved one by one, successors first.  The bounds of a component start from the least and the
largest value of the edges out of it, and from ``endless``, the value of play that stays in it.  Rewards inside a
component could be earned without end: they are refused if the players can stay there.  Otherwise play leaves
within a bounded number of steps, found by a *potential*: a number for each state that decreases by at least 1 on
average, whatever is chosen.

In an *end component*, where players can stay together, bounds need not converge by themselves, because each bound
depends on the other.  There a player who stays gets ``endless`` and one who leaves gets the best edge out
(Kelmendi and others 2018): while player 1 uses only moves that are best by its bound, player 0 gets at most the
better of both.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from mdplay.compiling import State, inlined, kernel
from mdplay.errors import GameError, LimitError
from mdplay.game import Game, num_players
from mdplay.planning.arrays import ModelArrays
from mdplay.planning.loops import strong_components
from mdplay.planning.undiscounted import Backward, EndComponents, Mask, end_components
from mdplay.runtime.threads import Counters, Show, StopFlag, TaskGroup
from mdplay.solving.responses import planned_values
from mdplay.solving.values import BoundedTable, has_integer_values, slacks
from mdplay.states.graph import CHANCE, END, Edges, GameGraph, explore
from mdplay.states.graph_search import Floats, Integers, lengths

UNIT = 2.0**-53
GOAL = 1e-12  # relative gap between the bounds at which value iteration stops
SWEEPS = 1 << 20  # at most, of one component without end components
SHORT = 64  # sweeps between two updates of end components
ROUNDS = 2000  # at most, of those updates
CLOSED, OPEN, STOPPED, TOO_LONG = range(4)
HURRY, HURRY_SWEEPS, HURRY_ENOUGH = (
    1.0 - 2.0**-10,
    4096,
    1e-12,
)  # discount of a ply, sweeps and tolerance of _quick_choices
MAX_HURRY_EDGES = 1 << 24  # edges that all sweeps of one game together visit at most
FEW_CHOICES = 1 << 17  # up to this number the fastest actions are found even if the smallest ones reach the end


class EndlessRewards(GameError):
    """The players can stay where rewards are earned."""


class Components(NamedTuple):
    """The strong components, successors first.

    Component c has the states order[starts[c]] to order[starts[c + 1] - 1], which are labelled c.  ``loops[c]``:
    the players can stay in it, or earn rewards in it; its bounds are initialized elsewhere.
    """

    order: Integers
    starts: Integers
    label: Integers
    loops: Integers


class Bounds(NamedTuple):
    """Lower and upper bounds of the value of each state for player 0; kernels narrow them."""

    low: Floats
    high: Floats


@kernel(plain_first=True)
def close_component(states: Any, edges: Edges, goal: float, sweeps: int, stop: StopFlag, bounds: Bounds) -> int:
    """Run ``close_in`` as a kernel."""
    return close_in(states, edges, goal, sweeps, stop, bounds)


@inlined
def close_in(states: Any, edges: Edges, goal: float, sweeps: int, stop: StopFlag, bounds: Bounds) -> int:
    """Narrow the bounds of the states in place by Gauss-Seidel value iteration; return a status.

    CLOSED: the relative gap of every state is at most ``goal``.  OPEN: a sweep changed no bound.
    """
    first_edge, target, kind, chance, points = edges
    out_low, out_high = bounds
    for _ in range(sweeps):
        widest, moved = 0.0, False
        for k in range(len(states)):
            if stop[0]:
                return STOPPED
            s = int(states[k])
            mover = int(kind[s])
            if mover == END:
                continue
            begin, end = int(first_edge[s]), int(first_edge[s + 1])
            low, high, size = 0.0, 0.0, 0.0
            for edge in range(begin, end):
                below, above = (
                    out_low[int(target[edge])] + points[edge],
                    out_high[int(target[edge])] + points[edge],
                )
                size = max(size, abs(below), abs(above))
                if mover == CHANCE:
                    low += chance[edge] * below
                    high += chance[edge] * above
                elif edge == begin:
                    low, high = below, above
                elif mover == 0:
                    low, high = max(low, below), max(high, above)
                else:
                    low, high = min(low, below), min(high, above)
            error = size * UNIT * (end - begin + 2 if mover == CHANCE else 1)
            low, high = max(out_low[s], low - error), min(out_high[s], high + error)
            moved = moved or low > out_low[s] or high < out_high[s]
            out_low[s], out_high[s] = low, high
            widest = max(widest, (high - low) / max(1.0, abs(low)))
        if widest <= goal:
            return CLOSED
        if not moved:
            return OPEN
    return TOO_LONG


@kernel(plain_first=True)
def close_all(
    components: Components,
    first: int,
    edges: Edges,
    endless: float,
    goal: float,
    stop: StopFlag,
    progress: Counters,
    bounds: Bounds,
) -> Any:
    """Solve the components from ``first`` on; return the first one that needs help, and its status."""
    order, starts, label, loops = components
    first_edge, target, kind, _, points = edges
    out_low, out_high = bounds
    for c in range(first, len(starts) - 1):
        states = order[starts[c] : starts[c + 1]]
        if loops[c]:
            return c, OPEN
        least, most = np.inf, -np.inf
        for k in range(len(states)):
            s = int(states[k])
            for edge in range(int(first_edge[s]), int(first_edge[s + 1])):
                t = int(target[edge])
                if label[t] != c:
                    least, most = min(least, out_low[t] + points[edge]), max(most, out_high[t] + points[edge])
        for k in range(len(states)):
            s = int(states[k])
            if kind[s] != END:
                out_low[s], out_high[s] = min(least, endless), max(most, endless)
        if len(states) == 1:
            out_low[int(states[0])] = -np.inf if kind[int(states[0])] != END else out_low[int(states[0])]
            out_high[int(states[0])] = np.inf if kind[int(states[0])] != END else out_high[int(states[0])]
        status = close_in(states, edges, goal, SWEEPS, stop, bounds)
        progress[0] += len(states)
        if status >= STOPPED:
            return c, status
    return len(starts) - 1, CLOSED


@kernel
def raise_potential(states: Any, label: Any, edges: Edges, out: Any) -> bool:
    """Increase the potential until it decreases by more than 1/2 at every step; return False if it never does."""
    first_edge, target, kind, chance, _ = edges
    c = label[int(states[0])]
    for _ in range(SWEEPS):
        worst = 0.0
        for k in range(len(states)):
            s = int(states[k])
            mean, best = 0.0, 0.0
            for edge in range(int(first_edge[s]), int(first_edge[s + 1])):
                t = int(target[edge])
                after = out[t] if label[t] == c else 0.0
                mean += chance[edge] * after
                best = max(best, after)
            wanted = 1.0 + (mean if kind[s] == CHANCE else best)
            worst = max(worst, wanted - out[s])
            out[s] = wanted
        if worst < 0.4:
            return True
    return False


class BoundsTable(BoundedTable):
    """Lower and upper bounds of the values of all states for player 0."""

    method = "value-iteration"

    def __init__(self, graph: GameGraph, low: Floats, high: Floats, actions: Integers | None = None) -> None:
        self.game, self.graph = graph.game, graph
        if has_integer_values(graph.game):
            low, high = np.ceil(low), np.floor(high)  # the value is an integer between them
        self.low, self.high = low, high
        self._actions = actions
        self._other: BoundsTable | None = None  # for states that this table does not have

    def __len__(self) -> int:
        return self.graph.num_states

    def states(self) -> Iterator[Any]:
        """Yield all states, in the order of the graph."""
        return (self.graph.state(number) for number in range(len(self)))

    def action(self, state: State) -> int:
        """Return an action that attains the value of a state, whatever the other player does."""
        if (other := self._elsewhere(state)) is not None:
            return other.action(state)
        if self._actions is None:
            self._actions = self.graph.action[attaining_edges(self.graph, self.low, self.high)]
        return int(self._actions[self.graph.index(state)])

    def bounds(self, state: State, player: int) -> tuple[float, float]:
        """Return bounds of the value of a state for a player."""
        if (other := self._elsewhere(state)) is not None:
            return other.bounds(state, player)
        number = self.graph.index(state)
        low, high = float(self.low[number]), float(self.high[number])
        return (-high, -low) if player else (low, high)

    def _elsewhere(self, state: State) -> BoundsTable | None:
        """Return a table with a state that this one does not have; None if it has the state."""
        if self.graph.states.number(state) is not None:
            return None
        if self._other is None or self._other.graph.states.number(state) is None:
            self._other = iterate_values(self.game, state)
        return self._other


def choice_arrays(graph: GameGraph) -> ModelArrays:
    """Return a graph as arrays of the planner: a player's edges are its choices, those of chance one choice."""
    plays = (graph.kind == 0) | (graph.kind == 1)
    begins = plays[graph.owner]
    begins[graph.first_edge[:-1][lengths(graph.first_edge) > 0]] = True
    choices = np.where(plays, lengths(graph.first_edge), lengths(graph.first_edge) > 0)
    first = np.append(np.flatnonzero(begins), len(graph.target))
    first_choice = np.concatenate([np.zeros(1, np.int64), np.cumsum(choices)])
    return ModelArrays(first_choice, first, graph.target, graph.chance, np.zeros(len(first) - 1), 1.0)


def attaining_edges(graph: GameGraph, low: Floats, high: Floats) -> Integers:
    """Return for each state in which a player moves an edge that attains the value, whatever the other one does.

    An optimal edge may lead round in a cycle, which has the value ``endless``.  A player whose value is higher
    chooses an edge into the positive attractor of the terminal states.  A state belongs to it if chance or this
    player has one edge into it, or if all optimal edges of the other player lead into it.  Then play leaves states
    of one value with probability 1.  If no terminal state can be reached so, the attractor is that of the states
    from which infinite play has exactly the value (after rewards were earned).
    """
    arrays, value = choice_arrays(graph), low / 2.0 + high / 2.0
    edge, owner = arrays.first_transition[:-1], arrays.owner
    mover, after = graph.kind[owner], value[graph.target[edge]] + graph.points[edge]
    sign = np.where(mover == 1, -1.0, 1.0)
    best = np.full(graph.num_states, -np.inf)
    np.maximum.at(best, owner, sign * after)
    loss = best[owner] - sign * after
    gap = high - low
    unsure = gap[owner] + gap[graph.target[edge]] + 4.0 * UNIT * np.maximum(1.0, np.abs(after))
    ranges = loss <= 0.0, loss <= unsure, loss <= np.maximum(unsure, slacks(after))
    smallest, tied = np.zeros(graph.num_states, np.int64), np.flatnonzero(ranges[1])[::-1]
    smallest[owner[tied]] = tied  # the smallest action
    chosen = edge[smallest]
    back, ends = Backward(arrays), graph.kind == END
    settled = ends | (np.abs(value - graph.game.endless) <= slacks(value))
    rounds = [(goal, *pair) for goal in (ends, settled) for pair in ((1, 1), (2, 1), (2, 0))]
    sweeps = min(HURRY_SWEEPS, MAX_HURRY_EDGES // max(1, len(graph.target)))  # of all rounds together
    for player in (0, 1):
        reached, own = ends, mover == player
        for goal, mine, others in rounds:  # because of rounding: first the edges closest to the best
            reached = reached | goal
            allowed = np.where(mover == CHANCE, True, np.where(own, ranges[mine], ranges[others]))
            needed = np.where(graph.kind == 1 - player, np.bincount(owner[allowed], minlength=len(chosen)), 1)
            joined, way = back.attract(reached, allowed, needed)
            new = joined & ~reached & (graph.kind == player) & ~_delays(value, player, graph.game.endless)
            candidates = [smallest] if len(owner) > FEW_CHOICES else []
            for choices in (*candidates, None) if new.any() else ():
                better = choices
                if better is None:
                    better, used = _quick_choices(graph, arrays, player, allowed, goal, sweeps)
                    sweeps -= used
                only = allowed & (~own | (better[owner] == np.arange(len(owner))))
                if (back.attract(reached, only, needed)[0] == joined).all():
                    way = better
                    break
            chosen[new] = edge[way[new]]
            reached = joined
            if joined.all():
                break
    return chosen


def _quick_choices(
    graph: GameGraph, arrays: ModelArrays, player: int, allowed: Mask, goal: Mask, sweeps: int
) -> tuple[Integers, int]:
    """Return for each state the allowed choice that reaches ``goal`` soonest, approximately, and the sweeps used.

    It maximizes the mean of HURRY ** plies, which the other player minimizes, in at most ``sweeps`` sweeps.
    """
    weight = np.where(graph.kind[graph.owner] == CHANCE, graph.chance, 1.0) * HURRY
    sign = np.where(graph.kind == 1 - player, -1.0, 1.0)
    first, live = arrays.first_choice[:-1][arrays.live], arrays.live
    soon = goal.astype(np.float64)
    worth = np.zeros(len(arrays.reward))
    used = 0
    while used < max(1, sweeps):
        used += 1
        before = soon.copy()
        means = np.add.reduceat(weight * soon[graph.target], arrays.first_transition[:-1])
        worth = np.where(allowed, sign[arrays.owner] * means, -np.inf)
        soon[live] = sign[live] * np.maximum.reduceat(worth, first)
        soon[goal] = 1.0
        if np.abs(soon - before).max() <= HURRY_ENOUGH:
            break
    order = np.lexsort((-np.arange(len(worth)), worth, arrays.owner))  # the smallest of the best actions is last
    choice = arrays.first_actions.astype(np.int64)
    choice[arrays.owner[order]] = order
    return choice, used


def _delays(value: Floats, player: int, endless: int) -> Mask:
    """Return where a player delays (`mdplay.solving.values.delays`), given the values for player 0."""
    sign = -1 if player else 1
    tolerance = -slacks(value) if sign * endless >= 0 else slacks(value)
    return np.asarray(sign * value < sign * endless + tolerance, dtype=bool)


def iterate_values(
    game: Game[Any],
    state: State | None = None,
    *,
    threads: int | None = None,
    goal: float = GOAL,
    show: Show | None = None,
) -> BoundsTable:
    """Return bounds of all states that are reachable from a state (default: the start).

    A single-player game in which rewards can be earned or paid without end is solved as an MDP, by planning.
    """
    graph = explore(game, state, threads=threads, show=show)
    try:
        return _Iteration(graph, goal, show).run()
    except EndlessRewards:
        if num_players(game) == 2:
            raise
    found = planned_values(graph, 0, np.zeros(len(graph.target)))
    if np.isinf(found.low[0]) and found.low[0] == found.high[0]:
        total = "earns rewards without end" if found.low[0] > 0 else "never ends and pays without end"
        raise GameError(f"the value of {game.text(graph.state(0))} is infinite: the best policy {total}")
    return BoundsTable(graph, found.low, found.high, found.action)


class _Iteration:
    """The bounds of one graph."""

    def __init__(self, graph: GameGraph, goal: float, show: Show | None) -> None:
        self.graph, self.goal, self.watch = graph, goal, TaskGroup(1, show)
        self.low = np.where(graph.kind == END, graph.result, -np.inf)
        self.high = np.where(graph.kind == END, graph.result, np.inf)
        self.label, count = strong_components(graph.first_edge.astype(np.uint64), graph.target)
        order = np.lexsort((-np.arange(graph.num_states), self.label))  # later states first
        self.order, self.starts = order.astype(np.uint32), np.searchsorted(self.label[order], np.arange(count + 1))

    def run(self) -> BoundsTable:
        """Solve all components, those that need help one by one."""
        inside = self.label[self.graph.owner] == self.label[self.graph.target]
        staying = end_components(self.arrays(), np.ones(len(self.arrays().reward), dtype=bool)).label >= 0
        loops = np.zeros(len(self.starts) - 1, np.uint8)
        loops[self.label[staying]] = 1
        loops[self.label[self.graph.owner[inside & (self.graph.points != 0.0)]]] = 1
        at = 0
        while at < len(loops):
            at = self._close_from(at, loops)
            if at < len(loops):
                self._close_with_help(at, bool(staying[self._states(at)].any()))
                at += 1
        return BoundsTable(self.graph, self.low, self.high)

    def _states(self, component: int) -> Integers:
        return self.order[self.starts[component] : self.starts[component + 1]]

    def _close_from(self, first: int, loops: Integers) -> int:
        watch = self.watch
        components = Components(self.order, self.starts, self.label, loops)
        limits = (float(self.graph.game.endless), self.goal, watch.stop, watch.progress)
        task = partial(close_all, components, first, self.graph.edges, *limits, Bounds(self.low, self.high))
        at, status = watch.run([task])[0]
        if status == TOO_LONG:
            raise LimitError(f"the values of a component did not converge in {SWEEPS:,} sweeps")
        return int(at)

    # ---------------------------------------------------------------- components that need help
    def arrays(self) -> ModelArrays:
        """Return the graph as the planner's arrays (`choice_arrays`)."""
        if not hasattr(self, "_arrays"):
            self._arrays = choice_arrays(self.graph)
        return self._arrays

    def _close_with_help(self, component: int, stays: bool) -> None:
        states, graph = self._states(component), self.graph
        inner = np.flatnonzero((self.label == component)[graph.owner] & (self.label == component)[graph.target])
        if (graph.points[inner] != 0.0).any():
            if stays:
                place = graph.game.text(graph.state(int(graph.owner[inner[0]])))
                raise EndlessRewards(
                    f"rewards can be earned without end, as from {place}; such a game has no value"
                )
            self._begin_with_points(component, states, inner)
        else:
            self._begin(component, states)
        for _ in range(ROUNDS):
            limits = (self.goal, SHORT if stays else SWEEPS, self.watch.stop)
            task = partial(close_component, states, graph.edges, *limits, Bounds(self.low, self.high))
            status = self.watch.run([task])[0]
            if status == CLOSED or (status == OPEN and not stays):
                return
            before = self.low[states].sum(), self.high[states].sum()
            self._leave_or_stay(states)
            if status == OPEN and (self.low[states].sum(), self.high[states].sum()) == before:
                return  # the precision of doubles is reached
        raise LimitError(f"the values of a component did not converge in {ROUNDS:,} rounds")

    def _exits(self, component: int) -> tuple[float, float]:
        """Return the least and the largest of ``endless`` and the values of the edges out of a component."""
        graph, endless = self.graph, float(self.graph.game.endless)
        out = (self.label == component)[graph.owner] & (self.label != component)[graph.target]
        low, high = (bound[graph.target[out]] + graph.points[out] for bound in (self.low, self.high))
        return float(low.min(initial=endless)), float(high.max(initial=endless))

    def _begin(self, component: int, states: Integers) -> None:
        least, most = self._exits(component)
        self.low[states], self.high[states] = least, most

    def _begin_with_points(self, component: int, states: Integers, inner: Integers) -> None:
        """Initialize the bounds by the rewards of as many steps as the potential allows."""
        least, most = self._exits(component)
        potential = np.zeros(self.graph.num_states)
        if not raise_potential(states, self.label, self.graph.edges, potential):
            raise LimitError(
                f"games stay too long in a component: the potential did not converge in {SWEEPS:,} sweeps"
            )
        steps = 4.0 * potential[states]  # twice for decreases of 1/2, and twice for rounding
        largest = float(np.abs(self.graph.points[inner]).max())
        self.low[states], self.high[states] = least - largest * steps, most + largest * steps

    def _leave_or_stay(self, states: Integers) -> None:
        """Narrow the bounds of end components: a player gets at most ``endless`` or the best exit there."""
        endless = float(self.graph.game.endless)
        among = np.zeros(self.graph.num_states, dtype=bool)
        among[states] = True
        for gainer, bound, other in ((0, self.high, self.low), (1, self.low, self.high)):
            found = end_components(self.arrays(), self._kept(1 - gainer, other, among))
            for number in np.unique(found.label[states][found.label[states] >= 0]):
                inside = found.label == number
                best = self._best_exit(gainer, inside, found, bound, endless)
                cap = np.minimum if gainer == 0 else np.maximum
                bound[inside] = cap(bound[inside], best)

    def _kept(self, player: int, bound: Floats, among: Mask) -> Mask:
        """Return the choices of these states, those of a player only if they are best by the bound."""
        graph, kept = self.graph, among[self.arrays().owner]
        chosen = np.flatnonzero(kept)
        first = self.arrays().first_transition[chosen]
        owner, value = graph.owner[first], bound[graph.target[first]] + graph.points[first]
        near = np.abs(value - bound[owner]) <= slacks(value)
        kept[chosen] = (graph.kind[owner] != player) | near
        return kept

    def _best_exit(self, gainer: int, inside: Mask, found: EndComponents, bound: Floats, endless: float) -> float:
        """Return the best of staying and of the edges of ``gainer`` out of an end component."""
        graph = self.graph
        out = inside[graph.owner] & ~inside[graph.target] & (graph.kind[graph.owner] == gainer)
        values = bound[graph.target[out]] + graph.points[out]
        return float(values.max(initial=endless) if gainer == 0 else values.min(initial=endless))
