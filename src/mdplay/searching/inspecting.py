"""Look into a finished search: nodes with visits and values, the line of play, the tree as JSON.

A search by several threads has several trees; a ``Node`` is the same position in all of them, their visits and
values added.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from mdplay.bits import nonempty
from mdplay.bridge import State
from mdplay.files import write
from mdplay.game import Game
from mdplay.searching.selecting import LOST, PROVEN
from mdplay.searching.tree import Tree

Place = tuple[Tree, int]
ROOT = -1  # instead of an action that led there


class Visits(NamedTuple):
    """What one tree knows of a node: where it is there, its visits, their mean value, its proof, its children."""

    place: Place
    pulls: int
    value: float
    proof: int
    kids: int


@dataclass(frozen=True, eq=False)
class Node:
    """A position of a search tree, and the action (or outcome of chance) that led into it.

    ``value`` is the mean for the player who moved here, or the certain one if it is ``proven``; 0 without a visit.
    A node knows its children and not its parent: in a circle the arrays of a tree would wait for Python's search
    for garbage, and the next search take new memory.
    """

    game: Game[Any]
    places: tuple[Place, ...]
    visits: int
    value: float
    proven: bool
    expanded: bool  # whether a descent has gone on from here
    before: State = None  # the position from which the action, or the outcome of chance, led here
    by_chance: bool = False
    action: int = ROOT

    @classmethod
    def root(cls, game: Game[Any], trees: Sequence[Tree]) -> Node:
        """Return the root of trees of the same position."""
        return cls(game, *_sums([_stretch(tree, 0, 1)[0] for tree in trees]))

    @cached_property
    def state(self) -> State:
        """The position."""
        if self.action == ROOT:
            return self.places[0][0].root
        move = self.game.outcome if self.by_chance else self.game.step
        return move(self.before, self.action)

    @cached_property
    def text(self) -> str:
        """What led here, in the game's notation; empty at the root."""
        if self.action == ROOT:
            return ""
        told = self.game.outcome_text if self.by_chance else self.game.move_text
        return told(self.before, self.action)

    @cached_property
    def is_chance(self) -> bool:
        """Whether chance moves here."""
        return self.game.has_outcomes and nonempty(self.game.outcomes(self.state))

    @cached_property
    def children(self) -> tuple[Node, ...]:
        """The nodes after every action or outcome, in ascending order; none where no descent has gone on."""
        found: dict[int, list[Visits]] = {}
        for tree, node in self.places:
            first, kids = int(tree.nodes[node]["first"]), int(tree.nodes[node]["kids"])
            actions = tree.nodes["action"][first : first + kids].tolist()
            for action, visits in zip(actions, _stretch(tree, first, kids), strict=True):
                found.setdefault(action, []).append(visits)
        if not found:
            return ()
        way = self.state, self.is_chance
        return tuple(Node(self.game, *_sums(found[action]), *way, action) for action in sorted(found))

    @cached_property
    def ranked(self) -> tuple[Node, ...]:
        """The children, best first: proven wins, then by visits; proven losses last; ties in ascending order.

        Where results are not only wins, draws and losses, a proven child is ranked by its value compared with
        the mean of the child with the most visits among those that are not proven.  Where the node itself is
        proven its children are ranked by value; where chance moves, by visits.
        """
        return tuple(sorted(self.children, key=self.rank, reverse=True))

    def rank(self, child: Node) -> tuple[float, int]:
        """Return a number by which the children are compared, and the visits of this child."""
        if not child.proven or self.is_chance:
            return 0.0, child.visits
        if self.proven or not self._has_margins:
            return child.value if self.proven or abs(child.value) >= 1 else 0.0, child.visits
        return child.value - self._mean_to_beat, child.visits

    @cached_property
    def _mean_to_beat(self) -> float:
        """The mean of the most visited child that is not proven; 0 if all are."""
        open_children = [child for child in self.children if not child.proven]
        return max(open_children, key=lambda child: child.visits).value if open_children else 0.0

    @cached_property
    def _has_margins(self) -> bool:
        return self.game.has_reward or any(bool(tree.tally[0].margins) for tree, _ in self.places)

    def line(self) -> tuple[str, ...]:
        """Return the moves of best play from here on, as far as the tree has gone."""
        moves, node = [], self
        while node.children and (best := max(node.children, key=node.rank)).visits:
            node = best
            moves.append(node.text)
        return tuple(moves)

    def document(self, *, depth: int, min_visits: int = 1) -> dict[str, Any]:
        """Return the tree for JSON, down to a depth, without nodes of fewer visits."""
        entry: dict[str, Any] = {"visits": self.visits, "value": self.value, "proven": self.proven}
        if self.text:
            entry = {"move": self.text, **entry}
        shown = [child for child in self.children if child.visits >= min_visits] if depth else []
        if shown:
            entry["children"] = [child.document(depth=depth - 1, min_visits=min_visits) for child in shown]
        return entry

    def save(self, path: str | Path, *, depth: int = 8, min_visits: int = 2) -> None:
        """Write the tree as JSON, with the position at its root."""
        position = {"position": self.game.text(self.state)}
        write(path, json.dumps({**position, **self.document(depth=depth, min_visits=min_visits)}, indent=1))

    def find(self, state: State, depth: int) -> Node | None:
        """Return the expanded node of a state at most ``depth`` moves and outcomes below, or None."""
        level: Sequence[Node] = [self]
        for _ in range(depth + 1):
            for node in level:
                if node.state == state:
                    return node
            level = [child for node in level for child in node.children if child.expanded]
        return None


def _stretch(tree: Tree, first: int, count: int) -> list[Visits]:
    """Return what a tree knows of some nodes that lie together."""
    nodes = tree.nodes[first : first + count]
    places = [(tree, k) for k in range(first, first + count)]
    columns = (nodes[name].tolist() for name in ("pulls", "value", "proof", "kids"))
    return list(map(Visits, places, *columns))


def _sums(known: list[Visits]) -> tuple[tuple[Place, ...], int, float, bool, bool]:
    """Return what a node has from ``places`` to ``expanded``, of all trees; where one has a proof, it counts."""
    visits = sum(one.pulls for one in known)
    total = sum(one.value * one.pulls for one in known)
    certain = [one.value for one in known if one.proof in (PROVEN, LOST)]
    value = certain[0] if certain else total / visits if visits else 0.0
    return tuple(one.place for one in known), visits, value, bool(certain), any(one.kids for one in known)
