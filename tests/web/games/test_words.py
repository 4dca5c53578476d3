import pytest

from mdplay.playing.advising import Value
from mdplay.web.games.asking import ask
from mdplay.web.games.catalogue import Catalogue
from mdplay.web.games.words import bound_headline, headline, ordinal, shown, signed, status

GAMES = Catalogue()


def at(game, moves="", base=""):
    return ask(GAMES[game], moves=moves, base=base)


@pytest.mark.parametrize(
    ("game", "moves", "value", "words"),
    [
        ("connect-four", "", Value(1, True, 41, 1), "Red wins with the 41st disc"),
        ("connect-four", "4", Value(-1, True, 40, -1), "Red wins with the 41st disc"),
        ("connect-four", "4", Value(0, True, 41, 0), "A draw with best play"),
        ("tic-tac-toe", "0", Value(-1, True, 4), "X wins with the 5th mark"),
        ("tic-tac-toe", "0", Value(-1, True), "X wins"),
        ("tic-tac-toe", "", Value(0.05, False), "It looks even"),
        ("tic-tac-toe", "", Value(0.3, False), "X is ahead"),
        ("tic-tac-toe", "0", Value(-0.8, False), "X is well ahead"),
        ("tic-tac-toe", "", Value(0.25, True, expected=True), "X expects +0.250"),
        ("dots-and-boxes", "", Value(2, True), "Red wins 3–1"),
        ("dots-and-boxes", "0,2,6,8", Value(1, True), "Blue wins 3–1"),
        ("dots-and-boxes", "0,2,6,8", Value(-1, True), "A draw, 2–2"),
    ],
)
def test_the_verdict_is_a_sentence(game, moves, value, words):
    assert headline(at(game, moves), value) == words


def test_points_for_one_count_on():
    asked = ask(GAMES["2048"], start="1123000000000000", base="1000")
    assert headline(asked, Value(24310.4, False)) == "About 24,300 more points"
    told = shown(asked, Value(24310.4, False))
    assert (told["kind"], told["short"], told["height"]) == ("points", "24.3k", 25310.4)


def test_the_height_is_the_first_players():
    assert shown(at("tic-tac-toe"), Value(1, True, 5))["height"] > 0
    assert shown(at("tic-tac-toe", "0"), Value(1, True, 5))["height"] < 0
    assert shown(at("tic-tac-toe", "0"), Value(0.5, False))["height"] == -0.5
    near, far = (shown(at("tic-tac-toe"), Value(1, True, plies))["height"] for plies in (1, 9))
    assert near > far > 0


def test_a_bound_says_no_more_than_is_known():
    assert bound_headline(at("connect-four"), Value(0, True)) == "Red has at least a draw"
    assert bound_headline(at("connect-four"), Value(-1, True)) == "Red to move"
    assert bound_headline(at("connect-four"), Value(1, True)) == "Red wins"


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
    assert headline(asked, Value(1, True, 31)) == "Solved in 31 moves"
    assert headline(asked, Value(0, True)) == "It cannot be solved"
    assert shown(asked, Value(1, True, 31))["kind"] == "win"
    assert status(asked) == "Your move"


def test_a_puzzles_move_is_told_by_what_is_left():
    asked = at("sliding-puzzle")
    told = shown(asked, Value(1, True, 30))
    assert (told["short"], told["words"], told["height"]) == ("30", "solved in 30 moves", 30)
    assert shown(asked, Value(1, True, 1))["words"] == "solved in 1 move"
    assert shown(asked, Value(0, True))["words"] == "cannot be solved"
    assert headline(asked, Value(0.0, False)) == "No way found yet"
    assert headline(asked, Value(0.25, False)) == "Solved in 25 % of the tries"


def test_where_dice_decide_nobody_wins_for_sure():
    # Pig to 100 is won by the first player in 53.06 % of the games: T. W. Neller and C. G. M. Presser,
    # "Optimal play of the dice game Pig", UMAP Journal 25 (2004)
    asked = ask(GAMES["pig"], start="0-0+0x")
    value = Value(2 * 0.5306 - 1, True)
    told = shown(asked, value)
    assert headline(asked, value) == "53.1 % for Red"
    assert headline(ask(GAMES["pig"], start="0-0+0o"), Value(-value.value, True)) == "53.1 % for Red"
    assert (told["short"], told["words"], told["mean"]) == ("53.1%", "53.1 % for Red", True)


def test_a_draw_without_an_end_is_told():
    asked = at("mu-torere")
    assert headline(asked, Value(0, True, endless=True)) == "A draw: best play never ends"
