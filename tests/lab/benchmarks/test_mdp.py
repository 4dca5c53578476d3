import numpy as np

from mdplay.lab.benchmarks.measuring import measure
from mdplay.lab.benchmarks.planning import garnet, group


def test_models_are_distributions_over_distinct_states():
    mdp = garnet(30, 3, 4, 0.9)
    assert (mdp.num_states, mdp.num_choices, mdp.num_transitions) == (30, 90, 360)
    assert np.allclose(mdp.probability.reshape(90, 4).sum(axis=1), 1)
    assert all(len(set(row)) == 4 for row in mdp.target.reshape(90, 4))


def test_all_contenders_find_the_same_values():
    found = measure(group(True), 50, 1)
    assert len(found) >= 2
    assert all(m.agrees for m in found)
