from hypothesis import given
from hypothesis import strategies as st

from mdplay import make
from mdplay.bits import some
from mdplay.playing.course import Course
from mdplay.playing.games import play


def test_rewards_chance_and_result_are_counted():
    game = make("2048:rows=2,cols=2")
    course = Course(game, game.parse("1100"))
    course.add(0)  # 2 + 2 = 4 points, then chance puts a 4 on cell 3
    assert (course.total, some(course.chance), course.over) == (4, True, False)
    course.add(13)
    assert game.text(course.state) == "2002"
    assert course.texts() == ["left", "4@3"]


@given(st.integers(0, 10**6))
def test_taking_back_returns_to_every_earlier_state(seed):
    game = make("2048:rows=2,cols=3")
    record = play(game, "random", seed=seed)
    course = Course(game)
    seen = []
    for event in record.events:
        seen.append((course.state, course.total, len(course.events)))
        course.add(event)
    while seen:
        course.take_back()
        assert (course.state, course.total, len(course.events)) == seen.pop()


def test_the_total_is_player_0s():
    game = make("tic-tac-toe")
    course = Course(game)
    for action in (0, 3, 1, 4, 8, 5):  # player 1 completes the middle row
        assert course.total == 0
        course.add(action)
    assert (course.over, course.total) == (True, -1)
