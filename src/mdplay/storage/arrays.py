"""Arrays on disk: whole or not at all, checked when read, never executed.

A file is in the safetensors layout, so that other programs read it too:

    u64 length | JSON header, padded to a multiple of 8 | the arrays, one after the other, little-endian

The header's ``__metadata__`` carries ``format`` (mdplay), ``kind`` (what the file is), ``meta`` (JSON of the
owner) and ``sha256`` over all of these, the layout and the data.  A file that is truncated, changed, foreign or
too long is refused with a sentence; arrays of a sound one are read-only views of the mapped file.
"""

from __future__ import annotations

import hashlib
import json
import math
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.errors import FormatError
from mdplay.storage.files import replacing

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
    """What a file holds: its kind, its arrays, as read-only views of the mapped file, and its owner's words."""

    kind: str
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


def load(
    path: str | Path, *, kind: str | None, types: Mapping[str, str] | None = None, needs: Sequence[str] = ()
) -> Stored:
    """Read a file that ``save`` wrote, of any kind if that is None, or raise FormatError saying what is wrong.

    ``types`` are the types that each array may have, by their names; ``needs`` names arrays that must be there.
    They matter because a checksum shows accidents only: a forged file has a valid checksum too.
    """
    content = mapped(path)
    layout, info, data = _parse(path, content)
    if info.get("format") != FORMAT:
        raise FormatError(f"{path} is a safetensors file, but not one that mdplay wrote")
    found = str(info.get("kind"))
    if kind not in (None, found):
        raise FormatError(f"{path} holds a {info.get('kind')}; a {kind} is needed here")
    arrays = _views(path, layout, data)
    if _digest(found, info["meta"], layout, [data]) != info.get("sha256"):
        raise FormatError(f"{path} is damaged: its content does not match its checksum")
    _check_needed(path, arrays, needs)
    try:
        check_types(arrays, types or {})
    except FormatError as error:
        raise FormatError(f"{path} is damaged: {error}") from None
    return Stored(found, arrays, _owners_words(path, info["meta"]))


def check_types(arrays: Arrays, types: Mapping[str, str]) -> None:
    """Raise FormatError unless every array has one of the types that ``types`` lists for its name."""
    for name, array in arrays.items():
        if name in types and array.dtype.name not in types[name].split():
            raise FormatError(f"its array {name!r} is of type {array.dtype}, not {types[name]}")


def _check_needed(path: str | Path, arrays: Arrays, needs: Sequence[str]) -> None:
    for name in needs:
        if name not in arrays:
            raise FormatError(f"{path} is damaged: it has no array {name!r}")


def _owners_words(path: str | Path, text: str) -> dict[str, Any]:
    try:
        meta = json.loads(text)
    except (ValueError, RecursionError):
        meta = None
    if not isinstance(meta, dict):
        raise FormatError(f"{path} is damaged: its words are not JSON")
    return meta


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
def mapped(path: str | Path) -> NDArray[np.uint8]:
    """Return the bytes of a file as a read-only view, or raise FormatError."""
    try:
        size = Path(path).stat()
        if not stat.S_ISREG(size.st_mode):
            raise FormatError(f"cannot read {path}: it is not a file")
        if size.st_size == 0:
            raise FormatError(f"{path} is empty")
        return np.asarray(np.memmap(path, np.uint8, "r"))
    except (OSError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error


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
