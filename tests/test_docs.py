"""README and docs cannot lie: what they show is run.

Blocks with a title are files, ``console`` blocks are commands with their output, ``>>>`` is Python; in outputs
``...`` stands for what differs from run to run.
"""

import doctest
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from importlib import import_module

import pytest

import mdplay as mdplay_package
from mdplay import Game, __version__
from mdplay.cli.commands import COMMANDS
from mdplay.naming.about import built_in_games
from tests.helpers import ROOT, python

WRITE_A_GAME = ROOT / "docs" / "write-a-game.md"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = ROOT / "examples" / "games"
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
    page = request.getfixturevalue("page")
    if "`examples/games/" in page.read_text():
        shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    for found, text in blocks(page, r'(?:python|text) title="(.+)"'):
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


EXEMPLARY = [
    path for path in sorted((ROOT / "src").rglob("*.py")) if re.search(r"^\s*>>> ", path.read_text(), flags=re.M)
]


@pytest.mark.parametrize("path", EXEMPLARY, ids=lambda path: path.stem)
def test_docstrings_do_what_they_show(path, needs_compiler):
    name = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
    failed, tried = doctest.testmod(import_module(name), optionflags=FLAGS)
    assert failed == 0 < tried


def test_excerpts_are_the_files_as_they_stand():
    found = [(match[1], text) for page in PAGES for match, text in blocks(page, r'python excerpt="(.+)"')]
    assert len(found) > 5
    for name, text in found:
        for part in re.split(r"\n\n(?=\s*def )", text):
            assert squeezed(part) in squeezed((EXAMPLES / name).read_text()), f"{name} has no\n{part}"


def squeezed(text):
    """Return the lines of a text without their margins and without empty ones."""
    return "\n" + "\n".join(line.strip() for line in text.splitlines() if line.strip()) + "\n"


REFUSED = re.findall(
    r"^\| `(.+?)` \| (\.\.\..+?) \| .+ \|$", (ROOT / "docs" / "troubleshooting.md").read_text(), flags=re.M
)


@pytest.mark.parametrize("command, sentence", REFUSED, ids=[command for command, _ in REFUSED])
def test_refusals_say_what_the_page_says(command, sentence, tmp_path):
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "mdplay", *command.split()],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "NUMBA_DISABLE_JIT": "1"},  # no rule is slow here
        capture_output=True,
        text=True,
    )
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert doctest.OutputChecker().check_output(sentence, done.stderr, FLAGS), done.stderr


def test_every_row_of_refusals_is_run():
    page = (ROOT / "docs" / "troubleshooting.md").read_text()
    assert len(REFUSED) == page.count("\n| `") > 10


def test_every_hook_has_its_example():
    page = (ROOT / "docs" / "hooks.md").read_text()
    hooks = [name for name in vars(Game) if not name.startswith(("_", "has_"))]
    assert len(hooks) > 20
    shown = set(re.findall(r"(?:def |`)(\w+)\b", page)) | {"key_bits"}
    assert [name for name in hooks if name not in shown] == []


def test_readme_stays_short():
    assert len((ROOT / "README.md").read_text().splitlines()) < 200


def test_the_games_of_the_page_fit_fifty_lines():
    sizes = [len(text.splitlines()) for _, text in blocks(WRITE_A_GAME, "python title=.*")]
    assert len(sizes) == 3 and max(sizes) <= 50


# ---------------------------------------------------------------- pages, tables and lists that must not be stale
def pages_tool():
    return runpy.run_path(str(ROOT / "tools" / "pages.py"))


def test_the_pages_of_the_games_are_fresh():
    wanted = pages_tool()["pages"]()
    stale = [path.name for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    assert stale == [], "run python tools/pages.py"
    assert set((ROOT / "docs" / "games").iterdir()) == set(wanted)


def test_the_reference_is_fresh_and_has_every_public_name():
    tool = runpy.run_path(str(ROOT / "tools" / "reference.py"))
    assert sorted(" ".join(tool["CHAPTERS"].values()).split()) == sorted(mdplay_package.__all__)
    assert (ROOT / "docs" / "reference.md").read_text() == tool["page"](), "run python tools/reference.py"


def test_every_game_has_its_page():
    assert sorted(pages_tool()["ABOUT"]) == sorted(built_in_games())


def test_the_site_builds_and_lists_every_page():
    pytest.importorskip("zensical")
    done = subprocess.run([sys.executable, "-m", "zensical", "build"], cwd=ROOT, capture_output=True, text=True)
    said = done.stdout + done.stderr
    assert (done.returncode, "No issues found" in said) == (0, True), said
    listed = re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text())
    assert sorted(listed) == sorted(str(page.relative_to(ROOT / "docs")) for page in PAGES[1:])


def test_links_lead_somewhere():
    for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def files_named(page):
    """Return the files and folders of the repository that a page names."""
    found = re.findall(r"`((?:src|tests|tools|benchmarks|docs|examples)/[\w/.-]*)`", (ROOT / page).read_text())
    return {path for path in found if "your_game" not in path}


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", *(str(page.relative_to(ROOT)) for page in PAGES[1:])])
def test_a_page_names_only_files_that_exist(page):
    assert [path for path in files_named(page) if not (ROOT / path).exists()] == []


def test_the_glossary_is_sorted_and_has_each_term_once():
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", (ROOT / "docs" / "glossary.md").read_text(), flags=re.M)
    terms = [term.casefold() for term, _ in rows[1:]]
    assert terms == sorted(set(terms)) and len(terms) > 50


TOUCHED = """
import sys, threading
import mdplay
from mdplay import learn, make, match, search, solve

SOURCE = mdplay.__file__.removesuffix("__init__.py")
called = set()


def note(frame, event, _):
    if event == "call" and frame.f_code.co_flags & 1:  # a function: the body of a class or a module is no call
        called.add(frame.f_code.co_filename)


threading.setprofile(note)
sys.setprofile(note)
{call}
sys.setprofile(None)
print(*sorted(name.removeprefix(SOURCE) for name in called if name.startswith(SOURCE)))
"""


def calls_of_the_walk():
    """Return the calls that how-it-works.md follows, each with the files that it lists."""
    text = (ROOT / "docs" / "how-it-works.md").read_text().partition("## A newcomer's walk")[2]
    parts = re.findall(r"^### `(.+)`\n((?:(?!###).*\n)*)", text, flags=re.M)
    return {call: set(re.findall(r"^- `src/mdplay/(.+?)`", part, flags=re.M)) for call, part in parts}


@pytest.mark.parametrize("call", calls_of_the_walk())
def test_a_newcomers_walk_lists_modules_that_a_call_runs(call):
    found = python("-c", TOUCHED.replace("{call}", call), NUMBA_DISABLE_JIT="1").split()
    assert calls_of_the_walk()[call] <= set(found)


def test_contributing_names_every_room():
    named = files_named("CONTRIBUTING.md")
    rooms = {f"src/mdplay/{path.parent.name}/" for path in (ROOT / "src" / "mdplay").glob("*/__init__.py")}
    assert rooms - named == set()


def test_the_changelog_names_this_version():
    versions = re.findall(r"^## \[(.+?)\](.*?)(?=^## |\Z)", (ROOT / "CHANGELOG.md").read_text(), flags=re.M | re.S)
    (top, planned), *released = versions
    assert top == "Unreleased"
    assert f"version {__version__}." in planned or released[0][0] == __version__


def test_the_changelog_names_every_command():
    named = set(re.findall(r"`(?:mdplay )?([a-z]+)`", (ROOT / "CHANGELOG.md").read_text()))
    assert set(COMMANDS) - named - {"cache"} == set()
