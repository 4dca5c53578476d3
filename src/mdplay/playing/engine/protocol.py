"""The lines that a player and an engine exchange, each one JSON object with a ``type``.

    player    hello   new   position   go                 stop   quit
    engine    hello   ready ready      info... bestmove            error in place of any answer

``schema.json`` beside this file has every line with its fields; docs/engine.md shows a session.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, BinaryIO

from mdplay.errors import FormatError, short

PROTOCOL = 1
MAX_LINE = 1 << 20  # bytes
CHUNK = 1 << 16
LONG = 1e9  # seconds
FIELDS: dict[str, dict[str, tuple[type, ...]]] = {  # what a player may say; of what kind it is
    "hello": {"protocol": (int,)},
    "new": {"game": (str,), "parameters": (dict,), "rules": (str, type(None)), "seed": (int,)},
    "position": {"fields": (str,), "start": (str, type(None)), "moves": (list,)},
    "go": {"simulations": (int,), "seconds": (int, float), "depth": (int,), "info": (bool,)},
    "stop": {},
    "quit": {},
}


def schema() -> dict[str, Any]:
    """Return the JSON Schema of all lines: ``$defs`` has ``player`` and ``engine``."""
    text = (files(__package__) / "schema.json").read_text()
    found: dict[str, Any] = json.loads(text)
    return found


def written(message: dict[str, Any]) -> bytes:
    """Return a message as a line."""
    return json.dumps(message).encode() + b"\n"


def read_message(line: bytes) -> dict[str, Any]:
    """Return the object of a line that has a type, or raise FormatError."""
    if len(line) > MAX_LINE:
        raise FormatError(f"a line has more than {MAX_LINE:,} bytes")
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):  # bytes that are no UTF-8 too
        raise FormatError(f"{short(line.decode(errors='replace').strip())!r} is not JSON") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise FormatError('a line is an object with a type, as {"type": "hello"}')
    return message


def read_command(line: bytes) -> dict[str, Any]:
    """Return what a player says, its fields of the right kinds, or raise FormatError; other fields are let be."""
    message = read_message(line)
    kind = message["type"]
    if kind not in FIELDS:
        raise FormatError(f"no command {short(kind)!r}; choose from {', '.join(FIELDS)}")
    for name, kinds in FIELDS[kind].items():
        if name in message and type(message[name]) not in kinds:
            raise FormatError(f"{kind}: the field {name} is of the wrong type")
        if isinstance(message.get(name), float) and not 0 < message[name] <= LONG:
            raise FormatError(f"{kind}: {name} must be more than 0 and at most {LONG:g}")
    return message


def lines_of(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of an unbuffered stream as they come; of one that is too long, just enough to tell."""
    rest, skipping = b"", False
    while chunk := stream.read(CHUNK):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if not skipping:
                yield line
            skipping = False
        if len(rest) > MAX_LINE:
            if not skipping:
                yield rest
            rest, skipping = b"", True
    if rest and not skipping:
        yield rest
