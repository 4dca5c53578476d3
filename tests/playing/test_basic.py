import re

import pytest

from mdplay import AgentError, PositionError, make
from mdplay.playing.agents import make_agent
from mdplay.rng import Random
from tests.helpers import write

GAME = make("anti-tic-tac-toe")
START = GAME.initial()
LINE = "000000000 0 0 0.25 0 0.75 0 0 0 0"


def test_random_plays_every_action_equally_often():
    agent, rng, counts = make_agent(GAME, "random"), Random(1), [0] * 9
    for _ in range(9000):
        counts[agent.act(START, rng)] += 1
    assert all(abs(count - 1000) < 5 * 1000**0.5 for count in counts)


def test_a_policy_file_is_followed(tmp_path):
    path = write(tmp_path, "policy.txt", f"1\n{LINE}\n")
    agent, rng = make_agent(GAME, f"policy:{path}"), Random(1)
    drawn = [agent.act(START, rng) for _ in range(4000)]
    assert set(drawn) == {2, 4}
    assert abs(drawn.count(4) / 4000 - 0.75) < 5 * (0.1875 / 4000) ** 0.5
    with pytest.raises(PositionError, match="policy.txt, the policy of player 1, has no line for this position"):
        agent.act(GAME.parse("120000000"), rng)
    with pytest.raises(PositionError, match=r"player 2 is to move; fix the sides by --side 1 \(side=0\)"):
        agent.act(GAME.step(START, 0), rng)


def test_a_changed_policy_file_is_read_anew(tmp_path):
    import os

    path = write(tmp_path, "policy.txt", f"1\n{LINE}\n")
    make_agent(GAME, f"policy:{path}")
    path.write_text("1\n000000000 1 0 0 0 0 0 0 0 0\n")
    os.utime(path, ns=(1, 1))
    assert make_agent(GAME, f"policy:{path}").act(START, Random(0)) == 0


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("", "line 1: the first line must be the player's number"),
        (f"2\n{LINE}\n", "line 2: in 000000000 player 2 does not move"),
        ("1\n000000000 0.5 0.4\n", "line 2: the probabilities sum to 0.9"),
        ("1\n120000000 1 0\n", "line 2: action 0 is not legal in 120000000"),
    ],
)
def test_a_damaged_policy_file_is_refused(tmp_path, text, sentence):
    path = write(tmp_path, "policy.txt", text)
    with pytest.raises(AgentError, match=re.escape(sentence)):
        make_agent(GAME, f"policy:{path}")
