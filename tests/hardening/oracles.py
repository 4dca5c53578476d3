"""Exact answers about random games, against exact values in fractions.

A game is a random graph of numbered nodes: chance, points, extra turns, cycles with every value of ``endless``,
a symmetry, more than 64 actions and results beyond 1, each present or not.  The oracle knows nothing of mdplay's
algorithms: it splits the graph into strongly connected components, solves those without chance by attractors and
those with chance by trying all positional strategies, and evaluates policies by linear equations, all in
fractions.  Every method that applies is asked for the value, the bounds and the moves of every position; the
policy of ``Solution.action`` is played to the end, against itself and against its best response.

    python -m tests.hardening.oracles SEED NUMBER...       prints a line of JSON a game
"""

import contextlib
import itertools
import json
import math
import os
import random
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, ClassVar, NamedTuple

from mdplay import MDP, GameError, LimitError, depth_limited, make_agent, mcts, plan, prove, solve
from mdplay.bits import U64, Wide, elements
from mdplay.game import Game
from mdplay.rng import Random
from tests.hardening.campaign import Tally
from tests.hardening.table_games import draw_shares
from tests.helpers import ROOT

OVER, MOVE, CHANCE = range(3)
INFINITE = Fraction(10**9)  # stands for a total that has no bound
MAX_STRATEGIES = 3000  # pairs of strategies that are tried in a component with chance
METHODS = ("auto", "hashed", "indexed", "retrograde", "value-iteration", "proof")
BLOCK = 25  # games of one child process
COMPILED_EVERY = 600  # a game compiles for a minute
SECONDS = 60  # per game, and per child


# ---------------------------------------------------------------- random games
class Shape(NamedTuple):
    """What a random game has."""

    cycles: bool
    chance: bool
    points: bool
    large: bool  # results beyond -1, 0 and 1
    costs: bool  # every move of a single-player game costs something, on cycles too
    widest: int  # actions are below this number
    flips: bool  # a symmetry exchanges action a with widest - 1 - a
    integers: bool  # results and points are annotated as integers
    numbered: bool  # the game numbers its states, and every step raises the number


class Node(NamedTuple):
    """A node of a graph; edges are (action, target, flip, reward to the mover, probability)."""

    kind: int
    player: int
    result: float
    edges: tuple[tuple[int, int, int, float, float], ...]


def draw_graph(seed: int, shape: Shape, players: int) -> tuple[Node, ...]:
    """Return the nodes of a random game."""
    rng = random.Random(seed)
    size = rng.randint(5, 9) if shape.cycles and shape.chance else rng.randint(5, 22)
    kinds = [MOVE] + [
        rng.choices((OVER, MOVE, CHANCE), (2, 6, 3 if shape.chance else 0))[0] for _ in range(1, size)
    ]
    kinds[-1] = OVER
    targets: list[list[int]] = []
    for s in range(size):
        degree = 0 if kinds[s] == OVER else rng.choice((1, 2, 2, 3))
        stays = shape.cycles and players == 1 and rng.random() < 0.2  # a move may change nothing
        pool = [t for t in range(size) if t != s or stays] if shape.cycles else list(range(s + 1, size))
        if kinds[s] == CHANCE:  # chance alone does not go on for ever
            pool = [t for t in pool if kinds[t] != CHANCE or t > s]
        targets.append(rng.sample(pool, min(degree, len(pool))))
    reach = _reachable(targets)
    nodes = []
    for s in range(size):
        actions = sorted(rng.sample(range(shape.widest), len(targets[s])))
        shares = draw_shares(rng, len(actions))
        edges = []
        for action, target, share in zip(actions, targets[s], shares, strict=True):
            reward = 0.0
            if shape.costs and kinds[s] == MOVE:
                reward = -float(rng.randint(1, 3)) if shape.integers else -rng.randint(1, 16) / 8
            elif shape.points and kinds[s] == MOVE and s not in reach[target]:
                reward = float(rng.randint(-2, 2)) if shape.integers else rng.randint(-16, 16) / 8
            flip = rng.randrange(2) if shape.flips else 0
            edges.append((action, target, flip, reward, share))
        result = rng.randint(-5, 5) if shape.large else rng.randint(-1, 1)
        nodes.append(Node(kinds[s], rng.randrange(players), float(result), tuple(edges)))
    return tuple(nodes)


def _reachable(targets: list[list[int]]) -> list[set[int]]:
    """Return the nodes that each node reaches, itself included."""
    found = []
    for s in range(len(targets)):
        seen, left = {s}, [s]
        while left:
            left += [t for t in targets[left.pop()] if t not in seen and not seen.add(t)]  # type: ignore[func-returns-value]
        found.append(seen)
    return found


class Spot(NamedTuple):
    number: int
    flip: int
    player: int


class Lone(NamedTuple):
    number: int
    flip: int


def column(nodes: tuple[Node, ...], widest: int, which: int) -> tuple[Any, ...]:
    """Return one number of every edge, ``widest`` entries a node."""
    found = []
    for node in nodes:
        row = [0] * widest
        for edge in node.edges:
            row[edge[0]] = edge[which]  # type: ignore[call-overload]
        found += row
    return tuple(float(x) for x in found) if which > 2 else tuple(found)


def turned(action: int, widest: int, flip: int) -> int:
    """Return the action under the symmetry."""
    return widest - 1 - action if flip else action


def family(spot: Any) -> Any:
    """Return the base class of games over a type of state."""

    @dataclass(frozen=True)
    class Drawn(Game[spot]):
        """A random game."""

        seed: int = 0

        shape: ClassVar[Shape]

        @cached_property
        def nodes(self) -> tuple[Node, ...]:
            return draw_graph(self.seed, self.shape, 2 if spot is Spot else 1)

        @cached_property
        def numbers(self) -> tuple[int, ...]:
            return tuple(number for node in self.nodes for number in (node.kind, node.player))

        @cached_property
        def results(self) -> tuple[float, ...]:
            return tuple(node.result for node in self.nodes)

        @cached_property
        def masks(self) -> tuple[int, ...]:
            """The low and the high word of the actions of a node, as they are and exchanged."""
            found = []
            for node in self.nodes:
                for flip in (0, 1):
                    mask = sum(1 << turned(edge[0], self.shape.widest, flip) for edge in node.edges)
                    found += [mask & (1 << 63) - 1 if self.shape.widest < 64 else mask & (1 << 64) - 1, mask >> 64]
            return tuple(found)

        @cached_property
        def targets(self) -> tuple[int, ...]:
            return column(self.nodes, self.shape.widest, 1)

        @cached_property
        def flips(self) -> tuple[int, ...]:
            return column(self.nodes, self.shape.widest, 2)

        @cached_property
        def rewards(self) -> tuple[float, ...]:
            return column(self.nodes, self.shape.widest, 3)

        @cached_property
        def chances(self) -> tuple[float, ...]:
            return column(self.nodes, self.shape.widest, 4)

        def place(self, s: spot, action: int) -> int:
            """Return where the entries of an edge are."""
            widest = len(self.targets) // len(self.results)
            return widest * s.number + (widest - 1 - action if s.flip else action)

        def after(self, s: spot, action: int) -> spot:
            place = self.place(s, action)
            return self.node(self.targets[place], s.flip ^ self.flips[place])

        def initial(self) -> spot:
            return self.node(0, 0)

        def step(self, s: spot, action: int) -> spot:
            return self.after(s, action)

    if spot is Spot:

        def node(self: Any, number: int, flip: int) -> Spot:
            return Spot(number, flip, self.numbers[2 * number + 1])
    else:

        def node(self: Any, number: int, flip: int) -> Lone:
            return Lone(number, flip)

    Drawn.node = node
    return Drawn


def methods_of(spot: Any, wide: bool, integers: bool) -> dict[str, Any]:
    """Return the methods of games over a type of state, for narrow or wide masks, by what a game has."""
    kind = Wide if wide else int

    if wide:

        def mask(self: Any, s: spot) -> kind:
            place = 4 * s.number + 2 * s.flip
            return Wide(U64(self.masks[place]), U64(self.masks[place + 1]))

        def legal(self: Any, s: spot) -> kind:
            return self.mask(s) if self.numbers[2 * s.number] == MOVE else Wide(U64(0), U64(0))

        def outcomes(self: Any, s: spot) -> kind:
            return self.mask(s) if self.numbers[2 * s.number] == CHANCE else Wide(U64(0), U64(0))
    else:

        def mask(self: Any, s: spot) -> kind:
            return self.masks[4 * s.number + 2 * s.flip]

        def legal(self: Any, s: spot) -> kind:
            return self.mask(s) if self.numbers[2 * s.number] == MOVE else 0

        def outcomes(self: Any, s: spot) -> kind:
            return self.mask(s) if self.numbers[2 * s.number] == CHANCE else 0

    def outcome(self: Any, s: spot, i: int) -> spot:
        return self.after(s, i)

    def probability(self: Any, s: spot, i: int) -> float:
        return self.chances[self.place(s, i)]

    if integers:

        def reward(self: Any, s: spot, action: int) -> int:
            return int(self.rewards[self.place(s, action)])

        def result(self: Any, s: spot) -> int:
            return int(self.results[s.number])
    else:

        def reward(self: Any, s: spot, action: int) -> float:
            return self.rewards[self.place(s, action)]

        def result(self: Any, s: spot) -> float:
            return self.results[s.number]

    def index(self: Any, s: spot) -> int:
        return s.number

    def state(self: Any, i: int) -> spot:
        return self.node(i, 0)

    def size(self: Any) -> int:
        return len(self.results)

    def symmetries(self: Any) -> int:
        return 2

    if spot is Spot:

        def image(self: Any, s: Spot, k: int) -> Spot:
            return Spot(s.number, s.flip ^ k, s.player)
    else:

        def image(self: Any, s: Lone, k: int) -> Lone:
            return Lone(s.number, s.flip ^ k)

    return {
        "mask": mask,
        "legal": legal,
        "chance": {"outcomes": outcomes, "outcome": outcome, "probability": probability},
        "points": {"reward": reward},
        "flips": {"symmetries": symmetries, "image": image},
        "numbers": {"index": index, "state": state, "size": size},
        "result": result,
    }


BASES = {spot: family(spot) for spot in (Spot, Lone)}


@cache
def game_class(spot: Any, shape: Shape, endless: int) -> Any:
    """Return the class of games of a shape."""
    parts = methods_of(spot, shape.widest > 64, shape.integers)
    methods = {name: parts[name] for name in ("mask", "legal", "result")} | {"shape": shape, "endless": endless}
    has = {"chance": shape.chance, "points": shape.points or shape.costs, "flips": shape.flips}
    for name in [name for name, given in (has | {"numbers": shape.numbered}).items() if given]:
        methods |= parts[name]
    return dataclass(frozen=True)(type("Drawn", (BASES[spot],), {**methods, "__module__": __name__}))


def game_of(number: int, seed: int) -> Any:
    """Return game ``number`` of a seed."""
    rng = random.Random(f"{seed} {number}")
    spot = rng.choice((Spot, Spot, Lone))
    cycles, chance, costs = rng.random() < 0.6, rng.random() < 0.5, False
    points = rng.random() < 0.35
    if spot is Lone and cycles and rng.random() < 0.3:
        costs, points = True, False
    endless = rng.choice((0, 0, 1, -1)) if cycles and not costs else 0
    large, flips, integers = rng.random() < 0.3, rng.random() < 0.4, rng.random() < 0.6
    numbered = not cycles and not flips and rng.random() < 0.4
    widest = rng.choice((6, 62, 120))
    shape = Shape(cycles, chance, points, large, costs, widest, flips, integers, numbered)
    return game_class(spot, shape, endless)(seed=rng.randrange(1 << 30))


# ---------------------------------------------------------------- the oracle
class Arc(NamedTuple):
    """An edge between states: the reward is player 0's."""

    action: int
    target: Any
    reward: Fraction
    probability: Fraction


class Unknown(Exception):
    """The oracle has no answer: too many strategies."""


class Oracle:
    """All states of a game that one reaches, with their exact values for player 0."""

    def __init__(self, game: Any, start: Any = None) -> None:
        self.game = game
        self.kind: dict[Any, int] = {}
        self.arcs: dict[Any, list[Arc]] = {}
        left = [game.initial() if start is None else start]
        while left:
            s = left.pop()
            if s in self.kind:
                continue
            self.kind[s], self.arcs[s] = self._read(s)
            left += [arc.target for arc in self.arcs[s]]
        self.value = self.solve(self.kind, self.arcs)

    def _read(self, s: Any) -> tuple[int, list[Arc]]:
        game = self.game
        if outcomes := elements(game.outcomes(s)):
            return CHANCE, [
                Arc(i, game.outcome(s, i), Fraction(0), Fraction(game.probability(s, i))) for i in outcomes
            ]
        sign = -1 if game.player(s) else 1
        moves = [
            Arc(a, game.step(s, a), sign * Fraction(game.reward(s, a)), Fraction(1))
            for a in elements(game.legal(s))
        ]
        return (game.player(s) if moves else OVER + 3), moves

    # kinds: 0 and 1 are players, CHANCE is 2, a terminal state is 3
    def solve(self, kind: dict[Any, int], arcs: dict[Any, list[Arc]]) -> dict[Any, Fraction]:
        """Return the value of every state for player 0."""
        value: dict[Any, Fraction] = {}
        for part in components(arcs):
            first = part[0]
            if len(part) == 1 and all(arc.target != first for arc in arcs[first]):
                value[first] = self._single(kind[first], arcs[first], first, value)
            elif any(kind[s] == CHANCE for s in part) or any(
                arc.reward for s in part for arc in arcs[s] if arc.target in set(part)
            ):
                value |= self._strategies(part, kind, arcs, value)
            else:
                value |= self._attractors(part, kind, arcs, value)
        return value

    def _single(self, kind: int, arcs: list[Arc], s: Any, value: dict[Any, Fraction]) -> Fraction:
        if not arcs:
            return Fraction(self.game.result(s))
        later = [arc.reward + value[arc.target] for arc in arcs]
        if kind == CHANCE:
            return sum((arc.probability * v for arc, v in zip(arcs, later, strict=True)), Fraction(0))
        return min(later) if kind else max(later)

    def _attractors(
        self, part: list[Any], kind: dict[Any, int], arcs: dict[Any, list[Arc]], value: dict[Any, Fraction]
    ) -> dict[Any, Fraction]:
        """Return the values of a component without chance and rewards: what player 0 can force."""
        endless = Fraction(self.game.endless)
        inside = set(part)
        exits = {s: [arc.reward + value[arc.target] for arc in arcs[s] if arc.target not in inside] for s in part}
        found: dict[Any, Fraction] = {}
        for least in sorted({endless, *itertools.chain.from_iterable(exits.values())}):
            winner = 0 if endless < least else 1  # who has to leave the component to get what it wants
            won: set[Any] = set()
            grown = True
            while grown:
                grown = False
                for s in inside - won:
                    good = [v >= least if winner == 0 else v < least for v in exits[s]]
                    good += [arc.target in won for arc in arcs[s] if arc.target in inside]
                    if any(good) if kind[s] == winner else all(good):
                        won.add(s)
                        grown = True
            for s in won if winner == 0 else inside - won:
                found[s] = least
        return found

    def _strategies(
        self, part: list[Any], kind: dict[Any, int], arcs: dict[Any, list[Arc]], value: dict[Any, Fraction]
    ) -> dict[Any, Fraction]:
        """Return the values of a component with chance: the best strategy against the best answer."""
        own = [[s for s in part if kind[s] == player] for player in (0, 1)]
        if math.prod(len(arcs[s]) for states in own for s in states) > MAX_STRATEGIES:
            raise Unknown
        sets = [list(itertools.product(*(arcs[s] for s in states))) for states in own]
        best: dict[Any, Fraction] = {}
        for mine in sets[0]:
            worst: dict[Any, Fraction] = {}
            for theirs in sets[1]:
                chosen = dict(zip(own[0] + own[1], mine + theirs, strict=True))
                rows = {s: [chosen[s]] if s in chosen else arcs[s] for s in part}
                for s, v in self.chain(rows, value).items():
                    worst[s] = min(v, worst.get(s, v))
            for s, v in worst.items():
                best[s] = max(v, best.get(s, v))
        return best

    def chain(self, rows: dict[Any, list[Arc]], value: dict[Any, Fraction]) -> dict[Any, Fraction]:
        """Return the values of a Markov chain: expected rewards until it leaves ``rows``, or infinite play."""
        found: dict[Any, Fraction] = {}
        for part in components({s: [arc for arc in row if arc.target in rows] for s, row in rows.items()}):
            inside = set(part)
            known = value | found
            if all(arc.target in inside for s in part for arc in rows[s]) and rows[part[0]]:
                earned = {arc.reward for s in part for arc in rows[s]} - {0}
                for s in part:
                    found[s] = min(earned) * INFINITE if earned else Fraction(self.game.endless)
                continue
            found |= linear(part, rows, known)
        return found


def linear(part: list[Any], rows: dict[Any, list[Arc]], known: dict[Any, Fraction]) -> dict[Any, Fraction]:
    """Solve v(s) = sum of p (r + v(t)) over a component that is left with probability 1."""
    index = {s: i for i, s in enumerate(part)}
    matrix = []
    for s in part:
        row = [Fraction(0)] * (len(part) + 1)
        row[index[s]] += 1
        for arc in rows[s]:
            row[-1] += arc.probability * arc.reward
            if arc.target in index:
                row[index[arc.target]] -= arc.probability
            else:
                row[-1] += arc.probability * known[arc.target]
        matrix.append(row)
    for i in range(len(part)):
        pivot = next(j for j in range(i, len(part)) if matrix[j][i])
        matrix[i], matrix[pivot] = matrix[pivot], matrix[i]
        scale = matrix[i][i]
        matrix[i] = [x / scale for x in matrix[i]]
        for j in range(len(part)):
            if j != i and matrix[j][i]:
                factor = matrix[j][i]
                matrix[j] = [x - factor * y for x, y in zip(matrix[j], matrix[i], strict=True)]
    return {s: matrix[i][-1] for s, i in index.items()}


def components(arcs: dict[Any, list[Arc]]) -> list[list[Any]]:
    """Return the strongly connected components, each after those that it leads to (Tarjan)."""
    order: dict[Any, int] = {}
    low: dict[Any, int] = {}
    stack: list[Any] = []
    found: list[list[Any]] = []

    def visit(s: Any) -> None:
        order[s] = low[s] = len(order)
        stack.append(s)
        for arc in arcs[s]:
            if arc.target not in order:
                visit(arc.target)
                low[s] = min(low[s], low[arc.target])
            elif arc.target in stack:
                low[s] = min(low[s], order[arc.target])
        if low[s] == order[s]:
            found.append([])
            while not found[-1] or found[-1][-1] != s:
                found[-1].append(stack.pop())

    for s in arcs:
        if s not in order:
            visit(s)
    return found


# ---------------------------------------------------------------- one game
def clipped(value: Fraction) -> Fraction:
    """Return a value; one that has no bound has one size, whatever the mean reward of its cycle is."""
    return value if abs(value) < INFINITE / 100 else INFINITE * (1 if value > 0 else -1)


def near(found: float | None, exact: Fraction) -> bool:
    """Return whether a number is the exact one, up to rounding."""
    if found is None:
        return False
    if abs(exact) >= INFINITE / 100:
        return found == (float("inf") if exact > 0 else float("-inf"))
    return abs(found - float(exact)) <= 1e-9 * max(1.0, abs(float(exact)))


class Examination:
    """What mdplay answers about a game, compared with the oracle; ``wrong`` lists the differences."""

    def __init__(self, game: Any) -> None:
        self.game, self.oracle = game, Oracle(game)
        self.wrong: list[str] = []
        self.asked: Counter[str] = Counter()
        self.rng = random.Random(game.seed)
        self.bounded = all(abs(v) < INFINITE / 100 for v in self.oracle.value.values())

    def expect(self, fact: bool, *words: Any) -> None:
        """Note a difference."""
        if not fact:
            self.wrong.append(" ".join(map(str, words)))

    def run(self) -> None:
        """Ask everything."""
        distances: dict[str, dict[Any, int | None]] = {}
        for method in METHODS:
            try:
                distances[method] = self.solution(method, solve(self.game, method=method))
                self.asked[method] += 1
            except (GameError, LimitError) as error:  # proof search gives up where positions repeat
                self.asked[f"{method} does not apply"] += 1
                self.expect(method != "auto" or not self.bounded, "auto refuses:", error)
        for method, found in distances.items():
            for other, seen in distances.items():
                differ = [s for s in found if None not in (found[s], seen[s]) and found[s] != seen[s]]
                self.expect(not differ, method, "and", other, "count different plies from", differ[:1])
        self.near_the_end()
        self.searches()
        if isinstance(self.game.initial(), Lone):
            self.planned()
        else:
            self.uniform()
        self.agent()

    def of_moves(self, s: Any) -> dict[int, Fraction]:
        """Return the exact value of every move for the player who makes it."""
        sign = -1 if self.game.player(s) else 1
        return {arc.action: sign * (arc.reward + self.oracle.value[arc.target]) for arc in self.oracle.arcs[s]}

    def solution(self, method: str, solution: Any) -> dict[Any, int | None]:
        """Compare all values, bounds and moves; play the policy to the end."""
        oracle, policy, distances = self.oracle, {}, {}
        for s, exact in oracle.value.items():
            sign = -1 if self.game.player(s) else 1
            self.expect(near(solution.value(s), sign * exact), method, "value", s, solution.value(s), sign * exact)
            self.expect(near(solution.value(s, player=0), exact), method, "value for player 0", s)
            self.bounds(f"{method} bounds {s}", *solution.bounds(s), sign * exact)
            distances[s] = solution.distance(s)
            if oracle.kind[s] > 1:
                self.expect(not solution.choices(s), method, "has moves in", s)
                continue
            self.moves(method, s, solution)
            policy[s] = solution.action(s)
        if method != "proof" or not self.game.shape.cycles:  # a proof of a value is no policy for a cycle
            self.policy(method, policy, distances)
        if self.remoteness is not None:
            for s, plies in distances.items():
                known = plies is not None or (method == "retrograde" and oracle.kind[s] < 2)
                right = plies == self.remoteness[s] or not known
                self.expect(right, method, "distance of", s, plies, "not", self.remoteness[s])
        if method == "retrograde" and not self.game.shape.flips:
            self.expect(solution.tally() == self.tally(), "tally", solution.tally(), self.tally())
        return distances

    @cached_property
    def remoteness(self) -> dict[Any, int | None] | None:
        """The plies to the end by the rules of docs/games-that-repeat.md; None for games with chance or points."""
        oracle, endless = self.oracle, self.game.endless
        if CHANCE in oracle.kind.values() or self.game.has_reward:
            return None
        plies: dict[Any, float] = {s: 0 if oracle.kind[s] == 3 else float("inf") for s in oracle.kind}
        for _ in plies:
            for s in plies:
                if oracle.kind[s] == 3:
                    continue
                sign = -1 if self.game.player(s) else 1
                value, never = sign * oracle.value[s], sign * endless
                hurries = value > never or (value == never and value >= 0)
                moves = [arc.target for arc in oracle.arcs[s] if oracle.value[arc.target] == oracle.value[s]]
                plies[s] = 1 + (min if hurries else max)(plies[target] for target in moves)
        return {s: None if count == float("inf") else int(count) for s, count in plies.items()}

    def tally(self) -> dict[str, int]:
        """Return the positions won, lost, tied at an end and drawn by infinite play, for the player to move."""
        assert self.remoteness is not None
        found = {"won": 0, "lost": 0, "tied": 0, "endless": 0}
        for s, value in self.oracle.value.items():
            mine = -value if self.game.player(s) else value
            is_tied = self.remoteness[s] is not None
            found["won" if mine > 0 else "lost" if mine < 0 else "tied" if is_tied else "endless"] += 1
        return found

    def moves(self, method: str, s: Any, solution: Any) -> None:
        exact, choices = self.of_moves(s), solution.choices(s)
        self.expect([choice.action for choice in choices] == sorted(exact), method, "lists other moves in", s)
        for choice in choices:
            self.bounds(f"{method} move {choice.action} in {s}", choice.low, choice.high, exact[choice.action])
            if choice.exact:
                self.expect(near(choice.value, exact[choice.action]), method, "move", choice, "in", s)
        exact = {action: clipped(value) for action, value in exact.items()}
        best = max(exact.values())
        tied = [a for a in sorted(exact) if best - exact[a] <= Fraction(1, 10**9) * max(1, abs(best))]
        self.expect(solution.best(s) == tied, method, "best in", s, solution.best(s), tied)
        self.expect(solution.action(s) in tied, method, "action in", s, solution.action(s), tied)

    def bounds(self, what: str, low: float, high: float, exact: Fraction) -> None:
        slack = 1e-12 * max(1.0, abs(float(exact)))
        sound = low <= high and low - slack <= exact <= high + slack
        self.expect(sound or abs(exact) >= INFINITE / 100, what, low, high, "not", exact)

    def policy(self, method: str, policy: dict[Any, int], distances: dict[Any, int | None]) -> None:
        """Evaluate the policy against itself, and of each player against its best response."""
        oracle = self.oracle
        for players in ((0, 1), (0,), (1,)):
            arcs = {
                s: [arc for arc in row if oracle.kind[s] not in players or arc.action == policy[s]]
                for s, row in oracle.arcs.items()
            }
            reached = {s: clipped(value) for s, value in oracle.solve(oracle.kind, arcs).items()}
            lost = [
                s for s in reached if reached[s] != clipped(oracle.value[s]) and not self.is_tie(reached[s], s)
            ]
            who = "both players" if len(players) == 2 else f"player {players[0]}"
            self.expect(
                not lost, method, "policy of", who, "gets", [(s, reached[s], oracle.value[s]) for s in lost[:1]]
            )
        if CHANCE in oracle.kind.values():
            return
        for s in policy:
            plies = self.plies(s, policy)
            if distances[s] is not None:
                self.expect(plies == distances[s], method, "distance of", s, distances[s], "played", plies)

    def is_tie(self, reached: Fraction, s: Any) -> bool:
        exact = self.oracle.value[s]
        return abs(reached - exact) <= Fraction(1, 10**9) * max(1, abs(exact)) * len(self.oracle.value)

    def plies(self, s: Any, policy: dict[Any, int]) -> int | None:
        """Return how long play by the policy lasts; None if it never ends."""
        for ply in range(len(policy) + 1):
            if s not in policy:
                return ply
            s = self.game.step(s, policy[s])
        return None

    # ------------------------------------------------------------ other ways to ask
    def near_the_end(self) -> None:
        """Solve positions by themselves, those at the end and just before it among them."""
        states = list(self.oracle.value)
        ends = [s for s in states if self.oracle.kind[s] == 3]
        before = [s for s in states if any(arc.target in ends for arc in self.oracle.arcs[s])]
        for s in {*ends[:2], *before[:2], self.rng.choice(states)}:
            exact = self.oracle.value[s]
            if abs(exact) >= INFINITE / 100:
                continue
            try:
                document = solve(self.game, s).document(s)
            except (GameError, LimitError) as error:
                self.expect(not self.bounded, "solve refuses", s, error)
                continue
            sign = -1 if document["player"] else 1
            self.expect(document["player"] in (0, 1), "no player for the value of", s)
            self.expect(near(document["value"], sign * exact), "document of", s, document["value"], sign * exact)

    def searches(self) -> None:
        """Compare what searches call proven."""
        decisions = [s for s in self.oracle.value if self.oracle.kind[s] < 2]
        for s in {self.game.initial(), self.rng.choice(decisions)} & set(decisions):
            exact = self.of_moves(s)
            limit = 200 if self.game.shape.cycles else None  # a cycle that is rare is not seen by the sample
            for name, found in (
                ("mcts", mcts(self.game, s, simulations=60, seed=1, max_moves=limit)),
                ("depth_limited", depth_limited(self.game, s, depth=4)),
            ):
                for move in found.moves:
                    right = not move.proven or near(move.value, exact[move.action])
                    self.expect(right, name, "proves", move, "in", s, "not", exact[move.action])
                if found.proven:
                    self.expect(near(found.value, max(exact.values())), name, "proves", found.value, "in", s)
                    self.expect(
                        exact[found.action] == max(exact.values()), name, "proves action", found.action, "in", s
                    )
        if isinstance(s := self.game.initial(), Spot) and not self.game.has_outcomes:
            try:
                proof = prove(self.game, s)
            except (GameError, LimitError):
                return
            self.asked["prove"] += 1
            exact = (-1 if self.game.player(s) else 1) * self.oracle.value[s]
            self.bounds("prove", proof.low, proof.high, exact)

    def planned(self) -> None:
        """Plan the game of a single player as an MDP."""
        if self.game.endless or not self.bounded:
            return
        from mdplay.states.graph import explore

        graph = explore(self.game)
        found = plan(MDP.from_game(self.game))
        for number in range(graph.num_states):
            if graph.kind[number] != 3:
                s = graph.state(number)
                self.expect(near(found.value[number], self.oracle.value[s]), "plan", s, found.value[number])

    def uniform(self) -> None:
        """Solve against an opponent who moves at random."""
        start, oracle = self.game.initial(), self.oracle
        player = self.game.player(start)
        kind = {s: CHANCE if k == 1 - player else k for s, k in oracle.kind.items()}
        arcs = {
            s: [arc._replace(probability=Fraction(1, len(row))) for arc in row] if kind[s] == CHANCE != k else row
            for (s, row), k in zip(oracle.arcs.items(), oracle.kind.values(), strict=True)
        }
        try:
            exact = oracle.solve(kind, arcs)[start]
        except Unknown:
            return
        try:
            found = solve(self.game, opponent="uniform").value()
        except (GameError, LimitError) as error:
            self.expect(bool(self.game.endless), "uniform opponent refused:", error)
            return
        self.asked["uniform"] += 1
        sign = -1 if player else 1
        self.expect(near(found, sign * exact), "against a uniform opponent", found, "not", sign * exact)

    def agent(self) -> None:
        """Ask the agent ``perfect``."""
        if not self.bounded:
            return
        agent = make_agent(self.game, "perfect")
        for s in self.oracle.value:
            if self.oracle.kind[s] < 2:
                exact = self.of_moves(s)
                action = agent.act(s, Random(0))
                self.expect(near(float(exact[action]), max(exact.values())), "perfect plays", action, "in", s)


def examine(game: Any) -> dict[str, Any]:
    """Return what was asked about a game and what was wrong; None for a game the oracle cannot solve."""
    try:
        examination = Examination(game)
    except Unknown:
        return {"asked": {"too large for the oracle": 1}, "wrong": []}
    with contextlib.suppress(Unknown):
        examination.run()
    return {"asked": examination.asked, "wrong": examination.wrong}


# ---------------------------------------------------------------- many games in children
def run(tally: Tally, count: int, seed: int) -> None:
    """Examine games in plain Python, and a few of them compiled."""
    blocks = [list(range(first, min(first + BLOCK, count))) for first in range(0, count, BLOCK)]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda numbers: _examined(numbers, seed, tally, "1"), blocks))
    for number in range(COMPILED_EVERY // 2, count, COMPILED_EVERY):
        _examined([number], seed, tally, "0")


def _examined(numbers: list[int], seed: int, tally: Tally, plain: str) -> None:
    """Examine games in child processes; a game at which a child dies or hangs is a finding."""
    left = list(numbers)
    while left:
        command = [sys.executable, "-m", "tests.hardening.oracles", str(seed), *map(str, left)]
        env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "NUMBA_DISABLE_JIT": plain}
        try:
            done = subprocess.run(
                command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS * (10 + len(left))
            )
            out, ended = (
                done.stdout,
                f"exit code {done.returncode}: {done.stderr[-600:]}" if done.returncode else "",
            )
        except subprocess.TimeoutExpired as error:
            out, ended = (error.stdout or b"").decode(), "it did not end"
        for line in out.splitlines():
            number, answers = json.loads(line)
            left.remove(number)
            if answers["wrong"]:
                tally.found(f"{_place(number, seed, plain)}: {'; '.join(answers['wrong'][:4])}")
            else:
                known = "too large for the oracle" not in answers["asked"]
                tally.ended("agreed" if known else "too large for the oracle")
        if not ended:
            return
        tally.found(f"{_place(left.pop(0), seed, plain)}: {ended}")


def _place(number: int, seed: int, plain: str) -> str:
    command = f"NUMBA_DISABLE_JIT={plain} python -m tests.hardening.oracles {seed} {number}"
    return f"game {number} of seed {seed} ({command})"


def main(seed: int, numbers: list[int]) -> None:
    """Print the answers for games, a line each."""
    for number in numbers:
        print(json.dumps([number, examine(game_of(number, seed))]), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), [int(number) for number in sys.argv[2:]])
