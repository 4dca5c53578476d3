"""The page in a real browser: every figure shown, nothing broken, nothing fetched from anywhere.

Here is tested besides: ``mdplay.lab.reproduction.run``.
"""

import os
import re
import shutil

import pytest

from mdplay.lab.reproduction.run import Chapter, page
from mdplay.lab.reproduction.steps import Drawing, Figure, Made, ResultTable, both, differs, equal
from tests.lab.reproduction.test_steps import paint

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


WIDE = '<svg class="mdplay" width="900" height="50" viewBox="0 0 900 50"></svg>'


def chapters():
    table = ResultTable(["name", "value"], [["first <b>", "1,234.5"], ["2", "+1"]])
    plot = Figure("A plot", "mdplay bandits --steps 10", "Words & more.", {}, table, both(paint, (6, 4)))
    board = Figure("A drawing", "mdplay show tic-tac-toe", "", {}, drawings=[Drawing(WIDE, "a caption")])
    made = [Made("plot", plot, 1.0), Made("board", board, 2.0)]
    said = [
        equal("Masks 325, 1290", "325, 1290", "Counted.", True),
        differs("A mask of 323", "0 states", "Counted.", "a slip of the pen"),
    ]
    return [Chapter(1, "First", "A headline.", made, said), Chapter(2, "Second", "Another.", made[:1])]


def test_the_page_holds_everything_itself():
    text = page(chapters(), "versions")
    assert "http://" not in text.replace("http://www.w3.org", "") and "https://" not in text
    assert "first &lt;b&gt;" in text and 'class="number">1,234.5' in text
    assert "<td>2</td>" in text, "a column with words in it is no column of numbers"
    assert text.count("<section") == 4


def test_claims_stand_with_their_marks_and_are_counted():
    text = page(chapters(), "versions")
    assert "2 claims: 1 equal, 1 differs." in text
    assert '<span class="mark differs">≠ differs</span> a slip of the pen' in text
    assert 'data-label="how checked">Counted.' in text


def test_the_contents_lead_to_every_chapter_and_figure():
    text = page(chapters(), "versions")
    links = re.findall(r'href="#([^"]+)"', text)
    assert {"system-1", "claims-1", "plot", "board", "system-2"} <= set(links)
    assert all(f'id="{link}"' in text for link in links)


@pytest.mark.parametrize("width", [390, 1100])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_browser(tmp_path, width, scheme):
    if BROWSER is None:
        assert os.environ.get("E2E_REQUIRED") != "1", "a browser is required here"
        pytest.skip("no browser on this machine")
    playwright = pytest.importorskip("playwright.sync_api")
    path = tmp_path / "index.html"
    path.write_text(page(chapters(), "versions"))
    with playwright.sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=BROWSER, args=FLAGS)
        view = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        noise, requests = [], []
        view.on("console", lambda message: noise.append(message.text))
        view.on("pageerror", lambda error: noise.append(str(error)))
        view.on("request", lambda request: requests.append(request.url))
        view.goto(path.as_uri())
        sizes = view.evaluate("[...document.images].map(i => [i.complete, i.naturalWidth, i.clientWidth])")
        overflow = view.evaluate("document.documentElement.scrollWidth") > width
        browser.close()
    assert noise == []
    assert [url for url in requests if not url.startswith("data:")] == [path.as_uri()]
    assert all(done and natural > 0 and 0 < shown < width for done, natural, shown in sizes) and len(sizes) == 2
    assert not overflow
