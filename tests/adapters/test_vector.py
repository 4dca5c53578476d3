import gymnasium
import numpy as np
import pytest

from mdplay import GameError, Position
from mdplay.adapters.gym import register_games
from mdplay.adapters.spaces import observe_bits
from mdplay.adapters.vector import ILLEGAL, VectorGames
from mdplay.compiling import unpack
from tests.nim import Nim


def random_actions(rng, mask):
    return np.array([rng.choice(np.flatnonzero(row)) if row.any() else 0 for row in mask])


@pytest.mark.parametrize("game", ["connect-four:rows=4,cols=5", "dots-and-boxes", Nim(9)], ids=str)
def test_every_step_is_that_of_the_rules(game):
    """Both players move by our hand, so plain rules can follow every game."""
    made, rng = VectorGames(game, 7, opponent=None), np.random.default_rng(4)
    seen, info = made.reset(seed=1)
    positions, observe = [Position.start(made.game)] * 7, observe_bits(made.game)
    ended = 0
    for _ in range(60):
        actions = random_actions(rng, info["action_mask"])
        before, moved = positions, [not p.is_over for p in positions]
        positions = [
            p.play(int(a)) if go else Position.start(made.game)
            for p, a, go in zip(positions, actions, moved, strict=True)
        ]
        seen, rewards, over, _, info = made.step(actions)
        for i, (p, q) in enumerate(zip(before, positions, strict=True)):
            gain = (q.total - p.total) * (-1 if moved[i] and p.mover else 1) if moved[i] else 0.0
            assert rewards[i] == gain and over[i] == q.is_over
            assert (seen[i] == observe(q.state)).all() and list(
                np.flatnonzero(info["action_mask"][i])
            ) == q.actions
        ended += over.sum()
    assert ended > 7


def test_chance_is_drawn_and_how_many_there_are_changes_nothing():
    few, many = VectorGames("2048:rows=2,cols=2", 3), VectorGames("2048:rows=2,cols=2", 8)
    _, info = few.reset(seed=9)
    _, more = many.reset(seed=9)
    for _ in range(30):
        action = info["action_mask"].argmax(axis=1)
        seen, rewards, over, _, info = few.step(action)
        others, gains, ends, _, more = many.step(more["action_mask"].argmax(axis=1))
        assert (seen == others[:3]).all() and (rewards == gains[:3]).all() and (over == ends[:3]).all()


def test_the_random_opponent_moves_for_the_other_side():
    made, rng = VectorGames("tic-tac-toe", 64, player=1), np.random.default_rng(5)
    _, info = made.reset(seed=2)
    assert (info["player"] == 1).all()
    total, games = 0.0, 0
    for _ in range(60):
        _, rewards, over, _, info = made.step(random_actions(rng, info["action_mask"]))
        total, games = total + rewards.sum(), games + over.sum()
        states = [unpack(made.game, row) for row in made._batch.states.tolist()]
        assert all(made.game.player(s) == 1 for s, end in zip(states, over, strict=True) if not end)
    assert games > 200 and total < 0  # whoever begins wins more of the random games


def test_an_illegal_action_ends_one_game_and_no_other():
    made = VectorGames("tic-tac-toe", 2, opponent=None)
    made.reset(seed=0)
    made.step(np.array([4, 4]))
    _, rewards, over, _, _ = made.step(np.array([4, 0]))
    assert rewards.tolist() == [ILLEGAL, 0.0] and over.tolist() == [True, False]
    _, rewards, over, _, info = made.step(np.array([8, 8]))
    assert not over.any() and info["action_mask"][0].sum() == 9


def test_gymnasium_makes_it_by_name():
    register_games()
    made = gymnasium.make_vec("mdplay/ConnectFour-v0", 4, vectorization_mode="vector_entry_point", rows=4, cols=5)
    seen, info = made.reset(seed=0)
    assert seen.shape[0] == 4 and info["action_mask"].shape == (4, 5) and made.observation_space.contains(seen)


def test_a_side_that_does_not_exist_is_a_sentence():
    with pytest.raises(GameError, match="player=2 is not a player of TicTacToe"):
        VectorGames("tic-tac-toe", 2, player=2)


def test_another_opponent_is_a_sentence():
    with pytest.raises(GameError, match="opponent='perfect' has no compiled form; random, or None"):
        VectorGames("tic-tac-toe", 2, opponent="perfect")
