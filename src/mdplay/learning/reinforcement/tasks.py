"""Tasks: what an agent learns in, stored so that one step of experience takes a few nanoseconds.

A `Task` is a finite MDP with a start and names.  A *pair* is a choice of the MDP, a state with an action.  The
outcomes of a pair form an alias table (Walker 1977, Vose 1991): one random number and one comparison select an
outcome, whatever their number; a pair with a single outcome uses no random number.

    pair k      arrays.first[s] + i, the i-th action of state s
    outcomes    rows[k].begin .. rows[k].begin + rows[k].count - 1
    outcome j   is selected if the number is below ``cut``, otherwise outcome ``other``

A `FloatTask` has states of real numbers: plain Python methods that are compiled like the rules of a game.  Its
values are linear in binary features, such as tiles.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from mdplay.bits import U64, unit
from mdplay.compiling import inlined
from mdplay.compiling.contract import check_is_game
from mdplay.errors import FormatError, GameError, LimitError, short
from mdplay.game import Compiled, num_players
from mdplay.planning.mdp import by_decision, mdp_of
from mdplay.planning.model import Model
from mdplay.rng import advance, scramble
from mdplay.states.graph import END
from mdplay.states.graph_search import Floats, lengths

ROW = np.dtype((np.record, np.dtype([("begin", np.int32), ("count", np.int32)], align=True)))
_OUTCOME = [("cut", np.float64), ("reward", np.float64), ("target", np.int32), ("other", np.int32)]
OUTCOME = np.dtype((np.record, np.dtype(_OUTCOME, align=True)))
NO_CHANGE = 1 << 60  # step of a change that never happens
MAX_GAME_STATES = 2_000_000  # states of a game that is learned as a task
Policy = str | Sequence[int] | npt.NDArray[Any]


@dataclass(frozen=True)
class World(Compiled):
    """The properties of a task that are constants in kernels."""

    random: bool = True  # some pair has more than one outcome
    width: int = 0  # the number of actions of every state that has any; 0: it varies
    active: int = 0  # active features of a state; 0: a table with one value for each pair
    is_model: ClassVar[bool] = True

    def actions(self, first: int, last: int) -> int:
        """Return the number of actions of a state, given its first pair and that of the next state."""
        return self.width if self.width else last - first


class TaskArrays(NamedTuple):
    """A task as kernels read it."""

    first: npt.NDArray[np.int32]  # first pair of each state
    rows: npt.NDArray[Any]
    outcomes: npt.NDArray[Any]
    start: npt.NDArray[Any]  # one alias row of states
    features: npt.NDArray[np.int32]  # active features of each state
    discount: float
    change_at: int  # from this step of a run on, the rows of the changed model are used


@dataclass(frozen=True, eq=False)
class Task:
    """A finite MDP with a start: a state, or probabilities by state.

    ``labels`` names the states and ``actions`` the actions.  ``cells`` are the (row, column) of the states of a
    drawn grid.  ``later`` is the MDP from step ``change`` of a run on.  ``features`` lists the active binary
    features of every state, for values that are linear in them; without it there is one value for each pair.
    """

    mdp: Model
    start: int | Mapping[int, float] = 0
    name: str = "task"
    labels: Sequence[str] = ()
    actions: Sequence[str] = ()
    drawing: Sequence[str] = ()
    cells: Sequence[tuple[int, int]] = ()
    later: Model | None = None
    change: int = NO_CHANGE
    features: npt.NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        if self.mdp.minimise:
            raise FormatError("learning maximises rewards, and the MDP has costs; negate them and omit minimise")
        if not isinstance(self.start, (Integral, Mapping)):
            raise FormatError(f"the start {short(self.start)!r} is neither a state nor probabilities by state")
        given = self.start if isinstance(self.start, Mapping) else {self.start: 1.0}
        for state, share in given.items():
            if not isinstance(state, Integral) or not 0 <= state < self.mdp.num_states or not share >= 0.0:
                raise FormatError(f"the start {short(state)} is not one of {self.mdp.num_states} states")
        if not self.starts:
            raise FormatError("the start has no state of positive probability")
        if all(self.mdp.terminal[state] for state in self.starts):
            raise FormatError(f"every episode starts in a terminal state, {next(iter(self.starts))}; name another")

    @property
    def starts(self) -> dict[int, float]:
        """The states in which an episode may start, with their probabilities."""
        if isinstance(self.start, Mapping):
            return {int(state): float(share) for state, share in self.start.items() if share > 0.0}
        return {int(self.start): 1.0}

    @property
    def world(self) -> World:
        """The constants of the task in kernels."""
        counts = lengths(self.mdp.first_choice)
        widths = np.unique(counts[counts > 0])
        random = any(
            bool((lengths(model.first_transition) > 1).any())
            for model in (self.mdp, self.later)
            if model is not None
        )
        active = 0 if self.features is None else self.features.shape[1]
        if active and len(widths) != 1:
            raise FormatError("features need the same number of actions in every state")
        return World(random, int(widths[0]) if len(widths) == 1 else 0, active)

    def arrays(self) -> TaskArrays:
        """Return the arrays for kernels; the rows of a changed model follow those of the first."""
        rows, outcomes = _alias_rows(self.mdp)
        if self.later is not None:
            more, others = _alias_rows(self.later)
            more["begin"] += len(outcomes)
            others["other"] += len(outcomes)
            rows, outcomes = np.concatenate([rows, more]), np.concatenate([outcomes, others])
        states, shares = zip(*self.starts.items(), strict=True)
        start = np.zeros(len(states), OUTCOME)
        start["cut"], start["other"] = alias(np.array(shares) / sum(shares))
        start["target"] = states
        features = np.zeros((1, 1), np.int32) if self.features is None else self.features
        return TaskArrays(
            np.ascontiguousarray(self.mdp.first_choice, np.int32),
            rows,
            outcomes,
            start,
            np.ascontiguousarray(features, np.int32),
            float(self.mdp.discount),
            int(self.change),
        )

    def probabilities(self, policy: Policy) -> Floats:
        """Return the probability of every pair under a policy.

        The policy is "uniform", an action for each state (-1 where there is none), or a probability for each pair.
        """
        model, counts = self.mdp, lengths(self.mdp.first_choice)
        if isinstance(policy, str):
            if policy != "uniform":
                raise FormatError(f"policy {short(policy)!r} is unknown; use uniform, actions or probabilities")
            return np.repeat(1.0 / np.maximum(counts, 1), counts)
        given = np.asarray(policy)
        if given.shape == (model.num_choices,) and given.dtype.kind == "f":
            sums = _sums(model, given)
            if given.min(initial=0.0) < 0.0 or not np.allclose(sums[counts > 0], 1.0, atol=1e-9):
                raise FormatError("the probabilities of a policy must sum to 1 in every state")
            return given
        if given.shape != (model.num_states,):
            raise FormatError(
                f"a policy has {model.num_states} actions or {model.num_choices} probabilities, not {given.shape}"
            )
        chosen: Floats = (model.action.astype(np.int64) == given.astype(np.int64)[model.owners()]).astype(float)
        missing = np.flatnonzero((counts > 0) & (_sums(model, chosen) == 0))
        if len(missing):
            state = int(missing[0])
            raise FormatError(f"the policy takes action {given[state]} in state {state}, which is not available")
        return chosen

    def chain(self, policy: Policy) -> Task:
        """Return the task in which a policy chooses: every state has one action, and Q is the policy's V."""
        model, share = self.mdp, self.probabilities(policy)
        counts = lengths(model.first_transition)
        weight = np.repeat(share, counts) * model.probability
        rewards = np.repeat(model.reward, counts) if model.transition_reward is None else model.transition_reward
        kept, owner = weight > 0.0, np.repeat(model.owners(), counts)
        alive = lengths(model.first_choice) > 0
        sizes = np.bincount(owner[kept], minlength=model.num_states)[alive]
        first = np.concatenate([[0], np.cumsum(sizes)])
        chained = Model(
            first_choice=np.concatenate([[0], np.cumsum(alive)]),
            action=np.zeros(int(alive.sum()), np.int64),
            first_transition=first,
            target=model.target[kept],
            probability=weight[kept],
            reward=_sums(model, share * model.reward)[alive],
            discount=model.discount,
            transition_reward=rewards[kept],
        )
        return replace(self, mdp=chained, later=None, change=NO_CHANGE)


def _sums(model: Model, values: Floats) -> Floats:
    """Return the sum of the values of the pairs of each state."""
    return np.bincount(model.owners(), values, model.num_states).astype(float)


def task_of(thing: Any, *, start: Any = None, opponent: Any = None, player: int = 0) -> Task:
    """Return the task of an MDP or of a game; a task is returned as it is.

    The start of an MDP is ``start``, or any state that has actions, with equal probability.  A game needs no
    start; a two-player game needs an ``opponent``: "uniform", or a function from a state to an action or to
    probabilities by action.
    """
    from mdplay.game import Game

    if isinstance(thing, Game):
        return game_task(thing, player=player, opponent=opponent)
    found = thing
    if isinstance(thing, Model):
        live = np.flatnonzero(~thing.terminal)
        if not len(live):
            raise FormatError("the MDP has no state with an action; there is nothing to learn")
        found = Task(thing, {int(s): 1.0 / len(live) for s in live}, "MDP")
    if not isinstance(found, Task):
        check_is_game(found)
    task: Task = found
    return task if start is None else replace(task, start=start)


def game_task(game: Any, *, player: int = 0, opponent: Any = None) -> Task:
    """Return the task of a player of a game: its states are those in which the player decides.

    Moves of the opponent and of chance are part of a step, with exact probabilities.  Every outcome keeps its own
    reward, so that a learner sees wins and losses and not their mean.
    """
    from mdplay.states.graph import explore

    name = type(game).__name__
    if opponent is None and num_players(game) == 2:
        raise GameError(
            f"{name} is a two-player game; name an opponent, for example uniform, or use method network"
        )
    try:
        graph = explore(game, max_states=MAX_GAME_STATES)
    except LimitError as error:
        raise LimitError(
            f"{error}, and this method lists them all; use a method of self-play, such as network"
        ) from None
    own = graph.kind == player
    weights = graph.weights("uniform" if opponent is None else opponent, 1 - player)
    whole = mdp_of(graph, player, weights)
    if game.has_reward:
        model = _collapsed(whole, own | (graph.kind == END), _edge_rewards(graph, player))
    else:
        model = by_decision(whole, own | (graph.kind == END), 1.0)
        final = np.where(graph.kind == END, (1.0 - 2.0 * player) * graph.result, 0.0)
        object.__setattr__(model, "transition_reward", np.ascontiguousarray(final[model.target.astype(np.int64)]))
    starts = {0: 1.0}
    if not own[0]:
        row = slice(int(model.first_transition[0]), int(model.first_transition[1]))
        pairs = zip(model.target[row].tolist(), model.probability[row].tolist(), strict=True)
        starts = {int(s): p for s, p in pairs if own[s]}
    if not starts:
        raise GameError(f"player {player} has no decision in {name}; there is nothing to learn")
    task = Task(_deciding(model, own), starts, name)
    object.__setattr__(task, "graph", graph)
    return task


def _edge_rewards(graph: Any, player: int) -> Floats:
    from mdplay.planning.mdp import _gains

    return _gains(graph, player, None)[0]


def _deciding(model: Model, own: npt.NDArray[np.bool_]) -> Model:
    """Return the model in which only the states of ``own`` have choices; no choice leads to the others."""
    kept = own[model.owners()]
    counts = lengths(model.first_transition)
    edges = np.repeat(kept, counts)
    rewards = model.transition_reward
    return Model(
        first_choice=np.concatenate([[0], np.cumsum(np.where(own, lengths(model.first_choice), 0))]),
        action=model.action[kept],
        first_transition=np.concatenate([[0], np.cumsum(counts[kept])]),
        target=model.target[edges],
        probability=model.probability[edges],
        reward=model.reward[kept],
        discount=model.discount,
        transition_reward=None if rewards is None else rewards[edges],
        reward_error=model.reward_error,
    )


def _collapsed(model: Model, keeps: npt.NDArray[np.bool_], rewards: Floats) -> Model:
    """Return the model in which a step ends at the next state of ``keeps``; each total reward is an outcome."""
    first, row = model.first_choice.astype(np.int64), model.first_transition.astype(np.int64)
    known: dict[int, dict[tuple[int, float], float]] = {}

    def outcomes(pair: int) -> dict[tuple[int, float], float]:
        found: dict[tuple[int, float], float] = {}
        for j in range(row[pair], row[pair + 1]):
            target, p, r = int(model.target[j]), float(model.probability[j]), float(rewards[j])
            later = {(target, 0.0): 1.0} if keeps[target] else known[target]
            for (state, gain), share in later.items():
                found[state, gain + r] = found.get((state, gain + r), 0.0) + p * share
        return found

    passed = set(np.flatnonzero(~keeps).tolist())
    for root in sorted(passed):
        stack = [root]
        while stack:
            state = stack[-1]
            targets = {int(t) for t in model.target[row[first[state]] : row[first[state] + 1]]}
            waits = [t for t in targets if t in passed and t not in known]
            if len(stack) > model.num_states:
                raise GameError("the opponent and chance can move without end between two decisions")
            if waits and state not in known:
                stack.append(waits[0])
                continue
            stack.pop()
            known.setdefault(state, outcomes(int(first[state])))
    found = [outcomes(k) for k in range(model.num_choices)]
    edges = [(t, r, p) for table in found for (t, r), p in table.items()]
    target, gains, probability = (np.array(column) for column in zip(*edges, strict=True))
    starts = np.concatenate([[0], np.cumsum([len(table) for table in found])])
    mean = np.add.reduceat(gains * probability, starts[:-1])
    return Model(model.first_choice, model.action, starts, target, probability, mean, transition_reward=gains)


# ---------------------------------------------------------------- alias tables
def _alias_rows(model: Model) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the rows of all pairs and their outcomes."""
    first = model.first_transition.astype(np.int64)
    rows, outcomes = np.zeros(model.num_choices, ROW), np.zeros(model.num_transitions, OUTCOME)
    rows["begin"], rows["count"] = first[:-1], np.diff(first)
    kept = model.transition_reward
    outcomes["target"], outcomes["cut"] = model.target, 1.0
    outcomes["reward"] = np.repeat(model.reward, np.diff(first)) if kept is None else kept
    for k in np.flatnonzero(rows["count"] > 1):
        row = slice(first[k], first[k + 1])
        cut, other = alias(model.probability[row])
        outcomes["cut"][row], outcomes["other"][row] = cut, first[k] + other
    return rows, outcomes


def alias(probability: Floats) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Return the cuts and aliases of a row of probabilities (Vose 1991)."""
    size = len(probability)
    scaled = np.asarray(probability, float) * size
    cut, other = np.ones(size), np.arange(size)
    small = [i for i in range(size) if scaled[i] < 1.0]
    large = [i for i in range(size) if scaled[i] >= 1.0]
    while small and large:
        i, j = small.pop(), large[-1]
        cut[i], other[i] = scaled[i], j
        scaled[j] -= 1.0 - scaled[i]
        if scaled[j] < 1.0:
            small.append(large.pop())
    return cut, other


# ---------------------------------------------------------------- real-valued states
class FloatTask(Compiled):
    """A task with real-valued states, in plain Python; its methods are compiled like the rules of a game.

    The state is a NamedTuple of numbers.  Override all five methods, and set the number of actions (``width``), of
    active features of a state (``active``) and of features (``features``); ``discount`` is 1 unless you set it.
    """

    is_model: ClassVar[bool] = False
    random: ClassVar[bool] = True
    width: ClassVar[int] = 2
    active: ClassVar[int] = 1
    features: ClassVar[int] = 1
    discount: ClassVar[float] = 1.0

    def start(self, word: U64) -> Any:
        """Return the first state of an episode; ``unit(word)`` is uniform in [0, 1)."""
        raise NotImplementedError

    def step(self, s: Any, action: int, word: U64) -> Any:
        """Return the state after an action."""
        raise NotImplementedError

    def reward(self, s: Any, action: int, after: Any) -> float:
        """Return the reward of a step."""
        raise NotImplementedError

    def is_terminal(self, s: Any) -> bool:
        """Return whether the episode has ended."""
        raise NotImplementedError

    def feature(self, s: Any, i: int) -> int:
        """Return the number of active feature i, 0 to ``features - 1``."""
        raise NotImplementedError


def tile(tiling: int, tilings: int, x: float, axis: int) -> int:
    """Return the tile of a tiling that contains x on an axis; x is measured in tiles.

    Tilings are displaced by odd multiples of a fraction of a tile (Sutton and Barto, section 9.5.4).
    """
    return (math.floor(x * tilings) + tiling * (1 + 2 * axis)) // tilings


# ---------------------------------------------------------------- parts of kernels
@inlined
def draw(outcomes: Any, begin: int, count: int, word: Any) -> int:
    """Return an outcome of an alias row, selected by a random word."""
    u = unit(word) * count
    i = int(u)
    j = begin + i
    return j if u - i < outcomes[j].cut else int(outcomes[j].other)


@inlined
def begin(arrays: TaskArrays, x: Any) -> Any:
    """Return the first state of an episode, and the next state of the random stream."""
    j = 0
    if len(arrays.start) > 1:
        x = advance(x)
        j = draw(arrays.start, 0, len(arrays.start), scramble(x))
    return int(arrays.start[j].target), x


@inlined
def move(world: Any, arrays: TaskArrays, k: int, x: Any) -> Any:
    """Return the target and the reward of pair k, and the next state of the random stream."""
    row = arrays.rows[k]
    j = int(row.begin)
    if world.random and row.count > 1:
        x = advance(x)
        j = draw(arrays.outcomes, j, int(row.count), scramble(x))
    found = arrays.outcomes[j]
    return int(found.target), found.reward, x
