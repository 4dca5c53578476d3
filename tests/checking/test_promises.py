"""A sample of plain games shows each broken promise in a sentence that names it, and lets honest games pass.

Here are tested besides: ``mdplay.checking.contract_checks``.
"""

import time
from dataclasses import dataclass

import pytest

from mdplay.bits import U64
from mdplay.checking.contract_checks import spot_check, time_limit
from mdplay.errors import GameError
from mdplay.game import Bounds
from mdplay.naming.registry import make, names
from tests.hardening.honest import Count, Dice, Known, Numbered, State


def lying(base, **methods):
    """Return a game that overrides methods of an honest one by functions of (self, ...)."""
    return dataclass(frozen=True)(type("Lying", (base,), {**methods, "__module__": __name__}))()


def player(self, s: State) -> int:
    return 2 if s.n > 4 else s.player


def negative_mask(self, s: State) -> int:
    return -1 if s.n < 8 else 0


def not_a_number(self, s: State) -> float:
    return float("nan")


def infinite(self, s: State, action: int) -> float:
    return float("inf")


def too_large(self, s: State) -> int:
    return (1 << 53) + 1


def no_step(self, s: State, action: int) -> State:
    return s


def falling(self, s: State) -> int:
    return 39 - 2 * s.n - s.player


def small(self) -> int:
    return 5


def none(self) -> int:
    return 0


def three(self, s: State, i: int) -> float:
    return 3.0


def seven(self, s: State, word: U64) -> int:
    return 7


def four(self) -> int:
    return 4


def shifted(self, s: State, k: int) -> State:
    return State(s.n + k, s.player)


def number(self, s: State) -> U64:
    return U64(s.n)


def reversed_bounds(self, s: State) -> Bounds:
    return Bounds(5, -5, U64(3))


def nothing_listed(self, s: State) -> Bounds:
    return Bounds(-1, 1, U64(0))


def all_listed(self, s: State) -> Bounds:
    return Bounds(-1, 1, U64(0xFFFF))


@pytest.mark.parametrize(
    ("base", "methods", "sentence"),
    [
        (Count, {"player": player}, "player must be 0 or 1, not 2"),
        (Count, {"legal": negative_mask}, "-1, which does not fit the annotated int"),
        (Count, {"result": not_a_number}, "result is nan"),
        (Count, {"result": too_large}, "whole numbers are exact below 2"),
        (Count, {"reward": infinite}, "the reward of action . is inf"),
        (Count, {"heuristic": not_a_number}, "heuristic is nan"),
        (Count, {"step": no_step}, r"step\(s, 0\) returns the same state"),
        (Numbered, {"index": falling}, "has the number|does not raise the number"),
        (Numbered, {"size": small}, "index gives . for .*; size is 5"),
        (Numbered, {"size": none}, "size is 0"),
        (Dice, {"probability": three}, "outcome 0 has probability 3"),
        (Dice, {"draw": seven}, "draw gave outcome 7"),
        (Count, {"symmetries": none, "image": shifted}, "symmetries gives 0"),
        (Count, {"symmetries": four, "image": shifted}, "symmetry . is none"),
        (Count, {"key": number, "key_bits": 0}, "key_bits is 0"),
        (Count, {"key": number, "key_bits": 2}, "key is [4-9] in .*; it has key_bits = 2 bits"),
        (Known, {"bounds": reversed_bounds}, "bounds gives 5 .. -5"),
        (Known, {"bounds": nothing_listed}, r"bounds lists \[\]"),
        (Known, {"bounds": all_listed}, r"bounds lists .*; legal are \[0, 1, 2\]"),
        (Numbered, {"scoring_sets": property(lambda self: (3,))}, "a game with scoring sets has 2\\*\\*n states"),
    ],
)
def test_a_broken_promise_is_named(base, methods, sentence):
    with pytest.raises(GameError, match=sentence):
        spot_check(lying(base, **methods))


@pytest.mark.parametrize("game", [Count(), Numbered(), Known(), Dice(), *map(make, names())], ids=repr)
def test_honest_games_are_held(game):
    spot_check(game)


def test_a_game_is_held_once():
    calls = []

    def initial(self) -> State:
        calls.append(1)
        return State(0, 0)

    game = lying(Count, initial=initial)
    spot_check(game)
    before = len(calls)
    spot_check(game)
    assert len(calls) == before > 0


def test_a_game_without_end_breaks_no_promise():
    def circle(self, s: State, action: int) -> State:
        return State((s.n + 1 + action) % 7, 1 - s.player)

    spot_check(lying(Count, step=circle))


def test_what_a_rule_raises_is_told():
    def broken(self, s: State, action: int) -> State:
        return State(s.n + 1 // (s.n - 2), 1 - s.player) if s.n > 1 else State(s.n + 1, 1 - s.player)

    with pytest.raises(GameError, match="Lying raised ZeroDivisionError"):
        spot_check(lying(Count, step=broken))


@pytest.mark.parametrize("frames", range(4))  # where Python gives up is in the rule or in what checks it
def test_the_line_of_a_rule_is_told_wherever_python_gave_up(frames):
    def deep(self, s: State, action: int) -> State:
        return self.step(s, action)

    def hold(frames):
        return hold(frames - 1) if frames else spot_check(lying(Count, step=deep))

    with pytest.raises(GameError, match=r"RecursionError: .* \(test_promises.py, line \d+: return self.step"):
        hold(frames)


def test_a_machine_that_is_busy_makes_no_game_slow():
    with time_limit(0.2):
        time.sleep(0.5)  # by the clock it takes longer than the limit, and no processor time
    with pytest.raises(GameError, match="used more than 0.2 s of CPU time"), time_limit(0.2):
        while True:
            pass
