from math import inf

import numpy as np
import pytest

from mdplay.errors import FormatError, LimitError, UnknownName
from mdplay.mdp import MDP, evaluate, loops, methods, plan, rows, verify
from mdplay.mdp.methods import METHODS
from tests.mdp.exact import as_floats, encloses, optimum, random_mdp

ALL = ["auto", *METHODS]
EPISODIC = [0.0, -1.0]


def random_mdps(seed, count):
    """Yield MDPs with every kind of discount and reward, and their exact optimum."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        discount = float(rng.choice([0.0, 0.5, 0.9, 0.99, 1.0, 1.0, 1.0, 1.0]))
        rewards = [None, None, EPISODIC, [0.0, 0.0, 1.0]][int(rng.integers(4))]
        mdp = random_mdp(rng, discount=discount, ends=bool(rng.random() < 0.8), rewards=rewards)
        yield mdp, optimum(mdp)


def check(mdp, exact, method):
    """Assert that a plan is right: enclosed, close, and its actions worth what it says."""
    try:
        found = plan(mdp, method)
    except LimitError as error:  # an average of 1e-17 is zero for doubles, not for fractions
        assert "average to zero" in str(error)
        return
    wanted = as_floats(exact)
    finite = np.isfinite(wanted)
    assert encloses(found.lower, exact, found.upper)
    assert found.closed
    assert (np.isinf(found.value) == ~finite).all()
    assert found.value[finite] == pytest.approx(wanted[finite], abs=1e-6)
    if finite.all():
        assert evaluate(mdp, found.action.clip(min=0)).value == pytest.approx(wanted, abs=1e-5, rel=1e-5)


@pytest.mark.parametrize("seed", range(2))
def test_all_methods_agree_with_rational_arithmetic_on_random_mdps(seed):
    for mdp, exact in random_mdps(seed, 60):
        for method in ALL if exact is not None else ():
            check(mdp, exact, method)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 110))
def test_all_methods_agree_on_a_thousand_random_mdps(seed):
    for mdp, exact in random_mdps(seed, 110):
        for method in ALL if exact is not None else ():
            check(mdp, exact, method)


@pytest.fixture
def compiled(monkeypatch):
    """Let even the smallest model take the way of the large ones."""
    monkeypatch.setattr(rows, "PLAIN_TRANSITIONS", 0)
    monkeypatch.setattr(loops, "PLAIN_WORK", -1)


def test_the_compiled_machine_gives_the_same_proofs(compiled):
    for mdp, exact in random_mdps(7, 40):
        for method in ALL if exact is not None else ():
            check(mdp, exact, method)


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
    random = evaluate(mdp, np.full((16, 4), 0.25))
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
    assert mdp.num_transitions > rows.PLAIN_TRANSITIONS
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
    found = evaluate(mdp, best.action)
    assert mdp.num_states * 3 > rows.PLAIN_TRANSITIONS
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
        evaluate(tiny, [1, 0])
    with pytest.raises(FormatError, match="not available"):
        evaluate(tiny, [[0.5, 0.5], [1, 0]])


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
