"""Values of states, the tie rule, and the interfaces between solvers, tables and solutions.

A `Question` asks for the values of a game.  A `Solver` says what an answer costs (``applies``) and returns a
`Table` (``fill``); a `Solution` reads it.  Games and installed packages may add solvers with tables of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import elements, nonempty
from mdplay.compiling import State, inlined, pack
from mdplay.compiling.contract import method_hints, wrap_rule_errors
from mdplay.errors import FormatError, GameError, LimitError, MdplayError
from mdplay.game import Game
from mdplay.position import takes_state
from mdplay.rng import Random
from mdplay.runtime.memory import budget, format_bytes
from mdplay.runtime.run import Run
from mdplay.states.game_length import FEW, random_game
from mdplay.states.sampling import Sample, most_seen, sample_games

TIE = 1e-9  # relative tolerance: values this close to the best one are tied with it
Arrays = dict[str, NDArray[Any]]


# ---------------------------------------------------------------- values and ties
@inlined
def slack(value: float) -> float:
    """Return the largest difference from a value that still counts as a tie."""
    return TIE * max(1.0, abs(value))


def slacks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``slack`` of every element of an array."""
    found: NDArray[np.float64] = TIE * np.maximum(1.0, np.abs(values))
    return found


@inlined
def delays(value: float, endless: float) -> bool:
    """Return whether a player with this value delays the end; both numbers are for that player.

    A player delays if its value is below that of infinite play (``endless``), or equal to it if infinite play is
    a loss.  All others hurry.
    """
    return value < (endless - slack(value) if endless >= 0 else endless + slack(value))


def finite(bound: float) -> float | None:
    """Return a bound of a value for JSON: None if it is infinite."""
    return bound if math.isfinite(bound) else None


def known(low: float, high: float) -> bool:
    """Return whether two bounds are tied, so that the value between them counts as known."""
    return low == high or (math.isfinite(low) and high - low <= slack(low))


def between(low: float, high: float) -> float:
    """Return the number with the fewest decimal digits from ``low`` to ``high``; 0 if it is one of them.

    The bounds of value iteration are 1e-12 apart; any number between them is as good as the middle.
    """
    if low <= 0.0 <= high or low == high:
        return 0.0 if low <= 0.0 <= high else low
    middle = low / 2.0 + high / 2.0
    if not math.isfinite(middle):
        return middle
    rounded = (float(f"{middle:.{digits}g}") for digits in range(1, 18))
    return next((number for number in rounded if low <= number <= high), middle)


def has_integer_values(game: Game[Any]) -> bool:
    """Return whether all values are integers: no chance, and rewards and results that are annotated so."""
    kinds = [method_hints(type(game), getattr(type(game), name))["return"] for name in ("reward", "result")]
    flags = (game.has_reward, game.has_result)
    return not game.has_outcomes and all(
        kind in (int, bool) for kind, flag in zip(kinds, flags, strict=True) if flag
    )


class StateValue(NamedTuple):
    """A value, the plies to the end if they are counted, and the score of a game that scores fast wins higher."""

    value: float
    distance: int | None
    score: int | None = None


@dataclass(frozen=True)
class Choice:
    """An action with bounds of its value for the player who makes it.

    ``distance`` is the number of plies to the end, if it is counted; ``score`` is that of games which score fast
    wins higher, such as Connect Four.
    """

    action: int
    low: float
    high: float
    distance: int | None = None
    score: int | None = None

    @property
    def exact(self) -> bool:
        """Whether the value is known, within the tie rule."""
        return known(self.low, self.high)

    @property
    def value(self) -> float | None:
        """The value, a number between the bounds; None while only bounds are known."""
        return between(self.low, self.high) if self.exact else None

    def document(self) -> dict[str, Any]:
        """Return the choice for JSON; ``score`` is present only if there is one."""
        facts = {
            "action": self.action,
            "value": None if self.value is None else finite(self.value),
            "low": finite(self.low),
            "high": finite(self.high),
            "distance": self.distance,
        }
        return facts if self.score is None else {**facts, "score": self.score}


def best_actions(choices: Sequence[Choice]) -> list[int]:
    """Return the actions of the highest value, within the tie rule; none while another action may be better."""
    best = max((choice.low for choice in choices), default=0.0)
    if any(choice.high > best + slack(best) for choice in choices):
        return []
    return [choice.action for choice in choices if choice.low >= best - slack(best)]


def _plies(choice: Choice) -> float:
    """Return the plies to the end after a choice; infinity if play does not end."""
    return math.inf if choice.distance is None else choice.distance


# ---------------------------------------------------------------- tables
class NotKept(GameError):
    """A table does not keep what was asked for."""


class Table:
    """The values of a game's states: the base class of what solvers return.

    A subclass has ``method``, ``game``, ``__len__`` and ``lookup``, and overrides what it does better.  A table
    that can be saved has ``to_arrays`` and ``from_arrays`` as well: the class is registered for files of its
    ``kind`` when it is defined.
    """

    method: str
    game: Game[Any]
    kind: ClassVar[str] = ""  # of its files
    array_types: ClassVar[Mapping[str, str]] = {}  # by array of a file: the names of the types that it may have
    readers: ClassVar[dict[str, type[Table]]] = {}  # by kind
    on_demand = False  # whether positions are solved one by one, on demand
    seconds: float | None = None  # time limit of an answer, if positions are solved on demand

    def __init_subclass__(cls) -> None:
        if "from_arrays" in vars(cls):
            Table.readers[cls.kind] = cls

    def __len__(self) -> int:
        """Return the number of states with a value."""
        raise NotImplementedError

    def lookup(self, state: State, player: int) -> StateValue:
        """Return the value of a state for a player."""
        raise NotImplementedError

    @property
    def status(self) -> str:
        """What a table that solves positions on demand has proved so far of the position that it searches."""
        return ""

    def learn(self, rows: NDArray[np.uint64], scores: NDArray[np.int64]) -> None:
        """Store the scores of packed states, for their players to move; only tables that solve on demand."""
        raise NotImplementedError

    # ---------------------------------------------------------------- one state
    def bounds(self, state: State, player: int) -> tuple[float, float]:
        """Return bounds of the value of a state for a player."""
        value = float(self.lookup(state, player).value)
        return value, value

    def endless(self, state: State) -> bool:
        """Return whether best play from a state is infinite."""
        return False

    @takes_state
    def plays(self, state: Any) -> bool:
        """Return whether a player is to move in a state: the game is not over, and chance does not move."""
        return nonempty(self.game.legal(state)) and not nonempty(self.game.outcomes(state))

    def choices(self, state: State) -> list[Choice]:
        """Return every legal action with its value, in ascending order."""
        return [self.choice(state, action) for action in elements(self.game.legal(state))]

    def choice(self, state: State, action: int) -> Choice:
        """Return one legal action with its value."""
        found = self.lookup(self.game.step(state, action), self.game.player(state))
        value = float(self.game.reward(state, action)) + found.value
        return Choice(action, value, value, None if found.distance is None else found.distance + 1)

    @takes_state
    def favourites(self, state: Any, choices: Sequence[Choice]) -> list[int]:
        """Return the actions that a perfect player may choose: of the best the soonest, or of a loss the latest.

        While the best action is not known, return the one with the highest lower bound.
        """
        best = set(best_actions(choices))
        tied = [choice for choice in choices if choice.action in best]
        if not tied:
            return [c.action for c in sorted(choices, key=lambda c: (-c.low, -c.high, c.action))[:1]]
        return self.fastest(state, tied)

    @takes_state
    def fastest(self, state: Any, tied: Sequence[Choice]) -> list[int]:
        """Return those of tied choices that end soonest, or latest for a player who delays."""
        sign = -1 if self.game.player(state) else 1
        late = -1 if delays(max(choice.low for choice in tied), sign * self.game.endless) else 1
        first = min(late * _plies(choice) for choice in tied)
        return [choice.action for choice in tied if late * _plies(choice) == first]

    def line(self, state: State) -> list[int]:
        """Return the actions of best play from a state to the end; none if the distance to it is not known."""
        if self.on_demand:
            return []  # a proof of every position on the way may take long
        line: list[int] = []
        while self.plays(state) and self.lookup(state, self.game.player(state)).distance:
            line.append(self.favourites(state, self.choices(state))[0])
            state = self.game.step(state, line[-1])
        return line

    # ---------------------------------------------------------------- many states
    def scores(self, states: Iterable[Any]) -> Iterable[float]:
        """Return the value of each state for its player to move; in proof search, the score."""
        return [float(self.lookup(state, self.game.player(state)).value) for state in states]

    def states(self) -> Iterator[Any]:
        """Yield every state that has a value; of symmetric states one."""
        if not self.game.has_size:
            raise NotKept(f"{self.method} keeps no list of all states; use method='hashed' (--method hashed)")
        return (self.game.state(number) for number in range(self.game.size()))

    def arrays(self) -> Arrays:
        """Return all states as arrays, a row each: see `Solution.arrays`."""
        states = list(self.states())
        found = [self.lookup(state, self.game.player(state)) for state in states]
        return {
            "states": np.array([pack(self.game, state) for state in states], np.uint64).view(np.int64),
            "values": np.array([value.value for value in found], np.float64),
            **_distances([value.distance for value in found]),
        }

    def tally(self) -> dict[str, int]:
        """Return how many positions are won, lost, tied and drawn by infinite play, for the player to move."""
        raise self._not_kept("tally")

    def distances(self) -> dict[int, int]:
        """Return the number of positions by their plies to the end."""
        raise self._not_kept("distances")

    def _not_kept(self, name: str) -> NotKept:
        instead = "use method='retrograde' (games without chance and rewards)"
        return NotKept(f"a solution by {self.method} keeps no {name}; {instead}")

    # ---------------------------------------------------------------- files
    def to_arrays(self) -> tuple[Arrays, dict[str, Any]]:
        """Return the table for a file: its arrays, and facts about them that JSON can hold."""
        raise FormatError(f"a solution by {self.method} cannot be saved; save one against perfect play")

    @classmethod
    def from_arrays(cls, game: Game[Any], arrays: Arrays, facts: Mapping[str, Any]) -> Table:
        """Return the table that ``to_arrays`` saved; raise FormatError if the arrays do not belong to the game.

        ``facts["complete"]`` is False if the file is a checkpoint.  A missing array or fact may raise KeyError.
        """
        raise NotImplementedError


def _distances(distances: Sequence[int | None]) -> Arrays:
    if all(distance is None for distance in distances):
        return {}
    return {"distances": np.array([-1 if distance is None else distance for distance in distances], np.int64)}


class BoundedTable(Table):
    """A table of lower and upper bounds, with an action that attains the value of each state."""

    def action(self, state: State) -> int:
        """Return an action that attains the value of a state."""
        raise NotImplementedError

    def lookup(self, state: State, player: int) -> StateValue:
        """Return the value of a state for a player: a number between its bounds, and no distance."""
        return StateValue(between(*self.bounds(state, player)), None)

    def choice(self, state: State, action: int) -> Choice:
        """Return one legal action with bounds of its value, which hold in spite of rounding."""
        low, high = self.bounds(self.game.step(state, action), self.game.player(state))
        reward = float(self.game.reward(state, action))
        if reward == 0.0 or low == high:
            return Choice(action, reward + low, reward + high)
        return Choice(action, math.nextafter(reward + low, -math.inf), math.nextafter(reward + high, math.inf))

    def fastest(self, state: State, tied: Sequence[Choice]) -> list[int]:
        """Return the action that attains the value, alone: a tied one may lead round in a cycle."""
        return [self.action(state)]

    def arrays(self) -> Arrays:
        """Return all states as arrays, with the actions that attain their values."""
        actions = [self.action(state) if self.plays(state) else -1 for state in self.states()]
        return {**super().arrays(), "actions": np.array(actions, np.int64)}


# ---------------------------------------------------------------- questions and solvers
Opponent = str | Callable[[Any], int | Mapping[int, float]]


class Survey:
    """Facts about a game that decide which solvers can be used; each is found once, when it is first needed."""

    def __init__(self, game: Game[Any], state: State) -> None:
        self.game, self.state = game, state

    @cached_property
    def has_integer_values(self) -> bool:
        """Whether all values are integers."""
        return has_integer_values(self.game)

    @cached_property
    def has_cycles(self) -> bool:
        """Whether a position repeats in a few random games; set to True by solvers that find a cycle later."""
        if self.game.has_size:  # every step increases the number of the state
            return False
        with wrap_rule_errors():
            games = (random_game(self.game, Random(0, number), start=self.state) for number in range(FEW))
            return any(len(set(states)) < len(states) for states in games)

    @cached_property
    def sample(self) -> Sample:
        """The widths of the fields and a lower bound of the number of states, by many random games."""
        return sample_games(self.game, self.state, by_symmetry=self.game.has_symmetries)

    @cached_property
    def largest_value(self) -> float:
        """The largest absolute value of a few random games."""
        return most_seen(self.game, self.state)


@dataclass(frozen=True)
class Question:
    """The game and the state to be solved, the opponent, and the limits of the work."""

    game: Game[Any]
    state: Any
    opponent: Opponent = "perfect"
    objective: str = "difference"
    run: Run = Run()  # noqa: RUF009  a frozen value
    network: str | Path | None = None  # a file, or "shipped": the order of moves in proof search
    notes: list[str] = field(default_factory=list)  # sentences about what was read from files
    huge: float = math.inf  # number of states at one ply from which on a table of all states is not filled
    begun: Table | None = None  # an unfinished table from the file
    checkpoint: Callable[[Table], None] | None = None  # saves an unfinished table in the file
    survey: Survey = None  # type: ignore[assignment]  # made from the game and the state

    def __post_init__(self) -> None:
        if self.survey is None:
            object.__setattr__(self, "survey", Survey(self.game, self.state))

    @property
    def name(self) -> str:
        """The name of the game's class."""
        return type(self.game).__name__

    @property
    def opponent_name(self) -> str:
        """The name of the opponent."""
        return self.opponent if isinstance(self.opponent, str) else "a given policy"

    def too_large(self, needed: float) -> Lacking | None:
        """Return what is lacking if a number of bytes exceeds the limit of memory."""
        limit = budget(self.run.bytes)
        reason = f"{format_bytes(needed)} of memory; {format_bytes(limit)} may be used"
        return Lacking(reason, LimitError) if needed > limit else None


Cost = float  # of an answer, in no unit: the solver with the least cost is chosen


@dataclass(frozen=True)
class Lacking:
    """What a solver needs and does not have, or what it found that keeps it from the answer.

    ``error`` is raised if no other solver is to be chosen.  ``cycles``: the solver has found that a position
    repeats; ``huge``: a table of all states would exceed ``Question.huge``.
    """

    reason: str
    error: type[MdplayError] = GameError
    cycles: bool = False
    huge: bool = False


class Solver:
    """A method that answers questions: the base class of those that games and installed packages add.

    ``supports_cycles``: positions of the game may repeat.  ``on_demand``: positions are solved one by one within a
    time limit, so that the number of states does not matter.  ``takes_network``: a network orders the moves.
    """

    name: str
    supports_cycles = False
    on_demand = False
    takes_network = False

    def applies(self, question: Question) -> Cost | Lacking:
        """Return the cost of an answer, or what is lacking; this must not take long."""
        raise NotImplementedError

    def fill(self, question: Question) -> Table | Lacking:
        """Return the table that answers, or what was found to be lacking meanwhile.

        A solver that can be resumed starts from ``question.begun``, if that is a table of its own, and calls
        ``question.checkpoint(table)``, if there is one, every ``question.run.save_every`` seconds and on
        interruption.
        """
        raise NotImplementedError


def against_perfect(question: Question, *objectives: str) -> Lacking | None:
    """Return what a solver of perfect play lacks."""
    if question.opponent != "perfect":
        return Lacking("a perfect opponent")
    known = question.objective in ("difference", *objectives) or "=" in question.objective
    return None if known else Lacking(f"another objective than {question.objective}")
