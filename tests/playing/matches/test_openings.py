import re

import pytest

from mdplay import MdplayError, Position, make
from mdplay.playing.matches.games import Opening, make_openings, openings_label
from tests.helpers import write


def states(game, openings):
    return [Position.start(game, opening.start).replay(opening.events).state for opening in openings]


def test_random_openings_differ_until_all_have_come():
    game = make("connect-four")
    openings = make_openings(game, "random:2", 49, seed=1)
    assert len(set(states(game, openings))) >= 45  # of the 49 that exist; 50 draws may miss the last few
    assert len(set(states(game, make_openings(game, "random:2", 30, seed=1)))) == 30
    assert all(len(opening.events) == 2 for opening in openings)


def test_a_longer_list_begins_with_the_shorter_one():
    game = make("tic-tac-toe")
    assert make_openings(game, "random:3", 200, seed=4)[:50] == make_openings(game, "random:3", 50, seed=4)
    assert make_openings(game, "random:3", 50, seed=5) != make_openings(game, "random:3", 50, seed=4)


def test_none_and_files(tmp_path):
    game = make("connect-four")
    assert make_openings(game, "none", 3, seed=0) == [Opening()] * 3
    path = write(tmp_path, "openings.txt", "44\n\nmoves:1,2,3\n")
    openings = make_openings(game, str(path), 3, seed=0)
    assert states(game, openings) == [game.parse("44"), game.parse("123"), game.parse("44")]
    assert openings[1].events == (0, 1, 2)
    label = openings_label(str(path))
    path.write_text("45")
    assert openings_label(str(path)) != label


@pytest.mark.parametrize(
    "text, content, sentence",
    [
        ("randm:2", None, "no kind of opening and no file"),
        ("random:-1", None, "no kind of opening and no file"),
        ("random:9", None, "leaves no game to play"),
        ("file", "", "is empty"),
        ("file", "000000000\nxyz", "line 2: 'xyz' is not a position"),
        ("file", "moves:0,0", "line 1: move 2: '0' is not a legal move"),
        ("file", "111220000", "line 1: the game is over there"),
    ],
)
def test_openings_that_cannot_be(tmp_path, text, content, sentence):
    text = text if content is None else str(write(tmp_path, "openings.txt", content))
    with pytest.raises(MdplayError, match=re.escape(sentence)):
        make_openings(make("tic-tac-toe"), text, 4, seed=0)
