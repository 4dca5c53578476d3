"""Tree search as the report's algorithms 1 to 5 tell it, in plain Python, by the random words of the package.

search         while there are iterations left: select, expand, simulate, backpropagate; then the most visits
select         walk to a leaf by UCB1, a visit to every node stepped into
expand         make all children of the leaf
simulate       a random game from each of them
backpropagate  from the child to the root: a visit, and 1 where the player who moved into the node has won
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from mdplay.bits import elements
from mdplay.game import Game
from mdplay.rng import advance, pick, scramble, stream


@dataclass
class TreeNode:
    """A position, the move that led into it, who made that move, and what the search has counted."""

    state: Any
    action: int = -1
    mover: int = 0
    visits: int = 0
    wins: int = 0
    children: list[TreeNode] = field(default_factory=list)

    def walk(self, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], TreeNode]]:
        """Yield all nodes below and this one, each with the moves that lead to it."""
        yield path, self
        for child in self.children:
            yield from child.walk((*path, child.action))


@dataclass
class ReportSearch:
    """A search of one position; ``simulations`` counts as the package does: random games, and finished leaves."""

    game: Game[Any]
    state: Any
    seed: int = 0
    simulations: int = 0

    def __post_init__(self) -> None:
        """Begin with the root alone."""
        self.root = TreeNode(self.state)
        self._seed = stream(self.seed, 0)

    def iterate(self) -> None:
        """Select, expand, simulate, backpropagate: once."""
        path, x = self._select(stream(self._seed, self.simulations))
        self._expand(path[-1])
        for child in path[-1].children:
            result, x = self._simulate(child.state, x)
            self._backpropagate([*path, child], result)
        self.simulations += max(len(path[-1].children), 1)

    def best(self) -> TreeNode:
        """Return the child of the root with the most visits; of equals the first."""
        return max(self.root.children, key=lambda node: node.visits)

    def _select(self, x: int) -> tuple[list[TreeNode], int]:
        path = [self.root]
        while path[-1].children:
            x = advance(x)
            total = path[-1].visits
            path.append(max(path[-1].children, key=lambda node: ucb1(node, total)))
            path[-1].visits += 1
        return path, x

    def _expand(self, leaf: TreeNode) -> None:
        game, mover = self.game, self.game.player(leaf.state)
        leaf.children = [TreeNode(game.step(leaf.state, a), a, mover) for a in elements(game.legal(leaf.state))]

    def _simulate(self, state: Any, x: int) -> tuple[float, int]:
        x = advance(x)
        while elements(self.game.legal(state)):
            state = self.game.step(state, pick(self.game.legal(state), scramble(x)))
            x = advance(x)
        return self.game.result(state), x

    def _backpropagate(self, path: list[TreeNode], result: float) -> None:
        self.root.visits += 1
        for node in path[1:]:
            node.visits += 1
            node.wins += result < 0 if node.mover else result > 0


def ucb1(node: TreeNode, total: int) -> float:
    """Return the mean of the wins and what is added for exploration (Auer, Cesa-Bianchi and Fischer 2002)."""
    return node.wins / node.visits + math.sqrt(2.0 * math.log(total) / node.visits)


def slice_score(cells: str, own: str) -> int:
    """Return the points of four cells: 100 for four own discs, 5 for three and an empty one, 2 for two and two."""
    counts = cells.count(own), cells.count(".")
    return {(4, 0): 100, (3, 1): 5, (2, 2): 2}.get(counts, 0)
