"""What mdplay's engine does between go and bestmove.

    TreeThought    Monte Carlo tree search in steps     mcts, unless by a network
    DeepThought    deeper and deeper                    heuristic
    ActThought     one answer, when it is found         every other agent, and whenever no info is asked for

A thought yields actions, each better founded than the one before, with what there is to tell; the last is played.
``stop`` may be called by any thread: the first two end within a moment, with what they have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from mdplay.errors import check_seconds, check_whole
from mdplay.game import Game
from mdplay.playing.agents import Agent, choose, make_agent, option_names
from mdplay.rng import Random
from mdplay.running import Stopwatch, Watch
from mdplay.searching.depth_limited import (
    DEPTH,
    MAX_DEPTH,
    TABLE_BITS,
    Deepening,
    HeuristicAgent,
    check_depth,
    summary,
)
from mdplay.searching.mcts import MOST_SIMULATIONS, SIMULATIONS, MCTSAgent
from mdplay.searching.result import SearchResult, stopping_after
from mdplay.searching.stepwise import Search

STEP_SECONDS = 0.25  # between two words
BUDGETS = ("simulations", "seconds", "depth")
Told = tuple[int, dict[str, Any]]


class Thought(Protocol):
    """Thinking about one position."""

    def answers(self) -> Iterator[Told]:
        """Yield actions with what there is to tell of each; the last is the one to play."""

    def stop(self) -> bool:
        """End it soon; tell whether that can be."""


def think(game: Game[Any], agent: Agent, spec: str, state: Any, rng: Random, go: Mapping[str, Any]) -> Thought:
    """Return the thought of an agent about a position, within the budget that a go gives, or its own."""
    given = {name: go[name] for name in BUDGETS if go.get(name) is not None}
    if go.get("info", True) and isinstance(agent, MCTSAgent) and agent.options["network"] is None:
        return TreeThought(game, state, agent.options, given, rng.word())
    if go.get("info", True) and isinstance(agent, HeuristicAgent):
        return DeepThought(game, state, agent.options, given)
    return ActThought(lambda: choose(agent if not given else _within(game, spec, given), spec, game, state, rng))


def _within(game: Game[Any], spec: str, given: Mapping[str, Any]) -> Agent:
    """Return an agent with a budget of its own, as far as it knows what is given."""
    known = option_names(game, spec)
    return make_agent(game, spec, **{name: value for name, value in given.items() if name in known})


class ActThought:
    """An agent's move as it makes it in a match."""

    def __init__(self, act: Callable[[], int]) -> None:
        self._act = act

    def answers(self) -> Iterator[Told]:
        """Yield the one answer."""
        yield self._act(), {}

    def stop(self) -> bool:
        """Return False: an agent at work cannot be stopped."""
        return False


class TreeThought:
    """Tree search in steps."""

    def __init__(
        self, game: Game[Any], state: Any, options: Mapping[str, Any], given: Mapping[str, Any], seed: int
    ) -> None:
        kept = ("selector", "expansion", "solver", "knowledge", "max_bytes")
        self._search = Search(game, state, seed=seed, **{name: options[name] for name in kept})
        budget = _budget(given, options, ("simulations", "seconds"))
        self._seconds: float | None = budget.get("seconds")
        unbounded = MOST_SIMULATIONS if self._seconds else SIMULATIONS
        simulations: int | None = budget.get("simulations")
        self._simulations = unbounded if simulations is None else simulations
        check_whole("simulations", self._simulations)
        check_seconds(self._seconds)
        self._stopped = self._begun = False

    def answers(self) -> Iterator[Told]:
        """Yield the best action so far, a few times a second."""
        search = self._search
        search.run(1)  # there is always an answer
        self._begun = True
        while not self._stopped:
            left = self._simulations - search.simulations
            seconds = min(STEP_SECONDS, (self._seconds or STEP_SECONDS + search.seconds) - search.seconds)
            if left <= 0 or seconds <= 0 or search.proven:
                break
            before = search.simulations
            search.run(left, seconds=seconds)
            if search.simulations == before:
                break  # no room for more
            yield _told(search.result())
        yield _told(search.result())

    def stop(self) -> bool:
        """End the step that runs."""
        self._stopped = True
        if self._begun:
            self._search.stop()
        return True


class DeepThought:
    """Depth-limited search, depth by depth."""

    def __init__(self, game: Game[Any], state: Any, options: Mapping[str, Any], given: Mapping[str, Any]) -> None:
        budget = _budget(given, options, ("depth", "seconds"))
        self._seconds: float | None = budget.get("seconds")
        depth = budget.get("depth")
        check_depth(game, state, depth, self._seconds)
        self._depth = depth or (DEPTH if self._seconds is None else MAX_DEPTH)
        self._watch = Watch()
        rest = (options["knowledge"], self._watch, TABLE_BITS, options["network"])
        self._job = Deepening(game, state, self._depth, *rest)
        self._stopped = False

    def answers(self) -> Iterator[Told]:
        """Yield the best action of each depth."""
        job = self._job
        job.compile()
        clock = Stopwatch()
        more = job.deepen()  # there is always an answer
        with stopping_after(self._seconds, self._watch):
            while more and job.depth < self._depth and not self._stopped:
                yield _told(summary(job, clock.seconds))
                more = job.deepen()
        yield _told(summary(job, clock.seconds))

    def stop(self) -> bool:
        """End the depth that runs."""
        self._stopped = True
        if self._job.values:
            self._watch.stop[0] = 1
        return True


def _budget(given: Mapping[str, Any], options: Mapping[str, Any], names: Sequence[str]) -> Mapping[str, Any]:
    """Return what is given, if any of it counts here, or else the agent's own."""
    return given if any(name in given for name in names) else options


def _told(result: SearchResult) -> Told:
    return result.action, {
        "simulations": result.simulations,
        "nodes": result.nodes,
        "depth": result.depth,
        "seconds": result.seconds,
        "value": result.value,
        "proven": result.proven,
        "line": list(result.line),
        "moves": [move.document() for move in result.moves],
    }
