import ast
import re

import pytest

from mdplay.errors import plural, pluralize
from tests.helpers import ROOT

# what is counted where people read it; "{n} states" in an f-string would say "1 states"
NOUNS = (
    *(
        "action",
        "answer",
        "byte",
        "claim",
        "edge",
        "entr(?:y|ie)",
        "episode",
        "event",
        "expansion",
        "field",
        "file",
    ),
    *(
        "game",
        "iteration",
        "kernel",
        "level",
        "line",
        "move",
        "node",
        "outcome",
        "player",
        "ply",
        "plie",
        "position",
    ),
    *("repetition", "round", "row", "run", "shard", "simulation", "state", "step", "sweep", "task", "worker"),
)
BARE = re.compile(rf"(?<!Player )\0 (?:[a-z]+ )?(?:{'|'.join(NOUNS)})s\b(?! a second| per second|/s)")
# rooms whose sentences the command line prints
PRINTED = ("cli", "checking", "playing/matches", "learning")


def shown(part):
    """Return a part of an f-string: its words, or a sign for a number; a fraction is none that a noun follows."""
    if isinstance(part, ast.Constant):
        return str(part.value)
    spec = "" if part.format_spec is None else ast.unparse(part.format_spec)
    return "x" if re.search(r"\.\d[fg]", spec) else "\0"


def bare_counts(text):
    """Return the f-strings that put a number before a word for many; the limits that errors name are never 1."""
    tree = ast.parse(text)
    raised = {id(one) for raising in ast.walk(tree) if isinstance(raising, ast.Raise) for one in ast.walk(raising)}
    joined = (one for one in ast.walk(tree) if isinstance(one, ast.JoinedStr) and id(one) not in raised)
    for one in joined:
        if BARE.search("".join(map(shown, one.values))):
            yield ast.unparse(one)


@pytest.mark.parametrize(
    "number, noun, words",
    [
        (0, "state", "0 states"),
        (1, "state", "1 state"),
        (2, "state", "2 states"),
        (1234, "random game", "1,234 random games"),
        (1, "ply", "1 ply"),
        (3, "ply", "3 plies"),
    ],
)
def test_a_number_agrees_with_its_noun(number, noun, words):
    assert pluralize(number, noun) == words


def test_the_last_of_several_words_changes():
    assert plural("compiled kernel") == "compiled kernels"


def test_a_bare_count_is_found():
    assert list(bare_counts('f"{n} states, {m:,} random games"')) and list(
        bare_counts('f"{n:,} random games in 2 s"')
    )
    assert not list(bare_counts("f\"{counted(n, 'state')}, {speed:,.0f} games/s, {mean:.1f} moves\""))


@pytest.mark.parametrize("room", PRINTED)
def test_no_sentence_counts_by_itself(room):
    files = sorted((ROOT / "src" / "mdplay" / room).rglob("*.py"))
    assert files
    assert {file.name: found for file in files if (found := list(bare_counts(file.read_text())))} == {}


def test_one_game_is_one_game(mdplay):
    answer = mdplay("check", "tic-tac-toe", "--games", 1)
    assert "keeps the contract: 1 random game, " in answer.out
    answer = mdplay("playouts", "tic-tac-toe", "--games", 1)
    assert answer.out.startswith("1 random game in ")
    answer = mdplay("solve", "tic-tac-toe", "--position", "121221210")
    assert "\nhashed: 2 states, " in answer.out
    over = mdplay("solve", "tic-tac-toe", "--position", "121212100")
    assert "\nhashed: 1 state, " in over.out
