import pytest

from mdplay.errors import GameError
from mdplay.game import parse_position
from mdplay.games.connect_four import ConnectFour
from mdplay.games.tic_tac_toe import TicTacToe, anti_tic_tac_toe
from mdplay.games.twenty48 import Twenty48
from mdplay.registry import make
from mdplay.searching.playouts import playouts
from tests.helpers import COMPILED, NIM, write


def test_random_connect_four_favours_the_first_player(needs_compiler):
    # OpenSpiel's C++ rollouts give +0.114 (100,000 games; benchmarks/speed.py prints both).
    found = playouts(ConnectFour(), games=400_000, seed=1)
    assert found.mean == pytest.approx(0.115, abs=0.005)


def test_random_tic_tac_toe_is_exact_within_the_error():
    # By full enumeration of random play: the first player wins 737/1260, the second 121/420, 8/63 are drawn.
    games = 200_000 if COMPILED else 2000
    for game, mean in ((TicTacToe(), 737 / 1260 - 121 / 420), (anti_tic_tac_toe(), 121 / 420 - 737 / 1260)):
        found = playouts(game, games=games, seed=2)
        assert found.mean == pytest.approx(mean, abs=4 * found.standard_error)


@pytest.mark.parametrize("game", [ConnectFour(), TicTacToe(), Twenty48(2, 2)], ids=repr)
def test_threads_change_nothing(game):
    one = playouts(game, games=1000, seed=3, threads=1)
    for threads in (2, 3):
        more = playouts(game, games=1000, seed=3, threads=threads)
        assert (one.mean, one.wins, one.draws, one.moves) == (more.mean, more.wins, more.draws, more.moves)


def test_seeds_matter():
    assert playouts(ConnectFour(), games=300, seed=1).mean != playouts(ConnectFour(), games=300, seed=2).mean


def test_a_finished_position_is_its_result():
    won = parse_position(TicTacToe(), "moves:0,3,1,4,2")
    found = playouts(TicTacToe(), won, games=10)
    assert (found.mean, found.moves, found.wins) == (1.0, 0, 10)


def test_progress_counts_the_games():
    seen = []
    playouts(TicTacToe(), games=5000 if COMPILED else 600, show=seen.append)
    assert seen == sorted(seen)


def test_an_endless_game_is_an_error(tmp_path):
    endless = NIM.replace("s.pile - action - 1", "s.pile")
    game = make(str(write(tmp_path, "endless.py", endless)))
    with pytest.raises(GameError, match="did not end within 1000 moves"):
        playouts(game, games=1, max_moves=1000)


def test_no_games_is_an_error():
    with pytest.raises(ValueError, match="at least 1"):
        playouts(TicTacToe(), games=0)
