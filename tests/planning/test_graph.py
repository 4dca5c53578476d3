from itertools import combinations, product

import numpy as np
import pytest

from mdplay.planning.arrays import ModelArrays
from mdplay.planning.loops import strong_components
from mdplay.planning.undiscounted import Backward, end_components
from tests.planning.exact import random_mdp


def random_arrays(seed, count=60):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield ModelArrays.of(random_mdp(rng, discount=1.0, sizes=(2, 7)))


def edges(arrays):
    return list(zip(arrays.owner[arrays.source].tolist(), arrays.target.tolist(), strict=True))


def test_components_equal_scipys_and_come_after_those_they_lead_to():
    csgraph = pytest.importorskip("scipy.sparse.csgraph")
    from scipy.sparse import csr_array

    for arrays in random_arrays(1):
        start, end = np.array(edges(arrays) or [(0, 0)]).T
        size = arrays.num_states
        matrix = csr_array((np.ones(len(start)), (start, end)), (size, size))
        count, theirs = csgraph.connected_components(matrix, connection="strong")
        ours, found = strong_components(arrays.first_edge, arrays.target)
        assert found == count
        assert len(set(zip(ours.tolist(), theirs.tolist(), strict=True))) == count
        assert all(ours[s] >= ours[t] for s, t in edges(arrays))
        assert arrays.acyclic == (count == size and all(s != t for s, t in edges(arrays)))


def by_hand(arrays):
    """Return the states of all end components: sets where every state has a choice that stays."""
    inside = set()
    for size in range(1, arrays.num_states + 1):
        for members in combinations(range(arrays.num_states), size):
            choices = {k: set(targets(arrays, k)) for k in range(len(arrays.reward)) if arrays.owner[k] in members}
            staying = {k: reached for k, reached in choices.items() if reached <= set(members)}
            if {int(arrays.owner[k]) for k in staying} == set(members) and connected(arrays, members, staying):
                inside |= set(members)
    return inside


def targets(arrays, choice):
    return arrays.target[int(arrays.first_transition[choice]) : int(arrays.first_transition[choice + 1])].tolist()


def connected(arrays, members, staying):
    reach = {s: {s} for s in members}
    for _ in members:
        for choice, reached in staying.items():
            source = int(arrays.owner[choice])
            reach[source] |= set().union(*(reach[t] for t in reached))
    return all(reach[s] == set(members) for s in members)


def test_end_components_equal_a_search_over_all_sets():
    for arrays in random_arrays(2, count=40):
        found = end_components(arrays, np.ones(len(arrays.reward), dtype=bool))
        assert set(np.flatnonzero(found.label >= 0).tolist()) == by_hand(arrays)


def test_surely_reaching_an_end_equals_trying_every_policy():
    for arrays in random_arrays(3, count=40):
        good, proper = Backward(arrays).surely(~arrays.live)
        wanted = np.zeros(arrays.num_states, dtype=bool)
        lists = [
            range(int(a), int(b)) or [-1]
            for a, b in zip(arrays.first_choice, arrays.first_choice[1:], strict=False)
        ]
        for policy in product(*lists):
            wanted |= ends_surely(arrays, policy)
        assert (good == wanted).all()
        assert ends_surely(arrays, np.where(arrays.live, proper.astype(np.int64), -1))[good].all()


def ends_surely(arrays, policy):
    """Return from which states a policy ends with probability 1: all that it reaches can still end."""
    step = [[] if k < 0 else targets(arrays, k) for k in policy]
    reach = [{s, *row} for s, row in enumerate(step)]
    for _ in step:
        reach = [set().union(*(reach[t] for t in known)) for known in reach]
    can_end = [any(not step[t] for t in known) for known in reach]
    return np.array([all(can_end[t] for t in known) for known in reach])
