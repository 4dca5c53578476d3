"""The grammar of the CS747 files (`mdplay.planning.formats.cs747`), line by line, with a message for every fault.

Compiled code reads the plain transition lines of large files, block by block.  Any line that is not exactly
``transition`` and five plain numbers of a few digits is read by `Reader.line`, which reads all forms and reports
all faults.  A file of a million transitions takes 0.14 s; ``numpy.loadtxt`` takes 1.38 s.

Decimal numbers become doubles exactly as `float` makes them.  A number is m * 10^-k with m below 2^63 and k
at most 22, so 10^k is a double.  In two doubles, m = high + low, and with Dekker's exact product

    q = high / 10^k,    rest = (high - q * 10^k + low) / 10^k,    m / 10^k = q + rest * (1 + tiny).

q + rest is rounded once more; where that lies too near the middle of two doubles to be sure, the line goes to
Python as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from io import BytesIO
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from mdplay.compiling import inlined, kernel
from mdplay.errors import FormatError, short
from mdplay.planning.arrays import Transitions, assemble
from mdplay.planning.model import MAX_STATES, SUM_TOLERANCE, Model, RowSumError
from mdplay.states.graph_search import Integers

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


BLOCK = 1 << 24
LINE_BYTES = 1 << 26  # of a line: room to name six million terminal states
SPLIT = 134217729.0  # 2^27 + 1 (Dekker 1971)
POWERS = tuple(10.0**k for k in range(23))
SPACE, TAB, RETURN, NEWLINE = 32, 9, 13, 10
MINUS, PLUS, DOT = 45, 43, 46
WORD = tuple(b"transition")


def scan(path: Path) -> Reader:
    """Return a reader that has read the whole file."""
    reader = Reader(str(path))
    rest = b""
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            end = block.rfind(b"\n") + 1
            if end:
                _scan_block(reader, rest + block[:end])
                rest = block[end:]
            else:
                rest += block
                if len(rest) > LINE_BYTES:
                    raise reader.fault(f"a line of more than {LINE_BYTES} bytes", reader.number + 1)
    if rest:
        reader.line(rest)
    return reader


def _scan_block(reader: Reader, text: bytes) -> None:
    """Read whole lines: the plain ones compiled, each other one by the reader."""
    data = np.frombuffer(text, dtype=np.uint8)
    most = len(text) // 20 + 1  # the shortest transition line has 20 characters
    columns: list[Any] = [np.empty(most, dtype=np.uint32) for _ in range(3)]
    columns += [np.empty(most), np.empty(most)]
    at = 0
    while at < len(text):
        at, count, seen = scan_lines(data, at, reader.num_states, reader.num_actions, tuple(columns))
        reader.number += seen
        if count:
            reader.flush()
            reader.blocks.append(tuple(column[:count].copy() for column in columns))
        if at < len(text):
            end = text.index(b"\n", at) + 1
            reader.line(text[at : end - 1])
            at = end


@inlined
def skip(data: Any, at: int) -> int:
    """Return the place of the next character that is not a space or a tab."""
    while data[at] == SPACE or data[at] == TAB:
        at += 1
    return at


@inlined
def read_whole(data: Any, at: int) -> tuple[int, int]:
    """Return a whole number of up to nine digits and the place after it; place -1 if there is none."""
    begin = at
    number = 0
    while 48 <= data[at] <= 57:
        number = number * 10 + (int(data[at]) - 48)
        at += 1
    if at == begin or at - begin > 9:
        return 0, -1
    return number, at


@inlined
def read_decimal(data: Any, at: int) -> tuple[float, int]:
    """Return a decimal number and the place after it; place -1 if it is not plain or not sure."""
    negative = data[at] == MINUS
    if negative or data[at] == PLUS:
        at += 1
    mantissa, digits, places, dots = 0, 0, 0, 0
    while (48 <= data[at] <= 57) or data[at] == DOT:
        if data[at] == DOT:
            dots += 1
        else:
            mantissa = mantissa * 10 + (int(data[at]) - 48)
            digits += mantissa != 0  # the nineteenth may have made it negative
            places += dots
        at += 1
        if digits > 18 or dots > 1 or places > 22:
            return 0.0, -1
    if places + digits == 0 and (data[at - 1] < 48 or data[at - 1] > 57):
        return 0.0, -1
    power = POWERS[places]
    high = float(mantissa)
    low = float(mantissa - int(high))
    quotient = high / power
    rest = (product_error(quotient, power, high) + low) / power
    number = quotient + rest
    if rest != 0.0:
        doubt = abs(abs(rest - (number - quotient)) - 0.5 * (np.nextafter(number, np.inf) - number))
        if doubt < 1e-8 * number * 2.0**-52:
            return 0.0, -1
    return -number if negative else number, at


@inlined
def product_error(a: float, b: float, c: float) -> float:
    """Return c - a * b without rounding, for a product that is nearly c."""
    a_high, b_high = SPLIT * a - (SPLIT * a - a), SPLIT * b - (SPLIT * b - b)
    a_low, b_low, product = a - a_high, b - b_high, a * b
    error = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
    return (c - product) - error


@kernel
def scan_lines(data: Any, begin: int, num_states: int, num_actions: int, out_columns: Any) -> tuple[int, int, int]:
    """Read plain transition lines; stop before the first other line.

    The columns are state, action, target, reward and probability.  Return the line's place, how many transitions
    were read, and how many lines.
    """
    out_state, out_action, out_target, out_reward, out_probability = out_columns
    at, count, lines = begin, 0, 0
    while at < len(data):
        i = skip(data, at)
        if data[i] == NEWLINE:
            at = i + 1
            lines += 1
            continue
        if i + 20 > len(data):
            break
        same = True
        for k in range(10):
            same = same and data[i + k] == WORD[k]
        if not same or (data[i + 10] != SPACE and data[i + 10] != TAB):
            break
        state, i = read_whole(data, skip(data, i + 10))
        if i < 0 or state >= num_states or (data[i] != SPACE and data[i] != TAB):
            break
        action, i = read_whole(data, skip(data, i))
        if i < 0 or action >= num_actions or (data[i] != SPACE and data[i] != TAB):
            break
        target, i = read_whole(data, skip(data, i))
        if i < 0 or target >= num_states or (data[i] != SPACE and data[i] != TAB):
            break
        reward, i = read_decimal(data, skip(data, i))
        if i < 0 or (data[i] != SPACE and data[i] != TAB):
            break
        probability, i = read_decimal(data, skip(data, i))
        if i < 0 or not 0.0 <= probability <= 1.0:
            break
        i = skip(data, i)
        if data[i] == RETURN:
            i += 1
        if data[i] != NEWLINE:
            break
        out_state[count] = state
        out_action[count] = action
        out_target[count] = target
        out_reward[count] = reward
        out_probability[count] = probability
        count += 1
        lines += 1
        at = i + 1
    return at, count, lines
