import numpy as np
import pytest

from mdplay.games.twenty48.rules import Twenty48
from mdplay.lab.reproduction.twenty48 import (
    estimate,
    exponents_of,
    index,
    isomorphic,
    move_values,
    places,
    push,
    update,
)

PATTERN = (1, 5, 9, 13)


def test_the_worked_index():
    assert exponents_of([0, 2, 8, 0]) == [0, 1, 3, 0]
    assert index([0, 1, 3, 0]) == 0x0310


def test_eight_images_in_four_lines():
    images = isomorphic(PATTERN)
    assert len(set(images)) == 8
    assert {frozenset(image) for image in images} == set(
        map(frozenset, [(1, 5, 9, 13), (2, 6, 10, 14), (4, 5, 6, 7), (8, 9, 10, 11)])
    )


def test_an_update_returns_the_new_sum():
    table, board = np.zeros(1 << 16), list(range(16))
    assert len(set(places(PATTERN, board))) == 8
    assert update(table, PATTERN, board, 0.5) == 4.0 == estimate(table, PATTERN, board)


@pytest.mark.parametrize("seed", range(20))
def test_pushes_agree_with_the_rules(seed):
    rng, game = np.random.default_rng(seed), Twenty48()
    board = (rng.integers(1, 5, 16) * (rng.random(16) < 0.7)).tolist()
    packed = sum(exponent << 4 * cell for cell, exponent in enumerate(board))
    for move in range(4):
        after, points = push(board, move)
        pushed = game.push(packed, move)
        assert (sum(e << 4 * cell for cell, e in enumerate(after)), points) == (int(pushed.board), pushed.points)


def test_a_move_is_worth_its_points_and_the_mean_of_what_pops_up():
    table = np.zeros(1 << 16)
    board = [1, 1, *[0] * 14]
    assert move_values(table, PATTERN, board)[0] == 4
    table[0] = 1.0  # of a line without tiles: two rows and two columns, each read both ways
    values = move_values(table, PATTERN, board)
    assert set(values) == {0, 1, 3}, "up moves nothing"
    corners, edges, inner = 3 * 8, 8 * (8 - 2), 4 * (8 - 4)  # what a new tile leaves: it spoils no line, one, two
    assert values[0] == pytest.approx(4 + (corners + edges + inner) / 15)
