import numpy as np
import pytest

from mdplay.planning.arrays import ModelArrays
from mdplay.planning.compiled_backend import CompiledBackend
from tests.planning.garnets import garnet


@pytest.mark.parametrize("discount", [0.5, 0.99, 0.99999])
@pytest.mark.parametrize("branches", [1, 3])
def test_a_policy_solved_by_krylov_is_the_dense_solution(discount, branches):
    arrays = ModelArrays.of(garnet(200, 2, branches, seed=branches, discount=discount))
    choice = arrays.first_actions
    matrix = np.eye(200)
    for state, row in enumerate(choice.astype(int)):
        entries = slice(int(arrays.first_transition[row]), int(arrays.first_transition[row + 1]))
        np.add.at(matrix[state], arrays.target[entries], -discount * arrays.probability[entries])
    exact = np.linalg.solve(matrix, arrays.reward[choice])
    found = CompiledBackend(arrays, 1).policy(choice).solve(np.zeros(200), 1e-12)
    assert found == pytest.approx(exact, rel=1e-7)


def test_a_policy_that_never_ends_has_no_solution_at_discount_1():
    rows = ModelArrays.of(garnet(50, 2, 3, seed=0, discount=1.0))
    assert np.isnan(CompiledBackend(rows, 1).policy(rows.first_actions).solve(np.zeros(50), 1e-9)).all()
