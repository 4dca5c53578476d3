from mdplay.games.qubic.rules import Qubic
from mdplay.lab.reproduction.qubic import LINES, TIE_GAME, Trials, result
from mdplay.learning.cell_counting import learn_utilities


def test_the_lines():
    assert len(LINES) == len(set(map(frozenset, LINES))) == 76
    assert sum(len(line) for line in LINES) == 4 * 76


def test_results():
    board = [0] * 64
    board[:3] = [1, 1, 1]
    assert result(board, 2) == 0
    board[3] = 1
    assert result(board, 3) == 1
    assert result([-mark for mark in board], 3) == -1
    assert result([-1] * 63 + [1], 63) == TIE_GAME, "the last point of a full board completes nothing"


def test_the_package_counts_the_same():
    trials = Trials(60, seed=5)
    trials.run()
    learned = learn_utilities(Qubic(), episodes=60, seed=5)
    assert learned.wins.tolist() == trials.wins
    assert learned.games.tolist() == trials.games
    assert learned.utilities.tolist() == [trials.utility(point) for point in range(64)]
