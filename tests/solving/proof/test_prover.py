"""Proof search against plain negamax, plain recursion, tables of whole games, and published facts.

Here are tested besides: ``mdplay.solving.proof.children``, ``mdplay.solving.proof.kernel``,
``mdplay.solving.proof.children``, ``mdplay.solving.proof.table``, ``mdplay.solving.proof.table``,
``mdplay.solving.proof.kernel`` and ``mdplay.solving.proof.search``.
"""

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from mdplay import FormatError, Game, GameError, LimitError, learn, make, solve
from mdplay.bits import elements
from mdplay.learning.network import shipped_network
from mdplay.rng import Random
from mdplay.solving.proof import prover as prover_module
from mdplay.solving.proof.prover import Proof, Prover, prove
from mdplay.solving.proof.table import LIMIT
from tests.helpers import COMPILED
from tests.known.plain_connect_four import score as plain_score
from tests.nim import Nim, State
from tests.solving.plain_recursion import exact_values

KNOWN = Path(__file__).parents[2] / "known" / "connect_four_scores.txt"


def known_scores():
    lines = [line.split() for line in KNOWN.read_text().splitlines() if not line.startswith("#")]
    return [(moves, int(score)) for moves, score in lines]


def walks(game, count, seed=1):
    """Return the positions of random games, ends included, without repeats."""
    rng, found = Random(seed), {}
    while len(found) < count:
        s = game.initial()
        found[s] = True
        while game.legal(s):
            s = game.step(s, rng.pick(game.legal(s)))
            found[s] = True
    return list(found)[:count]


@pytest.fixture(scope="module")
def connect_four():
    return Prover(make("connect-four"), memory=1 << 22)


# ---------------------------------------------------------------- Connect Four
def test_known_scores(connect_four):
    rows = [(moves, score) for moves, score in known_scores() if COMPILED or len(moves) > 30]
    got = connect_four.scores([connect_four.game.parse(moves) for moves, _ in rows])
    assert got.tolist() == [score for _, score in rows]


def test_weak_scores_are_the_signs(connect_four):
    rows = [(moves, score) for moves, score in known_scores() if COMPILED or len(moves) > 32]
    got = connect_four.scores([connect_four.game.parse(moves) for moves, _ in rows], weak=True)
    assert got.tolist() == [int(np.sign(score)) for _, score in rows]


def test_choices_are_the_scores_of_the_positions_after(connect_four):
    game = connect_four.game
    state = game.parse(known_scores()[-20][0])
    for choice in connect_four.choices(state):
        after = game.step(state, choice.action)
        assert choice.score == -connect_four.score(after) if game.legal(after) else choice.distance == 1
        assert choice.value == np.sign(choice.score)


@pytest.mark.parametrize("moves, score", [row for row in known_scores() if len(row[0]) > 29][::4])
def test_the_best_line_ends_as_the_score_says(connect_four, moves, score):
    game = connect_four.game
    state, mover = game.parse(moves), game.parse(moves).player
    lookup = connect_four.lookup(state, mover)
    line = connect_four.line(state)
    for action in line:
        state = game.step(state, action)
    assert lookup.value == np.sign(score) and len(line) == lookup.distance
    assert game.legal(state) == 0 and game.result(state) == (-lookup.value if mover else lookup.value)


def test_a_win_is_22_minus_the_discs_of_the_winner(connect_four):
    game = connect_four.game
    assert connect_four.score(game.parse("121212")) == 22 - 4
    for moves, player in (("121212", 0), ("1212123", 1)):  # player 2 completes column 2
        lookup = connect_four.lookup(game.parse(moves), player)
        assert (lookup.value, lookup.distance) == (1, 1)
    assert connect_four.score(game.parse("1212121")) == -18  # over: the player to move has lost


@pytest.mark.parametrize("rows, cols", [(4, 4), pytest.param(4, 5, marks=pytest.mark.slow)])
def test_small_boards_equal_the_table_of_all_positions(needs_compiler, rows, cols):
    game = make(f"connect-four:rows={rows},cols={cols}")
    table, prover = solve(game, method="hashed"), Prover(game, memory=1 << 22)
    states = walks(game, 4000)
    scores = prover.scores(states).tolist()
    for s, score in zip(states, scores, strict=True):
        assert np.sign(score) == table.value(s)
        if game.legal(s):
            assert prover.proof_view.distance(
                prover.proof_view.convert(s), -score if s.player else score
            ) == table.distance(s)


def test_a_4_x_4_position_equals_plain_negamax():
    game = make("connect-four:rows=4,cols=4")
    state = game.parse("22231" if COMPILED else "2222333311")
    columns = ("x", "xox", "o", "") if COMPILED else ("xo", "xoxo", "xoxo", "")
    assert Prover(game, memory=1 << 20).score(state) == plain_score(columns, 4)


@pytest.mark.slow
@pytest.mark.parametrize(
    "rows, cols, score",
    # John Tromp's table of board sizes; 7 x 6: Allen and Allis 1988, first player wins with the 41st disc.
    # Draws: 4 and 5 wide.  6 x 6: the second player wins, with the last disc.
    [(6, 7, 1), (6, 6, -1), (6, 4, 0), (6, 5, 0), (5, 5, 0), (5, 4, 0)],
)
def test_published_facts(needs_compiler, rows, cols, score):
    assert prove(make(f"connect-four:rows={rows},cols={cols}")).low == score


@pytest.mark.slow
def test_the_centre_is_the_only_winning_first_move(needs_compiler):
    prover = Prover(make("connect-four"), threads=2)
    after = [prover.game.parse(str(column)) for column in range(1, 8)]
    assert prover.scores(after, weak=True).tolist() == [1, 1, 0, -1, 0, 1, 1]  # Allis 1988


def test_a_small_table_and_two_threads_change_nothing(needs_compiler, connect_four):
    game, rows = connect_four.game, known_scores()
    states = [game.parse(moves[:18]) for moves, _ in rows[:6]]
    want = connect_four.scores(states).tolist()
    for prover in (Prover(game, memory=1 << 18), Prover(game, threads=2)):
        assert prover.scores(states).tolist() == want
    hard = game.parse("44444326123")
    assert Prover(game, threads=2).prove(hard).low == connect_four.prove(hard).low


def test_time_is_up_and_the_bounds_hold(needs_compiler):
    proof = Prover(make("connect-four")).prove(make("connect-four").initial(), seconds=0.3)
    assert proof.low <= 1 <= proof.high and not proof.exact


# ---------------------------------------------------------------- other games
def test_tic_tac_toe_equals_plain_recursion():
    game = make("tic-tac-toe")
    value, prover = exact_values(game), Prover(game, memory=1 << 20)
    states = walks(game, 600 if COMPILED else 60)
    assert prover.scores(states).tolist() == [int(value(s)) for s in states]


def test_rewards_and_extra_turns_equal_plain_recursion():
    game = make("dots-and-boxes" if COMPILED else "dots-and-boxes:rows=1,cols=2")
    value, prover = exact_values(game), Prover(game, memory=1 << 20)
    states = walks(game, 300 if COMPILED else 60)
    assert prover.scores(states).tolist() == [int(value(s)) for s in states]
    choices = {c.action: c.value for c in prover.choices(game.initial())}
    for action, lookup in choices.items():
        after = game.step(game.initial(), action)
        turn = 1 if game.player(after) == 0 else -1
        assert lookup == game.reward(game.initial(), action) + turn * value(after)


def test_one_by_one_equals_all_at_once():
    game = make("tic-tac-toe")
    prover, states = Prover(game, memory=1 << 20), walks(game, 40)
    assert [prover.score(s) for s in states] == prover.scores(states).tolist()


class Debt(NamedTuple):
    owed: int  # never positive
    player: int


@dataclass(frozen=True)
class Debts(Game[Debt]):
    """Each pays back one or two; who pays the last wins."""

    def initial(self) -> Debt:
        return Debt(-7, 0)

    def legal(self, s: Debt) -> int:
        return 0 if s.owed == 0 else 1 if s.owed == -1 else 3

    def step(self, s: Debt, action: int) -> Debt:
        return Debt(s.owed + action + 1, 1 - s.player)

    def result(self, s: Debt) -> int:
        return 2 * s.player - 1


def test_negative_fields():
    prover = Prover(Debts(), memory=1 << 18)
    owed = list(range(1, 8))
    want = [-1 if n % 3 == 0 else 1 for n in owed]  # who leaves a multiple of three wins
    assert [prover.score(Debt(-n, 0)) for n in owed] == want
    assert prover.scores([Debt(-n, 0) for n in owed]).tolist() == want


@dataclass(frozen=True)
class Halves(Nim):
    """A game whose values are not whole."""

    pile: int = 3

    def step(self, s: State, action: int) -> State:
        return State(s.pile - 1, 1 - s.player if action else s.player)

    def result(self, s: State) -> float:
        return 0.5 * s.player


def test_values_that_are_not_whole_are_refused():
    with pytest.raises(GameError, match="needs integer values"):
        prove(Halves())
    with pytest.raises(GameError, match="needs integer values"):
        Prover(Halves(), memory=1 << 18).score(State(3, 0))


def test_chance_is_refused():
    with pytest.raises(GameError, match="chance"):
        Prover(make("2048"))


def test_solve_answers_by_proof(connect_four):
    solution = solve(connect_four.game, memory=1 << 22)
    moves, score = known_scores()[-1]
    state = connect_four.game.parse(moves)
    assert solution.method == "proof"
    assert solution.value(state) == np.sign(score)
    best = max(c.score for c in solution.choices(state))
    assert best == score and solution.action(state) in elements(connect_four.game.legal(state))


def test_single_choices_and_quick_scores_are_those_of_all_choices():
    game = make("connect-four:rows=4,cols=4")
    prover = Prover(game)
    state = game.parse("3322")
    assert [prover.choice(state, action) for action in range(4)] == Prover(game).choices(state)
    assert prover.quick(state) == Prover(game).score(state)


def test_a_choice_that_is_not_proved_in_time_has_bounds_and_one_that_is_cancelled_none(needs_compiler):
    class Enough(Exception):
        pass

    def show(_: int) -> None:
        raise Enough

    game = make("connect-four")
    prover = Prover(game, memory=1 << 22)
    start = game.initial()
    assert prover.quick(start) is None
    with pytest.raises(Enough):
        prover.choice(start, 3, progress=show)
    found = prover.choice(start, 3, seconds=0.01)
    assert (found.exact, found.low, found.high) == (False, -1, 1)
    assert prover.choice(game.parse("4141414"[:6]), 3).value == 1  # still in good order: a four in column 4


def test_a_network_orders_moves_and_changes_no_value():
    game = make("breakthrough:rows=5,cols=3" if COMPILED else "tic-tac-toe")
    network = learn(game, episodes=200, seed=1, threads=1).network
    plain, ordered = Prover(game), Prover(game, network=network)
    for s in walks(game, 30):
        assert ordered.score(s) == plain.score(s)
    assert ordered.nodes != plain.nodes
    assert prove(game, network=network, threads=2).low == plain.score(game.initial())


@pytest.mark.usefixtures("needs_compiler")
def test_solve_takes_the_order_of_a_file(tmp_path):
    game, file = make("breakthrough:rows=5,cols=3"), tmp_path / "n.safetensors"
    learn(game, episodes=200, seed=1, threads=1).save(file)
    by_file = solve(game, method="proof", network=file)
    assert by_file.value() == solve(game, method="proof").value()
    with pytest.raises(FormatError, match="cannot read"):
        solve(game, method="proof", network=tmp_path / "none")


def test_a_game_with_a_view_for_proofs_takes_no_network():
    with pytest.raises(GameError, match="ConnectFour has a proof view with an order of its own"):
        Prover(make("connect-four"), network=shipped_network(make("connect-four")))


# ---------------------------------------------------------------- as the table of a solution
@dataclass(frozen=True)
class Bait(Game[State]):
    """Take 2 points, after which the other player takes 5, or take none, after which it takes none."""

    def initial(self) -> State:
        return State(0, 0)

    def legal(self, s: State) -> int:
        return 3 if s.pile == 0 else 1 if s.pile < 3 else 0

    def step(self, s: State, action: int) -> State:
        return State(1 + action, 1) if s.pile == 0 else State(3, 0)

    def reward(self, s: State, action: int) -> int:
        return 2 - 2 * action if s.pile == 0 else 5 if s.pile == 1 else 0


def test_who_wins_counts_the_points_of_the_move():
    found = solve(Bait(), objective="win")
    assert [(c.low, c.high) for c in found.choices()] == [(-1, -1), (0, 0)]
    assert (found.value(), found.best()) == (0, [1])


def test_a_position_and_its_moves_share_one_time_limit(monkeypatch):
    given = []

    def prove(self, state, *, seconds, **rest):
        given.append(seconds)
        return Proof(-LIMIT, LIMIT, 0, 0, 0.0)

    monkeypatch.setattr(Prover, "prove", prove)
    clock = SimpleNamespace(monotonic=lambda: sum(given))  # each takes all it may
    monkeypatch.setattr(prover_module, "time", clock)
    found = solve(Bait(), method="proof", seconds=8.0)
    facts = found.document()
    assert given == [4.0, 2.0, 2.0]
    assert (facts["exact"], facts["value"], facts["low"], facts["high"]) == (False, None, None, None)
    with pytest.raises(LimitError, match="is not solved within 8 s: its value is open"):
        found.value()
