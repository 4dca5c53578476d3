"""Opening books: made, resumed, checked when read, and true."""

import inspect
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mdplay import FormatError, make
from mdplay.naming.specs import load_module
from mdplay.solving.proof import book as books
from mdplay.solving.proof.book import UNKNOWN, find_book, load_book, make_book, positions, prover_for
from mdplay.solving.proof.prover import Prover
from tests.helpers import write
from tests.known.plain_connect_four import after

GAME = make("connect-four:rows=4,cols=4")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("books") / "small.book"
    make_book(GAME, 3, path, memory=1 << 20, threads=1)
    return path


def test_positions_are_those_up_to_the_mirror():
    layer, counts = {("",) * 7}, []
    for _ in range(5):
        counts.append(len({min(columns, columns[::-1]) for columns in layer}))
        layer = {after(columns, c) for columns in layer for c in range(7)}
    assert [len(positions(make("connect-four"), plies)) for plies in range(5)] == counts
    assert counts[4] == 568


def test_every_score_is_the_provers(needs_compiler, path):
    book, prover = load_book(path, GAME), Prover(GAME, memory=1 << 20)
    states = [type(GAME.initial())(*row) for row in book.rows.tolist()]
    assert book.complete and book.scores.tolist() == prover.scores(states).tolist()


def test_a_prover_with_a_book_answers_without_searching(needs_compiler, path):
    taught, blank = Prover(GAME, memory=1 << 20), Prover(GAME, memory=1 << 20)
    load_book(path, GAME).teach(taught)
    assert taught.score(GAME.initial()) == blank.score(GAME.initial()) == 0
    assert taught.nodes < blank.nodes / 10


def test_making_goes_on_where_it_stopped(needs_compiler, path, tmp_path):
    whole = load_book(path, GAME)
    scores = whole.scores.copy()
    scores[5:] = UNKNOWN
    scores[0] = 7  # wrong on purpose: what is there is not proved again
    replace(whole, scores=scores, path=tmp_path / "begun.book").save()
    assert not load_book(tmp_path / "begun.book", GAME).complete
    book = make_book(GAME, 3, tmp_path / "begun.book", memory=1 << 20, threads=1)
    assert book.complete and book.scores[0] == 7
    assert load_book(tmp_path / "begun.book", GAME).complete


def test_ctrl_c_saves_what_is_proved(needs_compiler, tmp_path, monkeypatch):
    monkeypatch.setattr(books, "BATCH", 4)

    def stop(done, total):
        assert (done, total) == (4, len(positions(GAME, 3)))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_book(GAME, 3, tmp_path / "stopped.book", memory=1 << 20, threads=1, progress=stop)
    assert np.count_nonzero(load_book(tmp_path / "stopped.book", GAME).scores != UNKNOWN) == 4


def test_a_damaged_book_is_refused(needs_compiler, path, tmp_path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    (tmp_path / "damaged.book").write_bytes(content)
    with pytest.raises(FormatError, match="damaged"):
        load_book(tmp_path / "damaged.book", GAME)


def test_a_book_of_another_game_is_refused(needs_compiler, path):
    with pytest.raises(FormatError, match="not of ConnectFour"):
        load_book(path, make("connect-four"))


def test_a_book_of_other_plies_is_not_continued(needs_compiler, path):
    with pytest.raises(FormatError, match="a book of 3 plies"):
        make_book(GAME, 2, path)


def test_the_users_book_is_found(needs_compiler, path, tmp_path, monkeypatch):
    monkeypatch.setattr(books, "cache_folder", lambda: tmp_path)
    assert find_book(GAME) is None
    made = make_book(GAME, 3, memory=1 << 20, threads=1)
    assert made.path == books.user_path(GAME, 3) and made.document()["bytes"] == path.stat().st_size
    found = find_book(GAME)
    assert found is not None and found.plies == 3
    assert prover_for(GAME, memory=1 << 20).prove(GAME.initial()).nodes < 500


SHIPPED = "the rules of Connect Four have changed since the shipped book was made: run python tools/stamp_book.py"


def test_the_shipped_book_is_found_and_is_of_the_present_rules(monkeypatch, tmp_path, needs_compiler):
    monkeypatch.setattr(books, "cache_folder", lambda: tmp_path)
    found = find_book(make("connect-four"))
    assert found is not None and found.plies == 4, SHIPPED


def test_a_users_game_of_the_same_name_gets_no_book_of_ours(tmp_path):
    game = make("connect-four")
    text = Path(inspect.getfile(type(game))).read_text().replace("pairs >> 2 * shift != 0", "pairs >> shift != 0")
    other = load_module(write(tmp_path, "three_in_a_row.py", text)).ConnectFour()
    assert repr(other) == repr(game)
    assert find_book(other) is None
    assert books.user_path(other, 4) != books.user_path(game, 4)


@pytest.mark.parametrize(
    "meta, scores",
    [
        ({"plies": 10**9}, np.zeros(1, np.int8)),
        ({"plies": "3"}, np.zeros(1, np.int8)),
        ({"plies": -1}, np.zeros(1, np.int8)),
        ({}, np.zeros(1, np.int8)),
        ({"plies": 1}, np.zeros(1, np.int8)),
        ({"plies": 0}, np.zeros(1, np.float64)),
        ({"plies": 0}, None),
    ],
)
def test_a_forged_book_is_refused(tmp_path, path, meta, scores):
    from mdplay.storage import arrays as store

    words = {name: value for name, value in store.load(path, kind=books.KIND).meta.items() if name != "plies"}
    arrays = {} if scores is None else {"scores": scores}
    store.save(tmp_path / "forged", arrays, kind=books.KIND, meta={**words, **meta})
    with pytest.raises(FormatError):
        load_book(tmp_path / "forged", GAME)
