from functools import cache

import pytest

from mdplay.bits import elements
from mdplay.errors import GameError, LimitError, PositionError
from mdplay.games.connect_four.rules import ConnectFour
from mdplay.games.dots_and_boxes.rules import DotsAndBoxes
from mdplay.games.tic_tac_toe.rules import TicTacToe
from mdplay.games.twenty48.rules import Twenty48
from mdplay.naming.notation import parse_position
from mdplay.playing.agents import make_agent
from mdplay.rng import Random
from mdplay.searching import depth_limited as module
from mdplay.searching.alpha_beta import WIN
from mdplay.searching.depth_limited import HeuristicAgent, depth_limited
from tests.helpers import COMPILED
from tests.searching.games import (
    LATE,
    PROBABILITY,
    RESULT,
    Chain,
    Endless,
    EndlessChance,
    Faulty,
    Race,
    breaking,
    exact_values,
    track,
)


@cache
def minimax(game, s, depth):
    """Return the value for player 0 at a depth, without pruning or a stack."""
    if outcomes := elements(game.outcomes(s)):
        return sum(game.probability(s, i) * minimax(game, game.outcome(s, i), depth) for i in outcomes)
    actions = elements(game.legal(s))
    if not actions:
        return game.result(s) * (1 if game.has_reward else WIN + depth)
    if depth == 0:
        return game.heuristic(s)
    sign = -1 if game.player(s) else 1
    values = [sign * game.reward(s, a) + minimax(game, game.step(s, a), depth - 1) for a in actions]
    return min(values) if game.player(s) else max(values)


@pytest.mark.parametrize("position", ["", "4455", "44332", "123456712345671", "7171223366"])
def test_pruning_changes_no_value(position):
    game = ConnectFour()
    state = parse_position(game, position)
    depth = 4 if COMPILED else 2
    result = depth_limited(game, state, depth=depth)
    sign = -1 if state.player else 1
    for move in result.moves:
        expected = sign * minimax(game, game.step(state, move.action), depth - 1)
        assert move.value == (round(expected / WIN, 3) if abs(expected) > WIN / 2 else expected)


def test_extra_turns_and_points_are_searched_to_the_end():
    game = DotsAndBoxes(1, 2)
    state = game.initial()
    result = depth_limited(game, state, depth=7)
    exact = exact_values(game, state)
    assert {move.action: move.value for move in result.moves} == exact
    assert result.proven
    assert result.action == min(a for a, v in exact.items() if v == max(exact.values()))


def test_chance_is_averaged():
    game = Twenty48(2, 2)
    state = parse_position(game, "1123")
    for depth in (1, 2, 3):
        result = depth_limited(game, state, depth=depth)
        for move in result.moves:
            after = minimax(game, game.step(state, move.action), depth - 1)
            assert move.value == pytest.approx(game.reward(state, move.action) + after)
    deep = depth_limited(game, state, depth=60) if COMPILED else None
    if deep is not None:
        assert deep.value == pytest.approx(max(exact_values(game, state).values()))
        assert deep.depth < 60  # it stops when it has seen every game to its end


@pytest.mark.parametrize(
    ("game", "state", "depth"),
    [(Race(), track(), 4), (Race(), track(row=6), 3), (Chain(), track(row=100), 3)],
    ids=["two coins", "six coins", "chain"],
)
def test_chance_events_that_follow_each_other_have_room(game, state, depth):
    depth = depth if COMPILED else 2
    result = depth_limited(game, state, depth=depth)
    expected = [minimax(game, game.step(state, action), depth - 1) for action in (0, 1)]
    assert [move.value for move in result.moves] == expected


def test_a_search_that_needs_more_room_goes_on_where_it_was(monkeypatch):
    # The same nodes are counted whether the stack was long enough from the start or grew on the way.
    grown = depth_limited(Race(), track(row=5), depth=2)
    monkeypatch.setattr(module, "new_stack", lambda plies, *sizes, new=module.new_stack: new(1000, *sizes))
    ample = depth_limited(Race(), track(row=5), depth=2)
    assert (grown.nodes, grown.moves, grown.line) == (ample.nodes, ample.moves, ample.line)


def test_rows_of_chance_that_meet_again_are_searched_once():
    # 2**40 sequences of coins, but 820 numbers of heads among those thrown so far
    result = depth_limited(Race(), track(goal=100, row=40), depth=1)
    assert result.nodes < 10_000
    assert [move.value for move in result.moves] == [2.0, 1.0]


def test_what_chance_mixes_is_proven_only_when_nothing_is_guessed():
    game, state = Race(), track(goal=3)
    guessed, seen = (depth_limited(game, state, depth=depth) for depth in (1, 12))
    assert not any(move.proven for move in guessed.moves)
    exact = exact_values(game, state)
    assert seen.proven and 0 < seen.moves[1].value < 1
    assert {move.action: move.value for move in seen.moves} == exact
    assert seen.action == max(exact, key=exact.get)


def test_endless_chance_is_refused(monkeypatch):
    monkeypatch.setattr(module, "MAX_PLIES", 1000)
    with pytest.raises(LimitError, match="more than 1,000 moves and chance events"):
        depth_limited(EndlessChance(), depth=3)


def test_a_game_without_end_is_searched_to_its_depth():
    assert depth_limited(Endless(), depth=5).depth == 5


@pytest.mark.parametrize(("broken", "words"), [*LATE, (PROBABILITY, "probabilities")])
def test_a_promise_broken_late_is_named(broken, words, monkeypatch):
    monkeypatch.setattr(module, "spot_check", lambda game, state: None)  # the sample would have found it
    with pytest.raises(GameError, match=words):
        depth_limited(Faulty(), breaking(broken), depth=8)


def test_promises_are_held_before_a_search():
    with pytest.raises(GameError, match="result is nan in"):
        depth_limited(Faulty(), breaking(RESULT), depth=1)


def test_wins_are_taken_and_losses_put_off():
    game = ConnectFour()
    win = depth_limited(game, parse_position(game, "414141"), depth=4)  # three on column 4
    assert (win.move, win.value, win.proven, win.line) == ("4", 1.0, True, ("4",))
    block = depth_limited(game, parse_position(game, "41414"), depth=4)
    assert block.best == (3,)
    assert [move.value for move in block.moves if move.move != "4"] == [-1.0] * 6


def test_time_ends_the_search():
    result = depth_limited(ConnectFour(), seconds=0.2)
    assert result.depth >= 1
    assert result.line[0] == result.move


def test_without_a_heuristic_what_is_decided_within_the_depth_counts():
    game = TicTacToe()
    assert not game.has_heuristic
    win = depth_limited(game, game.parse("110220000"), depth=1)
    assert (win.move, win.value, win.proven) == ("2", 1.0, True)
    defence = depth_limited(game, game.parse("110200000"), depth=2)
    assert (defence.move, defence.value, defence.proven) == ("2", 0.0, False)


def test_what_cannot_be_searched_is_refused():
    with pytest.raises(LimitError, match="depth=0"):
        depth_limited(ConnectFour(), depth=0)
    with pytest.raises(PositionError, match="over"):
        depth_limited(ConnectFour(), parse_position(ConnectFour(), "1212121"))


def test_chance_that_nobody_can_look_through_is_refused(monkeypatch):
    monkeypatch.setattr(module, "MAX_FIRST_NODES", 3)
    with pytest.raises(LimitError, match="more than 3 positions before the next; let tree search draw them: mcts"):
        depth_limited(Twenty48(2, 2), Twenty48(2, 2).parse("1200"), depth=2)


def test_the_heuristic_agent_draws_among_equals():
    game = ConnectFour()
    agent = make_agent(game, "heuristic:depth=1")
    assert isinstance(agent, HeuristicAgent)
    best = agent.search(game.initial()).best
    assert len(best) > 1
    assert {agent.act(game.initial(), Random(seed)) for seed in range(40)} == set(best)
