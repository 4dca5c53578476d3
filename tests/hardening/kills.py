"""SIGKILL at random moments of every writer, and before every single thing it does to its files.

Afterwards there is the old file or the new one, whole, and nothing else that the next run does not clear away; a
command that resumes ends with the same content as one that was never killed.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

from tests.hardening.campaign import Tally
from tests.hardening.child import FIRST_SECONDS, Child
from tests.hardening.writers import SIDE_FILES, WRITERS, Writer

PATIENCE = 300.0
OLD, NEW = 1, 2  # the seeds of the file that is there, and of the one that is written


class Range:
    """A folder in which writers are killed, and what they write when nobody kills them."""

    def __init__(self, folder: Path, child: Child) -> None:
        self.folder, self.child = folder, child
        self.whole: dict[tuple[str, int], Path] = {}
        self.seconds: dict[str, float] = {}

    def run(self, writer: Writer, out: Path, seed: int, **more: Any) -> dict[str, Any]:
        """Run a command in the folder of its file."""
        arguments = writer.arguments(out, seed)
        request = {"arguments": arguments, "folder": str(out.parent)}
        return self.child.ask({**request, "patience": PATIENCE, **more}, PATIENCE + FIRST_SECONDS)

    def made(self, name: str, seed: int) -> Path:
        """Return the file of a command that nobody killed; made once, and once more to know the time it takes."""
        if (name, seed) not in self.whole:
            for again in range(2):
                out = self.folder / f"whole-{list(WRITERS).index(name)}-{seed}-{again}" / WRITERS[name].out
                out.parent.mkdir()
                found = self.run(WRITERS[name], out, seed)
                if found.get("code") != 0:
                    raise AssertionError(f"{name} without a kill: {found}")
                self.seconds[name] = found["seconds"]
            self.whole[name, seed] = out
        return self.whole[name, seed]


def run(tally: Tally, count: int, seed: int) -> None:
    """Kill so many writers."""
    with tempfile.TemporaryDirectory() as name, Child("tests.hardening.writers", PATIENCE) as child:
        place = Range(Path(name), child)
        for number in range(count):
            writer = list(WRITERS)[number % len(WRITERS)]
            try:
                _try(tally, place, writer, random.Random(f"{seed}-{number}"))
            except Exception as error:
                tally.found(f"seed {seed}, number {number}: {writer}: {type(error).__name__}: {str(error)[:600]}")
            shutil.rmtree(place.folder / "range", ignore_errors=True)


def _try(tally: Tally, place: Range, name: str, rng: random.Random) -> None:
    writer, out = WRITERS[name], place.folder / "range" / WRITERS[name].out
    out.parent.mkdir()
    new = writer.content(place.made(name, NEW))
    old = None
    if not writer.resumes and name != "new" and rng.random() < 0.5:
        old = writer.content(_copy(place.made(name, OLD), out))
    for _ in range(rng.choice((1, 1, 3)) if writer.resumes else 1):
        manner = {"step": rng.randrange(1, 12)} if rng.random() < 0.5 else {}
        found = place.run(writer, out, NEW, **(manner or {"after": rng.uniform(0, 1.05) * place.seconds[name]}))
        _look(writer, out, old, new, found)
        tally.ended("killed" if found["code"] == -9 else "done before")
    if name == "new" and out.exists():
        return
    found = place.run(writer, out, NEW)
    assert found.get("code") == 0, f"the run after the kill: {found}"
    content = writer.content(out)
    if out.is_dir() and old is not None:  # steps of the old run that the new one has not stay
        content = {name: data for name, data in content.items() if name in new}
    assert content == new, "the run after the kill ended with another content"
    left = [path.name for path in out.parent.iterdir() if path.name != out.name]
    assert not left, f"left behind: {left}"


def _copy(source: Path, to: Path) -> Path:
    shutil.copytree(source, to) if source.is_dir() else shutil.copy(source, to)
    return to


def _look(writer: Writer, out: Path, old: Any, new: Any, found: dict[str, Any]) -> None:
    """Raise if what a killed command left is neither the old nor the new file."""
    assert not found.get("hung") and found.get("code") in (0, -9), f"it ended by itself: {found}"
    for path in out.parent.iterdir():
        assert path.name == out.name or path.name.endswith(SIDE_FILES), f"left behind: {path.name}"
    if not out.exists():
        assert old is None, "the old file is gone"
    elif writer.resumes:
        if writer.check is not None:
            writer.check(out)
    elif out.is_dir():
        for name, data in writer.content(out).items():
            assert data in (new.get(name), (old or {}).get(name)), f"{name} is neither old nor new"
    else:
        assert writer.content(out) in (old, new), "the file is neither the old nor the new one"
