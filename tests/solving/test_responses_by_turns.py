import numpy as np
import pytest

from mdplay.errors import FormatError
from mdplay.games.tic_tac_toe.rules import anti_tic_tac_toe
from mdplay.planning.formats.cs747 import write_policy
from mdplay.planning.mdp import Score
from mdplay.solving.responses import Response, first_response, played, responses
from mdplay.states.graph import explore


@pytest.fixture(scope="module")
def graph():
    return explore(anti_tic_tac_toe())


def random_start(graph, player, seed):
    rng = np.random.default_rng(seed)
    weights = rng.random(len(graph.target)) + 0.01
    return Response(player, weights / np.bincount(graph.owner, weights=weights)[graph.owner], None, None)


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_all_starts_of_anti_tic_tac_toe_end_in_the_same_pair(graph, player, seed):
    """Systems, section 2: it always converges; player 1 never wins at the fixed point."""
    start = Response(player, graph.uniform(), None, None) if seed is None else random_start(graph, player, seed)
    steps = list(responses(graph, start, Score(1, 0, 0)))
    assert len(steps) <= 13
    last = {step.player: step for step in steps}
    assert (last[0].value, last[1].value) == (0.0, 1.0)
    reference = {
        step.player: step for step in responses(graph, Response(0, graph.uniform(), None, None), Score(1, 0, 0))
    }
    for side in (0, 1):
        assert (last[side].weights == reference[side].weights).all()


def test_with_a_draw_worth_half_neither_side_gives_it_away(graph):
    """Misere Tic-Tac-Toe is a draw under perfect play."""
    steps = list(responses(graph, Response(0, graph.uniform(), None, None), Score(1, 0.5, 0)))
    assert {step.value for step in steps[-2:]} == {0.5}
    last = {step.player: step for step in steps}
    edges = played(graph, (last[0].weights, last[1].weights))
    assert len(edges) == 9
    assert graph.result[graph.target[edges[-1]]] == 0


def test_policies_there_and_back(graph, tmp_path):
    step = random_start(graph, 1, 3)
    write_policy(graph, step.player, step.weights, tmp_path / "p2.txt")
    again = first_response(graph, str(tmp_path / "p2.txt"), None)
    own = graph.kind[graph.owner] == 1
    assert again.player == 1
    assert (again.weights[own] == step.weights[own]).all()
    with pytest.raises(FormatError, match=r"p2.txt, line 1: a policy of player 2, not of player 1"):
        first_response(graph, str(tmp_path / "p2.txt"), 0)
