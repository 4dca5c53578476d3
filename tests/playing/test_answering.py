import pytest

from mdplay import GameError, Position, make
from mdplay.playing.agents import Answering, check_player, named_agent
from tests.nim import Nim


def test_chance_and_the_other_side_move_until_it_is_our_turn():
    game = make("pig")
    answering = Answering(named_agent(game, "random"), 1, seed=3)
    position = answering.answer(Position.start(game))
    while not position.is_over:
        assert position.player == 1 and not position.is_chance
        position = answering.answer(position.play("hold" if "hold" in position.moves else "roll"))
    assert position.num_events > 10


def test_a_seed_repeats_the_answers():
    def ends(seed):
        answering = Answering(named_agent(Nim(30), "random"), 0, seed)
        position = Position.start(Nim(30))
        while not position.is_over:
            position = answering.answer(position.play(0))
        return position.events

    assert ends(1) == ends(1)
    assert any(ends(1) != ends(seed) for seed in range(2, 6))


def test_a_side_that_does_not_exist_is_a_sentence():
    with pytest.raises(GameError, match="player=1 is not a player of Twenty48"):
        check_player(make("2048"), 1)
