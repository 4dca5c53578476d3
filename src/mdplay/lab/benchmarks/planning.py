"""Learning: episodes of 2048 and of any game, and bandits; beside the same in numpy where there is no library.

Planning: random models (Garnet, Archibald 1995) at discount 0.99, to a value error of 1e-6.

mdplay proves its bounds; quantecon and mdpsolver stop by their own rule.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mdplay.games.tic_tac_toe.rules import TicTacToe
from mdplay.games.twenty48.rules import Twenty48
from mdplay.lab.benchmarks.measuring import OURS, Group, Prepare, installed

if TYPE_CHECKING:
    from mdplay import MDP


ARMS, STEPS = (0.9, 0.8), 1_000
ROOM = 8.0  # by which the mean regret of random runs may differ


def twenty48_group(quick: bool) -> Group:
    """Return the group: episodes of 2048, by each method."""
    methods = {OURS: "td", "mdplay, before-states": "td-before", "mdplay, temporal coherence": "tc"}
    contenders = {
        name: lambda size, method=method: _episodes(Twenty48(), method, size) for name, method in methods.items()
    }
    sizes = (20, 40) if quick else (100, 300, 1_000)
    return Group("2048", "learn 2048 by an n-tuple network, 4 x 6", "episodes", sizes, contenders)


def learning_group(quick: bool) -> Group:
    """Return the group: episodes of a game without a learner of its own."""
    sizes = (50, 100) if quick else (1_000, 10_000, 30_000)
    contenders = {OURS: lambda size: _episodes(TicTacToe(), None, size)}
    return Group("learning", "learn Tic-Tac-Toe by the network for any game", "episodes", sizes, contenders)


def _episodes(game: Any, method: str | None, episodes: int) -> Callable[[], Any]:
    from mdplay.learning.learned import LearningRun
    from mdplay.learning.learners import learn_by

    def run() -> int:
        learn_by(game, LearningRun(method, episodes, seed=1))
        return episodes

    return run


def bandits_group(quick: bool) -> Group:
    """Return the group: runs of UCB1 on two arms; numpy lets all runs pull at once, step by step."""
    sizes = (20, 40) if quick else (100, 1_000, 10_000)
    title = f"runs of UCB1 on arms of {ARMS[0]} and {ARMS[1]}, {STEPS} steps"
    return Group(
        "bandits", title, "runs", sizes, {OURS: _runs, "numpy, all runs at once": _numpy_runs}, tolerance=ROOM
    )


def _runs(runs: int) -> Callable[[], Any]:
    from mdplay.bandits.laboratory import compare

    bandit = ",".join(map(str, ARMS))
    return lambda: float(compare(bandit, ("ucb1",), steps=STEPS, runs=runs, seed=1, threads=1)[0].regret[-1])


def _numpy_runs(runs: int) -> Callable[[], Any]:
    """Return UCB1 in numpy: the mean regret of all runs."""

    def run() -> float:
        rng, arms = np.random.default_rng(1), np.array(ARMS)
        pulls = np.ones((runs, len(arms)))
        wins = (rng.random((runs, len(arms))) < arms).astype(np.float64)
        rows = np.arange(runs)
        for step in range(len(arms), STEPS):
            chosen = np.argmax(wins / pulls + np.sqrt(2.0 * np.log(step) / pulls), axis=1)
            wins[rows, chosen] += rng.random(runs) < arms[chosen]
            pulls[rows, chosen] += 1
        return float((pulls @ (arms.max() - arms)).mean())

    return run


TOLERANCE = 1e-6
ACTIONS = BRANCHES = 10
SLOW = 10_000  # states that plain numpy and lists of lists can bear


def group(quick: bool) -> Group:
    """Return the group: states to plan."""
    contenders: dict[str, Prepare] = {
        OURS: lambda size: _ours(_model(size)),
        "numpy, value iteration": lambda size: _numpy(_model(size)),
    }
    peers = {"quantecon": quantecon_solver, "mdpsolver": mdpsolver_solver}
    for name, solver in peers.items():
        if installed(name):
            contenders[f"{name}, mpi"] = lambda size, solver=solver: solver(_model(size))  # type: ignore[misc]
    return Group(
        "mdp",
        f"plan a random MDP, {ACTIONS} actions, {BRANCHES} successors, discount 0.99",
        "states",
        (100, 200) if quick else (100, 1_000, 10_000, 100_000),
        contenders,
        tolerance=1e-4,
        missing=[name for name in peers if not installed(name)],
        limits={"numpy, value iteration": SLOW, "mdpsolver, mpi": SLOW},
    )


def _model(size: int) -> MDP:
    return garnet(size, ACTIONS, BRANCHES, 0.99)


def garnet(num_states: int, num_actions: int, branches: int, discount: float) -> MDP:
    """Return a random MDP; a choice leads to distinct states with random probabilities."""
    from mdplay import MDP

    rng = np.random.default_rng(0)
    size = num_states * num_actions
    target = np.sort(rng.integers(0, num_states - branches, (size, branches)), axis=1) + np.arange(branches)
    cuts = np.sort(rng.random((size, branches - 1)), axis=1)
    edges = np.hstack([np.zeros((size, 1)), cuts, np.ones((size, 1))])
    return MDP(
        first_choice=np.arange(0, size + 1, num_actions),
        action=np.tile(np.arange(num_actions), num_states),
        first_transition=np.arange(0, size * branches + 1, branches),
        target=target.ravel(),
        probability=np.diff(edges, axis=1).ravel(),
        reward=rng.random(size),
        discount=discount,
    )


def _ours(mdp: MDP) -> Callable[[], Any]:
    from mdplay import plan

    return lambda: plan(mdp, threads=1, tolerance=TOLERANCE).value


def _numpy(mdp: MDP) -> Callable[[], Any]:
    """Return value iteration over a sparse matrix, all states at once."""
    matrix, rewards = _matrix(mdp), np.asarray(mdp.reward)
    stop = TOLERANCE * (1 - mdp.discount)

    def solve() -> Any:
        values, change = np.zeros(mdp.num_states), np.inf
        while change > stop:
            better = (rewards + mdp.discount * (matrix @ values)).reshape(mdp.num_states, -1).max(axis=1)
            change, values = float(np.abs(better - values).max()), better
        return values

    return solve


def _matrix(mdp: MDP) -> Any:
    from scipy.sparse import csr_matrix

    pointers = mdp.first_transition.astype(np.int32)
    shape = (mdp.num_choices, mdp.num_states)
    return csr_matrix((mdp.probability, mdp.target.astype(np.int32), pointers), shape)


def quantecon_solver(mdp: MDP) -> Callable[[], Any]:
    """Return quantecon's modified policy iteration."""
    from quantecon.markov import DiscreteDP

    model = DiscreteDP(mdp.reward, _matrix(mdp), mdp.discount, mdp.owners(), mdp.action.astype(np.int64))
    options = {"method": "mpi", "epsilon": 2 * TOLERANCE, "max_iter": 100_000}
    return lambda: model.solve(**options).v


def mdpsolver_solver(mdp: MDP) -> Callable[[], Any]:
    """Return mdpsolver's modified policy iteration; its model is made anew: it would begin where it has ended."""
    import mdpsolver

    first, owner = mdp.first_transition.tolist(), mdp.owners()
    targets, weights, rewards = mdp.target.tolist(), mdp.probability.tolist(), mdp.reward.tolist()
    per_state: list[list[int]] = [[] for _ in range(mdp.num_states)]
    for choice, state in enumerate(owner.tolist()):
        per_state[state].append(choice)
    given = {
        "discount": mdp.discount,
        "rewards": [[rewards[k] for k in choices] for choices in per_state],
        "tranMatColumns": [[targets[first[k] : first[k + 1]] for k in choices] for choices in per_state],
        "tranMatProbs": [[weights[first[k] : first[k + 1]] for k in choices] for choices in per_state],
    }

    def solve() -> Any:
        model = mdpsolver.model()
        model.mdp(**given)
        model.solve(algorithm="mpi", tolerance=TOLERANCE, update="standard", parallel=False)
        return np.array(model.getValueVector())

    return solve
