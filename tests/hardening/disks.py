"""Full disks, read-only folders, two writers of one file: for every writer.

A full disk leaves the old file as it was and a sentence with exit code 2; where there was no file, there is none
(a database of results keeps the games that it could take).  Two writers at once leave one of their files, whole.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.hardening.campaign import Tally, raw_words
from tests.hardening.child import Child
from tests.hardening.kills import NEW, OLD, PATIENCE, Range, _copy
from tests.hardening.writers import WRITERS

FAULTS = ("limit", "full", "full", "read-only", "together")


@contextmanager
def mounted(folder: Path, *options: str) -> Iterator[bool]:
    """Mount a small disk of its own at a folder, where that is allowed; yield whether it was."""
    folder.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", str(folder)]
    done = os.getuid() == 0 and not subprocess.run(command, capture_output=True).returncode
    try:
        yield done
    finally:
        if done:
            subprocess.run(["umount", "-l", str(folder)], check=True)


def run(tally: Tally, count: int, seed: int) -> None:
    """Give so many commands a bad disk."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        children = [stack.enter_context(Child("tests.hardening.writers", PATIENCE)) for _ in range(2)]
        places = [Range(folder / str(i), child) for i, child in enumerate(children)]
        for place in places:
            place.folder.mkdir()
        for number in range(count):
            name, fault = list(WRITERS)[number % len(WRITERS)], FAULTS[number % len(FAULTS)]
            try:
                tally.ended(_try(places, name, fault, random.Random(f"{seed}-{number}")))
            except Exception as error:
                said = f"{type(error).__name__}: {str(error)[:600]}"
                tally.found(f"seed {seed}, number {number}: {name}, {fault}: {said}")


def _try(places: list[Range], name: str, fault: str, rng: random.Random) -> str:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "disk" / WRITERS[name].out
        if fault == "together":
            return _together(places, name, out)
        if fault == "limit":
            out.parent.mkdir()
            return _refused(places[0], name, out, limit=rng.choice((1, 100, 600)))
        with mounted(out.parent, f"size={rng.choice((4, 8, 16))}k" if fault == "full" else "size=10m") as done:
            if not done:
                return "not allowed to mount"
            if fault == "full":
                _fill(out.parent, rng)
                return _refused(places[0], name, out)
            return _read_only(places[0], name, out)


def _fill(folder: Path, rng: random.Random) -> None:
    """Leave one page of a disk, or none."""
    free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_bsize
    (folder / "filler").write_bytes(bytes(max(0, free - rng.choice((0, 4096)))))


def _refused(place: Range, name: str, out: Path, **more: Any) -> str:
    """Run a command without an old file, where it cannot write its file; one that fits is fine."""
    writer = WRITERS[name]
    found = place.run(writer, out, NEW, **more)
    left = sorted(path.name for path in out.parent.iterdir() if path.name != "filler")
    if found.get("code") == 0:
        assert writer.content(out) == writer.content(place.made(name, NEW)), "it says it wrote the file"
        return "fitted"
    _is_sentence(found)
    if out.suffix != ".db" and not writer.resumes and not out.is_dir():
        assert not left, f"left behind: {left}"
    elif writer.check is not None and out.exists():
        writer.check(out)
    return "refused"


def _read_only(place: Range, name: str, out: Path) -> str:
    """Run a command over an old file on a disk that is read-only."""
    writer = WRITERS[name]
    if name != "new":
        _copy(place.made(name, OLD), out)
    before = writer.content(out) if out.exists() else None
    subprocess.run(["mount", "-o", "remount,ro", str(out.parent)], check=True, capture_output=True)
    found = place.run(writer, out, NEW)
    assert (writer.content(out) if out.exists() else None) == before, "the old file has changed"
    if found.get("code") == 0:
        assert writer.resumes, "it says it wrote the file"
        return "had nothing to write"
    _is_sentence(found)
    return "refused"


def _is_sentence(found: dict[str, Any]) -> None:
    said = str(found.get("said", ""))
    assert found.get("code") == 2 and "mdplay: " in said and "Traceback" not in said, f"no sentence: {found}"
    assert not raw_words(said), f"a sentence that says {raw_words(said)!r}: {found}"


def _together(places: list[Range], name: str, out: Path) -> str:
    """Let two writers write one file at once."""
    writer = WRITERS[name]
    out.parent.mkdir()
    seeds = (NEW, NEW) if writer.resumes else (OLD, NEW)
    whole = [writer.content(places[0].made(name, seed)) for seed in seeds]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda i: places[i].run(writer, out, seeds[i]), range(2)))
    for one in found:
        assert one.get("code") == 0 or (name == "new" and "exists already" in one["said"]), one
    content = writer.content(out)
    if out.is_dir() and not writer.resumes:
        assert all(data in (whole[0].get(file), whole[1].get(file)) for file, data in content.items()), "a mixture"
    else:
        assert content in whole, "a mixture"
    left = [path.name for path in out.parent.iterdir() if path.name != out.name]
    assert not left, f"left behind: {left}"
    shutil.rmtree(out.parent)
    return "one of two, whole"
