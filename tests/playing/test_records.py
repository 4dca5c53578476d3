import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdplay import FormatError, MdplayError, Position, Record, load_records, make, play, save_records
from mdplay.compiling.identity import game_identity
from mdplay.naming.specs import load_module
from tests.helpers import NIM, write

GAMES = ["tic-tac-toe", "connect-four:rows=5,cols=5", "anti-tic-tac-toe", "2048:rows=2,cols=3"]


def recorded(name="tic-tac-toe", seed=0, **fields):
    game = make(name)
    agents = ["random"] * (1 if name.startswith("2048") else 2)
    document = play(game, *agents, seed=seed).document() | fields
    if "moves" in fields and "events" not in fields:
        del document["events"]  # as older records are
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
    end = Position.start(game).replay((3, 0, 3, 0, 3, 0, 3))
    record = Record(game, ("a", "b"), end.events, end.total, seed=7, number=2, opening=1)
    assert json.loads(record.to_json()) == {
        "format": "mdplay record 1",
        "game": "connect-four",
        "parameters": {"rows": 6, "cols": 7},
        "agents": ["a", "b"],
        "seed": 7,
        "number": 2,
        "start": None,
        "opening": 1,
        "events": [3, 0, 3, 0, 3, 0, 3],
        "moves": ["4", "1", "4", "1", "4", "1", "4"],
        "result": 1,
        "by_limit": False,
        "rules": game_identity(game),
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
        (
            recorded(moves=["0", "3", "1", "4", "2", "5"], result=1),
            "move 6: '5' is not a legal move in 111220000; the game is over",
        ),
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
    assert record.document()["game"] == "nim_of_records.py:Nim"
    record.save(tmp_path / "game.json")
    assert load_records(tmp_path / "game.json", game) == [record]
    with pytest.raises(FormatError, match="name the game"):
        load_records(tmp_path / "game.json")


@pytest.mark.parametrize("name", ["x", "data", "tic-tac-toe", "evil", "x:k=/evil", "evil.py"])
@pytest.mark.parametrize("value", ["/evil.py", "evil.py", "evil.py:Evil", "x,y=/evil.py"])
def test_a_record_never_runs_a_file(tmp_path, monkeypatch, mdplay, name, value):
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"{name.split('/')[0]}:k=").mkdir(exist_ok=True)
    for folder in (tmp_path, tmp_path / f"{name.split('/')[0]}:k="):
        write(folder, "evil.py", f"from pathlib import Path; Path({str(tmp_path / 'ran')!r}).touch()")
    text = recorded(game=name, parameters={"k": value})
    for key in ("k", "rows", "misere"):
        path = write(tmp_path, "game.jsonl", recorded(game=name, parameters={key: value}))
        with pytest.raises(FormatError):
            load_records(path)
        assert mdplay("show", "--record", path).code == 2
    with pytest.raises(MdplayError):
        Record.from_json(text)
    assert not (tmp_path / "ran").exists()


def test_a_last_line_that_was_cut_off_is_left_out_with_a_word(tmp_path, mdplay):
    games = [play(make("tic-tac-toe"), "random", "random", seed=seed) for seed in range(3)]
    path = tmp_path / "games.jsonl"
    save_records(path, games)
    whole = path.read_bytes()
    last = len(games[2].to_json()) + 1
    for cut in (2, 10, last - 1):
        path.write_bytes(whole[:-cut])
        with pytest.warns(UserWarning, match="line 3 is cut off; the 2 before it were read"):
            assert load_records(path) == games[:2]
    path.write_bytes(whole[:-1])  # only the end of the line is missing
    assert load_records(path) == games
    path.write_bytes(whole[:-last])
    assert load_records(path) == games[:2]


@pytest.mark.parametrize("name", ["connect-four:rows=5,cols=5", "tic-tac-toe"])
def test_a_record_of_another_game_is_not_taken_for_ours(name):
    record = play(make("connect-four:rows=4,cols=4"), "random", "random", seed=1)
    began = json.dumps(record.document() | {"moves": [], "events": [], "result": None})
    assert Record.from_json(began, make("connect-four:rows=4,cols=4")).moves == ()
    with pytest.raises(FormatError, match=f"of connect-four:rows=4,cols=4, not of {name}"):
        Record.from_json(began, make(name))


def test_a_record_of_other_rules_is_read_where_they_agree(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    three = load_module(write(tmp_path / "a", "three.py", NIM)).Nim(4)
    misere = load_module(
        write(tmp_path / "b", "misere.py", NIM.replace("2 * s.player - 1", "1 - 2 * s.player"))
    ).Nim(4)
    ones = load_module(write(tmp_path, "ones.py", NIM.replace("min(3,", "min(1,"))).Nim(4)
    record = play(three, "random", "random", seed=1)
    assert len(record.moves) < 4
    same = load_module(write(tmp_path, "same.py", NIM.replace("min(3,", "min(4,"))).Nim(4)
    assert Record.from_json(record.to_json(), same).moves == record.moves
    with pytest.raises(FormatError, match="its moves lead to a result of .*; the rules of the game have changed"):
        Record.from_json(record.to_json(), misere)
    with pytest.raises(FormatError, match="action 1 is not legal in .*; the rules of the game have changed"):
        Record.from_json(record.to_json(), ones)


# ---------------------------------------------------------------- numbers, and the words beside them
DICE = '''"""Race: roll a die, go on or take one step; the dice have words of their own."""

from dataclasses import dataclass
from typing import NamedTuple

from mdplay import Game


class State(NamedTuple):
    place: int
    rolls: int
    player: int


@dataclass(frozen=True)
class Race(Game[State]):
    def initial(self) -> State:
        return State(0, 1, 0)

    def legal(self, s: State) -> int:
        return 0 if s.place >= 9 else 3

    def step(self, s: State, action: int) -> State:
        return State(s.place, 1, s.player) if action else State(s.place + 1, 0, 1 - s.player)

    def outcomes(self, s: State) -> int:
        return 63 if s.rolls else 0

    def outcome(self, s: State, i: int) -> State:
        return State(s.place + i + 1, 0, 1 - s.player)

    def probability(self, s: State, i: int) -> float:
        return 1 / 6

    def result(self, s: State) -> int:
        return 1 - 2 * s.player

    def outcome_text(self, s: State, i: int) -> str:
        return f"*{i + 1}"
'''


@pytest.fixture
def race(tmp_path):
    return load_module(write(tmp_path, "race.py", DICE)).Race()


def test_the_words_of_a_game_for_chance_count_before_the_numbers(race):
    assert Position.parse(race, "moves:*2").state.place == 2  # it was outcome 2 before, a three
    with pytest.raises(MdplayError, match=r"'\*0' is no outcome of chance in .*; choose from \*1, \*2"):
        Position.parse(race, "moves:*0")


def test_a_saved_game_of_dice_goes_on_where_it_was_left(race):
    end = Position.start(race).replay((1, 0, 1, 2))
    record = Record(race, ("a", "b"), end.events, None)
    assert record.moves == ("*2", "0", "1", "*3")
    assert Record.from_json(record.to_json(), race).replay() == end


@given(seed=st.integers(0, 2**32))
def test_records_of_dice_are_read_back(tmp_path_factory, seed):
    race = load_module(write(tmp_path_factory.mktemp("dice"), "race.py", DICE)).Race()
    record = play(race, "random", "random", seed=seed)
    assert Record.from_json(record.to_json(), race) == record


def test_numbers_and_words_of_a_record_must_agree(race):
    document = Record(race, ("a", "b"), (1, 0), None).document()
    with pytest.raises(FormatError, match=r"move 1: number 4 is called '\*5' here, the record calls it '\*2'"):
        Record.from_json(json.dumps(document | {"events": [4, 0]}), race)
    with pytest.raises(FormatError, match="2 moves but 1 events"):
        Record.from_json(json.dumps(document | {"events": [1]}), race)
    with pytest.raises(FormatError, match=r"move 1: outcome 9 is not legal in 0,1,0; choose from \[0, 1, 2"):
        Record.from_json(json.dumps(document | {"events": [9, 0]}), race)
    with pytest.raises(FormatError, match="the field events must be a list of whole numbers"):
        Record.from_json(json.dumps(document | {"events": ["1", "0"]}), race)


def test_a_start_is_written_as_fields_where_the_game_reads_no_texts(race):
    record = Record(race, ("a", "b"), (1,), None, start=race.initial()._replace(place=5, rolls=0))
    assert record.document()["start"] == "5,0,0"
    assert Record.from_json(record.to_json(), race) == record
