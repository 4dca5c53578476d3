"""Worker processes of this machine.

Each has a pipe of its own and one chunk at a time.  A worker that dies, for lack of memory or by a kill, is
replaced, and its chunk is done again.  Workers are new interpreters (spawn): nothing of the driver's threads and
kernels is copied into them.  Ctrl-C is for the driver, which kills its workers at once; a worker whose driver is
gone exits.  `concurrent.futures.ProcessPoolExecutor` would lose all workers with one, and cannot kill them
before Python 3.14.

Large values lie in shared memory, which all processes of the machine read without a copy.  A value is pickled;
its arrays are written, one after the other, into one piece of shared memory.  The piece is removed when its
owner closes, or by the tracker of multiprocessing when the owner was killed.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import cache, lru_cache
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.shared_memory import SharedMemory
from threading import Thread
from typing import Any, NamedTuple

from mdplay import GameError, LimitError
from mdplay.distributed.executor import (
    Addressed,
    Ended,
    Executor,
    Feed,
    Job,
    Outcome,
    SerialActors,
    delivered,
    do_chunk,
    sendable,
)
from mdplay.runtime.executors import Actors
from mdplay.runtime.signals import own_process

ALIGNED = 64  # bytes: where an array may begin


class Shared(NamedTuple):
    """A value that lies in shared memory; ``seen`` reads it."""

    memory: str
    frame: bytes  # the pickle without its arrays
    spans: tuple[tuple[int, int], ...]  # where each array begins and ends


def put(value: Any) -> tuple[Shared, SharedMemory]:
    """Write a value into a new piece of shared memory; who called removes it in the end."""
    buffers: list[pickle.PickleBuffer] = []
    frame = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    spans, end = [], 0
    for buffer in buffers:
        begin = -(-end // ALIGNED) * ALIGNED
        end = begin + buffer.raw().nbytes
        spans.append((begin, end))
    memory = SharedMemory(create=True, size=max(1, end))
    for buffer, (begin, stop) in zip(buffers, spans, strict=True):
        view(memory)[begin:stop] = buffer.raw()
    return Shared(memory.name, frame, tuple(spans)), memory


@lru_cache(maxsize=64)
def seen(shared: Shared) -> Any:
    """Return a shared value; its arrays are views of the shared memory, and cannot be written."""
    bytes_of = view(_attached(shared.memory)).toreadonly()
    return pickle.loads(shared.frame, buffers=[bytes_of[begin:end] for begin, end in shared.spans])


def view(memory: SharedMemory) -> memoryview:
    """Return the bytes of shared memory that was not closed."""
    assert memory.buf is not None
    return memory.buf


class _Attached(SharedMemory):
    """Memory of another process, which stays open as long as this one: its arrays may be in use to the end."""

    def close(self) -> None:
        """Close it, unless an array still looks at it; then the system does when the process ends."""
        with suppress(BufferError):
            super().close()


@cache
def _attached(name: str) -> SharedMemory:
    return _Attached(name)


def work(pipe: Connection[Any, Any], memory: int | None) -> None:
    """Do chunks until the pipe is closed; ``memory`` is what may be used, in bytes."""
    own_process()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_follow_parent, daemon=True).start()
    limit_memory(memory)
    job = Job(print, ())
    try:
        while True:
            told, numbers = pipe.recv()
            if told is not None:  # else as before
                job = _told(told)
            pipe.send(sendable(do_chunk(job, numbers)))
    except (EOFError, OSError):  # the driver has closed, or is gone
        os._exit(0)  # views of shared memory would complain about an end in order


def _told(pickled: bytes) -> Job:
    task, arguments = pickle.loads(pickled)
    return Job(task, tuple(seen(one) if isinstance(one, Shared) else one for one in arguments))


OBJECTS: dict[int, Any] = {}  # the actors of this process, by their numbers


def call_object(
    number: int,
    make: Callable[..., Any],
    arguments: tuple[Any, ...],
    method: str,
    given: tuple[Any, ...] | dict[int, tuple[Any, ...]],
) -> Any:
    """Call a method of an actor, which is made if it is not there: the task of a worker that has actors.

    ``given`` are the method's arguments, or those of each actor by its number.
    """
    if number not in OBJECTS:
        OBJECTS[number] = make(number, *arguments)
    return getattr(OBJECTS[number], method)(*(given[number] if isinstance(given, dict) else given))


def _follow_parent() -> None:
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


def limit_memory(memory: int | None) -> None:
    """Limit this process to ``memory`` bytes of data, where the system supports it; None: no limit of ours."""
    try:
        import resource
    except ImportError:
        return
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (hard if memory is None else memory, hard))


TRIES = 10  # of a chunk, before it is held to kill its workers
POLL_SECONDS = 0.2


class Processes(Executor):
    """Workers in processes; they start with the first task, and stay until the executor is closed."""

    def __init__(self, workers: int, memory: int | None = None) -> None:
        self.workers, self._memory = workers, memory
        self._idle: list[_Worker] = []
        self._shared: list[SharedMemory] = []

    def _chunks(self, job: Job, feed: Feed) -> Ended:
        told, again, busy = _pickled(job), deque[tuple[list[int], int]](), list[_Worker]()
        try:
            while True:
                while len(busy) < self.workers and (todo := again.popleft() if again else _next(feed)):
                    busy.append(self._begin(told, *todo))
                if not busy:
                    return
                wait([end for one in busy for end in one.ends], timeout=POLL_SECONDS)
                for one in [one for one in busy if one.has_ended]:
                    busy.remove(one)
                    outcome = one.outcome()
                    if outcome is None:
                        again.append((one.chunk, one.tries + 1))
                        _check_tries(one)
                        continue
                    self._idle.append(one)
                    yield one.chunk, outcome
        finally:
            for one in busy:
                one.kill()

    def _begin(self, told: bytes, chunk: list[int], tries: int) -> _Worker:
        worker = self._idle.pop() if self._idle else _Worker(self._memory)
        worker.begin(told, chunk, tries)
        return worker

    def actors(self, make: Callable[..., Any], count: int, *arguments: Any) -> Actors:
        """Make objects in processes of their own, several in one if there are more of them than workers."""
        return ProcessActors(make, count, arguments, self.workers, self._memory)

    def share(self, value: Any) -> Any:
        """Write a value into shared memory; it lies there until the executor is closed."""
        shared, memory = put(value)
        self._shared.append(memory)
        return shared

    def close(self) -> None:
        """End the workers, and remove what they shared."""
        for worker in self._idle:
            worker.kill()
        for memory in self._shared:
            memory.close()
            memory.unlink()
        self._idle, self._shared = [], []


class _Worker:
    """A worker process, and the chunk that it is at."""

    def __init__(self, memory: int | None) -> None:
        context = get_context("spawn")
        self._pipe: Connection[Any, Any]
        self._pipe, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, memory), daemon=True)
        self.process.start()
        theirs.close()
        self._told: bytes | None = None
        self.chunk: list[int] = []
        self.tries = 0

    def begin(self, told: bytes, chunk: list[int], tries: int) -> None:
        """Send a chunk; one who is dead by now is found out about when the answer is awaited."""
        self.chunk, self.tries = chunk, tries
        try:
            self._pipe.send((None if told is self._told else told, chunk))
        except OSError:
            return
        self._told = told

    @property
    def ends(self) -> list[Any]:
        """What to wait for."""
        return [self._pipe, self.process.sentinel]

    @property
    def has_ended(self) -> bool:
        """Whether there is an outcome, or never will be."""
        return self._pipe.poll() or not self.process.is_alive()

    def outcome(self) -> Outcome | None:
        """Return the outcome of the chunk; None if the worker died at it."""
        try:
            if self._pipe.poll():  # the last words of a dead one count
                found: Outcome = self._pipe.recv()
                return found
        except (EOFError, OSError):
            pass
        self.kill()
        return None

    def kill(self) -> None:
        """End the process; it holds nothing that could be lost."""
        self.process.kill()
        self.process.join()
        self.process.close()
        self._pipe.close()


class ProcessActors(SerialActors):
    """Actors (``mdplay.runtime.executors.Actors``) in worker processes, one for each or several together.

    Large answers go through this process.
    """

    def __init__(
        self, make: Callable[..., Any], count: int, arguments: tuple[Any, ...], workers: int, memory: int | None
    ) -> None:
        self._made_of, self._memory = (make, arguments), memory
        self._count = count
        self._workers = [_Worker(memory) for _ in range(min(count, workers))]

    def call(self, method: str, *arguments: Any) -> list[Any]:
        """Call a method of each, side by side; of several errors the first actor's is raised."""
        told = self._told(method, arguments)
        for place, worker in enumerate(self._workers):
            worker.begin(told[place], self._numbers(place), 0)
        found, failed = dict[int, Any](), dict[int, BaseException]()
        for place in range(len(self._workers)):
            numbers, outcome = self._numbers(place), self._awaited(place, told[place])
            found |= zip(numbers, outcome.answers, strict=False)
            if outcome.error is not None:
                failed[numbers[len(outcome.answers)]] = outcome.error
        if failed:
            raise failed[min(failed)]
        return [found[number] for number in sorted(found)]

    def _numbers(self, place: int) -> list[int]:
        """Return the actors of a worker."""
        return list(range(place, self._count, len(self._workers)))

    def _told(self, method: str, arguments: tuple[Any, ...]) -> list[bytes]:
        """Return the message for each worker: the same, unless it is addressed."""
        if any(isinstance(one, Addressed) for one in arguments):
            mine = [self._numbers(place) for place in range(len(self._workers))]
            given = [{number: delivered(arguments, number) for number in numbers} for numbers in mine]
            return [_pickled(Job(call_object, (*self._made_of, method, one))) for one in given]
        return [_pickled(Job(call_object, (*self._made_of, method, arguments)))] * len(self._workers)

    def _awaited(self, place: int, told: bytes) -> Outcome:
        """Return the outcome of a worker's actors, made again by another one as often as it dies."""
        while True:
            worker = self._workers[place]
            while not worker.has_ended:
                wait(worker.ends, timeout=POLL_SECONDS)
            if (outcome := worker.outcome()) is not None:
                return outcome
            _check_tries(worker)
            self._workers[place] = _Worker(self._memory)
            self._workers[place].begin(told, worker.chunk, worker.tries + 1)

    def close(self) -> None:
        """End their processes."""
        for worker in self._workers:
            worker.kill()
        self._workers = []


def _next(feed: Feed) -> tuple[list[int], int] | None:
    chunk = next(feed, None)
    return None if chunk is None else (chunk, 0)


def _check_tries(worker: _Worker) -> None:
    if worker.tries + 1 >= TRIES:
        raise LimitError(f"{TRIES} workers died at task {worker.chunk[0]}; it may need more memory than there is")


def _pickled(job: Job) -> bytes:
    try:
        return pickle.dumps(job)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise GameError(f"the work cannot be sent to another process: {error}") from None
