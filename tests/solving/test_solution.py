"""Solutions against plain recursion with fractions, and against published facts.

Here are tested besides: ``mdplay.solving.values`` and ``mdplay.solving.solvers``.
"""

import math

import pytest

from mdplay import LimitError, UnknownName, make, solve
from mdplay.bits import elements
from mdplay.compiling import unpack
from mdplay.errors import CycleError, GameError
from mdplay.solving import solvers
from mdplay.solving.solvers import choose_solver
from mdplay.solving.values import Lacking, Question, Survey, between, delays, known
from tests.nim import Nim
from tests.solving.plain_recursion import Grow, Round, exact_distances, exact_values


def states_of(game, limit=500):
    found, todo = {}, [game.initial()]
    while todo and len(found) < limit:
        s = todo.pop()
        if s in found:
            continue
        found[s] = True
        todo += [game.outcome(s, i) for i in elements(game.outcomes(s))] or [
            game.step(s, a) for a in elements(game.legal(s))
        ]
    return list(found)


@pytest.mark.parametrize("name", ["tic-tac-toe", "anti-tic-tac-toe", "connect-four:rows=3,cols=4"])
def test_values_and_distances_equal_plain_recursion(name, needs_compiler):
    game = make(name)
    solution, value = solve(game), exact_values(game)
    distance = exact_distances(game, value)
    for s in states_of(game):
        assert solution.value(s) == value(s)
        assert solution.distance(s) == distance(s)


def test_2048_equals_plain_recursion_with_fractions(needs_compiler):
    game = make("2048:rows=1,cols=3")
    solution, value = solve(game), exact_values(game)
    for s in states_of(game):
        assert solution.value(s) == pytest.approx(float(value(s)), abs=1e-9)
    assert solution.value() == pytest.approx(12.5856808704, abs=1e-9)


@pytest.mark.parametrize("rows, cols, score", [(2, 2, 66.9641494571), (2, 3, 480.2582717760)])
def test_small_2048_boards_have_the_published_score(rows, cols, score, needs_compiler):
    assert solve(make(f"2048:rows={rows},cols={cols}")).value() == pytest.approx(score, abs=1e-9)


def test_anti_tic_tac_toe_is_drawn_by_the_centre_only(needs_compiler):
    solution = solve(make("anti-tic-tac-toe"))
    assert solution.value() == 0
    assert solution.best() == [4]
    assert solution.states == 765  # the 5478 reachable states up to symmetry


def test_the_winner_hurries_and_the_loser_delays(needs_compiler):
    solution = solve(make("tic-tac-toe"))
    game = solution.game
    assert solution.action(game.parse("110220000")) == 2  # wins at once
    assert solution.action(game.parse("110200000")) == 2  # the only defence against the line 0 1 2
    lost = game.parse("100020100")
    assert solution.value(lost) == 0


def test_nim_is_lost_at_multiples_of_four():
    solution = solve(Nim())
    for left in range(22):
        for player in (0, 1):
            s = solution.game.initial()._replace(pile=left, player=player)
            assert solution.value(s) == (-1 if left % 4 == 0 else 1)
            assert solution.value(s, player=0) == (1 if player == 0 else -1) * solution.value(s)


def test_a_state_out_of_reach_is_solved_when_it_is_asked_for():
    solution = solve(Nim(), Nim().initial()._replace(pile=5))
    far = solution.game.initial()._replace(pile=40)
    assert solution.value(far) == -1
    assert solution.best(far._replace(pile=42)) == [1]


def test_fields_wider_than_random_games_showed_start_the_walk_again():
    assert solve(Grow()).states == 37 + 2  # piles of 5 to 41 bits, and two empty ones


def test_a_game_that_comes_back_is_refused_by_backward_induction(needs_compiler):
    with pytest.raises(GameError, match="has cycles"):
        solve(Round(), method="hashed")


def test_a_game_too_large_is_refused_before_it_starts(needs_compiler):
    with pytest.raises(LimitError, match=r"more than .* states"):
        solve(make("connect-four"), method="hashed", memory=1 << 30)


def test_a_table_that_outgrows_its_memory_is_refused(needs_compiler):
    with pytest.raises(LimitError, match="memory"):
        solve(make("connect-four:rows=4,cols=4"), method="hashed", memory=1 << 18)


def test_an_unknown_method_is_refused():
    with pytest.raises(UnknownName, match="did you mean 'hashed'"):
        solve(Nim(), method="hash")
    with pytest.raises(GameError, match="numbers its states"):
        solve(Nim(), method="indexed")


def test_favourites_are_the_soonest_wins_or_the_latest_losses():
    game = make("tic-tac-toe")
    solution = solve(game)
    lost = game.parse("120010000")  # two threats
    assert solution.best(lost) == [2, 3, 5, 6, 7, 8] and solution.favourites(lost) == [8]
    won = game.parse("112020000")
    assert solution.favourites(won) == [solution.action(won)]


def test_a_value_is_the_shortest_number_between_its_bounds():
    assert between(-1e-17, 5e-17) == 0.0
    assert between(1.0 - 3e-13, 1.0) == 1.0
    assert between(0.8235294117645, 0.8235294117648) == 0.8235294117646
    assert between(-math.inf, math.inf) == 0.0 and between(-math.inf, -math.inf) == -math.inf
    assert not known(-math.inf, math.inf)


@pytest.mark.parametrize(
    ("value", "endless", "late"),
    [(1, 0, False), (0, 0, False), (-1, 0, True), (1, 1, False), (0, 1, True), (-1, -1, True), (0, -1, False)],
)
def test_who_delays(value, endless, late):
    assert delays(value, endless) is late


# ---------------------------------------------------------------- all states
METHODS = {
    "tic-tac-toe": {"method": "hashed"},
    "2048:rows=1,cols=3": {"method": "hashed"},
    "dodgem:side=2": {"method": "retrograde"},
    "mu-torere": {"method": "retrograde"},
    "dots-and-boxes:rows=1,cols=2": {"method": "indexed"},
    "pig:goal=3": {"method": "value-iteration"},
    "connect-four:rows=2,cols=3": {"opponent": "uniform"},
}


@pytest.mark.parametrize("name", METHODS)
def test_all_states_as_an_iterator_and_as_arrays(name, tmp_path):
    """Every state, its value and its distance are those that a question about the state gives."""
    solution = solve(make(name), **METHODS[name])
    listed, arrays = list(solution), solution.arrays()
    assert len(listed) == len(arrays["states"]) == len(arrays["values"]) == solution.states
    assert all(solution.value(state) == value for state, value in listed)
    values = dict(listed)
    for number, row in enumerate(arrays["states"]):
        state = unpack(solution.game, row.view("uint64").tolist())
        assert values.pop(state) == arrays["values"][number]
        if "distances" in arrays:
            assert arrays["distances"][number] == (-1 if (d := solution.distance(state)) is None else d)
        if "actions" in arrays:
            assert arrays["actions"][number] == (solution.action(state) if solution.choices(state) else -1)
    assert not values
    assert ("distances" in arrays) == (solution.distance() is not None or solution.endless())
    assert ("actions" in arrays) == (solution.method == "value-iteration")


def test_a_proof_has_no_list_of_states():
    solution = solve(Nim(), method="proof")
    for question in (lambda: list(solution), solution.arrays, solution.tally, solution.distances):
        with pytest.raises(GameError, match="proof keeps no"):
            question()
    assert solution.document(distances=True)["tally"] is None


def test_what_is_lacking_names_its_error():
    with pytest.raises(LimitError, match="method indexed needs .* of memory"):
        solve(make("dots-and-boxes"), method="indexed", memory=100)
    with pytest.raises(GameError, match="method policy-iteration needs the opponent uniform"):
        solve(make("dots-and-boxes"), method="policy-iteration")


def test_a_survey_finds_cycles_before_a_solver_is_chosen():
    for game, cycles in ((Nim(), False), (Round(), True), (make("dots-and-boxes"), False)):
        question = Question(game, game.initial())
        assert question.survey.has_cycles is cycles
        assert choose_solver(question).supports_cycles is cycles


def test_a_cycle_that_random_games_miss_is_found_on_the_way(monkeypatch):
    monkeypatch.setattr(Survey, "has_cycles", False)
    question = Question(Round(), Round().initial())
    found = choose_solver(question).fill(question)
    assert isinstance(found, Lacking) and found.cycles and found.error is CycleError
    monkeypatch.undo()
    game = make("mu-torere")
    question = Question(game, game.initial())
    question.survey.has_cycles = False  # as if random games had met none
    monkeypatch.setattr(solvers, "Question", lambda *given: question)
    assert solve(game).method == "retrograde"
