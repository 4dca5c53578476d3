import re

import pytest

from mdplay import GameError, MdplayError, Position, UnknownName, make
from mdplay.naming import registry
from mdplay.naming.about import built_in_games
from mdplay.web.games.catalogue import Catalogue, made, own_ids, rules_of
from mdplay.web.games.requests import picture_of
from tests.helpers import NIM, write


def test_every_registered_game_is_offered_and_every_picture_can_be_drawn():
    games = Catalogue()
    assert set(games) == set(registry.names()) >= set(built_in_games())
    for entry in games.values():
        assert entry.position().svg.startswith("<svg")
        for params in entry.about.presets.values():
            entry.make(params)
        for params, start in entry.about.starts.items():
            assert Position.parse(entry.make(params), start).actions


def test_what_the_command_line_names_comes_first(tmp_path):
    path = write(tmp_path, "nim.py", NIM)
    games = Catalogue([str(path), "qubic", "connect-four:rows=4,cols=4"])
    assert list(games)[:3] == ["own-nim", "own-connect-four-rows-4-cols-4", "qubic"]
    nim, small = games["own-nim"], games["own-connect-four-rows-4-cols-4"]
    assert (nim.about.title, small.about.title) == ("Nim", "Connect Four, rows=4,cols=4")
    assert nim.make("pile=7").initial().pile == 7
    assert small.make() == make("connect-four:rows=4,cols=4")
    assert small.make("rows=5") == make("connect-four:rows=5,cols=4")


def test_the_address_of_an_own_game_is_its_name_whatever_the_order(tmp_path):
    nim, dark = (
        write(tmp_path, "nim.py", NIM),
        write(tmp_path, "dark.py", NIM.replace("class Nim(", "class DarkNim(")),
    )
    specs = [f"{nim}:Nim", f"{dark}:DarkNim", f"{nim}:Nim:pile=7", "connect-four:rows=4"]
    names = ["own-nim", "own-dark-nim", "own-nim-pile-7", "own-connect-four-rows-4"]
    assert own_ids(specs) == names
    assert own_ids(specs[::-1]) == names[::-1]
    assert own_ids([str(nim), f"{nim}:Nim"]) == ["own-nim", "own-nim"]  # one game, told twice
    other = write(tmp_path, "other.py", NIM)
    assert own_ids([str(nim), str(other)]) == ["own-nim-nim", "own-other-nim"]


def test_files_called_alike_in_two_folders_have_addresses_of_their_own(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    both = [str(write(tmp_path / folder, "nim.py", NIM)) for folder in ("a", "b")]
    one, two = own_ids(both)
    assert one != two and own_ids(both[::-1]) == [two, one]
    assert all(re.fullmatch(r"own-[0-9a-f]{8}-nim-nim", name) for name in (one, two))
    assert list(Catalogue(both))[:2] == [one, two]


def test_names_too_long_for_an_address_are_told_apart_by_a_hash(tmp_path):
    name = "N" + "i" * 90 + "m"
    path = write(tmp_path, "long.py", NIM.replace("class Nim(", f"class {name}("))
    one, two = own_ids([f"{path}:pile=7", f"{path}:pile=8"])
    assert one != two and re.fullmatch(r"own-[0-9a-f]{8}", one)
    assert len(own_ids([str(path)])[0]) == 80


def test_a_users_game_is_told_by_its_class_or_its_file(tmp_path):
    plain = write(tmp_path, "nim.py", NIM)
    assert (
        Catalogue([str(plain)])["own-nim"].about.summary
        == "Take one, two or three; whoever takes the last one wins."
    )
    told = NIM.replace("    pile: int = 21", '    """Nim, told."""\n\n    pile: int = 21')
    path = write(tmp_path, "told.py", told.replace("class Nim(", "class DarkNim("))
    profile = Catalogue([str(path)])["own-dark-nim"].about
    assert (profile.title, profile.summary) == ("Dark Nim", "Nim, told.")
    silent = write(tmp_path, "silent.py", NIM.partition("\n\n")[2])
    assert Catalogue([str(silent)])["own-nim"].about.summary == "Your own game."


def test_a_game_goes_to_another_process_as_data(tmp_path):
    path = write(tmp_path, "nim.py", NIM)
    entry = Catalogue([str(path)])["own-nim"]
    assert made(**entry.told("pile=9")) == entry.make("pile=9")


def test_a_file_that_is_no_game_is_told_before_anything_is_served(tmp_path):
    path = write(tmp_path, "broken.py", NIM.replace("return (1 << min(3, s.pile)) - 1", "return 'all'"))
    with pytest.raises(GameError):
        Catalogue([str(path)])
    with pytest.raises(MdplayError):
        Catalogue([str(tmp_path / "nothing.py")])


SVG = """
    def svg(self, s: State) -> str:
        return draw.picture(9, 9, [draw.circle(4, 4, 1 // DIVISOR, KIND)], "a pile")
"""


@pytest.mark.parametrize(
    "divisor, kind, error, words",
    [
        (1, "red", UnknownName, "no kind of shape 'red', it would be black"),
        (0, "first", GameError, "Nim raised ZeroDivisionError: .*nim.py, line"),
    ],
)
def test_a_picture_that_cannot_be_drawn_is_told_before_anything_is_served(tmp_path, divisor, kind, error, words):
    drawn = SVG.replace("DIVISOR", str(divisor)).replace("KIND", repr(kind))
    path = write(tmp_path, "nim.py", f"import mdplay.svg as draw\n{NIM}{drawn}")
    with pytest.raises(error, match=words):
        Catalogue([str(path)])


def test_a_later_picture_that_names_no_known_kind_is_shown_in_characters(tmp_path):
    drawn = SVG.replace("DIVISOR", "1").replace("KIND", '"first" if s.pile == 21 else "red"')
    game = make(str(write(tmp_path, "nim.py", f"import mdplay.svg as draw\n{NIM}{drawn}")))
    start = Position.start(game)
    assert "<circle" in picture_of(start)
    assert "pile = 20" in picture_of(start.play(start.moves[0]))


def test_a_game_knows_that_one_of_its_files_has_changed(tmp_path):
    helper = write(tmp_path, "nim_helper_of_page.py", "MOST = 3\n")
    data = write(tmp_path, "nim_page.txt", "3")
    reads = f"import pathlib\nDATA = pathlib.Path({str(data)!r}).read_text()\n"
    text = f"from nim_helper_of_page import MOST\n{NIM}\n{reads}"
    path = write(tmp_path, "nim_page.py", text)
    entry = Catalogue([str(path)])["own-nim"]
    assert not entry.has_changed
    for file in (path, helper, data):
        before = file.read_text()
        file.write_text(before)
        assert not entry.has_changed, "saved again, the same"
        file.write_text(f"{before}\n ")
        assert entry.has_changed
        file.write_text(before)
        assert not entry.has_changed
    path.unlink()
    assert entry.has_changed


def test_a_link_to_itself_is_refused_by_its_name(tmp_path):
    (tmp_path / "loop.py").symlink_to("loop.py")
    with pytest.raises(GameError, match=r"loop\.py"):
        Catalogue([str(tmp_path / "loop.py")])


def test_every_game_has_rules():
    """Built-in games have them in words; the others show the docstring of their class."""
    for entry in Catalogue([]).values():
        assert len(rules_of(entry, entry.make())) >= 2


def test_the_rules_of_a_game_of_a_file_are_its_docstring(tmp_path):
    text = NIM.replace(
        "    pile: int = 21\n",
        '    """Take ``one``, two\n    or three.\n\n        I I I\n\n    The last one wins."""\n\n'
        "    pile: int = 21\n",
        1,
    )
    written, plain = write(tmp_path, "written.py", text), write(tmp_path, "plain.py", NIM)
    found = {
        entry.id: rules_of(entry, entry.make())
        for entry in Catalogue([f"{written}:Nim", f"{plain}:Nim"]).values()
        if entry.own
    }
    assert sorted(found.values()) == [[], ["Take one, two or three.", "The last one wins."]]
