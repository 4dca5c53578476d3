"""Networks that come with games: they are of the present rules, small, and never another game's."""

from dataclasses import dataclass

import pytest

from mdplay import AgentError, FormatError, learn, make, make_agent, match
from mdplay.games.connect_four.rules import ConnectFour, State
from mdplay.games.tic_tac_toe.rules import TicTacToe
from mdplay.learning.network import Network, read_network, shipped_network
from mdplay.learning.shipped import need_shipped, shipped_file
from mdplay.naming.registry import extras_of, games_with_extras, register_extras
from mdplay.playing.agents import DEFAULT_AGENT, default_agent, named_agent

GAMES = [
    f"{name}:{given}" for name in games_with_extras("networks") for given in extras_of(make(name), "networks")
]
LARGEST, LARGEST_OF_ALL = 1_000_000, 5_000_000  # bytes; six networks
LARGER = {"dots-and-boxes:rows=3,cols=3": 1_800_000}  # where a megabyte costs strength: 94.5 % instead of 98.9 %


@pytest.mark.parametrize("name", GAMES)
def test_every_shipped_network_is_of_the_present_rules(name):
    """Where this fails the rules or the cells were edited: learn the network again (docs/learn.md)."""
    game = make(name)
    assert need_shipped(game).stat().st_size <= LARGER.get(name, LARGEST)
    assert make_agent(game, "network").network.weights.any()


def test_all_together_are_small():
    assert sum(need_shipped(make(name)).stat().st_size for name in GAMES) <= LARGEST_OF_ALL


@dataclass(frozen=True)
class Edited(ConnectFour):
    """Three in a row lose: another game, of a class that brings a network."""

    def result(self, s: State) -> int:
        return -super().result(s)


def test_an_edited_game_never_gets_a_foreign_network():
    assert shipped_network(ConnectFour()) is not None
    for game in (Edited(), ConnectFour(5, 5)):
        assert shipped_file(game) is None and shipped_network(game) is None
        assert default_agent(game) == DEFAULT_AGENT
        with pytest.raises(FormatError, match=r"no network comes with .*; learn one \(mdplay learn\)"):
            need_shipped(game)
        with pytest.raises(AgentError, match="agent network: no network comes with"):
            make_agent(game, "network")


@pytest.mark.parametrize("agent", ["network", "mcts:network=shipped,simulations=9", "heuristic:network=shipped"])
def test_an_agent_is_another_one_when_the_network_is(agent, tmp_path, monkeypatch):
    """What is kept of matches goes by the identity of the agents."""
    before = named_agent(ConnectFour(), agent).identity
    assert before == named_agent(ConnectFour(), agent).identity
    other = tmp_path / "other.network"
    other.write_bytes(b"learned again")
    monkeypatch.setattr("mdplay.learning.shipped.shipped_file", lambda game: other)
    assert named_agent(ConnectFour(), agent).identity != before


@dataclass(frozen=True)
class Own(TicTacToe):
    """A game that brings a network."""


def test_a_game_of_a_user_brings_its_own(tmp_path):
    file = tmp_path / "own.network"
    learned = learn(Own(), episodes=60, tuples="0-1-2,0-4-8,3-4-5", seed=3, compact=str(file))
    assert file.stat().st_size < learned.network.weights.nbytes + 4000
    register_extras(Own, networks={"": file})
    found = shipped_network(Own())
    assert isinstance(found, Network) and read_network(file, Own()) is found
    for action, value in learned.network.values(Own().initial()).items():
        assert found.values(Own().initial())[action] == pytest.approx(value, abs=0.02)
    assert default_agent(Own()) == "mcts:network=shipped,simulations=1000"
    assert shipped_file(TicTacToe()) is None  # a base class has nothing of it
    played = match(Own(), "mcts:network=shipped,simulations=60", "random", games=4, seed=1)
    assert played.tally.losses == 0
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(FormatError, match="truncated|damaged"):
        shipped_file(Own())
