import pytest

from mdplay import make
from mdplay.evaluating.evaluation import MoveEvaluation
from mdplay.evaluating.wording import is_puzzle, signed
from mdplay.web.games.catalogue import Catalogue
from mdplay.web.games.events import over_verdict
from mdplay.web.games.requests import ask, bound_headline, headline, ordinal, shown, status
from tests.helpers import ROOT, write

GAMES = Catalogue()


def at(game, moves="", base=""):
    return ask(GAMES[game], moves=moves, base=base)


@pytest.mark.parametrize(
    ("game", "moves", "value", "words"),
    [
        ("connect-four", "", MoveEvaluation.of(1, True, 41, 1), "Red wins with the 41st disc"),
        ("connect-four", "4", MoveEvaluation.of(-1, True, 40, -1), "Red wins with the 41st disc"),
        ("connect-four", "4", MoveEvaluation.of(0, True, 41, 0), "A draw with best play"),
        ("tic-tac-toe", "0", MoveEvaluation.of(-1, True, 4), "X wins with the 5th mark"),
        ("tic-tac-toe", "0", MoveEvaluation.of(-1, True), "X wins"),
        ("tic-tac-toe", "", MoveEvaluation.of(0.05, False), "It looks even"),
        ("tic-tac-toe", "", MoveEvaluation.of(0.3, False), "X is ahead"),
        ("tic-tac-toe", "0", MoveEvaluation.of(-0.8, False), "X is well ahead"),
        ("tic-tac-toe", "", MoveEvaluation.of(0.25, True, expected=True), "X expects +0.250"),
        ("dots-and-boxes", "", MoveEvaluation.of(2, True), "Red wins 3–1"),
        ("dots-and-boxes", "0,2,6,8", MoveEvaluation.of(1, True), "Blue wins 3–1"),
        ("dots-and-boxes", "0,2,6,8", MoveEvaluation.of(-1, True), "A draw, 2–2"),
    ],
)
def test_the_verdict_is_a_sentence(game, moves, value, words):
    assert headline(at(game, moves), value) == words


def test_points_for_one_count_on():
    asked = ask(GAMES["2048"], start="1123000000000000", base="1000")
    assert headline(asked, MoveEvaluation.of(24310.4, False)) == "About 24,300 more points"
    told = shown(asked, MoveEvaluation.of(24310.4, False))
    assert (told["kind"], told["short"], told["height"]) == ("points", "24.3k", 25310.4)


def test_the_height_is_the_first_players():
    assert shown(at("tic-tac-toe"), MoveEvaluation.of(1, True, 5))["height"] > 0
    assert shown(at("tic-tac-toe", "0"), MoveEvaluation.of(1, True, 5))["height"] < 0
    assert shown(at("tic-tac-toe", "0"), MoveEvaluation.of(0.5, False))["height"] == -0.5
    near, far = (shown(at("tic-tac-toe"), MoveEvaluation.of(1, True, plies))["height"] for plies in (1, 9))
    assert near > far > 0


def test_a_bound_says_no_more_than_is_known():
    assert bound_headline(at("connect-four"), MoveEvaluation.of(0, True)) == "Red has at least a draw"
    assert bound_headline(at("connect-four"), MoveEvaluation.of(-1, True)) == "Red to move"
    assert bound_headline(at("connect-four"), MoveEvaluation.of(1, True)) == "Red wins"


def test_small_words():
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 41, 111)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "41st", "111th",
    ]  # fmt: skip
    assert [signed(n) for n in (3, 0, -2.5)] == ["+3", "0", "−2.5"]
    assert status(at("tic-tac-toe", "0,3,1,4,2")) == "X has won."
    assert status(at("anti-tic-tac-toe", "0,3,1,4,2")) == "O has won."
    assert status(at("2048")) == "Chance moves"


def test_a_puzzle_is_solved_or_not():
    asked = at("sliding-puzzle")
    assert headline(asked, MoveEvaluation.of(1, True, 31)) == "Solved in 31 moves"
    assert headline(asked, MoveEvaluation.of(0, True)) == "It cannot be solved"
    assert shown(asked, MoveEvaluation.of(1, True, 31))["kind"] == "win"
    assert status(asked) == "Your move"


def test_a_puzzles_move_is_told_by_what_is_left():
    asked = at("sliding-puzzle")
    told = shown(asked, MoveEvaluation.of(1, True, 30))
    assert (told["short"], told["words"], told["height"]) == ("30", "solved in 30 moves", 30)
    assert shown(asked, MoveEvaluation.of(1, True, 1))["words"] == "solved in 1 move"
    assert shown(asked, MoveEvaluation.of(0, True))["words"] == "cannot be solved"
    assert headline(asked, MoveEvaluation.of(0.0, False)) == "No solution found yet"
    assert headline(asked, MoveEvaluation.of(0.25, False)) == "Solved in 25 % of the tries"


def test_where_dice_decide_nobody_wins_for_sure():
    # Pig to 100 is won by the first player in 53.06 % of the games: T. W. Neller and C. G. M. Presser,
    # "Optimal play of the dice game Pig", UMAP Journal 25 (2004)
    asked = ask(GAMES["pig"], start="0-0+0x")
    value = MoveEvaluation.of(2 * 0.5306 - 1, True)
    told = shown(asked, value)
    assert headline(asked, value) == "53.1 % for Red"
    assert headline(ask(GAMES["pig"], start="0-0+0o"), MoveEvaluation.of(-value.value, True)) == "53.1 % for Red"
    assert (told["short"], told["words"], told["mean"]) == ("53.1%", "53.1 % for Red", True)


def test_a_draw_without_an_end_is_told():
    asked = at("mu-torere")
    assert headline(asked, MoveEvaluation.of(0, True, endless=True)) == "A draw: best play never ends"


# ---------------------------------------------------------------- one player, and neither points nor a puzzle
@pytest.fixture(scope="module")
def blackjack():
    return Catalogue([f"{ROOT / 'examples' / 'games' / 'blackjack.py'}:Blackjack"], tried=True)["own-blackjack"]


def test_a_game_of_chance_for_one_is_no_puzzle(blackjack):
    asked = ask(blackjack)
    assert not asked.puzzle
    assert headline(asked, MoveEvaluation.of(-0.0465559771, True)) == "Expected result \N{MINUS SIGN}0.04656"
    assert headline(asked, MoveEvaluation.of(-0.0465559771, False)) == "Expected result about \N{MINUS SIGN}0.05"
    told = shown(asked, MoveEvaluation.of(-0.5, True))
    assert (told["kind"], told["short"], told["words"]) == (
        "points", "\N{MINUS SIGN}0.5", "expected result \N{MINUS SIGN}0.5",
    )  # fmt: skip
    assert "solved" not in str(told)


PEGS = """
from dataclasses import dataclass
from typing import NamedTuple
from mdplay import Game

class State(NamedTuple):
    left: int

@dataclass(frozen=True)
class Pegs(Game[State]):
    def initial(self) -> State:
        return State(7)
    def legal(self, s: State) -> int:
        return 3 if s.left > 2 else 0
    def step(self, s: State, action: int) -> State:
        return State(s.left - action - 1)
    def result(self, s: State) -> int:
        return -s.left
"""


def test_a_result_of_many_numbers_is_told_as_it_is(tmp_path):
    entry = Catalogue([f"{write(tmp_path, 'pegs_of_words.py', PEGS)}:Pegs"], tried=True)["own-pegs"]
    asked = ask(entry)
    assert not asked.puzzle
    assert headline(asked, MoveEvaluation.of(-1, True)) == "Best result \N{MINUS SIGN}1"
    end = ask(entry, moves="1,1,1")
    assert status(end) == "The game is over: result \N{MINUS SIGN}1."
    assert over_verdict(end)["height"] == -1


def test_puzzles_are_solved_or_not():
    assert is_puzzle(make("sliding-puzzle")) and is_puzzle(make("pocket-cube"))
    assert not is_puzzle(make("tic-tac-toe")) and not is_puzzle(make("2048"))


# ---------------------------------------------------------------- rounding errors, and what is not known
def test_a_rounding_error_wins_nothing():
    for game, draw in (("tic-tac-toe", "A draw with best play"), ("dots-and-boxes", "A draw, 2–2")):
        for error in (2.22e-16, -3.3e-16, 1.44e-15, 9e-10):
            told = shown(at(game), MoveEvaluation.of(error, True))
            assert (headline(at(game), MoveEvaluation.of(error, True)), told["kind"]) == (draw, "draw")
            assert "1" not in told["short"]
    assert shown(at("dots-and-boxes"), MoveEvaluation.of(2 - 4e-16, True))["short"] == "+2"
    assert signed(1.4e-15) == "0"


def test_an_estimate_of_points_has_no_more_digits_than_it_means():
    told = shown(at("dots-and-boxes"), MoveEvaluation.of(-0.3004, False))
    assert (told["short"], told["words"]) == ("\N{MINUS SIGN}0.3", "about \N{MINUS SIGN}0.3 points for Red")


def test_a_search_that_found_no_way_says_so():
    asked = at("sliding-puzzle")
    assert headline(asked, MoveEvaluation.of(0.001, False)) == "No solution found yet"
    assert shown(asked, MoveEvaluation.of(0.001, False))["short"] == "?"
