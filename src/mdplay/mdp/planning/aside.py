"""Work that cannot be stopped, done aside: Ctrl-C leaves it behind instead of waiting for it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


def aside(function: Callable[[], T]) -> T:
    """Return what a function of a library answers; it must let go of the interpreter while it works.

    It runs in a thread that the program does not wait for at its end.
    """
    answer: Future[T] = Future()
    Thread(target=_fill, args=(answer, function), daemon=True).start()
    return answer.result()


def _fill(answer: Future[T], function: Callable[[], T]) -> None:
    try:
        answer.set_result(function())
    except BaseException as error:  # whatever it is belongs to who asked
        answer.set_exception(error)
