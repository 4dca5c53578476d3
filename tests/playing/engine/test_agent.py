"""Engines in matches: those that behave, and those that do not."""

import re
import shlex
import subprocess
import sys
import threading

import pytest

from mdplay import AgentError, Record, make, match, play, tournament
from mdplay.compiling.identity import agent_identity
from mdplay.playing.agents import make_agent, named_agent
from mdplay.playing.engine.agent import EngineAgent, Fleet
from mdplay.rng import Random
from tests.helpers import ROOT
from tests.playing.engine.test_process import gone

BOTS = ROOT / "tests" / "playing" / "engine" / "bots.py"
EXAMPLE = ROOT / "docs" / "examples" / "random_bot.py"
FAULTS = {
    "killed": "died by signal 9",
    "stopped": "took longer than 1 seconds",
    "flooding": "said more than 10,000 lines and no bestmove",
    "endless": "answered nonsense: a line has more than 1,048,576 bytes",
    "illegal": "answered 'z9', which is not legal in",
    "nonsense": "answered nonsense",
    "wordless": "answered a bestmove without a move",
    "erring": "said: no idea",
    "leaving": "died with exit code 1: out of ideas",
    "parent": "took longer than 1 seconds",
}


def bot(kind, **options):
    given = "".join(f",{name}={value}" for name, value in options.items())
    return f"engine:command={shlex.quote(sys.executable)} {shlex.quote(str(BOTS))} {kind}{given}"


@pytest.fixture
def started(monkeypatch):
    """The processes that were started; all must be gone in the end."""
    pids, begin = [], subprocess.Popen.__init__

    def note(self, *arguments, **options):
        begin(self, *arguments, **options)
        pids.append(self.pid)

    monkeypatch.setattr(subprocess.Popen, "__init__", note)
    yield pids
    assert all(gone(pid) for pid in pids)
    assert not [thread for thread in threading.enumerate() if thread.name.endswith(("(_read)", "(_write)"))]


def test_the_example_plays_any_game(started):
    example = f"engine:{shlex.quote(sys.executable)} {shlex.quote(str(EXAMPLE))}"
    found = [match(make(game), example, "random", games=4) for game in ("connect-four", "dots-and-boxes")]
    assert [one.forfeits for one in found] == [(0, 0), (0, 0)]
    assert len(started) == 2  # one process for all games of a match
    assert play(make("2048:rows=2,cols=2"), example).result > 0
    assert match(make("connect-four"), example, "random", games=4) == found[0]  # the seed is told


def faulty_match(kind, games, game="tic-tac-toe"):
    found = match(make(game), bot(kind, limit=1), "random", games=games, openings="none")
    assert found.forfeits == (games, 0) == (found.tally.losses, found.tally.wins)
    for record in found.records:
        assert re.search(FAULTS[kind], record.reason) and record.reason.startswith("agent engine:")
        assert record.agents[record.forfeit] == found.agents[0]
        assert Record.from_json(record.to_json()) == record
    return found


@pytest.mark.parametrize("kind", FAULTS)
def test_an_engine_that_fails_loses_and_the_match_goes_on(kind, started):
    faulty_match(kind, 2)
    assert len(started) == 2  # after a fault, a new process


@pytest.mark.slow
@pytest.mark.parametrize("game", ["tic-tac-toe", "connect-four", "dots-and-boxes"])
@pytest.mark.parametrize("kind", ["killed", "stopped", "flooding", "endless", "illegal"])
def test_a_hundred_games_each(kind, game, started):
    faulty_match(kind, 100, game)
    assert len(started) == 100


def test_points_earned_do_not_make_a_loss_a_win(started):
    found = faulty_match("illegal", 4, "dots-and-boxes")
    assert all(result <= -1 for result in found.results)


def test_threads_have_processes_of_their_own(started):
    game = make("connect-four")
    one, two = (match(game, bot("sound"), bot("sound") + " ", games=8, threads=n) for n in (1, 3))
    assert one.results == two.results and one.forfeits == (0, 0)


def test_a_tournament_keeps_its_engines(started):
    found = tournament(make("tic-tac-toe"), [bot("sound"), bot("erring"), "random"], games=4)
    assert (found.failures, found.forfeits["random"], found.forfeits[bot("sound")]) == ((), 0, 0)
    assert found.forfeits[bot("erring")] > 0
    assert found.ratings[-1].agent == bot("erring")


def test_an_engine_as_an_object(started):
    game = make("tic-tac-toe")
    agent = EngineAgent(game, [sys.executable, str(BOTS), "sound"], seconds=1, depth=3)
    assert agent.go == {"type": "go", "seconds": 1, "depth": 3}
    found = match(game, agent, "random", games=4, threads=2)
    assert (found.forfeits, found.agents[0]) == ((0, 0), agent.name)
    assert agent.act(game.initial(), Random(1)) in range(9)
    agent.game_over()
    agent.close()
    assert isinstance(agent._fleet, Fleet) and agent._fleet._idle == []


def test_commands_in_specs():
    game = make("tic-tac-toe")
    python = shlex.quote(sys.executable)
    assert make_agent(game, f"engine:command=({python} -c 'a,b' --x=1),limit=3")._fleet.command == [
        sys.executable,
        "-c",
        "a,b",
        "--x=1",
    ]
    assert make_agent(game, f"engine:{python} bot.py,seconds=2").go["seconds"] == 2
    for text, words in [
        ("engine", "needs command="),
        ("engine:command= ,limit=2", "an engine needs a command"),
        ("engine:no-such-program x", "there is no program 'no-such-program' to start"),
        (f"engine:{python} 'x", "cannot be read: No closing quotation"),
        (f"engine:{python},limit=0", "must be more than 0"),
    ]:
        with pytest.raises(Exception, match=words) as found:
            make_agent(game, text)
        assert isinstance(found.value, AgentError | LookupError)


def test_an_edited_engine_is_another_one(tmp_path):
    path = tmp_path / "bot.py"
    identities = set()
    for text in ("one", "two"):
        path.write_text(text)
        agent = named_agent(make("tic-tac-toe"), f"engine:{sys.executable} {path}")
        identities.add(agent.identity)
    assert len(identities) == 2
    assert agent_identity("random") == agent_identity("random")


def test_mdplay_plays_through_its_own_protocol(started, needs_compiler):
    command = f"{shlex.quote(sys.executable)} -m mdplay engine tic-tac-toe --agent mcts:simulations=50"
    found = match(make("tic-tac-toe"), f"engine:{command}", "random", games=2)
    assert found.forfeits == (0, 0)
