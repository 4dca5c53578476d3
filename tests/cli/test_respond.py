"""Best responses in a game whose positions come back."""

import json

from tests.helpers import write

CHASE = '''
from dataclasses import dataclass
from typing import NamedTuple

from mdplay import Game


class Places(NamedTuple):
    hunter: int
    hare: int
    player: int


@dataclass(frozen=True)
class Chase(Game[Places]):
    """On a ring of five the hunter never catches a hare that sees it coming, and the hare has won."""

    endless = -1

    def initial(self) -> Places:
        return Places(0, 2, 0)

    def legal(self, s: Places) -> int:
        return 0 if s.hunter == s.hare else 7

    def step(self, s: Places, action: int) -> Places:
        by = (0, 1, 4)[action]
        return Places(s.hunter, (s.hare + by) % 5, 0) if s.player else Places((s.hunter + by) % 5, s.hare, 1)

    def result(self, s: Places) -> int:
        return 1
'''


def test_endless_play_is_told_and_worth_what_the_game_says(mdplay, tmp_path):
    path = write(tmp_path, "chase.py", CHASE)
    lines = mdplay("respond", path).out.splitlines()
    assert lines[-2] == "the position repeats: play continues without end"
    assert lines[-1].startswith("result -1 for player 1: player 2 wins")
    found = json.loads(mdplay("respond", path, "--json").out)
    assert (found["values"], found["endless"], found["result"]) == ({"1": 0.0, "2": 1.0}, True, -1.0)
    assert json.loads(mdplay("solve", path, "--json").out)["value"] == -1.0
