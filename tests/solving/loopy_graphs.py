"""Games on graphs with cycles, and a naive solver of them: sets of positions by repeated sweeps."""

import random
from dataclasses import dataclass
from typing import NamedTuple

from mdplay import Game
from mdplay.bits import below, mix

GOES_ON = 99
EDGES = 3


class At(NamedTuple):
    place: int
    player: int


@dataclass(frozen=True)
class Graph(Game[At]):
    """Three edges lead from each place; ``results`` of a place where the game goes on is GOES_ON."""

    edges: tuple[int, ...] = (0, 0, 0)
    movers: tuple[int, ...] = (0,)
    results: tuple[int, ...] = (GOES_ON,)
    root: int = 0

    def initial(self) -> At:
        return At(self.root, self.movers[self.root])

    def legal(self, s: At) -> int:
        return 7 if self.results[s.place] == GOES_ON else 0

    def step(self, s: At, action: int) -> At:
        to = self.edges[3 * s.place + action]
        return At(to, self.movers[to])

    def result(self, s: At) -> int:
        return self.results[s.place]


@dataclass(frozen=True)
class Winning(Graph):
    """Endless play is as good as a result of 1 to player 0."""

    endless = 1


@dataclass(frozen=True)
class Losing(Graph):
    """Endless play is as good as a result of -1 to player 0."""

    endless = -1


# Player 0 gives up at 2, a loss, or goes to 1, from where player 1 has to lead back.
CIRCLE = (1, 2, 1, 0, 0, 0, 0, 0, 0), (0, 1, 0), (GOES_ON, GOES_ON, -1)


def random_graph(seed: int, places: int, kind: type[Graph] = Graph) -> Graph:
    """Return a graph with seven results, players who move twice and cycles."""
    rng = random.Random(seed)
    results = tuple(
        rng.choice([-3, -1, 0, 0, 1, 2, 5]) if i and rng.random() < 0.2 else GOES_ON for i in range(places)
    )
    edges = tuple(  # none leads back at once
        (p + rng.randrange(1, places)) % places for p in range(places) for _ in range(EDGES)
    )
    return kind(edges, tuple(rng.randrange(2) for _ in range(places)), results)


RESULTS = (-3, -1, 0, 0, 1, 2, 5)
MOVER, ENDS, RESULT, TOSSED = range(EDGES, EDGES + 4)  # what is drawn for a place, beside its edges


class Lot(NamedTuple):
    seed: int
    place: int
    player: int


@dataclass(frozen=True)
class Drawn(Game[Lot]):
    """A random graph for each seed; the seed is part of the state, so all of them are one game to compile."""

    places: int = 40

    def drawn(self, s: Lot, what: int, n: int) -> int:
        return below(mix(mix(s.seed, 1), 8 * s.place + what), n)

    def start(self, seed: int) -> Lot:
        return Lot(seed, 0, self.drawn(Lot(seed, 0, 0), MOVER, 2))

    def initial(self) -> Lot:
        return self.start(1)

    def legal(self, s: Lot) -> int:
        return 0 if s.place and self.drawn(s, ENDS, 5) == 0 else 7

    def step(self, s: Lot, action: int) -> Lot:
        to = Lot(s.seed, (s.place + 1 + self.drawn(s, action, self.places - 1)) % self.places, 0)
        return Lot(to.seed, to.place, self.drawn(to, MOVER, 2))

    def result(self, s: Lot) -> int:
        return RESULTS[self.drawn(s, RESULT, 7)]


@dataclass(frozen=True)
class DrawnWinning(Drawn):
    endless = 1


@dataclass(frozen=True)
class DrawnLosing(Drawn):
    endless = -1


@dataclass(frozen=True)
class Tossed(Drawn):
    """The same with chance in a third of the places: each edge has the same probability."""

    places: int = 7

    def outcomes(self, s: Lot) -> int:
        return 7 if self.is_tossed(s) else 0

    def is_tossed(self, s: Lot) -> bool:
        return s.place != 0 and self.drawn(s, ENDS, 5) != 0 and self.drawn(s, TOSSED, 3) == 0

    def outcome(self, s: Lot, i: int) -> Lot:
        return self.step(s, i)

    def probability(self, s: Lot, i: int) -> float:
        return 1 / 3

    def legal(self, s: Lot) -> int:
        return 0 if (s.place and self.drawn(s, ENDS, 5) == 0) or self.is_tossed(s) else 7


@dataclass(frozen=True)
class TossedWinning(Tossed):
    endless = 1


@dataclass(frozen=True)
class TossedLosing(Tossed):
    endless = -1


def graph_of(game: Drawn, seed: int) -> Graph:
    """Return the graph of a seed."""
    places = [Lot(seed, place, 0) for place in range(game.places)]
    edges = tuple(game.step(s, action).place for s in places for action in range(EDGES))
    results = tuple(GOES_ON if game.legal(s) else game.result(s) for s in places)
    kind = {0: Graph, 1: Winning, -1: Losing}[game.endless]
    return kind(edges, tuple(game.drawn(s, MOVER, 2) for s in places), results)


def reached(game: Graph) -> list[int]:
    """Return the places that the root reaches."""
    found, new = {game.root}, [game.root]
    while new:
        place = new.pop()
        if game.results[place] == GOES_ON:
            after = {game.edges[EDGES * place + a] for a in range(EDGES)} - found
            found |= after
            new += after
    return sorted(found)


def naive(game: Graph) -> dict[int, tuple[int, int | None]]:
    """Return what each place is worth to player 0, and the plies to the end; None where play is endless."""
    places = reached(game)
    ends = {p: game.results[p] for p in places if game.results[p] != GOES_ON}
    after = {p: [game.edges[EDGES * p + a] for a in range(EDGES)] for p in places if p not in ends}
    value = _values(game, places, ends, after)
    plies = dict.fromkeys(ends, 0)
    while True:
        new = dict(plies)
        for p, followers in after.items():
            same = [q for q in followers if value[q] == value[p]]
            known = [plies[q] for q in same if q in plies]
            sign = -1 if game.movers[p] else 1
            mine, endless = sign * value[p], sign * game.endless
            hurries = mine > endless or (mine == endless >= 0)
            if hurries and known:
                new[p] = 1 + min(known)
            elif not hurries and len(known) == len(same):
                new[p] = 1 + max(known)
        if new == plies:
            return {p: (value[p], plies.get(p)) for p in places}
        plies = new


def _values(game, places, ends, after):
    """For each result: who can force it or better, weakest first."""
    value = dict.fromkeys(places, game.endless)
    results = sorted(set(ends.values()))
    weaker_first = [(r, 0) for r in results if r > game.endless]
    weaker_first += [(r, 1) for r in reversed(results) if r < game.endless]
    for r, winner in weaker_first:
        good = {p for p, end in ends.items() if (end >= r if winner == 0 else end <= r)}
        while more := {
            p
            for p in after
            if p not in good and (any if game.movers[p] == winner else all)(q in good for q in after[p])
        }:
            good |= more
        value.update(dict.fromkeys(good, r))
    return value
