"""Simple agents: random play, a policy file, and perfect play by the exact solution of the game.

A game is solved once for all its perfect agents.  They take turns, because a solution that proves positions on
demand writes to its memory while it answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from mdplay.compiling.digest import per_game
from mdplay.errors import FormatError, PositionError
from mdplay.game import Game
from mdplay.naming.registry import extras_of
from mdplay.playing.agents import Agent, Maker
from mdplay.rng import Random
from mdplay.runtime.threads import Show

if TYPE_CHECKING:
    from mdplay.evaluating.evaluation import Evaluation
    from mdplay.planning.formats.cs747 import PolicyFile
    from mdplay.solving.solution import Solution


class RandomAgent:
    """Play every legal action with equal probability."""

    def __init__(self, game: Game[Any]) -> None:
        self.game = game

    def act(self, state: Any, rng: Random) -> int:
        """Return a legal action drawn at random."""
        return rng.pick(self.game.legal(state))


class PolicyAgent:
    """Play by a policy file.

    Its first line is the number of the player, 1 or 2.  Every other line is a position in which that player moves
    and the probability of each action, in order.
    """

    def __init__(self, game: Game[Any], file: str) -> None:
        self.game, self.file = game, file
        self.policy = _policy(game, Path(file).expanduser(), _changed(file))

    def act(self, state: Any, rng: Random) -> int:
        """Draw an action by the file's probabilities."""
        player = self.policy.player
        if self.game.player(state) != player:
            own = f"{self.file} holds the policy of player {player + 1}, and player {2 - player} is to move"
            raise PositionError(f"{own}; fix the sides by --side {player + 1} (side={player}) of the match")
        row = self.policy.rows.get(self.game.text(state))
        if row is None:
            raise PositionError(f"{self.file}, the policy of player {player + 1}, has no line for this position")
        return rng.draw(dict(enumerate(row)))


def _changed(file: str) -> int:
    """Return when a file was last changed, so that a new one is read anew."""
    try:
        return Path(file).expanduser().stat().st_mtime_ns
    except OSError as error:
        raise FormatError(f"cannot read the policy {file}: {error.strerror or error}") from None


@per_game(maxsize=4)
def _policy(game: Game[Any], path: Path, changed: int) -> PolicyFile:
    """Read a policy once, however many games it plays; its first row tells how many actions there are."""
    from mdplay.planning.formats.cs747 import read_policy_file  # late: most agents need no planner

    return read_policy_file(path, game)


LOCK = Lock()


@per_game(maxsize=4)
def _solution(game: Game[Any]) -> Solution:
    from mdplay.solving.solvers import solve

    return solve(game)


class PerfectAgent:
    """Play the best move of the exact solution: win soonest, lose latest, then the smallest action."""

    exact = True

    def __init__(self, game: Game[Any]) -> None:
        with LOCK:
            self.solution = _solution(game)

    def act(self, state: Any, rng: Random) -> int:
        """Return the best action."""
        with LOCK:
            return self.solution.action(state)

    def evaluate(self, state: Any, *, brief: bool = False, show: Show | None = None) -> Iterator[Evaluation]:
        """Yield the evaluation of the solution."""
        from mdplay.evaluating.evaluation import final_evaluation

        with LOCK:
            found = final_evaluation(self.solution, state)
        yield found


def perfect_agent(game: Game[Any]) -> Agent:
    """Return the agent that knows best: the game's own perfect player, else the exact solution."""
    maker: Maker = extras_of(game, "agents").get("perfect", PerfectAgent)
    return maker(game)
