import numpy as np
import pytest

from mdplay.compiling import native, word, words
from mdplay.errors import GameError, LimitError
from mdplay.games.connect_four.rules import ConnectFour
from mdplay.games.tic_tac_toe.rules import TicTacToe, anti_tic_tac_toe
from mdplay.games.twenty48.rules import Twenty48
from mdplay.naming.notation import parse_position
from mdplay.naming.registry import make
from mdplay.runtime.threads import WorkSlice
from mdplay.searching import playouts as module
from mdplay.searching.playouts import play_chunks, playouts
from tests.helpers import COMPILED, NIM, write
from tests.searching.games import DRAW, RESULT, REWARD, Endless, EndlessChance, Faulty, breaking


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
    playouts(TicTacToe(), games=5000 if COMPILED else 600, progress=seen.append)
    assert seen == sorted(seen)


def test_games_that_come_back_to_positions_are_drawn_by_the_limit(tmp_path):
    endless = NIM.replace("s.pile - action - 1", "s.pile")
    game = make(str(write(tmp_path, "endless.py", endless)))
    found = playouts(game, games=3, max_moves=1000)
    assert (found.draws, found.by_limit, found.longest, found.max_moves) == (3, 3, 1000, 1000)
    worth = endless.replace("    def initial", "    endless = -1\n\n    def initial")
    found = playouts(make(str(write(tmp_path, "worth.py", worth))), games=3, max_moves=100)
    assert (found.losses, found.by_limit, found.mean) == (3, 3, -1.0)
    assert playouts(game, games=2).max_moves == 5000  # ten times the 500 moves at which a sample is cut


def test_a_game_that_goes_on_and_on_is_an_error(needs_compiler):
    with pytest.raises(GameError, match="did not end within 1,000,000 moves"):
        playouts(Endless(around=1 << 40), games=1)


@pytest.mark.parametrize(
    ("broken", "words"), [(RESULT, "a result"), (REWARD, "reward"), (DRAW, "draw gave an outcome")]
)
def test_a_promise_broken_late_is_named(broken, words, monkeypatch):
    monkeypatch.setattr(module, "spot_check", lambda game, state: None)  # the sample would have found it
    assert playouts(Faulty(), games=20).mean == 1.0
    with pytest.raises(GameError, match=words):
        playouts(Faulty(), breaking(broken), games=20)


@pytest.mark.parametrize("game", [Endless(), EndlessChance()], ids=["moves", "chance"])
def test_an_endless_game_can_be_stopped(game):
    stop, progress, rows = np.ones(1, np.uint8), np.zeros(1, np.int64), np.zeros((1, module.COLUMNS))
    start = words(game.step(game.initial(), 0))
    play_chunks(native(game), start, word(0), 1, 10**15, WorkSlice(0, 1, stop, progress), rows)
    assert (rows[0, module.BROKEN], progress[0]) == (module.STOPPED, 0)


def test_no_games_is_an_error():
    with pytest.raises(LimitError, match="games=0 must be at least 1"):
        playouts(TicTacToe(), games=0)
