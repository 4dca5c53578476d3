"""README and docs cannot lie: what they show is run.

Blocks with a title are files, ``console`` blocks are commands with their output, ``>>>`` is Python; in outputs
``...`` stands for what differs from run to run.
"""

import doctest
import re
import shlex
import sys

import pytest

from mdplay import check_game, make, perft, playouts
from tests.helpers import ROOT

WRITE_A_GAME = ROOT / "docs" / "write-a-game.md"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def blocks(page, info):
    """Yield the text of the page's blocks whose first line matches, with the match."""
    for first, text in re.findall(r"^```([^\n]*)\n(.*?)^```$", page.read_text(), flags=re.M | re.S):
        if found := re.fullmatch(info, first):
            yield found, text


@pytest.fixture
def desk(request, tmp_path, monkeypatch):
    """An empty folder of work into which the page's files are written."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for found, text in blocks(request.getfixturevalue("page"), r'python title="(.+)"'):
        (tmp_path / found[1]).write_text(text)
    yield tmp_path
    for path in tmp_path.glob("*.py"):
        sys.modules.pop(path.stem, None)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks_do_what_they_show(page, desk, needs_compiler):
    failed, _ = doctest.testfile(str(page), module_relative=False, optionflags=FLAGS)
    assert failed == 0


@pytest.mark.parametrize("page", [p for p in PAGES if "```console" in p.read_text()], ids=lambda page: page.name)
def test_commands_print_what_they_show(page, desk, mdplay, needs_compiler):
    text = "".join(text for _, text in blocks(page, "console"))
    commands = re.findall(r"^\$ mdplay (.*)\n((?:(?!\$ ).*\n)*)", text, flags=re.M)
    assert len(commands) == text.count("$ mdplay") > 0
    for command, shown in commands:
        answer = mdplay(*shlex.split(command))
        printed = answer.out + answer.err
        assert doctest.OutputChecker().check_output(shown, printed, FLAGS), f"{command}\n{printed}"


def test_readme_stays_short():
    assert len((ROOT / "README.md").read_text().splitlines()) < 200


# ---------------------------------------------------------------- the game of the page, under every kernel
KERNELS = {  # each kernel that takes a game, and how it is reached
    "ask, ask_step, ask_outcome": lambda game: check_game(game, games=3).compiled,
    # games of single squares are the standard Young tableaux of 3 x 4: 462 by the hook length formula
    "following": lambda game: perft(game, depth=11)[11].paths == 462,
    "play_chunks": lambda game: playouts(game, games=1000, seed=2).longest <= 11,
}


@pytest.mark.parametrize("page", [WRITE_A_GAME], ids=lambda page: page.name)
@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize("name", ["chomp.py", "dark_chomp.py"])
def test_the_game_of_the_page_works_in_every_kernel(page, desk, name, kernels):
    assert KERNELS[kernels](make(str(desk / name)))


def test_no_kernel_is_forgotten():
    text = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    found = set(re.findall(r"^@kernel\ndef (\w+)\(\s*game\b", text, flags=re.M))
    assert found == {name for names in KERNELS for name in names.split(", ")}, (
        "tests/test_docs.py lists all kernels"
    )


def test_the_game_of_the_page_fits_fifty_lines():
    assert [len(text.splitlines()) <= 50 for _, text in blocks(WRITE_A_GAME, "python title=.*")] == [True, True]
