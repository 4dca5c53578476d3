import pytest

from mdplay.bits import nonempty
from mdplay.errors import MdplayError
from mdplay.games.qubic.rules import Qubic
from mdplay.playing.agents import make_agent
from mdplay.rng import Random

GAME = Qubic()


def play(first, second, seed):
    s, rng = GAME.initial(), Random(seed)
    agents = make_agent(GAME, first), make_agent(GAME, second)
    while nonempty(GAME.legal(s)):
        s = GAME.step(s, agents[s.player].act(s, rng))
    return GAME.result(s)


@pytest.mark.parametrize("opponent", ["random", "threats", "perfect", "mcts:simulations=300"])
def test_perfect_moving_first_wins(opponent, needs_compiler):
    assert [play("perfect", opponent, seed) for seed in range(4)] == [1] * 4


def test_threats_beats_random_from_both_sides(needs_compiler):
    assert [play("threats", "random", seed) for seed in range(3)] == [1] * 3
    assert [play("random", "threats", seed) for seed in range(3)] == [-1] * 3


def test_threats_can_search_beside(needs_compiler):
    assert play("threats:simulations=200", "random", 1) == 1


def test_threats_blocks_and_completes(needs_compiler):
    agent = make_agent(GAME, "threats")
    assert agent.act(GAME.parse("000,333,100,323,200"), Random(0)) == 3  # xyz 300 stops the line
    assert agent.act(GAME.parse("000,333,100,323,200,313"), Random(0)) == 3  # and here it completes it


def test_other_games_are_refused():
    from mdplay.games.tic_tac_toe.rules import TicTacToe

    with pytest.raises(MdplayError, match="only qubic has an agent 'threats'"):
        make_agent(TicTacToe(), "threats")


@pytest.mark.slow
@pytest.mark.parametrize(
    "opponent", ["random", "threats", "mcts:simulations=100000,knowledge=no", "mcts:simulations=100000"]
)
def test_perfect_wins_a_hundred_games(opponent):
    assert [play("perfect", opponent, seed) for seed in range(100)] == [1] * 100
