"""Kernels: plain functions, compiled when that saves time.

Compiling a kernel for a game takes seconds, and the same function in plain Python often finishes sooner.  So a
kernel with ``plain_first`` begins as a *trial*: it runs in plain Python, on copies of its arrays and on validating
proxies of its games, until its time limit.  If it finishes, its changes are written into the arrays.  If not, the
copies are discarded and the compiled kernel starts from the beginning with the unchanged arrays: the result is the
same to the last bit in both cases.

    the kernel was compiled or loaded in this process     compiled
    the kernel is in the cache on disk                    plain for MOMENT seconds, then loaded
    otherwise                                             plain for PLAIN_SECONDS, then compiled

The time limits are CPU time, in total for all trials of a kernel with the same games.  ``plain_first`` needs a
kernel that changes nothing but its arrays; threads that share an array must write different elements, and no other
code may write meanwhile.  Only ``stop``, an argument or the field of one, is shared without a copy.

``MDPLAY_PLAIN_SECONDS`` in the environment sets another limit; 0 leaves no trials.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial, update_wrapper
from types import FunctionType
from typing import Any, ClassVar, Generic, ParamSpec, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

from mdplay.compiling.cache import identity, is_kept
from mdplay.compiling.contract import checked, rule_error
from mdplay.compiling.plain import BOUNDS, NO_COMPILER, PARTS
from mdplay.errors import MdplayError
from mdplay.game import Compiled
from mdplay.runtime.threads import COMPILE_TIME, translating

P = ParamSpec("P")
R = TypeVar("R")
Names = tuple[str, ...]  # the identities of games and selectors
PLAIN_SECONDS = 0.0 if BOUNDS else float(os.environ.get("MDPLAY_PLAIN_SECONDS") or 0.6)
MOMENT = 0.015  # CPU seconds of all trials of cached kernels in a process: less than importing numba takes
MOST_BYTES = 1 << 25  # maximum size of the arrays that a trial copies
FEW_BYTES = 1 << 22  # maximum size of the arrays of a trial that cannot be ended early
STOP = "stop"
TICKS = 64  # calls of rules between two checks of the time
FIRST_LOOK, LONGER = (
    0.2,
    2.0,
)  # shares of the limit: of the prediction, of the accepted total


class Enough(BaseException):
    """Raised when a trial has used its time, or needs an operation that only compiled kernels have."""


class Deadline:
    """The end of a trial, in CPU seconds of the process.

    If the kernel reports the share of its work that is done, the total time is predicted after FIRST_LOOK of the
    limit: the trial ends at once, or it may take up to LONGER times the limit.
    """

    def __init__(self, seconds: float) -> None:
        self.began = time.process_time()
        self._seconds = seconds
        self._end = self.began + seconds
        self._share: Callable[[], float] | None = None
        self._before = 0.0

    def judge_by(self, share: Callable[[], float]) -> None:
        """Predict the total time by the share of the work that is done."""
        self._share, self._before = share, share()
        self._end = min(self._end, self.began + FIRST_LOOK * self._seconds)

    def check(self) -> None:
        """Raise Enough if the time is over."""
        if time.process_time() <= self._end:
            return
        share, self._share = self._share, None
        most = LONGER * self._seconds
        if share is None or self._whole(share()) > most:
            raise Enough
        self._end = self.began + most

    def _whole(self, share: float) -> float:
        """Return the predicted seconds of the whole work."""
        done = share - self._before
        spent = time.process_time() - self.began
        return spent * (1.0 - self._before) / done if done > 0 else np.inf


class Clock:
    """Ends a trial: each call of a rule and each access to ``stop`` is a tick."""

    def __init__(self, deadline: Deadline | None = None) -> None:
        self.deadline = deadline
        self._left = TICKS

    def tick(self) -> None:
        """Count a call; after every TICKS of them, raise Enough if the time is over."""
        self._left -= 1
        if self._left <= 0:
            self._left = TICKS
            if self.deadline is not None:
                self.deadline.check()


class Stop:
    """The array ``stop`` in a trial."""

    def __init__(self, array: NDArray[np.uint8], clock: Clock) -> None:
        self._array, self._clock = array, clock

    def __getitem__(self, i: int) -> int:
        self._clock.tick()
        return int(self._array[i])

    def __setitem__(self, i: int, value: int) -> None:
        self._array[i] = value


_DOUBLES: dict[str, tuple[Compiled, Clock]] = {}  # by identity: their tables are computed once


def double_of(instance: Compiled, deadline: Deadline) -> Compiled:
    """Return a proxy that validates what its rules return, and ends the trial when the time is over."""
    name = identity(instance)
    if name not in _DOUBLES:
        clock = Clock()
        _DOUBLES[name] = checked(instance, clock.tick), clock
    double, clock = _DOUBLES[name]
    clock.deadline = deadline
    return double


class Touched:
    """A large array of records in a trial: a copy of each record that was accessed.

    A small search accesses little of its table, and a copy of the whole table would take longer than the search.
    Any other access than to single records ends the trial.
    """

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array
        self._seen: dict[int, tuple[Any, Any]] = {}  # as it was, as it is

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, i: Any) -> Any:
        if not isinstance(i, (int, np.integer)):
            raise Enough
        if i not in self._seen:
            record = self._array[i]
            self._seen[int(i)] = record.copy(), record.copy()
        return self._seen[int(i)][1]

    def __setitem__(self, i: int, record: Any) -> None:
        raise Enough

    def publish(self) -> None:
        """Write the records that have changed."""
        for i, (before, after) in self._seen.items():
            if before.tobytes() != after.tobytes():
                self._array[i] = after


class Arguments:
    """The arguments of a kernel in a trial: copies of arrays, proxies of games, words as ints."""

    def __init__(self, deadline: Deadline, *, writes: bool) -> None:
        self._deadline, self._writes = deadline, writes
        self._made: dict[int, tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = {}
        self._touched: dict[int, Touched] = {}

    def plain(self, value: Any, name: str = "") -> Any:
        """Return the substitute for an argument, or for the field of one."""
        if name == STOP:
            return Stop(value, Clock(self._deadline))
        if isinstance(value, np.ndarray):
            return self._copied(value) if self._writes and value.flags.writeable else value
        if isinstance(value, Compiled):
            return double_of(value, self._deadline)
        if isinstance(value, tuple):
            return _tuple_like(value, map(self.plain, value, _field_names(value)))
        return value.item() if isinstance(value, np.generic) else value

    def _copied(self, array: NDArray[Any]) -> Any:
        if array.dtype.names and array.ndim == 1 and array.nbytes > FEW_BYTES:
            return self._touched.setdefault(id(array), Touched(array))
        if id(array) not in self._made:
            before = array.copy()
            self._made[id(array)] = array, before, before.copy()
        return self._made[id(array)][2]

    def publish(self) -> None:
        """Write into the arrays what a kernel has changed in their copies, and nothing else.

        Bits are compared, since a zero may have changed its sign.
        """
        for array, before, after in self._made.values():
            kind = _bits_of(array)
            changed = after.view(kind) != before.view(kind)
            np.copyto(array.view(kind), after.view(kind), where=changed)
        for touched in self._touched.values():
            touched.publish()


def _tuple_like(value: tuple[Any, ...], elements: Iterable[Any]) -> tuple[Any, ...]:
    """Return a tuple of other elements; a NamedTuple stays one."""
    return type(value)(*elements) if hasattr(value, "_fields") else tuple(elements)


def _field_names(value: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the names of a NamedTuple's fields; those of a plain tuple have none."""
    return getattr(value, "_fields", ("",) * len(value))


def _bits_of(array: NDArray[Any]) -> Any:
    """Return an unsigned type of the size of an element, to compare bits; bytes for records."""
    sizes = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
    return np.uint8 if array.dtype.names else sizes[array.dtype.itemsize]


def _arrays(values: Iterable[Any], names: Iterable[str]) -> list[NDArray[Any]]:
    """Return the arrays among arguments, each once, those in tuples too, but not ``stop``."""
    found: dict[int, NDArray[Any]] = {}
    for value, name in zip(values, names, strict=True):
        if isinstance(value, np.ndarray) and name != STOP:
            found[id(value)] = value
        elif isinstance(value, tuple):
            found.update((id(array), array) for array in _arrays(value, _field_names(value)))
    return list(found.values())


def _can_be_copied(arrays: list[NDArray[Any]], most: int) -> bool:
    """Return whether a trial may copy these arrays: small ones, none a view of another."""
    if sum(array.nbytes for array in arrays) > most:
        return False
    if any(array.dtype.names and not array.flags.c_contiguous for array in arrays):
        return False
    pairs = ((a, b) for i, a in enumerate(arrays) for b in arrays[:i])
    return not any(np.may_share_memory(a, b) for a, b in pairs)


@dataclass
class Trial:
    """The time of the trials of a kernel with the same games."""

    kept: bool  # whether the kernel is in the cache on disk
    spent: float = 0.0
    moment: ClassVar[float] = MOMENT  # remaining seconds, of all trials in this process

    def seconds_left(self) -> float:
        """Return the CPU seconds that the next trial may take."""
        if self.kept:
            return 0.0 if "numba" in sys.modules else Trial.moment
        return PLAIN_SECONDS - self.spent

    def spend(self, seconds: float) -> None:
        """Add the seconds of a trial."""
        self.spent += seconds
        if self.kept:
            Trial.moment -= seconds


class Kernel(Generic[P, R]):
    """A compiled entry point, called like the function that it was made of."""

    def __init__(
        self, function: Callable[P, R], *, plain_first: bool, writes: bool, share: Callable[P, float] | None
    ) -> None:
        update_wrapper(self, function)
        self.py_func = cast(FunctionType, function)
        self._parameters = self.py_func.__code__.co_varnames[: self.py_func.__code__.co_argcount]
        self._writes, self._share = writes, share
        self._tries = plain_first and not NO_COMPILER
        self._places: tuple[int, ...] | None = None  # of games and selectors among the arguments
        self._trials: dict[Names, Trial] = {}
        self._ready: set[Names] = set()  # compiled, or to be
        self._dispatcher: Any = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Return what the function returns; its numbers are Python's own."""
        if NO_COMPILER:
            return self.py_func(*args, **kwargs)  # type: ignore[no-any-return]
        if self._tries and not kwargs:
            names = self._names(args)
            if names not in self._ready:
                found = self._try(names, args)
                if found is not Enough:
                    return cast(R, found)
        return self.compiled(*args, **kwargs)

    def compiled(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Return what the compiled function returns; it is compiled or loaded now, if it was not before."""
        try:
            return self.dispatcher(*args, **kwargs)  # type: ignore[no-any-return]
        except (MdplayError, MemoryError):
            raise
        except Exception as error:
            translated = rule_error(error, args)
            if translated is None:
                raise
            raise translated from error

    def compiled_first(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Compile or load the function for these arguments, once and for all, and return what it returns.

        For work that is ended by the clock: it must not begin before its kernel is ready.
        """
        if NO_COMPILER:
            return self(*args, **kwargs)
        self._ready.add(self._names(args))
        return self.compiled(*args, **kwargs)

    def is_ready(self, *args: Any) -> bool:
        """Return whether nothing is tried any more with these games, the first arguments of the kernel."""
        return NO_COMPILER or not self._tries or self._names(args) in self._ready

    def entry_point(self, *examples: Any) -> Callable[P, R]:
        """Return the code for arguments like the examples."""
        from mdplay.compiling.numba.compiler import entry_point

        return entry_point(self.dispatcher, examples)  # type: ignore[no-any-return]

    @property
    def dispatcher(self) -> Any:
        """What numba compiles and calls."""
        if self._dispatcher is None:
            began = time.perf_counter()
            from mdplay.compiling.numba.compiler import dispatcher_of

            self._dispatcher = dispatcher_of(self.py_func)
            COMPILE_TIME.add(began, time.perf_counter())
        return self._dispatcher

    @property
    def _numba_type_(self) -> Any:
        """The type of the kernel where another one calls it."""
        from mdplay.compiling.numba.compiler import type_of

        return type_of(self.dispatcher)

    # ------------------------------------------------------------ trials
    def _names(self, args: tuple[Any, ...]) -> Names:
        """Return the identities of the games and selectors among the arguments."""
        if self._places is None:
            self._places = tuple(i for i, value in enumerate(args) if isinstance(value, Compiled))
        return tuple([identity(args[i]) for i in self._places])

    def _try(self, names: Names, args: tuple[Any, ...]) -> Any:
        """Return what the plain function returns, or Enough if it is to be compiled."""
        trial = self._trials.get(names) or self._begin(names)
        seconds = trial.seconds_left() if PLAIN_SECONDS > 0 else 0.0
        if seconds <= 0 or not self._can_copy(args):
            self._ready.add(names)
            return Enough
        deadline, now = Deadline(seconds), time.perf_counter()
        try:
            return self._plain(args, deadline, judged=not trial.kept)
        except Enough:
            self._ready.add(names)
            COMPILE_TIME.add(now, time.perf_counter())
            return Enough
        finally:
            trial.spend(time.process_time() - deadline.began)

    def _begin(self, names: Names) -> Trial:
        kept = PLAIN_SECONDS > 0 and is_kept(self.py_func, names)
        return self._trials.setdefault(names, Trial(kept))

    def _can_copy(self, args: tuple[Any, ...]) -> bool:
        if not self._writes:
            return True
        ends_early = self._places or STOP in self._parameters
        return _can_be_copied(_arrays(args, self._parameters), MOST_BYTES if ends_early else FEW_BYTES)

    def _plain(self, args: tuple[Any, ...], deadline: Deadline, *, judged: bool) -> Any:
        """Run the plain function; what it changes is written when it is done."""
        made = Arguments(deadline, writes=self._writes)
        values = [made.plain(value, name) for value, name in zip(args, self._parameters, strict=True)]
        if self._share is not None and judged:
            deadline.judge_by(partial(self._share, *values))
        with np.errstate(all="ignore"):
            found = translating(self.py_func, *values)
        made.publish()
        return _own(found)


def _own(value: Any) -> Any:
    """Return a kernel's result in Python's own numbers, as compiled code gives it."""
    if isinstance(value, tuple):
        return _tuple_like(value, map(_own, value))
    return value.item() if isinstance(value, np.generic) else value


@overload
def kernel(function: Callable[P, R]) -> Kernel[P, R]: ...
@overload
def kernel(
    *,
    plain_first: bool,
    writes: bool = True,
    share: Callable[..., float] | None = None,
) -> Callable[[Callable[P, R]], Kernel[P, R]]: ...
def kernel(
    function: Any = None,
    *,
    plain_first: bool = False,
    writes: bool = True,
    share: Callable[..., float] | None = None,
) -> Any:
    """Make a function a compiled entry point: without the GIL, cached on disk for each type of arguments.

    ``plain_first``: small questions are answered in plain Python, see above.  ``writes=False``: it changes none
    of its arrays.  ``share`` of its arguments: how much of the work is done, 0 to 1.
    """
    if function is None:
        return lambda given: Kernel(given, plain_first=plain_first, writes=writes, share=share)
    return Kernel(function, plain_first=plain_first, writes=writes, share=share)


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function a piece of kernels; it is compiled into them and never cached on its own."""
    PARTS.append(cast(FunctionType, function))
    return function


def direct(compiled: Callable[..., R], *examples: Any) -> Callable[..., R]:
    """Return a kernel compiled for arguments like the examples; it must get no arrays of another layout.

    A call takes half a microsecond, not 16: numba looks at the type of each argument, a game's among them.
    """
    return compiled if NO_COMPILER or BOUNDS else cast(Kernel[..., R], compiled).entry_point(*examples)
