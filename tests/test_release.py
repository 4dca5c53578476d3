"""The check before a release finds each file that was forgotten."""

import shutil

import pytest
from tools.release import faults

from tests.helpers import ROOT

FILES = ("pyproject.toml", "src/mdplay/__init__.py", "CITATION.cff", "CHANGELOG.md")


@pytest.fixture
def release(tmp_path):
    """A copy of the four files that describe the release, as version 9.8.7."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    changes = tmp_path / "CHANGELOG.md"
    changes.write_text(changes.read_text().replace("## [Unreleased]", "## [9.8.7] - 2026-12-01", 1))
    for name in FILES[:3]:
        path = tmp_path / name
        path.write_text(path.read_text().replace("0.2.0", "9.8.7"))
    return tmp_path


def test_a_complete_release_can_be_tagged(release):
    assert faults(release, "v9.8.7") == []


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_another_version_is_reported(release, name):
    shutil.copy(ROOT / name, release / name)
    [found] = faults(release, "v9.8.7")
    assert found.startswith(name)
