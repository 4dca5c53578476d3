"""All states of a game and what joins them, found once.

States are numbered breadth first from the start, their edges in the order of actions or outcomes:

    state s   kind[s] = 0 or 1: that player moves; CHANCE; END, worth result[s] to player 0
              edges first_edge[s] .. first_edge[s + 1] - 1
    edge e    action[e] (or outcome) leads to target[e], earns player 0 points[e]; chance[e] is its probability
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from mdplay.bits import lowest, nonempty, without_lowest
from mdplay.checking.contract_checks import SLACK, diagnose_position, spot_check
from mdplay.compiling import State, kernel, native, unchecked_view, width
from mdplay.errors import FormatError, GameError
from mdplay.game import Game
from mdplay.runtime.memory import available
from mdplay.runtime.threads import Show, StopFlag, TaskGroup
from mdplay.states.enumeration import DEGREE, Enumeration, States
from mdplay.states.graph_search import Floats, Integers, has_cycle, lengths, preorder
from mdplay.states.keys import Keys, choices_of, no_chance, read_key

CHANCE, END = 2, 3
MAX_STATES = 50_000_000
NOWHERE = -1

Opponent = str | Callable[[Any], int | Mapping[int, float]]


class Edges(NamedTuple):
    """What kernels over a graph take of it."""

    first_edge: Integers
    target: Integers
    kind: Integers
    chance: Floats
    points: Floats


@dataclass(frozen=True, eq=False)
class GameGraph:
    """All states of a game; see the module's text for the arrays."""

    game: Game[Any]
    states: States
    kind: Integers
    result: Floats
    first_edge: Integers
    action: Integers
    points: Floats
    chance: Floats

    @property
    def target(self) -> Integers:
        """Where each edge leads."""
        return self.states.target

    @property
    def edges(self) -> Edges:
        """The arrays that kernels take."""
        return Edges(self.first_edge, self.target, self.kind, self.chance, self.points)

    @property
    def num_states(self) -> int:
        """The number of states, ends included."""
        return len(self.kind)

    def state(self, number: int) -> Any:
        """Return the state with a number."""
        return self.states.state(number)

    def index(self, state: State) -> int:
        """Return the number of a state; raise KeyError if no game reaches it."""
        number = self.states.number(state)
        if number is None:
            raise KeyError(state)
        return number

    @cached_property
    def owner(self) -> Integers:
        """The state of every edge."""
        return np.repeat(np.arange(self.num_states, dtype=np.int64), lengths(self.first_edge))

    @cached_property
    def has_cycle(self) -> bool:
        """Whether the graph has a cycle."""
        return has_cycle(self.first_edge, self.target)

    def preorder(self) -> Integers:
        """Return the states in the order in which a depth-first search, lowest action first, meets them."""
        return preorder(self.first_edge, self.target)

    def uniform(self) -> Floats:
        """Return the probability of each edge when every action of a state is as likely as the others."""
        return 1.0 / lengths(self.first_edge)[self.owner]

    def weights(self, opponent: Opponent, player: int) -> Floats:
        """Return the probability of each edge when ``player`` follows a policy: "uniform" or a function.

        The function gets a state and returns an action, or probabilities by action.
        """
        if opponent == "uniform":
            return self.uniform()
        if not callable(opponent):
            raise FormatError(f"the opponent {opponent!r} is neither 'uniform' nor a function of states")
        weights = np.zeros(len(self.target))
        for number in np.flatnonzero(self.kind == player):
            edges = slice(int(self.first_edge[number]), int(self.first_edge[number + 1]))
            weights[edges] = self._answer(opponent, int(number), self.action[edges].tolist())
        return weights

    def _answer(self, opponent: Callable[[Any], Any], number: int, actions: list[int]) -> list[float]:
        """Return what a policy answers in one state, checked."""
        given = opponent(self.state(number))
        found = {int(given): 1.0} if isinstance(given, (int, np.integer)) else dict(given)
        answer = [float(found.get(action, 0.0)) for action in actions]
        if abs(sum(answer) - 1.0) > 1e-6 or min(answer) < 0.0:
            place = self.game.text(self.state(number))
            raise FormatError(f"the policy answers {given} in {place}; its actions are {actions}")
        return answer


def explore(
    game: Game[Any],
    state: State | None = None,
    *,
    max_states: int | None = None,
    threads: int | None = None,
    show: Show | None = None,
) -> GameGraph:
    """Return all states that one (default: the start) reaches; more than ``max_states`` are refused."""
    spot_check(game)
    most = MAX_STATES if max_states is None else max_states
    work = Enumeration(game, state, threads=threads, memory=available() // 2, max_states=most)
    states = work.finish(show)
    return _described(states)


def _described(states: States) -> GameGraph:
    """Return the graph of states, with what the rules tell of each."""
    game, count, edges = states.game, len(states), len(states.target)
    kind, result = np.zeros(count, np.uint8), np.zeros(count)
    action = np.zeros(edges, np.uint16)
    points, chance = np.zeros(edges), np.zeros(edges)  # untouched zeros take no memory
    first_edge = np.zeros(count + 1, np.int64)
    np.cumsum(states.node & DEGREE, out=first_edge[1:])
    watch = TaskGroup()
    given = (native(game), states.key_list, watch.stop)
    task = partial(describe, *given, kind, result, action, points, chance)
    broken = watch.run([task])[0]
    if broken != NOWHERE:
        state = states.state(broken)
        diagnose_position(game, state)
        raise GameError(f"a rule of {type(game).__name__} changes its answer in {game.text(state)}")
    return GameGraph(game, states, kind, result, first_edge, action, points, chance)


@kernel(plain_first=True)
def describe(
    game: Game[Any],
    keys: Keys,
    stop: StopFlag,
    out_kind: Any,
    out_result: Any,
    out_action: Any,
    out_points: Any,
    out_chance: Any,
) -> int:
    """Write what the rules tell of each state and edge; return the first state that breaks a promise, or NOWHERE.

    The edges are as many as the enumeration found, unless a rule changes its answer: that is looked for.
    """
    listed, fields, words = unchecked_view(keys.all_words), unchecked_view(keys.layout), keys.words
    row, edge = np.zeros(width(game), np.uint64), 0
    for i in range(len(out_kind)):
        if stop[0]:
            return NOWHERE
        s = read_key(game, listed, i * words, fields, unchecked_view(row))
        mask, by_chance = choices_of(game, s)
        mover, fair, total = game.player(s), True, 0.0
        out_kind[i] = CHANCE if by_chance else mover if nonempty(mask) else END
        if not nonempty(mask):
            out_result[i] = game.result(s)
            fair = np.isfinite(out_result[i])
        while nonempty(mask):
            if edge == len(out_action):
                return i
            choice = lowest(mask)
            mask = without_lowest(mask)
            out_action[edge] = choice
            if by_chance:
                out_chance[edge] = game.probability(s, choice)
                fair &= not no_chance(out_chance[edge])
                total += out_chance[edge]
            elif game.has_reward:
                earned = float(game.reward(s, choice))
                out_points[edge] = -earned if mover else earned
                fair &= np.isfinite(earned)
            edge += 1
        if not fair or (by_chance and abs(total - 1.0) > SLACK):
            return i
    return NOWHERE
