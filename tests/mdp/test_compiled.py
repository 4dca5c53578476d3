"""The compiled machine against numpy's, sweep by sweep; and what leaving choices out may not change."""

import numpy as np
import pytest

from mdplay.mdp import compiled, methods, plan, team
from mdplay.mdp.bounds import extremes
from mdplay.mdp.compiled import CompiledSweeps
from mdplay.mdp.plain import PlainSweeps
from mdplay.mdp.rows import Rows
from tests.mdp.exact import random_mdp
from tests.mdp.garnets import garnet


def both(seed, discount=0.9):
    """Return the two machines over one random model with terminal states, and random values."""
    rng = np.random.default_rng(seed)
    model = Rows.of(random_mdp(rng, discount=discount, ends=True))
    return PlainSweeps(model), CompiledSweeps(model, 2), np.where(model.live, rng.normal(size=model.num_states), 0)


@pytest.mark.parametrize("seed", range(20))
def test_both_machines_improve_alike(seed):
    plain, fast, value = both(seed)
    outs = [(np.zeros_like(value), plain.rows.first_actions.copy()) for _ in range(2)]
    changes = [machine.improve(value, *out) for machine, out in zip((plain, fast), outs, strict=True)]
    assert outs[0][0] == pytest.approx(outs[1][0], rel=1e-14)
    assert (outs[0][1] == outs[1][1]).all()
    assert extremes(plain.rows, changes[0]) == pytest.approx(extremes(plain.rows, changes[1]), rel=1e-12)
    assert changes[0].switched == changes[1].switched


@pytest.mark.parametrize("seed", range(20))
def test_both_machines_step_to_what_they_improve_to(seed):
    plain, fast, value = both(seed)
    new, stepped = np.zeros_like(value), np.zeros_like(value)
    plain.improve(value, new, plain.rows.first_actions.copy())
    for machine in (plain, fast):
        change = machine.step(value, stepped)
        assert stepped == pytest.approx(new, rel=1e-14)
        assert extremes(plain.rows, change) == pytest.approx(((new - value).min(), (new - value).max()), rel=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_both_machines_find_the_same_worths_and_choices(seed):
    plain, fast, value = both(seed)
    worth = plain.worths(value)
    assert fast.worths(value) == pytest.approx(worth, rel=1e-14)
    one, other = np.zeros_like(value), np.zeros_like(value)
    changes = plain.best(worth, value, one), fast.best(worth, value, other)
    assert extremes(plain.rows, changes[0]) == extremes(plain.rows, changes[1])
    assert (one == other).all()
    for width in (0.0, 1e-9, 0.3):
        decisions = [machine.decide(worth, width) for machine in (plain, fast)]
        live = plain.rows.live
        assert (decisions[0].choice[live] == decisions[1].choice[live]).all()
        assert (decisions[0].undecided == decisions[1].undecided).all()


@pytest.mark.parametrize("seed", range(20))
def test_both_machines_solve_a_policy_alike(seed):
    plain, fast, value = both(seed)
    choice = plain.decide(plain.worths(value), 0.0).choice
    exact = plain.policy(choice).solve(value, 0.0)
    assert fast.policy(choice).solve(value, 1e-13) == pytest.approx(exact, abs=1e-9)
    one, other = np.zeros_like(value), np.zeros_like(value)
    changes = plain.policy(choice).step(value, one), fast.policy(choice).step(value, other)
    assert extremes(plain.rows, changes[0]) == pytest.approx(extremes(plain.rows, changes[1]), rel=1e-12)
    assert one == pytest.approx(other, rel=1e-14)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_narrowed_machine_holds_just_the_choices_near_the_best(threads, monkeypatch):
    monkeypatch.setattr(team, "THREAD_TRANSITIONS", 1000)
    monkeypatch.setattr(compiled, "FEW", 1.0)
    rows = Rows.of(garnet(300, 6, 4, seed=1))
    machine = CompiledSweeps(rows, threads)
    value = 0.1 * np.random.default_rng(2).random(rows.num_states)
    new, choice = np.zeros_like(value), rows.first_actions.copy()
    machine.improve(value, new, choice)
    near = machine.near(new, 0.2)
    loss = new[rows.owner] - machine.worths(value)
    kept = np.flatnonzero(loss <= 0.2)
    assert near is not None
    assert 0 < len(kept) < len(loss)
    assert (near.rows.reward == rows.reward[kept]).all()
    assert (np.diff(near.rows.first_choice) == np.bincount(rows.owner[kept], minlength=300)).all()
    entries = np.concatenate([np.arange(rows.first_transition[k], rows.first_transition[k + 1]) for k in kept])
    assert (near.rows.target == rows.target[entries]).all()
    assert (near.rows.probability == rows.probability[entries]).all()


def test_choices_are_left_out_only_if_few_are_near():
    machine = CompiledSweeps(Rows.of(garnet(300, 6, 4, seed=1)), 1)
    value = np.zeros(300)
    machine.improve(np.random.default_rng(2).random(300), value, machine.rows.first_actions.copy())
    assert machine.near(value, 10.0) is None
    assert machine.near(value, 0.0).rows.width == 1.0


@pytest.mark.parametrize("near", [0.0, 0.02, 5.0])
def test_choices_left_out_by_mistake_are_found(near, monkeypatch):
    """With NEAR = 0 all but the best of a sweep are left out: the proof over all choices must notice."""
    mdp = garnet(4000, 8, 3, seed=3)
    wanted = plan(mdp, "jacobi", tolerance=1e-9)
    monkeypatch.setattr(methods, "NEAR", near)
    monkeypatch.setattr(compiled, "FEW", 1.0)
    found = plan(mdp, "mpi", tolerance=1e-7)
    assert found.closed
    assert found.value == pytest.approx(wanted.value, abs=1e-7)
    assert (found.action == wanted.action).all()


@pytest.mark.parametrize("method", ["mpi", "mixed"])
@pytest.mark.parametrize("discount, tolerance", [(0.9, 1e-9), (0.99, 1e-8), (0.9999, 1e-5)])
def test_sweeps_that_begin_in_single_precision_end_in_the_same_proof(method, discount, tolerance, monkeypatch):
    mdp = garnet(4000, 8, 3, seed=4, discount=discount)
    wanted = plan(mdp, method, tolerance=tolerance)
    monkeypatch.setattr(methods, "COARSE_STATES", 0)
    found = plan(mdp, method, tolerance=tolerance)
    assert found.closed
    assert found.value.dtype == np.float64
    assert found.value == pytest.approx(wanted.value, abs=2 * tolerance)
    assert (found.action == wanted.action).all()
    assert plan(mdp, method, tolerance=1e-2).closed
