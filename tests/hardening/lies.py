"""Lying games: small and shipped ones, each with one promise broken in some of its states, under seven commands.

A command may answer or refuse in a sentence.  It must not crash, hang, show a traceback or print NaN; and what is
printed as exact must be what plain recursion over the rules, written here, finds.  Most games run plain, in forks
of one process; one in ``COMPILED_EVERY`` is compiled, and so are those that may go on for ever, because a million
moves in plain Python take too long.
"""

from __future__ import annotations

import inspect
import json
import math
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from mdplay.bits import elements
from mdplay.games.connect_four.rules import ConnectFour
from mdplay.games.dots_and_boxes.rules import DotsAndBoxes
from mdplay.games.tic_tac_toe.rules import TicTacToe
from mdplay.naming import registry
from tests.hardening import honest
from tests.hardening.campaign import Tally, raw_words
from tests.hardening.fork_server import Server

SECONDS = 300.0  # after which a command hangs; compiling on a busy machine may take a minute
COMPILED_EVERY = 25
ENDLESS = ("step", "outcome")
NODES = 20_000  # that the plain recursion may look at
COMMANDS = {
    "solve": ["solve", "{}", "--json"],
    "search": ["search", "{}", "-n", "100"],
    "heuristic": ["search", "{}", "-a", "heuristic:depth=4"],
    "playouts": ["playouts", "{}", "--games", "50", "--threads", "1"],
    "match": ["match", "{}", "random", "mcts:simulations=10", "--games", "2"],
    "uniform": ["solve", "{}", "--opponent", "uniform", "--json"],
    "learn": ["learn", "{}", "--episodes", "200"],
}

FRAME = """from dataclasses import dataclass

from mdplay.bits import U64
from mdplay.game import Bounds
from {module} import State, {base}


@dataclass(frozen=True)
class G({base}):
    {fields}
    honest = {base}.{method}

    def {method}{signature}:
        return {lie} if {where} else {honest}
"""


@dataclass(frozen=True)
class Base:
    """An honest game: where it is, its parameters, a number that tells its states apart, and what may lie."""

    cls: type
    fields: str
    number: str
    methods: str


SMALL, SMALLEST = "rows: int = 2\n    cols: int = 3", "rows: int = 1\n    cols: int = 1"
BASES = [
    Base(honest.Count, "more: int = 0", "s.n", "player legal step result reward"),
    Base(honest.Numbered, "more: int = 0", "s.n", "player result reward index state size"),
    Base(honest.Known, "more: int = 0", "s.n", "player symmetries image key order bounds heuristic"),
    Base(honest.Dice, "more: int = 0", "s.n", "player legal step reward probability draw outcome"),
    Base(
        TicTacToe, "rows: int = 2\n    cols: int = 3", "(s.mine + s.theirs)", "legal step result symmetries image"
    ),
    Base(ConnectFour, "rows: int = 2\n    cols: int = 3", "s.theirs", "legal step result order image heuristic"),
    Base(
        DotsAndBoxes,
        "rows: int = 1\n    cols: int = 1",
        "s.lines",
        "step reward index state size symmetries image",
    ),
]

# what a method answers where it lies; ``honest`` stands for the true answer, ``State`` for the small games' own
LIES = {
    "player": ["2", "-1", "300", "1 - honest"],
    "legal": ["-1", "(honest | 1 << 40 if honest else 0)", "(1 << 62 if honest else 0)"],
    "step": ["s", "self.initial()", "State(s.n - 1, s.player)", "State(-(1 << 62), 0)", "State(1 << 61, 1)"],
    "result": ["1e308 * 10 - 1e308 * 10", "1e308 * 10", "honest * (1 << 40)", "honest * (1 << 60)"],
    "reward": ["1e308 * 10 - 1e308 * 10", "-1e308 * 10", "honest * (1 << 35)", "honest + (1 << 53)"],
    "index": ["honest + (1 << 40)", "-5", "0", "honest ^ 1", "honest + 3"],
    "state": ["self.initial()", "State(honest.n + 1, honest.player)", "State(-3, 1)"],
    "size": ["0", "-3", "7", "1 << 62"],
    "symmetries": ["0", "-5", "1 << 40", "honest + 1"],
    "image": ["self.initial()", "State(s.n + k, s.player)", "State(s.n, 1 - s.player)"],
    "key": ["U64(7)", "U64(1) << U64(63)", "U64(0)"],
    "order": ["1 << 62", "-(1 << 62)"],
    "bounds": [
        "Bounds(5, -5, U64(7))",
        "Bounds(-1, 1, U64(0))",
        "Bounds(-1, 1, U64(0xFF00))",
        "Bounds(0, 0, U64(0))",
    ],
    "heuristic": ["1e308 * 10 - 1e308 * 10", "-1e308 * 10", "1e30"],
    "probability": ["0.0", "-0.5", "3.0", "1e308 * 10 - 1e308 * 10", "0.5"],
    "draw": ["-1", "7", "200", "1 << 40"],
    "outcome": ["s", "self.initial()", "State(s.n - 3, s.player)", "State(1 << 61, s.player)"],
}


def lie_of(random: Random, endless: bool) -> tuple[Base, str]:
    """Return a game and the method that lies; only ``endless`` ones lie about where moves lead."""
    base = random.choice([base for base in BASES if not endless or "step" in base.methods])
    return base, random.choice([name for name in base.methods.split() if (name in ENDLESS) == endless])


def text_of(base: Base, method: str, random: Random) -> tuple[str, str]:
    """Return the source of a lying game, and what it lies about."""
    small = base.cls.__module__ == honest.__name__
    lie = random.choice([lie for lie in LIES[method] if small or "State(" not in lie])
    signature = inspect.signature(getattr(base.cls, method))
    true = f"self.honest({', '.join(list(signature.parameters)[1:])})"
    where = _place(random, {"state": "i", "size": "0", "symmetries": "0"}.get(method, base.number))
    frame = FRAME.format(
        module=base.cls.__module__,
        base=base.cls.__name__,
        fields=base.fields,
        method=method,
        signature=str(signature).replace("'", ""),
        lie=lie.replace("honest", true),
        where=where,
        honest=true,
    )
    return frame, f"{base.cls.__name__}.{method} gives {lie} where {where}"


def _place(random: Random, number: str) -> str:
    """Return a condition that holds in some states, often only late in a game."""
    modulus = random.choice((1, 2, 3, 5))
    where = f"{number} % {modulus} == {random.randrange(modulus) if number != '0' else 0}"
    return (
        where if number == "0" or random.random() < 0.7 else f"{where} and {number} > {random.choice((2, 6, 12))}"
    )


# ---------------------------------------------------------------- the naive solver
class NoValueError(Exception):
    """The game as given has no value that plain recursion could tell."""


class Naive:
    """Values for player 0 by the definition, from the rules alone; ``me``: the other player moves at random."""

    def __init__(self, game: Any, me: int | None) -> None:
        self.game, self.me = game, me
        self.known: dict[Any, float | None] = {}

    def value(self, s: Any) -> float:
        """Return what is still to come for player 0."""
        if s not in self.known:
            if len(self.known) >= NODES:
                raise NoValueError
            self.known[s] = None  # on the way
            self.known[s] = self.find(s)
        found = self.known[s]
        if found is None:
            raise NoValueError  # a circle
        return found

    def find(self, s: Any) -> float:
        """Return the value of a state from those that follow."""
        game = self.game
        mover = game.player(s)
        if mover not in (0, 1):
            raise NoValueError
        if outcomes := elements(game.outcomes(s)):
            chances = [game.probability(s, i) for i in outcomes]
            if not all(0 < p <= 1 for p in chances) or abs(sum(chances) - 1) > 1e-9:
                raise NoValueError
            return sum(p * self.value(game.outcome(s, i)) for p, i in zip(chances, outcomes, strict=True))
        legal = game.legal(s)
        if not elements(legal):
            return self.finite(game.result(s))
        if isinstance(legal, int) and legal < 0:
            raise NoValueError
        sign = -1 if mover else 1
        values = [sign * self.finite(game.reward(s, a)) + self.value(game.step(s, a)) for a in elements(legal)]
        if self.me is not None and mover != self.me:
            return sum(values) / len(values)
        return max(values) if mover == 0 else min(values)

    @staticmethod
    def finite(number: float) -> float:
        """Return a number that is finite."""
        if not math.isfinite(number):
            raise NoValueError
        return number


def truth_of(game: Any, against_random: bool) -> float | None:
    """Return what the start is worth to its mover, or None if that cannot be told."""
    try:
        start = game.initial()
        mover = game.player(start)
        value = Naive(game, mover if against_random else None).value(start)
        return -value if mover else value
    except (NoValueError, RecursionError, ArithmeticError, ValueError, IndexError):
        return None


# ---------------------------------------------------------------- judging
def fault_of(command: str, answer: dict[str, Any], truth: float | None, names: list[str]) -> str | None:
    """Return what must not have happened, or None; a refusal must have one of the names: the game, its rules."""
    code, out, err = answer["code"], answer["out"], answer["err"]
    if code is None:
        return "it hung"
    if code < 0:
        return f"signal {-code}"
    if code not in (0, 2) or "Traceback" in err:
        return f"exit code {code}: {err.strip()[-300:]}"
    if code == 2:
        if not err.startswith("mdplay: "):
            return f"no sentence: {err.strip()[-200:]}"
        if raw := raw_words(err):
            return f"a sentence that says {raw!r}: {err.strip()[-200:]}"
        named = any(re.search(rf"\b{name}\b", err) for name in names)
        return None if named else f"a sentence that names neither the game nor a rule: {err.strip()[-200:]}"
    if "nan" in out.lower().split():
        return "it printed NaN"
    if command in ("solve", "uniform") and truth is not None:
        told = json.loads(out)["value"]
        if told is None or abs(told - truth) > 1e-9 * max(1.0, abs(truth)):
            return f"it told {told}, the value is {truth}"
    return None


def run(tally: Tally, count: int, seed: int) -> None:
    """Try so many lying games under every command."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 3 * NODES))
    try:
        _try_games(tally, count, seed)
    finally:
        sys.setrecursionlimit(limit)  # the tests that follow want rules that never end to meet it


def _try_games(tally: Tally, count: int, seed: int) -> None:
    plain, compiled = Server(NUMBA_DISABLE_JIT="1"), Server(NUMBA_DISABLE_JIT="0")
    with tempfile.TemporaryDirectory() as folder:
        try_honest(tally, plain, Path(folder) / "honest_game.py")
        for number in range(count):
            is_compiled = number % COMPILED_EVERY == COMPILED_EVERY - 1
            path = Path(folder) / f"lie_{seed}_{number}.py"
            try_game(
                tally, compiled if is_compiled else plain, is_compiled and number % 2 == 0, path, seed, number
            )
    plain.close()
    compiled.close()


def try_honest(tally: Tally, server: Server, path: Path) -> None:
    """Try a game that keeps its promises: a command that refuses it would say nothing about those that do not."""
    path.write_text(inspect.getsource(honest).replace("class Known(", "class G("))
    for command, arguments in COMMANDS.items():
        answer = server.run([part.format(f"{path}:G") for part in arguments], SECONDS)
        if answer["code"] != 0:
            tally.found(f"the honest game, {command}: exit code {answer['code']}: {answer['err'].strip()[-300:]}")


def try_game(tally: Tally, server: Server, endless: bool, path: Path, seed: int, number: int) -> None:
    """Try one lying game under every command."""
    random = Random(f"{seed}-{number}")
    base, method = lie_of(random, endless)
    text, lie = text_of(base, method, random)
    path.write_text(text)
    game = registry.make(f"{path}:G")
    truths = {"solve": truth_of(game, False), "uniform": truth_of(game, True)}
    for command, arguments in COMMANDS.items():
        answer = server.run([part.format(f"{path}:G") for part in arguments], SECONDS)
        if fault := fault_of(command, answer, truths.get(command), ["G", method, base.cls.__name__]):
            tally.found(f"seed {seed}, game {number} ({lie}), {command}: {fault}")
        else:
            tally.ended("answered" if answer["code"] == 0 else "refused")
