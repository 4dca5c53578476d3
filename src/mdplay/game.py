"""The contract of a game.  No numba in here: a game is an ordinary frozen dataclass.

A state is a NamedTuple of integers: all that matters for the rest of the game, and no more.  Every rule is a
pure function of it, with annotated arguments and result (``int``, ``float``, ``bool``, ``U64`` or a NamedTuple
of these).  Write ``initial``, ``legal`` and ``step``; override the rest where the game needs it or knows more.

    class State(NamedTuple):
        pile: int
        player: int

    @dataclass(frozen=True)
    class Nim(Game[State]):
        pile: int = 21

        def initial(self) -> State:
            return State(self.pile, 0)

        def legal(self, s: State) -> int:
            return (1 << min(3, s.pile)) - 1

        def step(self, s: State, action: int) -> State:
            return State(s.pile - action - 1, 1 - s.player)

        def result(self, s: State) -> int:
            return 2 * s.player - 1     # who cannot move has lost

Parameters are fields of the dataclass.  Tables are tuples in a ``cached_property``.  Rules may call other
methods and plain functions, use ``if``, ``for``, ``while`` and integers; no lists, dicts, strings or objects.
"""

from __future__ import annotations

import typing
from collections.abc import Sequence
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from mdplay.bits import U64, WORD, Mask, lowest, nonempty, unit, without_lowest
from mdplay.errors import MdplayError, PositionError, short
from mdplay.svg import typed

S = TypeVar("S", bound=tuple[Any, ...])
State = Any  # of a game that is not known where it is read: a NamedTuple of its own

Past = Sequence[tuple[State, int]]  # the moves made: each the state before it and the action


class Between(NamedTuple):
    """The range of a parameter, both ends included: ``rows: Annotated[int, Between(1, 9)] = 6``."""

    low: float
    high: float


class Bounds(NamedTuple):
    """What a game knows of a position at once: low <= player 0's value <= high."""

    low: int  # low == high: settled, the game is over or as good as
    high: int
    moves: U64  # the actions worth a search: one of them is best; where settled there may be none


FIELD_RANGES = {bool: (0, 1), U64: (0, WORD)}
INT64 = (-(1 << 63), (1 << 63) - 1)
OR_MOVES = "or the moves played as moves:a,b,c"
REMEMBERED = ("_identity", "_rules", "_watched")  # of an instance: its hashes, and what they were made of


class Compiled:
    """A frozen dataclass whose annotated methods kernels call; its fields are constants there."""

    def __getstate__(self) -> dict[str, Any]:
        """Drop cached hashes when pickling; they are recomputed in the other process."""
        return {name: value for name, value in vars(self).items() if name not in REMEMBERED}


class Game(Compiled, Generic[S]):
    """The rules of a game for one or two players, with or without chance.

    ``has_<name>`` tells whether a game overrides an optional method; kernels branch on it at no cost.
    """

    # ---------------------------------------------------------------- needed
    def initial(self) -> S:
        """Return the state in which a game starts; it may be one where chance moves."""
        raise NotImplementedError

    def legal(self, s: S) -> Mask:
        """Return the legal actions as a bit mask; 0 when the game is over.

        Annotate the result ``int`` (up to 63 actions), ``U64`` (64), ``Wide`` (128) or, for more, a NamedTuple of
        as many ``U64`` words as it takes (see mdplay.bits).
        """
        raise NotImplementedError

    def step(self, s: S, action: int) -> S:
        """Return the state after a legal action."""
        raise NotImplementedError

    # ---------------------------------------------------------------- players and results
    def player(self, s: S) -> int:
        """Return who moves, 0 or 1: the state's field ``player``.  No such field: a game for one."""
        return getattr(s, "player", 0)

    def reward(self, s: S, action: int) -> float:
        """Return the points that the mover earns by the action."""
        return 0

    def result(self, s: S) -> float:
        """Return the result of a terminal state for player 0, without the rewards; not called in other states."""
        return 0

    endless: ClassVar[int] = 0  # value of infinite play for player 0, in games with cycles

    # ---------------------------------------------------------------- chance
    def outcomes(self, s: S) -> Mask:
        """Return the outcomes of a pending chance event as a bit mask; 0 when the player moves."""
        return 0

    def outcome(self, s: S, i: int) -> S:
        """Return the state after outcome i."""
        return s

    def probability(self, s: S, i: int) -> float:
        """Return the probability of outcome i; over the mask they sum to 1."""
        return 1.0

    def draw(self, s: S, word: U64) -> int:
        """Return an outcome drawn by a random word.  Override it where that is quicker than the sum."""
        left, mask = unit(word), self.outcomes(s)
        while nonempty(without_lowest(mask)):
            left -= self.probability(s, lowest(mask))
            if left < 0.0:
                break
            mask = without_lowest(mask)
        return lowest(mask)

    # ---------------------------------------------------------------- knowledge: optional, quicker or stronger
    def index(self, s: S) -> int:
        """Return the state's number.  States with the same number have the same value for the player to move."""
        return 0

    def state(self, i: int) -> S:
        """Return a state with number i: the inverse of ``index``."""
        return self.initial()

    def size(self) -> int:
        """Return how many numbers there are: 0 .. size - 1; every step and every outcome raises the number."""
        return 0

    @property
    def scoring_sets(self) -> tuple[int, ...]:
        """The sets of actions of which each completed one earns a point and another turn.

        For games whose state is the set of the actions made so far, which are solved much faster: state number
        i is the set i, all other actions are legal, and nothing but the scoring sets earns points.
        """
        return ()

    def symmetries(self) -> int:
        """Return how many symmetries the board has, the identity (number 0) included."""
        return 1

    def image(self, s: S, k: int) -> S:
        """Return the state under symmetry k; the value is the same, the actions may be renumbered."""
        return s

    def heuristic(self, s: S) -> float:
        """Return a guess of what is still to come, for player 0."""
        return 0.0

    def order(self, s: S, action: int) -> int:
        """Return how early a search should try the action; high first."""
        return 0

    # ---------------------------------------------------------------- knowledge for learning: the board as cells
    @property
    def num_cells(self) -> int:
        """The number of cells of the board, 1 to 128; without ``cell`` they are read off the state's fields."""
        return 0

    @property
    def cell_values(self) -> int:
        """The number of values that a cell may have."""
        return 2

    def cell(self, s: S, i: int) -> int:
        """Return what cell i holds: 0 .. cell_values - 1, the players' own, not "mine" and "theirs"."""
        return 0

    def changed(self, s: S, action: int) -> Mask:
        """Return the cells that an action may change, as a bit mask; without it all of them are compared."""
        return 0

    def neighbours(self, i: int) -> Mask:
        """Return the cells beside cell i as a bit mask: the patterns of a network are made of neighbours."""
        return 0

    # ---------------------------------------------------------------- knowledge of what is decided
    def bounds(self, s: S) -> Bounds:
        """Return bounds of what is still to come for player 0, and the actions worth a search.

        Tree search and depth-limited search take a settled position as decided, proof search starts from the
        bounds, and only the listed moves are tried; one that is the only move worth trying is played at once.
        It is asked where a player moves, and at the ends to which the moves lead that it lists itself.
        """
        return Bounds(0, 0, 0)

    # ---------------------------------------------------------------- knowledge for proof search
    def ordering_score(self, s: S) -> int:
        """Return a quick guess that only orders moves: larger is better for player 0, at most 2**40."""
        return 0

    def key(self, s: S) -> U64:
        """Return a number below ``2**key_bits``; positions with one key have one value for player 0."""
        return 0

    key_bits: ClassVar[int] = 64
    max_moves: ClassVar[int]  # move limit; needed only in games with cycles

    def proof_view(self) -> Game[Any]:
        """Return the game as proof search should see it: a ``ProofView``, or this game itself."""
        return self

    # ---------------------------------------------------------------- words for people, never compiled
    def parse(self, text: str) -> S:
        """Return the state that a text names, or raise PositionError.  The default reads the list of fields."""
        found: S = read_fields(self, text)
        return found

    def text(self, s: S) -> str:
        """Return a text that ``parse`` reads back; the default lists the fields."""
        return write_fields(s)

    def move_text(self, s: S, action: int) -> str:
        """Return the move in the game's notation; the default is the action's number."""
        return str(action)

    def outcome_text(self, s: S, i: int) -> str:
        """Return a chance outcome in the game's notation; the default is its number after a star."""
        return f"*{i}"

    def board(self, s: S) -> str:
        """Return a picture of the state in characters; the default names the fields.

        Write ``board(self, s, past: Past = ())`` if the picture tells of the past; ``svg`` likewise.
        """
        names = getattr(s, "_fields", range(len(s)))
        return "\n".join(f"{name} = {int(v)}" for name, v in zip(names, s, strict=True))

    def svg(self, s: S) -> str:
        """Return a picture of the state as SVG; the default shows the characters of ``board``."""
        return typed(self.board(s))

    view: ClassVar[str] = "svg"  # how a page shows the game: by its picture, or by a view of the page's own

    # ---------------------------------------------------------------- machinery
    has_outcomes: ClassVar[bool] = False
    has_draw: ClassVar[bool] = False
    has_index: ClassVar[bool] = False
    has_size: ClassVar[bool] = False
    has_symmetries: ClassVar[bool] = False
    has_scoring_sets: ClassVar[bool] = False
    has_cell: ClassVar[bool] = False
    has_changed: ClassVar[bool] = False
    has_neighbours: ClassVar[bool] = False
    has_heuristic: ClassVar[bool] = False
    has_order: ClassVar[bool] = False
    has_bounds: ClassVar[bool] = False
    has_ordering_score: ClassVar[bool] = False
    has_key: ClassVar[bool] = False
    has_proof_view: ClassVar[bool] = False
    has_parse: ClassVar[bool] = False
    has_player: ClassVar[bool] = False
    has_reward: ClassVar[bool] = False
    has_result: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Set the ``has_<name>`` flags of a game."""
        super().__init_subclass__(**kwargs)
        for flag in [name for name in vars(Game) if name.startswith("has_")]:
            name = flag.removeprefix("has_")
            setattr(cls, flag, getattr(cls, name) is not getattr(Game, name))


class ProofView(Game[S]):
    """A game in the form that is quickest to prove: the same positions and moves, with more in each state.

    Its result may tell more as well: a *score* that has the sign of the game's result and is larger for a
    quicker win.
    """

    def convert(self, s: Any) -> S:
        """Return the position of the view that stands for a state of the game."""
        raise NotImplementedError

    def distance(self, s: S, score: int) -> int | None:
        """Return the plies that perfect play takes to the end, given player 0's score, if that tells."""
        return None


WORDS_FOR_PEOPLE = ("parse", "text", "move_text", "outcome_text", "board", "svg")
NEVER_COMPILED = (*WORDS_FOR_PEOPLE, "view", "proof_view", "distance", "neighbours")
CELLS = ("num_cells", "cell_values", "cell", "changed")  # how a game is seen, not how it is played


def num_players(game: Game[Any]) -> int:
    """Return 2 if the states know a player to move, else 1."""
    return 2 if game.has_player or hasattr(game.initial(), "player") else 1


def write_fields(s: tuple[Any, ...]) -> str:
    """Return the fields of a state, with commas between them."""
    return ",".join(str(int(v)) for v in s)


def read_fields(game: Any, text: str) -> Any:
    """Return the state that ``write_fields`` wrote, or raise PositionError."""
    kind = type(game.initial())
    names = list(getattr(kind, "_fields", ()))
    words = [word.strip() for word in text.strip().strip("()").split(",")]
    if len(words) != len(names) or not all(_is_integer(word) for word in words):
        raise PositionError(f"{short(text)!r} is not a position; give its fields as {','.join(names)}, {OR_MOVES}")
    hints = typing.get_type_hints(kind)
    s = kind(*(_in_range(name, hints.get(name), int(word)) for name, word in zip(names, words, strict=True)))
    _ask_the_rules(game, s, text)
    return s


def _is_integer(word: str) -> bool:
    return len(word) <= 20 and word.removeprefix("-").isdecimal()


def _in_range(name: str, hint: Any, value: int) -> Any:
    low, high = FIELD_RANGES.get(hint, INT64)
    if not low <= value <= high:
        raise PositionError(f"{name}={value} is out of range; {low} to {high}")
    return bool(value) if hint is bool else value


def _ask_the_rules(game: Any, s: Any, text: str) -> None:
    """Raise PositionError if the rules make nothing of a state, as far as they tell."""
    try:
        if not nonempty(game.outcomes(s)) and not nonempty(game.legal(s)):
            game.result(s)
        player, number = game.player(s), game.index(s) if game.has_size else 0
        size = game.size() if game.has_size else 1
    except MdplayError:
        raise
    except Exception as error:
        raise PositionError(
            f"{text!r} is not a position: the rules raise {type(error).__name__}: {error}"
        ) from None
    if player not in (0, 1):
        raise PositionError(f"{text!r} is not a position: player must be 0 or 1, not {player}")
    if not 0 <= number < size:
        raise PositionError(f"{text!r} is not a position: its number is {number}, outside of 0 .. {size - 1}")
