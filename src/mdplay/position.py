"""A position to hold in the hand: a game, a state and all that led there.

    >>> from mdplay import Position, make
    >>> p = Position.start(make("connect-four")).play("4").play("4").play("5")
    >>> p.player, p.moves
    (1, ['1', '2', '3', '4', '5', '6', '7'])
    >>> p.played
    ['4', '4', '5']
    >>> print(p)
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . O . . .
    . . . X X . .
    1 2 3 4 5 6 7

A state is all that matters for the rest of the game; who earned which points is a matter of the past, which
only a position knows.  An *event* is an action where a player moves and an outcome where chance does; the state
tells which.  A position never changes: an event leads to another one, which remembers where it came from, so a
long game costs no more than its events.  In a notebook a position draws itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from inspect import Parameter, signature
from itertools import pairwise
from typing import Any, Generic, ParamSpec, TypeVar

from mdplay.bits import elements, has, nonempty
from mdplay.compiling.contract import check_is_game, state_class
from mdplay.errors import GameError, IllegalMove, PositionError, short
from mdplay.game import Game, Past, S, num_players
from mdplay.naming.notation import MOVES, event_text, find_event, find_numbered, parse_position, split_moves
from mdplay.naming.notation import find_action as action_of
from mdplay.svg import typed

P = ParamSpec("P")
R = TypeVar("R")
MAX_EVENTS = 1_000_000


@dataclass(frozen=True, slots=True)
class Position(Generic[S]):
    """A state of a game, with its past as far as it is known.  Playing a move gives another position.

    Positions are equal if their games and states are, whatever led there.
    """

    game: Game[S]
    state: S = None  # type: ignore[assignment]  # a missing state is reported
    before: Position[S] | None = field(default=None, repr=False, compare=False)  # None: no past is known
    event: int = field(default=-1, repr=False, compare=False)  # what led here from ``before``
    earned: float = field(default=0.0, repr=False, compare=False)  # by player 0, minus what player 1 earned
    num_events: int = field(default=0, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Raise GameError or PositionError unless this is a game and a state."""
        if not isinstance(self.state, tuple):
            check_is_game(self.game)
            ways = "write Position.start(game) for the start, Position.parse(game, text) for a text"
            raise PositionError(f"{short(repr(self.state))} is not a state of {type(self.game).__name__}; {ways}")

    @classmethod
    def start(cls, game: Game[S], state: S | None = None) -> Position[S]:
        """Return the start of a game, or a state of unknown past; chance may have to move first."""
        return cls(game, as_state(game, state))

    @classmethod
    def parse(cls, game: Game[S], text: str) -> Position[S]:
        """Return the position that a text names: ``moves:a,b,c``, or the game's own notation."""
        text = text.strip()
        if text.startswith(MOVES):
            return cls.start(game).play_all(split_moves(text.removeprefix(MOVES)))
        return cls.start(game, parse_position(game, text))

    # ---------------------------------------------------------------- what there is
    @property
    def is_chance(self) -> bool:
        """Whether chance moves."""
        return self.game.has_outcomes and nonempty(self.game.outcomes(self.state))

    @property
    def is_over(self) -> bool:
        """Whether the game is over."""
        return not self.is_chance and not nonempty(self.game.legal(self.state))

    @property
    def player(self) -> int | None:
        """Who moves, 0 or 1; None if chance moves or the game is over."""
        return None if self.is_chance or self.is_over else self.mover

    @property
    def mover(self) -> int:
        """Who moves, where a player does; GameError if that is neither 0 nor 1."""
        player = self.game.player(self.state)
        if player not in (0, 1):
            raise GameError(f"player must be 0 or 1, not {player}, in {self.text}")
        return player

    @property
    def actions(self) -> list[int]:
        """The legal actions."""
        return [] if self.is_chance else elements(self.game.legal(self.state))

    @property
    def moves(self) -> list[str]:
        """The legal moves, in the game's notation."""
        return [self.game.move_text(self.state, action) for action in self.actions]

    @property
    def outcomes(self) -> dict[str, float]:
        """What chance may do, in the game's notation, with the probabilities."""
        game, s = self.game, self.state
        return {game.outcome_text(s, i): game.probability(s, i) for i in elements(game.outcomes(s))}

    @property
    def points(self) -> tuple[float, ...]:
        """What each player has earned in the past that is known."""
        earned = [0.0] * num_players(self.game)
        for p, action in self._moves_made():
            earned[p.mover] += self.game.reward(p.state, action)
        return tuple(earned)

    @property
    def total(self) -> float:
        """What player 0 has got: own points, minus the opponent's, plus the result once the game is over."""
        total = self.earned + (float(self.game.result(self.state)) if self.is_over else 0.0)
        if not math.isfinite(total):
            raise GameError(f"rewards and result come to {total} in {self.text}")
        return total

    @property
    def total_if_endless(self) -> float:
        """The result for player 0 if the game is truncated here: the points and the value of infinite play."""
        return self.total + self.game.endless

    @property
    def result(self) -> float | None:
        """The result for player 0, points of the known past included; None before the end."""
        return self.total if self.is_over else None

    # ---------------------------------------------------------------- what led here
    def history(self) -> Iterator[Position[S]]:
        """Yield this position, the one before it and so on, back to the first that is known."""
        position: Position[S] | None = self
        while position is not None:
            yield position
            position = position.before

    @property
    def positions(self) -> list[Position[S]]:
        """All positions from the first that is known to this one."""
        return list(self.history())[::-1]

    @property
    def events(self) -> tuple[int, ...]:
        """The actions and outcomes that led here from the first position that is known."""
        return tuple(p.event for p in self.positions[1:])

    @property
    def played(self) -> list[str]:
        """The events in the game's notation."""
        return [event_text(self.game, p.state, q.event) for p, q in pairwise(self.positions)]

    @property
    def past(self) -> Past:
        """The moves of the players, each with the state in which it was made."""
        return tuple((p.state, action) for p, action in self._moves_made())

    def _moves_made(self) -> list[tuple[Position[S], int]]:
        return [(p, q.event) for p, q in pairwise(self.positions) if not p.is_chance]

    # ---------------------------------------------------------------- what one can do
    def play(self, move: str | int) -> Position[S]:
        """Return the position after a move in the game's notation, an action, or an outcome of chance."""
        if isinstance(move, str):
            return self.after(find_event(self.game, self.state, move))
        what, events = ("outcome", self.game.outcomes) if self.is_chance else ("action", self.game.legal)
        if not has(events(self.state), move):
            choices = elements(events(self.state))
            raise IllegalMove(f"{what} {move} is not legal in {self.text}; choose from {choices}")
        return self.after(move)

    def play_all(self, moves: Iterable[str]) -> Position[S]:
        """Return the position after moves in the game's notation; PositionError tells the first bad one."""
        position = self
        for number, move in enumerate(moves, start=1):
            position = position.after(find_numbered(self.game, position.state, number, move))
        return position

    def replay(self, events: Iterable[int]) -> Position[S]:
        """Return the position after events that are known to be legal."""
        position = self
        for event in events:
            position = position.after(event)
        return position

    def after(self, event: int) -> Position[S]:
        """Return the position after an event that is known to be legal; GameError if the game never ends."""
        game, s, number = self.game, self.state, self.num_events + 1
        if number > MAX_EVENTS:
            raise GameError(f"the game did not end within {MAX_EVENTS} moves; does every game end?")
        if self.is_chance:
            return Position(game, game.outcome(s, event), self, event, self.earned, number)
        earned = self.earned + self._gain(event) if game.has_reward else self.earned
        return Position(game, game.step(s, event), self, event, earned, number)

    def _gain(self, action: int) -> float:
        points = float(self.game.reward(self.state, action))
        return -points if self.game.player(self.state) else points

    def draw(self, word: int) -> int:
        """Return an outcome of the pending chance event, drawn by a random word; GameError if it is none."""
        i = self.game.draw(self.state, word)
        if not has(self.game.outcomes(self.state), i):
            raise GameError(f"draw gave outcome {i}, which is not among the outcomes of {self.text}")
        return i

    def undo(self) -> Position[S]:
        """Return the position in which the last move was made."""
        for position in self.history():
            if position is not self and not position.is_chance:
                return position
        raise IllegalMove(f"there is no move to take back in {self.text}")

    # ---------------------------------------------------------------- what it looks like
    @property
    def text(self) -> str:
        """The state in the game's notation."""
        return self.game.text(self.state)

    @property
    def board(self) -> str:
        """The picture in characters."""
        return self._picture("board")

    @property
    def svg(self) -> str:
        """The picture as SVG; that of the characters, if the game draws no other."""
        return typed(self.board) if type(self.game).svg is Game.svg else self._picture("svg")

    def _picture(self, name: str) -> str:
        with_past = {"past": self.past} if _takes_past(getattr(type(self.game), name)) else {}
        picture: str = getattr(self.game, name)(self.state, **with_past)
        return picture

    def __str__(self) -> str:
        return self.board

    def _repr_svg_(self) -> str:
        return self.svg

    def document(self) -> dict[str, Any]:
        """Return the position for JSON: whose move it is, the points so far, and the moves or outcomes."""
        game, s = self.game, self.state
        return {
            "position": self.text,
            "player": self.player,
            "points": list(self.points),
            "moves": [
                {"move": game.move_text(s, a), "action": a, "reward": game.reward(s, a)} for a in self.actions
            ],
            "outcomes": [{"outcome": name, "probability": chance} for name, chance in self.outcomes.items()],
            "result": self.result,
        }

    # ---------------------------------------------------------------- copies
    def __reduce__(self) -> tuple[Any, ...]:
        """Return the arguments of a copy: the events, since a chain of positions may be too deep for recursion."""
        return _replayed, (self.game, self.positions[0].state, self.events)


def as_state(game: Game[S], given: Any = None) -> S:
    """Return the state that somebody gave: a state, a Position, a text, or None for the start.

    Raise GameError if the game is none, and PositionError for anything else.
    """
    check_is_game(game)
    if given is None:
        return game.initial()
    if isinstance(given, Position):
        if given.game != game:
            raise PositionError(f"a position of {given.game!r} was given, not of {game!r}")
        return given.state  # type: ignore[no-any-return]
    if isinstance(given, str):
        return parse_position(game, given)
    name = type(game).__name__
    if not isinstance(given, tuple):
        known = "give a state, a Position or a text"
        raise PositionError(f"{short(repr(given))} is not a position of {name}; {known}")
    cls = state_class(type(game))
    if not isinstance(given, cls) and getattr(given, "_fields", None) == cls._fields:
        given = cls(*given)  # of a class that was defined again, as in a notebook
    if not isinstance(given, cls):
        fields = ", ".join(cls._fields)
        raise PositionError(
            f"{short(repr(given))} is not a state of {name}; states are of the class {cls.__name__}({fields})"
        )
    if not all(hasattr(value, "__index__") or isinstance(value, float) for value in given):
        raise PositionError(f"{short(repr(given))} is not a state of {name}; its fields are numbers")
    return given  # type: ignore[no-any-return]


StateLike = tuple[Any, ...] | Position[Any] | str  # what public functions accept as a state


def takes_state(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function take what ``as_state`` reads: a state, a Position, a text, or None for the start.

    The state is the parameter ``state`` or ``s``.  The game is the parameter ``game``; a method without one is
    that of an object with an attribute ``game``, and a state that is given to it passes unchanged.
    """
    names = list(signature(function).parameters)
    at = next(place for place, name in enumerate(names) if name in ("state", "s"))
    name, owner = names[at], names.index("game") if "game" in names else None
    needed = signature(function).parameters[name].default is Parameter.empty

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> R:
        given = args[at] if len(args) > at else kwargs.get(name)
        if (owner is None and isinstance(given, tuple)) or (needed and len(args) <= at and name not in kwargs):
            return function(*args, **kwargs)
        game = args[0].game if owner is None else args[owner] if len(args) > owner else kwargs["game"]
        state = as_state(game, given)
        if len(args) > at:
            return function(*args[:at], state, *args[at + 1 :], **kwargs)
        return function(*args, **{**kwargs, name: state})

    return call


@takes_state
def find_action(game: Game[S], state: Any, move: str) -> int:
    """Return the legal action that a move in the game's notation means, or raise IllegalMove."""
    return action_of(game, state, move)


def _replayed(game: Game[S], state: S, events: tuple[int, ...]) -> Position[S]:
    return Position.start(game, state).replay(events)


@lru_cache(maxsize=256)
def _takes_past(method: Callable[..., str]) -> bool:
    """Return whether a game's ``board`` or ``svg`` has the parameter ``past``, for the moves made."""
    return "past" in signature(method).parameters
