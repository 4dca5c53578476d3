"""Games: tree search, exact scores of Connect Four, exact solutions; OpenSpiel and others beside.

Environments: steps of random play in Connect Four, ours beside those of other libraries.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from mdplay.games.connect_four.rules import ConnectFour, State
from mdplay.games.tic_tac_toe.rules import TicTacToe
from mdplay.lab.benchmarks.measuring import OURS, Group, Prepare, installed
from mdplay.rng import Random

SPIEL = "open_spiel"
DISCS = 20  # of the positions that are scored


def with_peer(contenders: dict[str, Prepare], distribution: str, name: str, make: Prepare) -> list[str]:
    """Add a peer if it is installed; return the names of those that are not."""
    if not installed(distribution):
        return [distribution]
    contenders[name] = make
    return []


# ---------------------------------------------------------------- tree search
def mcts_group(quick: bool) -> Group:
    """Return the group: simulations from the empty board of Connect Four, one rollout each."""
    contenders: dict[str, Prepare] = {OURS: _mcts}
    missing = with_peer(contenders, SPIEL, "OpenSpiel, C++ MCTSBot", spiel_mcts)
    sizes = (100, 300) if quick else (1_000, 10_000, 100_000)
    title = "simulations of tree search, Connect Four, one rollout each"
    return Group("mcts", title, "simulations", sizes, contenders, missing=missing)


def _mcts(simulations: int) -> Callable[[], Any]:
    from mdplay import mcts

    return lambda: mcts(ConnectFour(), simulations=simulations, solver=False).simulations


def spiel_mcts(simulations: int, name: str = "connect_four") -> Callable[[], Any]:
    """Return a search by OpenSpiel's bot; its solver is off, which is quicker."""
    import pyspiel

    game = pyspiel.load_game(name)
    bot = pyspiel.MCTSBot(game, pyspiel.RandomRolloutEvaluator(1, 1), 2.0, simulations, 1000, False, 1, False)
    return lambda: bot.mcts_search(game.new_initial_state()).explore_count


# ---------------------------------------------------------------- exact scores
def connect_four_group(quick: bool) -> Group:
    """Return the group: positions scored exactly, a call each, tables cleared before."""
    contenders: dict[str, Prepare] = {OURS: _scores}
    missing = with_peer(contenders, "bitbully", "BitBully, C++", _bitbully)
    sizes = (5, 10) if quick else (50, 200, 800)
    title = f"exact scores of Connect Four, {DISCS} discs; tables cleared first (BitBully's has 96 MB)"
    return Group("connect-four", title, "positions", sizes, contenders, missing=missing)


def random_positions(count: int) -> list[str]:
    """Return the columns of random games that are still open after ``discs`` discs."""
    game, rng, found = ConnectFour(), Random(DISCS), list[str]()
    while len(found) < count:
        s, moves = game.initial(), ""
        while len(moves) < DISCS and game.legal(s):
            column = rng.pick(game.legal(s))
            moves, s = moves + str(column + 1), game.step(s, column)
        if game.legal(s):
            found.append(moves)
    return found


def _scores(count: int) -> Callable[[], Any]:
    from mdplay import Prover

    game = ConnectFour()
    prover = Prover(game, memory=1 << 26)
    states: list[State] = [game.parse(moves) for moves in random_positions(count)]

    def score_all() -> list[int]:
        prover.forget()
        return [prover.score(state) for state in states]

    return score_all


def _bitbully(count: int) -> Callable[[], Any]:
    from bitbully import bitbully_core as core

    solver, boards = core.BitBullyCore(), []
    for moves in random_positions(count):
        board = core.BoardCore()
        board.setBoard([int(move) - 1 for move in moves])
        boards.append(board)

    def score_all() -> list[int]:
        solver.resetTranspositionTable()
        return [solver.mtdf(board, 0) for board in boards]

    return score_all


# ---------------------------------------------------------------- exact solutions
def exact_group(quick: bool) -> Group:
    """Return the group: the value of Tic-Tac-Toe with some cells taken; OpenSpiel state by state from Python."""
    contenders: dict[str, Prepare] = {OURS: _solved}
    missing = with_peer(contenders, SPIEL, "OpenSpiel, all states in Python", _spiel_solved)
    sizes = (6, 7) if quick else (6, 7, 8, 9)
    return Group(
        "exact",
        "solve Tic-Tac-Toe by empty cells",
        "empty cells",
        sizes,
        contenders,
        missing=missing,
    )


def _opening(empty: int) -> list[int]:
    """Return the first moves, none of which completes a line: these cells in this order."""
    return [4, 0, 8, 5, 3][: 9 - empty]


def _solved(empty: int) -> Callable[[], Any]:
    from mdplay import solve

    game = TicTacToe()
    state = game.initial()
    for cell in _opening(empty):
        state = game.step(state, cell)
    return lambda: solve(game, state, method="hashed").value(state, player=0)


def _spiel_solved(empty: int) -> Callable[[], Any]:
    import pyspiel

    state = pyspiel.load_game("tic_tac_toe").new_initial_state()
    for cell in _opening(empty):
        state.apply_action(cell)
    return lambda: _minimax(state, {})


def _minimax(state: Any, known: dict[str, float]) -> float:
    """Return the value of a state of OpenSpiel for the first player; all states below it become known."""
    if state.is_terminal():
        return float(state.returns()[0])
    if (key := str(state)) not in known:
        best = max if state.current_player() == 0 else min
        known[key] = best(_minimax(state.child(action), known) for action in state.legal_actions())
    return known[key]


PGX = "pgx, JAX"


def group(quick: bool) -> Group:
    """Return the group: moves of random play in environments of Connect Four."""
    vector = 64 if quick else 1024  # environments in one call
    contenders: dict[str, Prepare] = {}
    missing = with_peer(contenders, "gymnasium", OURS, partial(_vector_steps, vector))
    missing += with_peer(contenders, "gymnasium", "Gymnasium, SyncVectorEnv", partial(_sync_steps, vector))
    missing += with_peer(contenders, "pettingzoo", "mdplay, agent by agent", partial(_aec_steps, _our_env))
    missing += with_peer(contenders, "pettingzoo", "PettingZoo, connect_four_v3", partial(_aec_steps, _their_env))
    missing += with_peer(contenders, SPIEL, "OpenSpiel, from Python", _spiel_steps)
    missing += with_peer(contenders, "pgx", PGX, partial(_pgx_steps, vector))
    sizes = (vector, 2 * vector) if quick else (vector, 4 * vector, 64 * vector)
    title = f"moves of random play in environments of Connect Four; {vector:,} at once where there is a way"
    slow = dict.fromkeys(set(contenders) - {OURS, PGX}, 4 * vector)
    return Group("environments", title, "moves", sizes, contenders, missing=missing, limits=slow)


def _vector_steps(vector: int, steps: int) -> Callable[[], Any]:
    import numpy as np

    from mdplay.adapters.gym import make_vec

    envs = make_vec("connect-four", num_envs=vector, opponent=None)

    def run() -> int:
        _, info = envs.reset(seed=1)
        for _ in range(steps // vector):
            mask = info["action_mask"]
            _, _, _, _, info = envs.step(np.argmax(mask * envs.np_random.random(mask.shape), axis=1))
        return steps

    return run


def _sync_steps(vector: int, steps: int) -> Callable[[], Any]:
    """Return random play in as many environments, stepped by Gymnasium; a step is a move and the answer to it."""
    import gymnasium
    import numpy as np

    from mdplay.adapters.gym import GameEnv

    envs = gymnasium.vector.SyncVectorEnv([lambda: GameEnv("connect-four")] * vector)

    def run() -> int:
        _, info = envs.reset(seed=1)
        rng = np.random.default_rng(1)
        for _ in range(max(1, steps // vector // 2)):
            mask = np.stack(info["action_mask"])
            _, _, _, _, info = envs.step(np.argmax(mask * rng.random(mask.shape), axis=1))
        return steps

    return run


def _pgx_steps(vector: int, steps: int) -> Callable[[], Any]:
    """Return random play by pgx: rules and choice of moves compiled by JAX, which may use all cores."""
    import jax
    import pgx
    from pgx.experimental.wrappers import auto_reset

    env = pgx.make("connect_four")
    begin, step = jax.jit(jax.vmap(env.init)), jax.jit(jax.vmap(auto_reset(env.step, env.init)))
    choose = jax.jit(lambda key, mask: jax.random.categorical(key, jax.numpy.log(mask.astype(float)), axis=1))

    def run() -> int:
        key = jax.random.PRNGKey(1)
        state = begin(jax.random.split(key, vector))
        for _ in range(steps // vector):
            key, one, two = jax.random.split(key, 3)
            action = choose(one, state.legal_action_mask)
            state = step(state, action, jax.random.split(two, vector))
        state.observation.block_until_ready()
        return steps

    return run


def _our_env() -> Any:
    from mdplay.adapters.zoo import env

    return env("connect-four")


def _their_env() -> Any:
    from pettingzoo.classic.connect_four.connect_four import env

    return env()


def _aec_steps(make: Callable[[], Any], steps: int) -> Callable[[], Any]:
    """Return random play in an environment of PettingZoo, agent by agent."""
    env = make()

    def run() -> int:
        env.reset(seed=1)
        for _ in range(steps):
            observation, _, over, _, _ = env.last()
            if over:
                env.reset()
                observation = env.last()[0]
            env.step(env.action_space(env.agent_selection).sample(observation["action_mask"]))
        return steps

    return run


def _spiel_steps(steps: int) -> Callable[[], Any]:
    import pyspiel

    game, rng = pyspiel.load_game("connect_four"), Random(1)

    def run() -> int:
        state = game.new_initial_state()
        for _ in range(steps):
            actions = state.legal_actions()
            state.apply_action(actions[rng.below(len(actions))])
            state = game.new_initial_state() if state.is_terminal() else state
        return steps

    return run
