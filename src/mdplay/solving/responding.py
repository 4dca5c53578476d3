"""``respond``: iterate best responses until both policies converge, and the game that they then play."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from mdplay.compiling.contract import need_game
from mdplay.errors import FormatError, pluralize
from mdplay.game import Game, num_players
from mdplay.naming.notation import event_text
from mdplay.planning.formats.cs747 import write_policy
from mdplay.planning.mdp import Score
from mdplay.runtime.run import Run, RunOptions, run_of
from mdplay.solving.responses import Response, first_response, played, responses
from mdplay.states.graph import END, GameGraph, explore


@dataclass(frozen=True, eq=False)
class Responses:
    """The start and every best response after it; the last of each player is the fixed point."""

    graph: GameGraph
    steps: tuple[Response, ...]

    def __repr__(self) -> str:
        one, two = (step.value for step in self.last)
        return (
            f"<Responses of {self.graph.game!r}: {pluralize(len(self.steps) - 1, 'step')}, values {one} and {two}>"
        )

    @property
    def last(self) -> tuple[Response, Response]:
        """The last policy of each player."""
        found = {step.player: step for step in self.steps}
        return found[0], found[1]

    @property
    def edges(self) -> list[int]:
        """The edges of the graph that the fixed point plays."""
        one, two = self.last
        return played(self.graph, (one.weights, two.weights))

    @property
    def moves(self) -> list[str]:
        """The game that the fixed point plays, in the game's notation."""
        graph = self.graph
        states = [graph.state(int(graph.owner[edge])) for edge in self.edges]
        return [event_text(graph.game, s, int(graph.action[e])) for s, e in zip(states, self.edges, strict=True)]

    @property
    def end(self) -> int:
        """The number of the state in which that game ends, or which repeats."""
        edges = self.edges
        return int(self.graph.target[edges[-1]]) if edges else 0

    @property
    def endless(self) -> bool:
        """Whether a position repeats in that game: then it is infinite, unless chance decides otherwise."""
        return bool(self.graph.kind[self.end] != END)

    @property
    def result(self) -> float | None:
        """The result of that game for player 1, with its rewards minus those of the opponent.

        None if a position repeats by the most probable outcomes of chance.
        """
        if self.endless and self.graph.game.has_outcomes:
            return None
        earned = float(self.graph.points[self.edges].sum()) if self.edges else 0.0
        return earned + float(self.graph.game.endless if self.endless else self.graph.result[self.end])

    def document(self) -> dict[str, Any]:
        """Return the statistics for JSON."""
        return {
            "steps": [{"player": s.player + 1, "value": s.value, "changed": s.changed} for s in self.steps],
            "values": {str(step.player + 1): step.value for step in self.last},
            "moves": self.moves,
            "end": self.graph.game.text(self.graph.state(self.end)),
            "endless": self.endless,
            "result": self.result,
        }


def respond(
    game: Game[Any],
    *,
    start: str = "uniform",
    player: int | None = None,
    win: float = 1.0,
    draw: float = 0.0,
    loss: float = 0.0,
    report: Callable[[int, Response], None] | None = None,
    run: Run | None = None,
    **settings: Unpack[RunOptions],
) -> Responses:
    """Iterate best responses: each player in turn responds to the last policy of the other, until neither changes.

    ``start``: the first policy, ``uniform`` (of ``player``, by default 0) or a policy file.  ``win``, ``draw`` and
    ``loss`` are the results of a game without rewards.  ``report(number, response)`` is called for each step.
    The settings of the run are ``file``, a folder to which every policy is written, and ``progress``, which is
    called with the number of states found.
    """
    run = run_of("respond", ("file", "progress"), run, settings)
    need_game(game)
    if num_players(game) != 2:
        raise FormatError(
            f"{type(game).__name__} is a single-player game, and best responses need two players; use mdplay solve"
        )
    graph = explore(game, show=run.progress)
    score = None if game.has_reward else Score(win, draw, loss)
    steps: list[Response] = []
    for number, step in enumerate(responses(graph, first_response(graph, start, player), score)):
        steps.append(step)
        if run.file is not None:
            write_policy(
                graph,
                step.player,
                step.weights,
                Path(run.file) / f"step-{number:02d}-player-{step.player + 1}.txt",
            )
        if report is not None:
            report(number, step)
    return Responses(graph, tuple(steps))
