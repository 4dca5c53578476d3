"""Ray, on this machine or on a cluster: chunks are Ray's tasks, which it does again when a worker dies.

On this machine it listens on loopback only, shows no dashboard and sends no statistics.  If the program has
started Ray already, that one is used, and left running.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from mdplay import LimitError, UnknownName
from mdplay.distributed.executor import Addressed, Ended, Executor, Feed, Job, Outcome, do_chunk, sendable
from mdplay.distributed.processes import limit_memory
from mdplay.runtime.executors import Actors
from mdplay.runtime.threads import num_threads

TRIES = 10  # of a chunk
AHEAD = 2  # chunks for each worker: the next one is there when one ends
POLL_SECONDS = 0.2
NODE_PROCESSES = ("gcs_server", "raylet")  # without these Ray does no work
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"}
LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}  # the switch by which Ray binds to loopback alone


class OnRay(Executor):
    """Workers of Ray; ``address`` is that of a running cluster, None for a Ray of our own on this machine."""

    def __init__(self, address: str | None, workers: int | None, memory: int | None = None) -> None:
        self.ray = import_ray(address)
        self._ours = not self.ray.is_initialized()
        if self._ours:
            _start(self.ray, address, num_threads(workers))
        self.workers = workers or max(1, int(self.ray.cluster_resources().get("CPU", 1)))
        self._memory = memory
        self._dead: str | None = None  # the process of Ray's node that has died
        self._do = self.ray.remote(num_cpus=1, max_retries=TRIES)(_do_chunk)
        if address is not None:
            self._check_version()

    def _chunks(self, job: Job, feed: Feed) -> Ended:
        task, arguments = job
        shared_task, under_way = self.ray.put(task), dict[Any, list[int]]()
        try:
            while True:
                while len(under_way) < AHEAD * self.workers and (chunk := next(feed, None)):
                    under_way[self._do.remote(chunk, self._memory, shared_task, *arguments)] = chunk
                if not under_way:
                    return
                ended, _ = self.ray.wait(list(under_way), num_returns=1, timeout=POLL_SECONDS)
                self._check_node()
                for one in ended:
                    yield under_way.pop(one), self._outcome(one)
        finally:
            for one in under_way if self._dead is None else ():
                self.ray.cancel(one, force=True)

    def _check_node(self) -> None:
        """Raise LimitError if a process of the Ray that was started here has died.

        Ray itself would end this process some time later, without a sentence.
        """
        node = self.ray._private.worker._global_node
        if self._ours and node is not None:
            dead = [kind for kind, _ in node.dead_processes() if kind in NODE_PROCESSES]
            if dead:
                self._dead = dead[0]
                raise LimitError(f"Ray's process {dead[0]} died, and its tasks with it; start the command again")

    def _outcome(self, one: Any) -> Outcome:
        try:
            found: Outcome = self.ray.get(one)
        except self.ray.exceptions.RayError as error:
            self._check_node()
            raise LimitError(f"Ray lost a task {TRIES} times: {_first_line(error)}") from None
        return found

    def _check_version(self) -> None:
        """Refuse a cluster whose machines have another mdplay, or none."""
        ours = _version()
        try:
            theirs = self.ray.get(self.ray.remote(num_cpus=1)(_version).remote())
        except self.ray.exceptions.RayError as error:
            raise LimitError(f"a worker of the cluster cannot use mdplay: {_first_line(error)}") from None
        if theirs != ours:
            raise LimitError(f"the cluster has mdplay {theirs}, this machine {ours}; they must be the same")

    def actors(self, make: Callable[..., Any], count: int, *arguments: Any) -> Actors:
        """Make actors of Ray; several share a processor if there are more of them than workers."""
        share = min(1.0, self.workers / count)
        place = self.ray.remote(num_cpus=share, max_restarts=-1, max_task_retries=-1)(Place)
        return RayActors(self.ray, [place.remote(make, number, arguments) for number in range(count)])

    def share(self, value: Any) -> Any:
        """Put a value into Ray's object store."""
        return self.ray.put(value)

    def close(self) -> None:
        """End Ray, if it was started here."""
        if self._ours:
            self.ray.shutdown()


class Held(NamedTuple):
    """Large answers that stay in Ray's object store."""

    references: list[Any]


class Place:
    """What is an actor of Ray: it makes an object and hands calls on to it."""

    def __init__(self, make: Callable[..., Any], number: int, arguments: tuple[Any, ...]) -> None:
        self._object = make(number, *arguments)

    def call(self, method: str, arguments: tuple[Any, ...]) -> Any:
        """Call a method of the object; large answers of others are looked up in the store."""
        import ray

        given = [ray.get(one.references) if isinstance(one, Held) else one for one in arguments]
        return getattr(self._object, method)(*given)

    def scattered(self, method: str, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """Call a method that answers parts and something small; return these one by one."""
        parts, small = self.call(method, arguments)
        return (*parts, small)


class RayActors:
    """Actors (``mdplay.runtime.executors.Actors``) of Ray, which makes them again when their workers die."""

    def __init__(self, ray: Any, places: list[Any]) -> None:
        self._ray, self._places = ray, places

    def call(self, method: str, *arguments: Any) -> list[Any]:
        """Call a method of each."""
        return self.fetch(Held(self._begin("call", 1, method, arguments)))

    def exchange(self, method: str, *arguments: Any) -> tuple[Any, list[Any]]:
        """Call a method of each that answers a pair; the first parts stay in the object store."""
        pairs = self._begin("call", 2, method, arguments)
        smalls = self.fetch(Held([small for _, small in pairs]))
        return Held([large for large, _ in pairs]), smalls

    def scatter(self, method: str, *arguments: Any) -> tuple[Any, list[Any]]:
        """Call a method of each that answers parts, one for each actor, and something small; parts stay there."""
        answers = self._begin("scattered", len(self._places) + 1, method, arguments)
        smalls = self.fetch(Held([small for *_, small in answers]))
        return Addressed([parts for *parts, _ in answers]), smalls

    def _begin(self, how: str, returns: int, method: str, arguments: tuple[Any, ...]) -> list[Any]:
        """Let each actor begin; return what stands for its answers, a list if there are several."""
        begun = []
        for number, place in enumerate(self._places):
            given = tuple(Held(one.to(number)) if isinstance(one, Addressed) else one for one in arguments)
            begun.append(getattr(place, how).options(num_returns=returns).remote(method, given))
        return begun

    def fetch(self, held: Any) -> list[Any]:
        """Return the first parts of an exchange, or other answers; of several errors raise the first actor's."""
        try:
            found = [self._ray.get(one) for one in held.references]  # all at once would raise whichever came first
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except self._ray.exceptions.RayError as error:
            raise LimitError(f"Ray lost an actor: {_first_line(error)}") from None
        return found

    def close(self) -> None:
        """End the actors."""
        for one in self._places:
            self._ray.kill(one)
        self._places = []


def import_ray(address: str | None) -> Any:
    """Return Ray's module; raise UnknownName if it is not installed."""
    os.environ.update({name: os.environ.get(name, value) for name, value in QUIET.items()})
    if address is None:
        os.environ.update({name: os.environ.get(name, value) for name, value in LOOPBACK.items()})
    try:
        import ray
    except ImportError:
        raise UnknownName("the executor ray needs Ray; install it by: pip install mdplay[cluster]") from None
    return ray


def _start(ray: Any, address: str | None, workers: int) -> None:
    quiet = {"log_to_driver": False, "logging_level": logging.FATAL}
    own = {"num_cpus": workers, "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    ray._private.worker.print_to_stdstream = _say_nothing
    if address is None:
        ray._private.ray_constants.ENABLE_RAY_CLUSTER = False  # as LOOPBACK says, for who imported Ray before us
    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(address or "local", **quiet, **({} if address else own))
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        where = f"at {address}" if address else "on this machine"
        raise LimitError(f"Ray does not start {where}: {_first_line(error)}") from None
    finally:
        if main:
            signal.signal(signal.SIGTERM, before)  # Ray takes it, and would leave in its own way


def _say_nothing(*_: Any, **__: Any) -> None:
    """Stand in for what prints news of dead workers on stdout, where the program's answers go."""


def _do_chunk(numbers: list[int], memory: int | None, task: Any, *arguments: Any) -> Outcome:
    """Do a chunk in a worker of Ray."""
    limit_memory(memory)
    return sendable(do_chunk(Job(task, arguments), numbers))


def _version() -> str:
    from mdplay import __version__

    return f"{__version__} under Python {sys.version_info.major}.{sys.version_info.minor}"


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
