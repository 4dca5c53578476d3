"""Tasks that workers can import."""

import os
import signal
import time

import numpy as np

from mdplay.errors import AgentError
from mdplay.rng import Random


def draw(number):
    return [Random(7, number).word() for _ in range(3)]


def weigh(number, table, factor):
    assert not table["weights"].flags.writeable
    return float(table["weights"][number] * factor)


def arrays(number):
    return {"square": np.array([number * number]), "words": np.array(draw(number), np.uint64)}


def note(number, folder):
    (folder / f"{number}.{os.getpid()}").touch()
    return {"number": np.array([number])}


def die_once(number, folder):
    if number % 5 == 2:
        mark = folder / str(number)
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return draw(number)


def die(number):
    os.kill(os.getpid(), signal.SIGKILL)


def fail(number):
    if number >= 3:
        raise AgentError(f"number {number}", "the agent")
    return number


def hungry(number):
    return len(bytearray(3 << 30))


def sleep(number, seconds):
    time.sleep(seconds)
    return number


class Counter:
    """An actor that counts, and dies at a call as long as there is no mark."""

    def __init__(self, number, folder):
        self.number, self.folder, self.count = number, folder, 0

    def add(self, parts):
        mark = self.folder / str(self.number)
        if parts is not None and self.number and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        self.count += 1
        return np.full(3, self.number), (self.count, None if parts is None else [part.sum() for part in parts])

    def deal(self, parts):
        """Send a number to each of two actors; tell what was received."""
        sent = [np.array([10 * self.number + receiver]) for receiver in range(2)]
        return sent, None if parts is None else [int(part[0]) for part in parts]

    def fail(self):
        raise AgentError(f"actor {self.number}", "the agent")
