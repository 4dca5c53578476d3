"""Scan large CS747 files: compiled code reads the plain transition lines, block by block.

A line that is not exactly ``transition`` and five plain numbers of a few digits is handed to the Python
reader of `mdplay.mdp.formats.reader`, which knows all forms and all faults: one grammar, one set of messages.

Decimal numbers become doubles exactly as `float` makes them.  A number is m * 10^-k with m below 2^63 and k
at most 22, so 10^k is a double.  In two doubles, m = high + low, and with Dekker's exact product

    q = high / 10^k,    rest = (high - q * 10^k + low) / 10^k,    m / 10^k = q + rest * (1 + tiny).

q + rest is rounded once more; where that lies too near the middle of two doubles to be sure, the line goes to
Python as well.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from mdplay.bridge import kernel, part
from mdplay.mdp.formats.reader import Reader

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


@part
def skip(data: Any, at: int) -> int:
    """Return the place of the next character that is not a space or a tab."""
    while data[at] == SPACE or data[at] == TAB:
        at += 1
    return at


@part
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


@part
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


@part
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
