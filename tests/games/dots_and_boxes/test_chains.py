"""Chain-aware search against the tables, wherever both reach."""

import random
from functools import cache

import numpy as np
import pytest

from mdplay import GameError, make, solve
from mdplay.bits import elements
from mdplay.compiling import unpack
from mdplay.games.dots_and_boxes import solver
from mdplay.games.dots_and_boxes.solver import ChainSearch
from mdplay.rng import Random
from mdplay.solving.proof.book import find_books
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


def plain_value(game, missing):
    """Return the value of a position by a table over all subsets of its missing lines."""
    lines = elements(missing)
    number = {line: i for i, line in enumerate(lines)}
    boxes = [sum(1 << number[line] for line in elements(box & missing)) for box in game.boxes]
    touching = [[box for box in boxes if box >> i & 1] for i in range(len(lines))]
    values = [0] * (1 << len(lines))  # by the lines that are still missing
    for left in range(1, len(values)):
        best = -len(boxes)
        for i in elements(left):
            rest = left & ~(1 << i)
            gain = sum(not box & rest for box in touching[i])
            best = max(best, gain + values[rest] if gain else -values[rest])
        values[left] = best
    return values[-1]


def random_position(game, rng, count):
    """Return the missing lines of a position, about ``count``; boxes are left open as long as possible."""
    missing = game.full
    while missing.bit_count() > count:
        lines = elements(missing)
        safe = [i for i in lines if all((box & missing & ~(1 << i)).bit_count() != 1 for box in game.boxes)]
        missing &= ~(1 << rng.choice(safe or lines))
        while not safe and (
            open_boxes := [box & missing for box in game.boxes if (box & missing).bit_count() == 1]
        ):
            missing &= ~open_boxes[0]
    return missing


@pytest.mark.parametrize("rows, cols", [(1, 6), (2, 5), (3, 4), (4, 4), (3, 5), (5, 5)])
def test_positions_agree_with_a_table_of_the_missing_lines(rows, cols, needs_compiler):
    game = make(f"dots-and-boxes:rows={rows},cols={cols}")
    search, rng = ChainSearch(game, table_bits=18), random.Random(rows * cols)
    for _ in range(12):
        missing = random_position(game, rng, rng.randint(7, 12))
        found = search.prove(game.state(game.full & ~missing))
        assert found.low == found.high == plain_value(game, missing), missing


@pytest.mark.parametrize("lines", [1342923086, 2063808137, 1881530586, 1461159949])
def test_a_loop_takes_the_chain_behind_its_junction_along(lines, needs_compiler):
    """The chain behind the third line of a junction counts, also if it was found as a chain of its own before."""
    game = make("dots-and-boxes:rows=3,cols=4")
    found = ChainSearch(game, table_bits=18).prove(game.state(lines))
    assert found.low == found.high == plain_value(game, game.full & ~lines)


def test_of_two_open_chains_the_one_that_stays_open_is_kept(needs_compiler):
    """On 5 x 5, the box behind one of two chains of two is taken later, and that chain can then not be spared."""
    game, lines = make("dots-and-boxes:rows=5,cols=5"), 1152427771256086523
    found = ChainSearch(game, table_bits=18).prove(game.state(lines))
    assert found.low == found.high == plain_value(game, game.full & ~lines) == 14


def test_first_lines_of_three_by_four(needs_compiler):
    """The value is Wilson's, wilson.engr.wisc.edu/boxes; its first lines agree with the table of all sets."""
    solution = solve(make("dots-and-boxes:rows=3,cols=4"))
    assert solution.method == "chains" and solution.value() == 0
    values = {choice.action: choice.low for choice in solution.choices() if choice.low == choice.high}
    assert len(values) == 31 and {a for a in values if values[a] == 0} == {22, 23, 24}
    assert set(values.values()) == {0, -2}


@pytest.mark.slow
def test_four_by_four_is_a_tie_after_every_first_line(needs_compiler, monkeypatch):
    monkeypatch.setattr(solver, "find_books", lambda *_, **__: iter(()))
    solution = solve(make("dots-and-boxes:rows=4,cols=4"))  # the value is Wilson's, and Barker and Korf's
    assert solution.value() == 0
    assert [(choice.low, choice.high) for choice in solution.choices()] == [(0, 0)] * 40
    assert solution.states > 10_000_000


@pytest.mark.slow
@pytest.mark.parametrize("rows, cols, value", [(2, 7, 0), (3, 5, -1)])
def test_larger_boards_from_the_empty_board(rows, cols, value, needs_compiler):
    found = ChainSearch(make(f"dots-and-boxes:rows={rows},cols={cols}")).prove()  # 3 x 5: Wilson
    assert found.low == found.high == value


# ---------------------------------------------------------------- opening books
def best_by_book(game, book, state):
    """Return the value of a position by the plain rules and the book of the next ply."""
    found = []
    for line in elements(game.legal(state)):
        after = game.step(state, line)
        row = min(tuple(game.image(after, k)) for k in range(game.symmetries()))
        place = int(np.searchsorted(book.rows[:, 0], np.uint64(row[0])))  # rows are in order
        place += book.rows[place].tolist() != [int(word) for word in row]  # or the other player is to move
        assert book.rows[place].tolist() == [int(word) for word in row]
        score, gain = int(book.scores[place]), game.reward(state, line)
        found.append(gain + score if gain else -score)
    return max(found)


def test_the_books_of_consecutive_plies_agree(needs_compiler):
    game, rng = make("dots-and-boxes:rows=4,cols=4"), random.Random(4)
    seventh, sixth = find_books(game)
    assert (seventh.plies, sixth.plies) == (7, 6)
    for place in rng.sample(range(len(sixth.rows)), 40):
        state = unpack(game, sixth.rows[place].tolist())
        assert best_by_book(game, seventh, state) == sixth.scores[place]


def test_the_scores_of_a_book_are_those_of_a_search_without_it(needs_compiler):
    game, rng = make("dots-and-boxes:rows=4,cols=4"), random.Random(7)
    book, search = next(find_books(game)), ChainSearch(game)
    for place in rng.sample(range(len(book.rows)), 6):
        found = search.prove(unpack(game, book.rows[place].tolist()))
        assert found.low == found.high == book.scores[place]


def test_with_the_books_the_opening_needs_almost_no_search(needs_compiler):
    game = make("dots-and-boxes:rows=4,cols=4")
    solution = solve(game, memory=1 << 29)
    assert {(choice.low, choice.high) for choice in solution.choices()} == {(0, 0)}
    assert solution.states < 100_000


@pytest.mark.parametrize("positions", [200, pytest.param(20_000, marks=pytest.mark.slow)])
def test_learned_values_are_stored_with_their_positions(positions, needs_compiler):
    """Values of any positions, quiet or not, are learned; all others must keep their values."""
    game = make("dots-and-boxes:rows=3,cols=3")
    search, table, rng = ChainSearch(game), solve(game).table, np.random.default_rng(3)
    numbers = rng.integers(0, game.size(), positions)
    search.learn(numbers, table.values[numbers].astype(np.int64))
    assert np.count_nonzero(search.table) > positions // 10
    for number in [*numbers[:200].tolist(), *rng.integers(0, game.size(), 300).tolist()]:
        assert search.prove(game.state(number)).low == table.values[number], number


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
