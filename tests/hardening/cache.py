"""The kernel cache under attack: edited rules, damaged files, many starts at once, folders of others.

Most tries are *edits*: a game is drawn from small pieces (where its limit comes from: a helper, a table, a file, a
closure ...), asked for its first moves with a common cache, edited, and asked again; the answer must be what plain
Python gives.  A few long-lived processes do so in turn: each finds the kernels of those before it.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from textwrap import indent
from typing import Any

from tests.hardening.campaign import Tally
from tests.helpers import ROOT

HEAD = """from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple
from mdplay import Game
{imports}

class State(NamedTuple):
    pile: int
    player: int

{module}
@dataclass(frozen=True)
class {name}({base}):
    pile: int = 9
    {body}

    def initial(self) -> State:
        return State(self.pile, 0)

    def legal(self, s: State) -> int:
        return (1 << min({limit}, s.pile)) - 1

    def step(self, s: State, action: int) -> State:
        return State(s.pile - action - 1, 1 - s.player)

    def result(self, s: State) -> int:
        return 2 * s.player - 1
"""
TABLE = "@cached_property\ndef most(self) -> tuple[int, ...]:\n"
# Where the limit of a game comes from: pieces of its text, LIMIT being the number that is edited.
SOURCES: dict[str, dict[str, str]] = {
    "literal": {"limit": "LIMIT"},
    "helper": {"limit": "self.most(s.pile)", "body": "def most(self, n: int) -> int:\n    return LIMIT\n"},
    "word": {"limit": "self.distance(s.pile)", "body": "def distance(self, n: int) -> int:\n    return LIMIT\n"},
    "second helper": {
        "limit": "self.outer(1)",
        "body": "def outer(self, n: int) -> int:\n    return self.inner(n)\n\n"
        "def inner(self, n: int) -> int:\n    return LIMIT * n\n",
    },
    "table": {"limit": "self.most[0]", "body": TABLE + "    return (LIMIT,)\n"},
    "table of words": {"limit": "self.words[0]", "body": TABLE.replace("most", "words") + "    return (LIMIT,)\n"},
    "property": {"limit": "self.most", "body": "@property\ndef most(self) -> int:\n    return LIMIT\n"},
    "constant": {"limit": "MOST", "module": "MOST = LIMIT\n"},
    "table of the module": {"limit": "MOST[1]", "module": "MOST = (7, LIMIT)\n"},
    "function": {"limit": "most(s.pile)", "module": "def most(n: int) -> int:\n    return LIMIT\n"},
    "default argument": {"limit": "most(s.pile)", "module": "def most(n, m=LIMIT):\n    return m\n"},
    "closure": {
        "limit": "most(s.pile)",
        "module": "def bound(m):\n    def most(n):\n        return m\n    return most\n\nmost = bound(LIMIT)\n",
    },
    "class attribute": {"limit": "self.most", "body": "most = LIMIT\n"},
    "parameter": {"limit": "self.most", "body": "most: int = LIMIT\n"},
    "post init": {
        "limit": "self.most[0]",
        "body": "def __post_init__(self) -> None:\n    object.__setattr__(self, 'most', (LIMIT,))\n",
    },
    "base class": {
        "limit": "self.most(0)",
        "base": "Base",
        "module": "class Base(Game[State]):\n    def most(self, n: int) -> int:\n        return LIMIT\n",
    },
    "table of a base class": {
        "limit": "self.most[0]",
        "base": "Base",
        "module": "class Base(Game[State]):\n" + indent(TABLE + "    return (LIMIT,)\n", "    "),
    },
    "data file": {"limit": "self.most[0]", "body": TABLE + "    return (int(Path(DATA).read_text()),)\n"},
    "module": {"limit": "HELPER.MOST", "imports": "import HELPER\n"},
    "imported constant": {"limit": "MOST", "imports": "from HELPER import MOST\n"},
    "imported function": {"limit": "most(0)", "imports": "from HELPER import most\n"},
    "import inside": {
        "limit": "self.most[0]",
        "body": TABLE + "    from HELPER import MOST\n    return (MOST,)\n",
    },
    "name handed on": {
        "limit": "most(self)",
        "module": "def most(game):\n    return game.most(1)\n",
        "body": "def most(self, n: int) -> int:\n    return LIMIT\n",
    },
}
HELPER = "MOST = {limit}\n\n\ndef most(n: int) -> int:\n    return {limit}\n"
# The child: each line names a game file; the answer is what compiled and what plain Python say of its first moves.
CHILD = """
import json, sys
from mdplay import make
from mdplay.compiling import kernel, native
@kernel
def first_moves(game):
    return int(game.legal(game.initial()))
for line in sys.stdin:
    path, helper = json.loads(line)
    for name in (helper, path.rpartition("/")[2].removesuffix(".py")):
        sys.modules.pop(name, None)
    try:
        game = make(path + ":G")
        plain = game.legal(game.initial())
        answer = [int(first_moves(native(game))), plain, sum(first_moves.dispatcher.stats.cache_hits.values())]
    except BaseException as error:
        answer = [f"{type(error).__name__}: {error}", None, 0]
    print(json.dumps(answer), flush=True)
"""
START = "from mdplay import make, perft; print([ply.paths for ply in perft(make('tic-tac-toe'), depth=3)])"
ANSWER = "[1, 9, 72, 504]"
SECONDS = 600.0
TOGETHER = 20  # starts at once
CHILDREN = 3  # processes that share the edits
FULL = 300  # tries from which on a campaign is a full one


def run(tally: Tally, count: int, seed: int) -> None:
    """Try ``count`` edits, as many flipped or cut files, folders of others, and many starts at once."""
    rng = random.Random(seed)
    full = count >= FULL
    with tempfile.TemporaryDirectory() as place:
        try_edits(tally, rng, Path(place), count)
        try_damage(tally, rng, Path(place), count)
        try_folders(tally, Path(place), modes=(0o777, 0o770, 0o755, 0o700) if full else (0o777,))
        for number in range(5 if full else 1):
            try_starts(tally, Path(place) / f"starts-{number}", TOGETHER if full else 3)


def environment(cache: Path) -> dict[str, str]:
    """Return the surroundings of a child with a cache of its own."""
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "MDPLAY_CACHE": str(cache),
        "MDPLAY_PLAIN_SECONDS": "0",  # so small a question would be answered in plain Python
        "PYTHONDONTWRITEBYTECODE": "1",
    }


# ---------------------------------------------------------------- edits
def write_game(folder: Path, kind: str, number: int, limit: int) -> tuple[str, str]:
    """Write a game whose limit comes from somewhere, and what lies beside it; return its path and its helper."""
    helper, data = f"helper_{number}", folder / f"data_{number}.txt"
    parts = {"imports": "", "module": "", "body": "", "base": "Game[State]", "name": "G", **SOURCES[kind]}
    parts["body"] = indent(parts["body"], "    ").strip()
    text = HEAD.format(**parts)
    for word, meaning in {"LIMIT": str(limit), "HELPER": helper, "DATA": repr(str(data))}.items():
        text = text.replace(word, meaning)
    (folder / f"{helper}.py").write_text(HELPER.format(limit=limit))
    data.write_text(str(limit))
    (folder / f"game_{number}.py").write_text(text)
    return str(folder / f"game_{number}.py"), helper


def try_edits(tally: Tally, rng: random.Random, folder: Path, count: int) -> None:
    """Draw games, edit each and compare with plain Python; then another process, and once more."""
    kinds = rng.sample(sorted(SOURCES), len(SOURCES))
    each, hits = -(-count // CHILDREN), 0
    for first in range(0, count, each):
        with child_process(folder / "cache") as child:
            found = 0
            for number in range(first, min(count, first + each)):
                kind = kinds[number % len(kinds)]
                for limit in rng.sample(range(1, 5), 2):
                    compiled, plain, found = ask(child, folder, kind, limit)
                    report(tally, f"{kind}, edit {number}, limit {limit}", compiled, plain)
            hits += found
            child.stdin.close()  # type: ignore[union-attr]
    if count >= FULL and not hits:
        tally.found("no process found a kernel of another: nothing was tried")


def child_process(cache: Path) -> subprocess.Popen[str]:
    """Begin a process that answers for one game after the other."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-c", CHILD], env=environment(cache), stdin=pipe, stdout=pipe, text=True
    )


def ask(child: subprocess.Popen[str], folder: Path, kind: str, limit: int) -> tuple[Any, Any, int]:
    """Write a game of a kind, over the last one of it; return what compiled and plain Python say, and the hits."""
    place = write_game(folder, kind, sorted(SOURCES).index(kind), limit)
    assert child.stdin and child.stdout
    child.stdin.write(json.dumps(place) + "\n")
    child.stdin.flush()
    line = child.stdout.readline()
    compiled, plain, hits = json.loads(line) if line else ("the child died", None, 0)
    return compiled, plain, hits


def report(tally: Tally, what: str, compiled: Any, plain: Any) -> None:
    """Count an answer: right or wrong."""
    if compiled == plain:
        tally.ended("right")
    else:
        tally.found(f"{what}: compiled {compiled}, plain {plain}")


# ---------------------------------------------------------------- damage
def try_damage(tally: Tally, rng: random.Random, folder: Path, count: int) -> None:
    """Flip bits in kernel files or cut them: none may be read, and a process that meets them compiles again."""
    from mdplay.compiling.cache import read_checked

    files = sorted((folder / "cache" / "kernels").glob("*.bin"))
    for number in range(count):
        file = rng.choice(files)
        sound = file.read_bytes()
        file.write_bytes(damaged(rng, sound))
        if read_checked(file) is not None:
            tally.found(f"damage {number}: {file.name} was read")
        else:
            tally.ended("not read")
        file.write_bytes(sound)
    for file in files:
        file.write_bytes(damaged(rng, file.read_bytes()))
    check_start(tally, folder / "cache", "all files damaged")


def damaged(rng: random.Random, content: bytes) -> bytes:
    """Return the content with some bits flipped, cut off, or with more at its end."""
    data = bytearray(content)
    match rng.randrange(4):
        case 0:
            return bytes(data[: rng.randrange(len(data))])
        case 1:
            return content + rng.randbytes(rng.randrange(1, 9))
    for bit in rng.sample(range(8 * len(data)), rng.choice([1, 1, 3])):
        data[bit // 8] ^= 1 << bit % 8
    return bytes(data)


# ---------------------------------------------------------------- starts and folders
def start(cache: Path) -> subprocess.Popen[str]:
    """Begin a process that asks a kernel one thing."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-c", START], env=environment(cache), stdout=pipe, stderr=pipe, text=True
    )


def check_start(tally: Tally, cache: Path, what: str, warnings: int = 0) -> None:
    """Start a process and see that it answers rightly, with so many warnings."""
    check_answer(tally, start(cache), what, warnings)


def check_answer(tally: Tally, process: subprocess.Popen[str], what: str, warnings: int = 0) -> None:
    """See that a process that was started answers rightly."""
    out, err = process.communicate(timeout=SECONDS)
    if (process.returncode, out.strip(), err.count("\n")) == (0, ANSWER, warnings):
        tally.ended("right")
    else:
        tally.found(f"{what}: exit code {process.returncode}, {out.strip()!r}, {err.strip()[-300:]!r}")


def try_starts(tally: Tally, cache: Path, count: int) -> None:
    """Start many processes at once on an empty cache: all answer, and nothing is left but kernels."""
    for process in [start(cache) for _ in range(count)]:
        check_answer(tally, process, f"{count} starts at once")
    if left := [path.name for path in (cache / "kernels").iterdir() if path.suffix != ".bin"]:
        tally.found(f"{count} starts at once left {left}")


def try_folders(tally: Tally, folder: Path, modes: tuple[int, ...]) -> None:
    """Give the program folders of several modes, and a file in place of one."""
    for mode in modes:
        cache = folder / f"mode-{mode:o}"
        (cache / "kernels").mkdir(parents=True)
        (cache / "kernels").chmod(mode)
        closed = not mode & 0o022
        check_start(tally, cache, f"kernels of mode {mode:o}", warnings=0 if closed else 1)
        if any((cache / "kernels").iterdir()) != closed:
            tally.found(f"kernels of mode {mode:o}: {'not ' if closed else ''}used")
    if len(modes) > 1:
        (folder / "a-file").write_text("")
        check_start(tally, folder / "a-file", "a file as the cache")
        if os.geteuid() == 0:
            cache = folder / "of-another-user"
            cache.mkdir(mode=0o700)
            os.chown(cache, 12345, 12345)
            check_start(tally, cache, "a folder of another user", warnings=1)
