"""The exact value of every position, and the best way to play it.

    solution = solve(make("tic-tac-toe"))
    solution.value()            0.0: a draw
    solution.choices(state)     every action with its value and the distance to the end
    solution.action(state)      what a perfect player does

Values speak for the player to move unless ``player=`` names another.  Actions whose values differ from the best
by at most 1e-9 * max(1, |best|) are equally good: ``best`` lists them.  Among them a perfect player hurries,
or delays a loss; then the smallest action wins.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mdplay.bits import members, some
from mdplay.errors import FormatError, LimitError, unknown
from mdplay.game import Game
from mdplay.running import Show
from mdplay.solving.memory import budget
from mdplay.solving.worth import TIE, Choice, Table, best_actions

METHODS = ("auto", "dense", "growing", "hashed", "proof")
MANY_LINES = 10  # from which on a growing set is worth a kernel of its own


@dataclass(frozen=True)
class Solution:
    """The value of every state of a game, and best play; ``states`` were solved, in ``seconds``."""

    game: Game[Any]
    table: Table
    seconds: float

    @property
    def states(self) -> int:
        """The number of states with a value; images of each other may count once."""
        return len(self.table)

    @property
    def method(self) -> str:
        """How the values were found."""
        return self.table.method

    def value(self, state: Any = None, *, player: int | None = None) -> float:
        """Return what a state (default: the start) is worth to the player to move, or to the one named."""
        state = self._state(state)
        return self.table.worth(state, self.game.player(state) if player is None else player).value

    def distance(self, state: Any = None) -> int | None:
        """Return the plies to the end when the loser delays it and others hurry; None with chance."""
        state = self._state(state)
        return self.table.worth(state, self.game.player(state)).distance

    def choices(self, state: Any = None) -> list[Choice]:
        """Return every legal action with its value; none where the game is over or chance moves."""
        state = self._state(state)
        if some(self.game.outcomes(state)):
            return []
        if self.method == "proof":
            proved: list[Choice] = self.table.choices(state)  # type: ignore[attr-defined]
            return proved
        return [self._choice(state, action) for action in members(self.game.legal(state))]

    def best(self, state: Any = None) -> list[int]:
        """Return the actions of the highest value, in ascending order."""
        return best_actions(self.choices(state))

    def action(self, state: Any = None) -> int:
        """Return what a perfect player does: the best value, soonest (a loss latest), the smallest action."""
        choices = self.choices(state)
        if not choices:
            raise LimitError(f"there is no action in {self.game.text(self._state(state))}: nobody is to move")
        best = max(choice.value for choice in choices)
        late = -1 if best < -TIE else 1
        tied = set(best_actions(choices))
        return min(
            (c for c in choices if c.action in tied), key=lambda c: (late * (c.distance or 0), c.action)
        ).action

    def save(self, path: str | Path) -> None:
        """Write the solution to a file, whole or not at all; ``Solution.load`` reads it."""
        from mdplay.solving.files import save_table

        save_table(path, self.table, self.game)

    @classmethod
    def load(cls, path: str | Path, game: Game[Any]) -> Solution:
        """Return the solution of a game from a file, memory-mapped; raise FormatError for any other file."""
        from mdplay.solving.files import load_table

        began = time.perf_counter()
        table, complete = load_table(path, game)
        if not complete:
            raise FormatError(f"{path} is unfinished: go on with solve(game, file={str(path)!r})")
        return cls(game, table, time.perf_counter() - began)

    def _state(self, state: Any) -> Any:
        return self.game.initial() if state is None else state

    def _choice(self, state: Any, action: int) -> Choice:
        value, distance = self.table.worth(self.game.step(state, action), self.game.player(state))
        return Choice(action, self.game.reward(state, action) + value, None if distance is None else distance + 1)


def solve(
    game: Game[Any],
    state: Any = None,
    *,
    method: str = "auto",
    memory: int | None = None,
    file: str | Path | None = None,
    save_seconds: float = 60.0,
    show: Show | None = None,
) -> Solution:
    """Solve a game: every state that the given one (default: the start) reaches.

    ``method``: growing (for games of a growing set), dense (for games that number their states), hashed, proof
    (each position when it is asked for; for games with a ``study``), or auto: the quickest of them.  ``memory`` is
    a limit in bytes, by default most of what is free; work that would not fit is refused with LimitError.
    ``file`` keeps the solution: a finished one is read from it, an unfinished hashed one goes on from what it has,
    which is saved every ``save_seconds`` seconds.
    """
    if method not in METHODS:
        raise unknown("method", method, METHODS)
    began = time.perf_counter()
    start = game.initial() if state is None else state
    if method == "auto":  # a proof answers when it is asked and has nothing to keep in a file
        method = "proof" if game.has_study and file is None else _quickest(game, budget(memory))
    if file is not None:
        from mdplay.solving.files import solve_in_file

        table = solve_in_file(file, game, start, method, memory, save_seconds, show)
    else:
        table = fill_table(game, start, method, memory, show)
    return Solution(game, table, time.perf_counter() - began)


def fill_table(game: Game[Any], state: Any, method: str, memory: int | None, show: Show | None) -> Table:
    """Return a filled table of the method asked for."""
    from mdplay.solving import dense, growing
    from mdplay.solving.book import prover_for
    from mdplay.solving.hashed import HashTable
    from mdplay.solving.proof import MEMORY

    if method == "proof":
        return prover_for(game, memory=memory or MEMORY)
    if method == "growing":
        return growing.fill(game, memory=memory, show=show)
    if method == "dense":
        return dense.fill(game, memory=memory, show=show)
    table = HashTable(game, memory=memory, show=show)
    table.close(state)
    return table


def _quickest(game: Game[Any], limit: int) -> str:
    """Return the quickest method whose table fits: the one of most knowledge."""
    from mdplay.solving import dense, growing

    if game.has_targets and game.size() >> MANY_LINES and growing.needed_bytes(game) <= limit:
        return "growing"
    return "dense" if game.has_size and dense.needed_bytes(game) <= limit else "hashed"
