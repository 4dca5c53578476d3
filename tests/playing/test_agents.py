import re
import threading
from typing import ClassVar

import pytest

from mdplay import AgentError, LimitError, MdplayError, UnknownName, make, match, play, search
from mdplay.bits import lowest
from mdplay.playing.agents import (
    AGENTS,
    Agent,
    agent_maker,
    agent_names,
    choose,
    make_agent,
    named_agent,
    options_of,
)
from mdplay.rng import Random
from mdplay.searching.selectors import UCB1
from tests.helpers import write
from tests.naming.test_specs import SELECTOR
from tests.playing.players import FILE, Leftmost, named

GAME = make("tic-tac-toe")
START = GAME.initial()


def test_agents_by_name_by_file_and_with_options():
    assert {"random", "policy", "human"} <= set(agent_names())
    assert isinstance(make_agent(GAME, "random"), Agent)
    assert make_agent(GAME, named("Leftmost")).act(START, Random(0)) == 0
    assert make_agent(GAME, named("Leftmost:skip=2")).act(START, Random(0)) == 2
    assert make_agent(GAME, named("Leftmost:3")).act(START, Random(0)) == 3  # the first option needs no name


def test_every_registered_agent_can_be_imported():
    options = {name: [option.name for option in options_of(agent_maker(name, GAME))] for name in AGENTS}
    assert options["random"] == options["perfect"] == options["human"] == []
    assert options["policy"] == ["file"] and "simulations" in options["mcts"]


class Counting:
    """An agent that remembers its moves, and a game, which need not be copied."""

    firsts: ClassVar[list[int]] = []

    def __init__(self, game=None):
        self.game, self.moves = game or GAME, []

    def act(self, state, rng):
        if not self.moves or state == START:
            Counting.firsts.append(len(self.moves))
        self.moves.append(state)
        return lowest(self.game.legal(state))


@pytest.mark.parametrize("given", [Counting, Counting(GAME), lambda game: Counting(game)])
def test_every_game_has_a_new_agent_however_it_is_given(given):
    Counting.firsts.clear()
    match(GAME, given, given, games=6, openings="none")
    assert Counting.firsts == [0] * 12
    one = named_agent(GAME, given)
    assert one.fresh() is not one.fresh() and one.fresh().game is GAME
    assert one.name == ("<lambda>" if not hasattr(given, "act") else "Counting")


def test_an_agent_without_parameters_may_be_given_by_its_class():
    class Lowest:
        def act(self, state, rng):
            return lowest(GAME.legal(state))

    assert play(GAME, Lowest, Lowest).events[:2] == (0, 1)


def test_what_cannot_be_an_agent_or_be_copied_is_refused_with_a_sentence():
    agent = Leftmost(GAME)
    agent.lock = threading.Lock()
    with pytest.raises(AgentError, match="agent Leftmost cannot be copied for each game .*; give its class, or"):
        named_agent(GAME, agent).fresh()
    with pytest.raises(AgentError, match="7 is not an agent: it has no method act"):
        named_agent(GAME, 7)


def test_a_text_makes_a_fresh_agent():
    one = named_agent(GAME, named("Leftmost"))
    assert one.fresh() is not one.fresh()
    assert named_agent(GAME, Leftmost(GAME)).name == "Leftmost"


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("randm", "no agent 'randm'; did you mean 'random'?"),
        ("random:depth=3", "agent random:depth=3: no parameters here, not 'depth'"),
        ("policy", "agent policy needs file=..."),
        ("policy:nowhere.txt", "cannot read the policy nowhere.txt"),
        ("nowhere.py:Agent", "there is no file nowhere.py"),
        (str(FILE), "name the class of the agent, as in players.py:Class"),
        (named("Leftmoss"), "did you mean 'Leftmost'?"),
        (named("Leftmost:skip=two"), "skip=two is not a whole number"),
        (named("Leftmost:skap=2"), "no parameter 'skap'; did you mean 'skip'?"),
        (named("Unmade"), "cannot be made: OSError: no weights (players.py, line"),
        (named("NoAgent"), "has no method act(state, rng)"),
    ],
)
def test_what_is_no_agent_gets_a_sentence(text, sentence):
    with pytest.raises(MdplayError, match=re.escape(sentence)):
        make_agent(GAME, text)


@pytest.mark.parametrize(
    "cls, sentence",
    [
        ("Illegal", "returned 99 in 000000000; the legal actions are 0, 1, 2, 3, 4, 5, 6, 7, 8"),
        ("Wordy", "returned 'left' in 000000000"),
        ("Raising", "raised RuntimeError: out of ideas (players.py, line"),
    ],
)
def test_a_faulty_agent_is_named(cls, sentence):
    agent, rng = make_agent(GAME, named(cls)), Random(0)
    with pytest.raises(AgentError, match=re.escape(sentence)) as caught:
        for _ in range(100):
            choose(agent, "it", GAME, START, rng)
    assert caught.value.agent == "it"
    assert "\n" not in str(caught.value)


# ---------------------------------------------------------------- search


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
