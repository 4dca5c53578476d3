"""Files of model checkers; the values were computed by Storm 2.0 (stormpy), to its precision of 1e-6."""

import pytest

from mdplay.errors import FormatError
from mdplay.planning import MDP, plan
from tests.helpers import write

TRANSITIONS = """mdp
0 0 0 1
1 0 0 0.7
1 0 2 0.3
1 1 0 0.3
1 1 1 0.1
1 1 2 0.6
2 0 1 0.7
2 0 3 0.3
2 1 1 0.3
2 1 2 0.1
2 1 3 0.6
3 0 3 1
"""
STATE_REWARDS = "1 1\n2 1\n"
TRANSITION_REWARDS = "1 1 0 0.5\n1 1 1 0.5\n1 1 2 0.5\n2 1 1 0.5\n2 1 2 0.5\n2 1 3 0.5\n"
DRN = """// a walk between two ends
@type: MDP
@value_type: double
@parameters

@reward_models
cost prize
@nr_states
4
@nr_choices
6
@model
state 0 [0, 0] low
	action __NOLABEL__ [0, 0]
		0 : 1
state 1 [1, 0] init
	action left [0, 0]
		0 : 7/10
		2 : 0.3
	action right [0.5, 0]
		0 : 0.3
		1 : 0.1
		2 : 0.6
state 2 [1, 0]
	action left [0, 0]
		1 : 0.7
		3 : 0.3
	action right [0.5, 2]
		1 : 0.3
		2 : 0.1
		3 : 0.6
state 3 [0, 0] goal
	action __NOLABEL__ [0, 0]
		3 : 1
"""
CHEAPEST = [0.0, 1.6455699081816075, 2.1518996939386916, 0.0]
DEAREST = [0.0, 4.37499996305516, 4.062499950266561, 0.0]
PRIZE = [0.0, 1.9047622977417777, 2.857143342459924, 0.0]


def prism(text, states, count):
    """The same lines as PRISM writes them: with the counts first."""
    return f"{states} {count} {len(text.splitlines())}\n" + text


@pytest.mark.parametrize("minimise, value", [(True, CHEAPEST), (False, DEAREST)])
@pytest.mark.parametrize("header", [False, True])
def test_explicit_files_have_the_values_of_storm(tmp_path, header, minimise, value):
    texts = [TRANSITIONS, STATE_REWARDS, TRANSITION_REWARDS]
    if header:
        texts = [prism(TRANSITIONS.removeprefix("mdp\n"), 4, 6), "4 2\n" + STATE_REWARDS, prism(texts[2], 4, 6)]
    files = [write(tmp_path, name, text) for name, text in zip(("m.tra", "m.srew", "m.trew"), texts, strict=True)]
    model = MDP.from_explicit(files[0], state_rewards=files[1], transition_rewards=files[2], minimise=minimise)
    assert plan(model).value == pytest.approx(value, abs=1e-5)
    assert model.terminal.tolist() == [True, False, False, True]


@pytest.mark.parametrize(
    "reward, minimise, value", [("cost", True, CHEAPEST), ("cost", False, DEAREST), ("prize", False, PRIZE)]
)
def test_a_drn_file_has_the_values_of_storm(tmp_path, reward, minimise, value):
    model = MDP.from_drn(write(tmp_path, "m.drn", DRN), reward=reward, minimise=minimise)
    assert plan(model).value == pytest.approx(value, abs=1e-5)


@pytest.mark.parametrize(
    "text, told",
    [
        (DRN, "line 7: there are several reward models; give reward= one of cost, prize"),
        (DRN.replace("MDP", "CTMC"), "line 2: the model is of the type CTMC"),
        (DRN.replace("0 : 1\n", "0 = 1\n").replace("cost prize", "cost"), "line 15: '0 = 1' is no state"),
        (DRN.replace("7/10", "7/0").replace("cost prize", "cost"), "line 18: '7/0' is not a number"),
        (DRN.replace("cost prize", "cost").replace("0 : 0.3", "9" * 5000 + " : 0.3"), "line 21: '999.* too large"),
        (DRN.replace("cost prize", "cost").replace("\n4\n", "\n4000000000\n"), "of 4,000,000,000 states"),
        ("nothing of the kind", "is it a DRN file"),
    ],
)
def test_a_fault_is_told_with_its_line(tmp_path, text, told):
    with pytest.raises(FormatError, match=told):
        MDP.from_drn(write(tmp_path, "m.drn", text))


@pytest.mark.parametrize(
    "line, told",
    [
        ("1 0 x 0.5", "'x' is not a whole number"),
        ("1 2", "'1 2' is not: state"),
        ("9" * 5000 + " 0 1 1", "'999.* too large"),
        ("4000000000 0 1 1", "of 4,000,000,001 states the transitions name 5"),
    ],
)
def test_a_line_that_is_no_transition_is_told(tmp_path, line, told):
    with pytest.raises(FormatError, match=told):
        MDP.from_explicit(write(tmp_path, "m.tra", TRANSITIONS + line))
