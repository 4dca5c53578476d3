"""The campaign against the package: ``python -m tests.hardening [PART...] [--small] [--count N] [--seed N]``.

A part is a module beside this file with a function ``run(tally, count, seed)``.  It tries ``count`` things, all
drawn from the seed, and tells the tally how each ended; whatever must not happen is a finding, with what is needed
to see it again.  ``PARTS`` says how many things a part tries in the full campaign and how many in the tests.
"""

from __future__ import annotations

import importlib
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

TELL_SECONDS = 60.0  # between two lines about how far a part is


@dataclass(frozen=True)
class Part:
    """A part of the campaign: what it tries, and how often."""

    what: str
    full: int
    small: int


PARTS: dict[str, Part] = {
    "mdps": Part("random MDPs against exact fractions", 5000, 200),
    "commands": Part("command lines by grammar, right and broken values mixed", 10_000, 60),
    "signals": Part("SIGINT and SIGTERM at random moments of the long commands", 50 * 24, 4),
    "files": Part("damaged and forged files of every format", 10_000, 240),
    "lies": Part("lying games, seven commands each", 500, 12),
    "searches": Part("random honest games searched, played and solved, against recursion", 300, 6),
    "oracles": Part("values, flags, moves and policies of random games against exact fractions", 5000, 50),
    "cache": Part("edited rules, damaged kernel files, many starts at once, folders of others", 300, 2),
    "edits": Part("83 kinds of edits of rules, through eight things that keep something", 620, 4),
    "kills": Part("SIGKILL of every writer, at random moments and before every step", 1_800, 3),
    "disks": Part("full and read-only disks, two writers of one file, for every writer", 180, 4),
    "determinism": Part("the same command over hash seeds, threads and kernel caches", 270, 4),
}


@dataclass
class Tally:
    """What a part tried, how it ended, and what must not have happened."""

    name: str = ""
    outcomes: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)
    _told: float = field(default_factory=time.monotonic)

    def ended(self, outcome: str) -> None:
        """Count one try, by how it ended: "answered", "refused", ..."""
        self.outcomes[outcome] += 1
        if time.monotonic() > self._told + TELL_SECONDS:
            self._tell(f"{self.tried:,} tries, {len(self.findings)} findings so far")

    def found(self, finding: str) -> None:
        """Count one try that ended as nothing may: a wrong answer, a crash, a hang, a loss, a traceback."""
        self.outcomes["found"] += 1
        self.findings.append(finding)
        self._tell(finding)

    def _tell(self, text: str) -> None:
        self._told = time.monotonic()
        print(f"{self.name}: {text}", file=sys.stderr, flush=True)

    @property
    def tried(self) -> int:
        """How many things were tried."""
        return self.outcomes.total()


# What Python, numpy and numba say of a fault in a program: a sentence with such words does not name the input.
RAW = re.compile(
    "|".join(
        (
            "internal error", "a value in the input", "something in the input", "has no attribute",
            "object is not", "not iterable", "not callable", "not subscriptable", "unsupported operand",
            "broadcast", "out of bounds", "index out of range", "invalid literal", "could not convert",
            "cannot convert", "embedded null",
            "codec can't", "argument must", "positional argument", "unexpected keyword", "maximum recursion",
            "int too (large|big)", "must be real number", "truth value of", "to unpack", "unhashable", " at 0x",
            "<class '", r"\b(Type|Value|Key|Index|Attribute|Overflow|Unicode\w*|Recursion|ZeroDivision|Assertion|"
            r"Runtime|Typing|Lowering)Error\b",
        )
    )
)  # fmt: skip
USERS = re.compile(r"\.py cannot be imported: |raised \w+.*\(\w+\.py, line \d+")


def raw_words(sentence: str) -> str | None:
    """Return the words of a refusal that are Python's own, or those of a fault of mdplay; None if there are none.

    What the user's own code raised may be repeated, with its file and line.
    """
    found = None if USERS.search(sentence) else RAW.search(sentence)
    return None if found is None else found[0]


# Sentences that are whole without a piece of the input: what is wrong with it is that something is lacking.
KNOWN = re.compile(
    r"Missing (argument|option|parameter) |say which states: --player 1, --player 2 or --count|"
    r"name one MDP file: mdplay plan FILE|a tournament needs two agents or more, not \d"
)
ELSE = re.compile(r"; choose from |; did you mean |\s*Try 'mdplay ")  # from here on a sentence names other things
ALIASES = {"2048": "Twenty48", "anti-tic-tac-toe": "TicTacToe"}  # classes that are not called as their games are
MOVE = re.compile(r"\bmove [\d,]+: '([^']+)'")  # of a position that is written as its moves
SHOWN = 12  # letters of a long piece that a sentence shows


def names_input(sentence: str, words: Iterable[str]) -> bool:
    """Tell whether a refusal names a piece of what was given: a value, a file, an option, a game, a position.

    A piece may be cut or spelled otherwise ("tic-tac-toe" as TicTacToe).  One of one or two letters must stand by
    itself, in quotes or after a word that introduces it.
    """
    told, given = ELSE.split(sentence, maxsplit=1)[0], list(words)
    pieces = {part for word in given for part in _pieces(word)}
    if (move := MOVE.search(told)) and any(move[1] in word for word in given):
        return True
    return bool(KNOWN.search(sentence)) or any(_is_named(piece, told) for piece in pieces)


def _pieces(word: str) -> set[str]:
    """Return the parts of a word of a command line by which a sentence may name it."""
    parts = {word, word.strip(), word.rpartition("/")[2], *re.split(r"[:=,()/\s]", word.removesuffix(".py"))}
    return parts | {ALIASES[part] for part in parts & ALIASES.keys()} | ({word[:2]} if word[:1] == "-" else set())


def _is_named(piece: str, told: str) -> bool:
    plain = _plain(piece)[:SHOWN]
    if len(plain) > 2 and plain in _plain(told):
        return True
    spelled = {piece[:SHOWN], ascii(piece)[1:-1][:SHOWN], repr(piece)[1:-1][:SHOWN]}
    return any(
        re.search(rf"(['=\"(]|\b(is|not|of|line|read|write|for|file|draw|in) |': ){re.escape(one)}(?!\w)", told)
        for one in spelled
        if one
    ) or (not piece and "''" in told)


def _plain(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def run_part(name: str, *, small: bool, seed: int = 0, count: int | None = None) -> Tally:
    """Run one part of the campaign, at its full or small size or at the one given, and return its tally."""
    tally, part = Tally(name), PARTS[name]
    tries = count or (part.small if small else part.full)
    importlib.import_module(f"tests.hardening.{name}").run(tally, tries, seed)
    return tally


def row(name: str, tally: Tally, seconds: float) -> str:
    """Return a line of the table that the campaign prints."""
    ended = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(tally.outcomes.items()))
    return f"| {name} | {PARTS[name].what} | {tally.tried:,} | {ended} | {len(tally.findings)} | {seconds:.0f} s |"


def run_campaign(names: list[str], *, small: bool, seed: int, count: int | None = None) -> int:
    """Run parts, print a row each and every finding; return the number of findings."""
    print(
        "| part | what is tried | tries | how they ended | findings | time |\n|---|---|---|---|---|---|",
        flush=True,
    )
    findings = []
    for name in names:
        began = time.perf_counter()
        tally = run_part(name, small=small, seed=seed, count=count)
        print(row(name, tally, time.perf_counter() - began), flush=True)
        findings += [f"{name}: {finding}" for finding in tally.findings]
    print("", *findings, sep="\n")
    return len(findings)
