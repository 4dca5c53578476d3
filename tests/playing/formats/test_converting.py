import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdplay import FormatError, MdplayError, Position, Record, make, match, play
from mdplay.naming.registry import extras_of, register_extras
from mdplay.playing.formats import ForeignFormat, convert, format_names, load_games, save_games
from tests.helpers import NIM, write

GAMES = {
    "connect-four": ["mdplay", "moves", "sgf"],
    "connect-four:rows=4,cols=5": ["mdplay", "moves", "sgf"],
    "othello:side=6": ["mdplay", "sgf"],
    "breakthrough:rows=5,cols=4": ["mdplay", "sgf"],
    "dots-and-boxes": ["mdplay", "sgf"],
    "2048:rows=2,cols=3": ["mdplay", "runs"],
    "tic-tac-toe": ["mdplay"],
}
CASES = [(game, name) for game, names in GAMES.items() for name in names if name != "mdplay"]


def told(record):
    """Return what every format keeps of a game."""
    return record.game, record.events, record.result


def test_games_bring_their_formats():
    assert {game: format_names(make(game)) for game in GAMES} == GAMES


@pytest.mark.parametrize("text, name", CASES)
@given(seeds=st.lists(st.integers(0, 1 << 32), min_size=1, max_size=3), cut=st.integers(0, 40))
def test_random_games_come_back(text, name, seeds, cut):
    game = make(text)
    agents = ["random"] * (1 if text.startswith("2048") else 2)
    whole = [play(game, *agents, seed=seed) for seed in seeds]
    left = Record(game, whole[0].agents, whole[0].events[:cut], None)  # a game that was left, or one that is over
    if len(left.events) == len(whole[0].events):
        left = whole[0]
    form = extras_of(game, "formats")[name](game)
    games = [*whole, *([left] if left.events else [])]
    found = form.load("".join(map(form.dump, games)))
    assert list(map(told, found)) == list(map(told, games))


@pytest.mark.parametrize("text, name", CASES)
@given(data=st.data())
def test_damaged_texts_are_a_sentence(text, name, data):
    game = make(text)
    form = extras_of(game, "formats")[name](game)
    whole = form.dump(play(game, *["random"] * (1 if name == "runs" else 2), seed=5))
    at = data.draw(st.integers(0, len(whole) - 1))
    damaged = whole[:at] + data.draw(st.text(max_size=3)) + whole[at + data.draw(st.integers(0, 5)) :]
    try:
        found = form.load(damaged)
    except MdplayError as error:
        assert "\n" not in str(error)[:60] and str(error)
    else:
        assert all(record.replay().game == game for record in found)


def test_files_are_converted_there_and_back(tmp_path):
    records = list(match(make("dots-and-boxes"), "random", "random", games=4).records)
    save_games(tmp_path / "a.jsonl", records)
    found = convert(tmp_path / "a.jsonl", tmp_path / "b.sgf", headers={"event": "cup", "date": "2026.11.17"})
    back = convert(tmp_path / "b.sgf", tmp_path / "c.jsonl")
    assert load_games(tmp_path / "c.jsonl") == back
    assert [told(r) for r in back] == [told(r) for r in found] == [told(r) for r in records]
    assert [r.agents for r in back] == [r.agents for r in records]
    assert {r.headers for r in back} == {(("date", "2026.11.17"), ("event", "cup"))}
    before = (tmp_path / "a.jsonl").read_text()
    assert "headers" not in before and "2026" not in before  # equal games are equal bytes
    convert(tmp_path / "a.jsonl", tmp_path / "d.jsonl")
    assert (tmp_path / "d.jsonl").read_text() == before


@pytest.mark.parametrize(
    "name, text, options, words",
    [
        ("a.moves", "4453", {}, "does not say of which game"),
        ("a.moves", "4453\n888", {"game": "connect-four"}, "line 2: move 1: '8' is not a legal move"),
        ("a.pgn", "1. e4", {"game": "connect-four"}, "has no format of this ending; .json, .jsonl, .moves, .sgf"),
        ("a.pgn", "1. e4", {"game": "connect-four", "format": "pgn"}, "no format 'pgn'"),
        ("a.moves", "4", {"game": "connect-four:rows=4,cols=10"}, "at most 9 columns"),
        ("a.sgf", "(;GN[no.py:Bad];B[d3])", {}, "does not say of which game"),
        ("a.2048", "L 2@0", {"game": "2048"}, "game 1: move 1: 'left' is no outcome of chance"),
        ("a.2048", "2@0 2@1\nX 2@2", {"game": "2048"}, "game 1: 'X' is neither a move"),
    ],
)
def test_what_cannot_be_read_is_a_sentence(name, text, options, words, tmp_path):
    path = write(tmp_path, name, text)
    game = make(options["game"]) if "game" in options else None
    with pytest.raises(MdplayError, match=words):
        load_games(path, game=game, format=options.get("format"))


def test_what_cannot_be_written_is_a_sentence(tmp_path):
    game = make("connect-four")
    started = Record(game, ("a", "b"), (), None, start=Position.parse(game, "44").state)
    for records, words in [
        ([], "there is no game to write"),
        ([started], "begins with a position"),
        ([play(game, "random", "random"), play(make("othello:side=4"), "random", "random")], "into one file"),
    ]:
        with pytest.raises(FormatError, match=words):
            save_games(tmp_path / "a.sgf", records)
    assert not (tmp_path / "a.sgf").exists()


def test_a_users_game_brings_a_format_of_its_own(tmp_path):
    game = make(f"{write(tmp_path, 'nim.py', NIM)}:Nim:pile=5")

    class Taken(ForeignFormat):
        ending = ".taken"

        def dump(self, record):
            return " ".join(record.moves) + "\n"

        def load(self, text):
            return [self.replayed(f"line {n}", line.split()) for n, line in enumerate(text.splitlines(), 1)]

    register_extras(type(game), formats={"taken": Taken})
    record = play(game, "random", "random", seed=2)
    save_games(tmp_path / "a.taken", [record])
    assert [told(r) for r in load_games(tmp_path / "a.taken", game=game)] == [told(record)]


def test_the_command(mdplay, tmp_path):
    path = write(tmp_path, "a.moves", "4453\n1212121\n")
    answer = mdplay("convert", path, tmp_path / "b.jsonl", "--game", "connect-four", "--header", "event=openings")
    assert (answer.code, "2 games written to" in answer.out) == (0, True)
    first, second = load_games(tmp_path / "b.jsonl")
    assert (first.result, second.result, first.headers) == (None, 1.0, (("event", "openings"),))
    answer = mdplay("convert", tmp_path / "b.jsonl", tmp_path / "c.txt", "--to", "moves")
    assert (tmp_path / "c.txt").read_text() == "4453\n1212121\n"
    answer = mdplay("convert", path, tmp_path / "b.jsonl", "--header", "event")
    assert (answer.code, "write NAME=TEXT" in answer.err) == (2, True)
    assert mdplay("convert", tmp_path / "none.sgf", tmp_path / "b.jsonl").code == 2
