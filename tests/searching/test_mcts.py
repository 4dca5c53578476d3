"""Tests of ``mdplay.searching.mcts``.

Here are tested besides: ``mdplay.searching.simulating``, ``mdplay.searching.selecting``,
``mdplay.searching.tree``, ``mdplay.searching.result`` and ``mdplay.searching.result``.
"""

import gc
import json
import os
import signal
import threading
import weakref
from dataclasses import dataclass
from typing import NamedTuple

import pytest

from mdplay import Game
from mdplay.compiling import cache as fingerprint
from mdplay.errors import GameError, LimitError, PositionError, UnknownName
from mdplay.games.connect_four.rules import ConnectFour
from mdplay.games.dots_and_boxes.rules import DotsAndBoxes
from mdplay.games.tic_tac_toe.rules import TicTacToe
from mdplay.games.twenty48.rules import Twenty48
from mdplay.naming.notation import parse_position
from mdplay.playing.agents import make_agent
from mdplay.rng import Random
from mdplay.runtime.threads import TaskGroup
from mdplay.searching import mcts as module
from mdplay.searching.mcts import MCTSAgent, mcts
from mdplay.searching.result import SearchAgent
from mdplay.searching.selectors import UCB1, Greedy
from tests.helpers import COMPILED, python
from tests.searching.games import (
    DRAW,
    LATE,
    Chain,
    Deal,
    Endless,
    Faulty,
    Traced,
    breaking,
    exact_values,
    track,
)

SOME = 2000 if COMPILED else 200


def tree_of(result):
    """Return the nodes of a tree as {path of actions: (visits, sum of values)}: wins, with expansion=all."""
    found = {}

    def walk(node, path):
        found[path] = node.visits, round(node.value * node.visits, 9)
        for child in node.children:
            walk(child, (*path, child.action))

    walk(result.tree, ())
    return found


# expansion=all on the game drawn in games.py, on paper.
# score = wins / visits + sqrt(2 ln(visits of the parent) / visits)
#
# 1  The root is the leaf: A, B, C are made and played out once: won, lost, drawn.  A draw adds nothing.
# 2  Root: A 1 + 1.48, B 0 + 1.48, C 0 + 1.48: enter A (2 visits).  Make A1, which player 1 moves into; play it
#    out: player 0 wins, so A1 gets a visit and no win, A a visit and a win.
# 3  Root, 4 visits: A 2/3 + 0.961 = 1.63; B and C 1.665, the lower one is entered.  Make B1; player 1 wins: B1
#    gets the win, B only the visit.
# 4  Root, 5 visits: A 2/3 + 1.036 = 1.70, B 1.036, C 1.794: enter C.  Make both its children, two draws.
# 5  Root, 7 visits: A 2/3 + 1.139 = 1.81, B 1.139, C 0.986: enter A, then its only child A1.  Make its children;
#    player 0 moved into them and wins both: 2 visits and 2 wins for A, 2 visits for A1.
# 6  Root, 9 visits: A 4/6 + 0.856 = 1.52, B 1.21, C 1.05: enter A, A1, and of the two equal children the lower.
#    The game is over there: the three visits count and nothing else.
A, B, C = (0,), (1,), (2,)
TRACE = {
    3: {(): 3, A: (1, 1), B: (1, 0), C: (1, 0)},
    4: {(): 4, A: (3, 2), B: (1, 0), C: (1, 0), (0, 0): (1, 0)},
    5: {(): 5, A: (3, 2), B: (3, 0), C: (1, 0), (0, 0): (1, 0), (1, 0): (1, 1)},
    7: {(): 7, A: (3, 2), B: (3, 0), C: (4, 0), (0, 0): (1, 0), (1, 0): (1, 1), (2, 0): (1, 0), (2, 1): (1, 0)},
    9: {(): 9, A: (6, 4), B: (3, 0), C: (4, 0), (0, 0): (4, 0), (0, 0, 0): (1, 1), (0, 0, 1): (1, 1)},
    10: {(): 9, A: (7, 4), B: (3, 0), C: (4, 0), (0, 0): (5, 0), (0, 0, 0): (2, 1), (0, 0, 1): (1, 1)},
}


@pytest.mark.parametrize("simulations", TRACE)
def test_the_report_form_as_traced_by_hand(simulations):
    result = mcts(Traced(), simulations=simulations, expansion="all")
    found = tree_of(result)
    assert result.simulations == simulations
    for path, expected in TRACE[simulations].items():
        assert (found[path] if path else found[path][0]) == expected, path
    assert result.action == (2 if simulations == 7 else 0)  # the most visits; of equals the smallest


def test_the_standard_form_counts_every_visit_once():
    game = TicTacToe()
    result = mcts(game, simulations=200, solver=False)
    found = tree_of(result)
    assert found[()][0] == 200 == sum(move.visits for move in result.moves)
    for path, (visits, _) in found.items():
        below = sum(v for p, (v, _) in found.items() if len(p) == len(path) + 1 and p[: len(path)] == path)
        ended = not game.legal(state_after(game, path))
        assert below == (0 if ended else max(0, visits - bool(path)))  # its own first visit was a rollout


def state_after(game, actions):
    s = game.initial()
    for action in actions:
        s = game.step(s, action)
    return s


def test_draws_are_half_a_win():
    # Half way between a loss, -1, and a win, 1; A is won, B is lost, C is drawn.
    result = mcts(Traced(), simulations=50)
    assert [move.value for move in result.moves] == [1.0, -1.0, 0.0]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("expansion", ["one", "all"])
def test_equal_seeds_give_equal_results(expansion, threads):
    first, second, other = (
        mcts(ConnectFour(), simulations=SOME, expansion=expansion, threads=threads, seed=seed)
        for seed in (5, 5, 6)
    )
    assert (first.moves, first.line, first.nodes) == (second.moves, second.line, second.nodes)
    assert first.moves != other.moves


def test_compiled_and_plain_search_alike(needs_compiler):
    code = (
        "from mdplay.naming.registry import make; from mdplay.searching.mcts import mcts\n"
        "for expansion in ('one', 'all'):\n"
        "    r = mcts(make('tic-tac-toe'), simulations=300, expansion=expansion, seed=3)\n"
        "    print([(m.visits, round(m.value, 12)) for m in r.moves], r.line, r.nodes)\n"
        "r = mcts(make('2048:rows=2,cols=2'), make('2048:rows=2,cols=2').parse('1112'), simulations=100, seed=3)\n"
        "print([(m.visits, round(m.value, 9)) for m in r.moves], r.line, r.nodes)"
    )
    assert python("-c", code) == python("-c", code, NUMBA_DISABLE_JIT="1")


# ---------------------------------------------------------------- proofs
@pytest.mark.parametrize("text", ["120000000", "100020001", "121020010"])
def test_wins_and_losses_are_proven(text):
    game = TicTacToe()
    state = parse_position(game, text)
    result = mcts(game, state, simulations=50_000 if COMPILED else 3000)
    exact = exact_values(game, state)
    assert all(move.value == exact[move.action] for move in result.moves if move.proven)
    assert (result.proven, result.value) == (True, max(exact.values())) or not COMPILED


def test_extra_turns_and_points():
    # A player who completes a box moves again; the first player loses 1 x 1.
    one = mcts(DotsAndBoxes(1, 1), simulations=1000)
    assert (one.proven, one.value) == (True, -1)
    game = DotsAndBoxes(1, 2)
    state = parse_position(game, "0b1001011")
    result = mcts(game, state, simulations=2000)
    assert (result.proven, result.value) == (True, max(exact_values(game, state).values()))


def test_without_solver_nothing_is_proven():
    result = mcts(Traced(), simulations=200, solver=False)
    assert not result.proven
    assert not any(move.proven for move in result.moves)


# ---------------------------------------------------------------- chance
def test_the_best_moves_of_a_small_2048_are_found():
    game = Twenty48(2, 2)
    for text in ("1123", "1100", "1232", "1023") if COMPILED else ("1123",):
        state = parse_position(game, text)
        exact = exact_values(game, state)
        result = mcts(game, state, simulations=20_000 if COMPILED else 500, seed=1)
        assert exact[result.action] == pytest.approx(max(exact.values()), abs=1e-9), text
        assert result.value < 1.1 * max(exact.values())  # a mean, explorations included


def test_the_line_names_outcomes_of_chance():
    game = Twenty48(2, 2)
    result = mcts(game, parse_position(game, "1100"), simulations=500)
    assert "@" in result.line[1]


@pytest.mark.parametrize("expansion", ["one", "all"])
def test_chance_events_that_follow_each_other_have_room(expansion):
    # A simulation adds a block of children for each card that is dealt: ten blocks, and the room is for less.
    for seed in range(6 if COMPILED else 2):
        result = mcts(Deal(), simulations=SOME, seed=seed, expansion=expansion, memory=1 << 20)
        tree = result.tree.places[0][0]
        assert tree.size <= len(tree.nodes)
        assert sum(move.visits for move in result.moves) >= SOME
        assert all(abs(move.value) < 1 for move in result.moves)


def test_a_walk_too_long_for_its_path_goes_on_as_a_rollout():
    result = mcts(Chain(), track(goal=4, row=700), simulations=20)
    assert max(move.visits for move in result.moves) < 20
    assert result.tree.find(result.tree.state, 0).visits == 20


# ---------------------------------------------------------------- broken promises
@pytest.mark.parametrize(("broken", "words"), [*LATE, (DRAW, "draw gave")])
def test_a_promise_broken_late_is_named(broken, words, monkeypatch):
    monkeypatch.setattr(module, "spot_check", lambda game, state: None)  # the sample would have found it
    with pytest.raises(GameError, match=words):
        mcts(Faulty(), breaking(broken), simulations=500)


@pytest.mark.parametrize("expansion", ["one", "all"])
def test_a_random_game_that_goes_on_and_on_is_told(expansion, needs_compiler):
    with pytest.raises(GameError, match="did not end within 1,000,000 moves"):
        mcts(Endless(around=1 << 40), simulations=10, expansion=expansion)


@pytest.mark.parametrize("expansion", ["one", "all"])
def test_random_games_that_come_back_to_positions_are_drawn_by_the_limit(expansion):
    found = mcts(Endless(), simulations=10, expansion=expansion, max_moves=30)
    assert (found.by_limit, found.value, found.proven) == (10, 0.0, False)
    assert found.document()["by_limit"] == 10


@pytest.mark.parametrize("expansion", ["one", "all"])
def test_endless_random_games_can_be_stopped(expansion):
    watch = TaskGroup()
    watch.stop[0] = 1
    with pytest.raises(LimitError, match="before its first random game"):
        mcts(Endless(), simulations=10, expansion=expansion, watch=watch)


# ---------------------------------------------------------------- budgets and limits
def test_a_tree_is_kept_from_move_to_move():
    game = ConnectFour()
    first = mcts(game, simulations=SOME, seed=1)
    child = first.tree.ranked[0].ranked[0]
    again = mcts(game, child.state, simulations=10, seed=2, reuse=first)
    assert sum(move.visits for move in again.moves) == child.visits - 1 + 10  # its own first visit was a rollout
    assert again.simulations == 10
    elsewhere = mcts(game, parse_position(game, "111111"), simulations=10, reuse=first)
    assert sum(move.visits for move in elsewhere.moves) == 10


def test_a_tree_stays_below_its_limit(needs_compiler):
    for expansion in ("one", "all"):
        result = mcts(ConnectFour(), simulations=200_000, expansion=expansion, memory=2 << 20)
        tree = result.tree.places[0][0]
        assert tree.nodes.nbytes <= 2 << 20
        assert result.nodes > 0.9 * len(tree.nodes)
        assert result.simulations >= 200_000
        assert result.move == "4"


def test_a_stopped_search_tells_its_best_so_far():
    watch = TaskGroup(2)
    threading.Timer(0.05, watch.stop.fill, [1]).start()
    result = mcts(ConnectFour(), simulations=10**9, watch=watch)
    assert 0 < result.simulations < 10**9
    assert result.simulations == watch.progress.sum()
    assert result.move in "1234567"


@pytest.mark.parametrize("agent", ["mcts:seconds=100", "heuristic:seconds=100"])
def test_ctrl_c_ends_a_search_of_the_command_line_with_its_best_so_far(agent, mdplay, needs_compiler):
    mdplay("search", "connect-four", "--agent", agent.replace("100", "0.01"))  # compiles
    threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT]).start()
    found = mdplay("search", "connect-four", "--agent", agent, "--json")
    document = json.loads(found.out)
    assert 0.1 < document["seconds"] < 50
    assert set(document["best"]) <= set("1234567")


def test_a_search_may_be_limited_by_time():
    assert mcts(TicTacToe(), seconds=0.01, solver=False, threads=1).simulations > 0


def test_two_trees_share_the_budget():
    result = mcts(TicTacToe(), simulations=SOME + 1, threads=2, solver=False)
    assert result.simulations == SOME + 1 == sum(move.visits for move in result.moves)
    assert len(result.tree.places) == 2


def test_the_tree_is_saved_as_json(tmp_path):
    result = mcts(TicTacToe(), simulations=SOME, solver=False)
    result.tree.save(tmp_path / "tree.json", depth=2)
    found = json.loads((tmp_path / "tree.json").read_text())
    assert found["position"] == "000000000"
    assert found["visits"] == SOME == sum(child["visits"] for child in found["children"])
    assert "children" not in found["children"][0]["children"][0]


def test_a_greedy_tree_is_narrow():
    greedy = mcts(Traced(), simulations=200, selector=Greedy(), expansion="all")
    careful = mcts(Traced(), simulations=200, selector=UCB1(c=10.0), expansion="all")
    assert max(m.visits for m in greedy.moves) > 2 * max(m.visits for m in careful.moves)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"expansion": "fast"}, UnknownName),
        ({"simulations": 0}, LimitError),
        ({"seconds": -1.0}, LimitError),
        ({"simulations": 1 << 40}, LimitError),
        ({"memory": 10}, LimitError),
    ],
)
def test_bad_options_are_refused(options, error):
    with pytest.raises(error):
        mcts(TicTacToe(), **options)


def test_positions_without_a_choice_are_refused():
    with pytest.raises(PositionError, match="game is over"):
        mcts(TicTacToe(), parse_position(TicTacToe(), "111220000"))
    with pytest.raises(PositionError, match="chance moves"):
        mcts(Twenty48())
    with pytest.raises(GameError, match="counts points"):
        mcts(Twenty48(), parse_position(Twenty48(), "1123000000000000"), expansion="all")


# ---------------------------------------------------------------- the agent
def test_the_agent_by_name():
    game = TicTacToe()
    agent = make_agent(game, "mcts:simulations=300,selector=ucb1(c=1),solver=no")
    assert isinstance(agent, MCTSAgent)
    assert isinstance(agent, SearchAgent)
    assert agent.act(game.parse("110220000"), Random(1)) == 2


def test_the_tree_goes_along_with_the_game():
    game = TicTacToe()
    keeper, forgetter = MCTSAgent(game, simulations=300), MCTSAgent(game, simulations=300, reuse=False)
    later = parse_position(game, "100020000")
    for agent in (keeper, forgetter):
        agent.search(game.initial())
    kept, fresh = (sum(m.visits for m in agent.search(later).moves) for agent in (keeper, forgetter))
    assert kept > fresh == 300


def test_nothing_is_hashed_anew_for_a_search(monkeypatch, needs_compiler):
    """To hash a selector took as long as 500 simulations."""
    game = TicTacToe()
    mcts(game, simulations=20_000)
    hashed = []
    monkeypatch.setattr(fingerprint, "instance_fingerprint", hashed.append)
    mcts(game, simulations=20_000)
    assert hashed == []


def test_a_tree_that_nobody_looks_at_is_given_back_at_once():
    """With circles among its nodes it waited for the garbage collector, and the next search was a tenth slower."""
    gc.disable()
    try:
        found = mcts(TicTacToe(), simulations=50)
        assert [child.state for child in found.tree.children] and found.tree.children[0].text
        nodes = weakref.ref(found.tree.places[0][0].nodes)
        del found
        assert nodes() is None
    finally:
        gc.enable()


class Spot(NamedTuple):
    moves: int
    player: int


@dataclass(frozen=True)
class Temptation(Game[Spot]):
    """End the game for ``prize`` points, or make twelve moves that earn five times as much each."""

    prize: int = 1

    def initial(self) -> Spot:
        return Spot(0, 0)

    def legal(self, s: Spot) -> int:
        return 3 if s.moves == 0 else 255 if s.moves < 13 else 0

    def step(self, s: Spot, action: int) -> Spot:
        return Spot(99 if s.moves == 0 and action == 0 else s.moves + 1, 0)

    def reward(self, s: Spot, action: int) -> int:
        return 5 * self.prize if s.moves else self.prize - self.prize * action


@pytest.mark.parametrize(("prize", "best"), [(1, 1), (-1, 0)])
def test_a_proven_value_is_compared_with_a_mean(prize, best):
    found = mcts(Temptation(prize), simulations=300, seed=1)
    assert [move.proven for move in found.moves] == [True, False]
    assert (found.action, found.best) == (best, (best,))


class Way(NamedTuple):
    place: int
    player: int


@dataclass(frozen=True)
class Refutation(Game[Way]):
    """After move 0 one of 30 replies costs 60 and the others give 60; move 1 is a long way to 10."""

    def initial(self) -> Way:
        return Way(0, 0)

    def legal(self, s: Way) -> int:
        if s.place == 1:
            return (1 << 30) - 1
        return 3 if s.place == 0 or 10 <= s.place < 50 else 0

    def step(self, s: Way, action: int) -> Way:
        if s.place == 0:
            return Way(10 if action else 1, 1)
        return Way(2 + (action == 17), 0) if s.place == 1 else Way(s.place + 1, 1 - s.player)

    def result(self, s: Way) -> int:
        return 60 if s.place == 2 else -60 if s.place == 3 else 10


def test_a_move_that_is_proven_to_lose_is_not_chosen_for_its_visits():
    found = mcts(Refutation(), simulations=60, seed=1)
    losing, other = found.moves
    assert losing.proven and losing.value == -60 and losing.visits > other.visits and not other.proven
    assert found.action == 1
