"""The game page itself: back and forth, addresses, records, agents, search, keys; and what it must not do."""

import json

import pytest

from mdplay import load_records
from tests.web.static.conftest import DESKTOP, PHONE


def test_undo_redo_and_back_to_any_move(visit):
    table = visit("/tic-tac-toe")
    for cell in "40286":
        table.press(cell)
        table.until(f"mdplay.line.moves().at(-1) === '{cell}'")
    table.press("u", "Backspace").until("mdplay.line.at === 3")
    table.press("r").until("mdplay.line.at === 4")
    table.press("Home").until("mdplay.line.at === 0 && mdplay.line.doc.legal.length === 9")
    table.press("ArrowRight", "ArrowRight").until("mdplay.line.at === 2")
    table.press("ArrowLeft").until("mdplay.line.at === 1")
    table.press("End").until("mdplay.line.at === 5")
    table.page.locator(".ply").nth(2).click()
    table.until("mdplay.line.at === 3")
    assert table.moves == list("40286"), "going back forgets nothing"
    table.press("7").until("mdplay.line.moves().at(-1) === '7'")
    assert table.moves == list("4027"), "another move cuts the rest"


def test_the_curve_is_clicked(visit):
    table = visit("/tic-tac-toe?moves=4,0,2,8,6").settled()
    table.until("mdplay.line.nodes.every((node) => node.verdict)")
    box = table.page.locator(".graph-box").bounding_box()
    table.page.mouse.click(box["x"] + 14, box["y"] + 40)
    table.until("mdplay.line.at === 0")


def test_mistakes_are_marked(visit):
    table = visit("/tic-tac-toe?moves=4,1,0").settled()
    table.until("mdplay.line.nodes.every((node) => node.verdict)")
    marks = table.js(
        "[...document.querySelectorAll('.ply')].map((p) => p.querySelector('.slip')?.innerText ?? '')"
    )
    assert marks == ["", "?", ""], "the edge loses against the centre; the corner wins at once"
    assert table.page.locator("circle.slip").count() == 1


def test_the_address_is_the_whole_position(visit):
    table = visit("/dots-and-boxes?params=rows=2,cols=2&second=mcts:100")
    table.settled().click(3)
    table.until("mdplay.line.at >= 2 && mdplay.players.isPerson(mdplay.line.doc.player)")
    address = table.page.url
    again = visit(address.removeprefix(table.server))
    assert again.page.url == address
    assert (again.moves, again.position) == (table.moves, table.position)
    assert again.js("mdplay.players.seats[1]") == {"id": "mcts", "setting": 100}
    assert again.js("mdplay.line.params") == "rows=2,cols=2"


def test_an_address_with_chance(visit):
    table = visit("/2048?from=1100000000000000&points=12").settled()
    table.press("ArrowLeft").until("mdplay.line.at === 1")
    again = visit(table.page.url.removeprefix(table.server))
    assert again.position == table.position
    assert again.js("mdplay.line.doc.points") == [16]


def test_an_impossible_address_opens_the_start_and_says_so(visit):
    from playwright.sync_api import expect

    table = visit("/tic-tac-toe?moves=4,4", refusals=True)
    expect(table.page.locator("#toast")).to_have_class("toast up")
    assert table.moves == []
    table.press("0").until("mdplay.line.at === 1")


@pytest.mark.parametrize("path", ["/connect-four?moves=4,4,5", "/2048?from=1100000000000000"])
def test_a_record_is_saved_and_opened(visit, path, tmp_path):
    table = visit(path).settled()
    if "2048" in path:
        for key in ["ArrowLeft", "ArrowDown", "ArrowRight"]:
            table.press(key).settled()  # a direction that moves nothing changes nothing
    moves, position = table.moves, table.position
    table.press("e")
    with table.page.expect_download() as waiting:
        table.page.locator("#export").click()
    file = tmp_path / "game.jsonl"
    waiting.value.save_as(file)
    [record] = load_records(file)  # the package replays it, move by move
    assert record.document()["game"] == path[1:].split("?")[0]
    fresh = visit("/" + path[1:].split("?")[0])
    fresh.press("e")
    fresh.page.set_input_files("#share-file", file)
    fresh.until(f"mdplay.line.moves().length === {len(moves)}")
    assert (fresh.moves, fresh.position) == (moves, position)


def test_a_file_that_is_no_record_is_refused(visit, tmp_path):
    table = visit("/connect-four?moves=4,4", refusals=True)
    bad = tmp_path / "bad.jsonl"
    bad.write_text(json.dumps({"format": "mdplay record 1", "moves": ["<b>"]}))
    table.press("e")
    with table.page.expect_response("**/records*") as answer:
        table.page.set_input_files("#share-file", bad)
    assert answer.value.status == 422
    assert table.moves == ["4", "4"]


def test_values_can_be_hidden_and_a_hint_asked(visit):
    table = visit("/tic-tac-toe?moves=4").settled()
    chip = table.page.locator(".stage .chip").first
    assert chip.is_visible()
    table.press("v")
    assert not chip.is_visible()
    assert table.page.get_by_role("button", name="Values").get_attribute("aria-pressed") == "false"
    table.press("v", "h")
    assert table.page.locator(".stage .hinted").count() == 1
    best = table.js("mdplay.line.node.verdict.best[0]")
    assert table.page.locator(".stage .hinted").get_attribute("data-action") == str(best)
    table.press(" ").until("mdplay.line.at === 2")
    assert table.js("mdplay.line.node.action") == best, "the space bar plays the best move"


def test_an_agent_against_an_agent_with_speed_and_pause(visit):
    table = visit("/tic-tac-toe?first=mcts:100&second=perfect")
    table.page.select_option(".mini", "120")
    table.until("mdplay.line.at >= 2").press("p").until("mdplay.players.paused")
    held = table.ply
    table.page.wait_for_timeout(700)
    assert table.ply <= held + 1
    table.page.get_by_role("button", name="Resume").click()
    table.until("mdplay.line.doc.over", 90)
    assert table.js("mdplay.line.doc.status") in ("Drawn.", "O has won.")


def test_choosing_who_plays(visit):
    table = visit("/tic-tac-toe")
    table.page.get_by_label("O is played by").select_option("mcts")
    table.page.get_by_label("O: simulations").select_option("100")
    table.press("4").until("mdplay.line.at === 2")
    assert "second=mcts:100" in table.page.url


def test_live_search_stops_and_its_tree_opens(visit):
    table = visit("/connect-four?moves=4,4,3").settled()
    table.press("s").until("document.querySelectorAll('.bars tr').length === 7")
    assert "simulations" in table.text(".figures")
    table.press("s").until("document.querySelector('.tree .twig')")
    jobs = "fetch('/api/v1/status').then((r) => r.json()).then((s) => s.jobs)"
    for _ in range(50):
        if table.js(jobs) == 0:
            break
        table.page.wait_for_timeout(100)
    assert table.js(jobs) == 0, "nothing runs any more"
    before = table.page.locator(".twig").count()
    table.page.locator(".twig").first.click()
    table.until(f"document.querySelectorAll('.twig').length > {before}")
    deeper = table.page.locator(".branch .branch .twig").first
    deeper.click()
    table.until("document.querySelector('.branch .branch .branch')")
    visits = table.js("[...document.querySelectorAll('.branch > li > .twig > .visits')].map((v) => v.innerText)")
    assert all(visits)


def test_a_new_game_with_parameters(visit):
    table = visit("/connect-four?moves=4")
    table.press("n")
    table.page.get_by_role("button", name="5 \N{MULTIPLICATION SIGN} 5").click()
    table.until("mdplay.line.params === 'rows=5,cols=5' && mdplay.line.at === 0")
    assert table.js("mdplay.line.doc.legal.length") == 5
    table.press("n")
    table.page.get_by_text("All parameters").click()
    table.page.locator("input[name=rows]").fill("4")
    table.page.get_by_role("button", name="Start", exact=True).click()
    table.until("mdplay.line.params === 'rows=4,cols=5'")


def test_the_board_by_keyboard_alone(visit):
    table = visit("/connect-four?moves=4,4").settled()
    for _ in range(20):
        table.press("Tab")
        if table.js("document.activeElement.closest('.stage .move') !== null"):
            break
    label = "document.activeElement.getAttribute('aria-label')"
    first = table.js(label)
    assert first.startswith("column") and "score" in first and "exact" in first
    table.press("ArrowRight")
    second = table.js(label)
    assert second != first
    table.press("Enter").until("mdplay.line.at === 3")
    assert table.js("document.activeElement.closest('.stage .move') !== null"), "the board keeps the focus"
    assert second.split(",")[0].split()[1] == table.moves[-1]
    table.settled().until("/exact/.test(document.querySelector('#say').textContent)")  # said a moment later
    assert "to move" in table.js("document.querySelector('#say').textContent")


def test_every_move_is_announced_an_agents_too(visit):
    table = visit("/tic-tac-toe?second=perfect").settled()
    table.js(
        """() => { window.heard = [];
          new MutationObserver(() => heard.push(document.querySelector("#say").textContent))
            .observe(document.querySelector("#say"), { childList: true, characterData: true, subtree: true }); }"""
    )
    table.press("4").until("mdplay.line.at === 2").settled()
    answer = table.moves[1]
    table.until(f"heard.some((text) => text.includes('O: ') && text.includes('{answer}'))")
    table.until("heard.some((text) => text.includes('X: ') && text.includes('4'))")
    table.until("/X to move.*exact/.test(heard.at(-1))")


def test_hidden_values_are_not_announced_either(visit):
    table = visit("/tic-tac-toe").settled()
    table.press("v", "4").until("mdplay.line.at === 1").settled()
    table.until("/X: .*4/.test(document.querySelector('#say').textContent)")
    assert "exact" not in table.js("document.querySelector('#say').textContent")


def test_the_keys_are_told(visit):
    table = visit("/tic-tac-toe")
    table.press("?")
    assert table.page.get_by_role("dialog", name="Keys").is_visible()
    table.press("Escape")
    assert table.page.get_by_role("dialog").count() == 0


def test_light_and_dark(visit):
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    table = visit("/", color_scheme="dark")
    dark = table.js(ground)
    table.page.get_by_role("button", name="Light or dark").click()
    light = table.js(ground)
    assert dark != light
    table.page.reload()
    assert table.js(ground) == light, "the choice is remembered"
    assert visit("/", color_scheme="light").js(ground) == light


def test_nothing_moves_where_motion_is_unwanted(visit):
    table = visit("/connect-four", reduced_motion="reduce")
    table.press("4").until("mdplay.line.at === 1")
    assert table.js("document.getAnimations().filter((a) => a.playState === 'running').length") == 0
    assert table.js("getComputedStyle(document.querySelector('.tool')).transitionDuration") == "0s"


def test_texts_from_anywhere_stay_texts(visit):
    table = visit("/tic-tac-toe?from=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E&first=%3Cscript%3E", refusals=True)
    assert table.moves == []
    assert table.page.locator("img, main script, .toast *").count() == 0


def test_a_picture_may_only_hold_shapes(visit):
    table = visit("/tic-tac-toe", refusals=True)
    evil = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" onload="window.hit=1">'
        "<script>window.hit=2</script>"
        '<style>*{display:none}</style><a href="javascript:window.hit=3"><rect width="9" height="9"/></a>'
        '<foreignObject><img src="x" onerror="window.hit=4"/></foreignObject><image href="http://example.org/x.png"/>'
        '<rect width="5" height="5" fill="url(http://example.org)" onclick="window.hit=5" style="fill:red"/></svg>'
    )
    kept = table.js(
        """async (text) => {
          const { picture } = await import("/static/lib/dom.js");
          const svg = picture(text);
          document.body.append(svg);
          return [svg.outerHTML, window.hit ?? 0];
        }""",
        evil.replace("<style>*{display:none}</style>", ""),
    )
    assert kept == ['<svg viewBox="0 0 9 9"><rect width="5" height="5"></rect></svg>', 0]


def test_the_phone_has_everything(visit):
    table = visit("/dots-and-boxes?moves=0,2,6", size=PHONE, has_touch=True, is_mobile=True).settled()
    for selector in (".verdict .headline", ".stage svg", ".players", ".toolbar", ".graph", ".moves", ".all"):
        assert table.page.locator(selector).first.is_visible(), selector
    small = table.js(
        "[...document.querySelectorAll('.toolbar button:not([disabled])')].filter((b) => b.offsetParent"
        " && (b.offsetWidth < 24 || b.offsetHeight < 24)).length"
    )
    assert small == 0, "targets that a thumb can hit"


# ---------------------------------------------------------------- what fails stays visible, and recovers
def test_a_busy_solver_is_told_and_asked_again(visit):
    table = visit("/tic-tac-toe", refusals=True).settled()
    answers = [{"status": 503, "json": {"detail": "the solver is busy with 8 other tasks"}}]
    table.page.route("**/values?*", lambda route: route.fulfill(**answers.pop()) if answers else route.continue_())
    table.press("4").until("document.querySelector('.verdict .trouble')")
    text = table.text(".verdict")
    assert "The solver is busy with 8 other tasks. Trying again in 1 s" in text
    assert "looking" not in text
    assert table.page.locator(".verdict .trouble button").inner_text() == "Try again"
    table.settled()
    assert table.page.locator(".trouble").count() == 0


def test_a_question_that_fails_for_good_has_a_button(visit):
    table = visit("/tic-tac-toe").settled()
    failed = 'event: failed\ndata: {"message": "the rules are broken"}\n\n'
    stream = {"status": 200, "content_type": "text/event-stream", "body": failed}
    table.page.route("**/values?*", lambda route: route.fulfill(**stream))
    table.press("4").until("document.querySelector('.verdict .trouble')")
    assert "The rules are broken." in table.text(".verdict")
    table.page.wait_for_timeout(2500)  # a toast would have gone
    assert "The rules are broken." in table.text(".verdict")
    table.page.unroute("**/values?*")
    table.page.get_by_role("button", name="Try again").click()
    table.settled()


def test_a_stopped_server_is_told_and_the_agents_go_on_when_it_is_back(visit):
    """A clean shutdown closes the streams; then nobody listens, until somebody starts the server again."""
    table = visit("/tic-tac-toe", refusals=True).settled()
    closed = {"status": 200, "content_type": "text/event-stream", "body": ": begin\n\n"}
    table.page.route("**/agent?*", lambda route: route.fulfill(**closed))
    table.page.route("**/status", lambda route: route.abort("connectionrefused"))
    table.page.get_by_label("O is played by").select_option("random")
    table.press("4").until(
        "document.querySelector('.players-trouble .trouble') && document.querySelector('#offline')"
    )
    assert "The server closed the connection." in table.text(".players-trouble")
    assert "The server is not running. Start mdplay serve again" in table.text("#offline")
    assert table.ply == 1
    table.page.unroute("**/agent?*")
    table.page.unroute("**/status")
    table.until("mdplay.line.at === 2")
    assert table.page.locator("#offline, .trouble").count() == 0


def test_going_back_without_a_server_stays_here_and_says_so(visit):
    table = visit("/tic-tac-toe?moves=4,0,2", refusals=True).settled()
    table.page.route("**/api/**", lambda route: route.abort("connectionrefused"))
    table.press("ArrowLeft")
    table.until("document.querySelector('#toast').innerText.startsWith('The server is not running')")
    assert table.ply == 3
    table.page.unroute("**/api/**")
    table.until("!document.querySelector('#offline')")
    table.press("ArrowLeft", "ArrowLeft").until("mdplay.line.at === 1 && mdplay.line.doc").settled()


def test_an_opponent_without_an_answer_is_not_offered_again(visit):
    table = visit("/tic-tac-toe").settled()
    refused = 'event: failed\ndata: {"message": "this game has more than 2,000,000 states"}\n\n'
    stream = {"status": 200, "content_type": "text/event-stream", "body": refused}
    table.page.route("**/values?*uniform*", lambda route: route.fulfill(**stream))
    random = table.page.get_by_role("button", name="random", exact=True)
    random.click()
    table.until("document.querySelector('.of-every .why').innerText").settled()
    assert table.text(".of-every .why") == "Not available: This game has more than 2,000,000 states."
    assert random.is_disabled()
    assert table.js("mdplay.opponent") == "perfect"
    assert "against" not in table.page.url
    large = visit("/connect-four")
    assert large.page.get_by_role("button", name="random", exact=True).count() == 0


# ---------------------------------------------------------------- a game is not lost
def test_a_game_survives_looking_back_and_a_reload(visit):
    table = visit("/tic-tac-toe?moves=4,0,2,8").settled()
    table.press("Home").until("mdplay.line.at === 0").settled()
    table.page.reload()
    table.until("document.documentElement.dataset.ready === 'yes'").settled()
    assert (table.moves, table.ply) == (list("4028"), 0)
    table.press("End").until("mdplay.line.at === 4")
    assert "at=" not in table.page.url


def test_a_game_with_chance_survives_a_reload(visit):
    table = visit("/2048?from=1100000000000000").settled()
    for key in ["ArrowLeft", "ArrowRight", "ArrowDown", "ArrowLeft"]:
        table.press(key).settled()
    moves, position = table.moves, table.position
    assert len(moves) >= 2
    table.page.reload()
    table.until("document.documentElement.dataset.ready === 'yes'").settled()
    assert (table.moves, table.position) == (moves, position)
    table.press("Home").until("mdplay.line.at === 0 && mdplay.line.doc?.position.startsWith('11')")


def test_a_new_game_that_is_refused_says_why_and_keeps_the_numbers(visit):
    table = visit("/connect-four", refusals=True)
    table.press("n")
    table.page.get_by_text("All parameters").click()
    table.page.locator("dialog input[name=rows]").fill("20")
    table.page.locator("dialog input[name=cols]").fill("10")
    table.page.get_by_role("button", name="Start", exact=True).click()
    table.until("document.querySelector('dialog .why').innerText")
    assert table.text("dialog .why") == "These parameters make no game: cols * (rows + 1) is at most 63"
    assert table.page.locator("dialog input[name=rows]").input_value() == "20"


def test_an_unknown_address_shows_a_page(visit):
    table = visit("/nonsense", refusals=True)
    assert table.text("main h1") == "There is no page at this address"
    table.page.get_by_role("link", name="All games", exact=True).click()
    table.until("document.querySelectorAll('.card').length > 10")


# ---------------------------------------------------------------- what is said of the players
def test_an_agents_move_is_not_called_yours(visit):
    table = visit("/2048?first=random").until("mdplay.line.at >= 1")
    assert table.js("mdplay.players.status(mdplay.line.doc)") == "Random to move"
    table.press("p")
    over = visit("/tic-tac-toe?moves=0,3,1,4,2").settled()
    over.press("h")
    over.until("document.querySelector('#toast').innerText === 'The game is over'")


def test_black_is_black_in_either_theme(visit):
    def brightness(table, selector, text=""):
        found = "[...document.querySelectorAll(s)].find((n) => n.textContent.includes(t))"
        colour = table.js(f"([s, t]) => getComputedStyle({found}).fill", [selector, text])
        return sum(map(int, colour.removeprefix("rgb(").removesuffix(")").split(",")))

    for theme in ("light", "dark"):
        table = visit("/chess-ending", color_scheme=theme)
        assert brightness(table, ".stage text.ink", "♚") < 200, theme
        squares = ".stage rect:nth-of-type({})"
        a1, b1 = (brightness(table, squares.format(n)) for n in (2, 3))
        assert a1 < b1, "a1 is a dark square"


# ---------------------------------------------------------------- the keyboard
def test_a_typed_move_is_no_command(visit):
    table = visit("/othello")
    table.press("e").until("document.querySelector('.typing input')?.value === 'e'")
    table.press("6").until("mdplay.line.moves().at(-1) === 'e6'")
    assert table.page.locator("dialog").count() == 0
    table.press("Alt+u").until("mdplay.line.at === 0")


def test_an_agent_is_chosen_by_keyboard(visit):
    table = visit("/tic-tac-toe").settled()
    who = table.page.get_by_label("O is played by")
    who.focus()
    first = who.input_value()
    table.press("ArrowDown", "ArrowDown")
    assert who.evaluate("(node) => node === document.activeElement")
    assert who.input_value() not in (first, "perfect")
    assert table.js("mdplay.players.seats[1].id") == who.input_value()


def test_the_focus_stays_where_a_list_is_drawn_again(visit):
    table = visit("/tic-tac-toe?moves=4,0,2").settled()
    table.page.locator(".ply").nth(1).focus()
    table.press("Enter").until("mdplay.line.at === 2").settled()
    assert table.js("document.activeElement.dataset.key") == "2"
    table.page.locator("table.all button").first.focus()
    table.press("Enter").until("mdplay.line.at === 3").settled()
    assert table.js("document.activeElement.closest('.of-every') !== null")


def test_best_play_is_shown_previewed_and_played(visit):
    table = visit("/tic-tac-toe?moves=4,1").settled()
    table.until("document.querySelectorAll('.verdict .ply-chip').length === 5")
    assert table.page.locator(".reason").inner_text() == "6 of 7 moves win."
    chip = table.page.locator(".verdict .ply-chip").nth(2)
    chip.hover()
    table.until("document.querySelectorAll('.preview .board').length === 1")
    assert table.js("mdplay.line.at") == 2, "a preview changes nothing"
    table.page.mouse.move(1, 1)
    table.until("!document.querySelector('.preview')")
    chip.click()
    table.until("mdplay.line.at === 5")


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_the_continuation_of_a_move_is_opened_by_keyboard(visit, size):
    table = visit("/tic-tac-toe?moves=4,1", size=size).settled()
    opener = table.page.get_by_label("Continuation after 7")
    opener.focus()
    opener.press("Enter")
    table.until("document.querySelectorAll('.below .ply-chip').length === 7")  # a draw fills the board
    assert table.js("document.activeElement.getAttribute('aria-expanded')") == "true", "the focus stays"
    table.page.keyboard.press("Enter")
    table.until("!document.querySelector('.below')")


def test_the_rules_are_opened_by_key_and_say_what_the_marks_mean(visit):
    table = visit("/dodgem").settled()
    table.press("i").until("document.querySelector('dialog[open] .rules')")
    told = table.page.locator("dialog").inner_text()
    assert "Get all your cars off the board" in told and "number: plies to the end" in told
    assert "Colin Vout" in told


def test_the_legend_names_the_marks_that_are_present_and_stays_folded(visit):
    table = visit("/tic-tac-toe").settled()
    table.until("document.querySelectorAll('.legend li').length === 4")
    assert table.page.locator(".legend li").all_inner_texts()[0].strip() == "draws"
    table.page.locator(".legend summary").click()
    table.until("localStorage.getItem('legend-closed') === 'yes'")
    table.page.reload()
    table.settled()
    assert table.js("document.querySelector('.legend').open") is False


def test_the_rules_of_a_users_game_are_its_docstring(visit):
    table = visit("/own-chomp").settled()
    table.press("i").until("document.querySelector('dialog[open] .rules')")
    docstring = "Bite off a square with all to the right of it and below; the corner is poisoned."
    assert table.page.locator("dialog .rules p").first.inner_text() == docstring


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_the_end_of_a_game_is_reviewed_and_a_mistake_found_again(visit, size):
    table = visit("/tic-tac-toe?moves=4,1,7,0,2,6,3,5,8", size=size).settled()
    table.until("document.querySelectorAll('.moments li').length === 2")
    told = "X kept the value in 4 of 5 moves; O kept the value in 3 of 4 moves."
    table.until(f"document.querySelector('.accuracy').innerText === '{told}'")
    first = table.page.locator(".moments li").first
    assert first.locator("p").inner_text() == "Move 2: O played 1, a loss instead of a draw."
    first.get_by_role("button").click()
    table.until("mdplay.line.at === 1 && !mdplay.showing")
    table.click(3)  # an edge again
    table.until("document.querySelector('.review').innerText.includes('Not yet: a loss instead of a draw.')")
    table.page.get_by_role("button", name="Try again").click()
    table.until("mdplay.line.at === 1 && !mdplay.showing")
    table.click(8)
    table.until("document.querySelector('.review').innerText.includes('Right: a draw.')")
    table.page.get_by_role("button", name="Back to the game").click()
    table.until("mdplay.line.end === 9 && document.querySelectorAll('.moments li').length === 2")


def test_another_game_begins_with_the_sides_changed(visit):
    table = visit("/tic-tac-toe?moves=4,1,7,0,2,6,3,5,8&second=mcts:100").settled()
    table.page.get_by_role("button", name="Play the other side").click()
    table.until("mdplay.line.end >= 1 && mdplay.players.seats[0].id === 'mcts'")
