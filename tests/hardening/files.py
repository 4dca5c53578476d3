"""Damaged files of every format: reading one ends with a sentence, or with the right content.

Bits flipped, cut, spliced, repeated, numbers made huge; files with a checksum are also forged: changed, and given
the checksum that fits.  What has a checksum must be refused or be what it was; nothing may raise, hang or eat
memory.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mdplay.storage import arrays as store
from tests.hardening.campaign import Tally, raw_words
from tests.hardening.child import FIRST_SECONDS, Child
from tests.hardening.formats import FORMATS

SECONDS = 30.0  # for reading one file
NUMBERS = (
    b"99999999999999999999", b"-1", b"1e999", b"nan", b"inf", b"1e308", b"-0", b"0x10", b"1_0", b"4294967296", b"",
    b"9223372036854775808", b"1e-400", b"0.1e", b"9" * 5000, b"null", b"[]", b"\xc2\xb2", b"true", b'"1"',
)  # fmt: skip
PIECES = (b"\n", b"\0", b"\xff", b"{", b"}", b" ", b",", b"\r\n", b"\xe2\x80\xa8", b"[" * 3000, b"#")


# ---------------------------------------------------------------- damages: bytes in, bytes out
def flip(data: bytes, rng: random.Random, other: bytes) -> bytes:
    """Flip one bit, or a few."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def cut(data: bytes, rng: random.Random, other: bytes) -> bytes:
    """Leave out the end."""
    return data[: rng.randrange(len(data))]


def drop(data: bytes, rng: random.Random, other: bytes) -> bytes:
    """Leave out a piece of the middle."""
    begin = rng.randrange(len(data))
    return data[:begin] + data[begin + rng.choice((1, 2, 7, 64, 512)) :]


def splice(data: bytes, rng: random.Random, other: bytes) -> bytes:
    """Go on with another file, or with another part of the same one."""
    source = rng.choice((data, other))
    return data[: rng.randrange(len(data))] + source[rng.randrange(len(source)) :]


def repeat(data: bytes, rng: random.Random, other: bytes) -> bytes:
    """Write a piece several times."""
    begin = rng.randrange(len(data))
    end = begin + rng.choice((1, 8, 40, 300))
    return data[:end] + data[begin:end] * rng.choice((1, 1, 3, 100)) + data[end:]


def insert(data: bytes, rng: random.Random, other: bytes) -> bytes:
    """Put something in that does not belong there."""
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice((*PIECES, rng.randbytes(9))) + data[at:]


def swap_number(data: bytes, rng: random.Random, other: bytes) -> bytes:
    """Write another number where there is one in a text."""
    found = list(re.finditer(rb"-?\d+(\.\d+)?", data[:100_000]))
    if not found:
        return flip(data, rng, other)
    place = rng.choice(found)
    return data[: place.start()] + rng.choice(NUMBERS) + data[place.end() :]


def overwrite(data: bytes, rng: random.Random, other: bytes) -> bytes:
    """Write zeros, ones or noise over a piece, as a broken disk does."""
    begin = rng.randrange(len(data))
    size = min(len(data) - begin, rng.choice((1, 4, 8, 512, 4096)))
    return data[:begin] + rng.choice((bytes(size), b"\xff" * size, rng.randbytes(size))) + data[begin + size :]


DAMAGES: tuple[Callable[[bytes, random.Random, bytes], bytes], ...] = (
    flip, flip, flip, cut, drop, splice, repeat, insert, swap_number, swap_number, overwrite,
)  # fmt: skip


# ---------------------------------------------------------------- forgeries: a checksum that fits
def forge(path: Path, rng: random.Random) -> None:
    """Change the arrays or the words of one of our files, and give it the checksum that fits."""
    content = store.mapped(path)
    _, info, _ = store._parse(path, content)
    stored = store.load(path, kind=info["kind"])
    arrays, meta = {name: array.copy() for name, array in stored.arrays.items()}, stored.meta
    if rng.random() < 0.5 and arrays:
        _forge_array(arrays, rng)
    else:
        meta = _forged_words(meta, rng)
    store.save(path, arrays, kind=info["kind"], meta=meta)


def _forge_array(arrays: dict[str, Any], rng: random.Random) -> None:
    name = rng.choice(sorted(arrays))
    array = arrays[name]
    kind = rng.randrange(5)
    if kind == 0:
        del arrays[name]
    elif kind == 1:
        with np.errstate(all="ignore"):
            arrays[name] = array.astype(rng.choice(("i1", "u1", "f4", "f8", "i8", "u8", "f2")))
    elif kind == 2:
        arrays[name] = array.reshape(-1)[: rng.randrange(array.size + 1)]
    elif kind == 3:
        arrays[name] = np.broadcast_to(array, (2, *array.shape))
    elif array.size:
        array.reshape(-1).view(np.uint8)[rng.randrange(array.nbytes)] ^= 255


def _forged_words(meta: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Change one value somewhere in a document."""
    strange: list[Any] = [None, -1, 0, 2**70, 1e308, "", "x" * 1000, [], {}, [[1]], True, 7, 1 << 31, "nan"]
    holder: Any = meta
    while True:
        keys = sorted(holder) if isinstance(holder, dict) else list(range(len(holder)))
        if not keys:
            return meta
        key = rng.choice(keys)
        if isinstance(holder[key], dict | list) and holder[key] and rng.random() < 0.7:
            holder = holder[key]
            continue
        if rng.random() < 0.1 and isinstance(holder, dict):
            del holder[key]
        else:
            holder[key] = rng.choice(strange)
        return meta


# ---------------------------------------------------------------- the part
def run(tally: Tally, count: int, seed: int) -> None:
    """Read so many damaged files."""
    with tempfile.TemporaryDirectory() as name, Child("tests.hardening.formats", SECONDS) as child:
        folder = Path(name)
        samples = {kind: _sample(kind, folder) for kind in FORMATS}
        whole = {kind: child.ask(_request(kind, path), FIRST_SECONDS) for kind, path in samples.items()}
        for kind, found in whole.items():
            if "read" not in found:
                tally.found(f"a {kind} that is sound: {found}")
        for number in range(count):
            _try(tally, child, folder, samples, whole, seed, number)


def _sample(kind: str, folder: Path) -> Path:
    path = folder / f"sample_{kind.replace(' ', '_').replace('-', '_')}{FORMATS[kind].suffix}"
    FORMATS[kind].make(path)
    return path


def _request(kind: str, path: Path) -> dict[str, str]:
    return {"kind": kind, "path": str(path)}


def _try(
    tally: Tally,
    child: Child,
    folder: Path,
    samples: dict[str, Path],
    whole: dict[str, dict[str, Any]],
    seed: int,
    number: int,
) -> None:
    """Damage one file, read it, and tell how that ended."""
    rng = random.Random(f"{seed}-{number}")
    kind = list(FORMATS)[number % len(FORMATS)]
    path = folder / (f"m{number}.py" if kind == "game" else samples[kind].name.replace("sample", "damaged"))
    word = _damage(kind, path, samples, rng)
    found = child.ask(_request(kind, path))
    right = found == whole[kind]
    if raw := raw_words(found.get("refused", "")):
        tally.found(f"seed {seed}, number {number}: {kind} by {word}: a sentence that says {raw!r}: {found}")
    elif "refused" in found or right:
        tally.ended("refused" if "refused" in found else "read, as it was")
    elif "read" in found and not (FORMATS[kind].sealed and word != "forge"):
        tally.ended("read, another content")
    else:
        tally.found(f"seed {seed}, number {number}: {kind} by {word}: {json.dumps(found)}")
    for left in folder.glob(f"{path.name}*"):
        left.unlink()


def _damage(kind: str, path: Path, samples: dict[str, Path], rng: random.Random) -> str:
    """Write a damaged copy of a sample; return how."""
    if FORMATS[kind].sealed and FORMATS[kind].suffix != ".gz" and rng.random() < 0.4:
        shutil.copy(samples[kind], path)
        forge(path, rng)
        return "forge"
    data, other = samples[kind].read_bytes(), samples[rng.choice(sorted(samples))].read_bytes()
    words = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        damage = rng.choice(DAMAGES)
        data = damage(data, rng, other) if data else data
        words.append(damage.__name__)
    path.write_bytes(data)
    return ", ".join(words)
