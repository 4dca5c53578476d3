"""What a search answers, a move with reasons; and what all searches share, the agent, the position, the time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Timer
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from mdplay.bits import lowest, nonempty
from mdplay.bridge import State
from mdplay.errors import PositionError
from mdplay.game import Game
from mdplay.notation import event_text
from mdplay.position import Position
from mdplay.rng import Random
from mdplay.running import Show, Watch

if TYPE_CHECKING:
    from mdplay.charts import Branch

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
    by_limit: int = 0  # simulations whose random game was called off
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
        from mdplay.charts import tree
        from mdplay.showing import Move, moves, number, sentence

        about = f"Move {self.move}, value {number(self.value)}{', proven' if self.proven else ''}"
        effort = f"simulations: {self.simulations:,}" if self.simulations else f"depth {self.depth}"
        told = sentence(f"{about}; {effort}, nodes: {self.nodes:,}, {self.seconds:.2f} s.")
        told += sentence(f"Expected: {' '.join(self.line[:LINE])}") if self.line else ""
        order = sorted(self.moves, key=lambda move: (-move.visits, -move.value, move.action))
        listed = [Move(m.action, m.move, m.known, (f"{m.visits:,}", "proven" if m.proven else "")) for m in order]
        position = None if self.tree is None else Position.start(self.tree.game, self.tree.state)
        drawn = "" if self.tree is None else tree(branch(self.tree, "here", LEVELS), LEVELS)
        return told + moves(position, listed, self.best, ("visits", "")) + drawn


@runtime_checkable
class SearchAgent(Protocol):
    """An agent that can tell why."""

    def search(
        self, state: State, *, seed: int = 0, show: Show | None = None, interruptible: bool = False
    ) -> SearchResult:
        """Search a position; interruptible: Ctrl-C ends the search with the best move so far."""

    def act(self, state: State, rng: Random) -> int:
        """Choose an action."""


def branch(node: Any, text: str, levels: int, share: float = 1.0) -> Branch:
    """Return the first levels of a search tree as they are drawn: the likeliest moves of every node."""
    from mdplay.charts import Branch
    from mdplay.showing import brief

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
def stopping_after(seconds: float | None, watch: Watch) -> Iterator[None]:
    """Set the stop array after some time."""
    timer = Timer(seconds or 0.0, watch.stop.fill, [1])
    timer.daemon = True
    if seconds is not None:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
