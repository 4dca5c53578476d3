import pytest

from mdplay import GameError, MdplayError, Position, make, registry
from mdplay.web.games.catalogue import PROFILES, Catalogue, made
from tests.helpers import NIM, write


def test_every_registered_game_is_offered_and_every_picture_can_be_drawn():
    games = Catalogue()
    assert set(games) == set(registry.names()) >= set(PROFILES)
    for entry in games.values():
        assert entry.position().svg.startswith("<svg")
        for params in entry.profile.presets.values():
            entry.make(params)
        for params, start in entry.profile.starts.items():
            assert Position.parse(entry.make(params), start).actions


def test_what_the_command_line_names_comes_first(tmp_path):
    path = write(tmp_path, "nim.py", NIM)
    games = Catalogue([str(path), "qubic", "connect-four:rows=4,cols=4"])
    assert list(games)[:3] == ["own-1", "own-2", "qubic"]
    assert (games["own-1"].profile.title, games["own-2"].profile.title) == ("Nim", "Connect Four, rows=4,cols=4")
    assert games["own-1"].make("pile=7").initial().pile == 7
    assert games["own-2"].make() == make("connect-four:rows=4,cols=4")
    assert games["own-2"].make("rows=5") == make("connect-four:rows=5,cols=4")


def test_a_users_game_is_told_by_its_class_or_its_file(tmp_path):
    plain = write(tmp_path, "nim.py", NIM)
    assert (
        Catalogue([str(plain)])["own-1"].profile.fact == "Take one, two or three; whoever takes the last one wins."
    )
    told = NIM.replace("    pile: int = 21", '    """Nim, told."""\n\n    pile: int = 21')
    path = write(tmp_path, "told.py", told.replace("class Nim(", "class DarkNim("))
    profile = Catalogue([str(path)])["own-1"].profile
    assert (profile.title, profile.fact) == ("Dark Nim", "Nim, told.")
    silent = write(tmp_path, "silent.py", NIM.partition("\n\n")[2])
    assert Catalogue([str(silent)])["own-1"].profile.fact == "Your own game."


def test_a_game_goes_to_another_process_as_data(tmp_path):
    path = write(tmp_path, "nim.py", NIM)
    entry = Catalogue([str(path)])["own-1"]
    assert made(**entry.told("pile=9")) == entry.make("pile=9")


def test_a_file_that_is_no_game_is_told_before_anything_is_served(tmp_path):
    path = write(tmp_path, "broken.py", NIM.replace("return (1 << min(3, s.pile)) - 1", "return 'all'"))
    with pytest.raises(GameError):
        Catalogue([str(path)])
    with pytest.raises(MdplayError):
        Catalogue([str(tmp_path / "nothing.py")])
