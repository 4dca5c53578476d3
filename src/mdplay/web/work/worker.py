"""The worker: it does what the server is asked, in threads, and is a process of its own beside the event loop.

A thread that loads compiled code or writes a large table in words holds the GIL, and the event loop of the same
process would wait for it.  So the server computes nothing: it passes requests on and sends the events that it
receives.

    on stdin    a JSON list a line:  ["begin", number, kind, {what is given}]  ["more", number]  ["stop", number]
    on stdout   a line "number sign length" and ``length`` bytes (jobs.py): part of a stream, answer or refusal

When stdin ends, the server is gone, and so is the worker.  A request's kind names a function below ``KINDS``: it
checks what is given, raises Refused, and returns the work (told as a stream) or the answer to a question.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mdplay.naming.registry import load_attribute
from mdplay.runtime.signals import own_process
from mdplay.web.games.catalogue import Catalogue
from mdplay.web.games.requests import Ask, ask
from mdplay.web.safety import Refused, refusal
from mdplay.web.work.jobs import ANSWER, PART, REFUSED, Job, Tell, log

if TYPE_CHECKING:
    from mdplay.web.games.catalogue import LearnedAgents
    from mdplay.web.games.evaluators import Evaluators

GAMES, LABS = "mdplay.web.games.events:", "mdplay.web.labs.answering:"  # imported when they are asked for
KINDS = {kind: GAMES + kind for kind in ("values", "line", "search", "agent", "solvers", "prepare")}
KINDS |= {kind: LABS + kind for kind in ("plan", "bandits", "methods", "learn", "tournament", "reproduce")}
NICE = 5  # the server, which only passes on, comes first
STATUS = 0  # the number under which a worker tells of itself
STATUS_SECONDS = 0.2
END_SECONDS = 0.5  # that work gets to end when the server is gone


class Worker:
    """Does requests, each in a thread, and tells of them; ``apart``: kernels are compiled in processes."""

    def __init__(self, catalogue: Catalogue, tell: Tell, *, apart: bool = False) -> None:
        self.catalogue, self._tell, self._apart = catalogue, tell, apart
        self._jobs: dict[int, Job] = {}
        self._lock = threading.RLock()
        self._told_status = b""
        self._closed = threading.Event()
        threading.Thread(target=self._tell_often, daemon=True).start()

    # ---------------------------------------------------------------- what is asked
    def begin(self, number: int, kind: str, given: dict[str, Any]) -> None:
        """Begin a request."""
        job = self._jobs[number] = Job(lambda sign, body: self._send(number, sign, body))
        threading.Thread(target=self._do, args=(number, job, kind, given), daemon=True).start()

    def _do(self, number: int, job: Job, kind: str, given: dict[str, Any]) -> None:
        try:
            found = load_attribute(KINDS[kind])(self, **given)
        except Exception as error:
            refused = refusal(error)
            if refused is None:
                log.exception("a request failed")
                refused = Refused(500, "the server met a fault")
            self._send(number, REFUSED, json.dumps([refused.code, refused.words]).encode())
            return
        if callable(found):
            job.run(found)
        else:
            self._send(number, ANSWER, json.dumps(found).encode())

    def _send(self, number: int, sign: str, body: bytes) -> None:
        if sign != PART:
            self._jobs.pop(number, None)
        self._tell(number, sign, body)

    def has(self, number: int) -> bool:
        """Return whether a request is under way."""
        return number in self._jobs

    def more(self, number: int) -> None:
        """Deliver the next part of a stream."""
        if number in self._jobs:
            self._jobs[number].more()

    def stop(self, number: int) -> None:
        """End a stream as soon as possible."""
        if number in self._jobs:
            self._jobs[number].stop()

    def close(self) -> None:
        """End all work, and the processes that do parts of it."""
        self._closed.set()
        for job in list(self._jobs.values()):
            job.stop()
        known: Any = self.__dict__.get("_evaluators")
        if known is not None:
            known.workshop.close()

    def wait(self, seconds: float) -> None:
        """Wait until all work has ended, but no longer than so."""
        until = time.monotonic() + seconds
        while self._jobs and time.monotonic() < until:
            time.sleep(0.01)

    # ---------------------------------------------------------------- what is known
    def asked(self, game: str, params: str, start: str, moves: str, base: str) -> Ask:
        """Return the position that a request names."""
        return ask(self.catalogue[game], params, start, moves, base)

    @property
    def evaluators(self) -> Evaluators:
        """The evaluators of games."""
        with self._lock:
            return self._evaluators

    @cached_property
    def _evaluators(self) -> Evaluators:
        from mdplay.runtime.threads import compiling
        from mdplay.web.games.evaluators import Evaluators

        compiling.elsewhere = self._apart
        return Evaluators()

    @property
    def learned(self) -> LearnedAgents:
        """What was learned on the page."""
        with self._lock:
            return self._learned

    @cached_property
    def _learned(self) -> LearnedAgents:
        from mdplay.web.games.catalogue import LearnedAgents

        return LearnedAgents(self.tell_status)

    # ---------------------------------------------------------------- how it is
    def status(self) -> dict[str, Any]:
        """Return what is being prepared, the curves of what is being trained, and who learned here."""
        evaluators: Any = self.__dict__.get("_evaluators")
        learned: Any = self.__dict__.get("_learned")
        return {
            "busy": evaluators.busy if evaluators else [],
            "training": {game: list(curve) for game, curve in (evaluators.curves if evaluators else {}).items()},
            "learned": learned.listed() if learned else [],
        }

    def tell_status(self) -> None:
        """Send the state of the worker itself if it has changed."""
        status = json.dumps(self.status()).encode()
        if status != self._told_status:
            self._told_status = status
            self._tell(STATUS, ANSWER, status)

    def _tell_often(self) -> None:
        while not self._closed.wait(STATUS_SECONDS):
            self.tell_status()


# ---------------------------------------------------------------- the process
def main(games: list[str]) -> None:
    """Be the worker of a server, until it closes our stdin."""
    own_process()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends us
    if hasattr(os, "nice"):
        os.nice(NICE)
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    _keep_clear()
    lock = threading.Lock()

    def tell(number: int, sign: str, body: bytes) -> None:
        with lock:
            try:
                sink.write(f"{number} {sign} {len(body)}\n".encode() + body)
                sink.flush()
            except OSError:
                os._exit(1)

    worker = Worker(Catalogue(games, tried=True), tell, apart=True)
    assert worker.evaluators  # what takes longest to import, before anybody asks
    methods: dict[str, Callable[..., None]] = {
        one.__name__: one for one in (worker.begin, worker.more, worker.stop)
    }
    for line in source:
        method, *arguments = json.loads(line)
        methods[method](*arguments)
    worker.close()
    worker.wait(END_SECONDS)
    os._exit(0)  # kernels that did not stop are left


def _keep_clear() -> None:
    """Keep stdin and stdout from whatever a game reads and prints: what it prints goes to stderr."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)


if __name__ == "__main__":
    main(sys.argv[1:])
