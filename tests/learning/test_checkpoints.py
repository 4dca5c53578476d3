from types import SimpleNamespace

from mdplay.learning.self_play import NO_END, Budget


def training(episodes, seconds):
    return SimpleNamespace(episodes=episodes, seconds=seconds)


def test_episodes_end_a_run_and_its_points_part_it_evenly():
    budget, begun = Budget(1000, None), training(150, 1.0)
    assert budget.share(begun) == 0.15 and budget.planned(begun) == 1000
    assert budget.next_point(begun) == 2
    assert budget.block(begun, 2) == 50  # up to the point, though the clock would allow 75
    assert budget.block(begun, 2, 30) == 30


def test_seconds_end_a_run_at_the_speed_so_far():
    budget = Budget(None, 10.0, began=5.0)
    assert budget.planned(training(0, 5.0)) == NO_END
    assert budget.share(training(400, 7.0)) == 0.2 and budget.planned(training(400, 7.0)) == 2001
