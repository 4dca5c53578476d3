"""README and docs cannot lie: their Python blocks are doctests."""

import doctest

import pytest

from tests.helpers import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks_do_what_they_show(page, monkeypatch, tmp_path, needs_compiler):
    monkeypatch.chdir(tmp_path)
    failed, _ = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


def test_readme_stays_short():
    assert len((ROOT / "README.md").read_text().splitlines()) < 200
