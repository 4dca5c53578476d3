"""The error clinic: each mistake of the page is made, and mdplay must say what the page says."""

import re

import pytest

from tests.helpers import ROOT

PAGE = (ROOT / "docs" / "errors.md").read_text()
GAME = re.search(r'^```python title="nim.py"\n(.*?)^```$', PAGE, flags=re.M | re.S)[1]
ROWS = re.findall(r"^\| `(.+?)` \| `(.+?)` \| (.+?) \|$", PAGE, flags=re.M)


def test_the_game_itself_has_no_fault(mdplay, tmp_path):
    (tmp_path / "nim.py").write_text(GAME)
    assert "keeps the contract" in mdplay("check", tmp_path / "nim.py").out


def test_there_are_twenty_mistakes_and_more():
    assert len(ROWS) == PAGE.count("\n| `") >= 20


@pytest.mark.parametrize("right, wrong, sentence", ROWS, ids=[wrong for _, wrong, _ in ROWS])
def test_mdplay_says_what_the_page_says(mdplay, tmp_path, needs_compiler, right, wrong, sentence):
    assert right in GAME
    (tmp_path / "nim.py").write_text(GAME.replace(right, wrong, 1))
    answer = mdplay("check", tmp_path / "nim.py")
    assert answer.code == 2
    assert answer.err == f"mdplay: {sentence}\n".replace("<br>", "\n  ")
