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
from math import comb

import numpy as np
import pytest

from mdplay import Game, __version__, check_game, make, perft, playouts, solve
from mdplay.cli.commands import COMMANDS
from mdplay.registry import BUILT_IN
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
    for found, text in blocks(page, r'python title="(.+)"'):
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
    r"^\| `(.+?)` \| (\.\.\..+?) \| .+ \|$", (ROOT / "docs" / "refused.md").read_text(), flags=re.M
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
    page = (ROOT / "docs" / "refused.md").read_text()
    assert len(REFUSED) == page.count("\n| `") > 10


def test_every_hook_has_its_example():
    page = (ROOT / "docs" / "hooks.md").read_text()
    hooks = [name for name in vars(Game) if not name.startswith(("_", "has_"))]
    assert len(hooks) > 20
    shown = set(re.findall(r"(?:def |`)(\w+)\b", page)) | {"key_bits"}
    assert [name for name in hooks if name not in shown] == []


def test_readme_stays_short():
    assert len((ROOT / "README.md").read_text().splitlines()) < 200


# ---------------------------------------------------------------- the game of the page, under every kernel
def move_of_mcts(game, expansion):
    from mdplay.searching.mcts import mcts

    return mcts(game, simulations=5000, expansion=expansion, seed=1).move


def value_of_depth_limited(game):
    from mdplay.searching.depth_limited import depth_limited

    return depth_limited(game, depth=11).value


def states_of_graph(game):
    from mdplay.states.graph import explore

    return len(explore(game).kind)


def games_of_points(game):
    from mdplay.learning.points.counting import learn_utilities

    return learn_utilities(game, episodes=100, seed=1).num_games


def learned_network(game):
    from mdplay.learning.learners import learn

    return learn(game, method="network", episodes=4000, epsilon=0.3, seed=1).network


def move_by_network(game):
    from mdplay.searching.mcts import mcts

    return mcts(game, simulations=300, network=learned_network(game)).move


def ends_of_environments(game):
    """Bite b1: of what is left the opponent bites a2 and wins, or a3, and a2 wins."""
    from mdplay.adapters.vector import VectorGames

    made = VectorGames(game, 100)
    made.reset(seed=1)
    _, lost, over, _, _ = made.step(np.full(100, 1))
    _, won, _, _, _ = made.step(np.full(100, 4))
    return set(zip(over.tolist(), lost.tolist(), won.tolist(), strict=True))


def proof_begins_with(game):
    from mdplay.solving.proof.prover import Prover

    prover = Prover(game, memory=1 << 20)
    prover.learn([game.initial()], [1])
    return prover.line(game.initial(), max_plies=1)


def value_against_chance(game):
    return solve(game, opponent="uniform", method="policy-iteration").value()


KERNELS = {  # each kernel that takes a game, how it is reached, and a fact that it must find
    "ask, ask_step, ask_outcome, ask_knowledge, ask_bounds": lambda game: check_game(game, games=3).compiled,
    # games of single squares are the standard Young tableaux of 3 x 4: 462 by the hook length formula
    "expand": lambda game: perft(game, depth=11)[11].paths == 462,
    "play_chunks": lambda game: playouts(game, games=1000, seed=2).longest <= 11,
    # the first player wins (strategy stealing), on 3 x 4 by c2 = action 6 alone
    "sweep": lambda game: solve(game, method="indexed").best() == [6],
    "search_states, sample": lambda game: solve(game, method="hashed").best() == [6],
    "settle_all, grow_to, remember, recall_move": lambda game: proof_begins_with(game) == [6],
    "evaluate, improve": lambda game: value_against_chance(game) > 0.99,
    "simulate": lambda game: move_of_mcts(game, "one") == "c2",
    "simulate_all": lambda game: move_of_mcts(game, "all") in ("c2", "c3", "d2", "d3"),
    "hash_of, search_value": lambda game: value_of_depth_limited(game) == 1,
    # a shape is a path round a box of 3 x 4, not empty; the first two shapes know who moves
    "describe": lambda game: states_of_graph(game) == 2 * (comb(7, 3) - 1) - 2,
    "find_results": lambda game: solve(game, method="retrograde").best() == [6],
    "reset_games, step_games": lambda game: ends_of_environments(game) == {(True, -1, 0), (False, 0, 1)},
    "train_network, value_moves": lambda game: learned_network(game).value(game.initial()) > 0.8,
    "simulate_by_network": lambda game: move_by_network(game) == "c2",
    "learn_points": lambda game: games_of_points(game) == 100,
}
OF_2048 = {"choose_once", "play_games", "train", "fill_rows"}  # they look at tiles
OF_OTHERS = {"orbit_sizes", "search_within"}  # of games with symmetries, of games for one


@pytest.mark.parametrize("page", [WRITE_A_GAME], ids=lambda page: page.name)
@pytest.mark.parametrize("kernels", KERNELS)
def test_the_game_of_the_page_works_in_every_kernel(page, desk, kernels, needs_compiler):
    assert KERNELS[kernels](make(str(desk / "dark_chomp.py")))


def test_no_kernel_is_forgotten():
    text = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    found = set(re.findall(r"^@kernel(?:\(.*\))?\ndef (\w+)\(\s*game\b", text, flags=re.M))
    listed = {name for names in KERNELS for name in names.split(", ")}
    assert found == listed | OF_2048 | OF_OTHERS, "KERNELS of tests/test_docs.py lists all"


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


def files_named(page):
    """Return the files and folders of the repository that a page names."""
    found = re.findall(r"`((?:src|tests|tools|benchmarks|docs|examples)/[\w/.-]*)`", (ROOT / page).read_text())
    return {path for path in found if "your_game" not in path}


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", *(str(page.relative_to(ROOT)) for page in PAGES[1:])])
def test_a_page_names_only_files_that_exist(page):
    assert [path for path in files_named(page) if not (ROOT / path).exists()] == []


def test_the_glossary_tells_each_term_once_with_its_file():
    rows = re.findall(
        r"^\| ([^|]+) \| ([^|]+) \| (.+) \|$", (ROOT / "docs" / "glossary.md").read_text(), flags=re.M
    )
    terms = [term for term, _, file in rows if file not in ("file", "---")]
    assert len(set(terms)) == len(terms) > 50
    assert [
        term for term, _, file in rows if term in terms and not re.fullmatch(r"`src/mdplay/[\w/]+\.py`", file)
    ] == []


TOUCHED = """
import sys, threading
import mdplay
from mdplay import learn, make, match, mcts, solve

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
def test_a_newcomers_walk_lists_the_modules_that_a_call_touches(call):
    found = python("-c", TOUCHED.replace("{call}", call), NUMBA_DISABLE_JIT="1").split()
    aside = ("bridge/", "checking/", "games/")
    touched = {name for name in found if "/" in name and not name.startswith(aside)}
    assert touched == calls_of_the_walk()[call]
    assert len(touched) <= 10


def test_contributing_names_every_file():
    named = files_named("CONTRIBUTING.md")
    parts = (ROOT / "src" / "mdplay").glob("[a-z]*")
    there = {f"src/mdplay/{path.name}{'/' if path.is_dir() else ''}" for path in parts} - {"src/mdplay/py.typed"}
    assert there - named == set(), "CONTRIBUTING.md, Looking for X?"


def test_the_changelog_begins_with_this_version():
    versions = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)
    assert versions[0] == __version__


def test_the_changelog_names_every_command():
    named = set(re.findall(r"`(?:mdplay )?([a-z]+)`", (ROOT / "CHANGELOG.md").read_text()))
    assert set(COMMANDS) - named - {"cache"} == set()
