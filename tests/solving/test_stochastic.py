"""Value iteration for two: against the naive solver on graphs with cycles, where bounds need help to close in."""

from dataclasses import dataclass
from typing import NamedTuple

import pytest

from mdplay import Game, GameError, solve
from mdplay.solving.stochastic import iterate_values
from tests.helpers import COMPILED
from tests.solving.loopy_graphs import At, Graph, Losing, Winning, naive, random_graph


@pytest.mark.parametrize("kind", [Graph, Winning, Losing])
@pytest.mark.parametrize("first", [0] if COMPILED else [0, 5, 10])
def test_graphs_with_cycles_equal_the_naive_solver(kind, first):
    for seed in range(first, first + (2 if COMPILED else 5)):
        game = random_graph(seed, 14, kind)
        table = iterate_values(game)
        for place, (value, _) in naive(game).items():
            low, high = table.bounds(At(place, game.movers[place]), 0)
            assert low <= value <= high
            assert high - low < 1e-9


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
    with pytest.raises(GameError, match="points can be earned for ever"):
        iterate_values(Pump((1, 2, 1, 0, 2, 2, 0, 1, 1), (0, 0, 0), (99, 99, 99)))
