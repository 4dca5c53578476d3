import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdplay import FormatError, Record, load_records, make, play, save_records
from mdplay.playing.course import Course
from tests.helpers import NIM, write

GAMES = ["tic-tac-toe", "connect-four:rows=5,cols=5", "anti-tic-tac-toe", "2048:rows=2,cols=3"]


def recorded(name="tic-tac-toe", seed=0, **fields):
    game = make(name)
    agents = ["random"] * (1 if name.startswith("2048") else 2)
    document = play(game, *agents, seed=seed).as_dict() | fields
    return json.dumps(document)


@given(st.sampled_from(GAMES), st.integers(0, 2**64))
def test_a_record_is_read_back_as_it_was(name, seed):
    game = make(name)
    record = play(game, *["random"] * (1 if name.startswith("2048") else 2), seed=seed)
    assert Record.from_json(record.to_json()) == record
    assert record.replay().total == record.result


def test_records_of_a_file_one_a_line(tmp_path):
    games = [play(make("tic-tac-toe"), "random", "random", seed=seed) for seed in range(5)]
    save_records(tmp_path / "games.jsonl", games)
    assert load_records(tmp_path / "games.jsonl") == games
    assert len((tmp_path / "games.jsonl").read_text().splitlines()) == 5


def test_a_known_game_as_json():
    game = make("connect-four")
    course = Course(game)
    for action in (3, 0, 3, 0, 3, 0, 3):
        course.add(action)
    record = Record(game, ("a", "b"), tuple(course.events), course.total, seed=7, number=2, opening=1)
    assert json.loads(record.to_json()) == {
        "format": "mdplay record 1",
        "game": "connect-four",
        "parameters": {"rows": 6, "cols": 7},
        "agents": ["a", "b"],
        "seed": 7,
        "number": 2,
        "start": None,
        "opening": 1,
        "moves": ["4", "1", "4", "1", "4", "1", "4"],
        "result": 1,
    }


def test_a_start_and_an_unfinished_game_are_kept():
    game = make("connect-four")
    record = Record(game, ("a", "b"), (3, 3), None, start=game.parse("44"))
    assert Record.from_json(record.to_json()) == record


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[1]", "the field format must be 'mdplay record 1'"),
        (recorded(format="mdplay record 9"), "the field format must be"),
        (recorded(moves=None), "the field moves is missing or of the wrong type"),
        (recorded(moves=[1, 2]), "the field moves must be a list of texts"),
        (recorded(moves=["0", "0"]), "move 2: '0' is not a legal move"),
        (recorded(moves=["0", "3", "1", "4", "2", "5"], result=1), "move 6, '5', comes after the end"),
        (recorded(moves=["0"], result=1), "lead to an unfinished game, it says 1"),
        (recorded(moves=["0", "3", "1", "4", "2"], result=-1), "lead to a result of 1, it says -1"),
        (recorded(moves=["0", "3", "1", "4", "2"], result=None), "lead to a result of 1, it says None"),
        (recorded(result=True), "the field result is missing or of the wrong type"),
        (recorded(opening=99), "an opening of 99 moves"),
        (recorded(agents=["random"]), "1 agents for 2 players"),
        (recorded(game="chess"), "no game 'chess'"),
        (recorded(parameters={"rows": 99}), "rows=99 is out of range"),
        (recorded(start="99"), "'99' is not a position"),
        (recorded(game="evil.py:Evil"), "name the game when you read it"),
        (recorded("2048:rows=2,cols=2", moves=["left"]), "'left' is no outcome of chance"),
    ],
)
def test_a_damaged_record_is_refused(tmp_path, text, sentence):
    path = write(tmp_path, "game.json", f"{recorded()}\n{text or '{'}\n")
    with pytest.raises(FormatError, match=re.escape(sentence)) as caught:
        load_records(path)
    assert str(caught.value).startswith(f"{path}, line 2: ")


@given(st.data())
def test_whatever_is_cut_or_changed_the_answer_is_a_record_or_a_sentence(data):
    text = recorded(seed=data.draw(st.integers(0, 9)))
    where = data.draw(st.integers(0, len(text) - 1))
    damaged = (
        text[:where] + data.draw(st.sampled_from(["", "9", '"', "\\", "{", "null", "1e999"])) + text[where + 1 :]
    )
    try:
        record = Record.from_json(damaged)
    except FormatError:
        return
    except Exception as error:
        from mdplay import MdplayError

        assert isinstance(error, MdplayError), error
        return
    assert record.replay().total == record.result


def test_files_that_are_no_records(tmp_path):
    for content in (b"", b"\n \n", b"\xff\xfe\x00"):
        (tmp_path / "game.json").write_bytes(content)
        with pytest.raises(FormatError):
            load_records(tmp_path / "game.json")
    with pytest.raises(FormatError, match="cannot read"):
        load_records(tmp_path)


def test_a_users_game_is_named_by_whoever_reads(tmp_path):
    game = make(f"{write(tmp_path, 'nim_of_records.py', NIM)}:Nim:pile=9")
    record = play(game, "random", "random")
    assert record.as_dict()["game"] == "nim_of_records.py:Nim"
    record.save(tmp_path / "game.json")
    assert load_records(tmp_path / "game.json", game) == [record]
    with pytest.raises(FormatError, match="name the game"):
        load_records(tmp_path / "game.json")
