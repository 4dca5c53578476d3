"""The five systems as the page gets them: their names, what is finished, and the run of one."""

import json
from importlib import import_module

import pytest

from mdplay.lab.reproduction.run import SYSTEMS
from mdplay.web.labs import reproduction
from tests.web.reading import events

DRAWING = '<svg xmlns="http://www.w3.org/2000/svg"><style>text { fill: red }</style><text>1</text></svg>'
FIGURE = {"title": "A", "text": "words", "command": "mdplay solve", "facts": {}}
FIGURE |= {"drawings": [{"svg": DRAWING, "caption": "c"}]}
FIGURE |= {"table": {"header": ["a"], "rows": [["1"]]}, "picture": ["bGlnaHQ=", "ZGFyaw=="]}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(reproduction, "folder_of", lambda number: tmp_path / str(number))
    return tmp_path


def finish(folder, number):
    (folder / str(number) / "parts").mkdir(parents=True)
    claims = {"header": ["the report says", "mark"], "rows": [["4096 states", "equal"]], "prose": True}
    told = {"title": "T", "headline": "H", "figures": {"one": {}}, "claims": claims}
    (folder / str(number) / "figures.json").write_text(json.dumps({"systems": {str(number): told}}))
    (folder / str(number) / "parts" / "one.json").write_text(json.dumps({"name": "one", "figure": FIGURE}))


def test_the_names_are_the_systems_own():
    named = {number: import_module(f"mdplay.lab.reproduction.{name}").TITLE for number, name in SYSTEMS.items()}
    assert named == reproduction.TITLES


def test_what_is_finished_is_shown(client, folder):
    finish(folder, 2)
    listed = client.get("/api/v1/reproduction").json()["systems"]
    assert [system["done"] for system in listed] == [False, True, False, False, False]
    chapter = client.get("/api/v1/reproduction/2").json()
    assert chapter["headline"] == "H"
    assert chapter["figures"][0]["table"]["rows"] == [["4096 states", "equal"]]
    assert chapter["figures"][1]["picture"] == {"light": "bGlnaHQ=", "dark": "ZGFyaw=="}
    [drawing] = chapter["figures"][1]["drawings"]
    assert "text>1<" in drawing["svg"] and "style" not in drawing["svg"], (
        "the page forbids style sheets in pictures"
    )
    assert client.get("/api/v1/reproduction/1").status_code == 404
    assert client.get("/api/v1/reproduction/6").status_code == 422


def test_a_damaged_part_is_as_good_as_none(folder):
    finish(folder, 3)
    (folder / "3" / "parts" / "one.json").write_text('{"figure": {}}')
    assert reproduction.chapter(3) is None


def test_a_system_is_run_by_the_command(client, folder, monkeypatch, tmp_path):
    """The command stands in for minutes of work: it writes what `mdplay reproduce` writes."""
    seen = []

    class Command:
        returncode = 0

        def __init__(self, command, **options):
            seen.append(command)
            finish(folder, 4)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def poll(self):
            return 0

        def kill(self):
            pass

    monkeypatch.setattr(reproduction.subprocess, "Popen", Command)
    told = events(client.get("/api/v1/reproduction/4/run").text)
    assert seen[0][1:5] == ["-m", "mdplay", "reproduce", "4"]
    assert [event for event, _ in told] == ["chapter", "end"]
