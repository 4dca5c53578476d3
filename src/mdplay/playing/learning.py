"""``learn`` with judges for the learning curve: games against an opponent, moves compared with exact values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, overload

from mdplay.errors import ArgumentError, LimitError, pluralize
from mdplay.game import Between, Game
from mdplay.learning.curves import Examined, Found, Kept
from mdplay.learning.learned import Actor, Learned, LearningRun, Report
from mdplay.learning.learners import learn_by, learners
from mdplay.playing.accuracy import critical_states, keeps_value
from mdplay.playing.agents import named_agent
from mdplay.playing.evaluators import oracle_for
from mdplay.playing.matches.match import match
from mdplay.playing.matches.results import score_interval
from mdplay.rng import Random
from mdplay.runtime.run import Run, RunOptions, run_of

if TYPE_CHECKING:
    from mdplay.learning.reinforcement import Experiment

GAMES = 100
SETTINGS = ("seconds", "threads", "file", "save_every", "executor", "progress")


@dataclass(frozen=True)
class CurveOptions:
    """How a network is evaluated at every point of the learning curve.

    It plays ``games`` games (100) against the agent ``against``, sides alternating.  Its moves are compared with
    the exact values in ``exact`` positions of random games in which not every move is optimal; ``perfect`` must be
    able to play the game.
    """

    against: Annotated[str | None, "Opponent at every point of the learning curve."] = None
    games: Annotated[int | None, Between(1, 1e9), "Games against the opponent at every point (100)."] = None
    exact: Annotated[
        int | None,
        Between(1, 1e9),
        "Measure the share of optimal moves in N positions at every point of the curve.",
    ] = None

    def __post_init__(self) -> None:
        for name, number in (("games", self.games), ("exact", self.exact)):
            if number is not None and number < 1:
                raise LimitError(f"{name}={number} is too few; give at least 1")
        if self.games is not None and self.against is None:
            raise ArgumentError(
                "games is the number of games against an opponent; name the opponent with --against (against=)"
            )


@overload
def learn(
    game: Game[Any],
    *,
    method: str = "auto",
    episodes: int | Sequence[int] | None = None,
    seed: int | None = None,
    report: Report | None = None,
    run: Run | None = None,
    **options: Any,
) -> Learned: ...
@overload
def learn(game: Any, *, method: Any = "auto", **options: Any) -> Experiment: ...
def learn(
    game: Any,
    *,
    method: Any = "auto",
    episodes: int | Sequence[int] | None = None,
    seed: int | None = None,
    report: Report | None = None,
    run: Run | None = None,
    **options: Any,
) -> Learned | Experiment:
    """Train an agent by self-play, or learn a task from experience, and return the result.

    With a game, and a method of self-play, it is the trained network or table.  With a task, an MDP, or a method
    of reinforcement learning (``q``, ``sarsa(n=4)``, ...) it is an Experiment; its options are described in
    `mdplay.learning.reinforcement.learn_task`.

    ``method`` is ``network`` (n-tuple networks and temporal differences: any game), ``points`` (the share of games
    won by the player who took a cell: games whose actions are cells), or a method that the game registers;
    ``auto`` is the first method of the game, else network.  ``episodes`` is the number of games; ``points``
    accepts a list, each learned from the start.  ``seed`` is 0 unless given, or that of a resumed training.
    ``report`` is called with lines of text.

    The other options are those of the method; ``against``, ``games`` and ``exact``, which evaluate a network at
    every point of the learning curve: it plays ``games`` games (100) against the agent ``against``, sides
    alternating, and its moves are compared with the exact values in ``exact`` positions of random games in which
    not every move is optimal (``perfect`` must be able to play the game); and the settings of a ``Run``:
    ``seconds``, ``threads``, ``save_every`` and ``executor``, as far as the method has them, ``file``, where the
    training is saved, and ``progress``.  An option that is None counts as not given.

    >>> from mdplay import make
    >>> learn(make("tic-tac-toe"), method="points", episodes=2000, explore="always").highest(1)
    [4]
    """
    given = {name: value for name, value in options.items() if value is not None}
    if not isinstance(game, Game) or learns_task(game, method):
        from mdplay.learning.reinforcement import learn_task

        sized = given if episodes is None else {**given, "episodes": episodes}
        return learn_task(game, "q" if method == "auto" else method, seed=seed or 0, run=run, **sized)
    limits = {name: given.pop(name) for name in RunOptions.__annotations__ if name in given}
    curve = CurveOptions(**{name: given.pop(name) for name in ("against", "games", "exact") if name in given})
    if curve.against is not None or curve.exact is not None:
        judges = TrainingEvaluator(game, curve.against, curve.games or GAMES, curve.exact or 0, report)
        judges.call()  # a wrong name is reported now, not at the first point of the curve
        given["examine"] = judges.examine
    run = run_of("learn", SETTINGS, run, limits)
    asked = LearningRun(None if method == "auto" else method, episodes, seed, run.file, run.progress, report)
    return learn_by(game, asked, run, **given)


def learns_task(game: Game[Any], method: Any) -> bool:
    """Return whether a method learns a game as a task, from experience; the game's own methods come first."""
    if method == "auto" or (isinstance(method, str) and method in learners(game)):
        return False
    from mdplay.learning.reinforcement.methods import is_method  # late: self-play needs no tasks

    return is_method(method)


@dataclass(frozen=True)
class TrainingEvaluator:
    """Evaluate a network during training: games against an opponent, and exact values."""

    game: Game[Any]
    opponent: str | None
    games: int
    positions: int
    report: Report | None = None

    def call(self) -> None:
        """Raise an error if an agent cannot be created."""
        if self.opponent is not None:
            named_agent(self.game, self.opponent)
        if self.positions:
            oracle_for(self.game, "perfect")

    def examine(self, agent: Actor) -> Found:
        """Return the results of the games and of the comparison with exact values."""
        return self._played(agent) if self.opponent else None, self._compared(agent) if self.positions else None

    def _played(self, agent: Actor) -> Examined:
        """Play games against the opponent, sides alternating, and return the score with its interval."""
        assert self.opponent is not None
        played = match(self.game, agent, self.opponent, games=self.games)
        return Examined(self.opponent, self.games, played.tally.score, *played.interval)

    def _compared(self, agent: Actor) -> Kept:
        """Return the share of the critical positions in which the agent keeps the exact value."""
        asked = self._critical
        kept = sum(keeps_value(values, agent.act(s, Random(0))) for s, values in asked.items())
        return Kept(len(asked), kept / len(asked), *score_interval(kept, 0, len(asked) - kept))

    @cached_property
    def _critical(self) -> dict[Any, dict[int, float]]:
        if self.report is not None:  # it may take minutes
            self.report(f"asking for the exact values of {pluralize(self.positions, 'position')}, once")
        return critical_states(self.game, oracle_for(self.game, "perfect"), self.positions)
