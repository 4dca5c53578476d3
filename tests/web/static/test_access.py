"""Every page in either theme: axe-core finds nothing, nothing overflows a phone, the page is light and quick."""

import pytest

from tests.web.static.conftest import PHONE

GAMES = [
    "/connect-four?moves=4,4,5",
    "/tic-tac-toe?moves=4",
    "/anti-tic-tac-toe",
    "/dots-and-boxes?moves=0,1",
    "/qubic?moves=000,333,030,003",
    "/2048?from=0121034a12580236&points=100",
    "/chess-ending",
    "/pig?params=goal=20",
    "/sliding-puzzle?params=rows=2,cols=3",
    "/own-chomp",
    "/own-nim",
]
MORE = ["/othello", "/breakthrough", "/dodgem", "/mens-morris?moves=4,0", "/mu-torere", "/pocket-cube"]
OTHERS = ["/", "/plan", "/bandits", "/reinforcement", "/learn", "/tournament", "/reproduction"]
WEIGHT = 200_000  # bytes of a page, all that it loads
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
FOUND = """axe.run(document, {resultTypes: ['violations']}).then((found) => found.violations.map((one) =>
  [one.id, one.nodes.slice(0, 3).map((node) =>
    node.html.slice(0, 200) + ' | ' + (node.any[0]?.message ?? ''))]))"""


def violations(table, axe):
    if not table.js("Boolean(window.axe)"):
        table.js(axe)
    return table.js(FOUND)


@pytest.mark.parametrize("path", [*GAMES, *(pytest.param(one, marks=pytest.mark.slow) for one in MORE), *OTHERS])
def test_axe_finds_nothing(visit, axe, path):
    table = visit(path, color_scheme="light", bypass_csp=True, reduced_motion="reduce")
    if path not in OTHERS:
        table.settled()
    assert violations(table, axe) == [], "light"
    table.page.emulate_media(color_scheme="dark")
    assert violations(table, axe) == [], "dark"
    table.page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    assert table.js("document.documentElement.scrollWidth") <= PHONE[0]
    assert violations(table, axe) == [], "on a phone"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_what_opens(visit, axe, scheme):
    table = visit(
        "/connect-four?moves=4,4,5", color_scheme=scheme, bypass_csp=True, reduced_motion="reduce"
    ).settled()
    for key in ("?", "n", "e"):
        table.press(key)
        assert violations(table, axe) == [], key
        table.press("Escape")
    table.press("s").until("document.querySelector('.bars tr')")
    table.press("s").until("document.querySelector('.twig')")
    assert violations(table, axe) == [], "the search"
    cube = visit("/qubic?moves=000,333", color_scheme=scheme, bypass_csp=True, reduced_motion="reduce").settled()
    cube.page.get_by_role("button", name="Cube").click()
    cube.settled()
    assert violations(cube, axe) == [], "the cube"


@pytest.mark.parametrize("path", ["/", "/connect-four?moves=4,4,5", "/plan"])
def test_a_page_is_light_and_paints_at_once(visit, server, browser, path):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page, sizes, fonts = context.new_page(), [], []
    page.on(
        "response",
        lambda response: (
            sizes.append(len(response.body()))
            if "stream" not in response.headers.get("content-type", "")
            else None
        ),
    )
    page.on("request", lambda request: fonts.append(request.url) if request.resource_type == "font" else None)
    page.goto(server + path)
    page.wait_for_selector("html[data-ready=yes]")
    painted = page.evaluate(PAINT)
    context.close()
    assert sum(sizes) < WEIGHT, sum(sizes)
    assert fonts == []
    print(
        f"{path}: first paint {painted:.0f} ms, {sum(sizes):,} bytes"
    )  # a figure, not a verdict: machines differ
