"""Exact values of the named tasks: the textbook's, Gymnasium's tables, and values computed by other ways."""

from math import sqrt

import numpy as np
import pytest

import mdplay
from mdplay import MDP, MdplayError, make_task
from mdplay.learning.reinforcement.library import TASKS
from mdplay.learning.reinforcement.results import state_values


def optimum(task):
    """Return the optimal value of the start."""
    values = mdplay.plan(task.mdp).value
    return sum(share * float(values[s]) for s, share in task.starts.items())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cliff", -13.0),  # Sutton and Barto, Example 6.6: the shortest path
        ("windy", -15.0),  # Example 6.5: "15 is the minimum"
        ("windy:moves=king", -7.0),  # Exercise 6.9
        ("maze", 0.95**13),  # Example 8.1: fourteen steps, the last one is rewarded
        ("bias", 0.0),  # Example 6.7
        ("corridor", -3.0),  # Example 13.1, for an agent that can tell the states apart
        ("gambler", 0.64),  # Example 4.3 starts with 50 here: see below
    ],
)
def test_published_optima(name, value):
    task = make_task(name)
    if name == "gambler":
        values = mdplay.plan(task.mdp).value
        assert [float(values[s]) for s in (25, 50, 75)] == pytest.approx([0.16, 0.4, 0.64], abs=1e-9)
    else:
        assert optimum(task) == pytest.approx(value, abs=1e-9)


def test_random_walk():
    values = state_values(make_task("walk"), "uniform")
    assert values[1:6] == pytest.approx([i / 6 for i in range(1, 6)])  # Example 6.2


@pytest.mark.parametrize(("right", "value"), [(2 - sqrt(2), -11.6569), (0.05, -82.1), (0.95, -44.2)])
def test_short_corridor(right, value):
    """Example 13.1: the best policy that cannot tell the states apart goes right with probability 0.59."""
    task = make_task("corridor")
    share = np.tile([1 - right, right], 3)
    assert state_values(task, share)[0] == pytest.approx(value, abs=0.06)


def test_blackjack():
    """Example 5.4: a usable ace, sum 13, dealer 2, sticking on 20 and 21: about -0.27726."""
    task = make_task("blackjack")
    policy = [0 if s // 20 + 12 >= 20 else 1 for s in range(200)] + [-1] * 3
    assert state_values(task, policy)[(1 * 2 + 1) * 10 + 1] == pytest.approx(-0.27726, abs=1e-4)
    assert optimum(task) == pytest.approx(-0.046556, abs=1e-6)


def test_long_walk_visits():
    """Figure 9.1 shows the share of visits: about 1.37 % in the groups of the centre, 0.0147 % at the ends."""
    task = make_task("long-walk")
    chain = task.chain("uniform").mdp
    size = chain.num_states
    matrix = np.zeros((size, size))
    rows = np.repeat(chain.owners(), np.diff(chain.first_transition.astype(int)))
    np.add.at(matrix, (rows, chain.target.astype(int)), chain.probability)
    alive = ~chain.terminal
    start = np.zeros(size)
    for s, share in task.starts.items():
        start[s] = share
    visits = np.linalg.solve((np.eye(size) - matrix)[np.ix_(alive, alive)].T, start[alive])
    share = visits / visits.sum()
    assert share.max() == pytest.approx(0.013692, abs=2e-6)
    assert share[0] == pytest.approx(0.00014713, abs=2e-8)


def gymnasium_rows(table):
    """Return {(state, action): {(target, reward, terminal): probability}}, as Gymnasium tells it."""
    found = {}
    for s, actions in table.items():
        for a, outcomes in actions.items():
            row = found.setdefault((s, a), {})
            for p, t, reward, ended in outcomes:
                row[t, float(reward), bool(ended)] = row.get((t, float(reward), bool(ended)), 0.0) + p
    return found


def test_frozen_lake_is_gymnasiums():
    lake = pytest.importorskip("gymnasium.envs.toy_text.frozen_lake")
    task = make_task("frozen-lake:size=8")
    order = [3, 2, 1, 0]  # ours: up, right, down, left; Gymnasium's: left, down, right, up
    for (s, a), row in gymnasium_rows(lake.FrozenLakeEnv(map_name="8x8", is_slippery=True).P).items():
        if not task.mdp.terminal[s]:
            k = int(task.mdp.first_choice[s]) + order.index(a)
            begin, end = (int(i) for i in task.mdp.first_transition[k : k + 2])
            ours = {int(task.mdp.target[j]): float(task.mdp.probability[j]) for j in range(begin, end)}
            theirs = {}
            for (t, reward, _), p in row.items():
                theirs[t] = theirs.get(t, 0.0) + p
                assert reward == float(t == 63)
            assert ours == pytest.approx(theirs)


def test_taxi_is_gymnasiums():
    taxi = pytest.importorskip("gymnasium.envs.toy_text.taxi")
    task = make_task("taxi")
    for (s, a), row in gymnasium_rows(taxi.TaxiEnv().P).items():
        ((target, reward, ended),) = row
        if task.mdp.terminal[s]:
            continue
        k = int(task.mdp.first_choice[s]) + a
        j = int(task.mdp.first_transition[k])
        assert float(task.mdp.reward[k]) == reward
        assert bool(task.mdp.terminal[int(task.mdp.target[j])]) == ended
        if not ended:
            assert int(task.mdp.target[j]) == target


def test_games_are_tasks():
    """Tic-tac-toe against a random opponent is won or drawn: 191/192; 2048 on a board of 2 x 2, as solved."""
    task = make_task("tic-tac-toe", opponent="uniform")
    assert optimum(task) == pytest.approx(191 / 192, abs=1e-12)
    assert optimum(make_task("2048:rows=2,cols=2")) == pytest.approx(66.9641494571, abs=1e-9)
    pig = make_task("pig:goal=10", opponent="uniform")
    theirs = mdplay.plan(MDP.from_game(mdplay.make("pig:goal=10"), opponent="uniform")).value
    assert optimum(pig) == pytest.approx(float(theirs[next(iter(pig.starts))]), abs=1e-9)


@pytest.mark.parametrize("name", [name for name in TASKS if name not in ("car-rental", "long-walk", "gambler")])
def test_every_task_is_learned(name):
    how = {"steps": 200} if name in ("access-control", "blocking-maze", "shortcut-maze") else {"episodes": 5}
    curve = mdplay.learn(make_task(name), method="sarsa", runs=2, max_steps=500, **how)[0]
    assert np.isfinite(curve.reward).all()


def test_unknown_tasks(tmp_path):
    with pytest.raises(MdplayError, match="did you mean 'cliff'"):
        make_task("clif")
    with pytest.raises(MdplayError, match="there is no file lake.txt"):
        make_task("lake.txt")
    (tmp_path / "two.py").write_text("x = 1\n")
    with pytest.raises(MdplayError, match="has no single task or game"):
        make_task(str(tmp_path / "two.py"))
