"""The board to click in a notebook, in a real browser with a model that only remembers what it is sent."""

from urllib.parse import quote

from mdplay.notebook import play
from tests.helpers import ROOT

CODE = ROOT / "src" / "mdplay" / "notebook" / "board.js"

RENDER = """async ([url, data]) => {
    const widget = (await import(url)).default;
    window.sent = [];
    const model = { get: (name) => data[name], on: () => {}, send: (message) => window.sent.push(message) };
    widget.render({ model, el: document.body });
}"""


def test_a_click_is_told_to_python(browser):
    shown = play("tic-tac-toe", "random")
    data = {"picture": shown.picture, "words": shown.words, "buttons": shown.buttons}
    page = browser.new_page()
    page.evaluate(RENDER, [f"data:text/javascript,{quote(CODE.read_text())}", data])
    page.locator("[data-action='4']").first.click()
    page.get_by_text("new game").click()
    assert page.evaluate("window.sent") == [{"action": 4}, {"do": "again"}]
    assert page.get_by_text("Your move.").is_visible()
    page.close()
