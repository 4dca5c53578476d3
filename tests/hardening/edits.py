"""Edited rules: a number changes in what the rules of a game reach, and nothing that was kept may answer.

The game is Nim: take 1 to ``LIMIT`` of ten.  A kind of edit says where ``LIMIT`` stands: in a method of the state,
in a class that another one inherits from, in a data file ...  A channel is what keeps something between two runs:
compiled kernels, a saved solution, a network, an opening book, records, a file of results, a server that runs while
the file is edited, and a process in which a cell of a notebook is run again.  The program runs with the limit 1, then
with the limit 3, in the same folders.  The first run must answer rightly and leave its file.  The second answer must
be the one that a recursion over the rules gives, or a sentence that the rules have changed; what an old file says is
never right here, as the first player loses with the one and wins with the other.

    python -m tests.hardening.edits CHANNEL FILE FOLDER LIMIT       prints lines of JSON
"""

# ruff: noqa: E501  rules as texts, each on a line
from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

from tests.hardening.campaign import Tally
from tests.hardening.fork_server import Server
from tests.helpers import ROOT

SECONDS = 300
OLD, NEW = "1", "3"
GAME = '''"""Nim: take 1 to LIMIT of ten."""
import abc
import enum
import functools
import operator
import typing
from array import array
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Final, NamedTuple

import numpy as np

from mdplay import Game
{imports}

class State(NamedTuple):
    n: int
    player: int
{state}

{module}

@dataclass(frozen=True)
class G({base}):
    pile: int = 10
{body}
    def initial(self) -> State:
        return State(self.pile, 0)

    def legal(self, s: State) -> int:
        return (1 << min({limit}, s.n)) - 1

    def step(self, s: State, action: int) -> State:
        return State(s.n - action - 1, 1 - s.player)

    def result(self, s: State) -> int:
        return 2 * s.player - 1
'''
HELPER = "def most(n: int) -> int:\n    return LIMIT\n\n\nMOST = LIMIT\n"
CONSTANT = "    most_of: int = LIMIT\n"
METHOD = "    def most(self, n: int = 0) -> int:\n        return LIMIT\n"
PROPERTY = "    @property\n    def most(self) -> int:\n        return LIMIT\n"
AFTER = "    def __post_init__(self):\n        object.__setattr__(self, 'most', LIMIT)\n"
TABLE = "    @cached_property\n    def table(self) -> tuple[int, ...]:\n        return ({},)\n"
Kind = dict[str, str]


def _kind(limit: str, **parts: str) -> Kind:
    return {"imports": "", "state": "", "module": "", "base": "Game[State]", "body": "", "limit": limit, **parts}


KINDS: dict[str, Kind] = {
    # in the rules and the functions that they call
    "a number in a rule": _kind("LIMIT"),
    "a constant of the module": _kind("MOST", module="MOST = LIMIT\n"),
    "a function": _kind("most(s.n)", module=HELPER),
    "a function called by a function": _kind("outer(s.n)", module=HELPER + "def outer(n):\n    return most(n)\n"),
    "functions that call each other": _kind(
        "odd(4)", module="def odd(n):\n    return LIMIT if n < 2 else even(n - 1)\ndef even(n):\n    return odd(n - 1)\n"
    ),
    "a default": _kind("most(s.n)", module="def most(n, m=LIMIT):\n    return m\n"),
    "a keyword default": _kind("most(s.n)", module="def most(n, *, m=LIMIT):\n    return m\n"),
    "a closure": _kind("most(s.n)", module="def made(k):\n    def most(n):\n        return k\n    return most\nmost = made(LIMIT)\n"),
    "a closure in a closure": _kind(
        "most(s.n)", module="def made(k):\n    def inner():\n        return lambda n: k\n    return inner()\nmost = made(LIMIT)\n"
    ),
    "a lambda": _kind("most(s.n)", module="most = lambda n: LIMIT\n"),
    "a lambda in a tuple": _kind("F[1](s.n)", module="F = (lambda n: 1, lambda n: LIMIT)\n"),
    "the default of a lambda": _kind("most()", module="most = lambda m=LIMIT: m\n"),
    "a partial": _kind("most(s.n)", module="def two(k, n):\n    return k\nmost = functools.partial(two, LIMIT)\n"),
    "a cached function": _kind("most(s.n)", module="@functools.lru_cache\ndef most(n):\n    return LIMIT\n"),
    "a decorated function": _kind(
        "most(s.n)",
        module="def plus(k):\n    def wrap(f):\n        @functools.wraps(f)\n        def call(n):\n            return f(n) + k\n"
        "        return call\n    return wrap\n@plus(LIMIT)\ndef most(n):\n    return 0\n",
    ),
    "a function in a dict": _kind("D[0](s.n)", module=HELPER + "D = {0: most}\n"),
    "a function chosen by a condition": _kind(
        "most(s.n)", module="if LIMIT > 2:\n    def most(n):\n        return LIMIT\nelse:\n    def most(n):\n        return 1\n"
    ),
    "a function of an operator": _kind("pick((0, 1, 2, 3))", module="pick = operator.itemgetter(LIMIT)\n"),
    # values of the module
    "a tuple in a tuple": _kind("T[0][1][1]", module="T = ((1, (2, LIMIT)),)\n"),
    "a dict": _kind("D['a']", module="D = {'a': LIMIT}\n"),
    "a dict of tuples": _kind("D[1][1]", module="D = {1: (0, LIMIT)}\n"),
    "a list that was changed": _kind("D[0]", module="D = [1]\nD[0] = LIMIT\n"),
    "the size of a set": _kind("len(D)", module="D = frozenset(range(LIMIT))\n"),
    "the length of a text": _kind("len(TEXT)", module="TEXT = 'x' * LIMIT\n"),
    "bytes": _kind("DATA[0]", module="DATA = bytes([LIMIT])\n"),
    "a range": _kind("len(R)", module="R = range(LIMIT)\n"),
    "a float": _kind("int(F)", module="F = LIMIT / 1.0\n"),
    "an array of numpy": _kind("int(A[0])", module="A = np.array([LIMIT])\n"),
    "a number of numpy": _kind("int(A)", module="A = np.int64(LIMIT)\n"),
    "an array": _kind("A[0]", module="A = array('q', [LIMIT])\n"),
    "a final": _kind("MOST", module="MOST: Final = LIMIT\n"),
    "made by exec": _kind("MOST", module="exec('MOST = LIMIT')\n"),
    "a name for another": _kind("int(Most)", module="Most = LIMIT if True else 0\n"),
    # classes
    "a constant of a class": _kind("A.MOST", module="class A:\n    MOST = LIMIT\n"),
    "an inherited constant": _kind("B.MOST", module="class A:\n    MOST = LIMIT\nclass B(A):\n    pass\n"),
    "a constant inherited twice": _kind(
        "C.MOST", module="class A:\n    MOST = LIMIT\nclass B(A):\n    pass\nclass C(B):\n    pass\n"
    ),
    "a class in a class": _kind("A.B.MOST", module="class A:\n    class B:\n        MOST = LIMIT\n"),
    "a metaclass": _kind("A.MOST", module="class M(type):\n    MOST = LIMIT\nclass A(metaclass=M):\n    pass\n"),
    "an enumeration": _kind("E.MOST", module="class E(enum.IntEnum):\n    MOST = LIMIT\n"),
    "a property of an enumeration": _kind(
        "E.A.most", module="class E(enum.IntEnum):\n    A = 1\n" + PROPERTY
    ),
    "a static method": _kind("A.most()", module="class A:\n    @staticmethod\n    def most():\n        return LIMIT\n"),
    "a class method": _kind("A.most()", module="class A:\n    @classmethod\n    def most(cls):\n        return LIMIT\n"),
    "a named tuple": _kind("C.most_of", module="class P(NamedTuple):\n" + CONSTANT + "C = P()\n"),
    "a method of a named tuple": _kind("C.most()", module="class P(NamedTuple):\n    k: int = 1\n" + METHOD + "C = P()\n"),
    "a named tuple that is called": _kind(
        "C()", module="class P(NamedTuple):\n    k: int = 1\n    def __call__(self):\n        return LIMIT\nC = P()\n"
    ),
    "a dataclass": _kind("C.most_of", module="@dataclass(frozen=True)\nclass P:\n" + CONSTANT + "C = P()\n"),
    "an attribute of a dataclass": _kind(
        "C.most", module="@dataclass(frozen=True)\nclass P:\n    k: int = 1\n" + AFTER + "C = P()\n"
    ),
    "a method of a dataclass": _kind("C.most()", module="@dataclass(frozen=True)\nclass P:\n    k: int = 1\n" + METHOD + "C = P()\n"),
    "a factory of a dataclass": _kind(
        "C.t[0]", module="@dataclass(frozen=True)\nclass P:\n    t: tuple = field(default_factory=lambda: (LIMIT,))\nC = P()\n"
    ),
    "a dataclass that inherits": _kind(
        "C.most()", module="@dataclass(frozen=True)\nclass O:\n    k: int = 1\n" + METHOD + "@dataclass(frozen=True)\nclass P(O):\n    j: int = 2\nC = P()\n"
    ),
    "a dataclass in a dataclass": _kind(
        "C.p.most_of", module="@dataclass(frozen=True)\nclass P:\n" + CONSTANT + "@dataclass(frozen=True)\nclass Q:\n    p: P = P()\nC = Q()\n"
    ),
    "an object": _kind("C.most()", module="class A:\n" + METHOD + "C = A()\n"),
    # the state
    "a method of the state": _kind("s.most()", state=METHOD),
    "a property of the state": _kind("s.most", state=PROPERTY),
    "a static method of the state": _kind("s.most()", state="    @staticmethod\n    def most() -> int:\n        return LIMIT\n"),
    "a constant of the state": _kind("s.MOST", state="    MOST = LIMIT\n"),
    # the game
    "a class attribute": _kind("self.MOST", body="    MOST = LIMIT\n"),
    "a class variable": _kind("self.MOST", body="    MOST: ClassVar[int] = LIMIT\n"),
    "an attribute by its name": _kind("getattr(self, 'MOST')", body="    MOST: ClassVar[int] = LIMIT\n"),
    "a method": _kind("self.most(s.n)", body="    def most(self, n: int) -> int:\n        return LIMIT\n"),
    "a property": _kind("self.most", body=PROPERTY),
    "a property of a property": _kind("self.a", body="    @property\n    def a(self) -> int:\n        return self.most\n" + PROPERTY),
    "a table": _kind("self.table[0]", body=TABLE.format("LIMIT")),
    "a table by a class method": _kind(
        "self.table[0]", body="    @classmethod\n    def tab(cls) -> int:\n        return LIMIT\n" + TABLE.format("self.tab()")
    ),
    "set after it was made": _kind("self.most", body=AFTER),
    "a default parameter": _kind("self.most", body="    most: int = LIMIT\n"),
    "super": _kind(
        "self.most(s.n)",
        module="class Base(Game[State]):\n" + METHOD,
        base="Base",
        body="    def most(self, n: int) -> int:\n        return super().most(n)\n",
    ),
    "a base by its name": _kind(
        "self.most(s.n)",
        module="class Root(Game[State]):\n" + METHOD + "class Base(Root):\n    pass\n",
        base="Base",
        body="    def most(self, n: int) -> int:\n        return Base.most(self, n)\n",
    ),
    "a mixin": _kind("self.most(s.n)", module="class Mixin:\n" + METHOD, base="Mixin, Game[State]"),
    "a property of a mixin": _kind("self.most", module="class Mixin:\n" + PROPERTY, base="Mixin, Game[State]"),
    "a constant of a mixin": _kind("self.MOST", module="class Mixin:\n    MOST: ClassVar[int] = LIMIT\n", base="Mixin, Game[State]"),
    "another game": _kind(
        "OTHER.most(s.n)",
        module="@dataclass(frozen=True)\nclass H(Game[State]):\n    def initial(self) -> State:\n        return State(1, 0)\n"
        "    def legal(self, s: State) -> int:\n        return 1\n    def step(self, s: State, action: int) -> State:\n"
        "        return s\n" + METHOD + "OTHER = H()\n",
    ),
    # other files, and what is around the process
    "a helper": _kind("most(s.n)", imports="from NAME_helper import most\n"),
    "a helper's constant": _kind("NAME_helper.MOST", imports="import NAME_helper\n"),
    "a helper by a star": _kind("most(s.n)", imports="from NAME_helper import *\n"),
    "a helper in a package": _kind("NAME_package.sub.deep.most(s.n)", imports="import NAME_package.sub.deep\n"),
    "a helper imported by a table": _kind(
        "self.table[0]", body="    @cached_property\n    def table(self) -> tuple[int, ...]:\n        from NAME_helper import MOST\n        return (MOST,)\n"
    ),
    "a data file": _kind(
        "DATA[0]", imports="import json, pathlib\n", module="DATA = json.loads((pathlib.Path(__file__).parent / 'data.json').read_text())\n"
    ),
    "a data file of a table": _kind("self.table[0]", body=TABLE.format("int(open(__file__ + '.txt').read())")),
    "a data file in a rule": _kind("int(open(__file__ + '.txt').read())"),
    "the environment": _kind("MOST", imports="import os\n", module="MOST = int(os.environ['MOST'])\n"),
    "the environment in a table": _kind("self.table[0]", imports="import os\n", body=TABLE.format("int(os.environ['MOST'])")),
    "the environment in a rule": _kind("int(os.environ['MOST'])", imports="import os\n"),
}  # fmt: skip
WAYS = ("plain", "link", "same time", "standard name")  # how the file of the game is replaced
KEPT = {
    "solution": "kept.solution", "records": "kept.jsonl", "results": "kept.db", "network": "kept.network",
    "book": "kept.book", "kernels": "cache/kernels/*", "notebook": "", "page": "",
}  # fmt: skip
CHANNELS = tuple(KEPT)
HASHED = ("solution", "results", "network", "book")  # files that hold the identity of the rules
EDITED_WITHIN = ("notebook", "page")  # the edit is made while a process runs
COMPILED_NOTEBOOKS = 0.1  # of the notebooks of kinds that compile
VALUES = {OLD: -1.0, NEW: 1.0}  # of the first player
CHANGED = re.compile(
    r"the rules of \w+ have changed since .* was made|changed since its games were played|"
    r"is a (book|solution|network) of G\(.*most=1\), not of G\(.*most=3\)|"
    r"the file of this game has changed since the server read it; restart the server"
)
NOT_KEPT = re.compile(r"nothing can be kept of \w+, as its rules cannot be told from others: .+")
# Kinds whose rules have no hash: nothing may be kept of them.
UNHASHABLE = {
    "a function of an operator", "an array", "an object", "a data file in a rule", "the environment in a rule",
}  # fmt: skip
FIXED = {kind for kind in KINDS if kind.startswith("the environment")}  # a server's environment cannot be edited
# Kinds whose rules do not compile: there are no kernels to keep.
PLAIN = {
    "functions that call each other", "a keyword default", "a lambda in a tuple", "a partial",
    "a cached function", "a decorated function", "a function in a dict", "a function of an operator",
    "a dict", "a dict of tuples", "a list that was changed", "the size of a set", "a range", "an array",
    "a constant of a class", "an inherited constant", "a constant inherited twice", "a class in a class",
    "a metaclass", "an enumeration", "a property of an enumeration", "a static method", "a class method",
    "a method of a named tuple", "a named tuple that is called", "a dataclass",
    "an attribute of a dataclass", "a method of a dataclass", "a factory of a dataclass",
    "a dataclass that inherits", "a dataclass in a dataclass", "an object", "a method of the state",
    "a property of the state", "a static method of the state", "a constant of the state", "super",
    "a base by its name", "a data file", "a data file in a rule", "the environment in a rule",
}  # fmt: skip


# ---------------------------------------------------------------- the user
def write_game(folder: Path, name: str, kind: Kind, limit: str, way: str) -> Path:
    """Write the game with a limit, and all that it imports and reads; return its file."""
    text = GAME.format(**kind).replace("LIMIT", limit).replace("NAME", name)
    path = folder / ("sched.py" if way == "standard name" else f"{name}.py")
    if way == "link":
        real = folder / f"real{limit}.py"
        real.write_text(text)
        path.unlink(missing_ok=True)
        path.symlink_to(real)
    else:
        path.write_text(text)
    deep = folder / f"{name}_package" / "sub"
    deep.mkdir(parents=True, exist_ok=True)
    files = {f"{name}_helper.py": HELPER, f"{name}_package/sub/deep.py": HELPER, "data.json": "[LIMIT]"}
    for place in (path, path.resolve()):
        files[f"{place.name}.txt"] = "LIMIT"
    for file, content in files.items():
        (folder / file).write_text(content.replace("LIMIT", limit))
    for file in (deep / "__init__.py", deep.parent / "__init__.py"):
        file.write_text("")
    if way == "same time":
        for file in folder.glob("*.py"):
            os.utime(file, (1_700_000_000, 1_700_000_000))
    return path


class Processes:
    """Where the program runs, each time in a process of its own: compiled, or as a fork with plain kernels."""

    def __init__(self) -> None:
        how = {
            "PYTHONDONTWRITEBYTECODE": "1",  # Python itself takes a file of the same time and size for the same
            "PYTHONSAFEPATH": "1",
        }
        self._plain = Server(**how, NUMBA_DISABLE_JIT="1", MDPLAY_PLAIN_SECONDS="")
        paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        self._compiled = {
            **os.environ,
            **how,
            "NUMBA_DISABLE_JIT": "0",
            "MDPLAY_PLAIN_SECONDS": "0",
            "PYTHONPATH": paths,
        }

    def ask(self, compiled: bool, *words: str) -> list[dict[str, Any]]:
        """Run the program with these words; return what it answered, one after the other."""
        if compiled:
            call = [sys.executable, "-m", "tests.hardening.edits", *words]
            done = subprocess.run(call, env=self._compiled, capture_output=True, text=True, timeout=SECONDS)
            code, out, err = done.returncode, done.stdout, done.stderr
        else:
            code, out, err = self._plain.run(["-m", "tests.hardening.edits", *words], SECONDS).values()
        return [{"broke": err.strip()[-400:]}] if code or not out.strip() else [*map(json.loads, out.splitlines())]

    def close(self) -> None:
        """End the process that forks."""
        self._plain.close()


def channels_of(kind: str) -> list[str]:
    """Return the channels in which a kind of edit can be tried: its rules must work before the edit."""
    left = {"kernels"} if kind in PLAIN else set()
    return [channel for channel in CHANNELS if channel not in left | ({"page"} if kind in FIXED else set())]


def run(tally: Tally, count: int, seed: int) -> None:
    """Try so many pairs of a kind of edit and a channel, in a random order, over and over."""
    pairs = [(kind, channel) for kind in KINDS for channel in channels_of(kind)]
    processes = Processes()
    for number in range(count):
        if number % len(pairs) == 0:
            Random(f"{seed}/{number}").shuffle(pairs)
        random = Random(f"{seed}/{number}/way")
        _try(tally, processes, *pairs[number % len(pairs)], random, f"{seed}_{number}")
    processes.close()


def _try(tally: Tally, processes: Processes, kind: str, channel: str, random: Random, number: str) -> None:
    way = random.choice(WAYS)
    often = {"kernels": 1.0, "notebook": COMPILED_NOTEBOOKS}.get(channel, 0.0)
    compiled = kind not in PLAIN and random.random() < often
    what = f"edit {number}, {kind}, file by {way}, through {channel}{', compiled' if compiled else ''}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "next").mkdir()
        write_game(folder / "next", f"game_{number}", KINDS[kind], NEW, "plain" if way == "link" else way)
        path = write_game(folder, f"game_{number}", KINDS[kind], OLD, way)
        answers = processes.ask(compiled, channel, str(path), str(folder), OLD)
        kept = not KEPT[channel] or any(folder.glob(KEPT[channel]))
        if channel not in EDITED_WITHIN:
            write_game(folder, f"game_{number}", KINDS[kind], NEW, way)
            answers += processes.ask(compiled, channel, str(path), str(folder), NEW)
    ended, fault = judge(kind, channel, answers, kept)
    tally.found(f"{what}: {fault}") if fault else tally.ended(f"{channel}: {ended}")


def judge(kind: str, channel: str, answers: list[dict[str, Any]], kept: bool) -> tuple[str, str]:
    """Return how a try ended, and what must not have happened, or nothing; ``kept``: the first run left its file.

    The first run must answer rightly by the first rules and keep what it made; the last one must answer rightly by
    the present rules, or say that they have changed.  Rules that have no hash must say so in both runs, and nothing
    may be kept of them.
    """
    first, last = answers[0], answers[-1]
    if any("broke" in answer for answer in answers) or len(answers) < 2:
        return "", f"it broke: {answers}"
    if kind in UNHASHABLE and channel in HASHED:
        said = all(NOT_KEPT.search(answer.get("refused", "")) for answer in answers)
        return "not kept, as it says", "" if said and not kept else f"it was kept, or no sentence: {answers}"
    if first.get("answer") != VALUES[OLD] or first["truth"] != VALUES[OLD] or not kept:
        return "", f"the first run: {first}, kept: {kept}"
    if any(answer.get("answer") != answer.get("truth") for answer in answers if "refused" not in answer):
        return "", f"a wrong answer: {answers}"
    if "refused" not in last:
        fault = "" if last["truth"] == VALUES[NEW] else f"the edit changed nothing: {answers}"
        if channel == "page" and not CHANGED.search(answers[1].get("refused", "")):
            fault = f"the server did not say that the file has changed: {answers}"
        return "said, and right after a restart" if channel == "page" else "right", fault
    said = channel in HASHED and CHANGED.search(last["refused"])
    return "refused, as the rules have changed", "" if said else f"another refusal: {last['refused']}"


# ---------------------------------------------------------------- the program
def value_of(game: Any, s: Any = None) -> int:
    """Return the value for player 0 by recursion over the rules."""
    s = game.initial() if s is None else s
    legal = game.legal(s)
    values = [value_of(game, game.step(s, a)) for a in range(legal.bit_length()) if legal >> a & 1]
    if not values:
        return int(game.result(s))
    return min(values) if s.player else max(values)


def by_solution(game: Any, folder: Path) -> float:
    """Return the value of a saved solution."""
    from mdplay import solve

    return solve(game, file=folder / "kept.solution").value()


def by_kernels(game: Any, folder: Path) -> float:
    """Return the value by compiled kernels, from the cache where it has them."""
    from mdplay import solve

    return solve(game, method="hashed").value()


def by_network(game: Any, folder: Path) -> float:
    """Return the value; a network of other rules must not be read."""
    from mdplay import learn
    from mdplay.learning.network import read_network

    file = folder / "kept.network"
    if file.exists():
        read_network(file, game)
        return 0.0  # it was read: no answer is right
    learn(game, method="network", episodes=5, file=file)
    return float(value_of(game))


def by_book(game: Any, folder: Path) -> float:
    """Return the value after the best first move by an opening book."""
    from mdplay.solving.proof.book import load_book, make_book

    file = folder / "kept.book"
    if file.exists():
        load_book(file, game)
        return 0.0
    make_book(game, 1, file, threads=1, memory=1 << 20)
    return float(value_of(game))


def by_records(game: Any, folder: Path) -> float:
    """Return the value; every record that is read must be a game by the present rules."""
    from mdplay import Position, load_records, play, save_records

    file = folder / "kept.jsonl"
    if not file.exists():
        save_records(file, [play(game, "random", "random", seed=seed) for seed in range(4)])
    for record in load_records(file, game):
        position = Position.start(game)
        for event in record.events:
            position = position.play(event)
        if position.result != record.result:
            return 0.0
    return float(value_of(game))


def by_results(game: Any, folder: Path) -> float:
    """Return the value; the games of the results file must be those that the present rules give."""
    from mdplay import match

    kept = match(game, "random", "random", games=4, seed=1, file=folder / "kept.db")
    played = match(game, "random", "random", games=4, seed=1)
    same = [r.events for r in kept.records] == [r.events for r in played.records]
    return float(value_of(game)) if same else 0.0


def of_page(path: Path, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield what a server answers before the edit, after it, and what a new server does."""
    from tests.web.serving import server

    for truth in (VALUES[OLD], VALUES[NEW]):
        with server(f"{path}:G") as served:
            yield _told_by(served, truth)
            if truth == VALUES[OLD]:
                edit(path, folder)
                yield _told_by(served, VALUES[NEW])
            served.stop()


def _told_by(served: Any, truth: float) -> dict[str, Any]:
    status, data = served.ask("/api/v1/games/own-g/values")
    body = data.decode()
    if status == 200:
        return {
            "answer": json.loads(body.rpartition("event: verdict\ndata: ")[2].splitlines()[0])["value"],
            "truth": truth,
        }
    return {"refused": json.loads(body.rpartition("\r\n")[2])["detail"]}


def edit(path: Path, folder: Path) -> None:
    """Put the files with the new limit in the place of the old ones, while this process runs."""
    if path.is_symlink():
        path.unlink()
    shutil.copytree(folder / "next", folder, dirs_exist_ok=True)
    (folder / f"real{OLD}.py.txt").write_text(NEW)  # beside the file that a link named


def by_notebook(game: Any, folder: Path) -> float:
    """Return the value by the verbs, by an instance that was used before the rules changed, and by a new one."""
    from mdplay import MdplayError, make_agent, mcts, solve

    new = sys.modules[type(game).__module__].G()
    for one in (game, type(game)(), new):
        try:
            found = solve(one).value()
            best = max(make_agent(one, "perfect").values(one.initial()).values())
            tree = mcts(one, simulations=400).value
        except MdplayError:
            if one is new:
                raise
            continue  # a state of the new class, in rules that were written for the old one
        if not (found == best == value_of(one) and abs(tree - found) < 0.5):
            return 0.0
    return float(value_of(new))


WAYS_TO_ANSWER: dict[str, Callable[[Any, Path], float]] = {
    "solution": by_solution, "records": by_records, "results": by_results, "notebook": by_notebook,
    "network": by_network, "book": by_book, "kernels": by_kernels,
}  # fmt: skip


def answers(channel: str, path: Path, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the answer of a channel with the truth; of a notebook and a server, before and after the edit."""
    from mdplay import MdplayError, make

    if channel == "page":
        yield from of_page(path, folder)
        return
    try:
        sys.path.insert(0, str(path.parent))
        named = path.stem == "sched"  # imported by its name, as from a user's program
        game: Any = import_module("sched").G() if named else make(f"{path}:G")
        yield {"answer": WAYS_TO_ANSWER[channel](game, folder), "truth": float(value_of(game))}
        if channel == "notebook":
            module = sys.modules[type(game).__module__]
            edit(path, folder)
            os.environ["MOST"] = NEW
            for name in [name for name in sys.modules if name.startswith("game_") and name != module.__name__]:
                del sys.modules[name]  # as whoever works in a notebook reloads what was edited
            exec(compile(path.read_text(), str(path), "exec"), vars(module))
            yield {"answer": by_notebook(game, folder), "truth": float(value_of(module.G()))}
    except MdplayError as error:
        yield {"refused": str(error)}


def main(channel: str, path: str, folder: str, limit: str) -> None:
    """Print the answers of a channel, a line each."""
    os.environ |= {"MOST": limit, "MDPLAY_CACHE": str(Path(folder) / "cache")}
    os.chdir(folder)
    for found in answers(channel, Path(path), Path(folder)):
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
