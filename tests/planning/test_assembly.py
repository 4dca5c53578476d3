import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdplay.errors import FormatError
from mdplay.planning import MDP
from mdplay.planning.arrays import Columns, grouped, merged

LINE = st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(-4, 4), st.integers(0, 4))


def columns_of(lines):
    row, target, reward, weight = (np.array(column) for column in zip(*lines, strict=True))
    return Columns(row, target, reward.astype(float), weight / 4)


@given(st.lists(LINE, min_size=1, max_size=40))
def test_merging_is_adding_up(lines):
    """Weights are multiples of 1/4 and rewards whole, so that a dictionary adds them up exactly."""
    total, income = {}, {}
    for row, target, reward, weight in lines:
        total[row, target] = total.get((row, target), 0.0) + weight / 4
        income[row, target] = income.get((row, target), 0.0) + reward * weight / 4
    found = merged(grouped(columns_of(lines)))
    keys = list(zip(found.row.tolist(), found.target.tolist(), strict=True))
    assert sorted(keys) == sorted(key for key, weight in total.items() if weight)
    assert found.row.tolist() == sorted(found.row.tolist())
    assert found.probability.tolist() == [total[key] for key in keys]
    assert (found.probability * found.reward).tolist() == pytest.approx([income[key] for key in keys], abs=1e-12)


def model(**changes):
    given = {"state": [0, 0], "action": [0, 0], "target": [1, 1], "reward": [1.0, 3.0], "probability": [0.5, 0.5]}
    return MDP.from_transitions(**{**given, **changes}, num_states=2, discount=0.9)


def test_repeated_targets_become_one():
    mdp = model()
    assert (mdp.target.tolist(), mdp.probability.tolist(), mdp.reward.tolist()) == ([1], [1.0], [2.0])


@pytest.mark.parametrize(
    "changes, sentence",
    [
        ({"target": [1, 2]}, "a target is 2; it must be between 0 and 1"),
        ({"state": [0, -1]}, "a state is -1; it must be between 0 and 1"),
        ({"action": [0.0, 1.0]}, "every action must be a whole number, not float64"),
        ({"reward": [1.0, np.nan]}, "a reward is nan; it must be finite"),
        ({"probability": [1.5, -0.5]}, "a probability is -0.5; it must be between 0 and 1"),
        ({"reward": [1.0]}, "must be equally many"),
    ],
)
def test_wrong_columns_are_refused_in_a_sentence(changes, sentence):
    with pytest.raises(FormatError, match=sentence):
        model(**changes)
