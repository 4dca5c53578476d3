"""Files of games in foreign formats: read, written and converted.

    convert("games.jsonl", "games.sgf")
    convert("openings.moves", "games.jsonl", game=make("connect-four"))

``mdplay`` is our own format, one record per line of JSON.  Other formats belong to games, which register them
(``mdplay.naming.registry.register_extras``: ``formats``).  The ending of a file's name selects its format
(``.json`` and ``.jsonl`` are ours) unless the caller names one.  A foreign format is a text that holds games; it
is read by replaying every move, names no file, and nothing in it is executed:

    class Moves(ForeignFormat):
        ending = ".moves"

        def dump(self, record): ...      one game as a text
        def load(self, text): ...        all games of a text

SGF (FF[4]) is written as on Little Golem, for games without chance:

    (;FF[4]GN[othello:side=8,discs=False]EV[cup]PB[mcts]PW[random]RE[B+]SO[mdplay];B[d3];W[c3] ...)

Moves are in the game's own notation, B those of player 0 and W those of player 1; a text whose first move is W, as
in Little Golem's Hex, has them the other way round.  Only the main line is read.  ``RE``: ``B+``, ``B+3`` by three
points, ``0`` a draw, ``B+F`` the opponent's agent failed (``GC`` gives the reason), ``B+R`` resigned, ``Void``
truncated, ``?`` unfinished.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

from mdplay.errors import FormatError, MdplayError, UnknownName, unknown
from mdplay.game import Game, num_players
from mdplay.naming.notation import event_text
from mdplay.naming.registry import extra_names, extras_of, from_text, text_of
from mdplay.playing.records import Record, forfeited, load_records, save_records
from mdplay.position import Position
from mdplay.storage.files import read_text, write

UNKNOWN_AGENT = "?"


class ForeignFormat:
    """The texts of one game; ``ending`` is how its files end."""

    ending: ClassVar[str]

    def __init__(self, game: Game[Any]) -> None:
        self.game = game

    def dump(self, record: Record) -> str:
        """Return a game as a text that ends with a line; raise FormatError if the format cannot hold it."""
        raise NotImplementedError

    def load(self, text: str) -> list[Record]:
        """Return the games of a text, or raise FormatError."""
        raise NotImplementedError

    def replayed(self, place: str, moves: Sequence[str], agents: tuple[str, ...] = ()) -> Record:
        """Return the record of a game by its moves; ``place`` tells in an error where it stands."""
        try:
            end = Position.start(self.game).play_all(moves)
        except MdplayError as error:
            raise FormatError(f"{place}: {error}") from None
        return Record(self.game, agents or (UNKNOWN_AGENT,) * num_players(self.game), end.events, end.result)


def from_the_start(record: Record, name: str) -> Record:
    """Return a record, or raise FormatError if it begins elsewhere than the game does."""
    if record.start is not None:
        raise FormatError(f"game {record.number} begins with a position, which the format {name} cannot hold")
    return record


OURS = "mdplay"
OUR_ENDINGS = (".json", ".jsonl")
NAMED_IN_SGF = re.compile(r"GN\[([\w-]+(?::[\w=,.-]*)?)\]")


def format_names(game: Game[Any]) -> list[str]:
    """Return the names of the formats in which games of a game can be written."""
    return [OURS, *extra_names(game, "formats")]


def load_games(path: str | Path, *, game: Game[Any] | None = None, format: str | None = None) -> list[Record]:
    """Return the games of a file; ``game`` may be left out where the file names a registered one."""
    if (format or _by_ending(path)) == OURS:
        return load_records(path, game)
    text = read_text(path)
    chosen = game or _named_in(text)
    if chosen is None:
        raise FormatError(f"{path} does not say of which game its games are; name the game")
    try:
        return _format(chosen, format, path).load(text)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None


def save_games(path: str | Path, records: Sequence[Record], *, format: str | None = None) -> None:
    """Write games to a file, atomically."""
    if (format or _by_ending(path)) == OURS:
        save_records(path, records)
        return
    if not records:
        raise FormatError("there is no game to write")
    made = _format(records[0].game, format, path)
    if other := next((record for record in records if record.game != made.game), None):
        raise FormatError(f"games of {made.game!r} and of {other.game!r} do not go into one file of this format")
    write(path, "".join(map(made.dump, records)))


def convert(
    source: str | Path,
    target: str | Path,
    *,
    game: Game[Any] | None = None,
    source_format: str | None = None,
    target_format: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> list[Record]:
    """Read the games of a file, write them to another one, and return them; ``headers`` are added to each."""
    records = load_games(source, game=game, format=source_format)
    added = headers or {}
    records = [replace(r, headers=tuple(sorted({**dict(r.headers), **added}.items()))) for r in records]
    save_games(target, records, format=target_format)
    return records


def _by_ending(path: str | Path) -> str | None:
    return OURS if Path(path).suffix.lower() in OUR_ENDINGS else None


def _format(game: Game[Any], name: str | None, path: str | Path) -> ForeignFormat:
    """Return the format of a name, or else of a file's ending; raise UnknownName if the game brings none such."""
    known: dict[str, type[ForeignFormat]] = extras_of(game, "formats")
    if name is not None:
        if name not in known:
            raise unknown("format", name, format_names(game))
        return known[name](game)
    ending = Path(path).suffix.lower()
    found = next((cls for cls in known.values() if cls.ending == ending), None)
    if found is None:
        endings: Iterable[str] = (*OUR_ENDINGS, *(cls.ending for cls in known.values()))
        raise UnknownName(f"{path}: {type(game).__name__} has no format of this ending; {', '.join(endings)}")
    return found(game)


def _named_in(text: str) -> Game[Any] | None:
    """Return the registered game that an SGF names, if it does."""
    found = NAMED_IN_SGF.search(text)
    try:
        return None if found is None else from_text(found[1])
    except MdplayError:
        return None


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
