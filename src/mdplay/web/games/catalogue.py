"""The games on offer: built-in ones by name, installed ones, and a user's own from the command line.

A text from outside is an id of this list and parameters of that game, nothing else: ``registry.make`` opens files
that a text names, so only the words of the command line reach it.

Agents are named by an id of a list and one number, never by a text.  Agents that were trained on the page have ids
of their own; the newest few are kept.
"""

from __future__ import annotations

import inspect
import re
import sys
import threading
import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from mdplay import FormatError, Game, Learned, Position, make
from mdplay.compiling.identity import Untold, data_files, file_hash, source_files
from mdplay.game import num_players
from mdplay.naming.about import About, about, built_in_games
from mdplay.naming.registry import extra_names, maker, names
from mdplay.naming.specs import Parameter, parameters, read_parameters, read_spec
from mdplay.rng import Random

SIMULATIONS = {
    "name": "simulations",
    "title": "simulations",
    "values": [10, 100, 1_000, 10_000, 100_000],
    "default": 1_000,
}
DEPTH = {"name": "depth", "title": "plies", "values": [1, 2, 4, 6, 8], "default": 4}
MOST = {"mcts": 200_000, "heuristic": 10}
TITLES = {"perfect": "Perfect play", "network": "Learned network"}
NEEDS_A_FILE = {"network"}  # agents of a game that need a file: the evaluator plays instead


def rules_of(entry: Entry, game: Game[Any]) -> list[str]:
    """Return the rules in paragraphs: of the description, or else the docstring of the class without drawings."""
    doc = inspect.getdoc(type(game)) or ""
    is_written = not doc.startswith(f"{type(game).__name__}(")  # a dataclass without one gets its fields
    text = entry.about.rules or (doc if is_written else "")
    paragraphs = (part for part in text.strip().split("\n\n") if not part.startswith(" "))
    return [" ".join(part.replace("``", "").split()) for part in paragraphs if part.strip()]


def agents_of(game: Game[Any], solver: str) -> list[dict[str, Any]]:
    """Return who may play a game, with the settings that the page offers."""
    found = [_agent("perfect")] if solver in ("table", "proof", "book") else []
    found += [_agent(solver)] if solver in NEEDS_A_FILE else []
    found.append({"id": "mcts", "title": "Tree search", "setting": SIMULATIONS})
    if game.has_heuristic and num_players(game) == 2:
        found.append({"id": "heuristic", "title": "Look-ahead", "setting": DEPTH})
    brought = [name for name in extra_names(game, "agents") if name not in NEEDS_A_FILE and name != "perfect"]
    return [*found, *map(_agent, brought), {"id": "random", "title": "Random", "setting": None}]


def agents_that_learned(listed: list[dict[str, str]], game: str, params: str) -> list[dict[str, Any]]:
    """Return, of those who learned on the page, the agents that play a game."""
    found = [one for one in listed if (one["game"], one["params"]) == (game, params)]
    return [{"id": one["id"], "title": one["title"], "setting": None} for one in found]


def _agent(name: str) -> dict[str, Any]:
    return {"id": name, "title": TITLES.get(name, name.capitalize()), "setting": None}


def spec_of(agent: str, setting: int) -> str:
    """Return the spec of an agent of the list, for matches; the number was checked."""
    options = {"mcts": f":simulations={setting}", "heuristic": f":depth={setting}"}
    return agent + options.get(agent, "")


KEPT = 8


class LearnedAgents:
    """What was learned on the page, to be played with: the newest few, by ids of our own."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._lock = threading.Lock()
        self._count = 0
        self._learned: OrderedDict[str, tuple[str, str, str, Learned]] = OrderedDict()

    def keep(self, entry: Entry, params: str, title: str, learned: Learned) -> str:
        """Keep what was learned and return its id."""
        with self._lock:
            self._count += 1
            name = f"learned-{self._count}"
            self._learned[name] = entry.id, params, title, learned
            while len(self._learned) > KEPT:
                self._learned.popitem(last=False)
        self._changed()
        return name

    def listed(self) -> list[dict[str, str]]:
        """Return who learned what."""
        with self._lock:
            kept = [(name, *what[:3]) for name, what in self._learned.items()]
        return [dict(zip(("id", "game", "params", "title"), one, strict=True)) for one in kept]

    def act(self, name: str, state: Any, rng: Random) -> int:
        """Let what was learned choose an action."""
        return int(self._learned[name][3].agent().act(state, rng))


MAX_ID_LETTERS = 80  # of an address


@dataclass(frozen=True)
class FileContent:
    """The content of a file, as a hash, and the facts of the file by which an unchanged one is known at once."""

    facts: tuple[int, ...]
    hash: str

    @classmethod
    def of(cls, path: Path) -> FileContent:
        """Return the content of a file now."""
        return cls(_facts(path), file_hash(path))

    def is_in(self, path: Path) -> bool:
        """Return whether a file has this content; one that is gone has it no longer."""
        try:
            return self.facts == _facts(path) or self.hash == file_hash(path)
        except (OSError, FormatError):
            return False


def _facts(path: Path) -> tuple[int, ...]:
    facts = path.stat()
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns


@dataclass(frozen=True)
class Entry:
    """A game on offer: its id, how it is presented, and the text that makes it."""

    id: str
    about: About
    spec: str
    own: bool = False
    sources: Mapping[Path, FileContent] = field(
        default_factory=dict, compare=False
    )  # as they were when it was read

    @property
    def has_changed(self) -> bool:
        """Whether a file of the game has another content than when it was read: the rules here are then old."""
        return any(not kept.is_in(path) for path, kept in self.sources.items())

    @property
    def parameters(self) -> list[Parameter]:
        """The parameters that the page may set."""
        return parameters(type(make(self.spec)) if self.own else maker(self.spec))

    @cached_property
    def solver(self) -> str:
        """How the game is evaluated, in a word."""
        if self.about.evaluator:
            return self.about.evaluator
        from mdplay.playing.evaluators import evaluator_method  # late: it brings compiled code

        return evaluator_method(self.make())

    def make(self, params: str = "") -> Game[Any]:
        """Return the game with parameters; raise MdplayError if they are none of its."""
        return made(self.spec, self.own, params)

    def told(self, params: str = "") -> dict[str, Any]:
        """Return the game as data, of which ``made`` makes it again in another process."""
        return {"name": self.spec, "own": self.own, "params": params}

    def position(self) -> Position[Any]:
        """Return the position of the first page."""
        game = self.make()
        return Position.parse(game, self.about.position) if self.about.position else Position.start(game)


@lru_cache(maxsize=64)
def made(name: str, own: bool, params: str) -> Game[Any]:
    """Return a game: of a spec of the command line, or of a registered name, which opens no file."""
    if not own:
        chosen = maker(name)
        return chosen(**read_parameters(parameters(chosen), params))
    game = make(name)
    given = read_parameters(parameters(type(game)), params)
    return type(game)(**(_fields(game) | given)) if given else game


def _fields(game: Game[Any]) -> dict[str, Any]:
    return {parameter.name: getattr(game, parameter.name) for parameter in parameters(type(game))}


class Catalogue(dict[str, Entry]):
    """The games on offer by id, those of the command line first; ``tried``: a user's were tried before."""

    def __init__(self, specs: Iterable[str] = (), *, tried: bool = False) -> None:
        super().__init__()
        registered = sorted(names(), key=lambda name: about(name).order)
        named = [spec for spec in specs if spec not in registered]
        chosen = [spec for spec in specs if spec in registered]
        for identifier, spec in zip(own_ids(named), named, strict=True):
            self[identifier] = own_entry(identifier, spec, tried)
        for name in [*chosen, *(name for name in registered if name not in chosen)]:
            self[name] = Entry(name, about(name), name)


def own_ids(specs: Iterable[str]) -> list[str]:
    """Return the ids of games of the command line, by their classes and options: their order does not matter.

    Where two are called alike, the file tells them apart, and where that is called alike, a hash of its path.
    """
    told = [_told(spec) for spec in specs]
    for length in (1, 2, 3):
        ids = [_slug("own", *parts[:length][::-1], options) for parts, options in told]
        of = {one: {whole for whole, other in zip(told, ids, strict=True) if other == one} for one in ids}
        if all(len(games) == 1 for games in of.values()):
            return ids
    return [f"own-{_hash(repr(one))}" for one in told]  # distinguish games whose shortened names are equal


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:8]


def _told(spec: str) -> tuple[tuple[str, ...], str]:
    """Return what names a game, the shortest first, and its options."""
    read = read_spec(spec)
    if read.file is None:
        return (read.name,), read.options
    kind = type(make(spec)).__name__  # first: it says what is wrong with the file
    path = read.file.resolve()
    return (kind, path.stem, _hash(str(path))), read.options


def _slug(*parts: str) -> str:
    """Return parts of a name as one that an address can have."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", "-".join(part for part in parts if part))
    plain = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:MAX_ID_LETTERS]


def contents(path: Path) -> dict[Path, FileContent]:
    """Return the content of a game's file, of the users' files that it imports and of the data files they name.

    A data file whose path the source does not name is left out.
    """
    found = {path.absolute()}
    with suppress(OSError, SyntaxError, ValueError, FormatError, RuntimeError):
        found |= set(source_files(path))
        for file in list(found):
            with suppress(Untold):
                found |= set(data_files(file))
    return {file: FileContent.of(file) for file in sorted(found) if file.is_file()}


def own_entry(identifier: str, spec: str, tried: bool) -> Entry:
    """Return a game of the command line: a user's file, or a game with parameters."""
    read = read_spec(spec)
    sources = {} if read.file is None else contents(read.file)
    game = make(spec)
    if read.file is not None and not tried:
        from mdplay.checking.check import try_game  # late: the page of our own games needs no checks
        from mdplay.compiling.contract import wrap_rule_errors

        try_game(game)
        with wrap_rule_errors():
            Position.start(game).svg  # noqa: B018 - one picture that fails would take the list of all games with it
    elif read.file is None and read.name in built_in_games():
        base = about(read.name)
        given = About(f"{base.title}, {read.options}", base.summary, sides=base.sides, piece=base.piece)
        return Entry(identifier, given, spec, own=True)
    found = about(identifier, read.file.parent, type(game).__name__) if read.file else About(identifier)
    given = replace(
        found,
        title=_title(type(game)) if found.title == identifier else found.title,
        summary=found.summary or _first_line(game),
        sides=found.sides if found.sides != About.sides else _sides(game),
    )
    return Entry(identifier, given, spec, own=True, sources=sources)


def _title(kind: type) -> str:
    """Return the name of a class as words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind.__name__)


def _sides(game: Game[Any]) -> tuple[str, str]:
    return ("Red", "Blue") if num_players(game) == 2 else ("You", "")


def _first_line(game: Game[Any]) -> str:
    """Return what the class, or its file, says of itself, without the docstring that a dataclass generates."""
    kind = type(game)
    own = (inspect.getdoc(kind) or "").partition("\n")[0]
    line = own if not own.startswith(f"{kind.__name__}(") else ""
    line = line or (inspect.getdoc(sys.modules.get(kind.__module__)) or "").partition("\n")[0]
    return line[:200] or "Your own game."
