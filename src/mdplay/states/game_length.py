"""How long games last, and when a game that repeats positions is truncated.

A game with cycles may continue without end.  It is truncated after a number of moves, chance events included: as
the caller says, or as the game says (``max_moves``).  If neither does, it is truncated

- when a position occurs for the third time and no random number was drawn in between (deterministic agents in a
  loop),
- in games without chance, after ten times the mean length of random games,
- in games with chance, which end with probability 1 under most policies, after MAX_CHANCE_MOVES moves.

A truncated game has the value of infinite play (``endless`` of the game, 0 by default), and the points earned on
the way count.  Games that do not repeat positions end by themselves and are never truncated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from mdplay.bits import nonempty
from mdplay.compiling.contract import wrap_rule_errors
from mdplay.compiling.digest import per_game
from mdplay.errors import GameError, LimitError
from mdplay.game import Game
from mdplay.position import Position
from mdplay.rng import Random

if TYPE_CHECKING:
    from mdplay.compiling import State

MAX_MOVES = 1_000_000  # a game that comes so far never ends
TIMES = 10  # the mean length
LEAST = 100  # lower bound of the automatic move limit
MAX_CHANCE_MOVES = 100_000  # automatic move limit of a game with chance that repeats positions
REPETITIONS = 3  # a game is truncated when a position occurs this often and nothing random happened in between
CUT = 500  # moves of a random game of the sample
ENDS = 1000  # total moves of the random games that sample the results
FEW, MANY = 4, 20  # games of a sample, before and after a position came again


class Lengths(NamedTuple):
    """What a few random games show: how long they are on average, and whether positions come again."""

    mean: float
    repeats: bool


@per_game(maxsize=64)
def lengths(game: Game[Any]) -> Lengths:
    """Return the lengths of a few random games in plain Python, each cut after 500 moves."""
    seen: list[int] = []
    repeats = False
    with wrap_rule_errors():
        for number in range(MANY):
            if number == FEW and not repeats:
                break
            states = random_game(game, Random(0, number))
            seen.append(len(states) - 1)
            repeats |= len(set(states)) < len(states)
    return Lengths(sum(seen) / len(seen), repeats)


def random_game(game: Game[Any], rng: Random, most: int = CUT + 1, start: Any = None) -> list[Any]:
    """Return the states of a random game from a state (default: the start), at most ``most`` of them."""
    states = [game.initial() if start is None else start]
    while len(states) < most:
        s = states[-1]
        if nonempty(game.outcomes(s)):
            states.append(game.outcome(s, game.draw(s, rng.word())))
        elif nonempty(game.legal(s)):
            states.append(game.step(s, rng.pick(game.legal(s))))
        else:
            break
    return states


@per_game(maxsize=64)
def has_margins(game: Game[Any]) -> bool:
    """Return whether some wins are better than others: results beyond -1 .. 1, as far as random games show."""
    number, moves = 0, 0
    with wrap_rule_errors():
        while moves < ENDS:
            states = random_game(game, Random(1, number))
            number, moves = number + 1, moves + len(states)
            if len(states) <= CUT and not abs(game.result(states[-1])) <= 1:
                return True
    return False


def explicit_move_limit(game: Game[Any], max_moves: int | None = None) -> int | None:
    """Return the move limit that the caller or the game sets, or None."""
    if max_moves is not None:
        if max_moves < 1:
            raise LimitError(f"max_moves={max_moves} must be at least 1")
        return max_moves
    told = getattr(game, "max_moves", None)
    if told is not None and (not isinstance(told, int) or told < 1):
        raise GameError(f"{type(game).__name__}.max_moves is {told!r}; it must be a whole number from 1 on")
    return told


def repeating_limit(game: Game[Any]) -> int:
    """Return the moves after which a random game that has repeated a position is truncated."""
    return max(LEAST, round(TIMES * lengths(game).mean))


def may_repeat(game: Game[Any]) -> bool:
    """Return whether the game has cycles without chance: it sets ``endless``, or a random game repeats."""
    if game.has_outcomes or game.has_size:  # a number for each state rises with every move
        return False
    return game.endless != 0 or lengths(game).repeats


def move_limit(game: Game[Any], max_moves: int | None = None) -> int:
    """Return the move limit of random games; ``MAX_MOVES`` if positions do not repeat."""
    told = explicit_move_limit(game, max_moves)
    if told is not None:
        return min(told, MAX_MOVES)
    if game.has_size or not lengths(game).repeats:  # a number for each state rises with every move
        return MAX_MOVES
    return repeating_limit(game)


class MoveLimit:
    """Decides when a game is truncated; it must see every position of the game."""

    def __init__(self, game: Game[Any], max_moves: int | None = None) -> None:
        self.game = game
        self.limit = explicit_move_limit(game, max_moves)
        self._is_given = self.limit is not None
        self._states: set[Any] = set()  # from move LEAST on
        self._streams: tuple[int, ...] = ()
        self._met: Counter[Any] = Counter()  # since the streams last changed

    def is_truncated(self, position: Position[Any], streams: Sequence[Random] | None = None) -> bool:
        """Return whether the game is truncated here.

        ``streams`` are the random streams of the players and of chance, given if all agents are the package's own:
        while they stand still, everything that happens is determined by the position.
        """
        if not self._is_given:
            if self.limit is None and position.num_events >= LEAST:
                if position.state in self._states:
                    self.limit = MAX_CHANCE_MOVES if self.game.has_outcomes else repeating_limit(self.game)
                self._states.add(position.state)
            if streams is not None and self._repeats(position.state, tuple(one.state for one in streams)):
                return True
        return self.limit is not None and position.num_events >= self.limit

    def _repeats(self, state: State, streams: tuple[int, ...]) -> bool:
        """Return whether a state occurs for the third time since a random number was drawn."""
        if streams != self._streams:
            self._streams = streams
            self._met.clear()
        self._met[state] += 1
        return self._met[state] == REPETITIONS
