"""The process that compiles: it does in small what the server is about to do, so that kernels are on disk.

A task comes on stdin, as a line of JSON: ``{"kind": ..., ...}``.  It is the server's, never a client's text: a
game is an entry of the catalogue with checked parameters.  When stdin ends, the worker has ended, and so it ends.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from mdplay import Game, Position
from mdplay.rng import Random
from mdplay.runtime.signals import own_process
from mdplay.web.games.catalogue import made

NICE = 5  # the server and its kernels come first
SECONDS = 5.0


def evaluate(game: Game[Any], opponent: str) -> None:
    """Make the evaluator of a game and evaluate a position; before it search, which gives the first estimates."""
    from mdplay.web.games.evaluators import make_evaluator

    search(game)
    evaluator = make_evaluator(game, opponent, seconds=SECONDS)
    for _, _ in zip(range(4), evaluator.evaluate(first_state(game)), strict=False):
        pass


def search(game: Game[Any]) -> None:
    """Search a little."""
    from mdplay import Search

    Search(game, first_state(game), memory=1 << 20).run(20)


def look_ahead(game: Game[Any]) -> None:
    """Search to a small depth."""
    from mdplay import depth_limited

    depth_limited(game, first_state(game), depth=2)


def act(game: Game[Any], agent: str) -> None:
    """Let an agent make a move."""
    from mdplay import make_agent

    make_agent(game, agent).act(first_state(game), Random(1))


def improve(game: Game[Any]) -> None:
    """Train the network that a game's evaluator lacks, and print the learning curve."""
    from mdplay.playing.evaluators import evaluator_for

    evaluator: Any = evaluator_for(game)
    if hasattr(evaluator, "improve"):
        evaluator.improve(lambda line: print(line, flush=True))


def learn(game: Game[Any], method: str) -> None:
    """Learn a few games."""
    from mdplay.web.labs.training import judges_of, learned_by

    judges = judges_of(game, method)
    examine = None if judges is None else judges.examine
    learned_by(game, method, 10, 0, examine=examine).agent().act(first_state(game), Random(1))


def plan(text: str, method: str) -> None:
    """Plan in an MDP."""
    from mdplay.planning import plan as planned
    from mdplay.planning.formats.cs747 import parse_mdp

    planned(parse_mdp(text.encode()), method, threads=1)


def bandits(policies: list[str]) -> None:
    """Pull a few arms by each policy."""
    from mdplay.bandits.laboratory import Bandit, compare

    compare(Bandit(), policies, steps=2, runs=1, threads=1)


def tournament(game: Game[Any], agents: list[str]) -> None:
    """Let each agent make a move, and play two games at random."""
    from mdplay import match

    for agent in agents:
        act(game, agent)
    match(game, "random", "random", games=2)


def first_state(game: Game[Any]) -> Any:
    """Return a state in which a player moves."""
    position, rng = Position.start(game), Random(1)
    while position.is_chance:
        position = position.after(position.draw(rng.word()))
    return position.state


KINDS: dict[str, Callable[..., None]] = {
    one.__name__: one for one in (evaluate, search, look_ahead, act, improve, learn, plan, bandits, tournament)
}


def main() -> None:
    """Read a task and do it."""
    own_process()
    if hasattr(os, "nice"):
        os.nice(NICE)
    task = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_the_worker, daemon=True).start()
    game = task.pop("game", None)
    given = {} if game is None else {"game": made(**game)}
    KINDS[task.pop("kind")](**given, **task)


def _end_with_the_worker() -> None:
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    main()
