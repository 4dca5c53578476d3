"""Tests of ``mdplay.planning.planner``.

Here are tested besides: ``mdplay.planning.undiscounted``.
"""

from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np
import pytest

from mdplay.errors import FormatError, LimitError, UnknownName
from mdplay.planning import MDP, backends, evaluate_policy, methods, plan, verify
from mdplay.planning.methods import METHODS
from mdplay.states import graph_search as walks
from tests.planning.exact import as_floats, encloses, mixture, model_of, optimum, random_mdp

ALL = ["auto", *METHODS]
EPISODIC = [0.0, -1.0]
MOST = 0.99  # of the plans of random MDPs: whose averages are too near to zero is refused


def random_mdps(seed, count):
    """Yield MDPs with every kind of discount and reward, and their exact optimum."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        discount = float(rng.choice([0.0, 0.5, 0.9, 0.99, 1.0, 1.0, 1.0, 1.0]))
        rewards = [None, None, EPISODIC, [0.0, 0.0, 1.0]][int(rng.integers(4))]
        mdp = random_mdp(rng, discount=discount, ends=bool(rng.random() < 0.8), rewards=rewards)
        yield mdp, optimum(mdp)


def check_all(mdps):
    """Check every method on every MDP that has an optimum, and that hardly any plan is refused."""
    plans = [check(mdp, exact, method) for mdp, exact in mdps if exact is not None for method in ALL]
    assert sum(plans) >= MOST * len(plans) > 0


def check(mdp, exact, method):
    """Assert that a plan is right: enclosed, close, and its actions worth what it says; False if refused."""
    try:
        found = plan(mdp, method)
    except LimitError as error:  # an average of 1e-17 is zero for doubles, not for fractions
        assert "average to zero" in str(error)
        return False
    wanted = as_floats(exact)
    finite = np.isfinite(wanted)
    assert encloses(found.lower, exact, found.upper)
    assert found.closed
    assert (np.isinf(found.value) == ~finite).all()
    assert found.value[finite] == pytest.approx(wanted[finite], abs=1e-6)
    if finite.all():
        assert evaluate_policy(mdp, found.action.clip(min=0)).value == pytest.approx(wanted, abs=1e-5, rel=1e-5)
    return True


@pytest.mark.parametrize("seed", range(2))
def test_all_methods_agree_with_rational_arithmetic_on_random_mdps(seed):
    check_all(random_mdps(seed, 60))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 110))
def test_all_methods_agree_on_a_thousand_random_mdps(seed):
    check_all(random_mdps(seed, 110))


@pytest.fixture
def compiled(monkeypatch):
    """Let even the smallest model take the way of the large ones."""
    monkeypatch.setattr(backends, "PLAIN_TRANSITIONS", 0)
    monkeypatch.setattr(walks, "PLAIN_WORK", -1)


def test_the_compiled_backend_gives_the_same_proofs(compiled):
    check_all(random_mdps(7, 40))


def test_a_recycling_robot():
    """Sutton and Barto 2018, example 3.3, with alpha = beta = 0.5, rewards 2 (search) and 1 (wait)."""
    high, low = 0, 1
    search, wait, recharge = 0, 1, 2
    nested = [[[], [], []], [[], [], []]]
    nested[high][search] = [[high, 2, 0.5], [low, 2, 0.5]]
    nested[high][wait] = [[high, 1, 1.0]]
    nested[low][search] = [[low, 2, 0.5], [high, -3, 0.5]]
    nested[low][wait] = [[low, 1, 1.0]]
    nested[low][recharge] = [[high, 0, 1.0]]
    found = plan(MDP.from_nested(nested, discount=0.9))
    # v(h) = 2 + 0.45 (v(h) + v(l)),  v(l) = 0.9 v(h): both by hand
    assert found.value == pytest.approx([2 / (1 - 0.45 - 0.405), 1.8 / (1 - 0.45 - 0.405)])
    assert found.action.tolist() == [search, recharge]


def test_the_gridworld_of_sutton_and_barto():
    """Sutton and Barto 2018, figure 4.1: a 4 x 4 grid, -1 a step, under the random policy and at its best."""
    nested = [[[], [], [], []] for _ in range(16)]
    for cell in range(1, 15):
        r, c = divmod(cell, 4)
        for action, (dr, dc) in enumerate([(-1, 0), (1, 0), (0, -1), (0, 1)]):
            to = (min(max(r + dr, 0), 3)) * 4 + min(max(c + dc, 0), 3)
            nested[cell][action] = [[to, -1, 1.0]]
    mdp = MDP.from_nested(nested, discount=1.0)
    random = evaluate_policy(mdp, np.full((16, 4), 0.25))
    wanted = [0, -14, -20, -22, -14, -18, -20, -20, -20, -20, -18, -14, -22, -20, -14, 0]
    assert random.value == pytest.approx(wanted, abs=1e-6)
    assert plan(mdp).value == pytest.approx([-min(r + c, 6 - r - c) for r in range(4) for c in range(4)])


def test_the_gamblers_problem():
    """Sutton and Barto 2018, example 4.3 with p = 0.4: bold play is optimal, so v(50) = 0.4, v(25) = 0.16."""
    nested = [[[]] for _ in range(101)]
    for capital in range(1, 100):
        nested[capital] = [
            [[capital + stake, float(capital + stake == 100), 0.4], [capital - stake, 0.0, 0.6]]
            for stake in range(1, min(capital, 100 - capital) + 1)
        ]
    found = plan(MDP.from_nested(nested, discount=1.0))
    assert found.closed
    assert found.value[[25, 50, 75]] == pytest.approx([0.16, 0.4, 0.64])


def test_ties_go_to_the_smallest_action_even_when_rounding_says_otherwise():
    tied = [[[1, 0.1 + 0.2, 1.0]], [[1, 0.3, 1.0]]]
    assert plan(MDP.from_nested([tied[::-1], [[]]], discount=0.5)).action[0] == 0
    assert plan(MDP.from_nested([tied, [[]]], discount=0.5)).action[0] == 0


def test_resting_for_free_and_leaving_a_merged_component():
    nested = [
        [[[1, 0.0, 1.0]]],
        [[[0, 0.0, 1.0]], [[2, 5.0, 1.0]]],
        [[]],
    ]
    found = plan(MDP.from_nested(nested, discount=1.0))
    assert found.value.tolist() == [5.0, 5.0, 0.0]
    assert found.action.tolist() == [0, 1, -1]  # action 0 of state 1 is worth the same, but for ever
    nested[1][1] = [[2, -5.0, 1.0]]
    assert plan(MDP.from_nested(nested, discount=1.0)).value.tolist() == [0.0, 0.0, 0.0]


def test_a_tie_that_would_never_end_is_not_taken():
    nested = [[[[0, -1e-12, 1.0]], [[1, -1.0, 1.0]]], [[]]]
    found = plan(MDP.from_nested(nested, discount=1.0))
    assert found.value[0] == pytest.approx(-1.0)
    assert found.action[0] == 1


def test_infinite_values_are_reported():
    nested = [[[[0, 1.0, 1.0]]], [[[1, -1.0, 1.0]]], [[[3, -1.0, 1.0]]], [[]]]
    found = plan(MDP.from_nested(nested, discount=1.0))
    assert found.value.tolist() == [inf, -inf, -1.0, 0.0]
    assert found.infinite.tolist() == [0, 1]
    assert found.closed


def test_a_state_worth_infinity_is_not_left_by_an_action_that_ends():
    """States 0 and 1 may rest in each other; state 1 also earns, and state 0 must go there, not to the end."""
    nested = [[[[2, 0.0, 1.0]], [[1, 0.0, 1.0]]], [[[0, 0.0, 1.0]], [[0, 1.0, 1.0]]], [[]]]
    found = plan(MDP.from_nested(nested, discount=1.0))
    assert found.value.tolist() == [inf, inf, 0.0]
    assert found.action.tolist() == [1, 1, -1]


def test_a_tie_that_would_never_end_is_left_by_an_action_as_good():
    """In turns 0 and 1 send each other round for almost nothing; both ways out are tied with that."""
    nested = [
        [[[1, -1e-12, 1.0]], [[2, -1.0, 1.0]]],
        [[[0, -1e-12, 1.0]], [[2, -1.0, 1.0]]],
        [[]],
    ]
    found = plan(MDP.from_nested(nested, discount=1.0))
    assert 1 in found.action.tolist()
    assert evaluate_policy(mdp=MDP.from_nested(nested, discount=1.0), policy=found.action.clip(min=0)).closed


def test_a_cycle_of_average_zero_is_refused():
    with pytest.raises(LimitError, match="state 0 .* not defined"):
        plan(MDP.from_nested([[[[1, 1.0, 1.0]]], [[[0, -1.0, 1.0]]]], discount=1.0))


def test_small_steps_are_not_convergence():
    """A thousandth of the way towards 1 at a time: when a sweep changes 1e-6, the error is still 1e-3."""
    mdp = MDP.from_nested([[[[0, 0.0, 0.999], [1, 1.0, 0.001]]], [[]]], discount=1.0)
    found = plan(mdp, "jacobi")
    assert found.lower[0] <= 1.0 <= found.upper[0]
    assert found.value[0] == pytest.approx(1.0, abs=1e-6)


def test_a_method_that_crawls_says_so(monkeypatch):
    monkeypatch.setattr(methods, "MAX_SWEEPS", 2000)
    mdp = MDP.from_nested([[[[0, 0.0, 1 - 1e-6], [1, 1.0, 1e-6]]], [[]]], discount=1.0)
    with pytest.raises(LimitError, match="sweeps: use the method auto"):
        plan(mdp, "jacobi")
    assert plan(mdp).value[0] == pytest.approx(1.0)


def test_verify_encloses_the_optimum_whatever_the_values():
    rng = np.random.default_rng(3)
    for _ in range(60):
        mdp = random_mdp(rng, discount=float(rng.choice([0.0, 0.5, 0.95])), ends=bool(rng.random() < 0.5))
        bounds = verify(mdp, rng.normal(size=mdp.num_states) * 10)
        assert encloses(bounds.lower, optimum(mdp), bounds.upper)


def test_verify_at_discount_1_proves_good_values_and_nothing_from_bad_ones():
    mdp = MDP.from_nested([[[[0, -1.0, 0.5], [1, 0.0, 0.5]]], [[]]], discount=1.0)
    assert verify(mdp, [-1.0, 0.0]).gap < 1e-12
    assert verify(mdp, [-3.0, 0.0]).lower[0] <= -1.0 <= verify(mdp, [-3.0, 0.0]).upper[0]


@pytest.mark.parametrize("method", ["vi", "jacobi", "topological", "mpi", "mixed", "ipi", "hpi"])
def test_large_models_agree(method):
    mdp = garnet(3000, 4, 6, discount=0.95)
    assert mdp.num_transitions > backends.PLAIN_TRANSITIONS
    found, reference = plan(mdp, method), plan(mdp, "jacobi", tolerance=1e-9)
    assert found.closed
    assert found.value == pytest.approx(reference.value, abs=1e-6)
    assert (found.action == reference.action).mean() > 0.999


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_change_nothing(threads):
    mdp = garnet(20_000, 5, 8, discount=0.9)
    assert plan(mdp, threads=threads).value.tolist() == plan(mdp, threads=1).value.tolist()


def test_a_slowly_mixing_chain_goes_over_to_krylov():
    mdp = grid(100, discount=0.999)
    found = plan(mdp)
    assert found.closed
    assert found.iterations < 100  # sweeps alone take thousands
    assert found.value == pytest.approx(plan(mdp, "hpi").value, abs=2e-6)


def test_a_policy_that_mixes_slowly_is_solved_not_swept():
    mdp = grid(160, discount=0.999)
    best = plan(mdp)
    found = evaluate_policy(mdp, best.action)
    assert mdp.num_states * 3 > backends.PLAIN_TRANSITIONS
    assert found.closed
    assert found.iterations < 200  # sweeps alone take thousands
    assert found.value == pytest.approx(best.value, abs=2e-6)


def test_an_undiscounted_grid_is_certified():
    mdp = grid(90, discount=1.0)
    found = plan(mdp)
    assert found.method == "ipi"
    assert found.closed


def test_unfit_methods_and_bad_questions_are_refused_in_a_sentence():
    with pytest.raises(LimitError, match="at most 5000 states"):
        plan(garnet(6000, 2, 2, discount=0.9), "lp")
    tiny = MDP.from_nested([[[[1, 1.0, 1.0]]], [[]]], discount=1.0)
    with pytest.raises(UnknownName, match="hpi"):
        plan(tiny, "hpj")
    with pytest.raises(FormatError, match="tolerance"):
        plan(tiny, tolerance=0.0)
    with pytest.raises(FormatError, match="2 states"):
        verify(tiny, [1.0])
    with pytest.raises(FormatError, match="state 0"):
        evaluate_policy(tiny, [1, 0])
    with pytest.raises(FormatError, match="not available"):
        evaluate_policy(tiny, [[0.5, 0.5], [1, 0]])


def test_rows_that_miss_1_are_divided_by_their_sum_rewards_too():
    lines = [(0, 0, t, 1.0, 0.333333) for t in range(3)] + [(1, 0, 0, 1.0, 1.0), (2, 0, 0, 1.0, 1.0)]
    found = plan(MDP.from_transitions(*zip(*lines, strict=True), num_states=3, discount=0.999))
    exact = optimum(model_of(3, lines, 0.999))
    assert float(exact[0]) == pytest.approx(1000.0, abs=1e-9)
    assert encloses(found.lower, exact, found.upper)
    assert found.closed


CANCELLING = [(0, 0, 0, 1e15, 0.3), (0, 0, 1, -1e15, 0.2), (0, 0, 1, -1e15, 0.1), (0, 0, 2, 1.0, 0.4)]


def test_bounds_enclose_rewards_that_cancel():
    mdp = MDP.from_transitions(*zip(*CANCELLING, strict=True), num_states=3, discount=0.9)
    found, exact = plan(mdp), optimum(model_of(3, CANCELLING, 0.9))
    assert float(exact[0]) == pytest.approx(0.509924, abs=1e-6)
    assert encloses(found.lower, exact, found.upper)
    assert found.closed


def test_bounds_enclose_a_policy_whose_rewards_cancel():
    """Both actions' rewards are rounded; half of each leaves nothing but what rounding took."""
    big = 1e15 / 7
    lines = [(0, 0, 1, big, 0.3), (0, 0, 1, big / 3, 0.7), (0, 1, 1, -big, 0.3), (0, 1, 1, -big / 3 + 0.01, 0.7)]
    mdp = MDP.from_transitions(*zip(*lines, strict=True), num_states=2, discount=0.9)
    found = evaluate_policy(mdp, [[0.5, 0.5], [0, 0]])
    exact = optimum(mixture(model_of(2, lines, 0.9), [[0.5, 0.5], [0, 0]]))
    assert encloses(found.lower, exact, found.upper)
    assert found.gap < 10.0


def test_a_thousand_summands_of_a_probability_are_as_good_as_two():
    """Sweeps of one transition allow for one rounding; here each of a thousand takes all that is added."""
    lines = [(0, 0, 0, 1.0, 0.5), *[(0, 0, 0, 1.0, 2.0**-55)] * 1000, (0, 0, 1, 1.0, 0.5)]
    mdp = MDP.from_transitions(*zip(*lines, strict=True), num_states=2, discount=0.999)
    stay, go = sum(Fraction(p) for *_, p in lines[:-1]), Fraction(0.5)
    assert abs(Fraction(mdp.probability[0]) - stay / (stay + go)) <= 4 * Fraction(2) ** -53
    found = plan(mdp)
    assert encloses(found.lower, optimum(model_of(2, lines, 0.999)), found.upper)


@pytest.mark.parametrize("discount, reward", [(0.9, 1e308), (0.999999, 1e300), (1.0, 1e305)])
def test_values_beyond_doubles_are_refused_in_a_sentence(discount, reward):
    mdp = MDP.from_nested([[[[0, reward, 0.9], [1, reward, 0.1]]], [[]]], discount=discount)
    with pytest.raises(LimitError, match="divide all rewards"):
        plan(mdp)
    with pytest.raises(LimitError, match="divide all rewards"):
        verify(mdp, [0.0, 0.0])


def test_values_that_grow_beyond_doubles_are_refused_in_a_sentence():
    mdp = MDP.from_nested([[[[0, 1e10, 1.0], [1, 0.0, 1e-300]]], [[]]], discount=1.0)
    with pytest.raises(LimitError, match="divide all rewards"):
        plan(mdp, "vi")
    with pytest.raises(FormatError, match="must not be larger"):
        verify(mdp, [1e308, 0.0])


@pytest.mark.parametrize("method", ["hpi", "ipi", "mixed", "mpi"])
@pytest.mark.parametrize("reward", [1e-200, 1e160])
def test_the_size_of_rewards_changes_nothing_but_the_size(method, reward, compiled):
    """Krylov methods square numbers: those of 1e-200 vanish, those of 1e160 overflow."""
    mdp = MDP.from_nested(CYCLE, discount=0.9)
    scaled = replace(mdp, reward=mdp.reward * reward)
    found = plan(scaled, method, tolerance=1e-9 * reward)
    assert found.value / reward == pytest.approx(plan(mdp, "hpi").value, rel=1e-8)
    if reward > 1.0:  # smaller ones are tied
        assert found.action.tolist() == plan(mdp, "hpi").action.tolist()


CYCLE = [
    [[[1, 1.0, 0.5], [2, 2.0, 0.5]], [[0, 1.0, 1.0]]],
    [[[2, -1.0, 1.0]], [[0, 0.5, 0.25], [1, 0.25, 0.75]]],
    [[[0, 3.0, 0.5], [1, 0.0, 0.5]]],
]


@pytest.mark.parametrize("method", ["hpi", "ipi", "mpi", "jacobi"])
def test_a_discount_of_almost_1_is_enclosed(method):
    mdp = MDP.from_nested(CYCLE, discount=1 - 2.0**-53)
    found = plan(mdp, method)
    assert encloses(found.lower, optimum(mdp), found.upper)


def test_the_rule_for_ties_looks_at_the_values_found_not_at_those_swept():
    """Sweeps stop when all values grow alike, long before they are as large as they will be: 1e9 here, where
    the rule ties what differs by 1, and the second action earns 0.5 more."""
    mdp = MDP.from_nested([[[[0, 1e6, 1.0]], [[0, 1e6 + 0.5, 1.0]]]], discount=0.999)
    for method in ("jacobi", "hpi", "vi"):
        assert plan(mdp, method).action.tolist() == [0]


def garnet(num_states, num_actions, branches, *, discount):
    """Return a random MDP: each choice leads to a few states with random probabilities (Archibald 1995)."""
    rng = np.random.default_rng(0)
    size = num_states * num_actions
    weights = rng.random((size, branches)) + 0.01
    return MDP.from_transitions(
        np.repeat(np.arange(num_states), num_actions * branches),
        np.tile(np.repeat(np.arange(num_actions), branches), num_states),
        rng.integers(0, num_states, size * branches),
        np.repeat(rng.random(size), branches),
        (weights / weights.sum(axis=1, keepdims=True)).ravel(),
        num_states=num_states,
        discount=discount,
    )


def grid(size, *, discount):
    """Return a grid with slip and random costs whose last cell ends the game."""
    rng = np.random.default_rng(0)
    cost = rng.random(size * size) + 0.01
    columns = []
    steps = [(-1, 0), (0, 1), (1, 0), (0, -1)]
    for cell in range(size * size - 1):
        r, c = divmod(cell, size)
        to = [min(max(r + dr, 0), size - 1) * size + min(max(c + dc, 0), size - 1) for dr, dc in steps]
        for action in range(4):
            for turn, p in ((0, 0.8), (1, 0.1), (3, 0.1)):
                columns.append((cell, action, to[(action + turn) % 4], -cost[cell], p))
    return MDP.from_transitions(*zip(*columns, strict=True), num_states=size * size, discount=discount)


@pytest.mark.parametrize("coarse", [False, True])
def test_rounding_in_a_periodic_chain_does_not_prevent_the_end(monkeypatch, coarse):
    """0 and 2 lead to 1, and 1 back: a change falls by the discount alone until it is rounded away."""
    if coarse:
        monkeypatch.setattr(methods, "COARSE_STATES", 0)  # sweeps begin in single precision
    state, action, target = [0, 0, 1, 1, 1, 1, 2], [0, 1, 0, 0, 1, 1, 0], [1, 1, 0, 2, 0, 2, 1]
    reward, probability = [0.25, -0.75, 0.0, 0.75, 0.25, 0.5, 0.75], [1.0, 1.0, 0.5, 0.5, 0.6, 0.4, 1.0]
    mdp = MDP.from_transitions(state, action, target, reward, probability, num_states=3, discount=0.999)
    found, exact = plan(mdp, "mpi", tolerance=1e-10), plan(mdp, "hpi", tolerance=1e-10)
    assert (found.lower <= exact.upper).all() and (exact.lower <= found.upper).all()
    assert (found.upper - found.lower).max() < 1e-6
