"""Beyond games: plan, bandits, learn, tournament, reproduction.

Here is tested besides: ``mdplay.web.app``.
"""

import json

import pytest

from mdplay import MDP, plan
from tests.web.static.conftest import PHONE

# Russell and Norvig, Artificial Intelligence, 4 x 3 world: -0.04 a step, slips of 0.1 to either side, no discount.
TEXTBOOK = {(0, 0): 0.812, (0, 1): 0.868, (0, 2): 0.918, (1, 0): 0.762, (1, 2): 0.660,
            (2, 0): 0.705, (2, 1): 0.655, (2, 2): 0.611, (2, 3): 0.388}  # fmt: skip


def test_the_grid_has_the_textbooks_values(visit):
    table = visit("/plan").until("document.querySelectorAll('.value').length === 9")
    for (r, c), value in TEXTBOOK.items():
        cell = table.page.locator(".cell").nth(4 * r + c)
        assert float(cell.locator(".value").inner_text().replace("\N{MINUS SIGN}", "-")) == pytest.approx(
            value, abs=6e-4
        )
    assert table.page.locator(".cell").nth(0).locator(".toward").inner_text() == "→"
    table.page.get_by_role("button", name="Pit", exact=True).click()
    table.page.locator(".cell").nth(8).click()
    table.page.get_by_role("button", name="Plan", exact=True).click()
    table.until("document.querySelectorAll('.value').length === 8")


def test_a_file_is_planned_and_the_answer_downloaded(visit, tmp_path):
    lines = ["numStates 3", "numActions 2", "end 2", "transition 0 0 1 1 1", "transition 0 1 2 1.5 1"]
    lines += ["transition 1 0 2 2 0.5", "transition 1 0 0 0 0.5", "mdptype episodic", "discount 0.9"]
    file = tmp_path / "small.txt"
    file.write_text("\n".join(lines))
    table = visit("/plan").until("document.querySelector('.value')")
    table.page.get_by_role("button", name="Use a file").click()
    table.page.set_input_files("#mdp-file", file)
    table.until("document.querySelectorAll('.facts tbody tr').length === 3")
    with table.page.expect_download() as waiting:
        table.page.get_by_role("button", name="as JSON").click()
    waiting.value.save_as(tmp_path / "plan.json")
    found, wanted = json.loads((tmp_path / "plan.json").read_text()), plan(MDP.from_cs747(file))
    assert found["value"] == pytest.approx(wanted.value.tolist(), abs=1e-6)
    assert found["action"] == wanted.action.tolist()


def test_a_file_with_a_fault_is_told(visit, tmp_path):
    file = tmp_path / "bad.txt"
    file.write_text("numStates 2\nnumActions 1\ntransition 0 0 5 1 1\n")
    table = visit("/plan").until("document.querySelector('.value')")
    table.page.get_by_role("button", name="Use a file").click()
    table.page.set_input_files("#mdp-file", file)
    table.until("document.querySelector('.state').innerText.includes('5')")


def test_bandits_grow_and_stop(visit):
    table = visit("/bandits").until("document.querySelectorAll('.series-line').length >= 6")
    rows = table.js("[...document.querySelectorAll('.facts tbody tr')].map((r) => r.innerText.split('\\t'))")
    assert {"ucb1", "thompson"} <= {row[0] for row in rows}
    table.until("!document.querySelector('.run').innerText.includes('Stop')", 120)
    table.page.locator("input[type=number]").nth(1).fill("20000")
    table.page.locator(".run").click()
    table.until("document.querySelector('.run').innerText.includes('Stop')")
    table.page.locator(".run").click()
    table.until("document.querySelector('.state').innerText === 'Stopped.'")


def test_a_tournament_fills_its_table(visit):
    table = visit("/tournament")
    for name in table.js(
        "[...document.querySelectorAll('.agents button')].map((b) => b.getAttribute('aria-label'))"
    ):
        if "Perfect" not in name and "Random" not in name:
            table.page.get_by_role("button", name=name).click()
    table.page.get_by_label("Games per pair").fill("10")
    table.page.get_by_role("button", name="Start").click()
    cells = "(row) => [...row.children].map((cell) => cell.innerText)"
    rows = f"[...document.querySelectorAll('.cross-table tbody tr')].map({cells})"
    table.until(f"{rows}.filter((row) => row[4] === '10').length === 2", 120)  # the count is told before the table
    assert table.js("document.querySelector('.state').innerText") == "10 of 10 games"
    rows = table.js(rows)
    assert [row[1] for row in rows] == ["Perfect play", "Random"]
    assert float(rows[0][3]) > 0.5 and float(rows[0][3]) + float(rows[1][3]) == pytest.approx(1, abs=2e-3)


def test_a_training_is_watched_and_its_player_met(visit):
    table = visit("/learn").until("document.querySelectorAll('form select')[2].value === 'td'")
    table.page.get_by_role("spinbutton", name="Episodes").fill("60")
    table.page.get_by_role("button", name="Train").click()
    table.until("document.querySelector('.outcome a')", 300)  # on an empty cache a child compiles first
    assert table.page.locator(".series-line").count() >= 1
    table.page.get_by_role("link", name="Watch it play").click()
    table.until("window.mdplay?.line?.at >= 2", 60)
    assert "learned" in table.js("mdplay.players.seats[0].id")


def test_the_reproduction_page_lists_the_five_systems(visit):
    table = visit("/reproduction", size=PHONE)
    assert table.page.locator(".chapter h2").count() == 5
    assert table.js("document.documentElement.scrollWidth") <= PHONE[0]


# ---------------------------------------------------------------- what is said is true, and of this question
def test_infinite_values_are_written_as_such_and_explained(visit):
    table = visit("/plan").until("document.querySelector('.value')")
    table.page.get_by_label("Living reward").fill("0.5")
    table.page.get_by_role("button", name="Plan", exact=True).click()
    table.until("document.querySelector('.value')?.innerText === '∞'")
    assert "NaN" not in table.text("main")
    assert "9 states have an infinite value: with discount 1, rewards can be collected" in table.text(".answer")
    assert "visited twice" not in table.text(".answer")


def test_what_was_planned_before_does_not_stay(visit):
    table = visit("/plan").until("document.querySelector('.series-line') && document.querySelector('.figures')")
    assert "iteration" in table.text(".chart-box figcaption"), "policy iteration has no sweeps"
    table.page.locator(".cell").nth(8).click()
    assert table.page.locator(".value, .figures, .series-line").count() == 0, "the world has changed"
    table.page.get_by_role("button", name="Use a file").click()
    lines = "numStates 2\nnumActions 1\nend 1\ntransition 0 0 1 1 {}\nmdptype episodic\ndiscount 0.9"
    table.page.get_by_label("or paste it").fill(lines.format(1))
    table.page.get_by_role("button", name="Plan", exact=True).click()
    table.until("document.querySelector('.figures')")
    table.page.get_by_label("or paste it").fill(lines.format(0.5))
    table.page.get_by_role("button", name="Plan", exact=True).click()
    table.until("document.querySelector('.state .trouble')")
    assert "Line 4: the probabilities of state 0, action 0 sum to 0.5, not to 1." in table.text(".state")
    assert table.page.locator(".figures").count() == 0


def test_a_bound_in_the_long_run_is_not_drawn_from_the_first_pull(visit):
    table = visit("/bandits").until("document.querySelectorAll('.series-line').length >= 9")
    dotted = table.page.locator(".series-line[stroke-dasharray='1 5']")
    assert dotted.count() == 1
    start = float(dotted.get_attribute("d").split("L")[0].removeprefix("M").split(" ")[0])
    assert start > 250, "it begins in the middle of the chart"
    assert "asymptotic slope" in table.text(".chart-box")
    table.page.get_by_role("textbox", name="Means").fill("0.6,0.5")
    held = []
    table.page.route("**/bandits?*", lambda route: held.append(route))
    table.page.get_by_role("button", name="Pull").click()
    assert table.page.locator(".series-line, .facts").count() == 0, "the curves of other arms are gone"
    held[0].fulfill(status=200, content_type="text/event-stream", body="event: end\ndata: {}\n\n")


def test_a_tournament_shows_the_game_that_it_is_of(visit):
    table = visit("/tournament")
    table.page.get_by_label("Games per pair").fill("2")
    table.page.get_by_role("button", name="Start").click()
    table.until(r"/^Tic-Tac-Toe, (\d+) of \1 games/.test(document.querySelector('caption')?.innerText)")
    table.page.locator("form select").first.select_option("connect-four")
    assert table.page.locator(".cross-table").count() == 0


def test_the_time_left_is_told(visit):
    table = visit("/tournament")
    stats = 'event: stats\ndata: {"done": 4, "total": 120, "limit": 1e-9}\n\n'
    stream = {"status": 200, "content_type": "text/event-stream", "body": stats}
    table.page.route("**/tournament?*", lambda route: route.fulfill(**stream))
    shown = []
    table.page.expose_function("shown", lambda text: shown.append(text))
    table.js("new MutationObserver(() => shown(document.querySelector('.state').innerText))"
             ".observe(document.querySelector('.state'), {childList: true})")  # fmt: skip
    table.page.get_by_role("button", name="Start").click()
    table.until("document.querySelector('.state .trouble')")
    assert any("4 of 120 games, about" in text and "that the page allows" in text for text in shown), shown


def test_what_was_learned_is_there_again_after_watching_it(visit):
    table = visit("/learn")
    table.page.locator("form select").first.select_option("tic-tac-toe")
    table.until("[...document.querySelectorAll('form option')].some((one) => one.value === 'network')")
    table.page.get_by_label("Method").select_option("network")
    table.page.get_by_label("Episodes").fill("1000")
    table.page.get_by_role("button", name="Train").click()
    table.until("document.querySelector('.outcome a')", 120)
    title = table.text("figcaption")
    assert title == "Score against a random opponent (a draw counts half), and share of optimal moves"
    assert table.page.locator(".series-line").count() == 2
    table.page.get_by_role("link", name="Watch it play").click()
    table.until("window.mdplay?.line.at >= 1")
    table.page.go_back()
    table.until("document.querySelector('.outcome a') && document.querySelectorAll('.series-line').length === 2")
    assert table.text("figcaption") == title
    assert "Tic-Tac-Toe: Learned by network" in table.text(".state")
