"""Run the five systems and write the page and the JSON document."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mdplay import __version__
from mdplay.files import make_folder, write
from mdplay.reproducing.claims import table
from mdplay.reproducing.page import Chapter, page
from mdplay.reproducing.steps import Step, run_step
from mdplay.running import Show

SYSTEMS = {1: "dots_and_boxes", 2: "anti_tic_tac_toe", 3: "twenty48", 4: "connect_four", 5: "qubic"}
PAGE, FACTS, PARTS = "index.html", "figures.json", "parts"
Progress = Callable[[str, int | None], AbstractContextManager[Show]]


def reproduce(
    systems: Sequence[int], folder: str | Path, progress: Progress, *, quick: bool = False, seed: int = 1
) -> list[Chapter]:
    """Make every figure of the systems, or take it from an earlier run, and write the page into the folder."""
    folder = Path(folder)
    make_folder(folder / PARTS)
    chapters = [_chapter(number, folder, progress, quick, seed) for number in systems]
    write(folder / PAGE, page(chapters, note()))
    write(folder / FACTS, json.dumps(_facts(chapters, quick, seed), indent=1))
    return chapters


def _chapter(number: int, folder: Path, progress: Progress, quick: bool, seed: int) -> Chapter:
    system = import_module(f"mdplay.reproducing.{SYSTEMS[number]}")
    steps: list[Step] = system.steps(quick, seed)
    made = []
    for step in steps:
        with progress(f"system {number}: {step.name}", step.work) as show:
            made.append(run_step(step, folder / PARTS, show))
    facts = json.loads(json.dumps({figure.name: figure.figure.facts for figure in made}))  # as if read back
    return Chapter(number, system.TITLE, system.headline(facts), made, system.claims(facts))


def note() -> str:
    """Return the versions behind the figures."""
    names = ("numpy", "numba", "scipy", "matplotlib")
    packages = ", ".join(f"{name} {version(name)}" for name in names)
    machine = f"{platform.machine()} {sys.platform}"
    return f"mdplay {__version__}, Python {platform.python_version()}, {packages}, {machine}"


def _facts(chapters: Sequence[Chapter], quick: bool, seed: int) -> dict[str, Any]:
    return {
        "versions": note(),
        "quick": quick,
        "seed": seed,
        "systems": {
            str(chapter.number): {
                "title": chapter.title,
                "headline": chapter.headline,
                "claims": asdict(table(chapter.claims)),
                "figures": {
                    made.name: {
                        "command": made.figure.command,
                        "seconds": made.seconds,
                        "facts": made.figure.facts,
                    }
                    for made in chapter.figures
                },
            }
            for chapter in chapters
        },
    }
