"""The values of policies against each other, best responses to them, and exploitability.

All states of the game are enumerated once (``mdplay.states.graph``).  A policy is a probability for each edge, as
``GameGraph.weights`` and ``GameGraph.uniform`` return it; ``None`` stands for optimal play.  One backward pass
over the states, successors first, finds the value of every state for a player p:

    terminal       the result, signed             p moves            the best or the mean of reward + value(next)
    chance         the mean of value(outcome)     the other moves    the least or the mean of value(next) - reward

The exploitability of a policy is the value of the best response to it minus the value of the game.

`responses` iterates best responses: each player in turn responds to the last policy of the other.  A response is
the plan of the MDP that the game and the policy of the other player make, so the game may have cycles.  In a game
without cycles, with one rule for ties, the policies converge: those of the last states first, then those before
them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mdplay.compiling import State, kernel
from mdplay.errors import FormatError, GameError, LimitError, PositionError, unknown
from mdplay.game import Game
from mdplay.planning.formats.cs747 import read_weights
from mdplay.planning.mdp import Score, mdp_of
from mdplay.planning.planner import plan
from mdplay.solving.policies import OBJECTIVES
from mdplay.solving.values import BoundedTable, Opponent, StateValue, Table
from mdplay.states.graph import CHANCE, END, Edges, GameGraph, explore
from mdplay.states.graph_search import Floats, Integers, postorder

MAX_STEPS = 1000  # of iterated best responses
TOLERANCE = 1e-10  # of planned values: the default is too large for the tie rule


@kernel(plain_first=True)
def fill_values(
    order: Any, edges: Edges, weights: Any, is_best: Any, player: int, own: bool, out_values: Any
) -> None:
    """Fill the value of every state for a player; terminal states have theirs.

    Rewards are for player 0.  ``is_best[k]``: player k plays optimally; otherwise by ``weights[k]``.
    """
    first_edge, target, kind, chance, points = edges
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


@dataclass(frozen=True, eq=False)
class PlannedValues:
    """Bounds of the values of all states for one player, and an action that attains them, -1 for none."""

    low: Floats
    high: Floats
    action: Integers


def planned_values(
    graph: GameGraph, player: int, weights: Floats, *, objective: str = "difference"
) -> PlannedValues:
    """Return the values of a player against an opponent who chooses edges with these probabilities, by planning.

    The game may have cycles.  Infinite play has the value 0 in a plan and ``endless`` in the game: so ``endless``
    is subtracted from all results and added to all values.
    """
    sign, endless = 1 - 2 * player, float(graph.game.endless)
    result, points = graph.result, graph.points
    if objective == "own":
        result = sign * np.maximum(sign * result, 0.0)
        points = np.where(graph.kind[graph.owner] == player, points, 0.0)
        endless = sign * max(sign * endless, 0.0)
    shifted = replace(graph, result=result - endless, points=points)
    found = plan(mdp_of(shifted, player, weights), tolerance=TOLERANCE)
    ends = np.where(graph.kind == END, sign * result, 0.0)
    low, high = (np.where(graph.kind == END, ends, bound + sign * endless) for bound in (found.lower, found.upper))
    return PlannedValues(low, high, found.action)


class PolicyValues:
    """The graph of a game without cycles, for the values of policies."""

    def __init__(self, game: Game[Any], graph: GameGraph | None = None) -> None:
        self.game = game
        self.graph = explore(game) if graph is None else graph
        self.order, has_cycle = postorder(self.graph.first_edge, self.graph.target)
        if has_cycle:
            raise GameError(f"{type(game).__name__} has cycles; use mdplay solve --opponent for a best response")

    def values(
        self,
        player: int,
        policies: tuple[Floats | None, Floats | None],
        *,
        objective: str = "difference",
    ) -> Floats:
        """Return the value of every state for a player if both follow policies; None is optimal play."""
        if objective not in OBJECTIVES:
            raise unknown("objective", objective, OBJECTIVES)
        graph, own = self.graph, objective == "own"
        result = (1 - 2 * player) * graph.result
        values = np.where(graph.kind == END, np.maximum(result, 0.0) if own else result, 0.0)
        none = np.zeros(len(graph.target))
        weights = np.stack([none if policy is None else policy for policy in policies])
        is_best = np.array([policy is None for policy in policies], np.uint8)
        fill_values(self.order, graph.edges, weights, is_best, player, own, values)
        return values

    def best_response(self, player: int, opponent: Opponent, *, objective: str = "difference") -> Floats:
        """Return the value of every state for a player who plays a best response to a fixed opponent."""
        weights = self.graph.weights(opponent, 1 - player)
        policies = (None, weights) if player == 0 else (weights, None)
        return self.values(player, policies, objective=objective)

    def exploitability(self, player: int, policy: Opponent) -> float:
        """Return the exploitability of a player's policy: what a perfect opponent gains beyond the value."""
        perfect = self.values(1 - player, (None, None))[0]
        return float(self.best_response(1 - player, policy)[0] - perfect)


class ResponseTable(Table):
    """The value of every state for each player against an opponent; None for a player who is the opponent."""

    method = "best-response"

    def __init__(self, graph: GameGraph, values: tuple[Floats | None, Floats | None]) -> None:
        self.game, self.graph, self.values = graph.game, graph, values

    def __len__(self) -> int:
        return self.graph.num_states

    def states(self) -> Iterator[Any]:
        """Yield the states whose values are known for the player to move, in the order of the graph."""
        for number in range(len(self)):
            state = self.graph.state(number)
            if self.values[self.game.player(state)] is not None:
                yield state

    def lookup(self, state: State, player: int) -> StateValue:
        """Return the value of a state for a player."""
        values = self.values[player]
        if values is None:
            raise PositionError(
                f"the policy given is that of player {player + 1}; there are no values for player {player + 1} in "
                f"{self.game.text(state)}"
            )
        try:
            return StateValue(float(values[self.graph.index(state)]), None)
        except KeyError:
            raise PositionError(f"no game reaches {self.game.text(state)}") from None


class PlannedTable(BoundedTable, ResponseTable):
    """The same for a game with cycles: bounds of every value, and actions that attain them."""

    def __init__(self, graph: GameGraph, planned: tuple[PlannedValues | None, PlannedValues | None]) -> None:
        super().__init__(graph, tuple(None if p is None else p.low for p in planned))  # type: ignore[arg-type]
        self._planned = planned

    def bounds(self, state: State, player: int) -> tuple[float, float]:
        """Return bounds of the value of a state for a player."""
        low = ResponseTable.lookup(self, state, player).value
        known = self._planned[player]
        assert known is not None
        return low, float(known.high[self.graph.index(state)])

    def action(self, state: State) -> int:
        """Return an action that attains the value of a state."""
        known = self._planned[self.game.player(state)]
        assert known is not None
        return int(known.action[self.graph.index(state)])


def answer_to_policy(
    game: Game[Any], opponent: Opponent = "uniform", *, objective: str = "difference"
) -> ResponseTable:
    """Return the best responses of either player to an opponent: "uniform", or a function of states."""
    graph = explore(game)
    if graph.has_cycle:
        weights = (graph.weights(opponent, 1 - player) for player in (0, 1))
        first, second = (planned_values(graph, p, w, objective=objective) for p, w in enumerate(weights))
        return PlannedTable(graph, (first, second))
    known = PolicyValues(game, graph)
    values = [known.best_response(player, opponent, objective=objective) for player in (0, 1)]
    return ResponseTable(graph, (values[0], values[1]))


def answer_to_file(game: Game[Any], path: str, *, objective: str = "difference") -> ResponseTable:
    """Return the best responses to the policy in a file, for the player whose policy it is not."""
    graph = explore(game)
    player, weights = read_weights(graph, path)
    if graph.has_cycle:
        planned = planned_values(graph, 1 - player, weights, objective=objective)
        return PlannedTable(graph, (None, planned) if player == 0 else (planned, None))
    known = PolicyValues(game, graph)
    policies = (weights, None) if player == 0 else (None, weights)
    values = known.values(1 - player, policies, objective=objective)
    return ResponseTable(graph, (None, values) if player == 0 else (values, None))


@dataclass(frozen=True, eq=False)
class Response:
    """One best response: the player, the probability of each edge, and the value of the start.

    ``changed`` counts the states in which the action differs from the player's previous policy; None at first.
    """

    player: int
    weights: Floats
    value: float | None
    changed: int | None


def best_response(graph: GameGraph, player: int, weights: Floats, score: Score | None = None) -> Response:
    """Return the best response of a player to an opponent who chooses edges with these probabilities.

    Infinite play has the value 0 in a plan.  If it has another value in the game, that is subtracted from the
    results.
    """
    endless = _endless_value(graph, player, score)
    if score is not None and endless:
        score = Score(score.win - endless, score.draw - endless, score.loss - endless)
    found = plan(mdp_of(graph, player, weights, score=score))
    own = graph.kind[graph.owner] == player
    taken = own & (found.action[graph.owner] == graph.action)
    return Response(player, taken.astype(np.float64), float(found.value[0]) + endless, None)


def _endless_value(graph: GameGraph, player: int, score: Score | None) -> float:
    """Return the value of infinite play for a player; 0 if every game ends."""
    endless = float(-graph.game.endless if player else graph.game.endless)
    if score is not None:
        endless = score.win if endless > 0 else score.loss if endless < 0 else score.draw
    if not endless or not graph.has_cycle:
        return 0.0
    if score is None:
        raise GameError(
            "best responses do not support both rewards and a value of infinite play; use mdplay solve"
        )
    return endless


def first_response(graph: GameGraph, start: str, player: int | None) -> Response:
    """Return the policy to start from: "uniform", or that of a file."""
    if start == "uniform":
        return Response(player or 0, graph.uniform(), None, None)
    whose, weights = read_weights(graph, start)
    if player is not None and player != whose:
        raise FormatError(f"{start}, line 1: a policy of player {whose + 1}, not of player {player + 1}")
    return Response(whose, weights, None, None)


def responses(graph: GameGraph, start: Response, score: Score | None = None) -> Iterator[Response]:
    """Yield the start and then best responses by turns, until both policies converge."""
    last: dict[int, Response] = {start.player: start}
    yield start
    quiet, player = 0, 1 - start.player
    for _ in range(MAX_STEPS):
        step = best_response(graph, player, last[1 - player].weights, score)
        if player in last:
            changed = _changed(graph, player, step.weights, last[player].weights)
            step = Response(player, step.weights, step.value, changed)
            quiet = 0 if changed else quiet + 1
        last[player] = step
        yield step
        if quiet == 2:
            return
        player = 1 - player
    raise LimitError(f"best responses did not converge in {MAX_STEPS} steps; try another --start policy")


def _changed(graph: GameGraph, player: int, new: Floats, old: Floats) -> int:
    """Return the number of states of the player in which two policies differ."""
    own = graph.kind[graph.owner] == player
    return len(np.unique(graph.owner[own & (new != old)]))


def played(graph: GameGraph, weights: tuple[Floats, Floats]) -> list[int]:
    """Return the edges of the game that two policies play; the most probable ones of mixed choices and of chance.

    An infinite game is followed until a state repeats.
    """
    state, edges, met = 0, [], set()
    while graph.kind[state] != END and state not in met:
        met.add(state)
        begin, end = int(graph.first_edge[state]), int(graph.first_edge[state + 1])
        likely = graph.chance if graph.kind[state] == CHANCE else weights[int(graph.kind[state])]
        edge = begin + int(np.argmax(likely[begin:end]))
        edges.append(edge)
        state = int(graph.target[edge])
    return edges
