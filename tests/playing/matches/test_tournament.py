import pytest

from mdplay import AgentError, make
from mdplay.playing.matches.tournament import tournament
from tests.playing.players import named

SOUND = ["random", named("Leftmost"), named("Leftmost:skip=3")]


def test_everybody_meets_everybody():
    found = tournament(make("tic-tac-toe"), SOUND, games=10, seed=1)
    assert {frozenset(one.agents) for one in found.matches} == {
        frozenset((a, b)) for a in SOUND for b in SOUND if a != b
    }
    assert all(rating.tally.games == 20 for rating in found.ratings)
    assert sum(rating.elo for rating in found.ratings) == pytest.approx(0)
    a, b = SOUND[:2]
    assert found.tallies[a, b].wins == found.tallies[b, a].losses
    assert found.document()["ratings"][0]["elo"] == found.ratings[0].elo


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("cls", ["Illegal", "Raising"])
def test_a_faulty_agent_is_withdrawn_and_the_rest_unharmed(cls, threads):
    game = make("connect-four")
    alone = tournament(game, SOUND, games=10, seed=1)
    found = tournament(game, [SOUND[0], named(cls), *SOUND[1:]], games=10, seed=1, threads=threads)
    assert (found.agents, found.matches, found.ratings) == (alone.agents, alone.matches, alone.ratings)
    ((agent, sentence),) = found.failures
    assert agent == named(cls) and agent in sentence


def test_nobody_may_be_left():
    found = tournament(make("tic-tac-toe"), [named("Illegal"), named("Wordy")], games=2)
    assert (len(found.failures), len(found.agents), found.matches) == (1, 1, ())
    assert found.ratings[0].tally.games == 0


def test_agents_must_be_two_and_differ():
    with pytest.raises(AgentError, match="random is entered twice"):
        tournament(make("tic-tac-toe"), ["random", "random"])
    with pytest.raises(AgentError, match="two agents or more"):
        tournament(make("tic-tac-toe"), ["random"])
    with pytest.raises(AgentError, match="no weights"):
        tournament(make("tic-tac-toe"), ["random", named("Unmade")])
