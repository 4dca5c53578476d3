"""Contenders that do the same work in turns, and what they took.

Every round runs each contender once, one after the other and each first in turn, so that a busy machine hurts
all alike.  Before that each works for a while unmeasured: it compiles and warms the caches.  What counts is
time of the processor.  A ratio is that of one round: how many times as long a contender took as mdplay; below
1 it was faster.  Memory is what a process of its own grew by while it made the work ready and did it once.
"""

from __future__ import annotations

import gc
import os
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from statistics import median
from typing import Any

import numpy as np

OURS = "mdplay"
Work = Callable[[], Any]  # does it once and returns the answer
Prepare = Callable[[int], Work]  # makes the work of a size ready; that is not measured


@dataclass(frozen=True)
class Group:
    """One kind of work at several sizes, its contenders, and how near their answers must be.

    ``missing`` are the peers that are not installed; ``limits`` the largest sizes of contenders too slow for all.
    """

    name: str
    title: str
    unit: str  # what a size counts
    sizes: Sequence[int]
    contenders: Mapping[str, Prepare]
    tolerance: float = 0.0
    missing: Sequence[str] = ()
    limits: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Measured:
    """What one contender took for one size: the median of the rounds, ratios to mdplay, whether answers agree.

    ``memory`` in bytes, None where the system does not tell.
    """

    group: str
    size: int
    contender: str
    seconds: float
    ratio: float
    low: float
    high: float
    agrees: bool
    memory: int | None

    @property
    def per_second(self) -> float:
        """The units of work in a second of the processor."""
        return self.size / self.seconds if self.seconds else float("inf")


def installed(distribution: str) -> bool:
    """Return whether a peer is installed."""
    try:
        version(distribution)
    except PackageNotFoundError:
        return False
    return True


def measure(group: Group, size: int, rounds: int, warm: float = 0.0) -> list[Measured]:
    """Let all contenders do the work of a size, round by round, after ``warm`` seconds of the processor each."""
    taking = {name: make for name, make in group.contenders.items() if size <= group.limits.get(name, size)}
    # A larger size is weighed before this process has done it: what it keeps for the next time would not count.
    # The smallest is weighed when its kernels are compiled, which takes more than the work.
    first = size == group.sizes[0]
    memory = {} if first else {name: _memory(make, size) for name, make in taking.items()}
    work = {name: make(size) for name, make in taking.items()}
    answers = {name: _warmed(do, warm) for name, do in work.items()}
    seconds: dict[str, list[float]] = {name: [] for name in work}
    order = list(work)
    for _ in range(rounds):
        for name in order:
            seconds[name].append(_processor_seconds(work[name]))
        order.append(order.pop(0))
    if first:
        memory = {name: _memory(make, size) for name, make in taking.items()}
    return [_measured(group, size, name, seconds, answers, memory[name]) for name in work]


def _warmed(work: Work, seconds: float) -> Any:
    """Work once, and again until ``seconds`` have passed; return the answer."""
    end = time.process_time() + seconds
    answer = work()
    while time.process_time() < end:
        work()
    return answer


def _processor_seconds(work: Work) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _measured(
    group: Group,
    size: int,
    name: str,
    seconds: Mapping[str, Sequence[float]],
    answers: Mapping[str, Any],
    memory: int | None,
) -> Measured:
    ratios = [theirs / max(ours, 1e-9) for theirs, ours in zip(seconds[name], seconds[OURS], strict=True)]
    apart = np.abs(np.asarray(answers[name], np.float64) - np.asarray(answers[OURS], np.float64)).max()
    agrees = bool(apart <= group.tolerance)
    taken = median(seconds[name])
    return Measured(group.name, size, name, taken, median(ratios), min(ratios), max(ratios), agrees, memory)


def _memory(prepare: Prepare, size: int) -> int | None:
    """Return by how many bytes a child of this process grows, at its peak, when it does the work."""
    if not sys.platform.startswith("linux") or "jax" in sys.modules:  # a fork beside JAX's threads hangs
        return None
    gc.collect()  # else the child frees what this process has left behind
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # fork beside sleeping threads: the child needs none
        child = os.fork()
    if child == 0:
        try:
            before = _peak()
            prepare(size)()
            os.write(writing, b"%d" % (_peak() - before))
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        grown = told.read()
    os.waitpid(child, 0)
    return int(grown) if grown else None


def _peak() -> int:
    """Return the most memory that this process has had at a time; a child begins with what its parent has."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
