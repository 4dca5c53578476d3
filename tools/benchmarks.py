"""Write what was measured into docs/benchmarks.md, and draw it: ``python tools/benchmarks.py``.

The tables come from benchmarks/results/*.json, which ``mdplay bench GROUP --out FILE`` wrote; a test compares the
page with what this would write.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mdplay.lab.benchmarks.measuring import OURS, Measured
from mdplay.lab.benchmarks.run import BenchResult, ratio_text, read

ROOT = Path(__file__).parents[1]
RESULTS, PAGE, PICTURES = (
    ROOT / "benchmarks" / "results",
    ROOT / "docs" / "benchmarks.md",
    ROOT / "docs" / "benchmarks",
)
HEAD = "## What was measured\n"
ORDER = ("mdp", "games", "2048", "learning", "environments")
BUSY = 1.0  # runnable processes for each core, ours among them, from which on a run was not alone


def documents() -> dict[str, Any]:
    """Return the results by the names of their files."""
    return {name: json.loads((RESULTS / f"{name}.json").read_text()) for name in ORDER}


def section() -> str:
    """Return the part of the page that tells what was measured."""
    parts = [HEAD, f"By `python tools/benchmarks.py` from `benchmarks/results/`. {WORDS}"]
    for name, document in documents().items():
        parts += [f"### {name}.json\n", _circumstances(document), f"![cost over work](benchmarks/{name}.png)\n"]
        result = read(document)
        for group in result.groups:
            parts += [f"**{group.name}**: {group.title}.\n", _table(result, group.name)]
    return "\n".join(parts)


WORDS = """A ratio tells how many times as
long as mdplay a contender took in the same round: the median, and in brackets the least and the greatest; below 1
the contender was faster. Where the brackets are wide, other work ran beside.
"""


def _circumstances(document: dict[str, Any]) -> str:
    machine, versions = document["machine"], document["versions"]
    known = ", ".join(f"{name} {number}" for name, number in versions.items())
    alone = machine["load"] <= BUSY * machine["cores"]
    beside = "" if alone else " Other work ran beside it."
    where = f"{machine['system']}, {machine['cores']} cores, Python {machine['python']}, {machine['date']}"
    return f"{where}; load {machine['load']:.1f}, {document['rounds']} rounds.{beside} {known}.\n"


def _table(result: BenchResult, name: str) -> str:
    group = next(one for one in result.groups if one.name == name)
    rows = [
        f"| {group.unit} | contender | seconds | {group.unit} a second | ratio | MB |",
        "|--:|---|--:|--:|--:|--:|",
    ]
    rows += [_row(found) for found in result.of(group)]
    return "\n".join(rows) + "\n"


def _row(found: Measured) -> str:
    memory = "" if found.memory is None else f"{found.memory / 1e6:,.1f}"
    spread = (
        "1"
        if found.contender == OURS
        else f"{ratio_text(found.ratio)} ({ratio_text(found.low)} .. {ratio_text(found.high)})"
    )
    agrees = "" if found.agrees else ", OTHER ANSWERS"
    cells = (
        f"{found.size:,}",
        found.contender + agrees,
        f"{found.seconds:.4f}",
        f"{found.per_second:,.0f}",
        spread,
        memory,
    )
    return f"| {' | '.join(cells)} |"


def page() -> str:
    """Return the page with this section at its end."""
    return PAGE.read_text().partition(HEAD)[0] + section()


def main() -> None:
    """Write the page and the pictures."""
    PAGE.write_text(page())
    PICTURES.mkdir(exist_ok=True)
    for name, document in documents().items():
        read(document).plot(PICTURES / f"{name}.png")


if __name__ == "__main__":
    main()
