"""The summary of ``check_game``: what it has seen of a game, and what looks suspicious.

A game may keep the contract and still not be the game that its author meant: a field ``turn`` is no player, rules
without a result make every game a draw.  These are warnings, not errors.

The promises of a game that names its cells: their number, their values, what changes them, their neighbours.

No numba in here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from difflib import get_close_matches
from inspect import unwrap
from io import StringIO
from types import FunctionType
from typing import Any
from xml.etree.ElementTree import Element

from mdplay.bits import Mask, as_int, elements, nonempty, popcount
from mdplay.checking.contract_checks import show
from mdplay.compiling.contract import rules, where
from mdplay.compiling.digest import code_names
from mdplay.errors import GameError, pluralize
from mdplay.game import Game, State, num_players
from mdplay.svg import KINDS, PLAYERS, STYLE, uncoloured

MOST_CELLS = 128  # elements of the widest mask
MOST_VALUES = 64
POSITIONS = 200


def check_cells(game: Game[Any], states: Sequence[Any]) -> None:
    """Raise GameError unless a game's cells are as it promises in the states; a game without cells keeps all."""
    if not game.has_cell:
        return
    _check_numbers(game)
    for s in states[:POSITIONS]:
        _check_values(game, s)
        if game.has_changed and not nonempty(game.outcomes(s)):
            for action in elements(game.legal(s)):
                _check_changed(game, s, action)


def _check_numbers(game: Game[Any]) -> None:
    if not 1 <= game.num_cells <= MOST_CELLS:
        raise GameError(f"num_cells is {game.num_cells}; a board with cells has 1 to {MOST_CELLS}")
    if not 2 <= game.cell_values <= MOST_VALUES:
        raise GameError(f"cell_values is {game.cell_values}; a cell has 2 to {MOST_VALUES} values")
    for i in range(game.num_cells):
        found = as_int(game.neighbours(i))
        if found >> game.num_cells or found >> i & 1:
            raise GameError(f"neighbours of cell {i} are {elements(found)}; they are other cells of the board")


def _check_values(game: Game[Any], s: State) -> None:
    for i in range(game.num_cells):
        if not 0 <= game.cell(s, i) < game.cell_values:
            value, most = game.cell(s, i), game.cell_values - 1
            raise GameError(f"cell {i} holds {value} in {show(game, s)}; its values are 0 to {most}")


def _check_changed(game: Game[Any], s: State, action: int) -> None:
    """Check that no cell outside of ``changed`` is another one after an action."""
    after, told = game.step(s, action), as_int(game.changed(s, action))
    if told >> game.num_cells:
        raise GameError(f"changed lists {elements(told)} for action {action}; there are {game.num_cells} cells")
    for i in range(game.num_cells):
        if not told >> i & 1 and game.cell(s, i) != game.cell(after, i):
            raise GameError(f"action {action} in {show(game, s)} changes cell {i}, which changed does not list")


TURNS = ("turn", "to_move", "mover", "side", "active", "current", "whose_turn", "current_player")
ENOUGH = 20  # positions for each action, before one that was never legal is wondered about
LOOKED = 50  # positions that symmetries are tried on
MOST_SYMMETRIES = 64
FEW_GAMES = 10  # that end alike prove nothing
SOME_GAMES = 2  # that each player must have ended alike, before one sign of all results is wondered about
SHAPES = ("circle", "ellipse", "rect", "line", "polygon", "polyline", "path", "text")
COLOURLESS = {"code", "thin", "thick", "tint", "move", "ghost", "last"}  # kinds that a group hands on no colour by


@dataclass
class Seen:
    """What random games of a check have shown."""

    lengths: list[int] = field(default_factory=list)
    totals: list[float] = field(default_factory=list)  # of the games that came to an end
    last: list[int | None] = field(default_factory=list)  # who moved last in each of these
    turns: Counter[tuple[int, int]] = field(default_factory=Counter)  # who moved, and who next
    later: Counter[tuple[int, int]] = field(default_factory=Counter)  # the same, when both had given one away
    mover: int | None = None  # who moved last in the game that is played
    handed: set[int] = field(default_factory=set)  # who gave the turn away in it
    legal: int = 0  # all actions that were ever legal
    most: int = 0  # legal actions at once
    positions: int = 0
    chance: bool = False
    repeats: bool = False
    words: str = ""  # a move or outcome whose name a list of moves cannot tell
    black: str = ""  # what is wrong with a shape without a colour

    def begin(self) -> None:
        """Begin a game."""
        self.mover, self.handed = None, set()

    def note_mover(self, player: int) -> None:
        """Note who moves.  Pieces that one sets up before the other moves at all are no turns of play."""
        if self.mover is not None:
            turn = self.mover, player
            self.turns[turn] += 1
            self.later[turn] += len(self.handed) == 2
            if player != self.mover:
                self.handed.add(self.mover)
        self.mover = player

    def note_moves(self, mask: Mask) -> None:
        """Note the legal actions of a position."""
        self.legal |= as_int(mask)
        self.most = max(self.most, popcount(mask))
        self.positions += 1


def _says_endless(cls: type) -> bool:
    """Return whether a game sets ``endless``, the value of infinite play: then its cycles are intended."""
    return any("endless" in vars(base) for base in cls.__mro__[: cls.__mro__.index(Game)])


def sentence(players: int, seen: Seen, points: bool) -> str:
    """Return in one line how a game was understood."""
    kinds = ["two players" if players == 2 else "one player"]
    kinds += ["chance"] * seen.chance + ["points"] * points
    moves = f"at most {pluralize(seen.most, 'move')} to choose from"
    shortest, longest = min(seen.lengths), max(seen.lengths)
    games = (
        f"games of {shortest:,} to {pluralize(longest, 'move')}"
        if shortest < longest
        else f"games of {pluralize(longest, 'move')}"
    )
    again = "positions repeat" if seen.repeats else "no position repeated"
    return ", ".join([*kinds, moves, games, again])


def warnings(game: Game[Any], seen: Seen, states: list[Any]) -> Iterator[str]:
    """Yield what may not be meant, one sentence each."""
    yield from _about_players(game)
    yield from _about_turns(game, seen)
    yield from _about_results(game, seen)
    yield from _about_actions(seen)
    yield from _about_symmetries(game, states[:LOOKED])
    meant = num_players(game) == 1 or hasattr(game, "max_moves") or _says_endless(type(game))
    ended, played = len(seen.totals), len(seen.lengths)
    if seen.repeats and not meant and 0 < ended < played:
        unfinished = f"positions repeat, and {played - ended} of {pluralize(played, 'random game')} did not end"
        yield f"{unfinished}: infinite play is a draw unless the game sets endless; is that meant?"
    if type(game).text is not Game.text and not game.has_parse:
        yield "text is written and parse is not: positions can be given as their fields only"
    if seen.words:
        yield f"{seen.words!r} has a space or a comma in it, which moves:a,b,c cannot tell from two moves"
    if seen.black:
        yield f"svg: {seen.black}"
    yield from _about_names(type(game))
    for function in printing(game):
        yield f"{where(function)} prints; take it out before anything long is run"


def _about_names(cls: type) -> Iterator[str]:
    """Yield unused methods whose names are nearly those of the contract."""
    known = [name for name in dir(Game) if not name.startswith(("_", "has_")) and callable(getattr(Game, name))]
    own = dict(rules(cls))
    called: set[str] = set().union(*(code_names(unwrap(function).__code__) for function in own.values()))
    for name in sorted(set(own) - set(known) - called):
        if alike := get_close_matches(name, known, n=1, cutoff=0.8):
            yield f"{cls.__name__}.{name} is never called: did you mean {alike[0]}?"


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
        yield f"none of {pluralize(len(seen.lengths), 'random game')} came to an end: does every game end?"
    if not game.has_result and not game.has_reward:
        yield "neither result nor reward is written: every game has the value 0"
    elif len(seen.totals) >= FEW_GAMES and len(set(seen.totals)) == 1 and not _is_puzzle(game, seen):
        ended = pluralize(len(seen.totals), "random game")
        yield f"all {ended} ended with {seen.totals[0]:+g}: is the result meant so?"
    elif num_players(game) == 2 and not game.has_reward:
        yield from _about_signs(seen)


def _is_puzzle(game: Game[Any], seen: Seen) -> bool:
    """Return whether every random game that ended has reached a goal, as those of a puzzle do."""
    return num_players(game) == 1 and not game.has_reward and seen.totals[0] > game.endless


def _about_signs(seen: Seen) -> Iterator[str]:
    """Warn if results seem to be for the player who moved last: all have one sign, and both players moved last.

    Where only one player can win, the other never makes the move that wins; points have more values than one.
    """
    decided = {total for total in seen.totals if total}
    movers = Counter(who for total, who in zip(seen.totals, seen.last, strict=True) if total)
    if len(seen.totals) < FEW_GAMES or len(decided) != 1 or min(movers[0], movers[1]) < SOME_GAMES:
        return
    value = decided.pop()
    never, other = ("below", "second") if value > 0 else ("above", "first")
    ended = f"{movers[0]} by a move of the first player and {movers[1]} by one of the second"
    yield (
        f"no result of {pluralize(len(seen.totals), 'random game')} was {never} 0, and {value:+g} came {ended}: "
        f"result speaks for the first player (player == 0), so is a win of the {other} meant to be {-value:+g}?"
    )


def _about_turns(game: Game[Any], seen: Seen) -> Iterator[str]:
    """Wonder whether a branch of step forgets whose turn it is: one player moves on and on, the other never."""
    if num_players(game) == 1:
        return
    for player in (0, 1):
        other = 1 - player
        who, whose = f"the {PLAYERS[player]} player (player == {player})", PLAYERS[other]
        played = pluralize(len(seen.lengths), "random game")
        again = seen.later[player, player]
        if not seen.turns[player, other] and seen.turns[player, player] >= ENOUGH:
            yield f"once {who} had moved, the {whose} never moved again in {played}: does step change the player?"
        elif again >= ENOUGH and seen.later[other, player] >= ENOUGH and not seen.later[other, other]:
            yield (
                f"{who} moved twice in a row {pluralize(again, 'time')} in {played}, the {whose} never: "
                f"does step change the player?"
            )


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
            seen = pluralize(len(states), "position")
            yield f"symmetry {k} changed none of {seen}: it is the identity, or not written yet"
            return


def black(drawn: str, root: Element) -> str:
    """Return what is wrong with a shape that neither the style sheet nor the picture colours, or nothing."""
    if STYLE not in drawn:
        return ""  # a picture with a style sheet of its own
    return next(_black_shapes(root, False), "")


def _black_shapes(shape: Element, inside: bool) -> Iterator[str]:
    """Yield what is wrong with the kinds of a shape and of those in it; ``inside``: it inherits a colour."""
    kind = shape.get("class")
    named = set((kind or "").split()) & KINDS - COLOURLESS
    coloured = inside or bool(named) or bool({"fill", "stroke", "style"} & shape.attrib.keys())
    if (
        kind is not None
        and not coloured
        and shape.tag.rpartition("}")[2] in SHAPES
        and (wrong := uncoloured(kind))
    ):
        yield wrong
    for part in shape:
        yield from _black_shapes(part, coloured)


def unclear(named: list[str]) -> str:
    """Return the first of some names that a list of moves cannot tell, or nothing."""
    return next((name for name in named if any(c.isspace() or c == "," for c in name)), "")
