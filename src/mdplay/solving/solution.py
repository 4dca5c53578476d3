"""The values of a game's states and optimal play, by whichever method they were found.

    solution = solve(make("tic-tac-toe"))
    solution.value()            0.0: a draw
    solution.choices(state)     every action with its value and the distance to the end
    solution.action(state)      the action of a perfect player
    solution.document(state)    all of it, as one JSON document
    solution.arrays()           all states with their values, as NumPy arrays

Values are for the player to move unless ``player=`` names another.  Actions whose values differ from the best by
at most 1e-9 * max(1, |best|) are tied:  ``best`` lists them.  Among them a perfect player hurries, or delays a
loss; the smallest action is chosen last.
"""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mdplay.bits import nonempty
from mdplay.compiling import State
from mdplay.errors import FormatError, GameError, LimitError, MdplayError, pluralize
from mdplay.evaluating.evaluation import Evaluation, MoveEvaluation
from mdplay.evaluating.wording import describe
from mdplay.game import Game
from mdplay.position import Position, StateLike, as_state
from mdplay.runtime.threads import Show, Stopwatch
from mdplay.solving.values import Arrays, Choice, NotKept, Table, best_actions, finite, known

MAX_ROWS = 1 << 26  # states that are listed in a file or in arrays


@dataclass(frozen=True)
class Solution:
    """The value of every state of a game, and optimal play.

    ``for state, value in solution`` yields every state of the table with its value.  ``seconds`` is the time that
    solving took, without ``compiling_seconds``.  ``notes`` are sentences about what was read from a file.
    """

    game: Game[Any]
    table: Table
    seconds: float
    opponent: str = "perfect"
    objective: str = "difference"
    compiling_seconds: float = 0.0
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        states = pluralize(self.states, "state")
        return f"<Solution of {self.game!r} by {self.method}: {states} in {self.seconds:.2f} s>"

    def __iter__(self) -> Iterator[tuple[Any, float]]:
        """Yield every state of the table with its value for the player to move; of symmetric states one.

        Raise GameError if the method keeps no list of all states.
        """
        self._check_count()
        return ((state, self.value(state)) for state in self.table.states())

    @property
    def states(self) -> int:
        """The number of states with a value; symmetric states may count once."""
        return len(self.table)

    @property
    def method(self) -> str:
        """The method by which the values were found."""
        return self.table.method

    # ---------------------------------------------------------------- one state
    def value(self, state: StateLike | None = None, *, player: int | None = None) -> float:
        """Return the value of a state (default: the start) for the player to move, or for ``player``.

        Raise LimitError if time ran out before the value was known; use ``bounds`` then.
        """
        state = self._state(state)
        return float(self.table.lookup(state, self.game.player(state) if player is None else player).value)

    def bounds(self, state: StateLike | None = None) -> tuple[float, float]:
        """Return the lower and the upper bound of the value of a state for the player to move."""
        state = self._state(state)
        low, high = self.table.bounds(state, self.game.player(state))
        return float(low), float(high)

    def exact(self, state: StateLike | None = None) -> bool:
        """Return whether the value of a state is known, within the tie rule, and not only bounds of it."""
        return known(*self.bounds(state))

    def distance(self, state: StateLike | None = None) -> int | None:
        """Return the plies to the end if the loser delays it and others hurry; None if they are not counted."""
        state = self._state(state)
        return self.table.lookup(state, self.game.player(state)).distance if self.exact(state) else None

    def choices(self, state: StateLike | None = None) -> list[Choice]:
        """Return every legal action with its value; none if the game is over or chance moves."""
        state = self._state(state)
        return [] if nonempty(self.game.outcomes(state)) else self.table.choices(state)

    def best(self, state: StateLike | None = None) -> list[int]:
        """Return the actions of the highest value, in ascending order; none while that is not known."""
        return best_actions(self.choices(state))

    def action(self, state: StateLike | None = None) -> int:
        """Return the action of a perfect player: it attains the value, soonest (a loss latest); the smallest such.

        In games with chance and cycles a tie is broken in favour of an action that makes progress to the end.
        Raise LimitError if no player is to move.
        """
        choices = self.choices(state)
        if not choices:
            raise LimitError(f"there is no action in {self.game.text(self._state(state))}: no player is to move")
        return self.favourites(state, choices)[0]

    def favourites(self, state: StateLike | None = None, choices: Sequence[Choice] | None = None) -> list[int]:
        """Return the actions that a perfect player may choose: of ``best`` the soonest, or of a loss the latest.

        ``choices`` are those of the state, if they are known.  While the best action is not known, it is the one
        with the highest lower bound.
        """
        state = self._state(state)
        return self.table.favourites(state, self.choices(state) if choices is None else choices)

    def evaluate(
        self, state: StateLike | None = None, *, brief: bool = False, show: Show | None = None
    ) -> Iterator[Evaluation]:
        """Yield the evaluation of a state in which a player moves; ``brief`` and ``show`` have no effect."""
        state = self._state(state)
        choices = self.choices(state)
        if not choices:
            raise LimitError(f"there is no action in {self.game.text(state)}: no player is to move")
        is_mean = self.opponent != "perfect"
        moves = {choice.action: MoveEvaluation.of_choice(choice, expected=is_mean) for choice in choices}
        best = tuple(self.favourites(state, choices))
        value = replace(moves[best[0]], endless=self.endless(state))
        table = f"solved table of {pluralize(self.states, 'state')}"
        if self.table.on_demand:
            table = f"proof by {self.method}"
        source = "the best response to a random opponent" if is_mean else table
        yield Evaluation(moves, value, best, source, done=True)

    def line(self, state: StateLike | None = None) -> list[int]:
        """Return the actions of best play from a state, as far as the table has it; none with chance."""
        return self.table.line(self._state(state))

    def endless(self, state: StateLike | None = None) -> bool:
        """Return whether best play from a state is infinite; its value is then ``endless`` of the game."""
        return self.table.endless(self._state(state))

    # ---------------------------------------------------------------- many states
    def scores(self, states: Iterable[Any]) -> list[float]:
        """Return the value of each state for its player to move; proofs share their transposition table."""
        return [float(score) for score in self.table.scores(self._state(state) for state in states)]

    def arrays(self) -> Arrays:
        """Return all states of the table as NumPy arrays with a row for each state; of symmetric states one.

        ``states``     int64, a column for each field of the state (fields of 64 bits as two's complement)
        ``values``     float64, for the player to move
        ``distances``  int64, the plies to the end, -1 if best play is infinite; only if plies are counted
        ``actions``    int64, an action that attains the value, -1 if no player moves; only if the table has them

        Raise GameError if the method keeps no list of all states.
        """
        self._check_count()
        return self.table.arrays()

    def tally(self) -> dict[str, int]:
        """Return how many positions are won, lost, tied and drawn by infinite play for the player to move.

        Raise GameError if the method keeps no such count.
        """
        return self.table.tally()

    def distances(self) -> dict[int, int]:
        """Return the number of positions by their plies to the end; raise GameError if it is not kept."""
        return self.table.distances()

    def check_heuristic(self) -> None:
        """Raise GameError unless minus the heuristic of a puzzle is a lower bound of the moves needed."""
        self.distances()  # raises if they are not kept
        for state in self.table.states():
            moves = self.table.lookup(state, 0).distance
            if moves is not None and -self.game.heuristic(state) > moves:
                promised = f"heuristic promises {-self.game.heuristic(state):g} moves in {self.game.text(state)}"
                raise GameError(f"{promised}; {moves} are enough, so it is no lower bound")

    # ---------------------------------------------------------------- as a document
    def document(
        self, state: StateLike | None = None, *, name: str | None = None, distances: bool = False
    ) -> dict[str, Any]:
        """Return the values of a position and of its moves as one JSON document.

        All values are for ``player``: the player to move or, if the document has ``over`` or ``chance``, the
        player that the state names.  ``distances`` adds the tally and the distances of all positions; both are
        None if the method does not count them.
        """
        state, game, clock = self._state(state), self.game, Stopwatch()
        choices, best = self.choices(state), set(self.best(state))
        low, high = self.bounds(state)
        exact = self.exact(state)
        facts = {
            "game": name or repr(game),
            "position": game.text(state),
            "player": game.player(state),
            **({"chance": True} if nonempty(game.outcomes(state)) else {} if choices else {"over": True}),
            "opponent": self.opponent,
            "objective": self.objective,
            "method": self.method,
            "exact": exact,
            "value": finite(low if low == high else self.value(state)) if exact else None,
            "low": finite(low),
            "high": finite(high),
            **self._score(state, exact),
            **({"endless": True} if self.endless(state) else {}),
            **(self._counts() if distances else {}),
            "distance": self.distance(state),
            "best": [game.move_text(state, choice.action) for choice in choices if choice.action in best],
            "moves": [{"move": game.move_text(state, choice.action), **choice.document()} for choice in choices],
            "line": self._moves(state),
            "states": self.states,
        }
        # Proof search proves the position now: its time counts.
        return facts | {
            "seconds": self.seconds + clock.seconds,
            "compiling_seconds": self.compiling_seconds + clock.lost,
        }

    def _counts(self) -> dict[str, Any]:
        """Return the tally and the distances of all positions; None if the method does not count them."""
        try:
            return {"tally": self.tally(), "distances": self.distances()}
        except NotKept:
            return {"tally": None, "distances": None}

    def _score(self, state: State, exact: bool) -> dict[str, Any]:
        """Return the score of a game that scores fast wins higher."""
        score = self.table.lookup(state, self.game.player(state)).score if exact else None
        return {} if score is None else {"score": score}

    def _moves(self, state: StateLike | None) -> list[str]:
        moves = []
        for action in self.line(state):
            moves.append(self.game.move_text(state, action))
            state = self.game.step(state, action)
        return moves

    # ---------------------------------------------------------------- in a notebook
    def html(self, state: StateLike | None = None) -> str:
        """Return a position (default: the start) with the value of every move, for the player to move, as HTML."""
        from mdplay.views.html import moves, number, sentence

        position = self._position(state)
        s, choices = position.state, self.choices(position.state)
        choices.sort(key=lambda choice: (-choice.high, choice.action))
        names = {c.action: self.game.move_text(s, c.action) for c in choices}
        values = {c.action: c.value for c in choices}
        columns = {
            "bounds": {c.action: _bounds_text(c) for c in choices},
            "plies": {c.action: number(c.distance) for c in choices},
        }
        about = f"{self._verdict(s)}; {pluralize(self.states, 'state')} by {self.method} in {self.seconds:.2f} s."
        return sentence(about) + moves(position, names, values, self.best(s), columns)

    def _verdict(self, s: State) -> str:
        """Return the value of a state as text."""
        if not self.choices(s):
            return f"Value {self.value(s):.10g} for player {self.game.player(s) + 1}"
        value = next(self.evaluate(s)).value
        assert value is not None
        return f"Evaluation for the player to move: {describe(self.game, value)}"

    def _repr_html_(self) -> str:
        """Show the start; a position that is yet to be proved is not proved for it."""
        from mdplay.views.html import board, refused, sentence

        if self.table.on_demand:
            about = f"{self!r}. html(position) proves the values of a position's moves and shows them."
            return sentence(about) + board(self._position(None), {})
        try:
            return self.html()
        except MdplayError as error:
            return refused(error)

    def _position(self, state: StateLike | None) -> Position[Any]:
        if isinstance(state, Position) and state.game == self.game:
            return state
        return Position.start(self.game, self._state(state))

    # ---------------------------------------------------------------- files
    def save(self, path: str | Path) -> None:
        """Write the solution to a file, atomically; ``Solution.load`` reads it."""
        from mdplay.solving.files import save_table

        save_table(path, self.table, game=self.game)

    @classmethod
    def load(cls, path: str | Path, game: Game[Any]) -> Solution:
        """Return the solution of a game from a file, memory-mapped; raise FormatError for any other file."""
        from mdplay.solving.files import load_table

        table, complete = load_table(path, game)
        if not complete:
            raise FormatError(f"{path} is unfinished; resume it with solve(game, file={str(path)!r})")
        return cls(game, table, 0.0)

    def write_all(self, path: str | Path) -> int:
        """Write ``state,value,action`` for every state that has a value as CSV; return the number of states.

        A state is its number if the game numbers its states, else its text, in the order of the table; of
        symmetric states one is listed.  The value is for the player to move; the action is empty if no player is
        to move.
        """
        self._check_count()
        numbered = self.game.has_size
        from mdplay.storage.files import replacing

        with replacing(path) as file:
            rows = csv.writer(codecs.getwriter("utf-8")(file), lineterminator="\n")
            rows.writerow(("state", "value", "action"))
            count = 0
            for state in Table.states(self.table) if numbered else self.table.states():
                name = count if numbered else self.game.text(state)
                rows.writerow((name, self.value(state), self.action(state) if self.table.plays(state) else ""))
                count += 1
        return count

    def _check_count(self) -> None:
        if self.states > MAX_ROWS:
            raise LimitError(f"{self.states:,} states are too many to list; at most {MAX_ROWS:,} are listed")

    def _state(self, state: StateLike | None) -> State:
        return as_state(self.game, state)


def _bounds_text(choice: Choice) -> str:
    return "" if choice.exact else f"{choice.low:.4g} .. {choice.high:.4g}"
