"""King and rook against king: the table by depth of the KRK data set (Bain 1992); king and queen: mate in ten."""

import numpy as np
import pytest

from mdplay import PositionError, make, solve
from mdplay.bits import elements
from mdplay.games.chess_ending.rules import NOWHERE
from mdplay.solving.retrograde import MOVER_SHIFT, RANK_SHIFT, REMOTENESS

MATES = [27, 78, 246, 81, 198, 471, 592, 683, 1433, 1712, 1985, 2854, 3597, 4194, 4553, 2166, 390]


def black_to_move(table):
    """Return the entries of the positions where Black is to move and White still has its piece."""
    word, shift, size = table.layout[1]
    piece = table.keys()[:, word] >> np.uint64(shift) & np.uint64((1 << size) - 1)
    return table.entries[(piece != NOWHERE) & (table.entries >> np.uint32(MOVER_SHIFT) & np.uint32(1) == 1)]


@pytest.mark.usefixtures("needs_compiler")
def test_rook_by_depth():
    table = solve(make("chess-ending")).table
    entries = black_to_move(table)
    assert len(entries) == 28_056
    mates = entries[entries >> np.uint32(RANK_SHIFT) == table.results.index(1) + 1] & np.uint32(REMOTENESS)
    assert np.bincount(mates)[::2].tolist() == MATES
    assert len(entries) - sum(MATES) == 2_796  # drawn


@pytest.mark.usefixtures("needs_compiler")
def test_queen_mates_in_ten():
    table = solve(make("chess-ending:queen=yes")).table
    entries = black_to_move(table)
    mates = entries[entries >> np.uint32(RANK_SHIFT) == table.results.index(1) + 1] & np.uint32(REMOTENESS)
    assert mates.max() == 20


def test_moves():
    game = make("chess-ending")
    s = game.parse("Kc2,Rb1,ka3,b")
    assert [game.move_text(s, a) for a in elements(game.legal(s))] == ["ka4", "ka2"]
    mate = game.parse("Kc3,Ra8,ka1,b")
    assert [game.move_text(mate, a) for a in elements(game.legal(mate))] == ["kb1"]
    mated = game.parse("Kb3,Rh1,ka1,b")
    assert (elements(game.legal(mated)), game.result(mated)) == ([], 1)
    stale = game.parse("Kc1,Rb2,ka1,b")
    assert (elements(game.legal(stale)), game.result(stale)) == ([], 0)


@pytest.mark.parametrize("text", ["Kc1,Rc1,ka8,w", "Ka1,Rh8,kb2,b", "Kc1,Ra7,ka8,w", "K,R,k,w", "Kz1,Ra1,ka8,w"])
def test_positions_that_cannot_be(text):
    with pytest.raises(PositionError):
        make("chess-ending").parse(text)
