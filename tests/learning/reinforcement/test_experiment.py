"""Experiments: threads and plain Python change nothing, methods converge, and errors are sentences."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import mdplay
from mdplay import MDP, MdplayError, Task
from mdplay.learning.reinforcement import experiment, learn_task
from mdplay.learning.reinforcement.results import state_values

SMALL = {"runs": 2, "threads": 1, "episodes": 30}


def chain(discount=1.0, size=3):
    """Return states 0 .. size - 1 that lead to the next one, each step earning 1."""
    s = np.arange(size)
    ones = np.ones(size)
    return MDP.from_transitions(
        s, s * 0, s + 1, ones, ones, num_states=size + 1, discount=discount, keep_rewards=True
    )


def walk():
    """Return the walk of five states between two terminal ones, with the choice of the direction."""
    rows = [(s, a, s + (1 if a else -1), float(s == 5 and a == 1), 1.0) for s in range(1, 6) for a in (0, 1)]
    return MDP.from_transitions(*map(np.array, zip(*rows, strict=True)), num_states=7, discount=1.0)


WALK = Task(walk(), 3)


@pytest.mark.parametrize("method", ["q", "mc", "sweeping", "reinforce"])
def test_threads_change_nothing(method):
    one, two = (learn_task(WALK, method, runs=20, episodes=20, threads=threads)[0] for threads in (1, 2))
    assert np.array_equal(one.tables, two.tables)
    assert np.array_equal(one.reward, two.reward)
    assert np.array_equal(one.greedy, two.greedy, equal_nan=True)


PROGRAM = """
import json
import numpy as np
from dataclasses import replace
from mdplay import learn, make_task
from mdplay.learning.reinforcement import METHODS, make_method
maze, found = make_task("maze"), []
pairs = [[s // 2, 30 + s // 3] for s in range(maze.mdp.num_states)]
tiles = replace(maze, features=np.array(pairs, np.int32))
more = ["sarsa(n=3)", "expected-sarsa(lambda=0.8)",
        "sarsa(lambda=0.8,traces=true-online)", "q(lambda=0.8)",
        "sarsa(lambda=0.8,traces=replacing)", "tree-backup(n=3)",
        "reinforce(baseline=true)", "q(selector=softmax)",
        "q(selector=ucb1)", "q(alpha=n^-0.8)", "sarsa"]
for k, name in enumerate([*METHODS, *more][PART::3]):
    how = {"runs": 2, "episodes": 4, "max_steps": 300, "threads": 1}
    if make_method(name).predicts:
        how["policy"] = "uniform"
    if name.startswith("off-policy") or name == "tdc":
        how["behaviour"] = "uniform"
    task = tiles if name == "sarsa" and found else maze
    if name == "differential-sarsa":
        task, how = make_task("access-control"), {"runs": 2, "steps": 300, "threads": 1}
    one = learn(task, method=name, **how)[0]
    found.append([name, one.tables.tolist(), one.reward.tolist(), one.length.tolist()])
print(json.dumps(found))
"""


@pytest.mark.parametrize("part", range(3))
def test_plain_python_agrees_with_compiled(part):
    def run(**env):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM.replace("PART", str(part))],
            env={**os.environ, **env},
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)

    plain, compiled = run(NUMBA_DISABLE_JIT="1"), run()
    for one, other in zip(plain, compiled, strict=True):
        assert one == other, one[0]


@pytest.mark.parametrize(
    "method", ["td(alpha=n^-0.7)", "td(lambda=0.9,alpha=0.01)", "mc-prediction", "td(n=4,alpha=0.02)"]
)
def test_prediction_converges(method):
    truth = state_values(WALK, "uniform")
    curve = learn_task(WALK, method, policy="uniform", runs=20, episodes=4000)[0]
    assert np.mean([curve.values(run) for run in range(20)], axis=0) == pytest.approx(truth, abs=0.03)
    assert curve.error[-1] < 0.2 * curve.error[0] + 0.02


@pytest.mark.parametrize("method", ["q", "double-q", "expected-sarsa", "dyna-q", "q(lambda=0.5)", "sweeping"])
def test_control_converges(method):
    curve = mdplay.learn(mdplay.make_task("maze"), method=method, alpha=0.5, epsilon=0.5, runs=10, episodes=2000)[
        0
    ]
    assert curve.greedy[-1] == pytest.approx(curve.optimum, rel=0.03)
    assert curve.never[-1] == 0.0
    policy = mdplay.evaluate_policy(curve.task.mdp, curve.policy()).value
    assert float(policy[next(iter(curve.task.starts))]) > 0.9 * curve.optimum


def test_the_cliff_separates_q_from_sarsa():
    """Sutton and Barto, Example 6.6: Q-learning learns the shortest path and falls more often while it learns."""
    q, sarsa = mdplay.learn(mdplay.make_task("cliff"), method="q,sarsa", alpha=0.5, episodes=500, runs=100)
    assert q.greedy[-1] == -13.0
    assert sarsa.greedy[-1] < -15.0
    assert q.reward[-100:].mean() < -40.0 < -30.0 < sarsa.reward[-100:].mean()


# ---------------------------------------------------------------- what a curve holds
def test_tables_of_every_method():
    assert learn_task(WALK, "double-q", alpha=0.5, **SMALL)[0].tables.any()
    gradient = learn_task(WALK, "reinforce", alpha=0.5, **SMALL)[0]
    assert gradient.tables.any()
    assert len(gradient.policy()) == 7
    with pytest.raises(MdplayError, match="reinforce learns preferences; values"):
        gradient.values()
    with pytest.raises(MdplayError, match="td learns state values; policy"):
        learn_task(WALK, "td", policy="uniform", **SMALL)[0].policy()
    with pytest.raises(MdplayError, match="finite number of states"):
        mdplay.learn(mdplay.make_task("mountain-car"), method="sarsa", episodes=1, runs=1)[0].policy()


def test_off_policy_values_are_those_of_states():
    rows = [[0, 0, 1, 1, 2, 2], [0, 1] * 3, [1, 1, 2, 2, 3, 3], [-1.0] * 6, [1.0] * 6]
    task = Task(MDP.from_transitions(*rows, num_states=4, discount=1.0), 0)
    curve = learn_task(task, "off-policy-mc", policy="uniform", behaviour="uniform", **SMALL)[0]
    assert curve.values() == [-3.0, -2.0, -1.0, 0.0]


def test_rewards_are_not_discounted():
    for method in ("q", "mc"):
        assert learn_task(Task(chain(0.9), 0), method, runs=1, episodes=1)[0].reward.tolist() == [3.0]


def test_points_by_steps_include_the_last():
    curve = learn_task(Task(chain(), 0), "q", runs=2, steps=7, points=4)[0]
    assert curve.at.tolist() == [2, 4, 6, 7]
    assert curve.reward.tolist() == [2.0, 4.0, 6.0, 7.0]
    assert curve.reward_error.tolist() == [0.0] * 4


def test_the_judge_uses_the_epsilon_of_the_step():
    curve = learn_task(WALK, "q", epsilon="1/step", alpha=0.5, runs=2, episodes=300)[0]
    assert curve.followed[-1] == pytest.approx(curve.greedy[-1], abs=0.01)
    assert curve.followed[-1] < curve.greedy[-1]


def test_some_episodes_may_start_at_their_end():
    curve = learn_task(Task(walk(), {0: 0.5, 3: 0.5}), "q,mc", runs=1, episodes=200, points=200)
    for one in curve:
        assert 0.3 < (one.length == 0).mean() < 0.7
        assert (one.length[one.length > 0] >= 3).all()


def test_starts_without_probability_are_not_reached():
    task = Task(MDP.from_transitions([0, 1], [0, 0], [2, 1], [1.0, 0.0], [1.0, 1.0], num_states=3, discount=1.0),
                {0: 1.0, 1: 0.0})  # fmt: skip
    assert learn_task(task, "q", **SMALL)[0].never[-1] == 0.0


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("td", {"policy": "uniform", "lambda_": 1.0, "alpha": 1.5}),
        ("mc", {"alpha": 3}),
        ("sweeping", {"alpha": 4}),
    ],
)
def test_divergence_is_reported(method, options):
    curve = learn_task(WALK, method, runs=2, episodes=2000, threads=1, **options)[0]
    assert curve.diverged > 0.0
    assert curve.diverged_at is not None
    assert "use a smaller alpha" in curve.notes()[0]


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("q(alpha=fast)", {}, "alpha=fast is neither a number nor a schedule"),
        ("q", {"epsilon": "1/n"}, "epsilon=1/n counts visits of pairs; use 1/episode or 1/step"),
        ("q", {"epsilon": 2}, "must not exceed 1"),
        ("q", {"selector": "softmax", "epsilon": 0}, "temperature of softmax"),
        ("sarsa(n=3,lambda=0.5)", {}, "n and lambda exclude each other"),
        ("expected-sarsa", {"selector": "ucb1"}, "needs the probabilities of actions"),
        ("td", {}, "estimates the value of a policy"),
        ("q", {"policy": "uniform"}, "learns a policy of its own"),
        ("q", {"speed": 3}, "no option 'speed'"),
        ("qq", {}, "did you mean 'q'"),
        ("off-policy-mc", {"policy": "uniform"}, "name it with behaviour="),
        ("tdc", {"policy": "uniform"}, "name it with behaviour="),
        ("q", {"behaviour": "uniform"}, "behaviour has no effect in q; use off-policy-mc, off-policy-td or tdc"),
        ("tdc", {"policy": "uniform", "behaviour": "uniform", "alpha": "1/n"}, "linear values have none"),
        ("off-policy-td", {"policy": "uniform", "behaviour": [0] * 7}, "must take every action"),
        ("off-policy-mc", {"policy": "uniform", "alpha": 0.1}, "has no step size"),
        ("off-policy-mc", {"policy": "uniform", "exploring_starts": True}, "exclude each other"),
        ("differential-sarsa", {"start": "discounted"}, "average reward, which has no discount"),
    ],
)
def test_errors_are_sentences(method, options, message):
    task = WALK
    if options.pop("start", None):
        task = Task(chain(0.9), 0)
    with pytest.raises(MdplayError, match=message):
        learn_task(task, method, **SMALL, **options)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ("abc", "neither a state nor probabilities"),
        (1.5, "neither a state nor probabilities"),
        (99, "is not one of 7 states"),
        ({3: -1.0}, "is not one of 7 states"),
        ({3: 0.0}, "no state of positive probability"),
        (0, "every episode starts in a terminal state"),
    ],
)
def test_starts(start, message):
    with pytest.raises(MdplayError, match=message):
        Task(walk(), start)


def test_an_episode_that_never_ends_is_reported():
    walled = mdplay.learning.reinforcement.library.grid_task("S#G")
    curve = learn_task(walled, "mc", runs=2, episodes=3, max_steps=50)[0]
    assert "every episode was truncated after max_steps; check that a terminal state" in curve.notes()[0]


@pytest.mark.parametrize("verb", [mdplay.plan, lambda task: mdplay.evaluate_policy(task, [0])])
@pytest.mark.parametrize("name", ["cliff", "mountain-car"])
def test_exact_methods_name_what_they_need(verb, name):
    with pytest.raises(MdplayError, match="needs an MDP, not .*; that of a Task is task.mdp"):
        verb(mdplay.make_task(name))


def test_baird_diverges_off_policy_and_says_what_to_do():
    """Sutton and Barto, Figures 11.2 and 11.5."""
    task, behaviour = mdplay.make_task("baird"), np.tile([6 / 7, 1 / 7], 7)
    how = {"policy": [1] * 7, "behaviour": behaviour, "runs": 5, "points": 5}
    curve = learn_task(task, "off-policy-td(alpha=0.01)", episodes=2000, max_steps=100, **how)[0]
    assert curve.diverged == 1.0
    assert "off policy, every alpha may diverge; use tdc" in curve.notes()[0]
    stays = learn_task(task, "tdc(alpha=0.005)", episodes=100, max_steps=10, **how)[0]
    assert stays.diverged == 0.0
    assert stays.error[-1] == pytest.approx(2.0, abs=0.3)  # the figure levels off near 2


def test_ctrl_c_returns_the_methods_that_have_finished(monkeypatch):
    real, asked = experiment._learned, []

    def interrupted(task, method, *rest):
        asked.append(method.name)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return real(task, method, *rest)

    monkeypatch.setattr(experiment, "_learned", interrupted)
    found = learn_task(mdplay.make_task("cliff"), method="q,sarsa,expected-sarsa", runs=2, episodes=20)
    assert [curve.name for curve in found] == ["q"] and found.unfinished == ("sarsa", "expected-sarsa")
    assert "interrupted: sarsa, expected-sarsa did not finish" in found.text()
    asked[:] = ["the next one is interrupted"]
    with pytest.raises(KeyboardInterrupt):
        learn_task(mdplay.make_task("cliff"), method="q,sarsa", runs=2, episodes=20)
