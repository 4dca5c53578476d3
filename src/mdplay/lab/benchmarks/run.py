"""Run the groups of benchmarks and report them as a table, as JSON and as a plot of cost over size."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mdplay import LimitError, __version__
from mdplay.errors import unknown
from mdplay.lab.benchmarks import games, planning
from mdplay.lab.benchmarks.measuring import Group, Measured, installed, measure
from mdplay.storage.files import write
from mdplay.views.charts import save_plot

GROUPS: Mapping[str, Callable[[bool], Group]] = {
    "mdp": planning.group,
    "mcts": games.mcts_group,
    "connect-four": games.connect_four_group,
    "2048": planning.twenty48_group,
    "exact": games.exact_group,
    "bandits": planning.bandits_group,
    "learning": planning.learning_group,
    "environments": games.group,
}
PEERS = (
    *("numpy", "numba", "scipy", "open_spiel", "quantecon", "mdpsolver", "bitbully"),
    *("gymnasium", "pettingzoo", "pgx"),
)
ROUNDS = 5
DECADE = 10.0  # that a logarithmic axis spans at least
WARM = 1.5  # seconds of the processor: small work is tried in plain Python before it is compiled
Report = Callable[[str], None]


@dataclass(frozen=True)
class BenchResult:
    """All that was measured, with the groups and the machine."""

    groups: Sequence[Group]
    measured: Sequence[Measured]
    rounds: int

    def text(self) -> str:
        """Return a table for people: a contender's ratio tells how many times as long as mdplay it took."""
        return "\n".join(line for group in self.groups for line in group_lines(group, self.of(group)))

    def of(self, group: Group) -> list[Measured]:
        """Return what was measured of a group."""
        return [found for found in self.measured if found.group == group.name]

    def document(self) -> dict[str, Any]:
        """Return everything for JSON."""
        told = {
            group.name: {
                "title": group.title,
                "unit": group.unit,
                "missing": list(group.missing),
                "measured": [asdict(found) | {"per_second": found.per_second} for found in self.of(group)],
            }
            for group in self.groups
        }
        return {"rounds": self.rounds, "machine": machine(), "versions": versions(), "groups": told}

    def save(self, path: str | Path) -> None:
        """Write the document."""
        write(path, json.dumps(self.document(), indent=1) + "\n")

    def plot(self, path: str | Path) -> None:
        """Draw processor seconds and memory over the work of each group, on logarithmic axes."""
        save_plot(self.paint, path, (11, 4.2 * len(self.groups)))

    def paint(self, figure: Any) -> None:
        """Paint a row for each group; mdplay has the same colour in all of them."""
        rows = figure.subplots(len(self.groups), 2, squeeze=False)
        for (time_panel, memory_panel), group in zip(rows, self.groups, strict=True):
            draw_costs(time_panel, group, self.of(group), "processor seconds", lambda found: found.seconds)
            draw_costs(memory_panel, group, self.of(group), "megabytes", lambda found: (found.memory or 0) / 1e6)


def read(document: Mapping[str, Any]) -> BenchResult:
    """Return what was measured, from its document: to draw it again, or to write it as a table."""
    groups, measured = [], []
    for name, told in document["groups"].items():
        found = [Measured(**{key: one[key] for key in Measured.__dataclass_fields__}) for one in told["measured"]]
        sizes = list(dict.fromkeys(one.size for one in found))
        contenders = dict.fromkeys((one.contender for one in found), _not_again)
        groups.append(Group(name, told["title"], told["unit"], sizes, contenders, missing=told["missing"]))
        measured += found
    return BenchResult(groups, measured, document["rounds"])


def _not_again(size: int) -> Callable[[], Any]:
    raise LimitError("what is read from a document is not measured again")


def draw_costs(
    panel: Any, group: Group, measured: Sequence[Measured], label: str, cost: Callable[[Measured], float]
) -> None:
    """Draw a cost over the work, a line for each contender; what cost nothing that could be seen has no point."""
    for name in group.contenders:
        points = [(one.size, cost(one)) for one in measured if one.contender == name and cost(one) > 0]
        if points:
            panel.plot(*zip(*points, strict=True), marker="o", label=name)
    panel.set(xscale="log", yscale="log", xlabel=group.unit, ylabel=label, title=group.name)
    panel.set_xticks(group.sizes, [f"{size:,}" for size in group.sizes])
    panel.set_xticks([], minor=True)
    low, high = panel.get_ylim()
    if high < DECADE * low:  # what hardly differs shall not look as if it did
        middle = (low * high) ** 0.5
        panel.set_ylim(middle / DECADE**0.5, middle * DECADE**0.5)
    panel.grid(True)
    if panel.lines:
        panel.legend(fontsize="small")


def bench(
    names: Sequence[str] = (), *, quick: bool = False, rounds: int = ROUNDS, report: Report | None = None
) -> BenchResult:
    """Measure some groups (default: all), every size in turn; ``report`` hears of each group when it is done."""
    for name in names:
        if name not in GROUPS:
            raise unknown("group", name, GROUPS)
    groups = [GROUPS[name](quick) for name in names or GROUPS]
    measured: list[Measured] = []
    for group in groups:
        found = [one for size in group.sizes for one in measure(group, size, rounds, WARM)]
        measured += found
        if report is not None:
            report("\n".join(group_lines(group, found)))
    return BenchResult(groups, measured, rounds)


def group_lines(group: Group, measured: Sequence[Measured]) -> list[str]:
    """Return the table of a group, a line for each size and contender."""
    lines = [f"{group.name}: {group.title}"]
    lines += [f"  {name} is not installed: pip install 'mdplay[bench]'" for name in dict.fromkeys(group.missing)]
    for found in measured:
        speed = f"{found.per_second:14,.0f} {group.unit}/s"
        ratio = f"x {ratio_text(found.ratio):>6} ({ratio_text(found.low)} .. {ratio_text(found.high)})"
        memory = "" if found.memory is None else f"{found.memory / 1e6:9,.1f} MB"
        answers = "" if found.agrees else "  OTHER ANSWERS"
        took = f"{found.seconds:10.4f} s {speed}  {ratio} {memory}"
        lines.append(f"  {found.size:>9,}  {found.contender:32} {took}{answers}")
    return lines


def ratio_text(ratio: float) -> str:
    """Return a ratio with the digits that count: a small one is never 0.00."""
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.2g}" if ratio < 0.1 else f"{ratio:.2f}"


def machine() -> dict[str, Any]:
    """Return what was measured on, and when."""
    return {
        "python": platform.python_version(),
        "system": f"{platform.machine()} {platform.system()}",
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "date": time.strftime("%Y-%m-%d"),
    }


def versions() -> dict[str, str]:
    """Return the versions of mdplay and of the peers that are installed."""
    return {"mdplay": __version__, **{name: version(name) for name in PEERS if installed(name)}}
