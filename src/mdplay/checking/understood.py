"""What ``check_game`` has seen of a game, in words, and what it wonders about.

A game may keep the contract and still not be the game that its author meant: a field ``turn`` is no player, rules
without a result make every game a draw.  Nothing of this is refused; it is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from difflib import get_close_matches
from inspect import unwrap
from io import StringIO
from types import FunctionType
from typing import Any

from mdplay.bits import as_int, popcount
from mdplay.contract import rules, where
from mdplay.digest import code_names
from mdplay.game import Game, num_players

TURNS = ("turn", "to_move", "mover", "side", "active", "current", "whose_turn", "current_player")
ENOUGH = 20  # positions for each action, before one that was never legal is wondered about
LOOKED = 50  # positions that symmetries are tried on
MOST_SYMMETRIES = 64
FEW_GAMES = 10  # that end alike prove nothing


@dataclass
class Seen:
    """What random games of a check have shown."""

    lengths: list[int] = field(default_factory=list)
    totals: list[float] = field(default_factory=list)  # of the games that came to an end
    legal: int = 0  # all actions that were ever legal
    most: int = 0  # legal actions at once
    positions: int = 0
    chance: bool = False
    repeats: bool = False
    words: str = ""  # a move or outcome whose name a list of moves cannot tell

    def note_moves(self, mask: Any) -> None:
        """Note the legal actions of a position."""
        self.legal |= as_int(mask)
        self.most = max(self.most, popcount(mask))
        self.positions += 1


def _says_endless(cls: type) -> bool:
    """Tell whether a game says itself what endless play is worth: then positions are meant to come again."""
    return any("endless" in vars(base) for base in cls.__mro__[: cls.__mro__.index(Game)])


def sentence(players: int, seen: Seen, points: bool) -> str:
    """Return in one line how a game was understood."""
    kinds = ["two players" if players == 2 else "one player"]
    kinds += ["chance"] * seen.chance + ["points"] * points
    moves = f"at most {seen.most} moves to choose from"
    shortest, longest = min(seen.lengths), max(seen.lengths)
    games = f"games of {shortest} to {longest} moves" if shortest < longest else f"games of {longest} moves"
    again = "positions come again" if seen.repeats else "no position came again"
    return ", ".join([*kinds, moves, games, again])


def warnings(game: Game[Any], seen: Seen, states: list[Any]) -> Iterator[str]:
    """Yield what may not be meant, one sentence each."""
    yield from _about_players(game)
    yield from _about_results(game, seen)
    yield from _about_actions(seen)
    yield from _about_symmetries(game, states[:LOOKED])
    meant = num_players(game) == 1 or hasattr(game, "max_moves") or _says_endless(type(game))
    if seen.repeats and not meant:
        yield "positions come again, so a game may go on for ever: count the moves in the state, or set max_moves"
    if type(game).text is not Game.text and not game.has_parse:
        yield "text is written and parse is not: positions can be given as their fields only"
    if seen.words:
        yield f"{seen.words!r} has a space or a comma in it, which moves:a,b,c cannot tell from two moves"
    yield from _about_names(type(game))
    for function in printing(game):
        yield f"{where(function)} prints; take it out before anything long is run"


def _about_names(cls: type) -> Iterator[str]:
    """Yield methods that nobody calls and whose names are nearly those of the contract."""
    known = [name for name in dir(Game) if not name.startswith(("_", "has_")) and callable(getattr(Game, name))]
    own = dict(rules(cls))
    called: set[str] = set().union(*(code_names(unwrap(function).__code__) for function in own.values()))
    for name in sorted(set(own) - set(known) - called):
        if alike := get_close_matches(name, known, n=1, cutoff=0.8):
            yield f"{cls.__name__}.{name} is called by nobody: did you mean {alike[0]}?"


def printing(game: Game[Any]) -> list[FunctionType]:
    """Return the rules that print."""
    own = [unwrap(function) for _, function in rules(type(game))]
    return [f for f in own if "print" in code_names(f.__code__) and "print" not in f.__globals__]


@contextmanager
def muted(game: Game[Any]) -> Iterator[None]:
    """Let a game that prints do so unheard."""
    if not printing(game):
        yield
        return
    with redirect_stdout(StringIO()):
        yield


def _about_players(game: Game[Any]) -> Iterator[str]:
    names = [name for name in getattr(game.initial(), "_fields", ()) if name.lower() in TURNS]
    if num_players(game) == 1 and names:
        yield (
            f"the state has a field {names[0]} and none called player, so this is taken for a game for one: "
            f"call it player, or write player(s)"
        )


def _about_results(game: Game[Any], seen: Seen) -> Iterator[str]:
    if not seen.totals:
        yield f"none of {len(seen.lengths)} random games came to an end: does every game end?"
    if not game.has_result and not game.has_reward:
        yield "neither result nor reward is written: every game is worth 0 to everybody"
    elif len(seen.totals) >= FEW_GAMES and len(set(seen.totals)) == 1:
        yield f"all {len(seen.totals)} random games ended with {seen.totals[0]:+g}: is the result meant so?"


def _about_actions(seen: Seen) -> Iterator[str]:
    count = seen.legal.bit_length()
    unused = [action for action in range(count) if not seen.legal >> action & 1]
    if unused and seen.positions >= ENOUGH * count:
        shown = ", ".join(map(str, unused[:5])) + (", ..." if len(unused) > 5 else "")
        yield f"of the actions 0 .. {count - 1} these were never legal: {shown}"


def _about_symmetries(game: Game[Any], states: list[Any]) -> Iterator[str]:
    if not game.has_symmetries:
        return
    for k in range(1, min(game.symmetries(), MOST_SYMMETRIES)):
        if all(game.image(s, k) == s for s in states):
            yield f"symmetry {k} changed none of {len(states)} positions: it is the identity, or not written yet"
            return


def unclear(named: list[str]) -> str:
    """Return the first of some names that a list of moves cannot tell, or nothing."""
    return next((name for name in named if any(c.isspace() or c == "," for c in name)), "")
