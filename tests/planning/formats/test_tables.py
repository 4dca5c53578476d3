"""Tests of ``mdplay.planning.formats.tables``.

Here are tested besides: ``mdplay.planning.formats.reader`` and ``mdplay.planning.model``.
"""

import numpy as np
import pytest

from mdplay.errors import FormatError
from mdplay.planning import MDP, plan

NESTED = [
    [[[1, 1.0, 0.5], [2, 3.0, 0.5]], [[0, 0.5, 1.0]]],
    [[], [[2, -1.0, 0.25], [1, 0.0, 0.75]]],
    [[], []],
]


@pytest.fixture
def mdp():
    return MDP.from_nested(NESTED, discount=0.9)


def values(mdp):
    return plan(mdp).value


def test_nested_there_and_back(mdp):
    assert [[sorted(a) for a in s] for s in mdp.to_nested()] == [[sorted(a) for a in s] for s in NESTED]


def test_dense_there_and_back(mdp):
    probability, reward = mdp.to_dense()
    again = MDP.from_dense(probability, reward, discount=0.9)
    assert values(again) == pytest.approx(values(mdp))
    assert again.actions(1) == [1]


def test_sparse_matrices_and_pairs_say_the_same(mdp):
    sparse = pytest.importorskip("scipy.sparse")
    probability, reward = mdp.to_dense()
    matrices = [sparse.csr_array(table) for table in probability]
    assert values(MDP.from_matrices(matrices, reward, discount=0.9)) == pytest.approx(values(mdp))
    rows = sparse.csr_array(np.vstack([probability[0, 0], probability[1, 0], probability[1, 1]]))
    pairs = MDP.from_pairs([0, 0, 1], [0, 1, 1], rows, [2.0, 0.5, -0.25], discount=0.9)
    assert values(pairs) == pytest.approx(values(mdp))
    assert np.shares_memory(pairs.probability, rows.data)  # taken over, not copied
    shuffled = MDP.from_pairs([1, 0, 0], [1, 1, 0], rows[[2, 1, 0]], [-0.25, 0.5, 2.0], discount=0.9)
    assert values(shuffled) == pytest.approx(values(mdp))


def test_gymnasium_tables_honour_terminated_and_add_repeated_targets():
    table = {
        0: {0: [(1 / 3, 0, 0.0, False), (1 / 3, 0, 0.0, False), (1 / 3, 1, 1.0, True)]},
        1: {0: [(1.0, 1, 5.0, False)]},
    }
    mdp = MDP.from_gymnasium(table, discount=0.5)
    assert mdp.num_states == 3
    assert mdp.num_transitions == 3
    # v = 2/3 * v / 2 + 1/3: what comes after the terminated transition counts for nothing
    assert values(mdp) == pytest.approx([0.5, 10.0, 0.0])


def test_transition_rewards_are_kept_only_when_asked():
    columns = ([0, 0], [0, 0], [0, 1], [1.0, 3.0], [0.5, 0.5])
    assert MDP.from_transitions(*columns, num_states=2, discount=0.5).transition_reward is None
    kept = MDP.from_transitions(*columns, num_states=2, discount=0.5, keep_rewards=True)
    assert kept.transition_reward.tolist() == [1.0, 3.0]
    assert kept.reward.tolist() == [2.0]


@pytest.mark.parametrize(
    "change, what",
    [
        ({"probability": [[[0.5, 0.4], [0.0, 1.0]]]}, "sum to 0.9"),
        ({"probability": [[[-0.5, 1.5], [0.0, 1.0]]]}, "probability is -0.5"),
        ({"probability": [[[np.nan, 1.0], [0.0, 1.0]]]}, "probability is nan"),
        ({"reward": [[np.inf], [0.0]]}, "reward is inf"),
        ({"reward": [[1.0, 1.0, 1.0]]}, "the rewards have the shape"),
        ({"discount": 1.5}, "discount is 1.5"),
        ({"probability": [[1.0, 2.0]]}, "the probabilities have the shape"),
    ],
)
def test_bad_arrays_are_refused_in_a_sentence(change, what):
    given = {"probability": [[[0.5, 0.5], [0.0, 1.0]]], "reward": [[1.0], [0.0]], "discount": 0.9} | change
    with pytest.raises(FormatError, match=what):
        MDP.from_dense(given["probability"], given["reward"], discount=given["discount"])


def test_targets_and_actions_must_be_whole_and_in_range():
    with pytest.raises(FormatError, match="target is 5"):
        MDP.from_transitions([0], [0], [5], [0.0], [1.0], num_states=2, discount=0.5)
    with pytest.raises(FormatError, match="action is -1"):
        MDP.from_transitions([0], [-1], [1], [0.0], [1.0], num_states=2, discount=0.5)
    with pytest.raises(FormatError, match="whole number"):
        MDP.from_nested([[[[0.5, 0.0, 1.0]]]], discount=0.5)
    with pytest.raises(FormatError, match=r"write \[target, reward, probability\]"):
        MDP.from_nested([[[[0, 1.0]]]], discount=0.5)


def test_twelve_bytes_a_transition():
    size, actions, branches = 500, 4, 10
    rng = np.random.default_rng(0)
    count = size * actions * branches
    mdp = MDP.from_transitions(
        np.repeat(np.arange(size), actions * branches),
        np.tile(np.repeat(np.arange(actions), branches), size),
        np.concatenate([rng.choice(size, branches, replace=False) for _ in range(size * actions)]),
        np.zeros(count),
        np.full(count, 1 / branches),
        num_states=size,
        discount=0.9,
    )
    assert mdp.num_transitions == count
    assert mdp.num_bytes <= 14 * count
