"""Time limits for agents in Python, given as texts and as objects."""

import threading

import pytest

from mdplay import AgentError, LimitError, make, match, tournament
from mdplay.playing.time_limits import entering, limited
from tests.helpers import HUNG_SECONDS, NIM, write
from tests.playing.engine.test_agent import bot, started  # noqa: F401
from tests.playing.players import named

FAULTY = """
import os, signal, time


class Fails:
    def __init__(self, game, how: str = "hangs"):
        self.game, self.how = game, how

    def act(self, state, rng):
        if self.how == "hangs":
            while True:
                pass
        if self.how == "dies":
            os._exit(7)
        if self.how == "floods":
            while True:
                os.write(1, b"x" * 4096)
        return -3
"""


def test_a_limit_changes_no_game(started):  # noqa: F811
    game = make("connect-four")
    agents = named("Counting"), named("Slow")
    assert match(game, *agents, games=4, seed=3) == match(game, *agents, games=4, seed=3, move_seconds=60)


@pytest.mark.parametrize(
    "how, words",
    [
        ("hangs", "took longer than 2 seconds"),
        ("dies", "died with exit code 7"),
        ("floods", "took longer than 2 seconds"),  # onto stderr, which is not the protocol's
        ("cheats", "returned -3 in"),
    ],
)
def test_an_agent_in_a_file_that_fails_loses(how, words, tmp_path, started):  # noqa: F811
    path = write(tmp_path, "fails.py", FAULTY)
    found = match(make("tic-tac-toe"), f"{path}:Fails:how={how}", "random", games=2, move_seconds=2)
    assert (found.forfeits, found.tally.losses) == ((2, 0), 2)
    assert all(words in record.reason for record in found.records)
    assert found.records[0].reason.count("agent ") == 1


def test_a_users_game_is_made_in_the_other_process(tmp_path, started):  # noqa: F811
    game = make(f"{write(tmp_path, 'nim.py', NIM)}:Nim:pile=7")
    path = write(tmp_path, "fails.py", FAULTY)
    found = match(game, f"{path}:Fails", "random", games=2, openings="none", move_seconds=1)
    assert (found.forfeits, len(started)) == ((2, 0), 3)


def test_an_agent_that_cannot_be_made_says_so_before_the_first_game(started):  # noqa: F811
    with pytest.raises(AgentError, match="Unmade cannot be made in a separate process: it died .*no weights"):
        match(make("tic-tac-toe"), named("Unmade"), "random", games=2, move_seconds=5)
    with pytest.raises(LimitError, match="must be more than 0"):
        match(make("tic-tac-toe"), "random", "random", move_seconds=0)


class Sleeper:
    release = threading.Event()

    def act(self, state, rng):
        self.release.wait(HUNG_SECONDS)
        return 0


def test_an_object_that_hangs_is_left_to_itself_and_loses_until_it_is_back():
    game, sleeper = make("tic-tac-toe"), Sleeper()
    found = match(game, sleeper, Plain(game), games=4, move_seconds=0.2)
    assert found.forfeits == (4, 0)
    reasons = [record.reason for record in found.records]
    assert "took longer than 0.2 seconds" in reasons[0]
    assert all("is still thinking about an earlier move" in reason for reason in reasons[1:])
    sleeper.release.set()
    Sleeper.release = threading.Event()


class Plain:
    over = 0

    def __init__(self, game):
        self.game = game

    def act(self, state, rng):
        return rng.pick(self.game.legal(state))

    def game_over(self):
        Plain.over += 1


def test_objects_within_the_limit_play_as_without():
    game = make("tic-tac-toe")
    Plain.over, plain = 0, Plain(game)
    assert match(game, plain, Plain(game), games=4, move_seconds=60) == match(game, plain, Plain(game), games=4)
    assert Plain.over == 2 * 2 * (4 + 1)  # and once each time before the first game


def test_an_engine_takes_the_limit_as_its_own(started):  # noqa: F811
    with entering(make("tic-tac-toe"), [bot("sound", limit=30)], 2.5) as (one,):
        assert one.fresh().limit == 2.5
        assert limited(make("tic-tac-toe"), one, 9) is one


def test_the_commands_tell_who_failed(mdplay, tmp_path, started):  # noqa: F811
    path = write(tmp_path, "fails.py", FAULTY)
    agent, options = f"{path}:Fails:how=cheats", ("--games", 2, "--move-seconds", 20)
    answer = mdplay("match", "tic-tac-toe", agent, bot("sound"), *options)
    assert f"{agent} lost 2 games because it failed, as here: agent {agent} returned -3 in" in answer.out
    answer = mdplay("tournament", "tic-tac-toe", agent, bot("sound"), *options)
    assert (answer.code, f"{agent} lost 2 games because it failed" in answer.out) == (0, True)


def test_a_tournament_takes_objects_and_limits():
    game = make("tic-tac-toe")
    plain, sleeper = Plain(game), Sleeper()
    found = tournament(game, [plain, sleeper], games=2, move_seconds=0.2)
    assert found.forfeits == {"Plain": 0, "Sleeper": 2}
    sleeper.release.set()
    Sleeper.release = threading.Event()
