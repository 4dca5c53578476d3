"""Tests of ``mdplay.distributed.processes``, and of what runs there: ``mdplay.distributed.processes``."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from multiprocessing import active_children

import pytest

from mdplay import AgentError, GameError, LimitError, make, match
from mdplay.distributed import open_executor
from tests.distributed import tasks
from tests.distributed.uses import USES, exchange_by_actors, map_in_order, replace_the_dead, scatter_to_actors
from tests.helpers import NIM, write


@pytest.fixture(scope="module")
def executor():
    with open_executor("processes", 2) as opened:
        yield opened


def test_answers_come_in_order_and_large_values_are_shared(executor):
    map_in_order(executor, 1000)


def test_workers_that_die_are_replaced_and_nothing_is_lost(executor, tmp_path):
    replace_the_dead(executor, tmp_path, 30, 6)


def test_a_task_that_kills_every_worker_is_given_up(executor, monkeypatch):
    monkeypatch.setattr("mdplay.distributed.processes.TRIES", 2)
    with pytest.raises(LimitError, match="2 workers died at task 7"):
        executor.map(tasks.die, [7])


def test_the_error_of_the_smallest_number_is_raised(executor):
    done = []
    with pytest.raises(AgentError, match="number 3") as caught:
        executor.run(tasks.fail, range(20), done=lambda number, answer: done.append(number))
    assert caught.value.agent == "the agent"
    assert sorted(done) == [0, 1, 2]


def test_work_that_cannot_be_sent_is_told_in_a_sentence(executor):
    with pytest.raises(GameError, match="cannot be sent to another process"):
        executor.map(lambda number: number, range(3))


def test_a_worker_uses_no_more_memory_than_it_may():
    with (
        open_executor("processes", 1, memory=1 << 30) as small,
        pytest.raises(LimitError, match="task 0 needs more"),
    ):
        small.map(tasks.hungry, [0])


def test_ctrl_c_ends_the_workers_at_once():
    before = {child.pid for child in active_children()}
    with open_executor("processes", 2) as opened:
        opened.map(tasks.sleep, range(2), 0.01)  # they are up
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            opened.map(tasks.sleep, range(2), 600.0)
        assert {child.pid for child in active_children()} == before  # nobody waits for ten minutes


def test_actors_exchange_large_answers_and_are_made_again_when_they_die(executor, tmp_path):
    exchange_by_actors(executor, tmp_path)


def test_each_actor_gets_the_parts_that_are_addressed_to_it(executor, tmp_path):
    scatter_to_actors(executor, tmp_path)


@pytest.mark.parametrize("use", USES)
def test_every_use_gives_the_bytes_of_the_serial_engine(executor, use):
    assert use(executor) == use("serial") == use(None)


def test_a_users_game_and_agent_reach_the_workers(executor, tmp_path):
    game = make(f"{write(tmp_path, 'piles.py', NIM)}:Nim:pile=9")
    agent = write(
        tmp_path, "first.py", "class First:\n    def __init__(self, game): pass\n    act = lambda *_: 0\n"
    )
    names = (f"{agent}:First", "random")
    assert match(game, *names, games=6, executor=executor) == match(game, *names, games=6)


def test_an_agent_that_is_an_object_is_refused(executor):
    class First:
        def act(self, state, rng):
            return 0

    with pytest.raises(AgentError, match="agent First is an object of this process"):
        match(make("tic-tac-toe"), First(), "random", games=2, executor=executor)


SLOW = """import time
from mdplay.bits import lowest

class Slow:
    def __init__(self, game):
        self.game = game

    def act(self, state, rng):
        time.sleep(0.003)
        return lowest(self.game.legal(state))
"""


def test_a_match_whose_driver_was_killed_goes_on(tmp_path, mdplay):
    results, slow = tmp_path / "match.db", f"{write(tmp_path, 'slow.py', SLOW)}:Slow"
    words = ["match", "tic-tac-toe", slow, "random", "--games", "300", "--executor", "processes"]
    driver = subprocess.Popen([sys.executable, "-m", "mdplay", *words, "--results", results])
    while _games_in(results) < 20:
        assert driver.poll() is None
        time.sleep(0.01)
    driver.kill()
    driver.wait()
    assert _games_in(results) < 300
    resumed = mdplay(*words, "--results", results, "--json")
    assert resumed.out == mdplay(*words[:-1], "serial", "--json").out


def _games_in(results):
    if not results.exists():
        return 0
    with closing(sqlite3.connect(results)) as file:
        if not file.execute("SELECT count(*) FROM sqlite_master WHERE name = 'games'").fetchone()[0]:
            return 0
        return file.execute("SELECT count(*) FROM games").fetchone()[0]


@pytest.mark.slow
def test_twenty_kills_change_nothing(executor):
    game, agents = make("connect-four"), ("mcts:simulations=300", "mcts:simulations=100")
    killed = []

    def kill(ended):
        if ended % 5 == 0:
            child = active_children()[ended % 2]
            os.kill(child.pid, signal.SIGKILL)
            killed.append(child.pid)

    assert match(game, *agents, games=100, executor=executor, progress=kill) == match(game, *agents, games=100)
    assert len(killed) == 20
