"""Chain-aware search against the tables, wherever both reach."""

from functools import cache

import pytest

from mdplay import GameError, make, solve
from mdplay.bits import elements
from mdplay.games.dots_and_boxes.chains import ChainSearch
from mdplay.rng import Random
from tests.nim import Nim


@pytest.mark.parametrize("rows, cols", [(1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3)])
def test_the_start_of_every_board_agrees_with_its_table(rows, cols, needs_compiler):
    game = make(f"dots-and-boxes:rows={rows},cols={cols}")
    found = ChainSearch(game).prove()
    assert found.exact
    assert found.low == solve(game).value()


@pytest.mark.parametrize("rows, cols, positions", [(2, 2, 4096), (2, 3, 3000), (3, 3, 3000)])
def test_positions_agree_with_the_table(rows, cols, positions, needs_compiler):
    game = make(f"dots-and-boxes:rows={rows},cols={cols}")
    search, table, rng = ChainSearch(game), solve(game).table, Random(1)
    for number in range(positions):
        lines = number if positions == game.size() else (rng.word() | rng.word()) & game.size() - 1
        assert search.prove(game.state(lines)).low == table.values[lines], lines


@pytest.mark.slow
def test_a_hundred_thousand_positions_agree_with_the_table(needs_compiler):
    game = make("dots-and-boxes:rows=3,cols=3")
    search, table, rng = ChainSearch(game), solve(game).table, Random(2)
    for number in range(100_000):
        lines = (rng.word() | rng.word() | (rng.word() if number % 2 else 0)) & game.size() - 1
        assert search.prove(game.state(lines)).low == table.values[lines], lines


def test_of_an_open_loop_and_an_open_chain_the_chain_is_kept(needs_compiler):
    # On 3 x 4, besides a chain of six: a loop of four and a chain of two, each with a box that lacks one line.
    game = make("dots-and-boxes:rows=3,cols=4")
    loop, two, six = (19, 5, 20), (25, 28), (18, 21, 24, 10, 26, 11, 30)
    missing = sum(1 << line for line in (*loop, *two, *six))

    @cache
    def value(left: int) -> int:
        best = [0] if not left else []
        for line in elements(left):
            rest = left & ~(1 << line)
            gain = sum(box >> line & 1 and not box & rest for box in game.scoring_sets)
            best.append(gain + value(rest) if gain else -value(rest))
        return max(best)

    found = ChainSearch(game).prove(game.state(game.size() - 1 & ~missing))
    assert (found.low, found.high) == (value(missing), value(missing)) == (8, 8)


def test_bounds_when_time_is_short(needs_compiler):
    found = ChainSearch(make("dots-and-boxes:rows=4,cols=4")).prove(seconds=0.2)
    assert not found.exact
    assert found.low <= 0 <= found.high  # 4 x 4 is a tie (Wilson; Barker and Korf 2012)


def test_other_games_are_refused():
    with pytest.raises(GameError, match="chains are known"):
        ChainSearch(Nim())


def test_plain_python_gives_the_same():
    game = make("dots-and-boxes:rows=1,cols=2")
    assert ChainSearch(game, table_bits=8).prove().low == 0
