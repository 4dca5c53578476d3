"""Tests of ``mdplay.lab.reproduction.run``.

Here are tested besides: ``mdplay.lab.reproduction.connect_four``, ``mdplay.lab.reproduction.dots_and_boxes``,
``mdplay.lab.reproduction.anti_tic_tac_toe``, ``mdplay.lab.reproduction.qubic`` and
``mdplay.lab.reproduction.twenty48``.
"""

import json
import re
from contextlib import nullcontext
from importlib import import_module
from types import SimpleNamespace

import pytest

from mdplay.lab.reproduction import anti_tic_tac_toe, connect_four, dots_and_boxes, qubic, twenty48
from mdplay.lab.reproduction.run import SYSTEMS, reproduce
from tests.helpers import ROOT


def quiet(label, total):
    return nullcontext(lambda done: None)


def test_a_system_is_reproduced_with_equal_figures(tmp_path, needs_compiler):
    for folder in ("once", "again"):
        (chapter,) = reproduce([1], tmp_path / folder, quiet, quick=True, seed=3)
        assert "2756/693" in chapter.headline
        assert [claim.mark for claim in chapter.claims].count("equal") == len(chapter.claims) - 1, "but for a slip"
    once, again = (json.loads((tmp_path / name / "figures.json").read_text()) for name in ("once", "again"))
    for document in (once, again):
        for made in document["systems"]["1"]["figures"].values():
            assert made.pop("seconds") > 0
            assert made["command"].startswith("mdplay ")
    assert once == again
    assert once["systems"]["1"]["figures"]["perfect-play"]["facts"]["value"]["2x3"] == -2


def test_the_command_names_the_page_and_refuses_a_system_that_is_not(mdplay, monkeypatch, tmp_path):
    chapter = SimpleNamespace(number=1, title="Dots and Boxes", headline="2756/693")
    monkeypatch.setattr(
        "mdplay.lab.reproduction.run.reproduce", lambda systems, *_, **options: [chapter] * len(systems)
    )
    answer = mdplay("reproduce", 1, "--out", tmp_path)
    assert (answer.code, answer.out.count("Dots and Boxes")) == (0, 1)
    assert str(tmp_path / "index.html") in answer.out
    assert mdplay("reproduce", 6).code == 2


def made(system, *names):
    """Return the facts of some steps of a system's quick run, as they are read back."""
    steps = {step.name: step for step in system.steps(True, 1)}
    return json.loads(json.dumps({name: steps[name].make(lambda *_: None).facts for name in names}))


def test_the_worked_position_of_anti_tic_tac_toe():
    found = made(anti_tic_tac_toe, "worked-position")["worked-position"]
    assert [claim.mark for claim in anti_tic_tac_toe._position_claims(found)] == ["equal"] * 4


def test_slices_and_the_tree_of_connect_four():
    found = made(connect_four, "slices", "search-tree")
    assert list(found["slices"]["scores"].values()) == [100, 5, 2, 0, 0]
    assert found["search-tree"]["equal"] == found["search-tree"]["compared"] > 30


def test_the_list_of_statements_names_tests_and_figures_that_exist():
    listed = re.findall(r"`([^`\n]+)`", (ROOT / "docs" / "reproduction.md").read_text().split("## Where every")[1])
    named = [name for name in listed if "::" in name]
    assert len(named) > 40
    for name in named:
        path, test = name.split("::")
        assert re.search(rf"^def {test}\b", (ROOT / path).read_text(), re.MULTILINE), name
    figures = {step.name for system in SYSTEMS.values() for step in steps_of(system)}
    rest = set(listed) - set(named) - {"uniform", "uniform-once", "own", "difference", "perfect", "value action"}
    assert rest <= figures
    assert {step.name for step in steps_of("connect_four")} <= rest, "every figure is of use"


def steps_of(system):
    return import_module(f"mdplay.lab.reproduction.{system}").steps(False, 1)


@pytest.mark.parametrize("system", [anti_tic_tac_toe, connect_four, dots_and_boxes, qubic, twenty48])
def test_steps_have_names_of_their_own(system):
    for quick in (True, False):
        names = [step.name for step in system.steps(quick, 1)]
        assert len(set(names)) == len(names)


@pytest.mark.slow
def test_the_quick_reproduction_of_everything(tmp_path):
    chapters = reproduce([1, 2, 3, 4, 5], tmp_path, quiet, quick=True)
    assert [chapter.number for chapter in chapters] == [1, 2, 3, 4, 5]
    assert (tmp_path / "index.html").stat().st_size > 100_000
    marks = {chapter.number: [claim.mark for claim in chapter.claims] for chapter in chapters}
    unequal = {number: found.count("differs") for number, found in marks.items()}
    assert unequal == {1: 1, 2: 1, 3: 2, 4: 0, 5: 0}, "each one is told with its reason"
    assert all(claim.why for chapter in chapters for claim in chapter.claims if claim.mark == "differs")
