import pytest

from mdplay.games.tic_tac_toe.rules import TicTacToe
from mdplay.lab.benchmarks.measuring import OURS, measure
from mdplay.lab.benchmarks.planning import _episodes, bandits_group, learning_group, twenty48_group


def test_numpy_and_the_laboratory_have_the_same_regret():
    found = measure(bandits_group(True), 60, 1)
    assert [m.contender for m in found] == [OURS, "numpy, all runs at once"]
    assert all(m.agrees for m in found)


def test_episodes_are_learned():
    assert _episodes(TicTacToe(), None, 3)() == 3


@pytest.mark.parametrize("group", [learning_group, twenty48_group])
def test_groups_grow(group):
    for quick in (True, False):
        sizes = list(group(quick).sizes)
        assert sizes == sorted(set(sizes)) and len(sizes) > 1
        assert OURS in group(quick).contenders
