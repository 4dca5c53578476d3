"""Tests of the tie rule, the best moves and the words for evaluations; also of ``mdplay.evaluating.wording``."""

import math

import pytest

from mdplay import Position, make, solve
from mdplay.bits import elements
from mdplay.evaluating.evaluation import Evaluation, MoveEvaluation, best_moves, rounded_off, tie_margin
from mdplay.evaluating.wording import compare_moves, describe, format_bounds
from mdplay.naming.registry import register_extras
from mdplay.playing.agents import make_agent
from mdplay.playing.evaluators import agent_evaluation, evaluator_for, evaluator_method
from mdplay.solving.values import Choice
from tests.playing.players import Guessing, Leftmost

GAME = make("tic-tac-toe")
ONE_MOVE_WINS = GAME.parse("110220000")  # cell 2


def known(*facts, **flags):
    return MoveEvaluation.of(*facts, **flags)


# ---------------------------------------------------------------- best moves
def test_the_best_moves_are_the_fastest_wins_and_the_slowest_losses():
    assert best_moves(
        {0: known(1, True, 5), 1: known(1, True, 3), 2: known(0, True, 9), 3: known(1, True, 3)}
    ) == (
        1,
        3,
    )
    assert best_moves({0: known(-1, True, 2), 1: known(-1, True, 6)}) == (1,)
    assert best_moves({0: known(1, True, None, 2), 1: known(1, True, None, 7)}) == (1,)
    assert best_moves({0: known(-1, True, None, -2), 1: known(-1, True, None, -7)}) == (0,)
    assert best_moves({}) == ()


def test_a_player_delays_the_end_of_a_game_that_is_worth_less_than_infinite_play():
    moves = {0: known(0.5, True, 2), 1: known(0.5, True, 6)}
    assert (best_moves(moves), best_moves(moves, endless=1.0)) == ((0,), (1,))


def test_values_within_the_tie_rule_are_tied():
    moves = {0: known(2000.0, True), 1: known(2000.0 - 1e-6, True), 2: known(2000.0 - 1e-5, True)}
    assert tie_margin(2000.0) == pytest.approx(2e-6) and best_moves(moves) == (0, 1)
    assert (rounded_off(2e-16), rounded_off(0.5), rounded_off(math.inf)) == (0.0, 0.5, math.inf)


@pytest.mark.parametrize("name", ["tic-tac-toe", "connect-four:rows=4,cols=4"])
def test_the_table_the_agent_and_the_page_agree_on_the_best_moves(name):
    game = make(name)
    solution, evaluator, agent = solve(game), evaluator_for(game), make_agent(game, "perfect")
    state = game.initial()
    while solution.choices(state):
        (table,) = solution.evaluate(state)
        *_, page = evaluator.evaluate(state)
        hint = agent_evaluation(agent, "perfect", game, state)
        assert table.best == page.best == hint.best == tuple(solution.favourites(state))
        assert {a: m.value for a, m in page.moves.items()} == {c.action: c.value for c in solution.choices(state)}
        state = game.step(state, hint.best[0])


# ---------------------------------------------------------------- what agents know
def test_an_agent_without_values_has_a_move():
    found = agent_evaluation(Leftmost(GAME), "it", GAME, GAME.initial())
    assert (found.best, found.moves) == ((0,), {})


def test_values_of_an_agent_are_estimates_unless_it_says_that_they_are_exact():
    found = agent_evaluation(Guessing(GAME), "it", GAME, GAME.initial())
    assert found.best == (8,)
    assert [action for action, _ in found.ranked] == [8, 7, 6, 5, 4, 3, 2, 1, 0]
    assert describe(GAME, found.moves[4], side="X") == "about 70 % for X"


def test_a_solution_and_a_proven_node_are_exact(needs_compiler):
    for name, words in (("perfect", "wins in 1 ply"), ("mcts:simulations=500,threads=1", "wins")):
        found = agent_evaluation(make_agent(GAME, name), name, GAME, ONE_MOVE_WINS)
        assert (found.best, found.moves[2].value, found.moves[2].exact) == ((2,), 1.0, True)
        assert describe(GAME, found.moves[2]) == words


# ---------------------------------------------------------------- words
def test_a_draw_is_no_win_by_rounding_and_bounds_are_not_exact():
    drawn = MoveEvaluation.of_choice(Choice(0, -5e-17, 6e-17))
    assert (drawn.value, drawn.exact) == (0.0, True)
    bounds = MoveEvaluation.of_choice(Choice(0, 2.9, 3.1))
    assert (bounds.exact, bounds.is_bound) == (False, True)
    assert describe(make("dots-and-boxes"), bounds) == "+2.9 to +3.1"


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("tic-tac-toe", known(1, True, 3), "wins in 3 plies"),
        ("tic-tac-toe", known(-1, True, 1), "loses in 1 ply"),
        ("tic-tac-toe", known(0, True, 9), "draws"),
        ("tic-tac-toe", known(0.25, False), "about 62 % for the player to move"),
        ("tic-tac-toe", known(0.25, True, expected=True), "+0.2500 on average"),
        ("connect-four", known(1, True, 41, 1), "wins in 41 plies, score +1"),
        ("dots-and-boxes", known(2, True), "wins by 2"),
        ("dots-and-boxes", known(-1.26, False), "about −1.3 points for the player to move"),
        ("othello:side=4", known(-8, True), "loses by 8"),
        ("pig", known(0.0612, True), "53.1 % for the player to move"),
        ("2048", known(24310.4, False), "about 24,300 more points"),
        ("sliding-puzzle", known(1, True, 31), "solved in 31 moves"),
        ("sliding-puzzle", known(0, True), "cannot be solved"),
        ("sliding-puzzle", known(0.001, False), "no solution found yet"),
        ("connect-four", MoveEvaluation(0.0, math.inf, False), "at least +0"),
    ],
)
def test_values_in_words(name, value, words):
    assert describe(make(name), value) == words


def test_a_lead_counts_where_points_do():
    assert describe(make("dots-and-boxes"), known(-1, True), lead=3.0) == "wins by 2"
    assert describe(make("tic-tac-toe"), known(-1, True), lead=3.0) == "loses"


def test_bounds_in_words():
    assert [format_bounds(*b) for b in ((None, None), (-1, None), (None, 2), (-16, 16))] == [
        "any value",
        "at least -1",
        "at most +2",
        "-16 to +16",
    ]


def test_an_empty_evaluation_knows_nothing():
    assert (Evaluation().values, Evaluation().ranked, Evaluation().value) == ({}, [], None)


def test_the_former_name_of_registered_evaluators_is_still_read():
    class Own(type(GAME)):
        pass

    class Fixed:
        method = "fixed"

        def evaluate(self, state, *, brief=False, show=None):
            yield Evaluation(best=(3,), done=True)

    register_extras(Own, advisers={"fixed": lambda game: Fixed()})
    assert evaluator_method(Own()) == "fixed" == evaluator_for(Own()).method
    assert evaluator_for(GAME).method == "table"


# ---------------------------------------------------------------- how moves differ
@pytest.mark.parametrize(
    "name, position, sentence",
    [
        ("tic-tac-toe", "moves:", "All moves draw."),
        ("tic-tac-toe", "moves:0", "Only 4 does not lose."),
        ("tic-tac-toe", "moves:0,3,1,4", "Only 2 wins."),
        ("tic-tac-toe", "moves:0,1,3,2", "All moves win. 6 wins soonest."),
        ("tic-tac-toe", "moves:4,1,0", "All moves lose. 8 delays the loss longest."),
        ("tic-tac-toe", "moves:0,1,2,3,4,5,7,6", "It is the only legal move."),
        ("anti-tic-tac-toe", "moves:", "Only 4 does not lose."),
        ("dots-and-boxes", "moves:", "8 of 12 moves are optimal."),
        ("dodgem", "moves:", "Only 0f wins."),
    ],
)
def test_a_sentence_says_how_the_moves_differ(name, position, sentence):
    game = make(name)
    state = Position.parse(game, position).state if position != "moves:" else game.initial()
    (evaluation,) = solve(game).evaluate(state)
    assert compare_moves(game, state, evaluation) == sentence


def test_nothing_is_said_of_a_puzzle():
    game = make("sliding-puzzle:rows=2,cols=2")
    (evaluation,) = solve(game).evaluate(game.initial())
    assert compare_moves(game, game.initial(), evaluation) == ""


def test_a_sentence_says_what_the_second_best_move_loses():
    game = make("dots-and-boxes")
    state = Position.parse(game, "moves:0,2,6").state
    moves = {action: known(2.0 if action == 8 else 0.5, True) for action in elements(game.legal(state))}
    evaluation = Evaluation(moves, moves[8], (8,), done=True)
    assert compare_moves(game, state, evaluation) == "Only 8 is optimal; the next best move loses 1.5 points."
    unknown = Evaluation({**moves, 8: known(2.0, False)}, moves[8], (8,), done=True)
    assert compare_moves(game, state, unknown) == ""
