"""A game that a reader has just written works in every kernel that takes a game, compiled."""

import re
import sys
from math import comb

import numpy as np
import pytest

from mdplay import check_game, make, perft, playouts, solve
from tests.helpers import ROOT, write
from tests.test_docs import WRITE_A_GAME, blocks


def move_of_mcts(game, expansion):
    from mdplay.searching.mcts import mcts

    return mcts(game, simulations=5000, expansion=expansion, seed=1).move


def value_of_depth_limited(game):
    from mdplay.searching.depth_limited import depth_limited

    return depth_limited(game, depth=11).value


def states_of_graph(game):
    from mdplay.states.graph import explore

    return len(explore(game).kind)


def games_of_points(game):
    from mdplay.learning.cell_counting import learn_utilities

    return learn_utilities(game, episodes=100, seed=1).num_games


def learned_network(game):
    from mdplay.playing.learning import learn

    return learn(game, method="network", episodes=4000, epsilon=0.3, seed=1).network


def move_by_network(game):
    from mdplay.searching.mcts import mcts

    return mcts(game, simulations=300, network=learned_network(game)).move


def ends_of_environments(game):
    """Bite b1: of what is left the opponent bites a2 and wins, or a3, and a2 wins."""
    from mdplay.adapters.vector import VectorGames

    made = VectorGames(game, 100)
    made.reset(seed=1)
    _, lost, over, _, _ = made.step(np.full(100, 1))
    _, won, _, _, _ = made.step(np.full(100, 4))
    return set(zip(over.tolist(), lost.tolist(), won.tolist(), strict=True))


def proof_begins_with(game):
    from mdplay.solving.proof.prover import Prover

    prover = Prover(game, memory=1 << 20)
    prover.learn([game.initial()], [1])
    return prover.line(game.initial(), max_plies=1)


def value_against_chance(game):
    return solve(game, opponent="uniform", method="policy-iteration").value()


KERNELS = {  # each kernel that takes a game, how it is reached, and a fact that it must find
    "ask, ask_step, ask_outcome, ask_knowledge, ask_bounds": lambda game: check_game(game, games=3).compiled,
    # games of single squares are the standard Young tableaux of 3 x 4: 462 by the hook length formula
    "expand": lambda game: perft(game, depth=11)[11].paths == 462,
    "play_chunks": lambda game: playouts(game, games=1000, seed=2).longest <= 11,
    # the first player wins (strategy stealing), on 3 x 4 by c2 = action 6 alone
    "sweep": lambda game: solve(game, method="indexed").best() == [6],
    "search_states, sample": lambda game: solve(game, method="hashed").best() == [6],
    "narrow_windows, grow_to, remember, recall_move": lambda game: proof_begins_with(game) == [6],
    "evaluate, improve": lambda game: value_against_chance(game) > 0.99,
    "simulate": lambda game: move_of_mcts(game, "one") == "c2",
    "simulate_all": lambda game: move_of_mcts(game, "all") in ("c2", "c3", "d2", "d3"),
    "hash_of, search_value": lambda game: value_of_depth_limited(game) == 1,
    # a shape is a path round a box of 3 x 4, not empty; the first two shapes know who moves
    "describe": lambda game: states_of_graph(game) == 2 * (comb(7, 3) - 1) - 2,
    "find_results": lambda game: solve(game, method="retrograde").best() == [6],
    "reset_games, step_games": lambda game: ends_of_environments(game) == {(True, -1, 0), (False, 0, 1)},
    "train_network, value_moves": lambda game: learned_network(game).value(game.initial()) > 0.8,
    "simulate_by_network": lambda game: move_by_network(game) == "c2",
    "learn_points": lambda game: games_of_points(game) == 100,
}
OF_2048 = {"choose_once", "play_games", "train_backward", "look_up_state"}  # they look at tiles
OF_OTHERS = {"orbit_sizes", "search_within", "back_up"}  # of symmetries, of puzzles, of layers of moves
OF_EVALUATORS = {"gather", "back_up_leaves"}  # they need a Python function: tests/searching/test_by_evaluator.py


@pytest.fixture
def game(tmp_path, monkeypatch):
    """Dark Chomp, as docs/write-a-game.md writes it."""
    monkeypatch.syspath_prepend(tmp_path)
    for title, text in blocks(WRITE_A_GAME, r'python title="(.+)"'):
        write(tmp_path, title[1], text)
    yield make(str(tmp_path / "dark_chomp.py"))
    for path in tmp_path.glob("*.py"):
        sys.modules.pop(path.stem, None)


@pytest.mark.parametrize("kernels", KERNELS)
def test_the_game_of_the_page_works_in_every_kernel(game, kernels, needs_compiler):
    assert KERNELS[kernels](game)


def test_no_kernel_is_forgotten():
    text = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    found = set(re.findall(r"^@kernel(?:\(.*\))?\ndef (\w+)\(\s*game\b", text, flags=re.M))
    listed = {name for names in KERNELS for name in names.split(", ")}
    assert found == listed | OF_2048 | OF_OTHERS | OF_EVALUATORS, "KERNELS lists all"
