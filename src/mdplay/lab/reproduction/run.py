"""Run the five systems, or the figures of the textbook, and write the JSON document and the page.

The page is one HTML file without external resources, with all claims and figures, for light and dark, screen and
paper.  Green marks what is best or equal, amber what differs; red and blue are the players.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from html import escape
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mdplay import __version__
from mdplay.lab.reproduction.steps import (
    MARKS,
    Claim,
    Drawing,
    Made,
    ResultTable,
    Row,
    Step,
    run_step,
    table,
    tally,
)
from mdplay.runtime.threads import Show
from mdplay.storage.files import make_folder, write
from mdplay.views.charts import data_url

STYLE = Path(__file__).with_name("page.css")


SIGNS = dict(zip(MARKS, ("=", "+", "≠"), strict=True))  # colour is not all that tells
HOW = "The command under each figure gives the same."


@dataclass(frozen=True)
class Report:
    """What a page is about: its words, and the modules of its chapters by their numbers."""

    name: str
    heading: str
    lead: str
    source: str  # what the claims are taken from
    unit: str  # what a chapter is
    modules: Mapping[int, str]


SYSTEMS = {1: "dots_and_boxes", 2: "anti_tic_tac_toe", 3: "twenty48", 4: "connect_four", 5: "qubic"}
FIVE_SYSTEMS = Report(
    "five systems",
    "Five systems, made anew",
    "Five reports on games and planning, computed again. Every number below was computed by the run that wrote "
    "this page, and every line of a report stands beside what came out here: equal, better, or different and why.",
    "report",
    "system",
    SYSTEMS,
)
TEXTBOOK = Report(
    "textbook",
    "The textbook's figures, beside the exact truth",
    "Figures and tables of Sutton and Barto, Reinforcement Learning: An Introduction (2nd edition), computed "
    "again at the book's budgets. Every published number stands beside what came out here with its 95 % "
    "interval and, where there is one, the exact value: equal, better, or different and why.",
    "book",
    "chapter",
    {
        2: "textbook.bandits",
        4: "textbook.dynamic_programming",
        5: "textbook.monte_carlo",
        6: "textbook.temporal_differences",
        7: "textbook.several_steps",
        8: "textbook.models",
        9: "textbook.approximation",
        13: "textbook.policy_gradients",
    },
)


@dataclass(frozen=True)
class Chapter:
    """One system: its number, its title, its headline, its figures, and the report's claims."""

    number: int
    title: str
    headline: str
    figures: Sequence[Made]
    claims: Sequence[Claim] = ()


def page(chapters: Sequence[Chapter], note: str, report: Report = FIVE_SYSTEMS) -> str:
    """Return the whole page as HTML."""
    shown = "".join(map(_summary, chapters))
    contents = "".join(_contents(chapter, report.source) for chapter in chapters)
    body = "".join(_chapter(chapter, report.source) for chapter in chapters)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'
        f"<title>mdplay: {report.name}</title><style>\n{STYLE.read_text(encoding='utf-8')}</style></head><body>"
        f'<nav aria-label="Contents"><details open><summary>Contents</summary><ol>{contents}</ol></details></nav>'
        f'<div class="sheet"><header><h1>{report.heading}</h1><p>{report.lead} {HOW}</p>'
        f'<h2 id="shown">What was shown</h2><ol class="shown">{shown}</ol></header>'
        f"<main>{body}</main><footer>{escape(note)}</footer></div></body></html>\n"
    )


def _summary(chapter: Chapter) -> str:
    marks = f'<span class="tally">{escape(tally(chapter.claims))}</span>' if chapter.claims else ""
    link = f'<a href="#system-{chapter.number}">{escape(chapter.title)}</a>'
    return f"<li>{link} {marks}<p>{escape(chapter.headline)}</p></li>"


def _contents(chapter: Chapter, source: str) -> str:
    links = [(f"claims-{chapter.number}", f"What the {source} says")] if chapter.claims else []
    links += [(made.name, made.figure.title) for made in chapter.figures]
    listed = "".join(f'<li><a href="#{escape(name)}">{escape(title)}</a></li>' for name, title in links)
    return f'<li><a href="#system-{chapter.number}">{escape(chapter.title)}</a><ul>{listed}</ul></li>'


def _chapter(chapter: Chapter, source: str) -> str:
    figures = "".join(map(_figure, chapter.figures))
    return (
        f'<h2 id="system-{chapter.number}">{chapter.number}. {escape(chapter.title)}</h2>'
        f'<p class="headline">{escape(chapter.headline)}</p>{_claims(chapter, source)}{figures}'
    )


def _claims(chapter: Chapter, source: str) -> str:
    if not chapter.claims:
        return ""
    title = f"<h3>What the {source} says, and what came out here</h3>"
    counted = f"<p>{len(chapter.claims)} claims: {escape(tally(chapter.claims))}.</p>"
    shown = _table(table(chapter.claims, source))
    return f'<section class="figure" id="claims-{chapter.number}">{title}{counted}{shown}</section>'


def _figure(made: Made) -> str:
    figure = made.figure
    parts = [f"<h3>{escape(figure.title)}</h3>", f"<p>{escape(figure.text)}</p>" if figure.text else ""]
    if figure.drawings:
        parts.append(f'<div class="drawings">{"".join(map(_drawing, figure.drawings))}</div>')
    if figure.picture is not None:
        light, dark = map(data_url, figure.picture)
        parts.append(
            f'<picture><source srcset="{dark}" media="screen and (prefers-color-scheme: dark)">'
            f'<img src="{light}" alt="{escape(figure.title)}"></picture>'
        )
    if figure.table is not None:
        parts.append(_table(figure.table))
    parts.append(f'<code class="command">{escape(figure.command)}</code>')
    return f'<section class="figure" id="{escape(made.name)}">{"".join(parts)}</section>'


def _drawing(drawing: Drawing) -> str:
    caption = f"<figcaption>{escape(drawing.caption)}</figcaption>" if drawing.caption else ""
    return f'<figure><div class="scroll">{drawing.svg}</div>{caption}</figure>'


def _table(table: ResultTable) -> str:
    """Return a table; columns of numbers are set to the right, sentences wrap and become cards on a phone."""
    kinds = (
        ["prose"] * len(table.header)
        if table.prose
        else [_kind(row[i] for row in table.rows) for i in range(len(table.header))]
    )
    head = "".join(_cell("th", text, kind, "") for text, kind in zip(table.header, kinds, strict=True))
    rows = "".join(_row(row, kinds, table.header) for row in table.rows)
    style = ' class="prose"' if table.prose else ""
    return f'<div class="scroll"><table{style}><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _row(texts: Row, kinds: Sequence[str], header: Row) -> str:
    cells = (_cell("td", *cell) for cell in zip(texts, kinds, header, strict=True))
    return f"<tr>{''.join(cells)}</tr>"


def _cell(tag: str, text: str, kind: str, label: str) -> str:
    words = _marked(text) if kind == "prose" and tag == "td" else escape(text)
    style = f' class="{kind}"' if kind else ""
    told = f' data-label="{escape(label)}"' if kind == "prose" and label else ""
    return f"<{tag}{style}{told}>{words}</{tag}>"


def _marked(text: str) -> str:
    """Return a sentence; one that begins with a mark shows it as such."""
    mark, _, why = text.partition(": ")
    if mark not in SIGNS:
        return escape(text)
    return f'<span class="mark {mark}">{SIGNS[mark]} {mark}</span> {escape(why)}'


def _kind(texts: Iterable[str]) -> str:
    """Return the class of a column: number where all its texts are numbers."""
    return "number" if all(map(_is_number, texts)) else ""


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "").replace("%", "").split("+-")[0])
    except ValueError:
        return False
    return True


PAGE, FACTS, PARTS = "index.html", "figures.json", "parts"
Progress = Callable[[str, int | None], AbstractContextManager[Show]]


def reproduce(
    systems: Sequence[int],
    folder: str | Path,
    progress: Progress,
    *,
    quick: bool = False,
    seed: int = 1,
    report: Report = FIVE_SYSTEMS,
) -> list[Chapter]:
    """Make every figure of the chapters, or take it from an earlier run, and write the page into the folder."""
    folder = Path(folder)
    make_folder(folder / PARTS)
    chapters = [_run_chapter(report, number, folder, progress, quick, seed) for number in systems]
    write(folder / PAGE, page(chapters, note(), report))
    write(folder / FACTS, json.dumps(_facts(chapters, quick, seed, report), indent=1))
    return chapters


def _run_chapter(report: Report, number: int, folder: Path, progress: Progress, quick: bool, seed: int) -> Chapter:
    system = import_module(f"mdplay.lab.reproduction.{report.modules[number]}")
    steps: list[Step] = system.steps(quick, seed)
    made = []
    for step in steps:
        with progress(f"{report.unit} {number}: {step.name}", step.work) as show:
            made.append(run_step(step, folder / PARTS, show))
    facts = json.loads(json.dumps({figure.name: figure.figure.facts for figure in made}))  # as if read back
    return Chapter(number, system.TITLE, system.headline(facts), made, system.claims(facts))


def note() -> str:
    """Return the versions behind the figures."""
    names = ("numpy", "numba", "scipy", "matplotlib")
    packages = ", ".join(f"{name} {version(name)}" for name in names)
    machine = f"{platform.machine()} {sys.platform}"
    return f"mdplay {__version__}, Python {platform.python_version()}, {packages}, {machine}"


def _facts(chapters: Sequence[Chapter], quick: bool, seed: int, report: Report) -> dict[str, Any]:
    return {
        "versions": note(),
        "quick": quick,
        "seed": seed,
        f"{report.unit}s": {
            str(chapter.number): {
                "title": chapter.title,
                "headline": chapter.headline,
                "claims": asdict(table(chapter.claims, report.source)),
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
