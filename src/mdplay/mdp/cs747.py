"""The MDP text files of the CS747 course, read line by line and written.

    numStates 3
    numActions 2
    start 0                          optional, ignored
    end 2                            the terminal states, or -1 for none
    transition 0 1 2 0.5 1.0         state action target reward probability
    mdptype episodic                 or continuing
    discount 0.9

Any white space separates.  A state and action without a line: that action is not available there.  Lines that
leave a terminal state are ignored.  Files of more than ``PLAIN_BYTES`` are scanned by compiled code, block by
block (`mdplay.mdp.scan`), which hands every line that it does not know to this module.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mdplay.errors import FormatError
from mdplay.mdp.formats import transition_rewards
from mdplay.mdp.model import MAX_STATES, MDP, SUM_TOLERANCE, Integers, RowSumError

PLAIN_BYTES = 2_000_000
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


def read_mdp(path: str | Path, *, keep_rewards: bool = False) -> MDP:
    """Return the MDP in the file; a fault is a `FormatError` with the file and the line."""
    source = Path(path)
    try:
        if source.stat().st_size > PLAIN_BYTES:
            from mdplay.mdp.scan import scan

            reader = scan(source)
        else:
            reader = Reader(str(path))
            for line in source.read_bytes().split(b"\n"):
                reader.line(line)
    except OSError as error:
        raise FormatError(f"{path}: cannot be read: {error.strerror}") from None
    return reader.model(keep_rewards)


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
            raise self.fault(f"{name!r} is unknown; a line begins with {', '.join(USES)}")
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
            raise self.fault(f"the mdptype {value!r} is neither episodic nor continuing")
        self.mdptype = value

    def _discount(self, value: str) -> None:
        if self.discount is not None:
            raise self.fault("the discount is said twice")
        self.discount = self._number(value.encode(), "discount")
        if not 0.0 <= self.discount <= 1.0:
            raise self.fault(f"the discount {value} is not between 0 and 1")

    def _whole(self, word: bytes, end: int, name: str) -> int:
        if not word.isdigit():
            raise self.fault(f"the {name} {self._word(word)!r} is not a whole number")
        if len(word) > 18 or (number := int(word)) >= end:
            raise self.fault(f"the {name} {self._word(word)[:20]} is too large; the largest is {end - 1}")
        return number

    def _number(self, word: bytes, name: str) -> float:
        try:
            number = float(word)
        except ValueError:
            number = float("nan")
        if not isfinite(number) or b"_" in word:
            raise self.fault(f"the {name} {self._word(word)!r} is not a finite number")
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

    def model(self, keep_rewards: bool) -> MDP:
        """Return the MDP of all lines."""
        self._check_complete()
        self.flush()
        empty = (np.zeros(0, dtype=np.uint32),) * 3 + (np.zeros(0),) * 2
        columns = [np.concatenate(parts) for parts in zip(*(self.blocks or [empty]), strict=True)]
        self.blocks.clear()
        columns = self._without_ends(columns)
        try:
            return MDP.from_transitions(
                *columns,
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
        with Path(self.path).open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                words = line.split()
                if len(words) == 6 and tuple(word.lstrip(b"0") or b"0" for word in words[1:3]) == wanted:
                    found = number
        return found


def write_mdp(mdp: MDP, path: str | Path) -> None:
    """Write the MDP as a text file of the course; numbers keep all their digits."""
    with Path(path).open("w", encoding="ascii") as out:
        out.writelines(lines(mdp))


def lines(mdp: MDP) -> Iterator[str]:
    """Yield the lines of the MDP's text file."""
    if mdp.minimise:
        raise FormatError("the CS747 form knows rewards only; negate the costs of an MDP that minimises")
    ends = np.flatnonzero(mdp.terminal).tolist()
    yield f"numStates {mdp.num_states}\nnumActions {mdp.num_actions}\n"
    yield f"end {' '.join(map(str, ends)) or -1}\n"
    rewards = transition_rewards(mdp)
    owner = mdp.owners()
    block = 100_000
    for begin in range(0, mdp.num_choices, block):
        yield _transition_lines(mdp, owner, rewards, begin, min(begin + block, mdp.num_choices))
    yield f"mdptype {'episodic' if ends else 'continuing'}\ndiscount {mdp.discount!r}\n"


def _transition_lines(mdp: MDP, owner: Integers, rewards: npt.NDArray[np.float64], begin: int, end: int) -> str:
    pointers = mdp.first_transition[begin : end + 1].astype(np.int64)
    row = slice(int(pointers[0]), int(pointers[-1]))
    counts = np.diff(pointers)
    state = np.repeat(owner[begin:end], counts).tolist()
    action = np.repeat(mdp.action[begin:end], counts).tolist()
    columns = (state, action, mdp.target[row].tolist(), rewards[row].tolist(), mdp.probability[row].tolist())
    return "".join([f"transition {s} {a} {t} {r!r} {p!r}\n" for s, a, t, r, p in zip(*columns, strict=True)])


def read_policy(path: str | Path, mdp: MDP) -> Integers:
    """Return the actions in a file of one whole number a line, one line a state."""
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        raise FormatError(f"{path}: cannot be read: {error.strerror}") from None
    found = [(number, line.split()) for number, line in enumerate(text.split(b"\n"), start=1) if line.split()]
    terminal = mdp.terminal
    if len(found) != mdp.num_states:
        last = found[-1][0] if found else 1
        raise FormatError(f"{path}, line {last}: {len(found)} actions; the MDP has {mdp.num_states} states")
    actions = np.zeros(mdp.num_states, dtype=np.int64)
    for state, (number, words) in enumerate(found):
        if len(words) != 1 or not words[0].isdigit() or len(words[0]) > 18:
            raise FormatError(f"{path}, line {number}: write one whole number, the action of state {state}")
        actions[state] = int(words[0])
        if not terminal[state] and int(actions[state]) not in mdp.actions(state):
            known = f"its actions are {mdp.actions(state)}"
            raise FormatError(f"{path}, line {number}: state {state} has no action {actions[state]}; {known}")
    return actions
