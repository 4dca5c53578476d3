"""Make each mistake of docs/errors.md and compare the messages with the page."""

import re

import pytest

from tests.helpers import ROOT

PAGE = (ROOT / "docs" / "errors.md").read_text()
GAMES = dict(re.findall(r'^```python title="(.+?)"\n(.*?)^```$', PAGE, flags=re.M | re.S))
ROW = re.compile(r"^\| `(.+?)` \| `(.+?)` \| (.+?) \|$", flags=re.M)


def mistakes():
    """Yield the rows of the page, each with the file that it breaks: ``dice.py`` where the heading says so."""
    for section in PAGE.split("\n## ")[1:]:
        file = "dice.py" if "dice.py" in section.partition("\n")[0] else "nim.py"
        for right, wrong, sentence in ROW.findall(section):
            yield file, right, wrong, sentence


ROWS = list(mistakes())


def broken(text, right, wrong):
    """Return a file with a mistake; a new line is indented like the one that is replaced."""
    line = text[: text.index(right)].rpartition("\n")[2]
    indent = " " * (len(line) - len(line.lstrip()) if line.strip() else len(line))
    return text.replace(right, wrong.replace("<br>", "\n" + indent), 1)


@pytest.mark.parametrize("file", GAMES)
def test_the_games_themselves_have_no_fault(mdplay, tmp_path, file):
    (tmp_path / file).write_text(GAMES[file])
    answer = mdplay("check", tmp_path / file)
    assert "keeps the contract" in answer.out and "warning" not in answer.out


def test_there_are_eighty_mistakes_and_more():
    assert len(ROWS) == PAGE.count("\n| `") >= 80


@pytest.mark.parametrize("file, right, wrong, sentence", ROWS, ids=[wrong for _, _, wrong, _ in ROWS])
def test_mdplay_says_what_the_page_says(mdplay, tmp_path, needs_compiler, file, right, wrong, sentence):
    (tmp_path / file).write_text(broken(GAMES[file], right, wrong))
    answer = mdplay("check", tmp_path / file)
    if sentence.startswith("warning: "):
        assert answer.code == 0
        assert [line for line in answer.out.splitlines() if line.startswith("warning")] == sentence.split("<br>")
    else:
        assert answer.code == 2
        assert answer.err == f"mdplay: {sentence}\n".replace("<br>", "\n  ")
