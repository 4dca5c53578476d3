"""mdplay as an engine: lines of JSON in, lines of JSON out, until quit or the end of the input.

An invalid line is answered by an error of one sentence, and has no other effect.  No line makes the engine open a
file: games other than the first one are known by their registered names only.

Between ``go`` and ``bestmove`` a *thought* chooses a move:

    TreeThought    Monte Carlo tree search in steps     mcts
    DeepThought    deeper and deeper                    heuristic
    ActThought     one answer, when it is found         every other agent, and if no info is wanted

A thought yields actions, each better founded than the one before, with the fields of an info line; the last action
is played.  ``stop`` may be called by any thread: the first two end within a moment, with what they have.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from threading import Event, Lock, Thread
from typing import Any, BinaryIO, Protocol

from mdplay import __version__
from mdplay.checking.contract_checks import spot_check
from mdplay.errors import (
    FormatError,
    MdplayError,
    PositionError,
    UnknownName,
    check_integer,
    check_seconds,
    sentence,
    short,
)
from mdplay.evaluating.evaluation import Evaluation, Evaluator, final_evaluation
from mdplay.game import Game, read_fields
from mdplay.naming.notation import parse_position
from mdplay.naming.registry import from_data, name_of
from mdplay.playing.agents import Agent, choose, make_agent, option_names
from mdplay.playing.engine.protocol import PROTOCOL, lines_of, read_command, written
from mdplay.playing.records import rules_of
from mdplay.position import Position
from mdplay.rng import Random
from mdplay.runtime.run import Run
from mdplay.runtime.threads import Stopwatch, TaskGroup, compiling
from mdplay.searching.depth_limited import Deepening, HeuristicAgent, summary
from mdplay.searching.mcts import MAX_BYTES, MAX_SIMULATIONS, SIMULATIONS, MCTSAgent, Search
from mdplay.searching.result import MethodAgent, SearchResult, check_open, stopping_after

STEP_SECONDS = 0.25  # between two info lines
BUDGETS = ("simulations", "seconds", "depth")
Answer = tuple[int, dict[str, Any]]  # an action, and the fields of an info line


class Thought(Protocol):
    """Thinking about one position."""

    def answers(self) -> Iterator[Answer]:
        """Yield actions with the fields of an info line; the last is the one to play."""

    def stop(self) -> bool:
        """End the thought soon; return whether that is possible."""


def think(game: Game[Any], agent: Agent, spec: str, state: Any, rng: Random, go: Mapping[str, Any]) -> Thought:
    """Return the thought of an agent about a position, within the budget that a go gives, or its own."""
    given = {name: go[name] for name in BUDGETS if go.get(name) is not None}
    if go.get("info", True) and isinstance(agent, MCTSAgent):
        return TreeThought(game, state, agent, given, rng.word())
    if go.get("info", True) and isinstance(agent, HeuristicAgent):
        return DeepThought(game, state, agent, given)
    evaluator = agent if go.get("info", True) and isinstance(agent, Evaluator) else None
    player = agent if not given else _within(game, spec, given)
    return ActThought(game, state, lambda: choose(player, spec, game, state, rng), evaluator)


def _within(game: Game[Any], spec: str, given: Mapping[str, Any]) -> Agent:
    """Return an agent with a budget of its own, as far as it knows what is given."""
    known = option_names(game, spec)
    return make_agent(game, spec, **{name: value for name, value in given.items() if name in known})


class ActThought:
    """An agent's move as in a match, with the values of the moves if the agent is an evaluator."""

    def __init__(self, game: Game[Any], state: Any, act: Callable[[], int], evaluator: Evaluator | None) -> None:
        self._game, self._state, self._act, self._evaluator = game, state, act, evaluator

    def answers(self) -> Iterator[Answer]:
        """Yield the one answer."""
        yield (
            self._act(),
            {} if self._evaluator is None else self._info(final_evaluation(self._evaluator, self._state)),
        )

    def _info(self, evaluation: Evaluation) -> dict[str, Any]:
        """Return the fields of an info line; values that are not finite are left out."""
        moves = [
            {"move": self._game.move_text(self._state, a), "visits": 0, "value": move.value, "proven": move.exact}
            for a, move in evaluation.moves.items()
            if math.isfinite(move.value)
        ]
        value = evaluation.value
        known = (
            {}
            if value is None or not math.isfinite(value.value)
            else {"value": value.value, "proven": value.exact}
        )
        return {**known, "line": list(evaluation.line), "moves": moves}

    def stop(self) -> bool:
        """Return False: an agent at work cannot be stopped."""
        return False


class TreeThought:
    """Tree search in steps."""

    def __init__(self, game: Game[Any], state: Any, agent: MCTSAgent, given: Mapping[str, Any], seed: int) -> None:
        run = Run(memory=agent.run.memory or MAX_BYTES)
        self._search = Search(game, state, seed=seed, run=run, **vars(replace(agent.options, simulations=None)))
        budget = _budget(given, agent, "simulations")
        self._seconds: float | None = budget.get("seconds")
        unbounded = MAX_SIMULATIONS if self._seconds else SIMULATIONS
        simulations: int | None = budget.get("simulations")
        self._simulations = unbounded if simulations is None else simulations
        check_integer("simulations", self._simulations)
        check_seconds(self._seconds)
        self._stopped = self._begun = False

    def answers(self) -> Iterator[Answer]:
        """Yield the best action so far, a few times a second."""
        for result in self._search.steps(self._simulations, seconds=self._seconds, every=STEP_SECONDS):
            self._begun = True  # from now on there is an answer
            yield _answer_of(result)
            if self._stopped:
                return

    def stop(self) -> bool:
        """End the step that runs."""
        self._stopped = True
        if self._begun:
            self._search.stop()
        return True


class DeepThought:
    """Depth-limited search, depth by depth."""

    def __init__(self, game: Game[Any], state: Any, agent: HeuristicAgent, given: Mapping[str, Any]) -> None:
        budget = _budget(given, agent, "depth")
        self._seconds: float | None = budget.get("seconds")
        check_seconds(self._seconds)
        self._watch = TaskGroup()
        method = replace(agent.options, depth=budget.get("depth"))
        self._job = Deepening(game, state, method, self._watch, self._seconds)
        self._stopped = False

    def answers(self) -> Iterator[Answer]:
        """Yield the best action of each depth."""
        job = self._job
        job.compile()
        clock = Stopwatch()
        more = job.deepen()  # there is always an answer
        with stopping_after(self._seconds, self._watch):
            while more and job.depth < job.limit and not self._stopped:
                yield _answer_of(summary(job, clock.seconds))
                more = job.deepen()
        yield _answer_of(summary(job, clock.seconds))

    def stop(self) -> bool:
        """End the depth that runs."""
        self._stopped = True
        if self._job.values:
            self._watch.stop[0] = 1
        return True


def _budget(given: Mapping[str, Any], agent: MethodAgent, name: str) -> Mapping[str, Any]:
    """Return what is given, if it limits the option ``name`` or the seconds, or else the budget of the agent."""
    own = {name: getattr(agent.options, name), "seconds": agent.run.seconds}
    return given if any(limit in given for limit in own) else own


def _answer_of(result: SearchResult) -> Answer:
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


TICK_SECONDS = 0.2
LEAVE_SECONDS = 0.5  # that a thought gets to end after quit or the end of the input
Command = dict[str, Any]


class Engine:
    """One game at a time, one thought at a time; ``write`` takes whole lines."""

    def __init__(self, game: Game[Any], agent: str, write: Callable[[bytes], Any]) -> None:
        self._write, self._lock = write, Lock()
        self._spec = agent
        self._first = game  # the one that it was started with: the only one that may be a user's
        spot_check(game)
        self._begin(game, 0)
        self._thought: Thought | None = None
        self._thinker: Thread | None = None

    def _begin(self, game: Game[Any], seed: int) -> None:
        agent = make_agent(game, self._spec)
        self.game, self.agent, self._rng = game, agent, Random.at(seed)
        self.state: Any = game.initial()

    def run(self, lines: Iterable[bytes]) -> None:
        """Answer lines until one says quit or they end."""
        for line in lines:
            if line.strip() and not self._answer(line):
                break
        self._leave()

    def _answer(self, line: bytes) -> bool:
        """Answer a line; return whether to go on."""
        try:
            command = read_command(line)
            if command["type"] == "quit":
                return False
            if command["type"] not in ("stop", "hello") and self._is_thinking:
                raise FormatError(f"{command['type']}: the engine is thinking; say stop first")
            _COMMANDS[command["type"]](self, command)
        except Exception as error:
            self._error(error)
        return True

    @property
    def _is_thinking(self) -> bool:
        return self._thought is not None

    # ---------------------------------------------------------------- commands
    def _hello(self, command: Command) -> None:
        if command.get("protocol", PROTOCOL) != PROTOCOL:
            raise FormatError(f"hello: protocol {short(command['protocol'])} is not known; this is {PROTOCOL}")
        self._say("hello", protocol=PROTOCOL, name=f"mdplay {__version__} {self._spec}", **self._named())

    def _new(self, command: Command) -> None:
        game = self._game_of(command)
        if command.get("rules") not in (None, rules_of(game)):
            raise FormatError("new: the rules of the game are others here than there")
        self._begin(game, command.get("seed", 0))
        self._say("ready", **self._named())

    def _position(self, command: Command) -> None:
        self.state = _state_of(self.game, command)
        self._say("ready")

    def _go(self, command: Command) -> None:
        check_open(self.game, self.state)
        self._thought = think(self.game, self.agent, self._spec, self.state, self._rng, command)
        self._thinker = Thread(target=self._think, args=(self._thought, self.game, self.state), daemon=True)
        self._thinker.start()

    def _stop(self, command: Command) -> None:
        thought = self._thought
        if thought is not None and not thought.stop():
            raise FormatError(f"stop: agent {self._spec} cannot be stopped before it has found its move")

    def _named(self) -> dict[str, Any]:
        name, given = name_of(self.game)
        return {"game": name, "parameters": given, "rules": rules_of(self.game)}

    def _game_of(self, command: Command) -> Game[Any]:
        name, given = name_of(self._first)
        if command.get("game", name) == name and command.get("parameters", given) == given:
            return self._first
        try:
            return from_data(command.get("game", name), command.get("parameters", {}))
        except UnknownName as error:
            raise FormatError(f"new: {error}; or as it was started: {name} with {json.dumps(given)}") from None

    # ---------------------------------------------------------------- thinking
    def _think(self, thought: Thought, game: Game[Any], state: Any) -> None:
        over = Event()
        Thread(target=self._tick, args=(over,), daemon=True).start()
        last: Answer | None = None
        try:
            for answer in thought.answers():
                last = answer
                if answer[1]:
                    self._say("info", **answer[1])
        except Exception as error:
            last = None
            self._error(error)
        finally:
            over.set()
            self._thought = None
        if last is not None:
            action, info = last
            known = {name: info[name] for name in ("value", "line") if name in info}
            move = game.move_text(state, action)
            self._say("bestmove", move=move, action=action, **known, random=self._rng.state)

    def _tick(self, over: Event) -> None:
        """Send an info line several times a second while a kernel is being compiled."""
        while not over.wait(TICK_SECONDS):
            if compiling.busy:
                self._say("info", compiling=True)

    def _leave(self) -> None:
        thought, thinker = self._thought, self._thinker
        if thought is not None and thinker is not None:
            thought.stop()
            thinker.join(LEAVE_SECONDS)
            while compiling.busy and thinker.is_alive():
                thinker.join(LEAVE_SECONDS)

    # ---------------------------------------------------------------- lines
    def _say(self, kind: str, **fields: Any) -> None:
        with self._lock, suppress(OSError):  # the output is closed: the end of the input comes next
            self._write(written({"type": kind, **fields}))

    def _error(self, error: Exception) -> None:
        words = str(error) if isinstance(error, MdplayError) else f"{type(error).__name__}: {error}"
        self._say("error", message=sentence(words).replace("\n", " "))


_COMMANDS: dict[str, Callable[[Engine, Command], None]] = {
    "hello": Engine._hello,
    "new": Engine._new,
    "position": Engine._position,
    "go": Engine._go,
    "stop": Engine._stop,
}


def _state_of(game: Game[Any], command: Command) -> Any:
    """Return the state of a position: by its fields, or by a start and moves."""
    if "fields" in command:
        return read_fields(game, command["fields"])
    moves = command.get("moves", [])
    if not all(isinstance(move, str) for move in moves):
        raise PositionError("position: moves are texts in the game's notation")
    start = command.get("start")
    first = game.initial() if start is None else parse_position(game, start)
    return Position.start(game, first).play_all(moves).state


def serve_engine(
    game: Game[Any], agent: str, stdin: BinaryIO | None = None, stdout: BinaryIO | None = None
) -> None:
    """Be an engine on two unbuffered streams, or on this process's own stdin and stdout.

    Then these are the protocol's alone: whatever else reads gets nothing, and whatever else prints, such as an
    agent, prints on stderr.
    """
    if stdin is None or stdout is None:
        stdin, stdout = _own_streams()
    Engine(game, agent, stdout.write).run(lines_of(stdin))


def _own_streams() -> tuple[BinaryIO, BinaryIO]:
    stdin, stdout = os.fdopen(os.dup(0), "rb", buffering=0), os.fdopen(os.dup(1), "wb", buffering=0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return stdin, stdout
