"""``learn`` with a judge: on the way what was learned plays games against an opponent, for the learning curve."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from mdplay.errors import LimitError
from mdplay.game import Game
from mdplay.learning.curves import Examined
from mdplay.learning.learned import Actor, Learned, Report, Run
from mdplay.learning.learners import learn_by
from mdplay.playing.agents import named_agent
from mdplay.playing.matches.match import OPENINGS, match
from mdplay.running import Show

GAMES = 100


def learn(
    game: Game[Any],
    *,
    method: str = "auto",
    episodes: int | Sequence[int] | None = None,
    seed: int | None = None,
    file: str | Path | None = None,
    against: str | None = None,
    games: int | None = None,
    show: Show | None = None,
    report: Report | None = None,
    **options: Any,
) -> Learned:
    """Learn a game by playing it, and return what was learned.

    ``method``: ``network`` (tuples of cells and temporal differences: any game), ``points`` (how often whoever
    took a point has won: games whose actions are points), or one that the game brings; ``auto`` is the first of
    the game's own, else network.  ``episodes``: how many games, by default as the method has it; points takes
    several numbers, each learned from scratch.  ``seed``: 0 unless given, or that of a training that is gone on
    with.  ``file``: what is learned is kept there.  ``against``: an agent that a network plays ``games`` games
    (100) with at every point of its curve, sides alternating.  ``report`` is told a line now and then, ``show``
    the progress.
    Options that are None count as not given.

    >>> from mdplay import make
    >>> learn(make("tic-tac-toe"), method="points", episodes=2000, explore="always").highest(1)
    [4]
    """
    if games is not None and games < 1:
        raise LimitError(f"games={games}: play at least one")
    if against is not None:
        named_agent(game, against)  # a wrong name is better known now than at the first point of the curve
        options["examine"] = partial(examine, game, against, games or GAMES)
    run = Run(None if method == "auto" else method, episodes, seed, file, show, report)
    return learn_by(game, run, **options)


def examine(game: Game[Any], opponent: str, games: int, agent: Actor) -> Examined:
    """Play games against an opponent, sides alternating, and return the score with its interval."""
    played = match(game, agent, opponent, games=games, openings=OPENINGS)
    return Examined(opponent, games, played.tally.score, *played.interval)
