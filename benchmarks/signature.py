"""Print counts that must not change under a refactoring, one line each.

    python benchmarks/signature.py            compare with signature.txt (exit code 1 if they differ)
    python benchmarks/signature.py --write    write signature.txt anew; say why in the commit

The same lines come out compiled and with NUMBA_DISABLE_JIT=1: the tests run both.
"""

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mdplay import MDP, make, mcts, perft, plan, playouts, prove, solve
from mdplay.games.twenty48.training import TilesTraining, TrainingSettings
from mdplay.learning.cell_counting import learn_utilities
from mdplay.searching.depth_limited import depth_limited

FILE = Path(__file__).with_suffix(".txt")
PLAYOUTS = [
    "2048",
    "2048:rows=2,cols=3",
    "anti-tic-tac-toe",
    "connect-four",
    "connect-four:rows=4,cols=5",
    "dots-and-boxes",
    "dots-and-boxes:rows=3,cols=3",
    "qubic",
    "tic-tac-toe",
    "breakthrough",  # masks of three words
    "mu-torere",  # cycles
    "pig:goal=10",  # cycles and chance
]
PERFT = [
    ("2048", 3, False),
    ("2048:rows=2,cols=2", 6, True),
    ("connect-four", 5, True),
    ("dots-and-boxes", 4, True),
    ("qubic", 2, False),
    ("tic-tac-toe", 9, True),
    ("breakthrough", 2, True),
    ("sliding-puzzle:rows=2,cols=3", 8, False),
]
MCTS = [("connect-four", 300), ("dots-and-boxes", 300), ("2048:rows=2,cols=3", 200), ("tic-tac-toe", 300)]
MCTS += [("breakthrough", 50), ("mu-torere", 100), ("pig:goal=10", 100)]
DEPTH = [("connect-four", 4), ("dots-and-boxes", 3), ("2048:rows=2,cols=3", 2)]
SOLVE = [
    ("tic-tac-toe", "hashed"),
    ("dots-and-boxes:rows=1,cols=2", "hashed"),
    ("dots-and-boxes:rows=1,cols=2", "indexed"),
    ("dots-and-boxes", "subset"),
    ("2048:rows=2,cols=2", "hashed"),
]
ARRAYS = [
    ("mu-torere", "retrograde"),
    ("sliding-puzzle:rows=2,cols=3", "retrograde"),
    ("pig:goal=5", "value-iteration"),
]
PLAN = ["vi", "hpi", "mpi"]


def digest(*arrays: Any) -> str:
    """Return a short hash of the bits of arrays."""
    total = hashlib.sha256()
    for array in arrays:
        total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()[:16]


def lines() -> Iterator[str]:
    """Yield the lines of the signature."""
    yield from counted()
    yield from searched()
    yield from solved()
    yield from learned()


def searched() -> Iterator[str]:
    """Yield what tree search and depth-limited search visit."""
    for name, simulations in MCTS:
        for expansion in ("one", "all"):
            game = make(name)
            if expansion == "all" and game.has_reward:
                continue
            found = mcts(game, _first(game), simulations=simulations, expansion=expansion, seed=1, threads=1)
            yield f"mcts {name} expansion={expansion}: {found.nodes} {' '.join(str(move.visits) for move in found.moves)}"
    for name, depth in DEPTH:
        game = make(name)
        deep = depth_limited(game, _first(game), depth=depth)
        yield f"depth {name}: {deep.nodes} {deep.value:.9g} {' '.join(deep.line)}"


def _first(game: Any) -> Any:
    """Return the first position in which a player moves."""
    state = game.initial()
    while game.outcomes(state):
        state = game.outcome(state, (game.outcomes(state) & -game.outcomes(state)).bit_length() - 1)
    return state


def solved() -> Iterator[str]:
    """Yield what tables hold, what a proof visits and how often the planner sweeps."""
    for name, method in SOLVE:
        solution = solve(make(name), method=method)
        yield f"solve {name} {method}: {solution.states} {solution.value():.12g}"
    for name, method in ARRAYS:
        solution = solve(make(name), method=method)
        arrays = solution.arrays()
        yield f"solve {name} {method}: {solution.states} {digest(*(arrays[key] for key in sorted(arrays)))}"
    response = solve(make("dots-and-boxes:rows=1,cols=2"), opponent="uniform", method="policy-iteration")
    yield f"solve dots-and-boxes:rows=1,cols=2 uniform: {response.states} {response.value():.12g}"
    proof = prove(make("connect-four:rows=4,cols=4"), threads=1)
    yield f"prove connect-four:rows=4,cols=4: {proof.low} {proof.high} {proof.nodes}"
    model = garnet(60, 3, 4)
    for method in PLAN:
        found = plan(model, method=method, threads=1)
        yield f"plan {method}: {found.iterations} {found.value.sum():.9g} {digest(found.action.astype(np.int64))}"


def garnet(num_states: int, num_actions: int, branches: int) -> MDP:
    """Return a random MDP whose numbers are exact in binary, so that all ways of adding them agree."""
    rng = np.random.default_rng(1)
    size = num_states * num_actions
    target = np.sort(rng.integers(0, num_states - branches, (size, branches)), axis=1) + np.arange(branches)
    return MDP(
        first_choice=np.arange(0, size + 1, num_actions),
        action=np.tile(np.arange(num_actions), num_states),
        first_transition=np.arange(0, size * branches + 1, branches),
        target=target.ravel(),
        probability=np.full(size * branches, 1 / branches),
        reward=rng.integers(0, 1024, size) / 1024,
        discount=0.875,
    )


def learned() -> Iterator[str]:
    """Yield the bits of what was learned."""
    for method in ("td", "tc", "td-before"):
        settings = TrainingSettings(method=method, network="0123,14", rows=2, cols=3, seed=1)
        training = TilesTraining.begin(settings)
        training.run(5, 1, 5)
        yield f"learn 2048 {method}: {digest(training.network.weights, training.scores)}"
    for explore in ("annealed", "always"):
        points = learn_utilities(make("qubic"), episodes=20, explore=explore, seed=1)
        yield f"learn qubic {explore}: {digest(points.wins, points.games)}"


def counted() -> Iterator[str]:
    """Yield counts of random games, paths and positions."""
    for name in PLAYOUTS:
        found = playouts(make(name), games=20, seed=1, threads=2)
        yield f"playouts {name}: {found.mean:.6f} {found.wins} {found.draws} {found.losses} {found.moves} {found.longest}"
    for name, depth, symmetry in PERFT:
        plies = perft(make(name), depth=depth, by_symmetry=symmetry)
        yield f"perft {name}: " + " ".join(f"{ply.paths}/{ply.positions}" for ply in plies)


def main() -> int:
    """Compare or write the signature."""
    now = "".join(f"{line}\n" for line in lines())
    if "--write" in sys.argv:
        FILE.write_text(now)
        return 0
    print(now, end="")
    return int(now != FILE.read_text())


if __name__ == "__main__":
    sys.exit(main())
