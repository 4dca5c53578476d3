from itertools import pairwise

import pytest

from mdplay.bits import elements, nonempty
from mdplay.errors import LimitError
from mdplay.games.connect_four.rules import ConnectFour
from mdplay.games.tic_tac_toe.rules import TicTacToe, anti_tic_tac_toe
from mdplay.games.twenty48.rules import Twenty48
from mdplay.states.perft import perft
from tests.helpers import COMPILED


def by_hand(game, depth):
    """Count paths and positions in plain Python with lists and sets."""
    paths, counts = [game.initial()], [(1, 1)]
    for _ in range(depth):
        paths = [
            t
            for s in paths
            for t in (
                [game.outcome(s, i) for i in elements(game.outcomes(s))]
                if nonempty(game.outcomes(s))
                else [game.step(s, a) for a in elements(game.legal(s))]
            )
        ]
        counts.append((len(paths), len(set(paths))))
    return counts


def counts(game, depth, **options):
    return [(ply.paths, ply.positions) for ply in perft(game, depth=depth, **options)]


@pytest.mark.parametrize(
    "game, depth",
    [(TicTacToe(), 5), (TicTacToe(2, 4, 3), 5), (ConnectFour(), 4), (Twenty48(), 3), (Twenty48(2, 2), 4)],
    ids=repr,
)
def test_counts_equal_plain_enumeration(game, depth):
    assert counts(game, depth) == by_hand(game, depth)


def test_tic_tac_toe_has_5478_positions_and_255168_games():
    # 5478 positions, 765 up to symmetry, 255168 games: Schaefer 2002, "How many games of Tic-Tac-Toe are there?"
    plies = perft(TicTacToe(), depth=9)
    assert sum(ply.positions for ply in plies) == 5478
    assert sum(ply.ended for ply in plies) + plies[-1].paths == 255_168
    assert sum(ply.positions for ply in perft(TicTacToe(), depth=9, by_symmetry=True)) == 765


def test_misere_changes_who_wins_but_not_the_positions():
    assert counts(anti_tic_tac_toe(), 9) == counts(TicTacToe(), 9)


def test_connect_four_positions_by_ply(needs_compiler):
    # OEIS A212693 (Tromp): the number of legal 7 x 6 positions after n plies.
    known = [1, 7, 49, 238, 1120, 4263, 16422, 54859, 184275, 558186]
    assert [positions for _, positions in counts(ConnectFour(), 9)] == known


def test_symmetry_never_counts_more():
    depth = 6 if COMPILED else 4
    whole, reduced = counts(ConnectFour(), depth), counts(ConnectFour(), depth, by_symmetry=True)
    assert all(b <= a <= 2 * b for (_, a), (_, b) in zip(whole, reduced, strict=True))
    assert [paths for paths, _ in whole] == [paths for paths, _ in reduced]


def test_a_game_that_is_over_has_no_more_plies():
    plies = perft(TicTacToe(1, 3, 3), depth=50)
    assert [ply.depth for ply in plies] == [0, 1, 2, 3]
    assert all(a.seconds <= b.seconds for a, b in pairwise(plies))


def test_too_many_positions_are_refused():
    with pytest.raises(LimitError, match="more than 100 positions"):
        perft(ConnectFour(), depth=6, max_positions=100)
