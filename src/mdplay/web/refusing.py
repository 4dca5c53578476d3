"""Questions that cannot be answered: a code and a sentence that repeats nothing of what was asked."""

from __future__ import annotations

import re

from mdplay.errors import IllegalMove, MdplayError, PositionError
from mdplay.words import counted

IMPOSSIBLE = (ValueError, OverflowError, RecursionError, IndexError, KeyError, TypeError)  # of rules, on odd texts


class Refused(Exception):
    """What was asked has no answer: the code and the words of the response."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(code, words)
        self.code, self.words = code, words


def busy(tasks: int) -> Refused:
    """Return the refusal of a request that exceeds the number of requests at a time."""
    return Refused(503, f"the solver is busy with {counted(tasks, 'other task')}")


def refusal(error: Exception) -> Refused | None:
    """Return how a question that raised this is refused; None if the fault is not the question's."""
    if isinstance(error, Refused):
        return error
    if isinstance(error, (PositionError, IllegalMove)):
        return Refused(422, "these moves, or this position, are not possible in this game")
    if isinstance(error, MdplayError):
        return Refused(422, f"these parameters make no game{_rule(str(error))}")
    if isinstance(error, IMPOSSIBLE):
        return Refused(422, "that is not a position")
    return None


def _rule(message: str) -> str:
    """Return what a message says is possible, without the part before it, which repeats what was given."""
    rule = re.split(r"[:;] ", message)[-1]
    return f": {rule}" if rule != message else ""
