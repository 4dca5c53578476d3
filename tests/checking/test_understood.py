import re
from dataclasses import dataclass
from typing import NamedTuple

import pytest

from mdplay import Game, GameError, check_game, make
from mdplay.specs import load_module
from tests.checking.test_limits import Pacing
from tests.helpers import NIM, write
from tests.solving.loopy_graphs import CIRCLE, Graph, Losing


def report(game, **options):
    return check_game(game, compiled=False, **options)


def test_a_report_tells_how_the_game_was_understood():
    found = report(make("2048:rows=2,cols=2"))
    assert (found.players, found.chance, found.points, found.repeats, found.warnings) == (1, True, True, False, ())
    assert found.understood.startswith("one player, chance, points, at most 4 moves to choose from, games of ")
    found = report(make("tic-tac-toe"))
    assert (found.players, found.moves, found.shortest >= 5, found.longest) == (2, 9, True, 9)
    assert found.understood.endswith("no position came again")


def test_who_says_what_endless_play_is_worth_means_it():
    again = "positions come again, so a game may go on for ever"
    told, meant = (" ".join(report(kind(*CIRCLE)).warnings) for kind in (Graph, Losing))
    assert again in told and again not in meant


def changed(tmp_path, *pairs):
    text = NIM
    for before, after in pairs:
        assert before in text
        text = text.replace(before, after)
    return load_module(write(tmp_path, "nim.py", text)).Nim()


RESULT = "    def result(self, s: State) -> int:\n        return 2 * s.player - 1\n"


def method(name, arguments, kind, value):
    return RESULT, f"{RESULT}\n    def {name}(self{arguments}) -> {kind}:\n        return {value}\n"


GAPS = ("(1 << min(3, s.pile)) - 1", "21 & (1 << 2 * min(3, s.pile)) - 1"), ("action - 1", "action // 2 - 1")
DOUBTS = {
    "neither result nor reward is written": [(RESULT, "")],
    "a field turn and none called player": [("player: int", "turn: int"), ("s.player", "s.turn")],
    r"all 20 random games ended with \+1": [("2 * s.player - 1", "1")],
    "these were never legal: 1, 3": GAPS,
    "symmetry 1 changed none of": [method("symmetries", "", "int", "2")],
    "text is written and parse is not": [method("text", ", s: State", "str", "'pile'")],
    "'take 0' has a space or a comma": [method("move_text", ", s: State, action: int", "str", "f'take {action}'")],
    r"Nim.legal \(nim.py, line \d+\) prints": [("return (1 <<", "print(s)\n        return (1 <<")],
}


@pytest.mark.parametrize("words, pairs", DOUBTS.items(), ids=DOUBTS)
def test_what_may_not_be_meant_is_told(tmp_path, capsys, pairs, words):
    found = report(changed(tmp_path, *pairs))
    assert capsys.readouterr().out == ""
    assert [warning for warning in found.warnings if re.search(words, warning)], found.warnings


def test_a_game_without_a_fault_has_no_warnings(tmp_path):
    assert report(changed(tmp_path)).warnings == ()


def test_positions_that_come_again_are_told_unless_the_game_limits_itself():
    assert report(Pacing()).repeats
    assert "positions come again" in report(Pacing()).warnings[-1]

    @dataclass(frozen=True)
    class Limited(Pacing):
        length: int = 50
        max_moves = 30

    found = report(Limited())
    assert found.repeats and found.longest == 30
    assert not any("positions come again" in warning for warning in found.warnings)


class Dice(NamedTuple):
    rolled: int


@dataclass(frozen=True)
class Words(Game[Dice]):
    """One roll of a die, whose outcomes are called as told."""

    words: str = "abcdef"

    def initial(self) -> Dice:
        return Dice(0)

    def legal(self, s: Dice) -> int:
        return 0

    def step(self, s: Dice, action: int) -> Dice:
        return s

    def outcomes(self, s: Dice) -> int:
        return 0 if s.rolled else 63

    def outcome(self, s: Dice, i: int) -> Dice:
        return Dice(i + 1)

    def probability(self, s: Dice, i: int) -> float:
        return 1 / 6

    def result(self, s: Dice) -> float:
        return float(s.rolled)

    def outcome_text(self, s: Dice, i: int) -> str:
        return self.words[i]


def test_words_for_chance_that_cannot_be_told_apart_are_refused():
    assert report(Words()).chance
    for words in ("abcdee", "abcdeE"):
        with pytest.raises(GameError, match="two outcomes are called 'e' in 0"):
            report(Words(words))
    with pytest.raises(GameError, match="outcome_text gave ' ' in 0; it must be a text"):
        report(Words("abcde "))


def test_rules_that_answer_differently_when_asked_again_are_found():
    calls = []

    @dataclass(frozen=True)
    class Fickle(Words):
        def result(self, s: Dice) -> float:
            calls.append(s)
            return float(len(calls))

    with pytest.raises(GameError, match="result is not a pure function: it gives .* and then .* in"):
        report(Fickle())
