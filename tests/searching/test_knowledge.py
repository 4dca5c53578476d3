"""Search by what a game knows: settled positions are decided, and only moves worth a search are tried."""

from dataclasses import dataclass

import pytest

from mdplay.bits import U64, elements
from mdplay.game import Bounds
from mdplay.games.qubic.rules import Qubic
from mdplay.games.qubic.threats import ThreatSearch
from mdplay.playing.agents import make_agent
from mdplay.rng import Random
from mdplay.searching.depth_limited import depth_limited
from mdplay.searching.mcts import mcts
from tests import nim
from tests.helpers import python
from tests.nim import State


@dataclass(frozen=True)
class Nim(nim.Nim):
    """Piles up to ``known`` are settled."""

    known: int = 100

    def heuristic(self, s: State) -> float:
        return 0.0

    def bounds(self, s: State) -> Bounds:
        won = 1 - 2 * s.player
        if s.pile > self.known:
            return Bounds(-1, 1, self.legal(s))
        if s.pile % 4 == 0:
            return Bounds(-won, -won, 0)
        return Bounds(won, won, U64(1) << s.pile % 4 - 1)


def test_a_settled_root_is_answered_at_once():
    found = mcts(Nim(), simulations=1000)
    assert (found.action, found.value, found.proven, found.simulations) == (0, 1.0, True, 1)
    deep = depth_limited(Nim(), depth=1)
    assert (deep.action, deep.value, deep.proven, deep.nodes) == (0, 1.0, True, 0)


def test_settled_leaves_prove_what_is_above_them():
    knowing, plain = Nim(known=4), Nim(known=0)
    for left in range(5, 11):
        lookup = -1.0 if left % 4 == 0 else 1.0  # Bouton 1901: leave a multiple of four
        state = State(left, 1)
        for search in (
            lambda game, s: mcts(game, s, simulations=5000),
            lambda game, s: depth_limited(game, s, depth=12),
        ):
            found, other = search(knowing, state), search(plain, state)
            assert (found.value, found.proven) == (other.value, other.proven) == (lookup, True)
            assert lookup < 0 or found.action == other.action == left % 4 - 1
            assert found.simulations < other.simulations or found.nodes < other.nodes


def test_knowledge_can_be_left_out():
    assert mcts(Nim(), simulations=50, knowledge=False).simulations == 50
    assert depth_limited(Nim(), depth=2, knowledge=False).proven is False
    assert [m.action for m in mcts(Nim(), simulations=50, knowledge=False).moves] == [0, 1, 2]


def test_a_lost_root_is_searched_all_the_same():
    found = mcts(Nim(), State(8, 0), simulations=100)
    assert (found.value, found.proven, len(found.moves)) == (-1.0, True, 3)


def test_without_solver_knowledge_is_a_value_and_no_proof():
    found = mcts(Nim(known=4), simulations=200, solver=False)
    assert (found.proven, found.simulations) == (False, 200)


def test_a_kept_tree_may_end_at_a_settled_node():
    game = Nim(known=4)
    first = mcts(game, State(6, 0), simulations=50)
    again = mcts(game, State(3, 0), simulations=50, reuse=first)  # settled, so it never had children
    assert (again.action, again.value, again.proven) == (2, 1.0, True)


# ---------------------------------------------------------------- forced wins in Qubic
QUBIC = Qubic()


def won_by_threats(count, seed, moves=14):
    """Positions of random games that a sequence of threats wins, but no single move."""
    rng, threats = Random(seed), ThreatSearch(QUBIC)
    while count:
        s = QUBIC.initial()
        for _ in range(moves):
            s = QUBIC.step(s, rng.pick(QUBIC.legal(s)))
        if not (QUBIC.completing(s.mine, s.theirs) or threats.win(s.mine, s.theirs).action is None):
            count -= 1
            yield s


def keeps_the_win(s, action):
    """Tell, by the prover's threat search, whether after a move and the forced answer the win is still there."""
    after = QUBIC.step(s, action)
    answers = elements(QUBIC.completing(after.theirs, after.mine))
    nexts = [QUBIC.step(after, answer) for answer in answers[:1]]
    return len(answers) > 1 or any(ThreatSearch(QUBIC).win(t.mine, t.theirs).action is not None for t in nexts)


def test_forced_wins_are_found_at_once_where_plain_search_misses_them(needs_compiler):
    missed = 0
    for s in won_by_threats(20, seed=3):
        found = mcts(QUBIC, s, simulations=1000)
        assert (found.value, found.proven, found.simulations) == (1.0, True, 1)
        assert keeps_the_win(s, found.action)
        plain = mcts(QUBIC, s, simulations=1000, knowledge=False)
        assert not plain.proven
        missed += not keeps_the_win(s, plain.action)
    assert missed > 5


def test_depth_limited_search_sees_them_too(needs_compiler):
    for s in won_by_threats(5, seed=4):
        found = depth_limited(QUBIC, s, depth=2)
        assert (found.value, found.proven) == (1.0, True)
        assert not depth_limited(QUBIC, s, depth=2, knowledge=False).proven


def test_what_the_tree_proves_agrees_with_the_prover(needs_compiler):
    """A move proven to win leaves the opponent without defence: after every answer threats win."""
    proven = 0
    rng = Random(5)
    for _ in range(40):
        s = QUBIC.initial()
        for _ in range(12):
            s = QUBIC.step(s, rng.pick(QUBIC.legal(s)))
        found = mcts(QUBIC, s, simulations=2000, seed=1)
        for move in (move for move in found.moves if move.proven and move.value < 0):
            after = QUBIC.step(s, move.action)  # a move proven to lose: the opponent wins by threats or at last
            known = ThreatSearch(QUBIC).win(after.mine, after.theirs).action is not None
            assert known or mcts(QUBIC, after, simulations=20_000, seed=2).value > 0.9
            proven += 1
    assert proven > 20


def test_compiled_and_plain_search_alike(needs_compiler):
    code = (
        "from mdplay.naming.registry import make; from mdplay.searching.mcts import mcts\n"
        "from mdplay.searching.depth_limited import depth_limited\n"
        "game = make('qubic'); s = game.parse('000,333,111,222,030,110,003,300,330')\n"
        "r = mcts(game, s, simulations=25, seed=3)\n"
        "print([(m.move, m.visits, round(m.value, 12), m.proven) for m in r.moves], r.line, r.nodes)\n"
        "r = depth_limited(game, s, depth=1)\n"
        "print([(m.move, m.value, m.proven) for m in r.moves], r.nodes)"
    )
    assert python("-c", code) == python("-c", code, NUMBA_DISABLE_JIT="1")


@pytest.mark.parametrize(
    "text", ["mcts:simulations=200", "heuristic:depth=1", "mcts:simulations=200,knowledge=no"]
)
def test_agents_take_the_option_and_play_to_the_end(text, needs_compiler):
    agent, rng, s = make_agent(QUBIC, text), Random(6), QUBIC.initial()
    while QUBIC.legal(s):
        s = QUBIC.step(s, agent.act(s, rng) if s.player == 0 else rng.pick(QUBIC.legal(s)))
    assert QUBIC.result(s) == 1
