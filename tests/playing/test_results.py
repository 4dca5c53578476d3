import sqlite3

import pytest

from mdplay import FormatError, make, play
from mdplay.playing.results import Results

GAME = make("tic-tac-toe")


def test_a_game_is_filed_once_and_read_back(tmp_path):
    first, other = (play(GAME, "random", "random", seed=seed) for seed in (1, 2))
    with Results(tmp_path / "results.db") as results:
        results.add("key", first)
        results.add("key", other)  # the same number again
        results.add("another key", other)
        assert results.records("key", GAME, 10) == {0: first}
        assert results.records("key", GAME, 0) == {}
    with Results(tmp_path / "results.db") as results:
        assert results.records("another key", GAME, 10) == {0: other}


def test_two_processes_may_write(tmp_path):
    records = [play(GAME, "random", "random", seed=seed) for seed in range(2)]
    with Results(tmp_path / "results.db") as one, Results(tmp_path / "results.db") as two:
        one.add("a", records[0])
        two.add("b", records[1])
        assert one.records("b", GAME, 1) == {0: records[1]}


def test_foreign_and_damaged_files_are_refused(tmp_path):
    (tmp_path / "text").write_text("no database at all, but a text of some length " * 50)
    with pytest.raises(FormatError, match="cannot be used for results: file is not a database"):
        Results(tmp_path / "text")
    with sqlite3.connect(tmp_path / "foreign.db") as file:
        file.execute("CREATE TABLE mine (x)")
    file.close()
    with pytest.raises(FormatError, match="of another program"):
        Results(tmp_path / "foreign.db")
    with pytest.raises(FormatError, match="cannot be used"):
        Results(tmp_path / "no folder" / "results.db")


def test_a_damaged_game_is_not_taken_for_a_result(tmp_path):
    path = tmp_path / "results.db"
    with Results(path) as results:
        results.add("key", play(GAME, "random", "random"))
    with sqlite3.connect(path) as file:
        file.execute("UPDATE games SET record = replace(record, 'moves', 'muves')")
    file.close()
    with (
        Results(path) as results,
        pytest.raises(FormatError, match=r"results\.db: damaged record: the field moves"),
    ):
        results.records("key", GAME, 10)
