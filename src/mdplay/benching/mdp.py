"""Planning: random models (Garnet, Archibald 1995) at discount 0.99, to a value error of 1e-6.

mdplay proves its bounds; quantecon and mdpsolver stop by their own rule.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mdplay.benching.measuring import OURS, Group, Prepare, installed

if TYPE_CHECKING:
    from mdplay.mdp.process import MDP

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
    from mdplay.mdp.process import MDP

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
    from mdplay.mdp.planning.planner import plan

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
