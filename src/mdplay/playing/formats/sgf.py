"""SGF (FF[4]) in the manner of Little Golem, for games whose moves alone tell the game.

    (;FF[4]GN[othello:side=8,discs=False]EV[cup]PB[mcts]PW[random]RE[B+]SO[mdplay];B[d3];W[c3] ...)

Moves are in the game's own notation, B those of player 0 and W those of player 1; a text whose first move is W, as
in Little Golem's Hex, has them the other way round.  Only the main line is read.  ``RE``: ``B+``, ``B+3`` by so
many points, ``0`` a draw, ``B+F`` the other's agent failed (``GC`` says how), ``B+R`` resigned, ``Void`` called
off, ``?`` unfinished.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar

from mdplay.errors import FormatError
from mdplay.game import Game, num_players
from mdplay.naming.notation import event_text
from mdplay.naming.registry import text_of
from mdplay.playing.formats.conversion import ForeignFormat, from_the_start
from mdplay.playing.records import Record, forfeited

COLOURS = "BW"
HEADERS = {"event": "EV", "date": "DT", "site": "PC", "round": "RO", "comment": "C"}
PASSES = ("", "pass", "tt")
TOKEN = re.compile(r"\s*(?:([();])|([A-Z]+)|\[((?:[^\]\\]|\\.)*)\])", re.DOTALL)
Node = dict[str, str]  # the first value of each property


class SGF(ForeignFormat):
    """SGF of one game."""

    ending: ClassVar[str] = ".sgf"

    def __init__(self, game: Game[Any]) -> None:
        super().__init__(game)
        if num_players(game) != 2 or game.has_outcomes:
            raise FormatError("SGF is for games of two players without chance")

    def dump(self, record: Record) -> str:
        """Return a game as one line of SGF."""
        position = from_the_start(record, "sgf").replay().positions
        nodes = []
        for before, after in pairwise(position):
            nodes.append(f";{COLOURS[before.mover]}[{event_text(self.game, before.state, after.event)}]")
        head: Node = {"FF": "4", "GN": text_of(self.game), "PB": record.agents[0], "PW": record.agents[1]}
        head |= {HEADERS[name]: value for name, value in record.headers if name in HEADERS}
        head |= {"RE": _result(record), "SO": "mdplay"} | ({"GC": record.reason} if record.reason else {})
        return (
            "(;" + "".join(f"{name}[{_escaped(value)}]" for name, value in head.items()) + "".join(nodes) + ")\n"
        )

    def load(self, text: str) -> list[Record]:
        """Return the main lines of all games of a text."""
        found = [self._game(number, nodes) for number, nodes in enumerate(main_lines(text), start=1)]
        if not found:
            raise FormatError("no game in SGF, which begins with (;")
        return found

    def _game(self, number: int, nodes: list[Node]) -> Record:
        place, head = f"game {number}", nodes[0]
        moves = [(name, node[name]) for node in nodes for name in COLOURS if name in node]
        first, second = ("B", "W") if not moves or moves[0][0] == "B" else ("W", "B")
        last = moves.pop()[0] if moves and moves[-1][1].lower() == "resign" else None
        moves = [(colour, move) for colour, move in moves if move.lower() not in PASSES]
        agents = head.get(f"P{first}", "?"), head.get(f"P{second}", "?")
        record = self.replayed(place, [move for _, move in moves], agents)
        self._check_colours(place, record, [colour == second for colour, _ in moves])
        known = [(name, head[key]) for name, key in sorted(HEADERS.items()) if key in head]
        return _ended(place, replace(record, headers=tuple(known)), head, first, last)

    def _check_colours(self, place: str, record: Record, movers: list[bool]) -> None:
        positions = record.replay().positions
        for number, (position, mover) in enumerate(zip(positions, movers, strict=False), start=1):
            if position.mover != mover:
                raise FormatError(f"{place}, move {number}: the other player moves here")


def _result(record: Record) -> str:
    if record.result is None:
        return "?"
    if record.by_limit:
        return "Void"
    if record.forfeit is not None:
        return f"{COLOURS[1 - record.forfeit]}+{'R' if record.reason == 'resigned' else 'F'}"
    if record.result == 0:
        return "0"
    points = f"{abs(record.result):.10g}" if abs(record.result) != 1 or record.game.has_reward else ""
    return f"{COLOURS[int(record.result < 0)]}+{points}"


def _ended(place: str, record: Record, head: Node, first: str, resigned: str | None) -> Record:
    """Return a record with its end as the text tells it; raise FormatError if the moves tell another one."""
    told = head.get("RE", "?")
    end = record.replay()
    if record.result is not None:
        winner = "" if record.result == 0 else ("B" if (record.result > 0) == (first == "B") else "W")
        if told not in ("", "?") and told.partition("+")[0].upper() not in (
            (winner,) if winner else ("0", "DRAW")
        ):
            raise FormatError(f"{place}: its moves lead to another result than RE[{told[:20]}]")
        return record
    winner, plus, how = told.partition("+")
    if told == "Void":
        return replace(record, result=end.total_if_endless, by_limit=True)
    if resigned is None and not (plus and winner in tuple(COLOURS) and how[:1] in ("R", "F", "T")):
        return record
    loser = int(resigned != first) if resigned else int(winner == first)
    reason = head.get("GC", "failed") if how[:1] == "F" else "resigned"
    return replace(record, result=forfeited(end, loser), forfeit=loser, reason=reason)


# ---------------------------------------------------------------- the syntax
def main_lines(text: str) -> Iterator[list[Node]]:
    """Yield the nodes of each game's main line, the first of them its head; raise FormatError."""
    nodes: list[Node] = []
    depth, closed, name = 0, False, ""
    for mark, word, value in _tokens(text):
        if mark == "(":
            depth += 1
        elif mark == ")":
            depth, closed = depth - 1, True
            if depth == 0:
                yield _whole(nodes)
                nodes, closed = [], False
        elif depth == 0:
            raise FormatError("SGF: something stands outside of a game")
        elif not closed and mark == ";":
            nodes.append({})
        elif not closed:
            name = word or name
            if not nodes or not name:
                raise FormatError("SGF: a property stands before the first node")
            if not word:
                nodes[-1].setdefault(name, re.sub(r"\\(.)", r"\1", value, flags=re.DOTALL))
        if depth < 0:
            raise FormatError("SGF: more brackets are closed than opened")
    if depth:
        raise FormatError("SGF: the last game is cut off")


def _whole(nodes: list[Node]) -> list[Node]:
    if not nodes:
        raise FormatError("SGF: a game without a node")
    return nodes


def _tokens(text: str) -> Iterator[tuple[str, str, str]]:
    at, text = 0, text.strip()
    while at < len(text):
        found = TOKEN.match(text, at)
        if found is None:
            raise FormatError(f"SGF: {text[at : at + 20]!r} makes no sense (character {at + 1})")
        at = found.end()
        yield found[1] or "", found[2] or "", found[3] or ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("]", "\\]")
