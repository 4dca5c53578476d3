import pytest

from mdplay import Position, make
from mdplay.games.qubic.agents import BookEvaluator
from mdplay.games.qubic.threats import ThreatSearch


@pytest.fixture(scope="module")
def evaluator():
    found = BookEvaluator(make("qubic"))
    found.search.seconds = 0.05
    return found


def gathered(evaluator, state, **options):
    moves, said = {}, list(evaluator.evaluate(state, **options))
    for evaluation in said:
        moves |= evaluation.moves
    return moves, said


def test_the_first_move_wins_by_the_book(evaluator):
    moves, said = gathered(evaluator, evaluator.game.initial())
    assert (said[0].value.value, said[0].value.exact, said[0].source) == (1.0, True, "the book of the proof")
    # The symmetries take a corner to all corners and to the cells in the centre; the book knows no others.
    alike = {16 * x + 4 * y + z for x in (0, 3) for y in (0, 3) for z in (0, 3)}
    alike |= {16 * x + 4 * y + z for x in (1, 2) for y in (1, 2) for z in (1, 2)}
    assert set(moves) == alike
    assert all(value.exact and value.value == 1.0 for value in moves.values())
    assert said[-1].done
    assert set(said[-1].best) == alike


def test_where_nothing_is_certain_every_move_has_an_estimate(evaluator):
    position = Position.parse(make("qubic"), "moves:001")  # not the book's first move
    moves, said = gathered(evaluator, position.state)
    assert len(moves) == 63
    assert not said[-1].value.exact


def test_a_forced_win_is_shown_to_its_end(evaluator):
    position = Position.parse(make("qubic"), "moves:000,111,030,112,300,121,330,211,012,122")
    forced = ThreatSearch(position.game).win(position.state.mine, position.state.theirs)
    assert forced.action is not None
    _, said = gathered(evaluator, position.state, brief=True)
    assert said[0].value.value == 1.0
    assert said[0].value.distance is None  # threats prove a win, not its length
    end = position
    for move in said[0].line:
        end = end.play(move)
    assert end.is_over
    assert end.result == 1


def test_a_move_that_lets_the_opponent_win_is_lost(evaluator):
    position = Position.parse(make("qubic"), "moves:000,111,100,112,200")  # O must take 300
    moves, _ = gathered(evaluator, position.state)
    block = position.actions[position.moves.index("300")]
    others = [action for action in position.actions if action != block]
    assert all(moves[action].value == -1 and moves[action].exact for action in others)
