"""Search with a user's own evaluator: a function of a batch of states; also ``mdplay.evaluating.leaves``."""

import numpy as np
import pytest

from mdplay import (
    ArgumentError,
    LimitError,
    Search,
    accuracy,
    depth_limited,
    make,
    make_selector,
    match,
    mcts,
    observe,
    solve,
)
from mdplay.playing.evaluators import agent_evaluation
from mdplay.rng import Random
from mdplay.searching.depth_limited import HeuristicAgent
from mdplay.searching.mcts import MCTSAgent
from tests.nim import Nim
from tests.nim import State as Heap

GAME = make("tic-tac-toe")
CORNER = GAME.parse("100000000")  # only the centre, cell 4, draws


@pytest.fixture(scope="module")
def solution():
    return solve(GAME)


class Recorded:
    """An evaluator that records the sizes of its batches."""

    def __init__(self, value, priors=None):
        self.value, self.priors, self.sizes = value, priors, []

    def __call__(self, states):
        self.sizes.append(len(states))
        values = [self.value(s) for s in states]
        return values if self.priors is None else (values, np.array([self.priors(s) for s in states]))


# ---------------------------------------------------------------- exact values
@pytest.mark.parametrize("batch", [1, 4, 32])
def test_exact_values_find_the_best_move_with_few_simulations(solution, batch):
    exact = Recorded(solution.value)
    found = mcts(GAME, CORNER, simulations=60, evaluator=exact, batch=batch)
    assert (found.action, found.simulations) == (4, 60)
    assert max(exact.sizes) <= batch and sum(exact.sizes) <= 60
    assert mcts(GAME, CORNER, simulations=60).proven is False  # random games need more


def test_larger_batches_need_fewer_calls_of_python(solution):
    calls = {}
    for batch in (1, 8, 32):
        exact = Recorded(solution.value)
        mcts(GAME, simulations=200, evaluator=exact, batch=batch)
        calls[batch] = len(exact.sizes)
    assert calls[1] == 200 and calls[8] <= 60 and calls[32] < calls[8]


def test_a_solution_is_an_evaluator_as_it_is(solution):
    by_function = mcts(GAME, CORNER, simulations=60, evaluator=lambda states: [solution.value(s) for s in states])
    assert mcts(GAME, CORNER, simulations=60, evaluator=solution).moves == by_function.moves
    assert depth_limited(GAME, CORNER, depth=1, evaluator=solution).best == (4,)


def test_ends_of_the_game_count_exactly_and_are_proven():
    found = mcts(GAME, GAME.parse("110220000"), simulations=200, evaluator=lambda states: np.zeros(len(states)))
    assert (found.action, found.value, found.proven) == (2, 1.0, True)


def test_plain_and_compiled_search_agree(solution, needs_compiler, monkeypatch):
    """500 simulations in steps of one run on the kernels; the first ones alone may be tried in plain Python."""
    exact = Recorded(solution.value)
    small = mcts(GAME, CORNER, simulations=20, evaluator=exact, batch=4)
    timed = Search(GAME, CORNER, evaluator=exact, batch=4)
    timed.run(20)
    assert timed.result().moves == small.moves


def test_steps_of_whole_batches_give_the_same_tree(solution):
    search = Search(GAME, evaluator=solution, batch=1)
    for _ in range(5):
        search.run(10)
    assert search.result().moves == mcts(GAME, simulations=50, evaluator=solution, batch=1).moves


# ---------------------------------------------------------------- a constant, and priors
def test_a_constant_evaluator_visits_all_moves_equally_often():
    constant = Recorded(lambda s: 0.0)
    found = mcts(GAME, simulations=1 + 2 * 9, evaluator=constant, batch=1)
    assert {move.visits for move in found.moves} == {2}
    assert {move.value for move in found.moves} == {0.0}


def test_priors_lead_the_search():
    constant = Recorded(lambda s: 0.0, lambda s: np.eye(9)[7] + 0.01)
    found = mcts(GAME, simulations=30, evaluator=constant, batch=1)
    visits = {move.action: move.visits for move in found.moves}
    assert found.action == 7 and visits[7] >= 20
    ucb1 = mcts(GAME, simulations=30, evaluator=constant, batch=1, selector=make_selector("ucb1"))
    assert max(move.visits for move in ucb1.moves) < 8  # a rule without priors ignores them


def test_equal_values_give_equal_searches_whatever_their_container():
    plain = mcts(GAME, simulations=100, evaluator=lambda states: [0.25] * len(states))
    for wrap in (np.array, np.float32, lambda v: np.array(v).reshape(-1, 1), lambda v: (np.array(v), None)):
        again = mcts(GAME, simulations=100, evaluator=lambda states, wrap=wrap: wrap([0.25] * len(states)))
        assert again.moves == plain.moves


@pytest.mark.parametrize("batch", [1, 16])
def test_virtual_losses_leave_no_trace(batch):
    """A mean of one constant is that constant, and visits add up, once all virtual losses are removed."""
    found = mcts(make("connect-four"), simulations=400, evaluator=lambda s: np.full(len(s), 0.0), batch=batch)
    assert sum(move.visits for move in found.moves) == 399
    assert all(abs(move.value) < 1e-12 for move in found.moves)


# ---------------------------------------------------------------- models
def test_a_linear_model_over_observations_learns_to_play(solution):
    """Least squares over the bits of the state and their pairs, fitted to the exact values of all positions."""
    states = reachable(GAME)
    features = lambda found: np.stack([_pairs(observe(GAME, s)) for s in found])  # noqa: E731
    weights, *_ = np.linalg.lstsq(features(states), [solution.value(s) for s in states], rcond=None)

    def model(found):
        return np.clip(features(found) @ weights, -1.0, 1.0)

    agent = MCTSAgent(GAME, simulations=100, evaluator=model, reuse=False)
    assert accuracy(GAME, agent, solution, count=60, seed=1).share >= 0.9


def reachable(game):
    found, todo = set(), [game.initial()]
    while todo:
        s = todo.pop()
        for action in range(9):
            if game.legal(s) >> action & 1 and (after := game.step(s, action)) not in found:
                found.add(after)
                todo.append(after)
    return [s for s in found if game.legal(s)]


def _pairs(bits):
    used = bits[[*range(9), *range(64, 73)]].astype(float)
    return np.concatenate([[1.0], used, np.outer(used, used)[np.triu_indices(18, 1)]])


def test_a_tensor_is_detached():
    class Tensor(list):
        def detach(self):
            return self

        def cpu(self):
            return np.array(self)

    assert mcts(GAME, simulations=20, evaluator=lambda states: Tensor([0.5] * len(states))).simulations == 20


# ---------------------------------------------------------------- other games
def test_a_game_from_outside_the_package():
    """Nim with one pile: who leaves a multiple of four wins."""

    def nim(states):
        return [1.0 if s.pile % 4 else -1.0 for s in states]

    assert mcts(Nim(), Heap(21, 0), simulations=40, evaluator=nim).action == 0
    assert mcts(Nim(), Heap(22, 1), simulations=40, evaluator=nim).action == 1
    assert depth_limited(Nim(), Heap(23, 1), depth=3, evaluator=nim).best == (2,)


def test_points_and_extra_turns(solution):
    game = make("dots-and-boxes")
    exact = solve(game)
    state = game.parse("111111110000")
    found = mcts(game, state, simulations=60, evaluator=exact)
    assert found.action in exact.best(state)
    assert depth_limited(game, state, depth=2, evaluator=exact).value == pytest.approx(exact.value(state))


def test_chance():
    game = make("pig:goal=10")
    exact = solve(game)
    state = game.parse("5-5+3x")
    values = {choice.action: choice.value for choice in exact.choices(state)}
    found = depth_limited(game, state, depth=2, evaluator=exact)
    assert {move.action: move.value for move in found.moves} == pytest.approx(values)
    assert mcts(game, state, simulations=400, evaluator=exact).action in exact.best(state)


def test_positions_that_repeat():
    game = make("mu-torere")
    found = mcts(game, simulations=200, evaluator=solve(game))
    assert found.action in solve(game).best()


# ---------------------------------------------------------------- depth-limited search
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_exact_values_at_the_leaves_give_exact_values_of_the_moves(solution, depth):
    exact = Recorded(solution.value)
    found = depth_limited(GAME, CORNER, depth=depth, evaluator=exact)
    assert {m.action: m.value for m in found.moves} == {c.action: c.value for c in solution.choices(CORNER)}
    assert found.best == (4,) and not found.proven
    assert depth == 1 or max(exact.sizes) >= 6  # siblings are valued together


def test_the_heuristic_of_a_game_as_an_evaluator_changes_nothing():
    game = make("breakthrough:rows=4,cols=4")

    def heuristic(states):
        return [(1 - 2 * game.player(s)) * game.heuristic(s) / 1000 for s in states]

    given = depth_limited(game, depth=3)
    found = depth_limited(game, depth=3, evaluator=heuristic)
    assert found.best == given.best
    assert [m.value * 1000 for m in found.moves] == pytest.approx([m.value for m in given.moves])


# ---------------------------------------------------------------- agents
def test_agents_play_by_an_evaluator(solution):
    agent = MCTSAgent(GAME, simulations=60, evaluator=solution)
    assert agent.act(CORNER, Random(1)) == 4
    assert HeuristicAgent(GAME, depth=1, evaluator=solution).act(CORNER, Random(1)) == 4
    assert agent_evaluation(agent, "mine", GAME, CORNER).best == (4,)
    assert match(GAME, agent, "random", games=4, seed=1).tally.losses == 0


# ---------------------------------------------------------------- what is refused
@pytest.mark.parametrize(
    ("found", "words"),
    [
        ([3.5], r"the evaluator returned 3.5 in 100000000; values are from -1 to 1, for the player to move"),
        ([float("nan")], "the evaluator returned nan in 100000000"),
        ([0.1, 0.2], "returned 2 values for 1 states"),
        (["high"], "it must return one value for each of 1 states"),
        (([0.1], np.ones((1, 4))), r"priors of shape \(1, 4\); they need 1 rows and at least 9 columns"),
        (([0.1], -np.ones((1, 9))), "a prior that is negative or no number"),
    ],
)
def test_wrong_answers_are_refused_with_a_sentence(found, words):
    with pytest.raises(ArgumentError, match=words):
        mcts(GAME, CORNER, simulations=10, evaluator=lambda states: found)


def test_values_of_a_game_with_points_have_no_range():
    assert mcts(make("dots-and-boxes"), simulations=20, evaluator=lambda s: np.full(len(s), 3.5)).simulations == 20


def test_wrong_arguments_are_refused(solution):
    with pytest.raises(ArgumentError, match="evaluator=3 is not a function"):
        mcts(GAME, evaluator=3)
    with pytest.raises(ArgumentError, match="remove expansion=all"):
        mcts(GAME, evaluator=solution, expansion="all")
    with pytest.raises(LimitError, match="runs in one thread; remove threads"):
        mcts(GAME, evaluator=solution, threads=2)
    with pytest.raises(LimitError, match="batch=0 must be at least 1"):
        mcts(GAME, evaluator=solution, batch=0)


def test_an_exception_of_the_evaluator_is_the_callers():
    class Mine(Exception):
        pass

    def fails(states):
        raise Mine

    for search in (mcts, depth_limited):
        with pytest.raises(Mine):
            search(GAME, evaluator=fails)
