"""An engine as an agent: any program, in any language, that speaks the protocol.

    engine:python my_bot.py
    engine:command=python my_bot.py,seconds=5
    engine:command=(./bot --levels=1,2),limit=10     brackets keep commas together

    EngineAgent(game, ["python", "my_bot.py"], seconds=5)

An engine that dies, hangs or answers nonsense loses the game (``Forfeit``); it is ended, and the next game begins
with a new process.  One that behaves is kept from game to game.
"""

from __future__ import annotations

import copy
import shlex
import shutil
from collections.abc import Sequence
from threading import Lock
from typing import Any

from mdplay.bits import elements
from mdplay.errors import AgentError, Forfeit, IllegalMove, check_seconds, short
from mdplay.fields import write_fields
from mdplay.game import Game
from mdplay.notation import find_action
from mdplay.playing.engine.process import EngineFault, EngineProcess
from mdplay.playing.engine.protocol import PROTOCOL
from mdplay.playing.records import rules_of
from mdplay.registry import name_of
from mdplay.rng import Random

LIMIT = 60.0  # seconds for a move
START_SECONDS = 60.0  # until it says hello, and until a new game is ready


class EngineAgent:
    """Plays as an engine says; ``seconds``, ``simulations`` and ``depth`` are told to it as its budget.

    ``limit``: a move that takes longer loses the game.  ``ours``: the engine is mdplay itself, which is asked for
    the moves that its agent makes in a match, and whose clock stands still while it compiles.
    """

    def __init__(
        self,
        game: Game[Any],
        command: str | Sequence[str],
        *,
        seconds: float | None = None,
        simulations: int | None = None,
        depth: int | None = None,
        limit: float = LIMIT,
        ours: bool = False,
    ) -> None:
        check_seconds(seconds)
        check_seconds(limit)
        words = _words(command)
        self.name = f"engine:{shlex.join(words)}"
        budget = {"simulations": simulations, "seconds": seconds, "depth": depth}
        self.go: dict[str, Any] = {"type": "go", **{k: v for k, v in budget.items() if v is not None}}
        self.go |= {"info": False} if ours else {}
        self.limit, self._ours = max(limit, 2 * (seconds or 0.0)), ours
        self._game = game
        self._fleet = Fleet(game, words)
        self._process: EngineProcess | None = None

    def another(self) -> EngineAgent:
        """Return an agent for another game, which shares the processes of this one."""
        other = copy.copy(self)
        other._process = None
        return other

    def with_limit(self, seconds: float) -> EngineAgent:
        """Return an agent that shares the processes of this one, with another limit."""
        other = self.another()
        other.limit = seconds
        return other

    def act(self, state: Any, rng: Random) -> int:
        """Return the engine's move, or raise Forfeit."""
        try:
            return self._move(state, rng)
        except BaseException as error:
            process, self._process = self._process, None
            if process is not None:
                process.end()
            if isinstance(error, EngineFault):
                raise Forfeit(str(error).removeprefix(f"said: agent {self._fleet.command[-1]} ")) from None
            raise

    def game_over(self) -> None:
        """Keep the process for the next game."""
        if self._process is not None:
            self._fleet.give_back(self._process)
            self._process = None

    def close(self) -> None:
        """End the processes of all games."""
        self._fleet.close()

    def ready(self) -> None:
        """Have a process ready that knows the game, or raise EngineFault."""
        self._begin(0)
        self.game_over()

    def _begin(self, seed: int) -> None:
        self._process = self._fleet.take()
        self._ask({**self._fleet.new, "seed": seed}, "ready", START_SECONDS)

    def _move(self, state: Any, rng: Random) -> int:
        if self._process is None:
            self._begin(rng.state)
        self._ask(self._position(state), "ready")
        answer = self._ask({**self.go, "limit": self.limit}, "bestmove")
        if isinstance(drawn := answer.get("random"), int):
            rng.jump(drawn)
        else:
            rng.word()  # the engine may have used randomness of its own
        move = answer.get("move")
        if not isinstance(move, str):
            raise EngineFault("answered a bestmove without a move")
        try:
            return find_action(self._game, state, move)
        except IllegalMove:
            where = self._game.text(state)
            raise EngineFault(f"answered {short(move)!r}, which is not legal in {where}") from None

    def _ask(self, message: dict[str, Any], answer: str, seconds: float = 0.0) -> dict[str, Any]:
        assert self._process is not None
        return self._process.ask(message, answer, seconds or self.limit, self._pardons)

    def _pardons(self, info: dict[str, Any]) -> bool:
        return self._ours and info.get("compiling") is True

    def _position(self, s: Any) -> dict[str, Any]:
        game = self._game
        return {
            "type": "position",
            "fields": write_fields(s),
            "text": game.text(s),
            "player": int(game.player(s)),
            "legal": [game.move_text(s, action) for action in elements(game.legal(s))],
        }


class Fleet:
    """The processes of one command: those that wait for a game, and all that run."""

    def __init__(self, game: Game[Any], command: Sequence[str]) -> None:
        name, given = name_of(game)
        self.command = command
        self.new = {"type": "new", "game": name, "parameters": given, "rules": rules_of(game)}
        self._lock = Lock()
        self._idle: list[EngineProcess] = []
        self._running: list[EngineProcess] = []

    def take(self) -> EngineProcess:
        """Return a process that waits, or a new one that has said hello; raise EngineFault."""
        while process := self._pop():
            if process.alive:
                return process
            process.end()
        process = EngineProcess(self.command)
        with self._lock:
            self._running = [one for one in self._running if one.alive] + [process]
        try:
            process.ask({"type": "hello", "protocol": PROTOCOL}, "hello", START_SECONDS, lambda _: False)
        except BaseException:
            process.end()
            raise
        return process

    def _pop(self) -> EngineProcess | None:
        with self._lock:
            return self._idle.pop() if self._idle else None

    def give_back(self, process: EngineProcess) -> None:
        """Let a process wait for another game."""
        with self._lock:
            self._idle.append(process)

    def close(self) -> None:
        """End all processes, those in a game too: nobody waits for their moves any more."""
        with self._lock:
            idle, running = self._idle, self._running
            self._idle, self._running = [], []
        for process in idle:
            process.quit()
        for process in running:
            process.end()


def _words(command: str | Sequence[str]) -> list[str]:
    """Return the words of a command; raise AgentError if there is no such program."""
    if isinstance(command, str):
        text = command.strip()
        try:
            words = shlex.split(text[1:-1] if text.startswith("(") and text.endswith(")") else text)
        except ValueError as error:
            raise AgentError(f"the command {short(text)!r} cannot be read: {error}") from None
    else:
        words = list(map(str, command))
    if not words or "\0" in "".join(words):
        raise AgentError("an engine needs a command, as in engine:python my_bot.py")
    if shutil.which(words[0]) is None:
        raise AgentError(f"there is no program {short(words[0])!r} to start")
    return words
