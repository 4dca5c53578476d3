"""Values beyond a packing go into a wider form, and a broken promise that a kernel meets is named.

Here are tested besides: ``mdplay.solving.hashed_kernel``.

``spot_check`` is switched off where a lie is told only in states that a sample might miss.
"""

from dataclasses import dataclass
from typing import NamedTuple

import pytest

from mdplay import Game
from mdplay.bits import U64
from mdplay.compiling import kernels
from mdplay.errors import GameError, LimitError
from mdplay.game import Bounds
from mdplay.games.tic_tac_toe import TicTacToe
from mdplay.solving import hashed, solvers
from mdplay.solving.proof import search
from mdplay.solving.proof.prover import Prover
from mdplay.solving.responses import answer_to_policy
from mdplay.solving.solution import Solution
from mdplay.solving.solvers import solve
from mdplay.states import graph as game_graph
from mdplay.states import perft
from mdplay.states.perft import perft as count
from tests.hardening import honest
from tests.hardening.honest import State
from tests.helpers import COMPILED


@dataclass(frozen=True)
class Count(Game[State]):
    """Add one or two until eight are there; who cannot move has lost by ``stake``, each move earns ``points``."""

    stake: int = 1
    points: int = 0

    def initial(self) -> State:
        return State(0, 0)

    def legal(self, s: State) -> int:
        return 3 if s.n < 8 else 0

    def step(self, s: State, action: int) -> State:
        return State(s.n + action + 1, 1 - s.player)

    def reward(self, s: State, action: int) -> int:
        return self.points * action

    def result(self, s: State) -> int:
        return (2 * s.player - 1) * self.stake


@dataclass(frozen=True)
class Numbered(Count, honest.Numbered):
    """The same with numbers for the states."""


def value(game, s):
    """Return the value for player 0 by the definition."""
    if not game.legal(s):
        return game.result(s)
    sign = -1 if s.player else 1
    return sign * max(sign * value(game, game.step(s, a)) + game.reward(s, a) for a in (0, 1))


# each game with parameters of its own is compiled by itself: a few are enough then
FEW = [1 << 32] if COMPILED else [(1 << 31) - 1, 1 << 31, 1 << 32, 1 << 40]
STAKES = [*((stake, 0) for stake in FEW), (1, 1 << 31), *([] if COMPILED else [(1, 1 << 49)])]


@pytest.mark.parametrize(("stake", "points"), STAKES)
@pytest.mark.parametrize("kind", [Count, Numbered])
def test_large_values_are_exact(kind, stake, points, tmp_path):
    game = kind(stake, points)
    found = solve(game)
    assert found.method == ("indexed" if kind is Numbered else "hashed")
    assert found.value() == value(game, game.initial())
    found.save(tmp_path / "kept")
    again = Solution.load(tmp_path / "kept", game)
    assert again.value() == found.value()
    assert [c.value for c in again.choices()] == [c.value for c in found.choices()]


def test_distances_are_counted_as_long_as_they_fit():
    assert solve(Count()).distance() is not None
    assert solve(Count(1 << 32)).distance() is None


@pytest.mark.parametrize("kind", [Count, Numbered])
def test_values_that_no_float_holds_are_refused(kind):
    with pytest.raises(GameError, match="exact"):
        solve(kind(1, (1 << 53) - 1))


def test_a_file_goes_on_in_the_form_it_has(tmp_path):
    game = Count(1 << 32)
    first = solve(game, file=tmp_path / "kept")
    assert solve(game, file=tmp_path / "kept").value() == first.value() == value(game, game.initial())


@dataclass(frozen=True)
class Unhurried(Game[State]):
    """Add one or two until eight are there.  Infinite play would be worth 3 to player 0, who therefore delays."""

    endless = 3

    def initial(self) -> State:
        return State(0, 0)

    def legal(self, s: State) -> int:
        return 3 if s.n < 8 else 0

    def step(self, s: State, action: int) -> State:
        return State(s.n + action + 1, 1 - s.player)

    def result(self, s: State) -> int:
        return s.n - 8

    def index(self, s: State) -> int:
        return 2 * s.n + s.player

    def state(self, i: int) -> State:
        return State(i >> 1, i & 1)

    def size(self) -> int:
        return 20


def test_distances_are_the_same_by_all_methods_whatever_infinite_play_is_worth():
    game = Unhurried()
    ways = [solve(game, method=method) for method in ("hashed", "indexed", "retrograde")]
    for n in range(9):
        for player in (0, 1):
            found = {(way.value(State(n, player)), way.distance(State(n, player))) for way in ways}
            assert len(found) == 1
    assert ways[0].distance() == plies(game, game.initial())


def plies(game, s):
    """Return the plies to the end when player 0 delays it and player 1 hurries, both with best moves."""
    after = [game.step(s, a) for a in (0, 1)] if game.legal(s) else []
    best = [plies(game, t) for t in after if value(game, t) == value(game, s)]
    return 1 + (min if s.player else max)(best) if best else 0


@pytest.mark.parametrize("plies", [5, 4])
def test_a_state_near_the_end_whose_least_image_is_wider_is_solved(plies):
    # X has the row 0 1 2; its least image has the row 6 7 8, which needs more bits than the state itself.
    game = TicTacToe()
    state = game.initial()
    for action in (0, 3, 1, 4, 2)[:plies]:
        state = game.step(state, action)
    assert solve(game, state, method="hashed").value(state, player=0) == 1.0


# ---------------------------------------------------------------- lies in few states
@dataclass(frozen=True)
class TwoFaced(Numbered):
    """Tells a lie about one state only: ``lie`` says which promise breaks."""

    lie: str = ""

    def player(self, s: State) -> int:
        return 2 if self.lie_here(s) == 1 else s.player

    def index(self, s: State) -> int:
        return 1 << 40 if self.lie_here(s) == 2 else -7 if self.lie_here(s) == 3 else 2 * s.n + s.player

    def lie_here(self, s: State) -> int:
        return self.number if s.n == 7 else 0

    @property
    def number(self) -> int:
        return ("player", "index", "negative").index(self.lie) + 1


SWITCHES = [solvers, game_graph, perft, search]


@pytest.fixture
def unheld(monkeypatch):
    for module in SWITCHES:
        monkeypatch.setattr(module, "spot_check", lambda *_: None)


@pytest.mark.parametrize(
    ("lie", "sentence"),
    [("player", "player must be 0 or 1, not 2"), ("index", "index gives 1099511627776"), ("negative", "-7")],
)
@pytest.mark.parametrize("opponent, method", [("perfect", "indexed"), ("uniform", "policy-iteration")])
def test_a_lie_that_a_sweep_meets_is_named(lie, sentence, opponent, method, unheld):
    with pytest.raises(GameError, match=sentence):
        solve(TwoFaced(lie=lie), opponent=opponent, method=method)


@pytest.mark.parametrize("way", [lambda game: solve(game, method="hashed"), answer_to_policy])
def test_a_third_player_is_named(way, unheld):
    with pytest.raises(GameError, match="player must be 0 or 1, not 2"):
        way(TwoFaced(lie="player"))


@dataclass(frozen=True)
class Unfair(Count):
    """Chance adds one or two; its probabilities go wrong late in the game."""

    def legal(self, s: State) -> int:
        return 3 if s.n < 20 and s.n % 4 == 0 else 0

    def outcomes(self, s: State) -> int:
        return 3 if s.n % 4 else 0

    def outcome(self, s: State, i: int) -> State:
        return State(s.n // 4 * 4 + 4 * (i + 1), s.player)

    def probability(self, s: State, i: int) -> float:
        return 0.5 if s.n < 16 else 0.4


@pytest.mark.parametrize("way", [solve, answer_to_policy])
def test_probabilities_that_do_not_sum_to_one_are_named(way, unheld):
    with pytest.raises(GameError, match="the probabilities sum to 0.8"):
        way(Unfair())


@dataclass(frozen=True)
class Doubling(Game[State]):
    """Sixty-four moves at every turn, all the same: the paths grow fast, the positions do not."""

    def initial(self) -> State:
        return State(0, 0)

    def legal(self, s: State) -> U64:
        return U64(0xFFFF_FFFF_FFFF_FFFF)

    def step(self, s: State, action: int) -> State:
        return State(s.n + 1, 1 - s.player)


def test_paths_are_counted_exactly_or_not_at_all():
    assert count(Doubling(), depth=10)[-1].paths == 64**10
    with pytest.raises(LimitError, match="ply 11 has more paths than 64 bits can count"):
        count(Doubling(), depth=12)


# ---------------------------------------------------------------- proof search
class Wager(NamedTuple):
    n: int
    stake: int
    points: int
    circles: bool
    player: int


@dataclass(frozen=True)
class Wagers(Game[Wager]):
    """Count, or one move at a time in a circle; which it is and what is at stake, the state says.

    So one kernel proves them all.
    """

    def initial(self) -> Wager:
        return Wager(0, 1, 0, False, 0)

    def legal(self, s: Wager) -> int:
        return 1 if s.circles else 3 if s.n < 8 else 0

    def step(self, s: Wager, action: int) -> Wager:
        n = (s.n + 1) % 10 if s.circles else s.n + action + 1
        return Wager(n, s.stake, s.points, s.circles, 1 - s.player)

    def reward(self, s: Wager, action: int) -> int:
        return s.points * action

    def result(self, s: Wager) -> int:
        return (2 * s.player - 1) * s.stake


@pytest.mark.parametrize("stake", [119, 120, 121, 200, 1 << 40])
def test_proof_search_tells_the_value_or_that_it_cannot(stake):
    game, s = Wagers(), Wager(0, stake, 0, False, 0)
    if stake <= 120:
        assert Prover(game).score(s) == value(game, s)
    else:
        with pytest.raises(GameError, match="integer values from -120 to 120"):
            Prover(game).score(s)


@pytest.mark.parametrize("points", [10, 29, 30, 31, 40, 100])
def test_sums_of_rewards_are_not_cut_by_proof_search(points):
    game = Wagers()
    prover = Prover(game)
    states = [Wager(n, 1, points, False, player) for n in range(9) for player in (0, 1)]
    for s in states:
        truth = (-1 if s.player else 1) * value(game, s)
        try:
            assert prover.score(s) == truth
        except GameError:
            assert any(abs(value(game, each)) > 120 for each in states)


@dataclass(frozen=True)
class Empty(Count):
    """Lists no move where it promises one."""

    def bounds(self, s: State) -> Bounds:
        return Bounds(-1, 1, U64(0)) if s.n < 8 else Bounds(2 * s.player - 1, 2 * s.player - 1, U64(0))


@dataclass(frozen=True)
class Endless(Count):
    """Counts for ever."""

    def legal(self, s: State) -> int:
        return 3


def test_a_game_without_end_is_told(monkeypatch):
    monkeypatch.setattr(hashed, "MAX_DEPTH", 1024)
    with pytest.raises(LimitError, match="a game of Endless can last more than 1,024 plies"):
        solve(Endless())


def test_forced_moves_without_end_are_told():
    with pytest.raises(GameError, match="forced moves without end"):
        Prover(Wagers()).score(Wager(0, 1, 0, True, 0))


def test_a_look_without_moves_is_told(unheld):
    with pytest.raises(GameError, match="player, bounds or key"):
        Prover(Empty()).score(State(0, 0))


class Counters(NamedTuple):
    a: int
    b: int
    player: int


@dataclass(frozen=True)
class TwoCounters(Game[Counters]):
    """Add one to either of two counters, up to ``most``: (most + 1) ** 2 states."""

    most: int = 9

    def initial(self) -> Counters:
        return Counters(0, 0, 0)

    def legal(self, s: Counters) -> int:
        return (s.a < self.most) | (s.b < self.most) << 1

    def step(self, s: Counters, action: int) -> Counters:
        return Counters(s.a + 1 - action, s.b + action, 1 - s.player)

    def result(self, s: Counters) -> int:
        return 1 - 2 * s.player


@pytest.mark.parametrize("most, large", [(69, False), (300, True)])
def test_a_trial_that_cannot_get_through_ends_when_the_table_is_full(monkeypatch, needs_compiler, most, large):
    monkeypatch.setattr(kernels, "is_kept", lambda *_: False)
    monkeypatch.setattr(kernels, "PLAIN_SECONDS", 1000.0)
    begun = []

    def compiled_first(kernel, *given):
        begun.append(len(given[1].rows))
        raise LimitError("compiled")

    monkeypatch.setattr(kernels.Kernel, "compiled_first", compiled_first)
    table = hashed.HashTable(TwoCounters(most))
    if large:
        with pytest.raises(LimitError, match="compiled"):
            table.close(Counters(0, 0, 0))
        assert begun == [2 * hashed.MANY_SLOTS]
    else:
        table.close(Counters(0, 0, 0))
        assert len(table) == (most + 1) ** 2 and not begun
