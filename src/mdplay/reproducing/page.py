"""The page: all figures in one HTML file that needs nothing from anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from mdplay.plots import data_url
from mdplay.reproducing.steps import Made, ResultTable, Row

STYLE = """
:root { --ground: #fbf8f3; --card: #ffffff; --ink: #3b342b; --faint: #857a6b; --line: #e4dccf; --accent: #c03f24; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #15181c; --card: #20242a; --ink: #e9e6e0; --faint: #98a0ab; --line: #353b44;
    --accent: #f2694a; }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
body { margin: 0; background: var(--ground); color: var(--ink); line-height: 1.55;
  font: 17px/1.55 system-ui, "Helvetica Neue", Arial, sans-serif; }
main, header, footer { max-width: 980px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 48px; }
h1 { font-size: 2.3rem; line-height: 1.15; margin: 0 0 .4em; letter-spacing: -.02em; }
h2 { margin: 2.4em 0 .6em; font-size: 1.5rem; border-top: 1px solid var(--line); padding-top: 1.2em; }
h3 { margin: 0 0 .5em; font-size: 1.1rem; }
nav { display: flex; flex-wrap: wrap; gap: .4em 1.2em; margin: 1.2em 0; }
a { color: var(--accent); text-decoration: none; } a:hover { text-decoration: underline; }
.headline { font-size: 1.1rem; border-left: 4px solid var(--accent); padding-left: .8em; }
section.figure { background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: 22px;
  margin: 18px 0; overflow: hidden; }
section.figure p { max-width: 70ch; }
img, svg.mdplay { max-width: 100%; height: auto; display: block; margin: 12px auto; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: 12px 0; font-variant-numeric: tabular-nums; font-size: .92rem; }
th, td { padding: 5px 12px; border-bottom: 1px solid var(--line); white-space: nowrap; text-align: left; }
td.number, th.number { text-align: right; }
code { font: .85rem ui-monospace, "DejaVu Sans Mono", monospace; }
.command { display: block; margin-top: 14px; padding: 9px 12px; border-radius: 8px; background: var(--ground);
  color: var(--faint); overflow-x: auto; white-space: pre; }
footer { color: var(--faint); padding: 40px 20px 60px; font-size: .9rem; }
@media (max-width: 480px) { body { font-size: 16px; } h1 { font-size: 1.7rem; } section.figure { padding: 14px; } }
"""


@dataclass(frozen=True)
class Chapter:
    """One system: its number, its title, its headline and its figures."""

    number: int
    title: str
    headline: str
    figures: Sequence[Made]


def page(chapters: Sequence[Chapter], note: str) -> str:
    """Return the whole page as HTML."""
    links = "".join(f'<a href="#system-{c.number}">{c.number}. {escape(c.title)}</a>' for c in chapters)
    body = "".join(map(_chapter, chapters))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="data:,">'
        f"<title>mdplay: five systems</title><style>{STYLE}</style></head><body>"
        "<header><h1>Five systems, made anew</h1><p>Every figure here was computed by the run that wrote it; "
        f"under each stands the command that gives the same.</p><nav>{links}</nav></header>"
        f"<main>{body}</main><footer>{escape(note)}</footer></body></html>\n"
    )


def _chapter(chapter: Chapter) -> str:
    figures = "".join(map(_figure, chapter.figures))
    return (
        f'<h2 id="system-{chapter.number}">{chapter.number}. {escape(chapter.title)}</h2>'
        f'<p class="headline">{escape(chapter.headline)}</p>{figures}'
    )


def _figure(made: Made) -> str:
    figure = made.figure
    parts = [f"<h3>{escape(figure.title)}</h3>", *(f"<p>{escape(p)}</p>" for p in figure.text.split("\n") if p)]
    if figure.picture is not None:
        light, dark = map(data_url, figure.picture)
        parts.append(
            f'<picture><source srcset="{dark}" media="(prefers-color-scheme: dark)">'
            f'<img src="{light}" alt="{escape(figure.title)}"></picture>'
        )
    if figure.drawing is not None:
        parts.append(figure.drawing)
    if figure.table is not None:
        parts.append(_table(figure.table))
    parts.append(f'<code class="command">{escape(figure.command)}</code>')
    return f'<section class="figure" id="{escape(made.name)}">{"".join(parts)}</section>'


def _table(table: ResultTable) -> str:
    """Return a table; columns of numbers are set to the right."""
    numbers = [all(_is_number(row[i]) for row in table.rows) for i in range(len(table.header))]
    header, *rows = (
        _row(tag, row, numbers) for tag, row in [("th", table.header), *(("td", r) for r in table.rows)]
    )
    return f'<div class="scroll"><table><thead>{header}</thead><tbody>{"".join(rows)}</tbody></table></div>'


def _row(tag: str, texts: Row, numbers: Sequence[bool]) -> str:
    cells = (_cell(tag, text, right) for text, right in zip(texts, numbers, strict=True))
    return f"<tr>{''.join(cells)}</tr>"


def _cell(tag: str, text: str, right: bool) -> str:
    kind = ' class="number"' if right else ""
    return f"<{tag}{kind}>{escape(text)}</{tag}>"


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "").replace("%", "").split("+-")[0])
    except ValueError:
        return False
    return True
