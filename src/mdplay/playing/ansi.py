"""Boards in colour: the marks of either player, tiles by their value, and what the last event changed.

It works on the picture that a game draws, so a game needs to know nothing of terminals: X and O are the players'
marks, bare numbers name free places (or are tiles, in a game for one), and a character that differs from the
picture before is new.
"""

from __future__ import annotations

import re

import click

MARKS = {"X": "red", "O": "yellow"}
TILES = ("white", "cyan", "blue", "green", "yellow", "magenta", "red")
TOKEN = re.compile(r"\d+|[XO]\b|-+|\S")


def paint(picture: str, before: str | None = None, *, tiles: bool = False) -> str:
    """Return the picture with colours for a terminal; what differs from ``before`` is shown in reverse."""
    old = (before or picture).splitlines()
    lines = picture.splitlines()
    if [len(line) for line in old] != [len(line) for line in lines]:
        old = lines
    return "\n".join(_paint_line(line, earlier, tiles) for line, earlier in zip(lines, old, strict=True))


def _paint_line(line: str, before: str, tiles: bool) -> str:
    def style(found: re.Match[str]) -> str:
        changed = not tiles and found[0] != before[found.start() : found.end()]
        return _paint_token(found[0], tiles, changed)

    return TOKEN.sub(style, line)


def _paint_token(token: str, tiles: bool, changed: bool) -> str:
    if token.isdecimal() and tiles:
        return click.style(token, fg=TILES[(int(token).bit_length() - 2) % len(TILES)], bold=True)
    if token.isdecimal() or token == ".":
        return click.style(token, dim=True)
    return click.style(token, fg=MARKS.get(token), bold=token in MARKS, reverse=changed)
