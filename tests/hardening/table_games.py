"""Random honest games, each drawn from a seed: its rules are look-ups in random tables.

A game is an acyclic graph of numbered states, every follower later than the state before it.  In a state chance
moves, a player moves (the same one again, as it comes), or the game is over.  Numbers are eighths, so that sums of
them are exact and values can be compared bit by bit; the chances of an event are powers of a half.

A table is a constant of the compiled code and a part of what the kernels are known by: each seed is a game.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

from mdplay.bits import U64, Wide
from mdplay.game import Game

OVER, MOVE, CHANCE = range(3)
ROW = 130  # entries of a state in the tables of followers, rewards and chances


class Node(NamedTuple):
    """Where the game stands, and who moves."""

    number: int
    player: int


class Graph(NamedTuple):
    """The tables of a game, by state; followers, rewards and chances by state and action."""

    kinds: tuple[int, ...]
    players: tuple[int, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]
    results: tuple[float, ...]
    guesses: tuple[float, ...]
    after: tuple[int, ...]
    rewards: tuple[float, ...]
    chances: tuple[float, ...]


def draw_graph(seed: int, points: bool, chance: float, widest: int, states: int) -> Graph:
    """Return the tables of a random game."""
    rng = random.Random(seed)
    kinds, players, low, high = [], [], [], []
    after, rewards, chances = [0] * (ROW * states), [0.0] * (ROW * states), [0.0] * (ROW * states)
    for s in range(states):
        kind = MOVE if s == 0 else OVER if s >= states - 3 or rng.random() < 0.1 else MOVE
        if kind == MOVE and s and rng.random() < chance:
            kind = CHANCE
        count = 0 if kind == OVER else rng.choice((1, 2, 2, 3, 4)) if rng.random() < 0.9 else rng.randint(1, 9)
        actions = sorted(rng.sample([a for a in range(widest) if a != 63], count))  # masks stay positive
        earned: dict[int, float] = {}  # two actions to one state earn the same
        shares = draw_shares(rng, len(actions))
        for a, share in zip(actions, shares, strict=True):
            near = rng.random() < 0.8
            after[ROW * s + a] = rng.randint(s + 1, min(states - 1, s + 4) if near else states - 1)
            rewards[ROW * s + a] = (
                earned.setdefault(after[ROW * s + a], rng.randint(-16, 16) / 8) if points else 0.0
            )
            chances[ROW * s + a] = share
        mask = sum(1 << a for a in actions)
        kinds.append(kind)
        players.append(rng.randrange(2))
        low.append(mask & (1 << 64) - 1)
        high.append(mask >> 64)
    results = [rng.randint(-16, 16) / 8 if points else float(rng.randint(-1, 1)) for _ in range(states)]
    guesses = [rng.randint(-80, 80) / 8 for _ in range(states)]
    columns = (kinds, players, low, high, results, guesses, after, rewards, chances)
    return Graph(*(tuple(column) for column in columns))


def draw_shares(rng: random.Random, count: int) -> list[float]:
    """Return probabilities, each a power of a half, that sum to 1."""
    shares = [1.0] if count else []
    while len(shares) < count:
        half = shares.pop(rng.randrange(len(shares))) / 2
        shares += [half, half]
    return shares


@dataclass(frozen=True)
class TableGame(Game[Node]):
    """A random game for two: only the result counts, and chance has no part in it."""

    seed: int = 0
    states: int = 24

    drawn_points: ClassVar[bool] = False
    drawn_chance: ClassVar[float] = 0.0
    widest: ClassVar[int] = 60

    @cached_property
    def graph(self) -> Graph:
        """The tables, drawn from the seed."""
        return draw_graph(self.seed, self.drawn_points, self.drawn_chance, self.widest, self.states)

    @cached_property
    def kinds(self) -> tuple[int, ...]:
        """Who moves in a state: nobody, a player, chance."""
        return self.graph.kinds

    @cached_property
    def players(self) -> tuple[int, ...]:
        """The player of each state."""
        return self.graph.players

    @cached_property
    def low(self) -> tuple[int, ...]:
        """The mask of each state, actions 0 .. 62."""
        return self.graph.low

    @cached_property
    def high(self) -> tuple[int, ...]:
        """The mask of each state, actions 64 .. 126."""
        return self.graph.high

    @cached_property
    def results(self) -> tuple[float, ...]:
        """The result of each state, if the game ends there."""
        return self.graph.results

    @cached_property
    def guesses(self) -> tuple[float, ...]:
        """The heuristic of each state."""
        return self.graph.guesses

    @cached_property
    def after(self) -> tuple[int, ...]:
        """The follower of each state and action."""
        return self.graph.after

    @cached_property
    def rewards(self) -> tuple[float, ...]:
        """The reward of each state and action."""
        return self.graph.rewards

    @cached_property
    def chances(self) -> tuple[float, ...]:
        """The probability of each state and outcome."""
        return self.graph.chances

    def node(self, number: int) -> Node:
        """Return the state of a number."""
        return Node(number, int(self.players[number]))

    def initial(self) -> Node:
        """Return the first state, in which a player moves."""
        return self.node(0)

    def legal(self, s: Node) -> int:
        """Return the actions of a state."""
        return int(self.low[s.number]) if self.kinds[s.number] == MOVE else 0

    def step(self, s: Node, action: int) -> Node:
        """Return the follower."""
        return self.node(int(self.after[ROW * s.number + action]))

    def result(self, s: Node) -> float:
        """Return what the end is worth."""
        return float(self.results[s.number])

    def heuristic(self, s: Node) -> float:
        """Return a guess that means nothing."""
        return float(self.guesses[s.number])


@dataclass(frozen=True)
class Points(TableGame):
    """Points are earned on the way."""

    drawn_points: ClassVar[bool] = True

    def reward(self, s: Node, action: int) -> float:
        """Return the points of an action."""
        return float(self.rewards[ROW * s.number + action])


@dataclass(frozen=True)
class Chance(TableGame):
    """Most events are chance, so that several follow each other."""

    drawn_chance: ClassVar[float] = 0.7

    def outcomes(self, s: Node) -> int:
        """Return the outcomes of a state."""
        return int(self.low[s.number]) if self.kinds[s.number] == CHANCE else 0

    def outcome(self, s: Node, i: int) -> Node:
        """Return the follower."""
        return self.node(int(self.after[ROW * s.number + i]))

    def probability(self, s: Node, i: int) -> float:
        """Return the probability of an outcome."""
        return float(self.chances[ROW * s.number + i])


@dataclass(frozen=True)
class PointsByChance(Chance, Points):
    """Points and chance."""


@dataclass(frozen=True)
class WideByChance(PointsByChance):
    """More actions than a word has bits."""

    widest: ClassVar[int] = 127

    def legal(self, s: Node) -> Wide:  # type: ignore[override]
        """Return the actions of a state."""
        return self.wide(s) if self.kinds[s.number] == MOVE else Wide(U64(0), U64(0))

    def outcomes(self, s: Node) -> Wide:  # type: ignore[override]
        """Return the outcomes of a state."""
        return self.wide(s) if self.kinds[s.number] == CHANCE else Wide(U64(0), U64(0))

    def wide(self, s: Node) -> Wide:
        """Return the mask of a state."""
        return Wide(U64(int(self.low[s.number])), U64(int(self.high[s.number])))


KINDS = (TableGame, Points, Chance, PointsByChance, WideByChance)
