import sys

import numpy as np
import pytest

from mdplay import AgentError, LimitError
from mdplay.cluster.opening import open_engine
from tests.cluster import tasks
from tests.cluster.uses import USES


def test_answers_come_in_the_order_of_the_numbers(on_ray):
    assert on_ray.map(tasks.draw, range(100)) == list(map(tasks.draw, range(100)))


def test_a_large_value_is_shared_and_cannot_be_written(on_ray):
    table = on_ray.share({"weights": np.arange(100.0), "name": "weights"})
    assert on_ray.map(tasks.weigh, range(100), table, 2.0) == [2.0 * number for number in range(100)]


def test_workers_that_die_are_replaced_and_nothing_is_lost(on_ray, tmp_path):
    assert on_ray.map(tasks.die_once, range(13), tmp_path) == list(map(tasks.draw, range(13)))
    assert len(list(tmp_path.iterdir())) == 3


def test_the_error_of_the_smallest_number_is_raised(on_ray):
    with pytest.raises(AgentError, match="number 3"):
        on_ray.map(tasks.fail, range(20))


def test_actors_exchange_large_answers_and_are_made_again_when_they_die(on_ray, tmp_path):
    actors = on_ray.actors(tasks.Counter, 2, tmp_path)
    held, counts = actors.exchange("add", None)
    assert counts == [(1, None), (1, None)]
    _, counts = actors.exchange("add", held)
    assert counts == [(2, [0, 3]), (1, [0, 3])]  # the second one died and has forgotten what it was told
    assert [part.tolist() for part in actors.fetch(held)] == [[0, 0, 0], [1, 1, 1]]
    with pytest.raises(AgentError, match="actor 0"):
        actors.call("fail")
    actors.close()


def test_each_actor_gets_the_parts_that_are_addressed_to_it(on_ray, tmp_path):
    actors = on_ray.actors(tasks.Counter, 2, tmp_path)
    addressed, told = actors.scatter("deal", None)
    assert told == [None, None]
    _, told = actors.scatter("deal", addressed)
    assert told == [[0, 10], [1, 11]]
    actors.close()


@pytest.mark.parametrize("use", USES)
def test_every_use_gives_the_bytes_of_the_serial_engine(on_ray, use):
    assert use(on_ray) == use("serial")


def test_a_ray_that_runs_already_is_used_and_left_running(on_ray):
    with open_engine("ray") as second:
        assert second.workers == on_ray.workers == 2
    assert on_ray.map(tasks.draw, range(2)) == list(map(tasks.draw, range(2)))


def test_nobody_outside_this_machine_can_reach_it(on_ray):
    nodes = on_ray.ray.nodes()
    assert [node["NodeManagerAddress"] for node in nodes] == ["127.0.0.1"]


def test_without_the_extra_a_sentence_says_what_to_install(mdplay, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    answer = mdplay("match", "tic-tac-toe", "random", "random", "--engine", "ray")
    assert answer.code == 2
    assert answer.err == "mdplay: the engine ray needs Ray; install it by: pip install mdplay[cluster]\n"


def test_memory_is_limited(on_ray):
    with open_engine("ray", memory=2 << 30) as small, pytest.raises(LimitError, match="task 0 needs more memory"):
        small.map(tasks.hungry, [0])
