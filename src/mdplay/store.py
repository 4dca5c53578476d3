"""Arrays on disk: whole or not at all, checked when read, never executed.

A file is in the safetensors layout, so that other programs read it too:

    u64 length | JSON header, padded to a multiple of 8 | the arrays, one after the other, little-endian

The header's ``__metadata__`` carries ``format`` (mdplay), ``kind`` (what the file is), ``meta`` (JSON of the
owner) and ``sha256`` over all of these, the layout and the data.  A file that is truncated, changed, foreign or
too long is refused with a sentence; arrays of a sound one are read-only views of the mapped file.

Writing goes to ``NAME.PID.part`` beside the target, is flushed to the disk and then renamed: whoever is killed
in between leaves the old file as it was, and the next writer removes what the dead one left.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from mdplay.errors import FormatError

FORMAT = "mdplay"
MAX_HEADER = 16 << 20
DTYPES = {
    "BOOL": "|b1", "I8": "|i1", "U8": "|u1", "I16": "<i2", "U16": "<u2", "I32": "<i4", "U32": "<u4",
    "I64": "<i8", "U64": "<u8", "F16": "<f2", "F32": "<f4", "F64": "<f8",
}  # fmt: skip
NAMES = {dtype: name for name, dtype in DTYPES.items()}

Arrays = Mapping[str, NDArray[Any]]
Layout = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Stored:
    """What a file holds: its arrays, as read-only views of the mapped file, and its owner's words."""

    arrays: dict[str, NDArray[Any]]
    meta: dict[str, Any]


def save(path: str | Path, arrays: Arrays, *, kind: str, meta: Mapping[str, Any] | None = None) -> None:
    """Write arrays and JSON words to a file, atomically; ``load`` with the same kind returns them."""
    data = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    data = dict(sorted(data.items(), key=lambda item: (-item[1].itemsize, item[0])))  # keeps each one aligned
    layout, words = _layout(data), json.dumps(dict(meta or {}), sort_keys=True)
    digest = _digest(kind, words, layout, map(_bytes_of, data.values()))
    header = json.dumps(
        {"__metadata__": {"format": FORMAT, "kind": kind, "meta": words, "sha256": digest}, **layout}
    ).encode()
    header += b" " * (-len(header) % 8)
    with replacing(path) as file:
        file.write(len(header).to_bytes(8, "little") + header)
        for array in data.values():
            file.write(_bytes_of(array))


def load(path: str | Path, *, kind: str) -> Stored:
    """Read a file that ``save`` wrote, or raise FormatError saying what is wrong with it."""
    content = _mapped(Path(path))
    layout, info, data = _parse(path, content)
    if info.get("format") != FORMAT:
        raise FormatError(f"{path} is a safetensors file, but not one that mdplay wrote")
    if info.get("kind") != kind:
        raise FormatError(f"{path} holds a {info.get('kind')}; a {kind} is needed here")
    arrays = _views(path, layout, data)
    if _digest(kind, info["meta"], layout, [data]) != info.get("sha256"):
        raise FormatError(f"{path} is damaged: its content does not match its checksum")
    return Stored(arrays, json.loads(info["meta"]))


@contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """Open a new file that takes the place of ``path`` when the block ends well, and leaves it alone otherwise."""
    path = Path(path)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        _sweep(path)
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        _flush_folder(path.parent)
    except OSError as error:
        raise FormatError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _flush_folder(folder: Path) -> None:
    """Make a rename last through a power failure, where folders can be opened."""
    if os.name != "posix":
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _sweep(path: Path) -> None:
    """Remove the unfinished files of writers that were killed."""
    for part in path.parent.glob(f"{escape(path.name)}.*.part"):
        pid = part.name.removeprefix(f"{path.name}.").removesuffix(".part")
        if pid.isdigit() and not _runs(int(pid)):
            part.unlink(missing_ok=True)


def _runs(pid: int) -> bool:
    if os.name != "posix":
        return True  # signal 0 asks on POSIX, and interrupts on Windows
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


# ---------------------------------------------------------------- the layout
def _layout(data: Arrays) -> Layout:
    layout, begin = {}, 0
    for name, array in data.items():
        code = NAMES.get(array.dtype.newbyteorder("<").str)
        if code is None or name == "__metadata__":
            raise FormatError(f"cannot store the array {name!r} of type {array.dtype}")
        layout[name] = {"dtype": code, "shape": list(array.shape), "data_offsets": [begin, begin + array.nbytes]}
        begin += array.nbytes
    return layout


def _bytes_of(array: NDArray[Any]) -> memoryview:
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return little.reshape(-1).view(np.uint8).data


def _digest(kind: str, words: str, layout: Layout, data: Iterator[Any] | list[Any]) -> str:
    total = hashlib.sha256(json.dumps([FORMAT, kind, words, layout], sort_keys=True).encode())
    for piece in data:
        total.update(piece)
    return total.hexdigest()


# ---------------------------------------------------------------- reading what anybody may have written
def _mapped(path: Path) -> NDArray[np.uint8]:
    try:
        if path.is_file() and path.stat().st_size == 0:
            raise FormatError(f"{path} is empty")
        return np.asarray(np.memmap(path, np.uint8, "r"))
    except OSError as error:
        raise FormatError(f"cannot read {path}: {error.strerror or error}") from error


def _parse(path: str | Path, content: NDArray[np.uint8]) -> tuple[Layout, dict[str, str], NDArray[np.uint8]]:
    """Return the layout, the metadata and the data; the header is checked to be made of them."""
    length = int.from_bytes(content[:8].tobytes(), "little")
    if len(content) < 8 or length > MAX_HEADER or content[8:9].tobytes() != b"{":
        raise FormatError(f"{path} is not a file of mdplay (it has no safetensors header)")
    if 8 + length > len(content):
        raise FormatError(f"{path} is truncated: it ends inside its header")
    try:
        layout = json.loads(content[8 : 8 + length].tobytes())
        info = layout.pop("__metadata__", {})
    except (ValueError, RecursionError, AttributeError):
        raise FormatError(f"{path} is damaged: its header is not JSON") from None
    if not isinstance(info, dict) or not all(isinstance(text, str) for text in info.values()):
        raise FormatError(f"{path} is damaged: its metadata are not texts")
    return layout, {"meta": "{}", **info}, content[8 + length :]


def _views(path: str | Path, layout: Layout, data: NDArray[np.uint8]) -> dict[str, NDArray[Any]]:
    arrays, end = {}, 0
    try:
        for name, entry in sorted(layout.items(), key=lambda item: item[1]["data_offsets"]):
            shape, dtype = tuple(map(int, entry["shape"])), np.dtype(DTYPES[entry["dtype"]])
            begin, size = end, math.prod(shape) * dtype.itemsize
            end += size
            if entry["data_offsets"] != [begin, end] or min(shape, default=0) < 0:
                raise ValueError(name)
            if end <= len(data):
                arrays[name] = data[begin:end].view(dtype).reshape(shape)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise FormatError(f"{path} is damaged: its header does not describe its arrays") from None
    if end != len(data):
        state = "truncated" if end > len(data) else "too long"
        raise FormatError(f"{path} is {state}: {len(data)} bytes of data where its header says {end}")
    return arrays
