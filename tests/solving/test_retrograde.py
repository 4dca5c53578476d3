"""Retrograde analysis: known results, a naive solver, and backward induction where games end.

Here are tested besides: ``mdplay.solving.stochastic``, ``mdplay.states.keys``, ``mdplay.states.numbering`` and
``mdplay.states.keys``.
"""

from typing import NamedTuple

import numpy as np
import pytest

from mdplay import Game, LimitError, make, solve
from mdplay.errors import CycleError, FormatError, GameError
from mdplay.runtime.run import Run
from mdplay.runtime.threads import TaskGroup
from mdplay.solving.files import save_table
from mdplay.solving.retrograde import UnfinishedTable, prepared, retrograde
from mdplay.solving.solution import Solution
from mdplay.solving.values import Question
from mdplay.states import enumeration
from mdplay.states.enumeration import Enumeration
from tests.helpers import COMPILED
from tests.solving.loopy_graphs import (
    Drawn,
    DrawnLosing,
    DrawnWinning,
    Graph,
    Losing,
    Winning,
    graph_of,
    naive,
    random_graph,
)


def found(game, state=None):
    table = retrograde(game, state)
    states = [table.state(i) for i in range(len(table))]
    return {s.place: table.lookup(s, 0)[:2] for s in states}


@pytest.mark.parametrize("kind", [Drawn, DrawnWinning, DrawnLosing])
def test_random_graphs_equal_the_naive_solver(kind):
    game = kind()
    for seed in range(1, 41 if COMPILED else 11):
        assert found(game, game.start(seed)) == naive(graph_of(game, seed)), seed


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Drawn, DrawnWinning, DrawnLosing])
def test_hundreds_of_random_graphs_equal_the_naive_solver(kind):
    game = kind()
    for seed in range(41, 341):
        assert found(game, game.start(seed)) == naive(graph_of(game, seed)), seed


@pytest.mark.parametrize("kind", [Graph, Winning, Losing])
def test_one_large_random_graph_equals_the_naive_solver(kind):
    game = random_graph(7, 400, kind)
    assert found(game) == naive(game)


def solution_of(game):
    return Solution(game, retrograde(game), 0.0)


def test_a_tie_is_told_from_endless_play():
    # Place 0 leads to 1 and 2, which lead to 3, an end, and back.
    edges = (1, 2, 1, 3, 0, 2, 3, 0, 1, 0, 0, 0)
    tie = solution_of(Graph(edges, (0, 1, 0, 0), (99, 99, 99, 0)))
    assert (tie.value(), tie.distance(), tie.endless()) == (0.0, 2, False)
    assert len(tie.line()) == 2
    endless = solution_of(Graph(edges, (0, 0, 0, 0), (99, 99, 99, -1)))
    assert (endless.value(), endless.distance(), endless.endless()) == (0.0, None, True)
    assert endless.document()["endless"] is True
    assert endless.line() == []
    winning = solution_of(Winning(edges, (0, 1, 0, 0), (99, 99, 99, 0)))  # who moves at 1 ends it
    assert (winning.value(), winning.endless()) == (1.0, True)


@pytest.mark.parametrize("kind", [Drawn, DrawnWinning, DrawnLosing])
def test_the_tally_counts_by_the_value_and_only_a_draw_as_endless(kind):
    game = kind()
    for seed in range(1, 11):
        graph = graph_of(game, seed)
        table = retrograde(game, game.start(seed))
        mine = [((-1 if graph.movers[p] else 1) * v, d) for p, (v, d) in naive(graph).items()]
        assert table.tally() == {
            "won": sum(v > 0 for v, _ in mine),
            "lost": sum(v < 0 for v, _ in mine),
            "tied": sum(v == 0 and d is not None for v, d in mine),
            "endless": sum(v == 0 and d is None for v, d in mine),
        }


def test_a_player_who_loses_by_infinite_play_delays():
    # Player 0 loses at once (2) or goes to 1, from where player 1 ends the game or leads back.
    lost = solution_of(Losing((1, 2, 1, 0, 0, 2, 0, 0, 0), (0, 1, 0), (99, 99, -1)))
    assert (lost.value(), lost.distance(), lost.action()) == (-1.0, 2, 0)
    assert lost.tally() == {"won": 1, "lost": 2, "tied": 0, "endless": 0}


@pytest.mark.parametrize("name", ["tic-tac-toe", "connect-four:rows=3,cols=4"])
def test_games_that_end_are_solved_as_by_backward_induction(name):
    game = make(name)
    hashed, other = solve(game, method="hashed"), solve(game, method="retrograde")
    assert hashed.states == other.states
    for i in range(0, other.states, 37 if COMPILED else 211):
        s = other.table.state(i)
        assert (hashed.value(s), hashed.distance(s)) == (other.value(s), other.distance(s))
        assert not game.legal(s) or hashed.action(s) == other.action(s)


@pytest.mark.usefixtures("needs_compiler")
def test_auto_goes_on_where_positions_come_back(tmp_path):
    game = make("mu-torere")
    with pytest.raises(CycleError, match=r"the game has cycles \(position .* repeats\)"):
        solve(game, method="hashed")
    solution = solve(game, file=tmp_path / "solution")
    assert solution.method == "retrograde"
    again = solve(game, file=tmp_path / "solution")
    assert (again.tally(), again.distances()) == (solution.tally(), solution.distances())
    loaded = Solution.load(tmp_path / "solution", game)
    for i in range(len(loaded.table)):
        s = loaded.table.state(i)
        assert loaded.table.lookup(s, 0) == solution.table.lookup(s, 0)
    loaded.write_all(tmp_path / "all.csv")
    lines = (tmp_path / "all.csv").read_text().splitlines()
    assert lines[0] == "state,value,action" and len(lines) == 1 + len(loaded.table)


@pytest.mark.usefixtures("needs_compiler")
def test_unfinished_work_goes_on_from_its_file(tmp_path):
    game, path = make("dodgem"), tmp_path / "solution"
    whole = solve(game, method="retrograde")
    work = prepared(Question(game, game.initial(), run=Run(threads=1)))
    work._watch = TaskGroup()
    work._begin()
    for _ in range(2):  # expand and number one chunk, as if somebody had stopped after it
        work._next_step()()
    assert not work.complete
    save_table(path, UnfinishedTable(game, {"layout": work.layout, **work.arrays()}), game=game, complete=False)
    with pytest.raises(FormatError, match="unfinished"):
        Solution.load(path, game)
    with pytest.raises(FormatError, match="unfinished solution by the method retrograde"):
        solve(game, method="hashed", file=path)
    again = solve(game, file=path)
    assert (again.tally(), again.distances()) == (whole.tally(), whole.distances())


@pytest.mark.usefixtures("needs_compiler")
def test_what_would_not_fit_is_refused_in_advance():
    with pytest.raises(LimitError, match="would need"):
        solve(make("connect-four"), method="retrograde", memory=1 << 30)
    with pytest.raises(GameError, match="retrograde needs integer results at the end, no chance"):
        solve(make("pig"), method="retrograde")


class Adding(NamedTuple):
    total: int


class CountsOn(Game[Adding]):
    """Each move adds up to 60, for ever."""

    def initial(self) -> Adding:
        return Adding(0)

    def legal(self, s: Adding) -> int:
        return (1 << 60) - 1

    def step(self, s: Adding, action: int) -> Adding:
        return Adding(s.total + action + 1)

    def result(self, s: Adding) -> int:
        return 0


def test_a_game_that_only_counts_on_is_refused():
    with pytest.raises(LimitError, match="a random game of CountsOn goes on for more than 32,768 plies"):
        Enumeration(CountsOn()).finish()


@pytest.mark.parametrize("threads", [2, 3])
def test_numbers_are_the_same_for_any_number_of_threads(threads, monkeypatch):
    monkeypatch.setattr(enumeration, "CHUNK", 16)  # so that the threads work together
    for game in (make("dodgem"), make("pig:goal=8")):
        one, many = Enumeration(game).finish(), Enumeration(game, threads=threads).finish()
        for a, b in ((one.keys, many.keys), (one.node, many.node), (one.target, many.target)):
            assert np.array_equal(a, b)


@pytest.mark.slow
def test_two_threads_number_a_million_states_alike():
    game = make("connect-four:rows=5,cols=4")
    one, two = Enumeration(game).finish(), Enumeration(game, threads=2).finish()
    assert np.array_equal(one.keys, two.keys) and np.array_equal(one.target, two.target)


@pytest.mark.usefixtures("needs_compiler")
def test_perfect_play_keeps_its_promise_from_every_position():
    game = make("dodgem")
    solution = solve(game)
    for i in range(0, solution.states, 29):
        s = solution.table.state(i)
        value, plies = solution.value(s, player=0), solution.distance(s)
        for _ in range(plies):
            s = game.step(s, solution.action(s))
        assert (game.legal(s), game.result(s)) == (0, value)
