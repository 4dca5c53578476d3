"""Best responses by turns: each player in turn becomes the best answer to the other's last policy.

A best response is the plan of the MDP that the other's policy makes of the game, in every state of the player.
In a game that ends, with one rule for ties, this stands still after finitely many steps: states near the end
settle first, then those before them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mdplay.errors import LimitError
from mdplay.mdp.game_graph import CHANCE, END, GameGraph, Score
from mdplay.mdp.model import Floats
from mdplay.mdp.planning import plan

MAX_STEPS = 1000


@dataclass(frozen=True, eq=False)
class Step:
    """One best response: whose, the probability of each edge, its value at the start, what changed.

    ``changed`` counts the states where the action differs from the player's policy before; None at first.
    """

    player: int
    weights: Floats
    value: float | None
    changed: int | None


def best_response(graph: GameGraph, player: int, weights: Floats, score: Score | None = None) -> Step:
    """Return the best answer of a player to an opponent who takes edges with these probabilities."""
    mdp = graph.mdp(player, weights, score=score)
    found = plan(mdp)
    own = graph.kind[graph.owner] == player
    taken = own & (found.action[graph.owner] == graph.action)
    return Step(player, taken.astype(np.float64), float(found.value[0]), None)


def respond(graph: GameGraph, start: Step, score: Score | None = None) -> Iterator[Step]:
    """Yield the start and then best responses by turns, until both players repeat themselves."""
    last: dict[int, Step] = {start.player: start}
    yield start
    quiet, player = 0, 1 - start.player
    for _ in range(MAX_STEPS):
        step = best_response(graph, player, last[1 - player].weights, score)
        if player in last:
            changed = _changed(graph, player, step.weights, last[player].weights)
            step = Step(player, step.weights, step.value, changed)
            quiet = 0 if changed else quiet + 1
        last[player] = step
        yield step
        if quiet == 2:
            return
        player = 1 - player
    raise LimitError(f"the best responses did not stand still in {MAX_STEPS} steps")


def _changed(graph: GameGraph, player: int, new: Floats, old: Floats) -> int:
    """Return in how many states of the player the two policies differ."""
    own = graph.kind[graph.owner] == player
    return len(np.unique(graph.owner[own & (new != old)]))


def played(graph: GameGraph, weights: tuple[Floats, Floats]) -> list[int]:
    """Return the edges of the game that two policies play; of a mixed choice, or chance, the likeliest."""
    state, edges = 0, []
    while graph.kind[state] != END:
        begin, end = int(graph.first_edge[state]), int(graph.first_edge[state + 1])
        likely = graph.chance if graph.kind[state] == CHANCE else weights[int(graph.kind[state])]
        edge = begin + int(np.argmax(likely[begin:end]))
        edges.append(edge)
        state = int(graph.target[edge])
        if len(edges) > graph.num_states:
            raise LimitError("the game that the policies play never ends")
    return edges
