"""What a search answers, a move with reasons; and what all searches share, the agent, the position, the time.

Look into a finished search: nodes with visits and values, the line of play, the tree as JSON.

A search by several threads has several trees; a ``Node`` is the same position in all of them, their visits and
values added.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, runtime_checkable

from mdplay.bits import lowest, nonempty
from mdplay.compiling import State
from mdplay.errors import PositionError
from mdplay.evaluating.evaluation import Evaluation, MoveEvaluation
from mdplay.game import Game
from mdplay.naming.notation import event_text
from mdplay.naming.specs import Parameter, parameters
from mdplay.position import Position
from mdplay.rng import Random
from mdplay.runtime.run import Run, options_and_run
from mdplay.runtime.threads import Show, TaskGroup
from mdplay.searching.selecting import LOST, PROVEN
from mdplay.searching.tree import Tree
from mdplay.storage.files import write

if TYPE_CHECKING:
    from mdplay.views.charts import Branch


LEVELS, BRANCHES = 2, 4  # of a tree as it is drawn
LINE = 20  # moves of the expected play that are shown


@dataclass(frozen=True)
class MoveStatistics:
    """A move of the searched position: its value is for the player who makes it."""

    action: int
    move: str
    visits: int
    value: float
    proven: bool = False

    @property
    def known(self) -> float | None:
        """The value; None where the search has never been."""
        return self.value if self.visits or self.proven else None

    def document(self) -> dict[str, Any]:
        """Return the statistics for JSON."""
        return {"move": self.move, "visits": self.visits, "value": self.value, "proven": self.proven}


@dataclass(frozen=True)
class SearchResult:
    """The answer of a search, for the player to move.

    ``moves`` are in the order of their actions; ``best`` are the actions that the search holds equal and best,
    the first of them is ``action``; ``line`` is the play it expects, chance left out by its likeliest outcome.
    """

    action: int
    value: float
    proven: bool
    best: tuple[int, ...]
    moves: tuple[MoveStatistics, ...]
    line: tuple[str, ...]
    simulations: int
    nodes: int
    seconds: float
    depth: int = 0  # of a depth-limited search
    by_limit: int = 0  # simulations whose random game was truncated
    actions: tuple[int, ...] = ()  # the line as actions, where it is a way to the goal
    tree: Any = field(default=None, repr=False, compare=False)

    @property
    def move(self) -> str:
        """The chosen move in the game's notation."""
        return self.names[self.action]

    @property
    def names(self) -> dict[int, str]:
        """The moves by their actions."""
        return {move.action: move.move for move in self.moves}

    @property
    def evaluation(self) -> Evaluation:
        """The answer as an evaluation: the moves that were visited, exact where they are proven."""
        moves = {
            move.action: MoveEvaluation.of(move.value, move.proven)
            for move in self.moves
            if move.known is not None
        }
        value = MoveEvaluation.of(self.value, self.proven)
        return Evaluation(moves, value, self.best, "search", self.line, done=True)

    @property
    def simulations_per_second(self) -> float:
        """The speed, all threads together."""
        return self.simulations / self.seconds if self.seconds else 0.0

    def document(self) -> dict[str, Any]:
        """Return the answer for JSON."""
        return {
            "best": [self.names[action] for action in self.best],
            "value": self.value,
            "proven": self.proven,
            "moves": [move.document() for move in self.moves],
            "line": list(self.line),
            "simulations": self.simulations,
            "nodes": self.nodes,
            "depth": self.depth,
            "by_limit": self.by_limit,
            "seconds": self.seconds,
            "simulations_per_second": self.simulations_per_second,
        }

    def _repr_html_(self) -> str:
        """Show the moves with visits and values; where a tree was kept, the board and the tree's first levels."""
        from mdplay.views.charts import tree
        from mdplay.views.html import moves, number, sentence

        about = f"Move {self.move}, value {number(self.value)}{', proven' if self.proven else ''}"
        effort = f"simulations: {self.simulations:,}" if self.simulations else f"depth {self.depth}"
        told = sentence(f"{about}; {effort}, nodes: {self.nodes:,}, {self.seconds:.2f} s.")
        told += sentence(f"Expected: {' '.join(self.line[:LINE])}") if self.line else ""
        order = sorted(self.moves, key=lambda move: (-move.visits, -move.value, move.action))
        names, values = {m.action: m.move for m in order}, {m.action: m.known for m in order}
        columns = {
            "visits": {m.action: f"{m.visits:,}" for m in order},
            "": {m.action: "proven" if m.proven else "" for m in order},
        }
        position = None if self.tree is None else Position.start(self.tree.game, self.tree.state)
        drawn = "" if self.tree is None else tree(branch(self.tree, "here", LEVELS), LEVELS)
        return told + moves(position, names, values, self.best, columns) + drawn


@runtime_checkable
class SearchAgent(Protocol):
    """An agent that can tell why."""

    def search(
        self, state: State, *, seed: int = 0, show: Show | None = None, interruptible: bool = False
    ) -> SearchResult:
        """Search a position; interruptible: Ctrl-C ends the search with the best move so far."""

    def act(self, state: State, rng: Random) -> int:
        """Choose an action."""


class MethodAgent:
    """Base class of agents that play by a search method.

    The options of an agent are those of ``method``, a frozen dataclass that has ``resolved(game)``, the
    ``settings`` of a run, and the keywords that a subclass adds.
    """

    method: ClassVar[type[Any]]
    settings: ClassVar[tuple[str, ...]] = ("seconds",)

    def __init__(self, game: Game[Any], *, run: Run | None = None, **options: Any) -> None:
        self._game = game
        method, self.run = options_and_run(type(self).__name__, self.method, self.settings, run, options)
        self.options = method.resolved(game)

    @classmethod
    def parameters(cls) -> list[Parameter]:
        """Return the options as a text or a command can give them."""
        limits = [limit for limit in parameters(Run) if limit.name in cls.settings]
        own = [added for added in parameters(cls.__init__)[2:] if added.name not in ("run", "options")]
        return [*parameters(cls.method), *limits, *own]


def branch(node: Any, text: str, levels: int, share: float = 1.0) -> Branch:
    """Return the first levels of a search tree as they are drawn: the likeliest moves of every node."""
    from mdplay.views.charts import Branch
    from mdplay.views.html import brief

    visited = [child for child in node.ranked if child.visits] if levels else []
    kept = visited[:BRANCHES]
    names = [f"{child.text}  {brief(child.value)}  ({child.visits:,})" for child in kept]
    below = [
        branch(child, name, levels - 1, child.visits / max(1, node.visits))
        for child, name in zip(kept, names, strict=True)
    ]
    return Branch(text, share, tuple(below), len(visited) - len(kept))


def check_open(game: Game[Any], s: State) -> None:
    """Raise PositionError unless a player has a move to choose."""
    if nonempty(game.outcomes(s)):
        did = event_text(game, s, lowest(game.outcomes(s)))
        raise PositionError(
            f"{game.text(s)}: chance moves here; say what it did, as in --position moves:...,{did}"
        )
    if not nonempty(game.legal(s)):
        raise PositionError(f"{game.text(s)}: the game is over, there is no move to search for")


@contextmanager
def stopping_after(seconds: float | None, watch: TaskGroup) -> Iterator[None]:
    """Set the stop array after some time."""
    timer = Timer(seconds or 0.0, watch.stop.fill, [1])
    timer.daemon = True
    if seconds is not None:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


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
    before: State | None = None  # the position from which the action, or the outcome of chance, led here
    by_chance: bool = False
    action: int = ROOT

    @classmethod
    def root(cls, game: Game[Any], trees: Sequence[Tree]) -> Node:
        """Return the root of trees of the same position."""
        return cls(game, *_sums([_stretch(tree, 0, 1)[0] for tree in trees]))

    @cached_property
    def state(self) -> Any:
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
