from itertools import combinations, product

import numpy as np
import pytest

from mdplay.mdp.graph import Backward, end_components, is_acyclic, strong_components
from mdplay.mdp.rows import Rows
from tests.mdp.exact import random_mdp


def random_rows(seed, count=60):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield Rows.of(random_mdp(rng, discount=1.0, sizes=(2, 7)))


def edges(rows):
    return list(zip(rows.owner[rows.source].tolist(), rows.target.tolist(), strict=True))


def test_components_equal_scipys_and_come_after_those_they_lead_to():
    csgraph = pytest.importorskip("scipy.sparse.csgraph")
    from scipy.sparse import csr_array

    for rows in random_rows(1):
        start, end = np.array(edges(rows) or [(0, 0)]).T
        size = rows.num_states
        matrix = csr_array((np.ones(len(start)), (start, end)), (size, size))
        count, theirs = csgraph.connected_components(matrix, connection="strong")
        ours, found = strong_components(rows)
        assert found == count
        assert len(set(zip(ours.tolist(), theirs.tolist(), strict=True))) == count
        assert all(ours[s] >= ours[t] for s, t in edges(rows))
        assert is_acyclic(rows) == (count == size and all(s != t for s, t in edges(rows)))


def by_hand(rows):
    """Return the states of all end components: sets where every state has a choice that stays."""
    inside = set()
    for size in range(1, rows.num_states + 1):
        for members in combinations(range(rows.num_states), size):
            choices = {k: set(targets(rows, k)) for k in range(len(rows.reward)) if rows.owner[k] in members}
            staying = {k: reached for k, reached in choices.items() if reached <= set(members)}
            if {int(rows.owner[k]) for k in staying} == set(members) and connected(rows, members, staying):
                inside |= set(members)
    return inside


def targets(rows, choice):
    return rows.target[int(rows.first_transition[choice]) : int(rows.first_transition[choice + 1])].tolist()


def connected(rows, members, staying):
    reach = {s: {s} for s in members}
    for _ in members:
        for choice, reached in staying.items():
            source = int(rows.owner[choice])
            reach[source] |= set().union(*(reach[t] for t in reached))
    return all(reach[s] == set(members) for s in members)


def test_end_components_equal_a_search_over_all_sets():
    for rows in random_rows(2, count=40):
        found = end_components(rows, np.ones(len(rows.reward), dtype=bool))
        assert set(np.flatnonzero(found.label >= 0).tolist()) == by_hand(rows)


def test_surely_reaching_an_end_equals_trying_every_policy():
    for rows in random_rows(3, count=40):
        good, proper = Backward(rows).surely(~rows.live)
        wanted = np.zeros(rows.num_states, dtype=bool)
        lists = [
            range(int(a), int(b)) or [-1] for a, b in zip(rows.first_choice, rows.first_choice[1:], strict=False)
        ]
        for policy in product(*lists):
            wanted |= ends_surely(rows, policy)
        assert (good == wanted).all()
        assert ends_surely(rows, np.where(rows.live, proper.astype(np.int64), -1))[good].all()


def ends_surely(rows, policy):
    """Return from which states a policy ends with probability 1: all that it reaches can still end."""
    step = [[] if k < 0 else targets(rows, k) for k in policy]
    reach = [{s, *row} for s, row in enumerate(step)]
    for _ in step:
        reach = [set().union(*(reach[t] for t in known)) for known in reach]
    can_end = [any(not step[t] for t in known) for known in reach]
    return np.array([all(can_end[t] for t in known) for known in reach])
