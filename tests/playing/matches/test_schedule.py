"""What is played survives whatever happens to the process."""

import os
import random
import signal
import subprocess
import sys

import pytest

from mdplay import make, match
from mdplay.playing.agents import named_agent
from mdplay.playing.matches.schedule import MatchOptions, Schedule
from mdplay.playing.matches.tournament import tournament
from tests.helpers import NIM, ROOT, python, write
from tests.playing.players import named

CUP = """
import sys
from mdplay import make, tournament
_, path, agents, games = sys.argv
tournament(make("tic-tac-toe"), agents.split(), games=int(games), seed=3, threads=2, file=path,
           progress=lambda done: print(done, flush=True))
"""
AGENTS = [named("Slow"), named("Leftmost"), "random"]


def test_a_match_resumes_where_it_was(tmp_path):
    game, path = make("tic-tac-toe"), tmp_path / "results.db"
    whole = match(game, "random", "random", games=30, seed=1)
    assert match(game, "random", "random", games=11, seed=1, file=path).records == whole.records[:11]
    played = []
    assert match(game, "random", "random", games=30, seed=1, file=path, progress=played.append) == whole
    assert played == list(range(12, 31))
    assert match(game, "random", "random", games=30, seed=2, file=path) != whole


def test_other_matches_are_filed_apart():
    def key(game="tic-tac-toe", agents=("random", "random"), openings="none", seed=0):
        game = make(game)
        named_agents = tuple(named_agent(game, agent) for agent in agents)
        return Schedule(game, named_agents, MatchOptions(10, openings, seed)).key

    keys = [
        key(),
        key("tic-tac-toe:rows=4"),
        key("anti-tic-tac-toe"),
        key(agents=("random", named("Leftmost"))),
        key(agents=(named("Leftmost"), "random")),
        key(openings="random:1"),
        key(seed=1),
    ]
    assert len(set(keys)) == len(keys)
    assert key() == key()


def test_every_game_has_fresh_agents():
    game = make("connect-four")
    once = match(game, named("Counting"), "random", games=6, seed=1, openings="none")
    assert once == match(game, named("Counting"), "random", games=6, seed=1, openings="none", threads=3)
    assert match(game, named("Counting"), "random", games=3, seed=1, openings="none").records == once.records[:3]


def kill_and_resume(path, kills, games):
    """Kill a tournament so often at random moments; then let it end and compare with one left alone."""
    luck, command = random.Random(1), [sys.executable, "-c", CUP, str(path), " ".join(AGENTS), str(games)]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}"}
    finished = 0
    for _ in range(kills):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
            lines = [process.stdout.readline() for _ in range(luck.randrange(1, 12))]
            process.send_signal(signal.SIGKILL)
            lines += process.stdout.readlines()
        assert process.returncode == -signal.SIGKILL
        told = max(int(line) for line in lines if line.endswith("\n"))
        assert told > finished
        finished = told
        assert count(path) >= finished
    return finished


def count(path):
    import sqlite3

    file = sqlite3.connect(path)
    assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    numbers = file.execute("SELECT match, number FROM games").fetchall()
    file.close()
    assert len(set(numbers)) == len(numbers)
    return len(numbers)


def end_and_compare(path, games):
    game = make("tic-tac-toe")
    resumed = tournament(game, AGENTS, games=games, seed=3, file=path)
    assert count(path) == 3 * games
    assert resumed == tournament(game, AGENTS, games=games, seed=3)


def test_a_killed_tournament_loses_no_game(tmp_path):
    assert 3 <= kill_and_resume(tmp_path / "cup.db", kills=3, games=200) < 600
    end_and_compare(tmp_path / "cup.db", games=200)


@pytest.mark.slow
def test_a_tournament_killed_fifty_times_loses_no_game(tmp_path):
    assert 50 <= kill_and_resume(tmp_path / "cup.db", kills=50, games=1500) < 4500
    end_and_compare(tmp_path / "cup.db", games=1500)


BOT = """
class Bot:
    def __init__(self, game, file=""):
        self.game = game

    def act(self, state, rng):
        legal = self.game.legal(state)
        return (legal & -legal).bit_length() - 1
"""
RUN = """
import sys
from mdplay import MdplayError, make, match
try:
    print(len(match(make(sys.argv[1]), sys.argv[2], "random", games=4, seed=1, file="results.db").records))
except MdplayError as error:
    print(error)
"""


def test_edited_rules_agents_and_files_get_no_old_games(tmp_path):
    def games(rules=NIM, bot=BOT, data="1"):
        for name, text in {"nim.py": rules, "bot.py": bot, "data": data}.items():
            write(tmp_path, name, text)
        return python("-c", RUN, "nim.py", "bot.py:Bot:file=data", cwd=tmp_path, NUMBA_DISABLE_JIT="1").strip()

    assert games() == games() == "4"
    assert "the rules have changed since its games were played" in games(rules=NIM.replace("min(3,", "min(2,"))
    assert "agent bot.py:Bot:file=data has changed" in games(bot=BOT.replace("legal & -legal", "legal"))
    assert "agent bot.py:Bot:file=data has changed" in games(data="2")
    assert games() == "4"
