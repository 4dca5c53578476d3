import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdplay.bits import elements, popcount
from mdplay.errors import GameError, PositionError
from mdplay.games.twenty48.rules import State, Twenty48, row_tables, transpose

BOARDS = st.integers(0, (1 << 64) - 1)


def slide(tiles):
    """The rule told again, on a list: push to the front, each tile merges once."""
    left, out, points = [t for t in tiles if t], [], 0
    while left:
        tile = left.pop(0)
        if left and left[0] == tile and tile < 15:
            left.pop(0)
            tile += 1
            points += 1 << tile
        out.append(tile)
    return out + [0] * (len(tiles) - len(out)), points


def pushed(board, rows, cols, action):
    """A whole push by the list rule."""
    grid = [[board >> 4 * (r * cols + c) & 15 for c in range(cols)] for r in range(rows)]
    lines = grid if action < 2 else [list(column) for column in zip(*grid, strict=True)]
    results = [slide(line[::-1] if action & 1 else line) for line in lines]
    moved = [line[::-1] if action & 1 else line for line, _ in results]
    grid = moved if action < 2 else [list(row) for row in zip(*moved, strict=True)]
    after = sum(tile << 4 * (r * cols + c) for r, row in enumerate(grid) for c, tile in enumerate(row))
    return after, sum(points for _, points in results)


@pytest.mark.parametrize("rows, cols", [(4, 4), (3, 3), (2, 3), (1, 4), (2, 8), (16, 1), (3, 5)])
@given(board=BOARDS, action=st.integers(0, 3))
def test_push_legal_and_reward_follow_the_list_rule(rows, cols, board, action):
    game = Twenty48(rows, cols)
    board &= (1 << 4 * rows * cols) - 1
    after, points = pushed(board, rows, cols, action)
    assert game.push(board, action) == (after, points)
    assert (game.legal(State(board, 0)) >> action & 1) == (after != board)


@given(board=BOARDS, action=st.integers(0, 3))
def test_row_tables_and_cells_agree(board, action):
    assert Twenty48().push_by_rows(board, action) == Twenty48().push_cells(board, action)


@given(BOARDS)
def test_transpose_twice_is_nothing(board):
    assert transpose(transpose(board)) == board
    assert transpose(board) == Twenty48().image(State(board, 0), 4).board


def test_chance_places_twos_and_fours():
    game = Twenty48(2, 2)
    start = game.initial()
    assert popcount(game.outcomes(start)) == 8
    assert sum(game.probability(start, i) for i in elements(game.outcomes(start))) == pytest.approx(1.0)
    s = game.outcome(game.outcome(start, 4), 9)
    assert game.text(s) == "0120"
    assert elements(game.outcomes(s)) == []


def test_positions():
    game = Twenty48()
    assert game.text(game.parse("0123 4567 89ab cdef")) == "0123456789abcdef"
    assert game.parse("1" + "0" * 15 + "+1") == State(1, 1)
    for text in ("", "0" * 16, "1" * 15, "g" + "0" * 15, "1" * 16 + "+1"):
        with pytest.raises(PositionError):
            game.parse(text)


def test_boards_that_do_not_fit():
    with pytest.raises(GameError, match="2 to 16 cells"):
        Twenty48(5, 4)


def test_every_row_of_the_tables_is_pushed_cell_by_cell():
    row, tables = Twenty48(1, 4), row_tables()
    assert len(tables.left) == len(tables.right) == len(tables.points) == 1 << 16
    for cells in range(1 << 16):
        left, right = row.push_cells(cells, 0), row.push_cells(cells, 1)
        assert (tables.left[cells], tables.right[cells]) == (left.board, right.board)
        assert tables.points[cells] == left.points == right.points
