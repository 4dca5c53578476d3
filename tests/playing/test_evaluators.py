"""Evaluators tell what the solvers know, and guesses only as guesses."""

import pytest

from mdplay import LimitError, Prover, make, solve
from mdplay.evaluating.evaluation import MoveEvaluation
from mdplay.playing import evaluators
from mdplay.playing.evaluators import EvaluatorAgent, ProofEvaluator, SearchEvaluator, evaluator_for
from mdplay.rng import Random


def gathered(evaluator, state, **options):
    """Return the newest value of each move, and all that was said."""
    said = list(evaluator.evaluate(state, **options))
    moves = {}
    for evaluation in said:
        moves |= evaluation.moves
    return moves, said


def test_a_table_tells_everything_at_once():
    game = make("tic-tac-toe")
    state, solution = game.parse("100020000"), solve(game)
    moves, said = gathered(evaluator_for(game), state)
    assert {a: (v.value, v.distance) for a, v in moves.items()} == {
        choice.action: (choice.value, choice.distance) for choice in solution.choices(state)
    }
    assert (len(said), said[0].done, said[0].value.value) == (1, True, solution.value(state))
    assert solution.action(state) in said[0].best


def test_a_proof_tells_moves_as_they_are_proved_and_the_value_only_when_all_are():
    game = make("connect-four")
    state = game.parse("44444422222253")
    expected = {choice.action: choice for choice in Prover(game).choices(state)}
    moves, said = gathered(ProofEvaluator(Prover(game)), state)
    assert {a: (v.value, v.score, v.distance, v.exact) for a, v in moves.items()} == {
        a: (choice.value, choice.score, choice.distance, True) for a, choice in expected.items()
    }
    final = said[-1]
    assert final.done
    assert final.value.score == max(choice.score for choice in expected.values())
    for evaluation in said[:-1]:
        assert evaluation.value is None or (
            evaluation.value.is_bound and evaluation.value.low <= final.value.value <= evaluation.value.high
        )


def test_positions_that_are_solved_on_demand_have_bounds_first(needs_compiler, monkeypatch):
    monkeypatch.setattr(evaluators, "FIRST_SECONDS", 0.001)
    game = make("dots-and-boxes:rows=4,cols=4")
    state = game.state((1 << 40) - 1 & ~0b101101_1011_0110_1011_0110_1001)
    evaluator, expected = evaluator_for(game), solve(game).choices(state)
    moves, said = gathered(evaluator, state)
    assert [(a, v.low, v.high) for a, v in sorted(moves.items())] == [(c.action, c.low, c.high) for c in expected]
    value = max(choice.low for choice in expected)
    assert said[-1].done and said[-1].value.exact and said[-1].value.low == value
    for evaluation in said[:-1]:
        assert not evaluation.done and evaluation.value.low <= value <= evaluation.value.high
        assert all(moves[action].low == value for action in evaluation.best)
    brief = list(evaluator.evaluate(state, brief=True))[-1]
    assert brief.value.exact and brief.value.low == value


def test_images_of_a_position_are_proved_once(monkeypatch):
    game = make("connect-four")
    evaluator, asked = evaluator_for(game), []  # by the opening book: the first moves take no time
    choice = evaluator.prover.choice
    monkeypatch.setattr(evaluator.prover, "choice", lambda s, a, **rest: asked.append(a) or choice(s, a, **rest))
    moves, _ = gathered(evaluator, game.initial())
    assert sorted(asked) == [0, 1, 2, 3]
    assert {action: value.score for action, value in moves.items()} == {
        0: -2, 1: -1, 2: 0, 3: 1, 4: 0, 5: -1, 6: -2,
    }  # fmt: skip


def test_estimates_are_marked_and_a_proven_end_is_exact():
    game = make("tic-tac-toe")
    evaluator = SearchEvaluator(game, seconds=0.05)
    moves, said = gathered(evaluator, game.parse("110220000"))
    assert moves[2] == MoveEvaluation.of(1.0, True)
    assert said[-1].done
    assert said[-1].value.exact
    assert set(moves) == {2, 5, 6, 7, 8}
    assert "tree search" in said[-1].source


def test_who_asks_may_cancel():
    class Enough(Exception):
        pass

    def show(_):
        raise Enough

    with pytest.raises(Enough):
        list(SearchEvaluator(make("connect-four")).evaluate(make("connect-four").initial(), show=show))


def test_a_game_that_is_too_large_is_evaluated_by_search(monkeypatch):
    def solve_without_end(game, *, progress, **_):
        for states in range(1, 1 << 20):
            progress(states)

    monkeypatch.setattr(evaluators, "solve", solve_without_end)
    assert evaluator_for(make("tic-tac-toe"), seconds=0).method == "search"
    with pytest.raises(LimitError):
        evaluator_for(make("tic-tac-toe"), opponent="uniform", seconds=0)


def test_what_is_compiled_before_the_first_state_takes_nothing_of_the_time(monkeypatch):
    def solve_late(game, *, progress, **_):
        for _ in range(1000):
            progress(0)
        return solution

    solution = solve(make("tic-tac-toe"))
    monkeypatch.setattr(evaluators, "solve", solve_late)
    assert evaluator_for(make("tic-tac-toe"), seconds=0).method == "table"


def test_an_agent_follows_its_evaluator():
    game = make("tic-tac-toe")
    solution, agent = solve(game), EvaluatorAgent(evaluator_for(game))
    for text in ("000000000", "100020000", "110220000"):
        state = game.parse(text)
        assert agent.act(state, Random(1)) in solution.best(state)


def test_against_a_random_opponent_values_are_means():
    game = make("tic-tac-toe")
    moves, _ = gathered(evaluator_for(game, opponent="uniform"), game.initial())
    solution = solve(game, opponent="uniform")
    assert {a: v.value for a, v in moves.items()} == {c.action: c.value for c in solution.choices()}
    assert all(v.expected for v in moves.values())


def test_nobody_is_called_perfect_who_only_estimates():
    evaluator = SearchEvaluator(make("othello"))
    assert EvaluatorAgent(evaluator, "network").name == "network"
    with pytest.raises(LimitError, match="too large to be solved"):
        EvaluatorAgent(evaluator, "perfect")
