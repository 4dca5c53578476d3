"""Fewest moves by iterative deepening A*: against the table of the 8-puzzle, and Korf's instances of 1985."""

from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
import pytest

from mdplay import Game, GameError, make, play, search, solve
from mdplay.errors import LimitError
from mdplay.games.sliding_puzzle.rules import SlidingPuzzle, State
from mdplay.rng import Random
from mdplay.searching import ida_star as puzzles
from mdplay.searching.ida_star import PuzzleAgent, fewest_moves
from tests.games.sliding_puzzle.test_rules import EIGHT

# Korf, "Depth-first iterative-deepening", Artificial Intelligence 27 (1985), table 1: instance, fewest moves;
# the text of 12 and 79 equals public copies of his list; two of these have the length of 12, one that of 79.
KORF = {
    1: ("14 13 15 7 11 12 9 5 6 0 2 1 4 8 10 3", 57),
    12: ("14 1 9 6 4 8 12 5 7 2 3 0 10 11 13 15", 45),
    79: ("0 1 9 7 11 13 5 3 14 12 4 2 8 6 10 15", 42),
}


def test_small_puzzles_as_their_table_has_it():
    game = make("sliding-puzzle:rows=2,cols=3")
    solution = solve(game)
    solution.check_heuristic()
    for i in range(1, solution.states, 29):
        s = solution.table.state(i)
        found = fewest_moves(game, s)
        assert (found.depth, found.proven) == (solution.distance(s), True)
        for action in found.actions:
            s = game.step(s, action)
        assert game.legal(s) == 0


@pytest.mark.usefixtures("needs_compiler")
@pytest.mark.parametrize("instance", [12, 79])
def test_the_fifteen_puzzle(instance):
    game, (text, moves) = make("sliding-puzzle:rows=4,cols=4"), KORF[instance]
    found = search(game, game.parse(text), agent="ida-star")
    assert (found.depth, len(found.line), found.proven) == (moves, moves, True)


@pytest.mark.slow
def test_a_hard_instance():
    game, (text, moves) = make("sliding-puzzle:rows=4,cols=4"), KORF[1]
    assert fewest_moves(game, game.parse(text)).depth == moves


def levels_from(cells, cols=4):
    """Yield, level by level, all boards so many moves from one: by the place of the gap, a nibble a cell."""
    board = np.array([sum(tile << 4 * cell for cell, tile in enumerate(cells))], np.uint64)
    places, empty = len(cells), np.zeros(0, np.uint64)
    level, before = {cells.index(0): board}, {}
    while True:
        yield level
        after = {gap: [empty] for gap in range(places)}
        for gap, boards in level.items():
            row, col = divmod(gap, cols)
            beside = [gap - cols] * (row > 0) + [gap + cols] * (gap + cols < places)
            beside += [gap - 1] * (col > 0) + [gap + 1] * (col < cols - 1)
            for cell in beside:
                tile = boards >> np.uint64(4 * cell) & np.uint64(15)
                after[cell].append(boards - (tile << np.uint64(4 * cell)) + (tile << np.uint64(4 * gap)))
        known, before = before, level
        level = {
            gap: np.setdiff1d(np.unique(np.concatenate(found)), known.get(gap, empty), assume_unique=True)
            for gap, found in after.items()
        }


def moves_by_two_floods(start, goal):
    """Return the fewest moves between two boards: floods from both, which meet; no heuristic at all."""
    floods = [levels_from(start), levels_from(goal)]
    reached, moves = [next(flood) for flood in floods], 0
    while not any(np.intersect1d(reached[0][gap], reached[1].get(gap, [])).size for gap in reached[0]):
        smaller = int(sum(map(len, reached[0].values())) > sum(map(len, reached[1].values())))
        reached[smaller] = next(floods[smaller])
        moves += 1
    return moves


def test_a_flood_knows_the_eight_puzzle():
    sizes = [sum(map(len, level.values())) for level in islice(levels_from(list(range(9)), cols=3), 20)]
    assert sizes == EIGHT[:20]


@pytest.mark.slow
@pytest.mark.parametrize("instance", [12, 79])
def test_two_floods_find_what_the_literature_says(instance):
    text, moves = KORF[instance]
    assert moves_by_two_floods([int(tile) for tile in text.split()], list(range(16))) == moves


def test_time_that_runs_out_leaves_a_bound():
    game, (text, _) = make("sliding-puzzle:rows=4,cols=4"), KORF[1]
    found = fewest_moves(game, game.parse(text), seconds=0.2)
    assert not found.proven
    assert 41 <= found.depth <= 57  # the tiles are 41 steps from their places
    assert found.action in (0, 1, 2, 3)


def test_the_agent_plays_what_it_found():
    record = play(make("sliding-puzzle:rows=2,cols=3"), "ida-star")
    assert (record.result, len(record.events)) == (1.0, 15)


@dataclass(frozen=True)
class TooSure(SlidingPuzzle):
    def heuristic(self, s: State) -> float:
        total = 0
        for cell in range(self.rows * self.cols):
            total += self.far[cell][int(s.tiles >> 4 * cell & 15)]
        return -2 * total


def test_a_heuristic_that_promises_too_much_is_found():
    with pytest.raises(GameError, match="so it is no lower bound"):
        solve(TooSure(2, 2)).check_heuristic()


def test_what_is_no_puzzle_is_refused():
    with pytest.raises(GameError, match="is no puzzle: one player"):
        fewest_moves(make("tic-tac-toe"))
    game = make("sliding-puzzle")
    with pytest.raises(Exception, match="the game is over"):
        fewest_moves(game, game.parse("0 1 2 3 4 5 6 7 8"))


def test_the_goal_may_be_out_of_reach():
    from tests.solving.loopy_graphs import Graph

    lost = Graph((1, 2, 1, 3, 0, 2, 3, 0, 1, 0, 0, 0), (0, 0, 0, 0), (99, 99, 99, -1))
    with pytest.raises((GameError, LimitError)):
        fewest_moves(lost)


class Room(NamedTuple):
    number: int


@dataclass(frozen=True)
class Prizes(Game[Room]):
    """One move to a goal with the result 1, two moves to one with the result 5."""

    def initial(self) -> Room:
        return Room(0)

    def legal(self, s: Room) -> int:
        return 3 if s.number < 2 else 0

    def step(self, s: Room, action: int) -> Room:
        if s.number == 0:
            return Room(2 - action)
        return Room(3 if action else 0)

    def result(self, s: Room) -> int:
        return 1 if s.number == 2 else 5


def test_the_nearest_goal_is_not_called_the_best():
    found = fewest_moves(Prizes())
    assert (found.depth, found.value, found.proven, found.actions) == (1, 1.0, False, (0,))
    assert not any(move.proven for move in found.moves)


@dataclass(frozen=True)
class Ring(Game[Room]):
    """Nine rooms in a ring, with ``door`` in one of them or, if it is 9, in none."""

    door: int = 9

    def initial(self) -> Room:
        return Room(0)

    def legal(self, s: Room) -> int:
        return 3 if s.number != self.door else 0

    def step(self, s: Room, action: int) -> Room:
        return Room((s.number + 1 + action) % 9)


def test_a_small_puzzle_is_searched_state_by_state(monkeypatch):
    monkeypatch.setattr(puzzles, "MANY_NODES", 0)
    with pytest.raises(LimitError, match=r"no goal can be reached from 0: all 9 states are known"):
        fewest_moves(Ring())
    found = fewest_moves(Ring(7))
    assert (found.depth, found.proven) == (4, True)


def test_time_that_runs_out_is_no_solution(mdplay):
    found = fewest_moves(Ring(), seconds=1e-9)
    assert (found.proven, found.actions, found.line) == (False, (), ())
    assert PuzzleAgent(Ring(), seconds=1e-9).act(Room(0), Random(1)) in (0, 1)
    position = ("--position", KORF[1][0], "--agent", "ida-star", "--seconds", "0.05")
    out = mdplay("search", "sliding-puzzle:rows=4,cols=4", *position).out
    assert "No solution found: at least " in out and " moves are needed." in out
