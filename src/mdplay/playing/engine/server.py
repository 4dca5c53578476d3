"""mdplay as an engine: lines of JSON in, lines of JSON out, until quit or the end of the input.

A line that makes no sense is answered by an error, in one sentence, and nothing changes.  No line makes it open a
file: other games than the one that it was started with are known by their registered names only.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import Any, BinaryIO

from mdplay import __version__
from mdplay.checking.promises import hold_promises
from mdplay.errors import FormatError, MdplayError, PositionError, UnknownName, sentence, short
from mdplay.fields import read_fields
from mdplay.game import Game
from mdplay.notation import parse_position
from mdplay.playing.agents import make_agent
from mdplay.playing.engine.protocol import PROTOCOL, lines_of, read_command, written
from mdplay.playing.engine.thinking import Thought, Told, think
from mdplay.playing.records import rules_of
from mdplay.position import Position
from mdplay.registry import from_data, name_of
from mdplay.rng import Random
from mdplay.running import compiling
from mdplay.searching.result import check_open

TICK_SECONDS = 0.2
LEAVE_SECONDS = 0.5  # that a thought gets to end after quit or the end of the input
Command = dict[str, Any]


class Engine:
    """One game at a time, one thought at a time; ``write`` takes whole lines."""

    def __init__(self, game: Game[Any], agent: str, write: Callable[[bytes], Any]) -> None:
        self._write, self._lock = write, Lock()
        self._spec = agent
        self._first = game  # the one that it was started with: the only one that may be a user's
        hold_promises(game)
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
            raise FormatError(f"stop: agent {self._spec} tells its move when it has found it, not before")

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
        last: Told | None = None
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
            action, told = last
            known = {name: told[name] for name in ("value", "line") if name in told}
            move = game.move_text(state, action)
            self._say("bestmove", move=move, action=action, **known, random=self._rng.state)

    def _tick(self, over: Event) -> None:
        """Tell now and then that time goes to the compiler, so that nobody takes it for thinking."""
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
        with self._lock, suppress(OSError):  # nobody listens any more: the end of the input comes next
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
