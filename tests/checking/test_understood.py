import re
from dataclasses import dataclass
from typing import NamedTuple

import pytest

from mdplay import Game, GameError, check_game, make
from mdplay import svg as drawing
from mdplay.games.tic_tac_toe.rules import State as Marks
from mdplay.games.tic_tac_toe.rules import TicTacToe
from mdplay.naming import registry
from mdplay.naming.specs import load_module
from tests.helpers import NIM, write
from tests.solving.loopy_graphs import CIRCLE, Graph
from tests.states.test_game_length import Pacing


def report(game, **options):
    return check_game(game, compiled=False, **options)


def test_a_report_tells_how_the_game_was_understood():
    found = report(make("2048:rows=2,cols=2"))
    assert (found.players, found.chance, found.points, found.repeats, found.warnings) == (1, True, True, False, ())
    assert found.understood.startswith("one player, chance, points, at most 4 moves to choose from, games of ")
    found = report(make("tic-tac-toe"))
    assert (found.players, found.moves, found.shortest >= 5, found.longest) == (2, 9, True, 9)
    assert found.understood.endswith("no position repeated")


def test_games_that_did_not_end_are_told_unless_the_game_says_what_infinite_play_is_worth():
    again = "did not end: infinite play is a draw unless the game sets endless"
    told, meant = (" ".join(report(kind(60)).warnings) for kind in (Pacing, PacingLoses))
    assert again in told and again not in meant
    assert again not in " ".join(report(Graph(*CIRCLE)).warnings)  # positions repeat, and all random games end


@dataclass(frozen=True)
class PacingLoses(Pacing):
    endless = -1


def test_a_puzzle_may_always_end_with_its_goal():
    found = report(make("sliding-puzzle:rows=2,cols=2"))
    assert not [warning for warning in found.warnings if "ended with" in warning]


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


def test_positions_that_repeat_are_reported_and_a_game_may_limit_itself():
    assert report(Pacing()).repeats

    @dataclass(frozen=True)
    class Limited(Pacing):
        length: int = 50
        max_moves = 30

    found = report(Limited())
    assert found.repeats and found.longest == 30
    assert not any("positions repeat" in warning for warning in found.warnings)


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


# ---------------------------------------------------------------- results of one sign, turns that are forgotten
@dataclass(frozen=True)
class MoverWins(TicTacToe):
    """Whoever completes a line wins, and the result says only that."""

    sign: int = 1

    def result(self, s: Marks) -> int:
        return self.sign if self.has_line(s.theirs) else 0


@dataclass(frozen=True)
class OnlyFirstWins(TicTacToe):
    """A line of the first player is worth 1, all else nothing: only the first player's moves win."""

    def result(self, s: Marks) -> int:
        return s.player if self.has_line(s.theirs) else 0


def test_a_result_for_whoever_moved_last_is_wondered_about():
    (told,) = report(MoverWins()).warnings
    assert re.match(
        r"no result of 20 random games was below 0, and \+1 came \d+ by a move of the first player ", told
    )
    assert told.endswith("speaks for the first player (player == 0), so is a win of the second meant to be -1?")
    (told,) = report(MoverWins(sign=-1)).warnings
    assert "was above 0, and -1 came" in told and told.endswith("a win of the first meant to be +1?")


def test_a_game_that_only_one_can_win_is_not_wondered_about():
    assert report(OnlyFirstWins(), games=50).warnings == ()


class Walk(NamedTuple):
    moves: int
    player: int


@dataclass(frozen=True)
class Forgetful(Game[Walk]):
    """Thirty moves; after a move of ``slow`` the turn stays where it is, every time or each third time."""

    slow: int = 1
    each: int = 1
    both: bool = False

    def initial(self) -> Walk:
        return Walk(0, 0)

    def legal(self, s: Walk) -> int:
        return 3 if s.moves < 30 else 0

    def step(self, s: Walk, action: int) -> Walk:
        stays = (self.both or s.player == self.slow) and (s.moves + action) % self.each == 0
        return Walk(s.moves + 1, s.player if stays else 1 - s.player)

    def result(self, s: Walk) -> int:
        return 1 if s.player else -1


def doubts_of_turns(game):
    return [warning for warning in report(game).warnings if "does step change the player?" in warning]


def test_a_player_who_never_gives_the_turn_back_is_told():
    assert doubts_of_turns(Forgetful()) == [
        "once the second player (player == 1) had moved, the first never moved again in 20 random games: "
        "does step change the player?"
    ]


def test_one_player_who_moves_again_and_the_other_never_is_told():
    (told,) = doubts_of_turns(Forgetful(each=3))
    assert re.match(
        r"the second player \(player == 1\) moved twice in a row \d+ times in 20 random games, the", told
    )
    (told,) = doubts_of_turns(Forgetful(slow=0, each=3))
    assert told.startswith("the first player (player == 0) moved twice in a row")


@dataclass(frozen=True)
class SetUp(Forgetful):
    """The first player makes four moves, then the second four; from then on they take turns."""

    def step(self, s: Walk, action: int) -> Walk:
        stays = s.moves < 8 and s.moves not in (3, 7)
        return Walk(s.moves + 1, s.player if stays else 1 - s.player)


@pytest.mark.parametrize(
    "game", [Forgetful(slow=2), SetUp(), Forgetful(each=3, both=True), make("dots-and-boxes"), make("pig")]
)
def test_turns_that_both_keep_or_both_break_are_not_wondered_about(game):
    assert doubts_of_turns(game) == []


@pytest.mark.parametrize("name", registry.names())
def test_no_game_of_ours_is_doubted_for_its_results_or_turns(name):
    told = report(make(name), games=10).warnings
    assert not [one for one in told if "does step change" in one or "no result of" in one or "svg:" in one], told


# ---------------------------------------------------------------- shapes that nobody colours
@dataclass(frozen=True)
class Drawn(TicTacToe):
    """Draws one shape by ``element``, which knows no kinds."""

    kind: str = "blak"
    group: str = ""

    def svg(self, s: Marks) -> str:
        shape = drawing.element("circle", self.kind, cx=5, cy=5, r=4)
        shape = drawing.element("g", self.group, shape) if self.group else shape
        return drawing.picture(10, 10, [shape], "one spot")


def test_a_shape_that_would_be_black_is_told():
    (told,) = report(Drawn()).warnings
    assert told.startswith(
        "svg: no kind of shape 'blak', it would be black: choose from panel, hole, open, first, "
    )


@pytest.mark.parametrize("game", [Drawn(kind="first"), Drawn(group="second")])
def test_a_shape_that_is_coloured_or_inherits_a_colour_is_not(game):
    assert report(game).warnings == ()
