"""Write the tables and plots of docs/benchmarks.md: ``python tools/benchmarks.py``.

The tables come from benchmarks/results/*.json, which ``mdplay bench GROUP --out FILE`` wrote; a test compares the
page with the output of this tool.
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
HEAD = "## Results\n"
ORDER = ("mdp", "games", "2048", "learning", "environments")
BUSY = 1.0  # load per core, including this process, above which the machine counts as busy


def documents() -> dict[str, Any]:
    """Return the results by the names of their files."""
    return {name: json.loads((RESULTS / f"{name}.json").read_text()) for name in ORDER}


def section() -> str:
    """Return the section of the page with the results."""
    parts = [HEAD, NOTES]
    for name, document in documents().items():
        parts += [f"### {name}.json\n", _circumstances(document), f"![cost over work](benchmarks/{name}.png)\n"]
        result = read(document)
        for group in result.groups:
            parts += [f"**{group.name}**: {group.title}.\n", _table(result, group.name)]
    return "\n".join(parts)


NOTES = """`python tools/benchmarks.py` writes these tables from `benchmarks/results/`. A ratio is the time of a
contender divided by that of mdplay in the same round: the median, and in parentheses the minimum and the maximum.
Below 1 the contender was faster. The range is wide if other work ran on the machine.
"""


def _circumstances(document: dict[str, Any]) -> str:
    machine, versions = document["machine"], document["versions"]
    known = ", ".join(f"{name} {number}" for name, number in versions.items())
    alone = machine["load"] <= BUSY * machine["cores"]
    beside = "" if alone else " Other work ran at the same time."
    where = f"{machine['system']}, {machine['cores']} cores, Python {machine['python']}, {machine['date']}"
    return f"{where}; load {machine['load']:.1f}, {document['rounds']} rounds.{beside} {known}.\n"


def _table(result: BenchResult, name: str) -> str:
    group = next(one for one in result.groups if one.name == name)
    rows = [
        f"| {group.unit} | contender | seconds | {group.unit} per second | ratio | MB |",
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
    """Return the page with the section of results at its end."""
    return PAGE.read_text().partition(HEAD)[0] + section()


def main() -> None:
    """Write the page and the pictures."""
    PAGE.write_text(page())
    PICTURES.mkdir(exist_ok=True)
    for name, document in documents().items():
        read(document).plot(PICTURES / f"{name}.png")


if __name__ == "__main__":
    main()
