"""Best responses in Anti-Tic-Tac-Toe: fractions computed by two other programs, and plain recursion here."""

from fractions import Fraction
from functools import cache

import pytest

from mdplay import GameError, UnknownName, make
from mdplay.bits import elements
from mdplay.solving.responses import PolicyValues
from mdplay.solving.solvers import solve
from tests.solving.plain_recursion import Round


def against_uniform(game, player, own):
    """Plain recursion with fractions: the best answer of a player to random moves."""

    @cache
    def value(s):
        actions = elements(game.legal(s))
        if not actions:
            result = Fraction(game.result(s)) * (-1 if player else 1)
            return max(result, Fraction(0)) if own else result
        follow = [value(game.step(s, a)) for a in actions]
        return max(follow) if game.player(s) == player else sum(follow) / len(follow)

    return value


@pytest.fixture(scope="module")
def anti():
    return PolicyValues(make("anti-tic-tac-toe"))


# Win 1, else 0 is the objective "own"; +1, 0, -1 the objective "difference".
FACTS = [
    (0, "own", Fraction(173, 192)),
    (1, "own", Fraction(944, 945)),
    (0, "difference", Fraction(27, 32)),
    (1, "difference", Fraction(944, 945)),
]


@pytest.mark.parametrize("player, objective, value", FACTS)
def test_best_responses_to_a_uniform_opponent(anti, player, objective, value, needs_compiler):
    plain = against_uniform(anti.game, player, objective == "own")
    assert plain(anti.game.initial()) == value
    values = anti.best_response(player, "uniform", objective=objective)
    assert values[0] == pytest.approx(float(value), abs=1e-12)
    for number in range(0, anti.graph.num_states, 7):
        assert values[number] == pytest.approx(float(plain(anti.graph.state(number))), abs=1e-12)


def test_counts_and_perfect_values(anti, needs_compiler):
    # 5478 reachable states; by state, player 1 to move: 444 win, 673 draw, 1306 loss (two programs agree)
    assert anti.graph.num_states == 5478
    values = anti.values(0, (None, None))[anti.graph.kind == 0]
    assert [(values == v).sum() for v in (1, 0, -1)] == [444, 673, 1306]


def test_random_against_random(anti, needs_compiler):
    uniform = anti.graph.uniform()
    value = anti.values(0, (uniform, uniform))[0]
    assert value == pytest.approx(121 / 420 - 737 / 1260, abs=1e-12)


def test_exploitability_of_random_and_of_perfect_play(anti, needs_compiler):
    assert anti.exploitability(0, "uniform") == pytest.approx(944 / 945)
    assert anti.exploitability(1, "uniform") == pytest.approx(27 / 32)
    values = anti.values(0, (None, None))

    def perfect(state):
        follow = {a: values[anti.graph.index(anti.game.step(state, a))] for a in elements(anti.game.legal(state))}
        return max(follow, key=lambda a: (follow[a], -a))

    assert anti.exploitability(0, perfect) == 0


def test_the_solution_of_a_random_opponent_names_its_moves(needs_compiler):
    solution = solve(make("anti-tic-tac-toe"), opponent="uniform", objective="own")
    assert solution.value() == pytest.approx(173 / 192)
    assert solution.action() == 1
    with pytest.raises(UnknownName, match="objective"):
        solve(solution.game, opponent="uniform", objective="score")


def test_points_count_for_whom_they_are_earned(needs_compiler):
    for objective, value in (("own", Fraction(41341, 10395)), ("difference", Fraction(41102, 10395))):
        solution = solve(make("dots-and-boxes"), opponent="uniform", objective=objective, method="best-response")
        assert solution.value() == pytest.approx(float(value), abs=1e-9)
    assert solution.value(player=1) == pytest.approx(31777 / 10800, abs=1e-9)


def test_a_game_that_comes_back_is_refused(needs_compiler):
    with pytest.raises(GameError, match="Round has cycles"):
        PolicyValues(Round())
