"""The report's five algorithms, traced by hand on the position that the page draws.

Red (player 1) is to move; the columns 3, 4 and 6 are open.  Column 4 wins at once.  The random games end as told,
+ red wins, - blue wins; a score is wins / visits + sqrt(2 ln(visits of the parent) / visits).

 1  The root is the leaf.  3, 4 and 6 are made: + + +.  Each has 1 win of 1 visit.
 2  All three 1 + 1.48: enter 3 (2 visits).  Its children 4 -, 6 +: blue moved into them, so 3-4 has a win and 3-6
    none; 3 gets two visits and one win: 2/4.
 3  Root, 5 visits: 3 0.5 + 0.90, 4 and 6 1 + 1.79: enter 4.  The game is over there, only the visit counts: 1/2.
 4  3 1.40, 4 0.5 + 1.27, 6 1 + 1.79: enter 6.  Three children, + + +: 6 is 4/5, its children 0/1.
 5  Root, 8 visits: 3 0.5 + 1.02, 4 0.5 + 1.44, 6 0.8 + 0.91: enter 4: 1/3.
 6  3 1.52, 4 0.33 + 1.18, 6 1.71: enter 6 (6 visits), of three equals 3 (2 visits).  Children 4 +, 6 +, into which
    red moved: 1/1 each; 6-3 is 0/4, 6 is 6/8.
 7  Root, 10 visits: 3 0.5 + 1.07 = 1.573, 4 0.33 + 1.24 = 1.572, 6 0.75 + 0.76 = 1.509: enter 3 (5 visits), then
    4, which blue has won once of once.  Its children 4 +, 6 -: 1/1 and 0/1; 3-4 is 2/4, 3 is 3/7.
 8  Root, 12 visits: 3 1.27, 4 0.33 + 1.29, 6 1.54: enter 4: 1/4.
 9  3 1.27, 4 0.25 + 1.11, 6 0.75 + 0.79: enter 6 (9 visits); its children 3 0/4, 4 0/1, 6 0/1: enter 4 (2 visits).
    Children 3 -, 4 +, 6 +: 0/1, 1/1, 1/1; 6-4 is 1/5, 6 is 8/12.
10  Root, 15 visits: 3 1.31, 4 0.25 + 1.16, 6 0.67 + 0.67: enter 4: 1/5.
"""

import pytest

from mdplay.games.connect_four.rules import ConnectFour
from mdplay.lab.reproduction.connect_four import TREE_POSITION, TREE_SEED, ReportSearch, slice_score
from mdplay.searching.mcts import mcts

BY_HAND = {  # columns from 1: (wins, visits)
    1: {(3,): (1, 1), (4,): (1, 1), (6,): (1, 1)},
    2: {(3,): (2, 4), (4,): (1, 1), (6,): (1, 1), (3, 4): (1, 1), (3, 6): (0, 1)},
    10: {
        (3,): (3, 7),
        (4,): (1, 5),
        (6,): (8, 12),
        (3, 4): (2, 4),
        (3, 6): (0, 1),
        (6, 3): (0, 4),
        (6, 4): (1, 5),
        (6, 6): (0, 1),
        (3, 4, 4): (1, 1),
        (3, 4, 6): (0, 1),
        (6, 3, 4): (1, 1),
        (6, 3, 6): (1, 1),
        (6, 4, 3): (0, 1),
        (6, 4, 4): (1, 1),
        (6, 4, 6): (1, 1),
    },
}


def grown(game, state, iterations, seed):
    search = ReportSearch(game, state, seed)
    for _ in range(iterations):
        search.iterate()
    return search


@pytest.mark.parametrize("iterations", BY_HAND)
def test_the_tree_as_traced_by_hand(iterations):
    game = ConnectFour()
    search = grown(game, game.parse(TREE_POSITION), iterations, TREE_SEED)
    found = {tuple(a + 1 for a in path): (node.wins, node.visits) for path, node in search.root.walk() if path}
    assert found == BY_HAND[iterations]
    assert search.root.visits == {1: 3, 2: 5, 10: 15}[iterations]


def test_the_package_grows_the_same_tree():
    game = ConnectFour()
    search = grown(game, game.initial(), 30, 5)
    found = mcts(game, simulations=search.simulations, expansion="all", seed=5)
    assert found.action == search.best().action

    def compare(node, other):
        assert (node.visits, [child.action for child in node.children]) == (
            other.visits,
            [child.action for child in other.children],
        )
        for child, twin in zip(node.children, other.children, strict=True):
            assert child.wins == round(twin.value * twin.visits)
            compare(child, twin)

    compare(search.root, found.tree)


@pytest.mark.parametrize(
    ("cells", "score"),
    [("xxxx", 100), ("x.xx", 5), ("x..x", 2), ("...x", 0), ("xxxo", 0), ("oooo", 0), ("....", 0)],
)
def test_slices(cells, score):
    assert slice_score(cells, "x") == score
