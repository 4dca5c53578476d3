"""Games on graphs with cycles, and a naive solver of them: sets of positions by repeated sweeps."""

import random
from dataclasses import dataclass
from typing import NamedTuple

from mdplay import Game

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
            hurries = value[p] == game.endless or (value[p] > game.endless) == (game.movers[p] == 0)
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
