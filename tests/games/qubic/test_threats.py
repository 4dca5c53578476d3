import random
from dataclasses import dataclass

import pytest

from mdplay.errors import LimitError
from mdplay.games.qubic.rules import Qubic
from mdplay.games.qubic.threats import ThreatSearch, line_tables
from tests.helpers import COMPILED

GAME = Qubic()
LINES = GAME.lines


def finishing(mine, theirs):
    return {line & ~mine for line in LINES if not line & theirs and (line & mine).bit_count() == 3}


def wins(attacker, defender, known):
    """The definition, by recursion: a forcing move leaves the opponent exactly one cell, two of them win."""
    if finishing(attacker, defender):
        return True
    if (attacker, defender) not in known:
        free = [1 << cell for cell in range(64) if not (attacker | defender) >> cell & 1]
        known[attacker, defender] = any(wins_after(attacker | cell, defender, known) for cell in free)
    return known[attacker, defender]


def wins_after(attacker, defender, known):
    if finishing(defender, attacker):
        return False
    answers = finishing(attacker, defender)
    return len(answers) > 1 or (len(answers) == 1 and wins(attacker, defender | answers.pop(), known))


def random_positions(count, seed):
    rng = random.Random(seed)
    while count:
        half = rng.randrange(4, 12)
        cells = rng.sample(range(64), 2 * half)
        mine, theirs = sum(1 << c for c in cells[:half]), sum(1 << c for c in cells[half:])
        if not (GAME.has_line(mine) or GAME.has_line(theirs)):
            count -= 1
            yield mine, theirs


def test_agrees_with_the_definition():
    threats, found = ThreatSearch(GAME), []
    for mine, theirs in random_positions(300 if COMPILED else 20, seed=1):
        win = threats.win(mine, theirs)
        assert win.certain
        assert (win.action is not None) == wins(mine, theirs, {}), (mine, theirs)
        if win.action is not None:
            after = mine | 1 << win.action
            assert GAME.has_line(after) or wins_after(after, theirs, {}), (mine, theirs, win.action)
        found.append(win.action is not None)
    assert 0 < sum(found) < len(found)  # both kinds were met


def test_a_win_is_seen_under_every_symmetry(needs_compiler):
    # attacker: lines 0-3 and 0-48 each with two marks: cell 0 makes two threats
    mine, theirs = 1 << 1 | 1 << 2 | 1 << 16 | 1 << 32, 1 << 21 | 1 << 22 | 1 << 41 | 1 << 9
    threats = ThreatSearch(GAME)
    assert threats.win(mine, theirs).action == 0
    for k in range(192):
        win = threats.win(GAME.moved(mine, k), GAME.moved(theirs, k))
        assert win.action is not None


def test_simple_wins_blocks_and_losses():
    threats = ThreatSearch(GAME)
    assert threats.win(0b0111, 0).action == 3  # complete the line
    assert threats.win(0b0111, 0b1000).action is None
    assert threats.win(0, 0b0111).action is None  # only a block, and no threat in it
    assert threats.win(0, 0).nodes == 1


def test_a_small_budget_is_not_taken_for_an_answer(needs_compiler):
    hard = next(
        (mine, theirs)
        for mine, theirs in random_positions(500, seed=2)
        if ThreatSearch(GAME).win(mine, theirs).nodes > 20
    )
    cut = ThreatSearch(GAME).win(*hard, nodes=5)
    assert cut.action is None and not cut.certain
    assert ThreatSearch(GAME).win(*hard).certain


def test_memory_of_failures_changes_no_answer(needs_compiler):
    positions = list(random_positions(200, seed=3))
    tiny, large = ThreatSearch(GAME, positions=2), ThreatSearch(GAME, positions=1 << 16)
    for position in positions + positions:
        assert (tiny.win(*position).action is None) == (large.win(*position).action is None)


@pytest.mark.parametrize("cell", [0, 1, 21, 63])
def test_tables_count_the_lines_through_a_cell(cell):
    tables = [int(value) for value in line_tables(GAME)]
    assert tables[128 + cell].bit_count() + tables[192 + cell].bit_count() == GAME.lines_through[cell]


def test_more_lines_than_the_tables_hold_are_refused():
    @dataclass(frozen=True)
    class ManyLines:
        lines: tuple[int, ...] = (15,) * 129

    with pytest.raises(LimitError, match="129 lines are too many"):
        line_tables(ManyLines())
