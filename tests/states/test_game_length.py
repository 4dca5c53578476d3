from dataclasses import dataclass
from typing import NamedTuple

import pytest

from mdplay import Game, GameError, LimitError, Position, make
from mdplay.rng import Random
from mdplay.states.game_length import (
    CUT,
    LEAST,
    MAX_CHANCE_MOVES,
    MAX_MOVES,
    MoveLimit,
    explicit_move_limit,
    has_margins,
    lengths,
    may_repeat,
    move_limit,
)


class Walk(NamedTuple):
    place: int
    player: int


@dataclass(frozen=True)
class Pacing(Game[Walk]):
    """Two players pace up and down a corridor; whoever steps out at the right has won."""

    length: int = 8

    def initial(self) -> Walk:
        return Walk(0, 0)

    def legal(self, s: Walk) -> int:
        return 0 if s.place == self.length else 1 if s.place == 0 else 3

    def step(self, s: Walk, action: int) -> Walk:
        return Walk(s.place - 1 if action else s.place + 1, 1 - s.player)

    def result(self, s: Walk) -> int:
        return 2 * s.player - 1


def test_random_games_show_their_length_and_whether_positions_come_again():
    seen = lengths(Pacing())
    assert seen.repeats and 20 < seen.mean < 200  # the expected time to the end is 8 * 8
    straight = lengths(make("tic-tac-toe"))
    assert not straight.repeats and 5 <= straight.mean <= 9
    assert lengths(Pacing(10_000)) == (CUT, True)


def test_only_games_that_repeat_have_a_limit_unless_somebody_says_so():
    assert move_limit(make("tic-tac-toe")) == move_limit(make("2048")) == MAX_MOVES
    assert move_limit(Pacing()) == round(10 * lengths(Pacing()).mean)
    assert move_limit(Pacing(), 7) == move_limit(make("2048"), 7) == 7
    assert move_limit(Pacing(2)) == LEAST


def test_whether_positions_come_back_and_how_large_results_are():
    class Patient(Pacing):
        endless = -1

    assert [may_repeat(game) for game in (Pacing(), Patient(1), Pacing(1))] == [True, True, False]
    assert not any(may_repeat(make(name)) for name in ("pig", "tic-tac-toe"))  # chance ends every circle of Pig

    class Large(Pacing):
        def result(self, s: Walk) -> int:
            return 5 * (2 * s.player - 1)

    assert [has_margins(game) for game in (Pacing(), Large())] == [False, True]


def test_a_game_may_say_its_limit():
    class Short(Pacing):
        max_moves = 12

    assert move_limit(Short()) == explicit_move_limit(Short()) == 12 and explicit_move_limit(Short(), 3) == 3
    Short.max_moves = "many"
    with pytest.raises(GameError, match="Short.max_moves is 'many'; it must be a whole number from 1 on"):
        move_limit(Short())
    with pytest.raises(LimitError, match="max_moves=0 must be at least 1"):
        move_limit(Short(), 0)


def walk(game, moves):
    """Return the positions of a game that goes up and down for ever."""
    position = Position.start(game)
    yield position
    for number in range(moves):
        position = position.after(number % 2)
        yield position


def test_the_referee_calls_off_what_comes_back_to_a_position():
    referee = MoveLimit(Pacing())
    ended = next(position.num_events for position in walk(Pacing(), 5000) if referee.is_truncated(position))
    assert ended == move_limit(Pacing())
    early = MoveLimit(Pacing(), 9)
    assert next(p.num_events for p in walk(Pacing(), 50) if early.is_truncated(p)) == 9


def test_the_referee_leaves_a_long_game_alone_that_never_repeats():
    game = make("2048")
    referee, position = MoveLimit(game), Position.start(game)
    for number in range(3 * LEAST):
        if position.is_over:
            break
        assert not referee.is_truncated(position)
        position = position.after(position.draw(number << 56) if position.is_chance else position.actions[0])
    assert position.num_events > LEAST


def test_the_third_repetition_truncates_a_game_in_which_nothing_is_random():
    """Positions repeat every two moves; a random number drawn in between starts the count again."""
    still = [Random(0), Random(1)]
    referee = MoveLimit(Pacing())
    assert next(p.num_events for p in walk(Pacing(), 50) if referee.is_truncated(p, still)) == 4
    referee, drawn = MoveLimit(Pacing()), [Random(0), Random(1)]
    for position in walk(Pacing(), LEAST // 2):
        assert not referee.is_truncated(position, drawn)
        drawn[1].word()
    explicit = MoveLimit(Pacing(), 30)
    assert next(p.num_events for p in walk(Pacing(), 50) if explicit.is_truncated(p, still)) == 30


def test_games_with_chance_that_repeat_are_truncated_late():
    class Dicey(Pacing):
        def outcomes(self, s: Walk) -> int:
            return 0

    referee = MoveLimit(Dicey())
    assert not any(referee.is_truncated(position) for position in walk(Dicey(), 20 * LEAST))
    assert referee.limit == MAX_CHANCE_MOVES
