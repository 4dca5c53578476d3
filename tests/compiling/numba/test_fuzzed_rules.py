"""Whatever a rule is made of, it compiles or is refused in a sentence: no error of numba or Python comes out."""

import re

import pytest

from mdplay.errors import MdplayError
from mdplay.naming.specs import load_module
from mdplay.rng import Random
from tests.helpers import write

pytestmark = pytest.mark.usefixtures("needs_compiler")

GAME = """import math, random, enum, functools
from dataclasses import dataclass
from typing import NamedTuple

from mdplay import Game, U64
from mdplay.bits import popcount

LIST, TEXT, TABLE, NOTHING = [1, 2], "ab", {{1: 2}}, None


class Kind(enum.IntEnum):
    A = 1


class State(NamedTuple):
    n: int
    player: int


def helper(n):
    return [n, n]


@dataclass(frozen=True)
class Fuzzed(Game[State]):
    def initial(self) -> State:
        return State(3, 0)

    def legal(self, s: State) -> int:
        n = s.n
{body}
        return n & 7

    def step(self, s: State, action: int) -> State:
        return State(s.n - 1, 1 - s.player)
"""
PIECES = """import math
from os import path
n = path.join("a", "b")
n += sum(i for i in range(3))
n = [i for i in range(n)]
n += len({i for i in range(3)})
n = {i: i for i in range(3)}
n = tuple(i for i in range(3))
n += (k := 3)
try: n = 1 // n
finally: n += 1
with open("x") as f: n = 1
for i, c in enumerate("ab"): n += i
while n > 100: n //= 2
n = lambda x: x
yield n
global LIST; LIST = 3
del n
assert n > 0, "no"
raise ValueError(n)
n += LIST[0]
n += TABLE[1]
n = TEXT
n = NOTHING
n += NOTHING or 0
n = f"{n}"
n = "%d" % n
n += helper(n)[0]
n = helper
n = Kind.A
n = Kind(1)
n += Kind.A.value
n = self
self.x = n
s.n = 3
n = s._replace(n=1).n
n = s[0] + s[n]
n, *rest = (1, 2, 3)
n = max(*[1, 2])
n = min([])
n = n.bit_count() + n.no_such
n = int("7")
n = print(n)
n = super().symmetries()
n = self.legal(s)
n = self.no_such(s)
n = no_such
n = random.choice((1, 2))
n = math.lcm(4, 6)
n = math.nan
n = functools.reduce(max, (1, 2))
n = 1 << 70
n = 10 ** 30
n = -1 >> -1
n = n @ n
n = n / 0
n = 1j
n = b"ab"
n = ...
n = (1, "a", None)
n = [1, "a"]
n = {1, "a"}
n = State(1)
n = State(1, 2, 3)
n = State(n="a", player=0)
n = State
n = Fuzzed
n = eval("1")
n = type(n)
n = isinstance(n, int)
n = sorted((2, 1), key=lambda i: -i)
n = U64(-1) + 0.5
n = popcount("a")
n = any(i > j for i in range(3) for j in helper(i))
n = all([])
n = not n
n = n is None
n = n if n else "a"
n = (yield)
async def f(): pass
def n(): return n()
class C: pass
match n:
  case 1: n = 2
return
return "a"
return s
return [n]
pass"""
ALONE = [piece for piece in PIECES.splitlines() if not piece.startswith("  ")]


def body(*pieces):
    """Return pieces as the body of a rule; the case of a match goes with it."""
    lines = []
    for piece in pieces:
        lines += [piece, "  case 1: n = 2"] if piece == "match n:" else [piece]
    return "\n".join(" " * 8 + line for line in lines)


def refusal(tmp_path, number, text):
    """Return the sentence that refuses a rule, or nothing; anything else that is raised fails the test."""
    from mdplay.compiling.cache import identity
    from mdplay.compiling.numba.methods import compiled_method

    path = write(tmp_path, f"fuzzed_{number}.py", GAME.format(body=text))
    try:
        game = load_module(path).Fuzzed()
        compiled_method(identity(game), "legal")
    except MdplayError as error:
        return str(error)
    return ""


def is_fit_to_read(sentence):
    raw = re.search(r"Traceback|numba|\$\w+\.\d|0x[0-9a-f]{6}|<class|<function|Rejected|During:", sentence)
    return not raw and len(sentence.splitlines()) <= 2 and len(sentence) < 500


def test_single_pieces_compile_or_are_refused_in_a_sentence(tmp_path):
    told = {piece: refusal(tmp_path, number, body(piece)) for number, piece in enumerate(ALONE[::2])}
    assert {piece: said for piece, said in told.items() if said and not is_fit_to_read(said)} == {}
    assert sum(not said for said in told.values()) >= 5  # some of them are fine
    assert "import inside a rule" in told["import math"] and "line" in told["import math"]


@pytest.mark.slow
def test_mixtures_of_pieces_compile_or_are_refused_in_a_sentence(tmp_path):
    rng = Random(1)
    for number in range(300):
        pieces = (
            [ALONE[rng.below(len(ALONE))] for _ in range(1 + rng.below(4))]
            if number >= 100
            else ALONE[number:][:1]
        )
        said = refusal(tmp_path, number, body(*pieces))
        assert not said or is_fit_to_read(said), (pieces, said)
