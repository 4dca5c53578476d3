import math
from dataclasses import dataclass

import pytest
from scipy import stats

from mdplay.bits import mix
from mdplay.errors import GameError, UnknownName
from mdplay.games.tic_tac_toe.rules import TicTacToe
from mdplay.searching.mcts import mcts
from mdplay.searching.selectors import (
    EXP3,
    KLUCB,
    SELECTORS,
    UCB1,
    Arm,
    EpsilonDecay,
    EpsilonGreedy,
    Gradient,
    Optimistic,
    Pull,
    Selector,
    Softmax,
    Thompson,
    ThompsonGaussian,
    UCB1Tuned,
    bernoulli_divergence,
    gamma,
    make_selector,
    normal,
    split_selectors,
)
from tests.helpers import COMPILED, write

ARM = Arm(4, 0.5, 0.4, 0.0)


def dice(count):
    """Return evenly spread numbers in [0, 1)."""
    return [(i + 0.5) / count for i in range(count)]


def test_upper_bounds_are_the_published_formulas():
    assert UCB1().score(ARM, 100, 0, 0) == pytest.approx(0.5 + math.sqrt(2 * math.log(100) / 4))
    ratio = math.log(100) / 4
    assert UCB1Tuned().score(ARM, 100, 0, 0) == pytest.approx(
        0.5 + math.sqrt(ratio * min(0.25, 0.4 - 0.25 + math.sqrt(2 * ratio)))
    )
    assert all(rule.score(Arm(0, 0, 0, 0), 5, 0, 0) == math.inf for rule in (UCB1(), UCB1Tuned(), KLUCB()))


@pytest.mark.parametrize("mean", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_kl_ucb_solves_its_equation(mean):
    q = KLUCB().score(Arm(10, mean, 0, 0), 50, 0, 0)
    if mean < 1.0:
        assert 10 * bernoulli_divergence(mean, q) == pytest.approx(math.log(50), abs=1e-3)
    assert mean <= q <= 1.0


def test_softmax_and_the_like_choose_by_their_probabilities():
    arms = [Arm(1, 0.2, 0, 0.2), Arm(1, 0.1, 0, 0.1), Arm(1, 0.0, 0, 0.0)]
    for rule, logits in ((Softmax(0.1), [2, 1, 0]), (Gradient(), [0.2, 0.1, 0.0]), (EXP3(0.0), [0.2, 0.1, 0.0])):
        counts = [0, 0, 0]
        for word in range(20_000):
            scores = [rule.score(arm, 3, 0.5, mix(word, i + 1) * 2.0**-64) for i, arm in enumerate(arms)]
            counts[scores.index(max(scores))] += 1
        expected = [20_000 * math.exp(x) / sum(map(math.exp, logits)) for x in logits]
        assert stats.chisquare(counts, expected).pvalue > 1e-4, rule


def test_epsilon_rules_follow_the_coin():
    for rule, total in ((EpsilonGreedy(0.1), 0), (EpsilonDecay(scale=10.0), 99)):
        assert rule.score(ARM, total, 0.09, 0.7) == 0.7
        assert rule.score(ARM, total, 0.11, 0.7) == 0.5


def test_thompson_draws_from_the_posterior():
    draws = [Thompson().score(Arm(10, 0.3, 0, 0), 10, 0, d) for d in dice(4000)]
    assert stats.kstest(draws, stats.beta(4, 8).cdf).pvalue > 1e-4
    draws = [ThompsonGaussian(2.0).score(Arm(4, 1.0, 0, 0), 10, 0, d) for d in dice(4000)]
    assert stats.kstest(draws, stats.norm(0.5, math.sqrt(0.5)).cdf).pvalue > 1e-4


def test_variates_have_their_laws():
    assert stats.kstest([normal(mix(7, i)) for i in range(4000)], "norm").pvalue > 1e-4
    assert stats.kstest([gamma(2.5, mix(8, i)) for i in range(4000)], stats.gamma(2.5).cdf).pvalue > 1e-4


def test_weights_are_learned_by_the_published_rules():
    chosen, other = (Pull(flag, 1.0, 0.4, 0.25, 4) for flag in (True, False))
    assert Gradient(0.1).learn(ARM, chosen) == pytest.approx(0.1 * 0.6 * 0.75)
    assert Gradient(0.1).learn(ARM, other) == pytest.approx(-0.1 * 0.6 * 0.25)
    assert EXP3(0.2).learn(ARM, chosen) == pytest.approx(0.2 / (4 * (0.8 * 0.25 + 0.05)))
    assert EXP3(0.2).learn(ARM, other) == 0.0
    rule = Optimistic(5.0, 0.1)
    assert rule.learn(Arm(0, 0, 0, rule.initial_weight()), chosen) == pytest.approx(4.6)


def test_selectors_are_made_by_name():
    assert make_selector("ucb1") == UCB1()
    assert make_selector("ucb1:c=2") == make_selector("ucb1(c=2)") == UCB1(2.0)
    assert split_selectors("ucb1(c=2),exp3, optimistic(initial=1,step=0.2)") == [
        "ucb1(c=2)",
        "exp3",
        "optimistic(initial=1,step=0.2)",
    ]
    assert split_selectors("all") == list(SELECTORS)
    with pytest.raises(UnknownName, match="did you mean 'ucb1'"):
        make_selector("ucb2")
    with pytest.raises(UnknownName, match="no parameter 'd'"):
        make_selector("ucb1(d=2)")
    with pytest.raises(GameError, match="a number"):
        make_selector("ucb1(c=much)")


@dataclass(frozen=True)
class Halving(Selector):
    """A user's selector: the example of the documentation."""

    def score(self, arm: Arm, total: int, coin: float, dice: float) -> float:
        return arm.mean + 0.5**arm.pulls


def test_a_selector_of_a_user_is_compiled():
    result = mcts(TicTacToe(), simulations=50, selector=Halving(), solver=False)
    assert sum(move.visits for move in result.moves) == 50


def test_a_selector_may_come_from_a_file(tmp_path):
    text = (
        "from dataclasses import dataclass\nfrom mdplay.searching.selectors import Arm, Selector\n\n\n"
        "@dataclass(frozen=True)\nclass Last(Selector):\n    weight: float = 1.0\n\n"
        "    def score(self, arm: Arm, total: int, coin: float, dice: float) -> float:\n"
        "        return self.weight\n"
    )
    path = write(tmp_path, "last_selector.py", text)
    assert make_selector(f"{path}:Last(weight=3)").score(ARM, 0, 0, 0) == 3.0
    with pytest.raises(GameError, match="not a class derived from Selector"):
        make_selector(f"{path}:Arm")


FEW = ["gradient"]  # it learns weights


@pytest.mark.parametrize("expansion", ["one", "all"])
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in FEW or not COMPILED else pytest.mark.slow) for n in SELECTORS]
)
def test_every_selector_drives_the_tree(name, expansion):
    # X completes the top row.  With expansion=all a finished leaf gives only visits, so it may be passed over.
    game = TicTacToe()
    state, rule = game.parse("110220000"), make_selector(name)
    result = mcts(game, state, simulations=600, selector=rule, expansion=expansion, seed=1, solver=False)
    assert result.move == "2" or expansion == "all" or name == "uniform"
    assert all(move.visits for move in result.moves)
    assert all(0.0 <= move.value <= 1.0 for move in result.moves) or expansion == "one"
