from collections import Counter
from itertools import combinations
from math import comb

import pytest

from mdplay.bits import elements
from mdplay.errors import GameError, PositionError
from mdplay.games.dots_and_boxes.rules import DotsAndBoxes, State
from mdplay.naming.notation import parse_position
from mdplay.rng import Random
from mdplay.searching.playouts import playouts

SMALL = [DotsAndBoxes(1, 1), DotsAndBoxes(1, 2), DotsAndBoxes(2, 2)]


def by_dots(rows: int, cols: int) -> list[frozenset[tuple[int, int]]]:
    """The lines as pairs of dots, in the numbering of the game's page; made without the game."""
    across = [frozenset({(r, c), (r, c + 1)}) for r in range(rows + 1) for c in range(cols)]
    down = [frozenset({(r, c), (r + 1, c)}) for c in range(cols + 1) for r in range(rows)]
    return across + down


def squares(rows: int, cols: int) -> list[set[frozenset[tuple[int, int]]]]:
    """The boxes as sets of four lines: all circles of four dots at distance 1."""
    lines = by_dots(rows, cols)
    found = []
    for four in combinations(lines, 4):
        dots = Counter(dot for line in four for dot in line)
        if len(dots) == 4 and set(dots.values()) == {2}:
            found.append(set(four))
    return found


@pytest.mark.parametrize("game", SMALL, ids=str)
def test_counts_of_positions_and_rewards_derived_from_dots_alone(game):
    lines, boxes = by_dots(game.rows, game.cols), squares(game.rows, game.cols)
    mine, theirs = {State(0, 0)}, {(frozenset(), 0)}
    for ply in range(len(lines)):
        following = set()
        for drawn, player in theirs:
            for line in set(lines) - drawn:
                done = sum(box <= drawn | {line} for box in boxes) - sum(box <= drawn for box in boxes)
                s = State(sum(1 << lines.index(x) for x in drawn), player)
                assert game.reward(s, lines.index(line)) == done
                following.add((drawn | {line}, player if done else 1 - player))
        theirs = following
        mine = {game.step(s, a) for s in mine for a in elements(game.legal(s))}
        assert mine == {State(sum(1 << lines.index(x) for x in drawn), player) for drawn, player in theirs}
        assert len({s.lines for s in mine}) == comb(len(lines), ply + 1)
    assert all(game.legal(s) == 0 for s in mine)


def test_the_boxes_of_2x2_are_the_masks_of_the_report():
    assert DotsAndBoxes().boxes == (325, 1290, 660, 2600)


@pytest.mark.parametrize("game", [*SMALL, DotsAndBoxes(3, 2), DotsAndBoxes(5, 5)], ids=str)
def test_a_random_game_draws_all_lines_and_shares_all_boxes(game):
    rng = Random(7)
    for _ in range(20):
        s, points = game.initial(), [0, 0]
        while legal := game.legal(s):
            action = rng.pick(legal)
            earned, mover = game.reward(s, action), s.player
            points[mover] += earned
            s = game.step(s, action)
            assert (s.player == mover) == (earned > 0)
        assert s.lines == game.full
        assert sum(points) == game.rows * game.cols


def test_random_games_compiled():
    done = playouts(DotsAndBoxes(3, 3), games=2000, seed=1)
    assert (done.longest, done.mean_length) == (24, 24)
    assert done.draws == 0  # nine boxes cannot be shared evenly


@pytest.mark.parametrize("game", [DotsAndBoxes(2, 2), DotsAndBoxes(2, 3), DotsAndBoxes(3, 1)], ids=str)
def test_symmetries_are_all_maps_of_the_dots_that_keep_distances(game):
    lines, boxes = by_dots(game.rows, game.cols), squares(game.rows, game.cols)
    assert len(set(game.images)) == game.symmetries() == (8 if game.rows == game.cols else 4)
    for image in game.images:
        assert sorted(image) == list(range(len(lines)))
        moved = {frozenset(lines[image[lines.index(line)]] for line in box) for box in boxes}
        assert moved == {frozenset(box) for box in boxes}
    assert game.images[0] == tuple(range(len(lines)))


def test_numbers_and_states():
    game = DotsAndBoxes()
    assert game.size() == 4096
    assert [game.index(game.state(i)) for i in range(4096)] == list(range(4096))


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("325", State(325, 0)),
        ("0x145", State(325, 0)),
        ("325/2", State(325, 1)),
        ("101000101000", State(325, 0)),
        ("1,0,1,0,0,0,1,0,1,0,0,0", State(325, 0)),
        ("0 0 0 0 0 0 0 0 0 0 0 1 /2", State(2048, 1)),
        ("moves:0,2,6,8", State(325, 1)),  # the fourth line was the second player's, and so is the next
        ("moves:0,2,6,8,1", State(327, 0)),
    ],
)
def test_positions(text, state):
    game = DotsAndBoxes()
    assert parse_position(game, text) == state
    assert game.parse(game.text(state)) == state


@pytest.mark.parametrize("text", ["4096", "-1", "ten", "", "10100010100", "5/3", "moves:0,0", "moves:12"])
def test_texts_that_are_no_position(text):
    with pytest.raises(PositionError):
        parse_position(DotsAndBoxes(), text)


def test_boards_that_do_not_fit():
    assert DotsAndBoxes(5, 5).num_lines == 60
    for rows, cols in [(0, 3), (5, 6), (3, -1)]:
        with pytest.raises(GameError, match="does not fit"):
            DotsAndBoxes(rows, cols)


def test_board():
    assert DotsAndBoxes().board(State(0b0001_0100_1111, 1)).splitlines() == [
        "+----+----+",
        "|  # |    10",
        "+----+----+",
        "7    9    11",
        "+ 4  + 5  +",
    ]
