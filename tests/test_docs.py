"""README and docs cannot lie: what they show is run.

Blocks with a title are files, ``console`` blocks are commands with their output, ``>>>`` is Python; in outputs
``...`` stands for what differs from run to run.
"""

import doctest
import re
import runpy
import shlex
import subprocess
import sys
from math import comb

import pytest

from mdplay import __version__, check_game, make, perft, playouts, solve
from mdplay.cli import COMMANDS
from mdplay.registry import BUILT_IN
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
def move_of_mcts(game, form):
    from mdplay.searching.mcts import mcts

    return mcts(game, simulations=5000, form=form, seed=1).move


def value_of_depth_limited(game):
    from mdplay.searching.depth_limited import depth_limited

    return depth_limited(game, depth=11).value


def states_of_graph(game):
    from mdplay.mdp.game_graph import explore

    return len(explore(game).kind)


def games_of_points(game):
    from mdplay.learning.points import learn

    return learn(game, games=100, seed=1).num_games


def proof_begins_with(game):
    from mdplay.solving.proof import Prover

    prover = Prover(game, memory=1 << 20)
    prover.learn([game.initial()], [1])
    return prover.line(game.initial(), max_plies=1)


def value_against_chance(game):
    from mdplay.solving.policies import policy_iteration

    return policy_iteration(game).value()


KERNELS = {  # each kernel that takes a game, how it is reached, and a fact that it must find
    "ask, ask_step, ask_outcome, ask_knowledge, ask_look": lambda game: check_game(game, games=3).compiled,
    # games of single squares are the standard Young tableaux of 3 x 4: 462 by the hook length formula
    "following": lambda game: perft(game, depth=11)[11].paths == 462,
    "play_chunks": lambda game: playouts(game, games=1000, seed=2).longest <= 11,
    # the first player wins (strategy stealing), on 3 x 4 by c2 = action 6 alone
    "sweep": lambda game: solve(game, method="dense").best() == [6],
    "walk, sample": lambda game: solve(game, method="hashed").best() == [6],
    "settle_all, grow_to, remember, recall_move": lambda game: proof_begins_with(game) == [6],
    "evaluate, improve": lambda game: value_against_chance(game) > 0.99,
    "simulate": lambda game: move_of_mcts(game, "standard") == "c2",
    "simulate_report": lambda game: move_of_mcts(game, "report") in ("c2", "c3", "d2", "d3"),
    "hash_of, search_value": lambda game: value_of_depth_limited(game) == 1,
    # a shape is a path round a box of 3 x 4, not empty; the first two shapes know who moves
    "expand": lambda game: states_of_graph(game) == 2 * (comb(7, 3) - 1) - 2,
    "learn_points": lambda game: games_of_points(game) == 100,
}
OF_2048 = {"choose_once", "play_games", "train", "fill_rows"}  # they look at tiles


@pytest.mark.parametrize("page", [WRITE_A_GAME], ids=lambda page: page.name)
@pytest.mark.parametrize("kernels", KERNELS)
def test_the_game_of_the_page_works_in_every_kernel(page, desk, kernels, needs_compiler):
    assert KERNELS[kernels](make(str(desk / "dark_chomp.py")))


def test_no_kernel_is_forgotten():
    text = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    found = set(re.findall(r"^@kernel\ndef (\w+)\(\s*game\b", text, flags=re.M))
    listed = {name for names in KERNELS for name in names.split(", ")}
    assert found == listed | OF_2048, "KERNELS of tests/test_docs.py lists all"


def test_the_game_of_the_page_fits_fifty_lines():
    assert [len(text.splitlines()) <= 50 for _, text in blocks(WRITE_A_GAME, "python title=.*")] == [True, True]


# ---------------------------------------------------------------- pages, tables and lists that must not be stale
def pages_tool():
    return runpy.run_path(str(ROOT / "tools" / "pages.py"))


def test_the_pages_of_the_games_are_fresh():
    wanted = pages_tool()["pages"]()
    stale = [path.name for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    assert stale == [], "run python tools/pages.py"
    assert set((ROOT / "docs" / "games").iterdir()) == set(wanted)


def test_every_game_has_its_page():
    assert sorted(pages_tool()["FACTS"]) == sorted(BUILT_IN)


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


def test_contributing_names_every_file_and_only_files_that_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    named = set(re.findall(r"`((?:src|tests|tools|benchmarks|docs)/[\w/.-]*)`", text)) - {
        "src/mdplay/games/your_game.py",
        "tests/games/test_your_game.py",
    }
    assert [path for path in named if not (ROOT / path).exists()] == []
    parts = (ROOT / "src" / "mdplay").glob("[a-z]*")
    there = {f"src/mdplay/{path.name}{'/' if path.is_dir() else ''}" for path in parts} - {"src/mdplay/py.typed"}
    assert there - named == set(), "CONTRIBUTING.md, Looking for X?"


def test_the_changelog_begins_with_this_version():
    versions = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)
    assert versions[0] == __version__


def test_the_changelog_names_every_command():
    named = set(re.findall(r"`(?:mdplay )?([a-z]+)`", (ROOT / "CHANGELOG.md").read_text()))
    assert set(COMMANDS) - named - {"cache"} == set()
