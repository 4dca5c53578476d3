import pytest

from mdplay.bits import elements
from mdplay.errors import GameError, PositionError
from mdplay.games.connect_four.rules import ConnectFour
from mdplay.naming.notation import parse_position
from mdplay.rng import Random


def four_in_a_row(grid):
    """The rule told again, cell by cell."""
    rows, cols = len(grid), len(grid[0])
    for r in range(rows):
        for c in range(cols):
            for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
                cells = [(r + i * dr, c + i * dc) for i in range(4)]
                inside = all(0 <= y < rows and 0 <= x < cols for y, x in cells)
                if inside and grid[r][c] != "." and len({grid[y][x] for y, x in cells}) == 1:
                    return grid[r][c]
    return None


@pytest.mark.parametrize("rows, cols", [(6, 7), (4, 5), (8, 7), (5, 9)])
def test_random_games_agree_with_the_rule_told_cell_by_cell(rows, cols):
    game = ConnectFour(rows, cols)
    for number in range(20):
        rng, s = Random(5, number), game.initial()
        while elements(game.legal(s)):
            grid = game.text(s).split("/")
            assert four_in_a_row(grid) is None
            assert [c for c in range(cols) if grid[0][c] == "."] == elements(game.legal(s))
            s = game.step(s, rng.pick(game.legal(s)))
        winner = four_in_a_row(game.text(s).split("/"))
        assert game.result(s) == {"x": 1, "o": -1, None: 0}[winner]


def test_positions_by_columns_and_by_board():
    game = ConnectFour()
    s = game.parse("4453")
    assert game.text(s) == "......./......./......./......./...o.../..oxx.."
    assert game.parse(game.text(s)) == s == parse_position(game, "moves:4,4,5,3")


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("4444444", "move 7: '4' is not a legal move"),
        ("48", "move 2: '8' is not a legal move"),
        ("4x", "move 2: 'x' is not a legal move"),
        ("11223344", "the game is over"),
        ("......./x......", "6 rows of 7"),
        ("......./......./......./x....../......./.......", "hangs in the air in column 1"),
        ("......./......./......./......./......./xxx....", "x has 3 discs and o 0"),
    ],
)
def test_bad_positions_say_why(text, sentence):
    with pytest.raises(PositionError, match=sentence):
        ConnectFour().parse(text)


def test_boards_that_do_not_fit():
    with pytest.raises(GameError, match="at most 63"):
        ConnectFour(9, 9)


def test_slices_are_scored_as_told():
    # Systems, 4: 69 slices; 100 for four own discs, 5 for three and an empty cell, 2 for two and two empty cells.
    game = ConnectFour()
    assert len(game.slices) == 69

    def by_hand(s, player):
        cells = {}
        for r, row in enumerate(reversed(game.text(s).split("/"))):
            for c, disc in enumerate(row):
                cells[c, r] = disc
        own, score = "xo"[player], 0
        for c, r in cells:
            for dc, dr in ((1, 0), (0, 1), (1, 1), (1, -1)):
                line = [cells.get((c + i * dc, r + i * dr)) for i in range(4)]
                if None not in line:
                    score += {4: 100, 3: 5, 2: 2}.get(line.count(own), 0) * (
                        line.count(own) + line.count(".") == 4
                    )
        return score

    for text in ("", "4", "445344", "1122334", "44433355522", "1726345"):
        s = parse_position(game, text)
        assert [game.slice_score(s, p) for p in (0, 1)] == [by_hand(s, p) for p in (0, 1)], text
        assert game.heuristic(s) == game.slice_score(s, 0) - game.slice_score(s, 1)
    assert game.slice_score(parse_position(game, "1122334"), 0) >= 100
