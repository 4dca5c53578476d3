"""Whole games on the page, by mouse and by keyboard, against agents; every value shown is the solver's."""

from functools import cache

import pytest

from mdplay import Position, make, solve
from tests.helpers import NIM, write
from tests.web.static.chomp import Chomp
from tests.web.static.conftest import PHONE

MINUS = "\N{MINUS SIGN}"


@cache
def solved(spec, opponent="perfect"):
    return solve(make(spec), opponent=opponent)


def signed(number):
    return f"{number:+g}".replace("-", MINUS) if number else "0"


def written(game, choice, lead):
    """Return what the page must write on a move: score, margin, or plies; and the colour."""
    if game.has_reward:
        margin = choice.value + lead
        return signed(margin), kind(margin)
    if choice.score is not None:
        return signed(choice.score), kind(choice.value)
    return (str(choice.distance) if choice.value else "="), kind(choice.value)


def kind(value):
    return "win" if value > 0 else "loss" if value < 0 else "draw"


def agree(solution):
    """Return a check: what stands on the board is what the solver says, and the best are filled."""
    game = solution.game

    def check(table):
        position = Position.parse(game, "moves:" + ",".join(table.moves))
        mover = position.player
        lead = (position.points[0] - position.points[1]) * (-1 if mover else 1) if game.has_reward else 0
        chips, choices = table.chips(), solution.choices(position.state)
        assert set(chips) == {choice.action for choice in choices}
        for choice in choices:
            chip = chips[choice.action]
            assert (chip["text"], chip["kind"]) == written(game, choice, lead), (table.moves, choice)
            assert chip["exact"] and "exact" in chip["label"]
            assert game.move_text(position.state, choice.action) in chip["label"]
        top = max(choice.value for choice in choices)
        assert all(c.value == top for c in choices if chips[c.action]["best"])
        assert any(chip["best"] for chip in chips.values())
        assert "Exact" in table.text(".verdict .badge")

    return check


def best_by_mouse(table):
    table.click(min(action for action, chip in table.chips().items() if chip and chip["best"]))


def best_by_keyboard(table):
    action = min(action for action, chip in table.chips().items() if chip and chip["best"])
    table.type(table.js("(a) => mdplay.line.doc.legal.find((m) => m.action === a).move", action))


HANDS = {"mouse": best_by_mouse, "keyboard": best_by_keyboard}


@pytest.mark.parametrize("hands", HANDS)
@pytest.mark.parametrize("name", ["tic-tac-toe", "anti-tic-tac-toe", "dots-and-boxes"])
def test_a_whole_game_against_an_agent(visit, name, hands):
    seats = "?second=random" if hands == "mouse" else "?first=random"
    table = visit(f"/{name}{seats}")
    table.play_out(HANDS[hands], agree(solved(name))).settled()
    end = Position.parse(make(name), "moves:" + ",".join(table.moves))
    assert end.is_over
    assert table.text(".verdict .headline") in table.js("mdplay.line.doc.status")
    if name == "dots-and-boxes":
        assert table.js("[...document.querySelectorAll('.tally')].map((t) => Number(t.innerText))") == list(
            end.points
        )


@pytest.mark.parametrize("hands", HANDS)
def test_connect_four_against_an_agent(visit, hands):
    opening = "4,4,4,4,4,2,2,6,3,5" if hands == "mouse" else "4,4,4,4,4,2,2,6,3"
    table = visit(f"/connect-four?moves={opening}&{'second' if hands == 'mouse' else 'first'}=random")
    table.play_out(HANDS[hands], agree(solved("connect-four")))
    assert Position.parse(make("connect-four"), "moves:" + ",".join(table.moves)).is_over


@pytest.mark.parametrize("hands", HANDS)
def test_a_users_files(visit, hands, tmp_path):
    table = visit("/own-chomp?second=random")
    table.play_out(HANDS[hands], agree(solve(Chomp())))
    nim = visit("/own-nim?second=random")
    assert nim.page.locator("button.plain-move").count() == 3, "no picture: a button for each move"
    nim.play_out(HANDS[hands], agree(solve(make(f"{write(tmp_path, 'nim.py', NIM)}:Nim"))))


def test_values_against_a_random_opponent(visit):
    table = visit("/dots-and-boxes?moves=0,2&against=random").settled()
    solution = solved("dots-and-boxes", "uniform")
    position = Position.parse(make("dots-and-boxes"), "moves:0,2")
    values = {choice.action: choice.value for choice in solution.choices(position.state)}
    shown = table.js("[...mdplay.line.node.values.values()].map((e) => [e.action, e.value])")
    assert dict(shown) == pytest.approx(values)
    best = [action for action, chip in table.chips().items() if chip["best"]]
    assert all(values[action] == pytest.approx(max(values.values())) for action in best)


# ---------------------------------------------------------------- 2048
def agree_with_points(table):
    """The small board is solved: the directions carry what is still to come."""
    solution = solved("2048:rows=2,cols=2")
    state = solution.game.parse(table.position)
    values = {choice.action: choice.value for choice in solution.choices(state)}
    chips = table.chips()
    assert set(chips) == set(values)
    for action, value in values.items():
        assert chips[action]["text"] == f"{value:.0f}"
    best = max(values.values())
    assert all(values[a] == pytest.approx(best) for a, chip in chips.items() if chip["best"])


ARROWS = ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown")


def test_2048_by_keyboard(visit):
    table = visit("/2048?params=rows=2,cols=2")

    def push(table):
        table.press(ARROWS[min(a for a, chip in table.chips().items() if chip["best"])])

    table.play_out(push, agree_with_points)
    wanted = sorted(1 << int(cell, 16) for cell in table.position if cell != "0")
    table.until(f"document.querySelectorAll('.tile').length === {len(wanted)}")  # merged ones have gone
    tiles = table.js("[...document.querySelectorAll('.tile')].map((t) => Number(t.textContent))")
    assert sorted(tiles) == wanted


def test_2048_by_mouse(visit):
    table = visit("/2048?params=rows=2,cols=2")
    table.play_out(best_by_mouse)


def test_2048_by_swipes(visit):
    table = visit("/2048?params=rows=2,cols=2", has_touch=True)
    middle = table.page.locator(".stage").bounding_box()
    x, y = middle["x"] + middle["width"] / 2, middle["y"] + middle["height"] / 2

    def swipe(table):
        dx, dy = [(-90, 0), (90, 0), (0, -90), (0, 90)][min(table.chips())]
        table.page.mouse.move(x, y)
        table.page.mouse.down()
        table.page.mouse.move(x + dx, y + dy, steps=4)
        table.page.mouse.up()

    table.play_out(swipe)


def test_2048_is_advised_and_plays_by_itself(visit):
    table = visit("/2048?from=0121034a12580236&points=100").settled()
    assert all(chip["kind"] == "points" for chip in table.chips().values())
    assert sum(chip["best"] for chip in table.chips().values()) >= 1
    agent = table.js("mdplay.info.agents[0].id")
    auto = visit(f"/2048?first={agent}")
    auto.page.select_option(".mini", "0")
    auto.until("mdplay.line.at >= 8")
    auto.press("p")
    held = auto.ply
    auto.page.wait_for_timeout(400)
    assert auto.ply <= held + 1, "paused"


# ---------------------------------------------------------------- Qubic
def forced_line_is_forced(line, state, game):
    """Return who has won after the line: every answer must be the only one, every threat real."""
    for k, move in enumerate(line):
        action = next(a for a in range(64) if game.legal(state) >> a & 1 and game.move_text(state, a) == move)
        mine, theirs = int(state.mine), int(state.theirs)
        if k % 2:
            wins = [a for row in game.lines if bin(row & theirs).count("1") == 3 and not row & mine
                    for a in range(64) if row >> a & 1 and not theirs >> a & 1]  # fmt: skip
            assert action in wins, f"{move} answers nothing"
            assert not any(bin(row & mine).count("1") == 3 and not row & theirs for row in game.lines), "could win"
        state = game.step(state, action)
    return state


@pytest.mark.parametrize("hands", HANDS)
def test_qubic_against_an_agent(visit, hands):
    game = make("qubic")
    table = visit("/qubic?second=random")

    def check(table):
        line = table.js("mdplay.line.node.verdict.line ?? []")
        if line:
            state = Position.parse(game, "moves:" + ",".join(table.moves)).state
            assert not game.legal(forced_line_is_forced(line, state, game)), "the line ends with a win"
        assert "Exact" in table.text(".verdict .badge"), "the first player wins, and the book knows how"

    table.play_out(HANDS[hands], check)
    end = Position.parse(game, "moves:" + ",".join(table.moves))
    assert game.result(end.state) == 1, "the first player must win"
    assert table.page.locator(".stage .ring").count() == 4, "the winning line is ringed"


def test_the_cube_turns_and_plays(visit):
    table = visit("/qubic?moves=000,333,030,003").settled()
    table.page.get_by_role("button", name="Cube").click()
    table.until("document.querySelector('svg.cube')").settled()
    where = "document.querySelector('[data-cell=\"0\"]').getAttribute('transform')"
    before = table.js(where)
    box = table.page.locator("svg.cube").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    table.page.mouse.move(x, y)
    table.page.mouse.down()
    table.page.mouse.move(x + 120, y + 30, steps=5)
    table.page.mouse.up()
    turned = table.js(where)
    assert turned != before
    assert table.ply == 4, "turning plays nothing"
    table.page.get_by_role("button", name="Turn left").click()
    assert table.js(where) != turned
    table.page.wait_for_timeout(300)
    cell = "document.querySelector('.stage [data-action=\"21\"]')"
    table.js(f"{cell}.dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
    table.until("mdplay.line.at === 5")
    assert table.moves[-1] == "111"


def test_a_forced_win_is_shown_as_a_sequence_and_played(visit):
    table = visit("/qubic?moves=000,111,030,222,300,121").settled()
    line = table.js("mdplay.line.node.verdict.line")
    assert table.js("[...document.querySelectorAll('.forced li')].map((li) => li.innerText)") == line
    table.page.get_by_role("button", name="Play it").click()
    table.until("mdplay.line.doc.over")
    assert table.moves[6:] == line
    assert "Red" in table.text(".verdict .headline")


def test_on_a_phone(visit):
    table = visit(
        "/connect-four?moves=4,4,3,5,5,6,6,6&second=random", size=PHONE, has_touch=True, is_mobile=True
    ).settled()
    action = min(table.chips())
    box = table.page.locator(f".stage .move[data-action='{action}']").bounding_box()
    table.page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    table.until("mdplay.line.at >= 9")
    assert table.js("document.documentElement.scrollWidth") <= PHONE[0]
