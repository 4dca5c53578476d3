import pytest

from mdplay import LimitError, UnknownName, make, search
from mdplay.searching.selectors import UCB1
from tests.helpers import write
from tests.test_specs import SELECTOR

GAME = make("tic-tac-toe")


def visits(result):
    return [(move.action, move.visits, move.value) for move in result.moves]


def test_a_spec_and_keywords_are_one_search():
    by_text = search(GAME, agent="mcts:simulations=200,selector=ucb1(c=1),expansion=all,solver=no", seed=3)
    by_keyword = search(GAME, simulations=200, selector=UCB1(1.0), expansion="all", solver=False, seed=3)
    assert visits(by_text) == visits(by_keyword) and by_text.simulations == 200
    assert visits(search(GAME, simulations=200, selector="ucb1(c=1)", expansion="all", solver=False, seed=3)) == (
        visits(by_text)
    )
    assert visits(search(GAME, simulations=200, seed=3)) != visits(by_text)
    assert search(GAME, agent="mcts:simulations=50", simulations=20, solver=False).simulations == 20


def test_depth_limited_search_by_keyword():
    game = make("connect-four:rows=4,cols=4")
    found, same = (
        search(game, **how) for how in ({"agent": "heuristic", "depth": 3}, {"agent": "heuristic:depth=3"})
    )
    assert found.depth == 3 and visits(found) == visits(same)


def test_a_selector_of_a_user_inside_the_spec_of_an_agent(tmp_path):
    file = write(tmp_path, "rule.py", SELECTOR)
    assert search(GAME, agent=f"mcts:selector={file}:Halving(c=2),simulations=20", solver=False).simulations == 20


@pytest.mark.parametrize(
    "options, error, sentence",
    [
        ({"simulations": 0}, LimitError, "simulations=0 must be at least 1"),
        ({"seconds": 0.0}, LimitError, "seconds=0.0 must be more than 0"),
        ({"agent": "random"}, UnknownName, "agent random does not search"),
        ({"agent": "heuristic", "simulations": 5}, UnknownName, "no parameter 'simulations'"),
        ({"agent": "random", "depth": 5}, UnknownName, "agent random: no parameters here, not 'depth'"),
        ({"selecter": "ucb1"}, UnknownName, "did you mean 'selector'?"),
    ],
)
def test_none_is_not_zero_and_faults_are_told(options, error, sentence):
    with pytest.raises(error, match=sentence):
        search(make("connect-four") if "heuristic" in str(options) else GAME, **options)
