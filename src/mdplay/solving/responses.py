"""What policies are worth against each other, best answers to them, and what a perfect opponent gains.

All states of the game are enumerated once (``mdplay.mdp.game_graph``).  A policy is a probability for each edge,
as ``GameGraph.weights`` and ``GameGraph.uniform`` give; ``None`` stands for a player who plays best.  One backward
pass over the states, followers first, gives what every state is worth to a player p:

    the end        the result, signed             p moves            the best or the mean of points + value(next)
    chance         the mean of value(outcome)     the other moves    the least or the mean of value(next) - points

The exploitability of a policy is what the best answer to it earns beyond the value of the game.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bridge import kernel
from mdplay.errors import GameError, PositionError, unknown
from mdplay.game import Game
from mdplay.mdp.game_graph import CHANCE, END, GameGraph, explore
from mdplay.solving.policies import OBJECTIVES
from mdplay.solving.solution import Solution
from mdplay.solving.worth import Worth

Floats = NDArray[np.float64]
Opponent = str | Callable[[Any], int | Mapping[int, float]]


@kernel
def finished_first(first_edge: Any, target: Any, out_order: Any) -> int:
    """List the states so that followers come before; return their number, less than all if there is a circle."""
    num_states = len(first_edge) - 1
    place = np.zeros(num_states, np.int64)  # the next edge of an open state; -1 closed
    path = np.zeros(num_states, np.int64)
    count, depth = 0, 1
    is_open = np.zeros(num_states, np.uint8)
    is_open[0] = 1
    while depth > 0:
        s = path[depth - 1]
        edge = int(first_edge[s]) + place[s]
        if edge == int(first_edge[s + 1]):
            out_order[count] = s
            count += 1
            depth -= 1
            is_open[s] = 2
            continue
        place[s] += 1
        t = int(target[edge])
        if is_open[t] == 1:
            return count
        if is_open[t] == 0:
            is_open[t] = 1
            path[depth] = t
            depth += 1
    return count


@kernel
def fill_values(
    order: Any,
    first_edge: Any,
    target: Any,
    kind: Any,
    chance: Any,
    points: Any,
    weights: Any,
    is_best: Any,
    player: int,
    own: bool,
    out_values: Any,
) -> None:
    """Fill what every state is worth to a player; the ends are filled already.

    ``points`` are player 0's.  ``is_best[k]``: player k plays best; otherwise by ``weights[k]``.
    """
    for s in order:
        mover = int(kind[s])
        if mover == END:
            continue
        is_mine = mover == player
        best = mover != CHANCE and is_best[mover] != 0
        total = 0.0
        if best:
            total = -np.inf if is_mine else np.inf
        for edge in range(int(first_edge[s]), int(first_edge[s + 1])):
            gain = points[edge] if player == 0 else -points[edge]
            value = out_values[int(target[edge])] + (gain if is_mine or not own else 0.0)
            if best:
                total = max(total, value) if is_mine else min(total, value)
            elif mover == CHANCE:
                total += chance[edge] * value
            else:
                total += weights[mover, edge] * value
        out_values[s] = total


class Responses:
    """The states of a game, ready for questions about policies."""

    def __init__(self, game: Game[Any], graph: GameGraph | None = None) -> None:
        self.game = game
        self.graph = explore(game) if graph is None else graph
        self.order = np.zeros(self.graph.num_states, np.int64)
        if finished_first(self.graph.first_edge, self.graph.target, self.order) < self.graph.num_states:
            raise GameError(f"{type(game).__name__} can come back to a state; best answers need games that cannot")

    def values(
        self,
        player: int,
        policies: tuple[Floats | None, Floats | None],
        *,
        objective: str = "difference",
    ) -> Floats:
        """Return what every state is worth to a player when both follow policies; None plays best."""
        if objective not in OBJECTIVES:
            raise unknown("objective", objective, OBJECTIVES)
        graph, own = self.graph, objective == "own"
        result = (1 - 2 * player) * graph.result
        values = np.where(graph.kind == END, np.maximum(result, 0.0) if own else result, 0.0)
        none = np.zeros(len(graph.target))
        weights = np.stack([none if policy is None else policy for policy in policies])
        is_best = np.array([policy is None for policy in policies], np.uint8)
        edges = (graph.first_edge, graph.target, graph.kind, graph.chance, graph.points)
        fill_values(self.order, *edges, weights, is_best, player, own, values)
        return values

    def best_response(self, player: int, opponent: Opponent, *, objective: str = "difference") -> Floats:
        """Return what every state is worth to a player who answers best to a fixed opponent."""
        weights = self.graph.weights(opponent, 1 - player)
        policies = (None, weights) if player == 0 else (weights, None)
        return self.values(player, policies, objective=objective)

    def exploitability(self, player: int, policy: Opponent) -> float:
        """Return how much a perfect opponent gains against a player's policy, beyond the value of the game."""
        perfect = self.values(1 - player, (None, None))[0]
        return float(self.best_response(1 - player, policy)[0] - perfect)


class ResponseTable:
    """What every state is worth to each player against an opponent; None where that is not asked."""

    def __init__(self, responses: Responses, values: tuple[Floats | None, Floats | None], method: str) -> None:
        self.game, self.graph = responses.game, responses.graph
        self.values, self.method = values, method

    def __len__(self) -> int:
        return self.graph.num_states

    def worth(self, state: Any, player: int) -> Worth:
        """Return what a state is worth to a player."""
        values = self.values[player]
        if values is None:
            raise PositionError(
                f"the policy given is that of player {player + 1}, who moves in {self.game.text(state)}"
            )
        try:
            return Worth(float(values[self.graph.index(state)]), None)
        except KeyError:
            raise PositionError(f"no game reaches {self.game.text(state)}") from None


def respond_to(game: Game[Any], opponent: Opponent = "uniform", *, objective: str = "difference") -> Solution:
    """Return the best answers of either player to an opponent: "uniform", or a function of states."""
    began = time.perf_counter()
    responses = Responses(game)
    answers = tuple(responses.best_response(player, opponent, objective=objective) for player in (0, 1))
    name = opponent if isinstance(opponent, str) else "a given policy"
    table = ResponseTable(responses, (answers[0], answers[1]), f"best response to {name}")
    return Solution(game, table, time.perf_counter() - began)


def answer_to_weights(
    game: Game[Any], graph: GameGraph, player: int, weights: Floats, *, objective: str = "difference"
) -> Solution:
    """Return the best answers of the other player to a player's policy, given as probabilities of edges."""
    began = time.perf_counter()
    responses = Responses(game, graph)
    policies = (weights, None) if player == 0 else (None, weights)
    values = responses.values(1 - player, policies, objective=objective)
    table = ResponseTable(
        responses, (None, values) if player == 0 else (values, None), "best response to a policy"
    )
    return Solution(game, table, time.perf_counter() - began)
