import sqlite3

import pytest

from mdplay import FormatError, make, play
from mdplay.playing.matches.results import Results

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


def a_game_filed(folder):
    path = folder / "results.db"
    with Results(path) as results:
        results.add("key", play(GAME, "random", "random"))
    return path


def test_a_schema_that_is_no_text_is_refused(tmp_path):
    path = a_game_filed(tmp_path)
    with sqlite3.connect(path) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        file.execute("PRAGMA journal_mode = DELETE")
    file.close()
    path.write_bytes(
        path.read_bytes().replace(b"match TEXT NOT NULL, number", b"match TEXT NOT \xff\xfe\xfd\xfc, number")
    )
    with pytest.raises(FormatError, match="cannot be used for results"):
        Results(path)


def test_a_damaged_game_is_not_taken_for_a_result(tmp_path):
    path = a_game_filed(tmp_path)
    with sqlite3.connect(path) as file:
        file.execute("UPDATE games SET record = replace(record, 'moves', 'muves')")
    file.close()
    with (
        Results(path) as results,
        pytest.raises(FormatError, match=r"results\.db: damaged record: the field moves"),
    ):
        results.records("key", GAME, 10)


def test_a_run_without_a_game_leaves_no_file(tmp_path, mdplay):
    path = tmp_path / "results.db"
    with Results(path) as results:
        assert results.records("key", GAME, 10) == {}
    for openings in ("random:99", "nothing"):
        for command in ("match", "tournament"):
            given = ("tic-tac-toe", "random", "perfect", "--openings", openings, "--results", path)
            answer = mdplay(command, *given)
            assert (answer.code, "opening" in answer.err or "leaves no game" in answer.err) == (2, True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", ["", ".", "/dev/null", "a\0b", "x" * 300])
def test_what_is_not_a_file_is_refused(path):
    with pytest.raises(FormatError, match="cannot be used for results"):
        Results(path)


@pytest.mark.parametrize("change", ["record = x'00'", "number = 5"])
def test_a_row_that_is_not_its_game_is_refused(tmp_path, change):
    path = tmp_path / "results.db"
    with Results(path) as results:
        results.add("key", play(GAME, "random", "random"))
    with sqlite3.connect(path) as file:
        file.execute(f"UPDATE games SET {change}")
    file.close()
    with Results(path) as results, pytest.raises(FormatError, match="game . is damaged"):
        results.records("key", GAME, 10)


def test_games_are_not_given_to_a_match_made_of_something_else(tmp_path):
    made = {"the rules have": "1", "agent a has": "2"}
    with Results(tmp_path / "results.db") as results:
        results.claim("key", made)
        results.add("key", play(GAME, "random", "random"))
        results.claim("key", made)
        results.claim("another key", {"the rules have": "2"})
        with pytest.raises(FormatError, match=r"results\.db: the rules have changed since .* name a new file"):
            results.claim("key", made | {"the rules have": "3"})
        with pytest.raises(FormatError, match="agent a has changed since its games were played"):
            results.claim("key", made | {"agent a has": "3"})
        results.claim("key", made)


def test_games_of_an_earlier_version_are_not_taken_on_trust(tmp_path):
    with Results(tmp_path / "results.db") as results:
        results.add("key", play(GAME, "random", "random"))
        with pytest.raises(FormatError, match="do not say with which rules they were played"):
            results.claim("key", {"the rules have": "1"})


def test_an_agent_without_a_hash_gets_no_old_games(tmp_path):
    with Results(tmp_path / "new.db") as results:
        results.claim("key", {"agent bot has": "?1"})
        results.add("key", play(GAME, "random", "random"))
    with (
        Results(tmp_path / "new.db") as results,
        pytest.raises(FormatError, match="agent bot has no hash, since its code reads what .* name a new file"),
    ):
        results.claim("key", {"agent bot has": "?2"})
