"""Tests of ``mdplay.reproducing.run``.

Here are tested besides: ``mdplay.reproducing.connect_four``, ``mdplay.reproducing.dots_and_boxes``,
``mdplay.reproducing.qubic`` and ``mdplay.reproducing.twenty48``.
"""

import json
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from mdplay.reproducing.run import reproduce


def quiet(label, total):
    return nullcontext(lambda done: None)


def test_a_system_is_reproduced_with_equal_figures(tmp_path, needs_compiler):
    for folder in ("once", "again"):
        (chapter,) = reproduce([1], tmp_path / folder, quiet, quick=True, seed=3)
        assert "2756/693" in chapter.headline
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
        "mdplay.reproducing.run.reproduce", lambda systems, *_, **options: [chapter] * len(systems)
    )
    answer = mdplay("reproduce", 1, "--out", tmp_path)
    assert (answer.code, answer.out.count("Dots and Boxes")) == (0, 1)
    assert str(tmp_path / "index.html") in answer.out
    assert mdplay("reproduce", 6).code == 2


@pytest.mark.slow
def test_the_quick_reproduction_of_everything(tmp_path):
    chapters = reproduce([1, 2, 3, 4, 5], tmp_path, quiet, quick=True)
    assert [chapter.number for chapter in chapters] == [1, 2, 3, 4, 5]
    assert (tmp_path / "index.html").stat().st_size > 100_000
