"""Tests of ``mdplay.planning.grids``."""

import numpy as np
import pytest

from mdplay.errors import FormatError
from mdplay.planning import plan
from mdplay.planning.grids import is_grid, read_grid

CLIFF = "............\n............\n............\nS**********G\n"
WINDY = "\n".join([".........."] * 3 + ["S......G.."] + [".........."] * 3) + "\nwind 0001112210\n"
LAKE = "SFFF\nFHFH\nFFFH\nHFFG\n".replace("F", ".").replace("H", "O") + "slip 1/3\nreward 0\ngoal 1\n"
UP, RIGHT, DOWN, LEFT = range(4)


def optimum(text):
    grid = read_grid(text)
    return float(plan(grid.mdp).value[grid.starts[0]])


def outcomes(grid, cell, action):
    """Return {target cell: (probability, reward)} of an action."""
    mdp = grid.mdp
    k = int(mdp.first_choice[grid.cells.index(cell)]) + action
    row = range(int(mdp.first_transition[k]), int(mdp.first_transition[k + 1]))
    return {
        grid.cells[int(mdp.target[j])]: (float(mdp.probability[j]), float(mdp.transition_reward[j])) for j in row
    }


def test_the_cliff():
    grid = read_grid(CLIFF)
    assert (grid.mdp.num_states, grid.starts, grid.actions) == (48, (36,), ("↑", "→", "↓", "←"))
    assert optimum(CLIFF) == -13.0
    assert outcomes(grid, (3, 0), RIGHT) == {(3, 0): (1.0, -100.0)}
    assert outcomes(grid, (2, 5), DOWN) == {(3, 0): (1.0, -100.0)}
    assert outcomes(grid, (2, 11), DOWN) == {(3, 11): (1.0, -1.0)}
    assert outcomes(grid, (0, 0), UP) == {(0, 0): (1.0, -1.0)}
    assert outcomes(read_grid(CLIFF + "cliff -7"), (2, 5), DOWN) == {(3, 0): (1.0, -7.0)}


def test_windy_grids_of_the_book():
    # Example 6.5 and Exercise 6.9 of Sutton and Barto.
    assert optimum(WINDY) == -15.0
    assert optimum(WINDY + "moves king") == -7.0
    assert optimum(WINDY + "moves stay") == -7.0
    assert len(read_grid(WINDY + "moves stay").actions) == 9


def test_gusts_vary_by_one():
    grid = read_grid(WINDY + "moves king\ngusts yes")
    third = pytest.approx(1 / 3)
    assert {cell: p for cell, (p, _) in outcomes(grid, (5, 6), RIGHT).items()} == {
        (4, 7): third, (3, 7): third, (2, 7): third,
    }  # fmt: skip
    assert outcomes(grid, (5, 0), RIGHT) == {(5, 1): (1.0, -1.0)}  # no wind, no gusts


def test_walls_stop_a_move():
    grid = read_grid("S.#\n.#G\n...")
    assert (1, 1) not in grid.cells
    assert outcomes(grid, (0, 1), RIGHT) == {(0, 1): (1.0, -1.0)}
    assert outcomes(grid, (0, 1), DOWN) == {(0, 1): (1.0, -1.0)}
    assert optimum("S.#\n.#G\n...") == -5.0


def test_slips_sum_to_one():
    grid = read_grid("S..\n.#*\nO.G\nslip 0.1\nmoves king")
    mdp = grid.mdp
    sums = np.add.reduceat(mdp.probability, mdp.first_transition[:-1].astype(int))
    assert sums.tolist() == pytest.approx([1.0] * mdp.num_choices)
    found = {cell: p for cell, (p, _) in outcomes(grid, (0, 1), RIGHT).items()}
    assert found == {(0, 2): pytest.approx(0.8), (0, 1): pytest.approx(0.2)}  # the border above, a wall below


def test_a_slip_of_a_half_never_goes_ahead():
    found = outcomes(read_grid("...\n.S.\n..G\nslip 0.5"), (1, 1), RIGHT)
    assert {cell: p for cell, (p, _) in found.items()} == {(0, 1): 0.5, (2, 1): 0.5}


def test_characters_of_your_own():
    text = "SAB\nCDG\nreward -2\nA = cell 5\nB = goal 10\nC = cliff -3\nD = wall\ndiscount 0.5"
    grid = read_grid(text)
    assert outcomes(grid, (0, 0), RIGHT) == {(0, 1): (1.0, 5.0)}
    assert outcomes(grid, (0, 1), RIGHT) == {(0, 2): (1.0, 10.0)}
    assert outcomes(grid, (0, 0), DOWN) == {(0, 0): (1.0, -3.0)}
    assert outcomes(grid, (0, 1), LEFT) == {(0, 0): (1.0, -2.0)}
    assert (1, 1) not in grid.cells
    assert grid.mdp.discount == 0.5
    assert list(np.flatnonzero(grid.mdp.terminal)) == [2, 3, 4]  # B, C and G


def test_several_starts_and_comments():
    grid = read_grid("S.S // two starts\n\n..G\nreward -1/2 // half\n")
    assert [grid.cells[s] for s in grid.starts] == [(0, 0), (0, 2)]
    assert outcomes(grid, (0, 0), RIGHT) == {(0, 1): (1.0, -0.5)}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("S..\n.x.\n..G", "row 2, column 2: character 'x'"),
        ("S..\n..\n..G", "line 2: 2 characters, but the first row has 3"),
        ("...\n..G", "no start"),
        ("", "no drawing"),
        ("moves king", "no drawing"),
        ("S.G\nwind 01", "wind has 2 digits, but there are 3 columns"),
        ("S.G\nwind a01", "line 2: 'wind a01'"),
        ("S.G\nslip 0.6", "line 2: slip=0.6"),
        ("S.G\ndiscount 0", "line 2: discount=0"),
        ("S.G\ndiscount 1.1", "line 2: discount=1.1"),
        ("S.G\nmoves queen", "line 2: 'moves queen'"),
        ("S.G\nA = lava 3", "line 2: 'A = lava 3'"),
        ("S.G\nreward 1/0", "line 2: 'reward 1/0'"),
        ("S.G\ngusts maybe", "line 2: 'gusts maybe'"),
        ("S.G\nspeed 3", "line 2: 'speed 3'"),
    ],
)
def test_a_bad_drawing_is_refused_with_its_place(text, said):
    with pytest.raises(FormatError) as caught:
        read_grid(text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_drawings_are_told_from_other_texts():
    assert is_grid(CLIFF)
    assert is_grid("\n\nS.G")
    assert not is_grid("numStates 3")
    assert not is_grid("")


def gymnasium_rows(table, state, action):
    """Return {target: (probability, reward)} of Gymnasium's table, repeated targets added up."""
    found = {}
    for p, target, reward, _ in table[state][action]:
        before = found.get(int(target), (0.0, 0.0))
        found[int(target)] = (before[0] + p, before[1] + p * reward)
    return {t: (pytest.approx(p), pytest.approx(total / p)) for t, (p, total) in found.items() if p}


@pytest.mark.parametrize(
    ("name", "options", "text", "order"),
    [
        ("FrozenLake-v1", {"map_name": "4x4", "is_slippery": True}, LAKE, (LEFT, DOWN, RIGHT, UP)),
        ("FrozenLake-v1", {"map_name": "4x4", "is_slippery": False}, LAKE.replace("slip 1/3", ""), (3, 2, 1, 0)),
        ("CliffWalking-v1", {}, CLIFF, (UP, RIGHT, DOWN, LEFT)),
    ],
)
def test_the_same_world_as_gymnasium(name, options, text, order):
    gymnasium = pytest.importorskip("gymnasium")
    table = gymnasium.make(name, **options).unwrapped.P
    grid = read_grid(text)
    width = len(grid.rows[0])
    assert len(table) == grid.mdp.num_states
    for s in np.flatnonzero(~grid.mdp.terminal):
        for theirs, ours in enumerate(order):
            found = outcomes(grid, grid.cells[s], ours)
            assert {y * width + x: row for (y, x), row in found.items()} == gymnasium_rows(table, int(s), theirs)
    ends = {t for rows in table.values() for row in rows.values() for _, t, _, done in row if done}
    assert ends <= set(np.flatnonzero(grid.mdp.terminal).tolist())
