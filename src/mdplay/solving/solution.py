"""What is known of a game's positions, whatever found it, and the best way to play them.

    solution = solve(make("tic-tac-toe"))
    solution.value()            0.0: a draw
    solution.choices(state)     every action with its value and the distance to the end
    solution.action(state)      what a perfect player does
    solution.document(state)    all of it, as one JSON document

Values speak for the player to move unless ``player=`` names another.  Actions whose values differ from the best
by at most 1e-9 * max(1, |best|) are equally good: ``best`` lists them.  Among them a perfect player hurries,
or delays a loss; then the smallest action wins.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mdplay.bits import elements, nonempty
from mdplay.errors import FormatError, GameError, LimitError, MdplayError, pluralize
from mdplay.evaluating.evaluation import Evaluation, MoveEvaluation
from mdplay.evaluating.wording import describe
from mdplay.game import Game
from mdplay.position import Position, as_state
from mdplay.runtime.threads import Show, Stopwatch
from mdplay.solving.files import load_table, save_table
from mdplay.solving.values import Choice, Table, best_actions, delays, finite, known
from mdplay.storage.files import replacing

MAX_ROWS = 1 << 26  # of a text with all states


@dataclass(frozen=True)
class Solution:
    """The value of every state of a game, and best play.

    ``seconds`` is what solving it took; ``compiling_seconds`` is what compilers took beside that.  ``notes`` are
    sentences about what was read from a file instead of being computed.
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

    @property
    def states(self) -> int:
        """The number of states with a value; images of each other may count once."""
        return len(self.table)

    @property
    def method(self) -> str:
        """How the values were found."""
        return self.table.method

    # ---------------------------------------------------------------- questions
    def value(self, state: Any = None, *, player: int | None = None) -> float:
        """Return what a state (default: the start) is worth to the player to move, or to the one named.

        Raise LimitError where time ran out before that was known; ``bounds`` tells what is.
        """
        state = self._state(state)
        return float(self.table.lookup(state, self.game.player(state) if player is None else player).value)

    def bounds(self, state: Any = None) -> tuple[float, float]:
        """Return what a state is worth to the player to move at least and at most."""
        state = self._state(state)
        if hasattr(self.table, "bounds"):
            low, high = self.table.bounds(state, self.game.player(state))
            return float(low), float(high)
        value = self.value(state)
        return value, value

    def exact(self, state: Any = None) -> bool:
        """Tell whether the value of a state is known, within the tie rule, and not only bounds of it."""
        return known(*self.bounds(state))

    def distance(self, state: Any = None) -> int | None:
        """Return the plies to the end when the loser delays it and others hurry; None if that is not counted."""
        state = self._state(state)
        return self.table.lookup(state, self.game.player(state)).distance if self.exact(state) else None

    def choices(self, state: Any = None) -> list[Choice]:
        """Return every legal action with its value; none where the game is over or chance moves."""
        state = self._state(state)
        if nonempty(self.game.outcomes(state)):
            return []
        if hasattr(self.table, "choices"):
            found: list[Choice] = self.table.choices(state)
            return found
        return [self._choice(state, action) for action in elements(self.game.legal(state))]

    def best(self, state: Any = None) -> list[int]:
        """Return the actions of the highest value, in ascending order; none while that is not known."""
        return best_actions(self.choices(state))

    def action(self, state: Any = None) -> int:
        """Return the action of a perfect player: it attains the value, soonest (a loss latest); the smallest such.

        In games with chance and cycles a tie is broken in favour of an action that makes progress to the end.
        """
        choices = self.choices(state)
        if not choices:
            raise LimitError(f"there is no action in {self.game.text(self._state(state))}: nobody is to move")
        return self.favourites(state, choices)[0]

    def favourites(self, state: Any = None, choices: Sequence[Choice] | None = None) -> list[int]:
        """Return the actions that a perfect player may choose: of ``best`` the soonest, or of a loss the latest.

        ``choices`` are those of the state, if they are known.  While the best action is not known, it is the one
        with the highest lower bound.
        """
        state = self._state(state)
        choices = self.choices(state) if choices is None else choices
        tied = [c for c in choices if c.action in set(best_actions(choices))]
        if not tied:
            return [c.action for c in sorted(choices, key=lambda c: (-c.low, -c.high, c.action))[:1]]
        if hasattr(self.table, "action"):
            return [int(self.table.action(state))]
        sign = -1 if self.game.player(state) else 1
        late = -1 if delays(max(c.low for c in tied), sign * self.game.endless) else 1
        first = min(late * _plies(choice) for choice in tied)
        return [choice.action for choice in tied if late * _plies(choice) == first]

    def evaluate(
        self, state: Any = None, *, brief: bool = False, show: Show | None = None
    ) -> Iterator[Evaluation]:
        """Yield the evaluation of a state in which a player moves; ``brief`` and ``show`` have no effect."""
        state = self._state(state)
        choices = self.choices(state)
        if not choices:
            raise LimitError(f"there is no action in {self.game.text(state)}: nobody is to move")
        is_mean = self.opponent != "perfect"
        moves = {choice.action: MoveEvaluation.of_choice(choice, expected=is_mean) for choice in choices}
        best = tuple(self.favourites(state, choices))
        value = replace(moves[best[0]], endless=self.endless(state))
        table = f"solved table of {pluralize(self.states, 'state')}"
        source = "the best response to a random opponent" if is_mean else table
        yield Evaluation(moves, value, best, source, done=True)

    def scores(self, states: Iterable[Any]) -> list[float]:
        """Return what each of many states is worth to its player to move; proofs share what they learn."""
        if hasattr(self.table, "scores"):
            found: list[float] = self.table.scores([self._state(state) for state in states]).tolist()
            return found
        return [self.value(state) for state in states]

    def line(self, state: Any = None) -> list[int]:
        """Return the actions of best play from a state, as far as a table tells it without chance."""
        state = self._state(state)
        if hasattr(self.table, "line"):
            return list(self.table.line(state))
        found: list[int] = []
        while getattr(self.table, "counts_plies", False) and self.distance(state):
            found.append(self.action(state))
            state = self.game.step(state, found[-1])
        return found

    def endless(self, state: Any = None) -> bool:
        """Return whether best play never ends from a state; its value is then ``endless`` of the game."""
        state = self._state(state)
        return hasattr(self.table, "endless") and self.table.lookup(state, self.game.player(state)).endless

    # ---------------------------------------------------------------- all states
    def tally(self) -> dict[str, int]:
        """Return how many positions are won, lost, tied and drawn by infinite play for the player to move.

        Raise GameError where the method keeps no such count.
        """
        return dict(self._whole_table("tally")())

    def distances(self) -> dict[int, int]:
        """Return how many positions are how many plies from the end, where that is kept."""
        return dict(self._whole_table("distances")())

    def check_heuristic(self) -> None:
        """Raise GameError unless minus the heuristic of a puzzle is never more than the moves needed."""
        table = self._whole_table("distances").__self__
        for state in table.states():
            moves = table.lookup(state, 0).distance
            if moves is not None and -self.game.heuristic(state) > moves:
                promised = f"heuristic promises {-self.game.heuristic(state):g} moves in {self.game.text(state)}"
                raise GameError(f"{promised}; {moves} are enough, so it is no lower bound")

    def _whole_table(self, name: str) -> Any:
        if not hasattr(self.table, name):
            instead = "retrograde analysis does, of games without chance and points"
            raise GameError(f"a solution by {self.method} keeps no {name}; {instead}")
        return getattr(self.table, name)

    # ---------------------------------------------------------------- as a document
    def document(self, state: Any = None, *, name: str | None = None, distances: bool = False) -> dict[str, Any]:
        """Return what is known of a position as one JSON document.

        All values are for ``player``: the player to move or, where the document has ``over`` or ``chance``, the
        player that the state names.  ``distances``: with the tally of all positions, and how many are how many
        plies from the end; both are None if the method does not count them.
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
        # what is proved, is proved now
        return facts | {
            "seconds": self.seconds + clock.seconds,
            "compiling_seconds": self.compiling_seconds + clock.lost,
        }

    def _counts(self) -> dict[str, Any]:
        """Return the tally and the distances of all positions; None where the method does not count them."""
        counts = hasattr(self.table, "tally")
        return {"tally": self.tally() if counts else None, "distances": self.distances() if counts else None}

    def _score(self, state: Any, exact: bool) -> dict[str, Any]:
        """Return the score of a game that counts how soon it is won, beside the value."""
        score = self.table.lookup(state, self.game.player(state)).score if exact else None
        return {} if score is None else {"score": score}

    def _moves(self, state: Any) -> list[str]:
        moves = []
        for action in self.line(state):
            moves.append(self.game.move_text(state, action))
            state = self.game.step(state, action)
        return moves

    # ---------------------------------------------------------------- in a notebook
    def html(self, state: Any = None) -> str:
        """Return a position (default: the start) with the value of every move as HTML; values for who moves."""
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

    def _verdict(self, s: Any) -> str:
        """Return the value of a state in words."""
        if not self.choices(s):
            return f"Value {self.value(s):.10g} for player {self.game.player(s) + 1}"
        value = next(self.evaluate(s)).value
        assert value is not None
        return f"Evaluation for the player to move: {describe(self.game, value)}"

    def _repr_html_(self) -> str:
        """Show the start; what is proved one position at a time is not proved for a glance."""
        from mdplay.views.html import board, refused, sentence

        if hasattr(self.table, "choices"):
            about = f"{self!r}. html(position) proves the values of a position's moves and shows them."
            return sentence(about) + board(self._position(None), {})
        try:
            return self.html()
        except MdplayError as error:
            return refused(error)

    def _position(self, state: Any) -> Position[Any]:
        known = isinstance(state, Position) and state.game == self.game
        return state if known else Position.start(self.game, self._state(state))

    # ---------------------------------------------------------------- files
    def save(self, path: str | Path) -> None:
        """Write the solution to a file, whole or not at all; ``Solution.load`` reads it."""
        save_table(path, self.table, game=self.game)

    @classmethod
    def load(cls, path: str | Path, game: Game[Any]) -> Solution:
        """Return the solution of a game from a file, memory-mapped; raise FormatError for any other file."""
        table, complete = load_table(path, game)
        if not complete:
            raise FormatError(f"{path} is unfinished: go on with solve(game, file={str(path)!r})")
        return cls(game, table, 0.0)

    def write_all(self, path: str | Path) -> int:
        """Write ``state,value,action`` for every state that has a value; return how many.

        A state is its number where the game numbers them, else its text, in the order of the table; of states that
        are images of each other one is listed.  The value is that to the player to move; the action of a state
        where the game is over or chance moves stays empty.
        """
        count = 0
        with replacing(path) as file:
            file.write(b"state,value,action\n")
            for name, state in self._all_states():
                chosen = nonempty(self.game.legal(state)) and not nonempty(self.game.outcomes(state))
                action = str(self.action(state)) if chosen else ""
                file.write(f"{name},{self.value(state)!r},{action}\n".encode())
                count += 1
        return count

    def _all_states(self) -> Iterator[tuple[str, Any]]:
        """Yield all states that have a value, each with its name in a text of values separated by commas."""
        game = self.game
        if self.states > MAX_ROWS:
            raise LimitError(f"{self.states:,} states are too many to list; up to {MAX_ROWS:,} are")
        if game.has_size:
            yield from ((str(number), game.state(number)) for number in range(game.size()))
        elif hasattr(self.table, "states"):
            yield from ((quoted(game.text(state)), state) for state in self.table.states())
        else:
            way = 'method="hashed" (--method hashed) makes a table'
            raise GameError(f"{self.method} proves one position at a time and has no list of all states; {way}")

    def _state(self, state: Any) -> Any:
        return as_state(self.game, state)

    def _choice(self, state: Any, action: int) -> Choice:
        player, after = self.game.player(state), self.game.step(state, action)
        reward = float(self.game.reward(state, action))
        if hasattr(self.table, "bounds"):
            return Choice(action, *added(reward, *self.table.bounds(after, player)))
        found = self.table.lookup(after, player)
        value = reward + found.value
        return Choice(action, value, value, None if found.distance is None else found.distance + 1)


def added(reward: float, low: float, high: float) -> tuple[float, float]:
    """Return the bounds of a reward and a value together; they hold in spite of rounding."""
    if reward == 0.0 or low == high:
        return reward + low, reward + high
    return math.nextafter(reward + low, -math.inf), math.nextafter(reward + high, math.inf)


def _bounds_text(choice: Choice) -> str:
    return "" if choice.exact else f"{choice.low:.4g} .. {choice.high:.4g}"


def _plies(choice: Choice) -> float:
    """Return the plies to the end after a choice; without an end, more than any."""
    return float("inf") if choice.distance is None else choice.distance


def quoted(text: str) -> str:
    """Return a text as a field of a CSV file."""
    plain = not any(character in text for character in ',"\n\r')
    return text if plain else '"' + text.replace('"', '""') + '"'
