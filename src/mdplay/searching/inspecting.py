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
from typing import Any

from mdplay.bits import nonempty
from mdplay.bridge import State
from mdplay.files import write
from mdplay.game import Game
from mdplay.searching.selecting import LOST, PROVEN
from mdplay.searching.tree import Tree

Place = tuple[Tree, int]


@dataclass(frozen=True)
class Node:
    """A position of a search tree, and the action (or outcome of chance) that led into it."""

    game: Game[Any]
    state: State
    places: tuple[Place, ...]
    action: int = -1
    text: str = ""

    @cached_property
    def _sums(self) -> tuple[int, float, bool]:
        """Visits, value and whether it is proven, over all trees; where one has a proof, its value counts."""
        visits, total, proven = 0, 0.0, []
        for tree, k in self.places:
            node = tree.nodes[k]
            visits += int(node["pulls"])
            total += float(node["value"]) * int(node["pulls"])
            if node["proof"] in (PROVEN, LOST):
                proven.append(float(node["value"]))
        value = proven[0] if proven else total / visits if visits else 0.0
        return visits, value, bool(proven)

    @property
    def visits(self) -> int:
        """The number of visits."""
        return self._sums[0]

    @property
    def value(self) -> float:
        """The mean value for the player who moved here, or the certain one; 0 without a visit."""
        return self._sums[1]

    @property
    def proven(self) -> bool:
        """Whether the value is certain."""
        return self._sums[2]

    @cached_property
    def is_chance(self) -> bool:
        """Whether chance moves here."""
        return self.game.has_outcomes and nonempty(self.game.outcomes(self.state))

    @cached_property
    def children(self) -> tuple[Node, ...]:
        """The nodes after every action or outcome, in ascending order; none where no descent has gone on."""
        found: dict[int, list[Place]] = {}
        for tree, node in self.places:
            first = int(tree.nodes[node]["first"])
            for k in range(first, first + int(tree.nodes[node]["kids"])):
                found.setdefault(int(tree.nodes[k]["action"]), []).append((tree, k))
        return tuple(self._child(action, tuple(places)) for action, places in sorted(found.items()))

    def _child(self, action: int, places: tuple[Place, ...]) -> Node:
        game, s = self.game, self.state
        if self.is_chance:
            return Node(game, game.outcome(s, action), places, action, game.outcome_text(s, action))
        return Node(game, game.step(s, action), places, action, game.move_text(s, action))

    @cached_property
    def ranked(self) -> tuple[Node, ...]:
        """The children, best first: proven wins, then by visits; proven losses last; ties in ascending order.

        Where the node itself is proven its children are ranked by value; where chance moves, by visits.
        """
        return tuple(sorted(self.children, key=self.rank, reverse=True))

    def rank(self, child: Node) -> tuple[float, int]:
        """Return how good a child is held to be."""
        decided = child.proven and (self.proven or abs(child.value) >= 1)
        return child.value if decided and not self.is_chance else 0.0, child.visits

    def line(self) -> tuple[str, ...]:
        """Return the moves of best play from here on, as far as the tree has gone."""
        moves, node = [], self
        while node.ranked and node.ranked[0].visits:
            node = node.ranked[0]
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
        """Return the node of a state at most ``depth`` moves and outcomes below, or None."""
        level: Sequence[Node] = [self]
        for _ in range(depth + 1):
            for node in level:
                if node.state == state:
                    return node
            level = [child for node in level for child in node.children if child.visits]
        return None
