"""The interface of all learners: the arguments of a run and its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from mdplay.compiling import State
from mdplay.game import Game
from mdplay.rng import Random
from mdplay.runtime.threads import Show

Report = Callable[[str], None]


class Actor(Protocol):
    """An agent of ``mdplay.playing``: it chooses moves."""

    def act(self, state: Any, rng: Random) -> int:
        """Return a legal action."""


@runtime_checkable
class Learned(Protocol):
    """The result of learning: an agent, values of states, statistics; it can be saved."""

    @property
    def curve(self) -> Sequence[Any]:
        """The learning curve: a point for each number of episodes."""

    def agent(self) -> Actor:
        """Return an agent that plays by the learned values."""

    def value(self, state: State) -> float:
        """Return the estimated value of a state for the player to move, in the unit of the learner."""

    def save(self, path: str | Path) -> None:
        """Write everything that was learned to a file, atomically."""

    def document(self) -> dict[str, Any]:
        """Return the statistics for JSON."""

    def text(self) -> str:
        """Return the statistics for people."""

    def plot(self, path: str | Path) -> None:
        """Plot the learned values or their curve into a picture (.png, .svg or .pdf)."""

    def write_curve(self, path: str | Path) -> None:
        """Write the curve as CSV."""


@dataclass(frozen=True)
class LearningRun:
    """The arguments of a run; None means not given.

    ``method`` is the name by which the learner was chosen, ``file`` the path of the result; ``report`` is called
    with lines of text, ``show`` with the progress.
    """

    method: str | None = None
    episodes: int | Sequence[int] | None = None
    seed: int | None = None
    file: str | Path | None = None
    show: Show | None = None
    report: Report | None = None


class Learner(Protocol):
    """A way to learn, with its options."""

    def learn(self, game: Game[Any], run: LearningRun) -> Learned:
        """Learn a game."""
