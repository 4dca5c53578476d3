"""Value iteration for two: against the naive solver on graphs with cycles, where bounds need help to close in."""

import json
import math
import warnings
from dataclasses import dataclass
from itertools import product
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

from mdplay import Game, GameError, solve
from mdplay.cli.solve import verdict
from mdplay.solving import stochastic
from mdplay.solving.stochastic import iterate_values
from tests.helpers import COMPILED
from tests.solving.loopy_graphs import (
    EDGES,
    At,
    Drawn,
    DrawnLosing,
    DrawnWinning,
    Graph,
    Losing,
    Lot,
    Tossed,
    TossedLosing,
    TossedWinning,
    Winning,
    graph_of,
    naive,
    random_graph,
    reached,
)


@pytest.mark.parametrize("kind", [Graph, Winning, Losing])
@pytest.mark.parametrize("first", [0] if COMPILED else [0, 5, 10])
def test_graphs_with_cycles_equal_the_naive_solver(kind, first):
    for seed in range(first, first + (2 if COMPILED else 5)):
        game = random_graph(seed, 14, kind)
        table = iterate_values(game)
        for place, (value, _) in naive(game).items():
            low, high = table.bounds(At(place, game.movers[place]), 0)
            assert low == value == high  # integers, without chance


class Toss(NamedTuple):
    flying: int
    tails: int  # 1: the last toss was tails, the other player's turn
    over: int
    player: int


@dataclass(frozen=True)
class Coin(Game[Toss]):
    """Toss until heads, which earns a point and ends the game; tails earn ``tails`` and pass the coin on."""

    tails: int = 0

    def initial(self) -> Toss:
        return Toss(0, 0, 0, 0)

    def legal(self, s: Toss) -> int:
        return 0 if s.flying or s.over else 1

    def step(self, s: Toss, action: int) -> Toss:
        return Toss(1, s.tails, 0, s.player)

    def reward(self, s: Toss, action: int) -> int:
        return self.tails * s.tails

    def outcomes(self, s: Toss) -> int:
        return 3 if s.flying else 0

    def outcome(self, s: Toss, i: int) -> Toss:
        return Toss(0, 0, 1, s.player) if i else Toss(0, 1, 0, 1 - s.player)

    def probability(self, s: Toss, i: int) -> float:
        return 0.5

    def result(self, s: Toss) -> int:
        return 1 - 2 * s.player


def test_points_on_the_way():
    # Who tosses wins with 1/2 + 1/8 + ... = 2/3, so the result is worth 1/3; v = 1/2 - (3 + v) / 2 for the points.
    assert solve(Coin()).value() == pytest.approx(1 / 3, abs=1e-9)
    after = -(-3.0 + 0.0)  # a toss after tails earns 3: w = 3 + 1/2 - w / 2
    wanted = (after + 0.5) / 1.5
    assert solve(Coin(3)).value() == pytest.approx(0.5 - wanted / 2, abs=1e-9)


@dataclass(frozen=True)
class Pump(Graph):
    """Every move earns a point, and nobody has to stop."""

    def reward(self, s: At, action: int) -> int:
        return 1


def test_points_for_ever_have_no_value():
    with pytest.raises(GameError, match="rewards can be earned without end"):
        iterate_values(Pump((1, 2, 1, 0, 2, 2, 0, 1, 1), (0, 0, 0), (99, 99, 99)))


# ---------------------------------------------------------------- bounds of moves, and values that are integers
class Spot(NamedTuple):
    place: int
    player: int


@dataclass(frozen=True)
class Wide(Game[Spot]):
    """Player 0 goes to 1, where player 1 ends the game at 3 or 2**50, or to chance: back to 0, or an end at 3."""

    def initial(self) -> Spot:
        return Spot(0, 0)

    def legal(self, s: Spot) -> int:
        return 3 if s.place <= 1 else 0

    def step(self, s: Spot, action: int) -> Spot:
        if s.place == 0:
            return Spot(1, 1) if action == 0 else Spot(2, 0)
        return Spot(4 + action, 0)

    def outcomes(self, s: Spot) -> int:
        return 3 if s.place == 2 else 0

    def outcome(self, s: Spot, i: int) -> Spot:
        return Spot(0, 0) if i == 0 else Spot(4, 0)

    def probability(self, s: Spot, i: int) -> float:
        return 0.5

    def result(self, s: Spot) -> int:
        return 3 if s.place == 4 else 2**50


def test_the_bounds_of_moves_hold():
    for choice in solve(Wide()).choices():
        assert choice.low <= 3.0 <= choice.high
        assert not choice.exact or choice.value == pytest.approx(3.0, abs=1e-9)


def test_no_warning_of_numpy():
    # Places 2 and 3, a cycle, are done while the bounds of 0 and 1, which lead there, are infinite.
    game = Graph((1, 1, 1, 2, 2, 2, 3, 3, 3, 2, 4, 2, 0, 0, 0), (0,) * 5, (99, 99, 99, 99, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert solve(game, method="value-iteration").value() == 1.0


# ---------------------------------------------------------------- the policy attains the value
@dataclass(frozen=True)
class Waiting(Game[Spot]):
    """Toss a coin for a point, or toss one that changes nothing: both moves have the value 1/2."""

    def initial(self) -> Spot:
        return Spot(0, 0)

    def legal(self, s: Spot) -> int:
        return 3 if s.place == 0 else 0

    def step(self, s: Spot, action: int) -> Spot:
        return Spot(1 + action, 0)

    def outcomes(self, s: Spot) -> int:
        return 3 if s.place in (1, 2) else 0

    def outcome(self, s: Spot, i: int) -> Spot:
        return Spot(0 if s.place == 1 else 3 + i, 0)

    def probability(self, s: Spot, i: int) -> float:
        return 0.5

    def result(self, s: Spot) -> int:
        return s.place - 3


def test_a_perfect_player_does_not_wait_for_ever():
    found = solve(Waiting())
    assert (found.value(), found.best(), found.action()) == (0.5, [0, 1], 1)


@pytest.mark.parametrize("kind, few", [(Tossed, 0), (Tossed, 99), (TossedWinning, 99), (TossedLosing, 0)])
def test_each_policy_attains_the_value_against_all_others(kind, few, monkeypatch):
    monkeypatch.setattr(stochastic, "FEW_CHOICES", few)
    game = kind()
    for seed in (24, 70, 75, 84) if COMPILED else range(1, 100):
        found = solve(game, game.start(seed), method="value-iteration")
        states = [Lot(seed, p, game.drawn(Lot(seed, p, 0), 3, 2)) for p in range(game.places)]
        states = [s for s in states if found.table.graph.states.number(s) is not None]
        policy = {s: found.action(s) for s in states if game.legal(s)}
        start = states.index(game.start(seed))
        value = found.value(game.start(seed), player=0)
        for player, worst in ((0, min), (1, max)):
            theirs = [s for s in policy if s.player != player]
            answers = product(range(EDGES), repeat=len(theirs))
            got = [means(game, states, policy | dict(zip(theirs, a, strict=True)))[start] for a in answers]
            assert worst(got) == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("kind", [Drawn, DrawnWinning, DrawnLosing])
def test_the_best_answer_to_a_random_opponent_where_positions_repeat(kind):
    game = kind(6)
    for seed in range(1, 4 if COMPILED else 30):
        graph = graph_of(game, seed)
        found = solve(graph, opponent="uniform", method="best-response")
        states = [At(p, graph.movers[p]) for p in reached(graph)]
        mine = [s for s in states if graph.legal(s) and s.player == graph.movers[0]]
        answers = [dict(zip(mine, a, strict=True)) for a in product(range(EDGES), repeat=len(mine))]
        sign = -1 if graph.movers[0] else 1
        start = states.index(graph.initial())
        best = max(sign * means(graph, states, answer)[start] for answer in answers)
        assert found.value() == pytest.approx(best, abs=1e-6)
        own = {s: found.action(s) for s in mine}
        assert sign * means(graph, states, own)[start] == pytest.approx(best, abs=1e-6)


class Cell(NamedTuple):
    row: int
    col: int


@dataclass(frozen=True)
class Walls(Game[Cell]):
    """Every step costs 1, also one against a wall, until the first cell is reached."""

    reward_of_a_step: int = -1

    def initial(self) -> Cell:
        return Cell(2, 1)

    def legal(self, s: Cell) -> int:
        return 15 if s.row or s.col else 0

    def step(self, s: Cell, action: int) -> Cell:
        far = -1 if action & 1 else 1
        row, col = (s.row + far, s.col) if action & 2 else (s.row, s.col + far)
        return Cell(min(2, max(0, row)), min(2, max(0, col)))

    def reward(self, s: Cell, action: int) -> int:
        return self.reward_of_a_step


def test_costs_of_steps_are_added_up_and_a_wall_may_be_met():
    game = Walls()
    found = solve(game)
    assert (found.method, found.value(), found.best()) == ("value-iteration", -3.0, [1, 3])
    s = game.initial()
    for _ in range(3):
        s = game.step(s, found.action(s))
    assert s == Cell(0, 0)
    assert found.value(Cell(1, 1)) == -2.0


def test_rewards_for_ever_are_refused_for_one_player_too():
    with pytest.raises(GameError, match=r"the value of .* is infinite: the best policy earns rewards without end"):
        solve(Walls(1))


@dataclass(frozen=True)
class Trap(Walls):
    """The same with a cell from which no way leads out."""

    def step(self, s: Cell, action: int) -> Cell:
        far = 0 if s.row == 2 and s.col == 2 else -1 if action & 1 else 1
        row, col = (s.row + far, s.col) if action & 2 else (s.row, s.col + far)
        return Cell(min(2, max(0, row)), min(2, max(0, col)))


def test_a_state_that_pays_for_ever_has_an_infinite_value():
    found = solve(Trap())
    facts = found.document(Cell(2, 2))
    assert (found.value(), found.value(Cell(2, 2))) == (-3.0, -math.inf)
    assert (facts["exact"], facts["value"], json.dumps(facts, allow_nan=False) != "") == (True, None, True)
    assert "is infinite" in verdict(found.game, facts)


def test_a_state_out_of_reach_is_solved_when_it_is_asked_for():
    # From place 2, an end, nothing else is reached.
    game = Graph((1, 2, 1, 0, 0, 0, 0, 0, 0), (0, 1, 0), (99, 99, -1), 2)
    found = solve(game, method="value-iteration")
    assert (found.states, found.value(At(0, 0)), found.action(At(0, 0))) == (1, 0.0, 0)


def means(game, states, policy):
    """Return the mean result of each state when players follow a policy, or move at random where it has none."""
    number = {s: i for i, s in enumerate(states)}
    step, ends, results = np.zeros((len(states), len(states))), [], []
    for s, i in number.items():
        moves = [policy[s]] if s in policy else range(EDGES) if game.legal(s) or game.outcomes(s) else []
        for move in moves:
            step[i, number[game.step(s, move)]] += 1 / len(moves)
        if not moves:
            step[i, i] = 1.0
            ends.append(i)
            results.append(game.result(s))
    for _ in range(20):
        step = step @ step
    at_an_end = step[:, ends]
    return at_an_end @ np.array(results, float) + (1.0 - at_an_end.sum(axis=1)) * game.endless


class Place(NamedTuple):
    place: int
    player: int


@dataclass(frozen=True)
class Toll(Game[Place]):
    """Pace between 0 and 1 for ever, or earn a half on the way to 2 and 3, where play does not end either."""

    endless: ClassVar[int] = -1

    def initial(self) -> Place:
        return Place(0, 0)

    def legal(self, s: Place) -> int:
        return 3 if s.place == 0 else 1

    def step(self, s: Place, action: int) -> Place:
        to = 2 * action + 1 if s.place == 0 else 0 if s.place == 1 else 5 - s.place
        return Place(to, to % 2)

    def reward(self, s: Place, action: int) -> float:
        return 0.5 * action if s.place == 0 else 0


def test_the_policy_earns_points_before_play_without_end():
    """Nothing ever ends, so there is no end to come nearer to: leaving the first cycle is progress."""
    solution = solve(Toll())
    assert solution.value() == -0.5
    assert (solution.best(), solution.action()) == ([0, 1], 1)  # pacing first is no worse, pacing for ever is
    other = solve(Toll(), Place(1, 1))
    assert other.action(Place(0, 0)) == 1
