"""An engine as an agent: any program, in any language, that speaks the protocol.

    engine:python my_bot.py
    engine:command=python my_bot.py,seconds=5
    engine:command=(./bot --levels=1,2),limit=10     brackets keep commas together

    EngineAgent(game, ["python", "my_bot.py"], seconds=5)

An engine that dies, hangs or answers nonsense loses the game (``Forfeit``); it is ended, and the next game begins
with a new process.  One that behaves is kept from game to game.

An engine as a process: asked with a deadline, read within bounds, ended for certain.

Three threads per process read its stdout, read its stderr and write its stdin: neither an engine that says nothing
nor one that listens to nothing can block the caller.  Its output is read only as far as the caller asks, so an
engine that floods its pipe waits there.  The process leads a group of its own, and the whole group is ended.
"""

from __future__ import annotations

import copy
import os
import shlex
import shutil
import signal
import subprocess
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, Full, Queue, SimpleQueue
from threading import Event, Lock, Thread
from typing import Any, BinaryIO, cast

from mdplay.bits import elements
from mdplay.errors import AgentError, Forfeit, FormatError, IllegalMove, MdplayError, check_seconds, short
from mdplay.game import Game, write_fields
from mdplay.naming.notation import find_action
from mdplay.naming.registry import name_of
from mdplay.playing.engine.protocol import CHUNK, PROTOCOL, lines_of, read_message, written
from mdplay.playing.records import rules_of
from mdplay.rng import Random

MAX_LINES = 10_000  # before an answer
WAITING_LINES = 64
TAIL = 2000  # bytes of stderr that are kept
POLL_SECONDS = 0.05
END_SECONDS = 1.0  # that an engine gets to leave by itself


class EngineFault(MdplayError):
    """An engine that died, hung or answered nonsense; the message is a clause that follows its name."""


class EngineProcess:
    """A running engine."""

    def __init__(self, command: Sequence[str], environment: dict[str, str] | None = None) -> None:
        try:
            self.popen = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                env=None if environment is None else {**os.environ, **environment},
            )
        except (OSError, ValueError) as error:
            raise EngineFault(f"cannot be started: {getattr(error, 'strerror', None) or error}") from None
        self._pipes = _Pipes(self.popen)
        self._finalizer = weakref.finalize(self, _end, self.popen, self._pipes)

    @property
    def alive(self) -> bool:
        """Whether the process runs, as far as is known."""
        return self._finalizer.alive and _how_it_ended(self.popen) is None

    def ask(
        self, message: dict[str, Any], answer: str, seconds: float, pardoned: Callable[[dict[str, Any]], bool]
    ) -> dict[str, Any]:
        """Send a message and return the answer of a type, or raise EngineFault.

        ``pardoned(info)`` tells which info lines make the clock begin anew.
        """
        self._pipes.send(written(message))
        until = time.monotonic() + seconds
        for _ in range(MAX_LINES):
            line = self._line(until, seconds)
            try:
                found = read_message(line)
            except FormatError as error:
                raise EngineFault(f"answered nonsense: {error}") from None
            if found["type"] == answer:
                return found
            if found["type"] == "error":
                raise EngineFault(f"said: {short(found.get('message', ''), 300)}")
            if found["type"] != "info":
                raise EngineFault(f"answered {short(found['type'])!r}, not {answer!r}")
            if pardoned(found):
                until = time.monotonic() + seconds
        raise EngineFault(f"said more than {MAX_LINES:,} lines and no {answer}")

    def _line(self, until: float, seconds: float) -> bytes:
        try:
            line = self._pipes.said.get(timeout=max(0.0, until - time.monotonic()))
        except Empty:
            raise EngineFault(f"took longer than {seconds:g} seconds") from None
        if line is None:
            raise EngineFault(f"died{self._last_words()}")
        return line

    def _last_words(self) -> str:
        how = _wait(self.popen)
        words = self._pipes.last_words()
        return f" {how or 'for the player: it has closed its stdout'}{f': {short(words, 200)}' if words else ''}"

    def quit(self) -> None:
        """Let the engine leave, and end it if it does not."""
        if self.alive:
            self._pipes.send(written({"type": "quit"}))
            _wait(self.popen)
        self.end()

    def end(self) -> None:
        """End the process and all that it has started, whatever they are at."""
        self._finalizer()


class _Pipes:
    """The three pipes of a process, each with its thread."""

    def __init__(self, popen: subprocess.Popen[bytes]) -> None:
        self.said: Queue[bytes | None] = Queue(WAITING_LINES)  # None: it has closed its stdout
        self._told: SimpleQueue[bytes | None] = SimpleQueue()
        self._tail = b""
        self._over = Event()
        self._files = [cast(BinaryIO, pipe) for pipe in (popen.stdin, popen.stdout, popen.stderr)]
        tasks = (self._write, self._read, self._read_errors)
        self._threads = [Thread(target=t, args=(f,), daemon=True) for t, f in zip(tasks, self._files, strict=True)]
        for thread in self._threads:
            thread.start()

    def send(self, line: bytes) -> None:
        self._told.put(line)

    def last_words(self) -> str:
        """Return the last line of stderr."""
        self._threads[2].join(END_SECONDS)
        lines = self._tail.decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def close(self) -> None:
        """Close the pipes of an ended process; a pipe that another process holds open is left to its thread."""
        self._over.set()
        self._told.put(None)
        for thread, file in zip(self._threads, self._files, strict=True):
            thread.join(END_SECONDS)
            if not thread.is_alive():
                with suppress(OSError):
                    file.close()

    def _write(self, stdin: BinaryIO) -> None:
        with suppress(OSError):
            while line := self._told.get():
                while line:
                    line = line[stdin.write(line) or 0 :]

    def _read(self, stdout: BinaryIO) -> None:
        with suppress(OSError):
            for line in lines_of(stdout):
                self._say(line)
        self._say(None)

    def _say(self, line: bytes | None) -> None:
        while not self._over.is_set():
            with suppress(Full):
                self.said.put(line, timeout=POLL_SECONDS)
                return

    def _read_errors(self, stderr: BinaryIO) -> None:
        with suppress(OSError):
            while chunk := stderr.read(CHUNK):
                self._tail = (self._tail + chunk)[-TAIL:]


def _wait(popen: subprocess.Popen[bytes]) -> str | None:
    """Wait a moment for the end of a process, and return how it ended; None if it runs on."""
    until = time.monotonic() + END_SECONDS
    while (how := _how_it_ended(popen)) is None and time.monotonic() < until:
        time.sleep(POLL_SECONDS / 10)
    return how


def _how_it_ended(popen: subprocess.Popen[bytes]) -> str | None:
    """Return a description of how a process ended; None while it runs.

    It is not reaped: until then its number, which is that of its group, is not reused.
    """
    if not hasattr(os, "waitid") or popen.returncode is not None:
        return None if popen.poll() is None else f"with exit code {popen.returncode}"
    found = os.waitid(os.P_PID, popen.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if found is None:
        return None
    how = "with exit code" if found.si_code == os.CLD_EXITED else "by signal"
    return f"{how} {found.si_status}"


def _end(popen: subprocess.Popen[bytes], pipes: _Pipes) -> None:
    with suppress(OSError):  # it may be gone
        if hasattr(os, "killpg"):
            if popen.returncode is None:
                os.killpg(popen.pid, signal.SIGKILL)  # also if it has ended: for what it left behind
        else:
            popen.kill()
    popen.wait()
    pipes.close()


LIMIT = 60.0  # seconds for a move
START_SECONDS = 60.0  # until it says hello, and until a new game is ready


class EngineAgent:
    """Plays as an engine says; ``seconds``, ``simulations`` and ``depth`` are sent to it as its budget.

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
        """End all processes, those in a game too."""
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
