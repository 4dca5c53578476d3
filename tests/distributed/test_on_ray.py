import subprocess
import sys

import pytest

from mdplay import AgentError, LimitError, load_records
from mdplay.distributed import open_executor
from tests.distributed import tasks
from tests.distributed.uses import USES, exchange_by_actors, map_in_order, replace_the_dead, scatter_to_actors
from tests.helpers import write


def test_answers_come_in_order_and_large_values_are_shared(on_ray):
    map_in_order(on_ray, 100)


def test_workers_that_die_are_replaced_and_nothing_is_lost(on_ray, tmp_path):
    replace_the_dead(on_ray, tmp_path, 13, 3)


def test_the_error_of_the_smallest_number_is_raised(on_ray):
    with pytest.raises(AgentError, match="number 3"):
        on_ray.map(tasks.fail, range(20))


def test_actors_exchange_large_answers_and_are_made_again_when_they_die(on_ray, tmp_path):
    exchange_by_actors(on_ray, tmp_path)


def test_each_actor_gets_the_parts_that_are_addressed_to_it(on_ray, tmp_path):
    scatter_to_actors(on_ray, tmp_path)


@pytest.mark.parametrize("use", USES)
def test_every_use_gives_the_bytes_of_the_serial_engine(on_ray, use):
    assert use(on_ray) == use("serial")


def test_a_ray_that_runs_already_is_used_and_left_running(on_ray):
    with open_executor("ray") as second:
        assert second.workers == on_ray.workers == 2
    assert on_ray.map(tasks.draw, range(2)) == list(map(tasks.draw, range(2)))


def test_nobody_outside_this_machine_can_reach_it(on_ray):
    nodes = on_ray.ray.nodes()
    assert [node["NodeManagerAddress"] for node in nodes] == ["127.0.0.1"]


def test_without_the_extra_a_sentence_says_what_to_install(mdplay, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    answer = mdplay("match", "tic-tac-toe", "random", "random", "--executor", "ray")
    assert answer.code == 2
    assert answer.err == "mdplay: the executor ray needs Ray; install it by: pip install mdplay[cluster]\n"


def test_memory_is_limited(on_ray):
    with (
        open_executor("ray", memory=2 << 30) as small,
        pytest.raises(LimitError, match="task 0 needs more memory"),
    ):
        small.map(tasks.hungry, [0])


PLAYS_ON_RAY = """
import sys
import mdplay.distributed.on_ray as on_ray
from mdplay.cli import main

def kill_the_node(number, record, done=on_ray.OnRay._outcome):
    '''Kill Ray's own process after the first games.'''
    found = done(number, record)
    for kind, process in on_ray.import_ray(None)._private.worker._global_node.live_processes():
        if kind == "raylet":
            process.kill()
    return found

on_ray.OnRay._outcome = kill_the_node
sys.argv[0] = "mdplay"
main()
"""


def test_when_rays_node_dies_the_finished_games_are_saved_and_a_sentence_says_so(tmp_path):
    script = write(tmp_path, "plays.py", PLAYS_ON_RAY)
    options = [
        "--games",
        "40",
        "--executor",
        "ray",
        "--threads",
        "1",
        "--record",
        "games.jsonl",
        "--results",
        "r.db",
    ]
    agents = ["mcts:simulations=2000", "mcts:simulations=2000"]
    command = [sys.executable, script, "match", "connect-four:rows=4,cols=4", *agents, *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 2, done.stderr
    assert "mdplay: Ray's process raylet died, and its tasks with it; start the command again" in done.stderr
    games = load_records(tmp_path / "games.jsonl")
    assert 0 < len(games) < 40
    assert f"{len(games)} finished game" in done.stderr and "finished games are in r.db" in done.stderr
