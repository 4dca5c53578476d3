import pytest

from mdplay import GameError, make, play
from mdplay.playing.agents import named_agent
from mdplay.playing.matches.games import Stopped, play_game
from mdplay.rng import Random
from tests.playing.players import Leftmost, named


def test_two_who_play_leftmost():
    record = play(make("tic-tac-toe"), Leftmost(make("tic-tac-toe")), named("Leftmost"))
    assert record.events == (0, 1, 2, 3, 4, 5, 6)  # 2 4 6 is a diagonal of the first player
    assert (record.result, record.agents) == (1, ("Leftmost", named("Leftmost")))


def test_a_seed_repeats_a_game_and_numbers_differ():
    game = make("2048:rows=3,cols=3")
    assert play(game, "random", seed=5) == play(game, "random", seed=5)
    one = [named_agent(game, "random")]
    games = {play_game(game, one, seed=5, number=number).events for number in range(20)}
    assert len(games) == 20


def test_an_agents_thirst_for_random_words_changes_nobody_elses_luck():
    class Thirsty(Leftmost):
        def act(self, state, rng: Random):
            [rng.word() for _ in range(100)]
            return super().act(state, rng)

    game = make("2048:rows=3,cols=3")
    assert play(game, Thirsty(game), seed=1).events == play(game, Leftmost(game), seed=1).events


def test_a_game_from_a_position():
    game = make("connect-four")
    record = play(game, "random", "random", start=game.parse("444444"))
    assert record.replay().positions[0].state == game.parse("444444")


def test_the_number_of_agents_must_fit_and_a_game_can_be_stopped():
    game = make("tic-tac-toe")
    with pytest.raises(GameError, match="the game has 2 players; 1 agents were given"):
        play(game, "random")
    with pytest.raises(Stopped):
        play_game(game, [named_agent(game, "random")] * 2, seed=0, stopped=lambda: True)
