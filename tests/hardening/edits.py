"""Edited rules: a number changes in what the rules of a game reach, and nothing that was kept may answer.

The game is Nim: take 1 to ``LIMIT`` of ten.  A kind of edit says where ``LIMIT`` stands: in a method of the state,
in a class that another one inherits from, in a data file ...  A channel is what keeps something between two runs:
compiled kernels, a saved solution, a network, an opening book, records, a file of results, what the page's server
answers by, and a process in which a cell of a notebook is run again.  The program runs with the limit 1, then with
the limit 3, in the same folders.  Its second answer must be the one that a recursion over the rules gives, or a
refusal; what an old file says is never right here, as the first player loses with the one and wins with the other.

    python -m tests.hardening.edits CHANNEL FILE FOLDER       prints a line of JSON
"""

# ruff: noqa: E501  rules as texts, each on a line
from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

from tests.hardening.campaign import Tally, raw_words
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
CHANNELS = ("solution", "records", "results", "notebook", "page", "network", "book", "kernels")


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


def ask(channel: str, path: Path, folder: Path, limit: str) -> dict[str, Any]:
    """Run the program in a fresh process."""
    compiled = channel in ("kernels", "notebook")  # plain rules are always those of now
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        "PYTHONDONTWRITEBYTECODE": "1",  # Python itself takes a file of the same time and size for the same
        "PYTHONSAFEPATH": "1",
        "MOST": limit,
        "MDPLAY_CACHE": str(folder / "cache"),
        "MDPLAY_PLAIN_SECONDS": "0" if compiled else "",
        "NUMBA_DISABLE_JIT": "0" if compiled else "1",
    }
    call = [sys.executable, "-m", "tests.hardening.edits", channel, str(path), str(folder)]
    done = subprocess.run(call, env=environment, cwd=folder, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode or not done.stdout.strip():
        return {"broke": done.stderr.strip()[-400:]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def run(tally: Tally, count: int, seed: int) -> None:
    """Try so many pairs of a kind of edit and a channel, in a random order, over and over."""
    pairs = [(kind, channel) for kind in KINDS for channel in CHANNELS]
    for number in range(count):
        if number % len(pairs) == 0:
            Random(f"{seed}/{number}").shuffle(pairs)
        _try(tally, *pairs[number % len(pairs)], Random(f"{seed}/{number}/way"), f"{seed}_{number}")


def _try(tally: Tally, kind: str, channel: str, random: Random, number: str) -> None:
    way = random.choice(WAYS)
    what = f"edit {number}, {kind}, file by {way}, through {channel}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        answers = []
        (folder / "next").mkdir()
        write_game(folder / "next", f"game_{number}", KINDS[kind], NEW, "plain" if way == "link" else way)
        for limit in (OLD,) if channel == "notebook" else (OLD, NEW):
            path = write_game(folder, f"game_{number}", KINDS[kind], limit, way)
            answers.append(ask(channel, path, folder, limit))
    first, second = answers[0], answers[-1]
    if "broke" in first or "broke" in second:
        tally.found(f"{what}: {first if 'broke' in first else second}")
    elif raw := raw_words(second.get("refused", "")):
        tally.found(f"{what}: a sentence that says {raw!r}: {second}")
    elif "refused" in second:
        tally.ended("refused")
    elif second["answer"] != second["truth"]:
        tally.found(f"{what}: it answered {second['answer']}, right is {second['truth']}")
    else:
        tally.ended("right")


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

    kept = match(game, "random", "random", games=4, seed=1, results=folder / "kept.db")
    played = match(game, "random", "random", games=4, seed=1)
    same = [r.events for r in kept.records] == [r.events for r in played.records]
    return float(value_of(game)) if same else 0.0


def by_page(game: Any, folder: Path) -> float:
    """Return the value that the page's server answers by: its adviser, in this process."""
    from mdplay.playing.advising import adviser_for

    *_, advice = adviser_for(game).advise(game.initial())
    assert advice.value is not None
    return advice.value.value


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
    "page": by_page, "network": by_network, "book": by_book, "kernels": by_kernels,
}  # fmt: skip


def answers(channel: str, path: Path, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the answer of a channel with the truth; of a notebook, before and after its cell was run again."""
    from mdplay import MdplayError, make

    try:
        sys.path.insert(0, str(path.parent))
        named = path.stem == "sched"  # imported by its name, as from a user's program
        game: Any = import_module("sched").G() if named else make(f"{path}:G")
        yield {"answer": WAYS_TO_ANSWER[channel](game, folder), "truth": float(value_of(game))}
        if channel == "notebook":
            module = sys.modules[type(game).__module__]
            shutil.copytree(folder / "next", folder, dirs_exist_ok=True)
            os.environ["MOST"] = NEW
            for name in [name for name in sys.modules if name.startswith("game_") and name != module.__name__]:
                del sys.modules[name]  # as whoever works in a notebook reloads what was edited
            exec(compile(path.read_text(), str(path), "exec"), vars(module))
            yield {"answer": by_notebook(game, folder), "truth": float(value_of(module.G()))}
    except MdplayError as error:
        yield {"refused": str(error)}


if __name__ == "__main__":
    for found in answers(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])):
        print(json.dumps(found), flush=True)
