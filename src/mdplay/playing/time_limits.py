"""Agents with a time limit for each move: an agent that exceeds it, crashes or returns no move loses the game.

    an engine                    receives the limit with each request
    an agent given as a text     plays in a separate process, ``mdplay engine``, which can be terminated; it draws
                                 the same random words as without a limit, so the same seed gives the same games
    an agent given as an object  plays in a thread, which cannot be terminated.  While a thread is still running,
                                 its agent loses every game.  An agent of a game that another process cannot
                                 import plays in a thread, too

The time of compiling kernels does not count.
"""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, TimeoutError
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

from mdplay.errors import AgentError, Forfeit, MdplayError, check_seconds
from mdplay.game import Game
from mdplay.naming.registry import text_of
from mdplay.playing.agents import Agent, Maker, NamedAgent, choose, leave, named_agent
from mdplay.rng import Random
from mdplay.runtime.threads import compiling

POLL_SECONDS = 0.05


@contextmanager
def entering(
    game: Game[Any], agents: Sequence[Agent | Maker | NamedAgent | str], move_seconds: float | None = None
) -> Iterator[list[NamedAgent]]:
    """Yield agents as the entrants of a match, with a time limit if one is set; close them at the end."""
    with ExitStack() as stack:
        named_agents = []
        for agent in agents:
            one = entered(game, agent, move_seconds)
            if one is not agent:
                stack.callback(one.close)
            named_agents.append(one)
        yield named_agents


def entered(game: Game[Any], agent: Agent | Maker | NamedAgent | str, move_seconds: float | None) -> NamedAgent:
    """Return an agent as an entrant of a match, with a time limit if one is set."""
    return named_agent(game, agent) if move_seconds is None else limited(game, agent, move_seconds)


def limited(game: Game[Any], agent: Agent | Maker | NamedAgent | str, seconds: float) -> NamedAgent:
    """Return an agent that loses by Forfeit if a move takes longer than ``seconds`` or raises an error."""
    from mdplay.playing.engine.agent import EngineAgent

    check_seconds(seconds)
    one = named_agent(game, agent)
    if isinstance(agent, NamedAgent):
        return agent  # its limit was set when it entered
    first = one.fresh() if isinstance(agent, str) and _is_engine(one) else agent
    if isinstance(first, EngineAgent):
        return replace(one, fresh=first.with_limit(seconds).another)
    if isinstance(agent, str) and (apart := _apart(game, one, seconds)) is not None:
        return apart
    busy: list[Thread] = []
    shared = None if isinstance(agent, str) else busy
    return replace(one, fresh=lambda: WatchedAgent(game, one, seconds, shared))


def _is_engine(one: NamedAgent) -> bool:
    return one.name.partition(":")[0].partition("(")[0].strip() == "engine"


# ---------------------------------------------------------------- in a separate process
def _apart(game: Game[Any], one: NamedAgent, seconds: float) -> NamedAgent | None:
    """Return an agent that plays in a separate process; None if that process cannot make the game.

    Raise AgentError if the agent cannot.
    """
    from mdplay.playing.engine.agent import EngineAgent, EngineFault

    place, own_file = _text_of(game)
    if place is None:
        return None
    command = [sys.executable, "-m", "mdplay", "engine", place, "--agent", one.name]
    first = EngineAgent(game, command, limit=seconds, ours=True)
    try:
        first.ready()
    except EngineFault as error:
        first.close()
        if own_file:
            return None
        raise AgentError(f"agent {one.name} cannot be made in a separate process: it {error}", one.name) from None
    return replace(one, fresh=first.another, close=first.close)


def _text_of(game: Game[Any]) -> tuple[str | None, bool]:
    """Return a text from which another process can make the game, or None, and whether it names a file."""
    text = text_of(game)
    if ".py:" not in text:
        return text, False
    cls = type(game)
    if cls.__module__ == "__main__" or "<locals>" in cls.__qualname__:
        return None, True  # to import a program is to run it
    return str(Path(inspect.getfile(cls)).resolve().with_name(text)), True


# ---------------------------------------------------------------- in a thread
class WatchedAgent:
    """An agent that chooses moves in a thread; ``busy`` lists the threads that exceeded their time."""

    def __init__(self, game: Game[Any], one: NamedAgent, seconds: float, busy: list[Thread] | None = None) -> None:
        self._game, self._name, self._seconds = game, one.name, seconds
        self._agent = one.fresh()
        self._busy = [] if busy is None else busy

    def act(self, state: Any, rng: Random) -> int:
        """Return the agent's move, or raise Forfeit."""
        if any(thread.is_alive() for thread in self._busy):
            raise Forfeit("is still thinking about an earlier move")
        found: Future[int] = Future()
        task = lambda: choose(self._agent, self._name, self._game, state, rng)  # noqa: E731
        thread = Thread(target=_settle, args=(found, task), daemon=True)
        thread.start()
        if not _in_time(found, self._seconds):
            self._busy.append(thread)
            raise Forfeit(f"took longer than {self._seconds:g} seconds")
        try:
            return found.result()
        except MdplayError as error:
            raise Forfeit(str(error).removeprefix(f"agent {self._name} ")) from None

    def game_over(self) -> None:
        """Notify the agent, unless one of its threads is still running."""
        if not any(thread.is_alive() for thread in self._busy):
            leave(self._agent)


def _settle(found: Future[int], task: Callable[[], int]) -> None:
    try:
        found.set_result(task())
    except BaseException as error:
        found.set_exception(error)


def _in_time(found: Future[int], seconds: float) -> bool:
    """Wait for a result and return whether it arrived within ``seconds``, not counting compilation."""
    left = seconds
    while left > 0:
        began = time.monotonic()
        try:
            found.exception(timeout=min(left, POLL_SECONDS))
        except TimeoutError:
            left -= 0.0 if compiling.busy else time.monotonic() - began
            continue
        return True
    return found.done()
