"""The kernel for subsets against the general tables, and the published values of Dots and Boxes."""

from dataclasses import dataclass

import numpy as np
import pytest

from mdplay import GameError, LimitError, make, solve
from mdplay.games.dots_and_boxes.rules import DotsAndBoxes
from tests.nim import Nim


# Two independent programs; 3 x 3 also by Wilson (wilson.engr.wisc.edu/boxes): every opening loses by 3.
@pytest.mark.parametrize(
    "rows, cols, value, best",
    [
        (1, 1, -1, 4),
        (1, 2, 0, 1),
        (1, 3, -1, 10),
        (2, 2, 2, 8),
        (2, 3, -2, 17),
        (3, 3, -3, 24),
    ],
)
def test_perfect_play(rows, cols, value, best, needs_compiler):
    solution = solve(make(f"dots-and-boxes:rows={rows},cols={cols}"))
    assert solution.value() == value
    assert len(solution.best()) == best


def test_every_value_equals_the_general_table(needs_compiler):
    game = make("dots-and-boxes:rows=2,cols=3")
    fast, general = solve(game, method="subset"), solve(game, method="indexed")
    assert np.array_equal(fast.table.values, general.table.values)
    assert all(fast.distance(game.state(i)) == general.distance(game.state(i)) for i in range(0, game.size(), 997))


def test_the_number_of_threads_changes_nothing(needs_compiler):
    game = make("dots-and-boxes:rows=2,cols=3")
    one, three = (solve(game, method="subset", threads=threads) for threads in (1, 3))
    assert np.array_equal(one.table.values, three.table.values)


def test_plain_python_gives_the_same():
    game = make("dots-and-boxes:rows=1,cols=2")
    fast, general = solve(game, method="subset"), solve(game, method="indexed")
    assert np.array_equal(fast.table.values, general.table.values)


@dataclass(frozen=True)
class Liar(DotsAndBoxes):
    @property
    def scoring_sets(self):
        return self.boxes[1:]


def test_broken_promises_and_other_games_are_refused():
    with pytest.raises(GameError, match="is not what the scoring sets promise"):
        solve(Liar(), method="subset")
    with pytest.raises(GameError, match="needs scoring sets"):
        solve(Nim(), method="subset")
    with pytest.raises(LimitError, match=r"needs 2\.1 GB of memory; 1\.1 GB may be used"):
        solve(make("dots-and-boxes:rows=3,cols=4"), method="subset", memory=1 << 30)
