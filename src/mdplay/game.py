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

import re
from collections.abc import Sequence
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from mdplay.bits import U64, Mask, lowest, members, rest, some, unit
from mdplay.drawing import typed
from mdplay.errors import IllegalMove, PositionError

S = TypeVar("S", bound=tuple[Any, ...])


Past = Sequence[tuple[Any, int]]  # the moves made: each the state before it and the action


class Between(NamedTuple):
    """The range of a parameter, both ends included: ``rows: Annotated[int, Between(1, 9)] = 6``."""

    low: float
    high: float


class Look(NamedTuple):
    """What a game knows of a position at once: low <= player 0's value <= high."""

    low: int  # low == high: settled, the game is over or as good as
    high: int
    moves: U64  # the actions worth a search: one of them is best; where settled there may be none


class Compiled:
    """A frozen dataclass whose annotated methods kernels call; its fields are constants there."""


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

        Annotate the result ``int`` (up to 63 actions), ``U64`` (64) or ``Wide`` (128).
        """
        raise NotImplementedError

    def step(self, s: S, action: int) -> S:
        """Return the state after a legal action."""
        raise NotImplementedError

    # ---------------------------------------------------------------- who moves, and what it is worth
    def player(self, s: S) -> int:
        """Return who moves, 0 or 1: the state's field ``player``.  No such field: a game for one."""
        return getattr(s, "player", 0)

    def reward(self, s: S, action: int) -> float:
        """Return the points that the mover earns by the action."""
        return 0

    def result(self, s: S) -> float:
        """Return what the end is worth to player 0, beyond the rewards; asked only when the game is over."""
        return 0

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
        while some(rest(mask)):
            left -= self.probability(s, lowest(mask))
            if left < 0.0:
                break
            mask = rest(mask)
        return lowest(mask)

    # ---------------------------------------------------------------- knowledge: optional, quicker or stronger
    def index(self, s: S) -> int:
        """Return a number for the state.  States with one number are worth the same to their mover."""
        return 0

    def state(self, i: int) -> S:
        """Return a state with number i: the inverse of ``index``."""
        return self.initial()

    def size(self) -> int:
        """Return how many numbers there are: 0 .. size - 1; every step and every outcome raises the number."""
        return 0

    @property
    def targets(self) -> tuple[int, ...]:
        """The sets of actions of which each completed one earns a point and another turn.

        For games of a growing set only, which are solved much faster: state number i is the set i of actions
        that were made, all others are legal, and nothing but the targets earns points.
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

    # ---------------------------------------------------------------- knowledge of what is decided
    def look(self, s: S) -> Look:
        """Return bounds of what is still to come for player 0, and the actions worth a search.

        Tree search and depth-limited search take a settled position as decided, proof search starts from the
        bounds, and only the listed moves are tried; one that is the only move worth trying is played at once.
        It is asked where a player moves, and at the ends to which the moves lead that it lists itself.
        """
        return Look(0, 0, 0)

    # ---------------------------------------------------------------- knowledge for proof search
    def promise(self, s: S) -> int:
        """Return a quick guess that only orders moves: larger is better for player 0, at most 2**40."""
        return 0

    def key(self, s: S) -> U64:
        """Return a number below ``2**key_bits``; positions with one key have one value for player 0."""
        return 0

    key_bits: ClassVar[int] = 64

    def study(self) -> Game[Any]:
        """Return the game as proof search should see it: a ``Study``, or this game itself."""
        return self

    # ---------------------------------------------------------------- a player of its own
    perfect_player: ClassVar[str] = ""  # "module:Class" of the agent ``perfect``; none: the exact solution plays

    # ---------------------------------------------------------------- words for people, never compiled
    def parse(self, text: str) -> S:
        """Return the state that a text names, or raise PositionError.  The default reads ``moves:...``."""
        raise PositionError(f"{text!r} is not a position; give the moves played as moves:a,b,c")

    def text(self, s: S) -> str:
        """Return a text that ``parse`` reads back; the default lists the fields."""
        return ",".join(str(int(v)) for v in s)

    def move_text(self, s: S, action: int) -> str:
        """Return the move in the game's notation; the default is the action's number."""
        return str(action)

    def outcome_text(self, s: S, i: int) -> str:
        """Return a chance outcome in the game's notation; the default is its number after a star."""
        return f"*{i}"

    def board(self, s: S) -> str:
        """Return a picture of the state in characters; the default names the fields."""
        names = getattr(s, "_fields", range(len(s)))
        return "\n".join(f"{name} = {int(v)}" for name, v in zip(names, s, strict=True))

    def svg(self, s: S) -> str:
        """Return a picture of the state as SVG; the default shows the characters of ``board``."""
        return typed(self.board(s))

    def board_after(self, s: S, past: Past) -> str:
        """Return the picture in characters of a state whose past is known; the default needs no past."""
        return self.board(s)

    def svg_after(self, s: S, past: Past) -> str:
        """Return the picture as SVG of a state whose past is known; the default needs no past."""
        return self.svg(s)

    # ---------------------------------------------------------------- machinery
    has_outcomes: ClassVar[bool] = False
    has_draw: ClassVar[bool] = False
    has_index: ClassVar[bool] = False
    has_size: ClassVar[bool] = False
    has_symmetries: ClassVar[bool] = False
    has_targets: ClassVar[bool] = False
    has_heuristic: ClassVar[bool] = False
    has_order: ClassVar[bool] = False
    has_look: ClassVar[bool] = False
    has_promise: ClassVar[bool] = False
    has_key: ClassVar[bool] = False
    has_study: ClassVar[bool] = False
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


class Study(Game[S]):
    """A game in the form that is quickest to prove: the same positions and moves, with more in each state.

    Its result may tell more as well: a *score* that has the sign of the game's result and is larger for a
    quicker win.
    """

    def enter(self, s: Any) -> S:
        """Return the position of the study that stands for a state of the game."""
        raise NotImplementedError

    def distance(self, s: S, score: int) -> int | None:
        """Return the plies that perfect play takes to the end, given player 0's score, if that tells."""
        return None


WORDS_FOR_PEOPLE = ("parse", "text", "move_text", "outcome_text", "board", "svg", "board_after", "svg_after")
NEVER_COMPILED = (*WORDS_FOR_PEOPLE, "study", "distance", "perfect_player")


def num_players(game: Game[Any]) -> int:
    """Return 2 if the states know a player to move, else 1."""
    return 2 if game.has_player or hasattr(game.initial(), "player") else 1


def find_action(game: Game[S], s: S, move: str) -> int:
    """Return the legal action that a move in the game's notation means, or raise IllegalMove."""
    wanted = move.strip().lower()
    legal = {game.move_text(s, a).lower(): a for a in members(game.legal(s))}
    if wanted not in legal:
        raise IllegalMove(f"{move.strip()!r} is not a legal move in {game.text(s)}; {_choices(list(legal))}")
    return legal[wanted]


def find_outcome(game: Game[S], s: S, text: str) -> int:
    """Return the outcome of chance that a text means, by the game's word or as ``*i``, or raise IllegalMove."""
    known = {game.outcome_text(s, i).lower(): i for i in members(game.outcomes(s))}
    known |= {f"*{i}": i for i in known.values()}
    wanted = text.strip().lower()
    if wanted not in known:
        raise IllegalMove(f"{text.strip()!r} is no outcome of chance in {game.text(s)}; {_choices(list(known))}")
    return known[wanted]


def play_moves(game: Game[S], s: S, moves: str) -> S:
    """Return the state after moves (and chance outcomes, as ``*i``) separated by commas."""
    return follow_moves(game, s, moves)[0]


def follow_moves(game: Game[S], s: S, moves: str) -> tuple[S, Past]:
    """Return the state after moves (and chance outcomes) separated by commas, and the moves as its past."""
    past = []
    for number, move in enumerate(filter(None, re.split(r"[,\s]+", moves)), start=1):
        try:
            event = find_event(game, s, move)
            if not some(game.outcomes(s)):
                past.append((s, event))
            s = follow(game, s, event)
        except IllegalMove as error:
            raise PositionError(f"move {number}: {error}") from None
    return s, tuple(past)


def parse_position(game: Game[S], text: str) -> S:
    """Return the state that a text names: ``moves:a,b,c``, or the game's own notation."""
    text = text.strip()
    if text.startswith("moves:"):
        return play_moves(game, game.initial(), text.removeprefix("moves:"))
    return game.parse(text)


def find_event(game: Game[S], s: S, move: str) -> int:
    """Return the legal action, or the outcome where chance moves, that a text means; or raise IllegalMove."""
    return find_outcome(game, s, move) if some(game.outcomes(s)) else find_action(game, s, move)


def follow(game: Game[S], s: S, event: int) -> S:
    """Return the state after an action, or after an outcome where chance moves."""
    return game.outcome(s, event) if some(game.outcomes(s)) else game.step(s, event)


def _choices(names: list[str]) -> str:
    if not names:
        return "the game is over"
    shown = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    return f"choose from {shown}"
