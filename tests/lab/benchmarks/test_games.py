import pytest

from mdplay.games.connect_four.rules import ConnectFour
from mdplay.lab.benchmarks.games import (
    connect_four_group,
    exact_group,
    mcts_group,
    random_positions,
    with_peer,
)
from mdplay.lab.benchmarks.measuring import OURS, measure


def test_positions_repeat_and_are_open():
    game = ConnectFour()
    assert random_positions(3) == random_positions(5)[:3]
    assert all(game.legal(game.parse(moves)) for moves in random_positions(5))


def test_a_peer_that_is_not_installed_is_named():
    contenders = {}
    assert with_peer(contenders, "no-such-package-anywhere", "peer", lambda size: lambda: 0) == [
        "no-such-package-anywhere"
    ]
    assert with_peer(contenders, "numpy", "peer", lambda size: lambda: 0) == []
    assert list(contenders) == ["peer"]


@pytest.mark.parametrize(("group", "size"), [(mcts_group, 20), (exact_group, 6)])
def test_contenders_agree(group, size):
    found = measure(group(True), size, 1)
    assert len(found) >= 2 and found[0].contender == OURS
    assert all(m.agrees for m in found)


def test_scores_are_those_of_the_prover():
    group = connect_four_group(True)
    assert group.contenders[OURS](2)() == group.contenders[OURS](3)()[:2]
