"""Tests of ``mdplay.distributed.planning``.

Here are tested besides: ``mdplay.distributed.planning_shard``, ``mdplay.distributed.planning_shard``,
``mdplay.distributed.planning_local``, ``mdplay.distributed.planning``, ``mdplay.planning.planner``.
"""

import numpy as np
import pytest

from mdplay.distributed.planning import plan_sharded
from mdplay.distributed.planning_shard import write_shards
from mdplay.errors import FormatError
from mdplay.planning.model import Model
from mdplay.planning.planner import plan, verify
from mdplay.runtime.executors import using
from mdplay.storage import arrays as store
from tests.distributed.planning_shards import Mortal


def garnet(states, choices, branches, discount, seed=0, terminal=0, minimise=False):
    """Return a random model; the last ``terminal`` states end it."""
    rng = np.random.default_rng(seed)
    live = states - terminal
    first = np.minimum(np.arange(states + 1), live) * choices
    weights = rng.random((live * choices, branches)) + 0.01
    return Model(
        first_choice=first,
        action=np.tile(np.arange(choices), live),
        first_transition=np.arange(live * choices + 1) * branches,
        target=rng.integers(0, states, live * choices * branches),
        probability=(weights / weights.sum(axis=1, keepdims=True)).ravel(),
        reward=rng.random(live * choices),
        discount=discount,
        minimise=minimise,
    )


@pytest.mark.parametrize(("terminal", "minimise"), [(0, False), (7, False), (7, True)])
@pytest.mark.parametrize("shards", [1, 3])
def test_shards_plan_as_the_whole_does(terminal, minimise, shards, needs_compiler):
    mdp = garnet(500, 4, 5, 0.9, seed=1, terminal=terminal, minimise=minimise)
    whole, found = plan(mdp), plan_sharded(mdp, "serial", shards=shards)
    assert found.closed
    assert (found.lower <= whole.upper).all() and (whole.lower <= found.upper).all()
    assert np.abs(found.value - whole.value).max() <= found.tolerance + whole.tolerance
    assert (found.action == whole.action).all()
    assert found.undecided.tolist() == whole.undecided.tolist() == []
    proven = verify(mdp, found.value)
    assert (proven.lower <= found.upper).all() and (found.lower <= proven.upper).all()


def test_the_number_of_shards_changes_no_bit(needs_compiler):
    mdp = garnet(500, 4, 5, 0.9, seed=1)
    one, four = (plan_sharded(mdp, "serial", shards=shards) for shards in (1, 4))
    assert one.value.tobytes() == four.value.tobytes() and one.lower.tobytes() == four.lower.tobytes()
    assert one.iterations == four.iterations


def test_single_precision_first_ends_in_the_same_proof(needs_compiler, monkeypatch):
    monkeypatch.setattr("mdplay.distributed.planning.COARSE_STATES", 100)
    mdp = garnet(500, 4, 5, 0.9, seed=1)
    whole, found = plan(mdp), plan_sharded(mdp, "serial", shards=2)
    assert found.closed and np.abs(found.value - whole.value).max() <= found.tolerance + whole.tolerance


def test_choices_left_out_by_mistake_are_found_by_the_proof(needs_compiler, monkeypatch):
    monkeypatch.setattr("mdplay.distributed.planning.slack_of", lambda *_: 0.0)  # all but one choice of each state
    mdp = garnet(300, 4, 5, 0.9, seed=2)
    whole, found = plan(mdp), plan_sharded(mdp, "serial", shards=2)
    assert found.closed and (found.action == whole.action).all()


def grid(size, discount, slip=0.2):
    """Return a grid of random costs, its last cell free for ever; steps slip to either side: it mixes slowly."""
    rng, cells = np.random.default_rng(0), np.arange(size * size)
    row, column = np.divmod(cells, size)
    steps = [(-1, 0), (0, 1), (1, 0), (0, -1)]
    to = [np.clip(row + a, 0, size - 1) * size + np.clip(column + b, 0, size - 1) for a, b in steps]
    target = np.stack([np.stack([to[k], to[(k + 1) % 4], to[k - 1]], axis=1) for k in range(4)], axis=1)
    cost = -rng.random(len(cells))
    target[-1], cost[-1] = len(cells) - 1, 0.0
    return Model(
        first_choice=np.arange(len(cells) + 1) * 4,
        action=np.tile(np.arange(4), len(cells)),
        first_transition=np.arange(4 * len(cells) + 1) * 3,
        target=target.ravel(),
        probability=np.tile([1.0 - slip, slip / 2, slip / 2], 4 * len(cells)),
        reward=np.repeat(cost, 4),
        discount=discount,
    )


def in_bytes(found):
    return b"".join(array.tobytes() for array in (found.value, found.lower, found.upper, found.action))


@pytest.mark.parametrize("shards", [1, 3])
def test_a_model_that_mixes_slowly_is_planned_by_policies(shards, needs_compiler):
    mdp = grid(50, 0.9995)
    whole, found = plan(mdp), plan_sharded(mdp, "serial", shards=shards)
    assert (found.method, found.closed) == ("ipi", True) and "policies solved" in found.reason
    assert np.abs(found.value - whole.value).max() <= found.tolerance + whole.tolerance
    decided = np.setdiff1d(np.arange(mdp.num_states), [*found.undecided, *whole.undecided])
    assert (found.action[decided] == whole.action[decided]).all()
    proven = verify(mdp, found.value)
    assert (proven.lower <= found.upper).all() and (found.lower <= proven.upper).all()


@pytest.mark.parametrize(("terminal", "minimise"), [(0, False), (7, True)])
def test_policies_plan_models_that_mix_fast_and_end(terminal, minimise, needs_compiler):
    mdp = garnet(300, 4, 5, 0.9, seed=1, terminal=terminal, minimise=minimise)
    whole, found = plan(mdp), plan(mdp, "ipi", threads=3, executor="serial")
    assert found.closed and found.method == "ipi"
    assert np.abs(found.value - whole.value).max() <= found.tolerance + whole.tolerance
    assert (found.action == whole.action).all()


def test_the_number_of_workers_changes_no_bit_and_neither_do_deaths(tmp_path, monkeypatch, needs_compiler):
    mdp = grid(30, 0.999)
    whole = in_bytes(plan_sharded(mdp, "serial", shards=3))
    with using("processes", 2) as two:
        assert in_bytes(plan_sharded(mdp, two, shards=3)) == whole
        monkeypatch.setattr("mdplay.distributed.planning.LocalShard", Mortal)
        assert in_bytes(plan_sharded(mdp, two, shards=3, folder=tmp_path)) == whole
    assert sorted(path.name for path in tmp_path.glob("1.*")) == ["1.back_up", "1.mdp", "1.search", "1.shorten"]


def test_a_discount_of_one_is_refused():
    with pytest.raises(FormatError, match="a discount below 1, not 1"):
        plan_sharded(garnet(5, 1, 1, 1.0, terminal=1), "serial")


def test_a_damaged_or_foreign_shard_is_refused(tmp_path):
    mdp = garnet(50, 2, 3, 0.9)
    shards = write_shards(mdp, tmp_path, 2)
    assert shards.cuts == (0, 25, 50)
    with pytest.raises(FormatError, match="a shard of another model"):
        shards._replace(discount=0.5).load(0)
    path = tmp_path / "1.mdp"
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(FormatError, match="truncated"):
        shards.load(1)


@pytest.mark.parametrize(
    "name, change",
    [
        ("first_choice", lambda array: array[::-1]),
        ("first_transition", lambda array: array + np.uint32(1 << 30)),
        ("first_transition", lambda array: array[:-1]),
        ("probability", lambda array: array[:-1]),
        ("reward", lambda array: array.reshape(-1, 2)),
        ("target", lambda array: array.astype(np.int64)),
        ("action", lambda array: array[:3]),
    ],
)
def test_a_forged_shard_is_refused(tmp_path, name, change):
    shards = write_shards(garnet(50, 2, 3, 0.9), tmp_path, 2)
    path = tmp_path / "1.mdp"
    stored = store.load(path, kind="MDP shard")
    store.save(path, stored.arrays | {name: change(stored.arrays[name])}, kind="MDP shard", meta=stored.meta)
    with pytest.raises(FormatError, match="is damaged: its (rows do not fit|array 'target' is of type)"):
        shards.load(1)
