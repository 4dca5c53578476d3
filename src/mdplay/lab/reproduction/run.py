"""Run the five systems and write the JSON document and the page.

The page is one HTML file without external resources, with all claims and figures, for light and dark, screen and
paper.  Green marks what is best or equal, amber what differs; red and blue are the players.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable, Iterable, Sequence
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

STYLE = """
:root { --ground: #fbf8f3; --card: #ffffff; --ink: #332d25; --faint: #6d6355; --line: #e4dccf; --accent: #b23a20;
  --good: #2c7a4b; --better: #1f6a8a; --other: #96600a; --wash: #f4efe6; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ground: #15181c; --card: #20242a; --ink: #e9e6e0; --faint: #a3abb6; --line: #353b44;
    --accent: #f58a70; --good: #6fcf92; --better: #74c0e0; --other: #e8b45a; --wash: #1a1e23; }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 16px; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 17px/1.55 system-ui, "Helvetica Neue", Arial, sans-serif; }
.sheet { max-width: 1000px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 40px; }
header > p { max-width: 68ch; }
h1 { font-size: 2.4rem; line-height: 1.12; margin: 0 0 .4em; letter-spacing: -.02em; }
h2 { margin: 2.2em 0 .6em; font-size: 1.5rem; line-height: 1.25; border-top: 1px solid var(--line);
  padding-top: 1.1em; }
header h2 { border: 0; margin: 1.2em 0 .2em; padding: 0; font-size: 1.25rem; }
h3 { margin: 0 0 .5em; font-size: 1.12rem; line-height: 1.3; }
a { color: var(--accent); text-decoration: none; } a:hover { text-decoration: underline; }
nav { font-size: .86rem; line-height: 1.4; padding: 18px 20px 0; max-width: 1000px; margin: 0 auto; }
nav summary { cursor: pointer; font-weight: 600; }
nav ol { padding-left: 1.4em; margin: .6em 0; } nav ul { list-style: none; padding: 0; margin: .2em 0 .8em; }
nav ul a { color: var(--faint); display: block; padding: 2px 0; }
.shown { padding-left: 1.3em; } .shown li { margin-bottom: .8em; } .shown a { font-weight: 600; }
.shown p { margin: .1em 0 0; max-width: 72ch; }
.tally { color: var(--faint); font-size: .84rem; margin-left: .4em; }
.headline { font-size: 1.08rem; border-left: 4px solid var(--accent); padding-left: .8em; max-width: 74ch; }
section.figure { background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: 22px;
  margin: 18px 0; overflow: hidden; }
section.figure > p { max-width: 72ch; margin: 0 0 .8em; }
img { width: 100%; max-width: 760px; height: auto; display: block; margin: 12px auto; }
.drawings { display: flex; flex-wrap: wrap; gap: 16px 26px; justify-content: center; align-items: flex-start; }
.drawings figure { margin: 8px 0; max-width: 100%; }
.drawings figcaption { color: var(--faint); font-size: .88rem; line-height: 1.4; text-align: center;
  max-width: 42ch; margin: 6px auto 0; }
svg.mdplay { display: block; margin: 0 auto; height: auto; max-width: 100%; }
.mdplay .move { cursor: default; } .mdplay .ghost, .mdplay .open { display: none; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: 12px 0; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: 5px 12px; border-bottom: 1px solid var(--line); white-space: nowrap; text-align: left;
  vertical-align: top; }
thead th { color: var(--faint); font-weight: 600; }
td.number, th.number { text-align: right; }
table.prose { width: 100%; line-height: 1.45; }
table.prose th, table.prose td { white-space: normal; overflow-wrap: anywhere; padding: 8px 12px 8px 0; }
table.prose td:nth-child(1) { width: 30%; } table.prose td:nth-child(2) { width: 27%; font-weight: 600; }
table.prose td:nth-child(3) { width: 23%; color: var(--faint); } table.prose td:nth-child(4) { width: 20%; }
.mark { font-weight: 700; white-space: nowrap; } .equal { color: var(--good); } .better { color: var(--better); }
.differs { color: var(--other); }
code { font: .82rem/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
.command { display: block; margin-top: 14px; padding: 9px 12px; border-radius: 8px; background: var(--wash);
  color: var(--faint); white-space: pre-wrap; overflow-wrap: anywhere; }
footer { color: var(--faint); padding: 40px 0 60px; font-size: .88rem; }
@media (min-width: 1320px) {
  nav { position: fixed; top: 0; bottom: 0; left: 0; width: 290px; padding: 40px 18px 20px 28px; overflow-y: auto;
    margin: 0; }
  .sheet { margin-left: 310px; max-width: 1040px; }
}
@media (max-width: 1319px) { nav ul { display: none; } }
@media (max-width: 640px) {
  body { font-size: 16px; } h1 { font-size: 1.8rem; } section.figure { padding: 14px; } .sheet { padding: 0 12px; }
  table.prose thead { display: none; }
  table.prose tr { display: block; border-bottom: 1px solid var(--line); padding: 10px 0; }
  table.prose tbody td { display: block; width: auto; border: 0; padding: 2px 0; }
  table.prose td:nth-child(n) { width: auto; }
  table.prose td::before { content: attr(data-label) ": "; color: var(--faint); font-weight: 400;
    font-size: .84rem; }
}
@media print {
  :root { --ground: #fff; --card: #fff; }
  body { font-size: 10.5pt; } nav { display: none; } .sheet { max-width: none; padding: 0; }
  header { padding-top: 0; } h2 { break-after: avoid; } h3 { break-after: avoid; }
  section.figure { border: 0; border-top: 1px solid var(--line); border-radius: 0; padding: 12px 0;
    overflow: visible; }
  tr, figure, img { break-inside: avoid; } .scroll { overflow: visible; } img { max-width: 15cm; }
  th, td { white-space: normal; padding: 3px 8px; } a { color: inherit; }
}
"""


SIGNS = dict(zip(MARKS, ("=", "+", "≠"), strict=True))  # colour is not all that tells
LEAD = (
    "Five reports on games and planning, computed again. Every number below was computed by the run that wrote "
    "this page, and every line of a report stands beside what came out here: equal, better, or different and why."
)
HOW = "The command under each figure gives the same."


@dataclass(frozen=True)
class Chapter:
    """One system: its number, its title, its headline, its figures, and the report's claims."""

    number: int
    title: str
    headline: str
    figures: Sequence[Made]
    claims: Sequence[Claim] = ()


def page(chapters: Sequence[Chapter], note: str) -> str:
    """Return the whole page as HTML."""
    shown = "".join(map(_summary, chapters))
    contents = "".join(map(_contents, chapters))
    body = "".join(map(_chapter, chapters))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'
        f"<title>mdplay: five systems</title><style>{STYLE}</style></head><body>"
        f'<nav aria-label="Contents"><details open><summary>Contents</summary><ol>{contents}</ol></details></nav>'
        f'<div class="sheet"><header><h1>Five systems, made anew</h1><p>{LEAD} {HOW}</p>'
        f'<h2 id="shown">What was shown</h2><ol class="shown">{shown}</ol></header>'
        f"<main>{body}</main><footer>{escape(note)}</footer></div></body></html>\n"
    )


def _summary(chapter: Chapter) -> str:
    marks = f'<span class="tally">{escape(tally(chapter.claims))}</span>' if chapter.claims else ""
    link = f'<a href="#system-{chapter.number}">{escape(chapter.title)}</a>'
    return f"<li>{link} {marks}<p>{escape(chapter.headline)}</p></li>"


def _contents(chapter: Chapter) -> str:
    links = [(f"claims-{chapter.number}", "What the report says")] if chapter.claims else []
    links += [(made.name, made.figure.title) for made in chapter.figures]
    listed = "".join(f'<li><a href="#{escape(name)}">{escape(title)}</a></li>' for name, title in links)
    return f'<li><a href="#system-{chapter.number}">{escape(chapter.title)}</a><ul>{listed}</ul></li>'


def _chapter(chapter: Chapter) -> str:
    figures = "".join(map(_figure, chapter.figures))
    return (
        f'<h2 id="system-{chapter.number}">{chapter.number}. {escape(chapter.title)}</h2>'
        f'<p class="headline">{escape(chapter.headline)}</p>{_claims(chapter)}{figures}'
    )


def _claims(chapter: Chapter) -> str:
    if not chapter.claims:
        return ""
    title = "<h3>What the report says, and what came out here</h3>"
    counted = f"<p>{len(chapter.claims)} claims: {escape(tally(chapter.claims))}.</p>"
    shown = _table(table(chapter.claims))
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


SYSTEMS = {1: "dots_and_boxes", 2: "anti_tic_tac_toe", 3: "twenty48", 4: "connect_four", 5: "qubic"}
PAGE, FACTS, PARTS = "index.html", "figures.json", "parts"
Progress = Callable[[str, int | None], AbstractContextManager[Show]]


def reproduce(
    systems: Sequence[int], folder: str | Path, progress: Progress, *, quick: bool = False, seed: int = 1
) -> list[Chapter]:
    """Make every figure of the systems, or take it from an earlier run, and write the page into the folder."""
    folder = Path(folder)
    make_folder(folder / PARTS)
    chapters = [_run_chapter(number, folder, progress, quick, seed) for number in systems]
    write(folder / PAGE, page(chapters, note()))
    write(folder / FACTS, json.dumps(_facts(chapters, quick, seed), indent=1))
    return chapters


def _run_chapter(number: int, folder: Path, progress: Progress, quick: bool, seed: int) -> Chapter:
    system = import_module(f"mdplay.lab.reproduction.{SYSTEMS[number]}")
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
