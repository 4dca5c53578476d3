import re

import pytest

from mdplay import AgentError, MdplayError, make
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


def test_a_text_makes_a_fresh_agent_and_an_object_stays_itself():
    one = named_agent(GAME, named("Leftmost"))
    assert one.fresh() is not one.fresh()
    agent = Leftmost(GAME)
    assert named_agent(GAME, agent).fresh() is agent
    assert named_agent(GAME, agent).name == "Leftmost"


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
