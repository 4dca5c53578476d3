import pytest

from mdplay.bits import members
from mdplay.errors import GameError, LimitError, PositionError
from mdplay.game import parse_position
from mdplay.games.connect_four import ConnectFour
from mdplay.games.dots_and_boxes import DotsAndBoxes
from mdplay.games.tic_tac_toe import TicTacToe
from mdplay.games.twenty48 import Twenty48
from mdplay.searching.alpha_beta import WIN
from mdplay.searching.depth_limited import depth_limited
from tests.helpers import COMPILED
from tests.searching.games import exact_values


def minimax(game, s, depth):
    """Return the value for player 0 at a depth, without pruning, table or stack."""
    if outcomes := members(game.outcomes(s)):
        return sum(game.probability(s, i) * minimax(game, game.outcome(s, i), depth) for i in outcomes)
    actions = members(game.legal(s))
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


def test_what_cannot_be_searched_is_refused():
    with pytest.raises(GameError, match="heuristic"):
        depth_limited(TicTacToe())
    with pytest.raises(LimitError, match="depth=0"):
        depth_limited(ConnectFour(), depth=0)
    with pytest.raises(PositionError, match="over"):
        depth_limited(ConnectFour(), parse_position(ConnectFour(), "1212121"))
