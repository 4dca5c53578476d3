"""The grammar of the CS747 files (`mdplay.mdp.formats.cs747`), line by line, with a sentence for every fault."""

from __future__ import annotations

from dataclasses import dataclass, field
from io import BytesIO
from math import isfinite
from pathlib import Path

import numpy as np

from mdplay.errors import FormatError, short
from mdplay.mdp.assembly import Transitions, assemble
from mdplay.mdp.model import MAX_STATES, SUM_TOLERANCE, Model, RowSumError
from mdplay.states.walks import Integers

MAX_ACTIONS = 2**31
USES = {
    "numStates": "numStates N",
    "numActions": "numActions A",
    "start": "start s",
    "end": "end s ... or end -1",
    "transition": "transition state action target reward probability",
    "mdptype": "mdptype episodic|continuing",
    "discount": "discount g",
}


@dataclass
class Reader:
    """The lines read so far."""

    path: str
    number: int = 0
    num_states: int = 0
    num_actions: int = 0
    end: list[int] | None = None
    mdptype: str = ""
    discount: float | None = None
    state: list[int] = field(default_factory=list)
    action: list[int] = field(default_factory=list)
    target: list[int] = field(default_factory=list)
    reward: list[float] = field(default_factory=list)
    probability: list[float] = field(default_factory=list)
    blocks: list[tuple[Integers, ...]] = field(default_factory=list)
    text: bytes | None = None  # what is read, where it is not the file of that path

    def fault(self, message: str, number: int | None = None) -> FormatError:
        """Return the error for the line that was read last, or for the given one."""
        return FormatError(f"{self.path}, line {self.number if number is None else number}: {message}")

    def line(self, text: bytes) -> None:
        """Read one more line."""
        self.number += 1
        words = text.split()
        if not words:
            return
        if words[0] == b"transition":
            self._transition(words)
        else:
            self._header([self._word(word) for word in words])

    def _transition(self, words: list[bytes]) -> None:
        if len(words) != 6:
            raise self.fault(f"{len(words) - 1} numbers; write {USES['transition']!r}")
        if not self.num_states or not self.num_actions:
            raise self.fault("a transition before numStates and numActions")
        state = self._whole(words[1], self.num_states, "state")
        action = self._whole(words[2], self.num_actions, "action")
        target = self._whole(words[3], self.num_states, "target")
        reward = self._number(words[4], "reward")
        probability = self._number(words[5], "probability")
        if not 0.0 <= probability <= 1.0 + SUM_TOLERANCE:
            raise self.fault(f"the probability {probability:.9g} is not between 0 and 1")
        self.state.append(state)
        self.action.append(action)
        self.target.append(target)
        self.reward.append(reward)
        self.probability.append(probability)

    def _header(self, words: list[str]) -> None:
        name, values = words[0], words[1:]
        if name not in USES:
            raise self.fault(f"{short(name)!r} is unknown; a line begins with {', '.join(USES)}")
        if not values or (len(values) > 1 and name != "end"):
            raise self.fault(f"write {USES[name]!r}")
        if name == "numStates":
            self.num_states = self._size(values[0], self.num_states, MAX_STATES)
        elif name == "numActions":
            self.num_actions = self._size(values[0], self.num_actions, MAX_ACTIONS)
        elif name == "end":
            self._end(values)
        elif name == "mdptype":
            self._mdptype(values[0])
        elif name == "discount":
            self._discount(values[0])

    def _size(self, word: str, already: int, limit: int) -> int:
        if already:
            raise self.fault("said twice")
        size = self._whole(word.encode(), limit, "number")
        if size < 1:
            raise self.fault("the number must be at least 1")
        return size

    def _end(self, values: list[str]) -> None:
        if self.end is not None:
            raise self.fault("the terminal states are said twice")
        if not self.num_states:
            raise self.fault("the terminal states come before numStates")
        none = values == ["-1"]
        self.end = [] if none else [self._whole(word.encode(), self.num_states, "state") for word in values]

    def _mdptype(self, value: str) -> None:
        if self.mdptype:
            raise self.fault("the mdptype is said twice")
        if value not in ("episodic", "continuing"):
            raise self.fault(f"the mdptype {short(value)!r} is neither episodic nor continuing")
        self.mdptype = value

    def _discount(self, value: str) -> None:
        if self.discount is not None:
            raise self.fault("the discount is said twice")
        self.discount = self._number(value.encode(), "discount")
        if not 0.0 <= self.discount <= 1.0:
            raise self.fault(f"the discount {short(value)} is not between 0 and 1")

    def _whole(self, word: bytes, end: int, name: str) -> int:
        if not word.isdigit():
            raise self.fault(f"the {name} {short(self._word(word))!r} is not a whole number")
        if len(word) > 18 or (number := int(word)) >= end:
            raise self.fault(f"the {name} {self._word(word)[:20]} is too large; the largest is {end - 1}")
        return number

    def _number(self, word: bytes, name: str) -> float:
        try:
            number = float(word)
        except ValueError:
            number = float("nan")
        if not isfinite(number) or b"_" in word:
            raise self.fault(f"the {name} {short(self._word(word))!r} is not a finite number")
        return number

    def _word(self, word: bytes) -> str:
        try:
            return word.decode("ascii")
        except UnicodeDecodeError:
            raise self.fault(f"{word[:20]!r} is not plain text") from None

    def flush(self) -> None:
        """Move the transitions that were read one by one into a block of arrays."""
        if self.state:
            whole = (np.array(column, dtype=np.uint32) for column in (self.state, self.action, self.target))
            self.blocks.append((*whole, np.array(self.reward), np.array(self.probability)))
            for column in (self.state, self.action, self.target, self.reward, self.probability):
                column.clear()

    def model(self, keep_rewards: bool) -> Model:
        """Return the MDP of all lines."""
        self._check_complete()
        self.flush()
        empty = (np.zeros(0, dtype=np.uint32),) * 3 + (np.zeros(0),) * 2
        columns = [np.concatenate(parts) for parts in zip(*(self.blocks or [empty]), strict=True)]
        self.blocks.clear()
        columns = self._without_ends(columns)
        try:
            return assemble(
                Transitions(*columns),
                num_states=self.num_states,
                discount=0.0 if self.discount is None else self.discount,
                keep_rewards=keep_rewards,
            )
        except RowSumError as error:
            raise self.fault(str(error), self._last_line(error.state, error.action)) from None

    def _check_complete(self) -> None:
        given = {"numStates": self.num_states, "numActions": self.num_actions, "mdptype": self.mdptype}
        missing = [name for name, value in given.items() if not value]
        missing += [name for name, item in (("end", self.end), ("discount", self.discount)) if item is None]
        if missing:
            raise self.fault(f"the file ends without a line {USES[missing[0]]!r}")
        if self.discount == 1.0 and not self.end:
            raise self.fault("a discount of 1 needs terminal states: with 'end -1' nothing ever ends")

    def _without_ends(self, columns: list[Integers]) -> list[Integers]:
        """Return the transitions that leave no terminal state; every other state must have some."""
        state = columns[0]
        ends = np.unique(np.array(self.end, dtype=np.int64))
        # Compared before anything of that size is made: a file may claim four billion states.
        if self.num_states > len(ends) + len(state):
            raise self.fault(self._dead_end(set(self.end or ()) | set(state.tolist())))
        seen = np.zeros(self.num_states, dtype=bool)
        seen[state] = True
        seen[ends] = True
        if not seen.all():
            raise self.fault(self._dead_end(set(np.flatnonzero(seen).tolist())))
        if not len(ends):
            return columns
        seen[ends] = False
        keep = seen[state]
        return columns if keep.all() else [column[keep] for column in columns]

    def _dead_end(self, seen: set[int]) -> str:
        first = next(state for state in range(self.num_states) if state not in seen)
        return f"the file ends, and state {first} has no transition and is not listed in 'end'"

    def _last_line(self, state: int, action: int) -> int:
        """Return the number of the last line of a state and action."""
        found = 0
        wanted = (str(state).encode(), str(action).encode())
        with Path(self.path).open("rb") if self.text is None else BytesIO(self.text) as lines:
            for number, line in enumerate(lines, start=1):
                words = line.split()
                if len(words) == 6 and tuple(word.lstrip(b"0") or b"0" for word in words[1:3]) == wanted:
                    found = number
        return found
