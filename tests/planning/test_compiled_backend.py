"""The compiled backend against numpy's, sweep by sweep; and what action elimination may not change.

Here are tested besides: ``mdplay.planning.kernels`` and ``mdplay.planning.loops``.
"""

import numpy as np
import pytest

from mdplay.planning import compiled_backend as compiled
from mdplay.planning import compiled_backend as pool
from mdplay.planning import methods, plan
from mdplay.planning.arrays import ModelArrays
from mdplay.planning.backends import Backend, extremes
from mdplay.planning.compiled_backend import CompiledBackend
from tests.planning.exact import random_mdp
from tests.planning.garnets import garnet


def both(seed, discount=0.9):
    """Return the two backends over one random model with terminal states, and random values."""
    rng = np.random.default_rng(seed)
    model = ModelArrays.of(random_mdp(rng, discount=discount, ends=True))
    return (
        Backend(model),
        CompiledBackend(model, 2),
        np.where(model.live, rng.normal(size=model.num_states), 0),
    )


@pytest.mark.parametrize("seed", range(20))
def test_both_backends_improve_alike(seed):
    plain, fast, value = both(seed)
    outs = [(np.zeros_like(value), plain.arrays.first_actions.copy()) for _ in range(2)]
    changes = [backend.bellman_backup(value, *out) for backend, out in zip((plain, fast), outs, strict=True)]
    assert outs[0][0] == pytest.approx(outs[1][0], rel=1e-14)
    assert (outs[0][1] == outs[1][1]).all()
    assert extremes(plain.arrays, changes[0]) == pytest.approx(extremes(plain.arrays, changes[1]), rel=1e-12)
    assert changes[0].switched == changes[1].switched


@pytest.mark.parametrize("seed", range(20))
def test_both_backends_step_to_what_they_improve_to(seed):
    plain, fast, value = both(seed)
    new, stepped = np.zeros_like(value), np.zeros_like(value)
    plain.bellman_backup(value, new, plain.arrays.first_actions.copy())
    for backend in (plain, fast):
        change = backend.step(value, stepped)
        assert stepped == pytest.approx(new, rel=1e-14)
        assert extremes(plain.arrays, change) == pytest.approx(
            ((new - value).min(), (new - value).max()), rel=1e-12
        )


@pytest.mark.parametrize("seed", range(20))
def test_both_backends_find_the_same_worths_and_choices(seed):
    plain, fast, value = both(seed)
    q_value = plain.q_values(value)
    assert fast.q_values(value) == pytest.approx(q_value, rel=1e-14)
    one, other = np.zeros_like(value), np.zeros_like(value)
    changes = plain.best(q_value, value, one), fast.best(q_value, value, other)
    assert extremes(plain.arrays, changes[0]) == extremes(plain.arrays, changes[1])
    assert (one == other).all()
    for width in (0.0, 1e-9, 0.3):
        decisions = [backend.decide(q_value, width) for backend in (plain, fast)]
        live = plain.arrays.live
        assert (decisions[0].choice[live] == decisions[1].choice[live]).all()
        assert (decisions[0].undecided == decisions[1].undecided).all()


@pytest.mark.parametrize("seed", range(20))
def test_both_backends_solve_a_policy_alike(seed):
    plain, fast, value = both(seed)
    choice = plain.decide(plain.q_values(value), 0.0).choice
    exact = plain.policy(choice).solve(value, 0.0)
    assert fast.policy(choice).solve(value, 1e-13) == pytest.approx(exact, abs=1e-9)
    one, other = np.zeros_like(value), np.zeros_like(value)
    changes = plain.policy(choice).step(value, one), fast.policy(choice).step(value, other)
    assert extremes(plain.arrays, changes[0]) == pytest.approx(extremes(plain.arrays, changes[1]), rel=1e-12)
    assert one == pytest.approx(other, rel=1e-14)


@pytest.mark.parametrize("threads", [1, 3])
def test_action_elimination_keeps_just_the_candidates(threads, monkeypatch):
    monkeypatch.setattr(pool, "THREAD_TRANSITIONS", 1000)
    monkeypatch.setattr(compiled, "FEW", 1.0)
    arrays = ModelArrays.of(garnet(300, 6, 4, seed=1))
    backend = CompiledBackend(arrays, threads)
    value = 0.1 * np.random.default_rng(2).random(arrays.num_states)
    new, choice = np.zeros_like(value), arrays.first_actions.copy()
    backend.bellman_backup(value, new, choice)
    candidates = backend.candidates(new, 0.2)
    loss = new[arrays.owner] - backend.q_values(value)
    kept = np.flatnonzero(loss <= 0.2)
    assert candidates is not None
    assert 0 < len(kept) < len(loss)
    assert (candidates.arrays.reward == arrays.reward[kept]).all()
    assert (np.diff(candidates.arrays.first_choice) == np.bincount(arrays.owner[kept], minlength=300)).all()
    entries = np.concatenate([np.arange(arrays.first_transition[k], arrays.first_transition[k + 1]) for k in kept])
    assert (candidates.arrays.target == arrays.target[entries]).all()
    assert (candidates.arrays.probability == arrays.probability[entries]).all()


def test_choices_are_eliminated_only_if_few_candidates_are_left():
    backend = CompiledBackend(ModelArrays.of(garnet(300, 6, 4, seed=1)), 1)
    value = np.zeros(300)
    backend.bellman_backup(np.random.default_rng(2).random(300), value, backend.arrays.first_actions.copy())
    assert backend.candidates(value, 10.0) is None
    assert backend.candidates(value, 0.0).arrays.width == 1.0


@pytest.mark.parametrize("loss", [0.0, 0.02, 5.0])
def test_choices_eliminated_by_mistake_are_found(loss, monkeypatch):
    """With ELIMINATION = 0 all but the best of a sweep are left out: the proof over all choices must notice."""
    mdp = garnet(4000, 8, 3, seed=3)
    wanted = plan(mdp, "jacobi", tolerance=1e-9)
    monkeypatch.setattr(methods, "ELIMINATION", loss)
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
