"""Reinforcement learning on the page: its exact values are those of the package, and every control works."""

import re

import numpy as np
import pytest

import mdplay
from mdplay.learning.reinforcement.tasks import Task
from tests.learning.reinforcement.test_judge import judged
from tests.web.static.conftest import PHONE

LEARN = """async ([rows, options, slip, discount, episodes]) => {
  const { GridWorld } = await import("/static/pages/gridworld.js");
  const { Agent } = await import("/static/pages/agent.js");
  const kinds = { ".": "floor", "#": "wall", S: "start", G: "goal", "*": "cliff" };
  const world = new GridWorld(rows.map((row) => [...row].map((c) => kinds[c])), { slip, discount });
  const agent = new Agent(world, options, 7);
  let wrong = 0, updates = 0;
  while (agent.episodes.length < episodes) {
    const told = agent.step();
    if (told.pair) {
      updates += 1;
      if (options.lambda === 0 && options.plans === 0 && !told.ended)
        wrong = Math.max(wrong, Math.abs(told.after - told.before - told.alpha * (told.goal - told.before)));
    }
    if (told.ended) agent.begin();
  }
  return { q: agent.q.map((row) => [...row]), wrong, updates, exact: [...world.optimum()],
           greedy: world.policyValue((s) => agent.shares(s, 0)),
           followed: world.policyValue((s) => agent.shares(s)),
           mean: agent.episodes.slice(-100).reduce((sum, one) => sum + one.reward, 0) / 100 };
}"""
CLIFF = ["............", "............", "............", "S**********G"]
USUAL = {"method": "q", "alpha": 0.5, "epsilon": 0.1, "lambda": 0, "n": 1, "plans": 0}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"method": "sarsa"},
        {"method": "expected-sarsa"},
        {"method": "sarsa", "lambda": 0.8},
        {"method": "q", "lambda": 0.8},
        {"method": "sarsa", "n": 4, "alpha": 0.2},
        {"plans": 5},
    ],
)
@pytest.mark.parametrize("slip", [0, 0.2])
def test_exact_values_are_those_of_the_package(visit, more, slip):
    options = {**USUAL, **more}
    found = visit("/reinforcement").page.evaluate(LEARN, [CLIFF, options, slip, 1, 200])
    task = mdplay.make_task("cliff")
    grid = mdplay.planning.grids.read_grid("\n".join([*CLIFF, f"slip {slip / 2}"]))
    task = Task(grid.mdp, grid.starts[0])
    live = ~task.mdp.terminal
    table = np.array(found["q"])[live].ravel()
    greedy, followed = judged(task, table, options["epsilon"])
    assert found["exact"] == pytest.approx(
        np.asarray(mdplay.plan(grid.mdp, tolerance=1e-10).value).tolist(), abs=1e-7
    )
    assert found["greedy"] == (None if np.isinf(greedy) else pytest.approx(greedy, rel=1e-9))
    assert found["followed"] == pytest.approx(followed, rel=1e-9)
    assert found["wrong"] < 1e-9
    assert found["updates"] > 200


def test_rewards_are_those_of_the_package(visit):
    """Sutton and Barto, Example 6.6, on the page: Q-learning falls off the cliff, SARSA walks around it."""
    page = visit("/reinforcement").page
    for method in ("q", "sarsa"):
        mean = page.evaluate(LEARN, [CLIFF, {**USUAL, "method": method}, 0, 1, 500])["mean"]
        curve = mdplay.learn(mdplay.make_task("cliff"), method=method, alpha=0.5, runs=400, points=5)[0]
        spread = float(curve.reward_error[-1]) * 20
        assert abs(mean - curve.reward[-1]) < 5 * spread, f"{method}: five standard deviations of one run"


def test_a_step_shows_its_update(visit):
    table = visit("/reinforcement").until("document.querySelector('.world .value')")
    table.page.get_by_role("button", name="Step", exact=True).click()
    text = table.text(".equation code").replace("\u2212", "-")
    before, alpha, reward, value, again, after = map(float, re.findall(r"-?\d+\.?\d*", text))
    assert after == before + alpha * (reward + value - again)
    assert reward in (-1.0, -100.0)
    assert table.page.locator(".cell.updated").count() == 1
    assert table.page.locator(".cell.here").count() == 1


def test_learning_approaches_the_exact_optimum(visit):
    table = visit("/reinforcement").until("document.querySelector('.world .value')")
    for _ in range(3):
        table.page.get_by_role("button", name="100 episodes").click()
    table.until("document.querySelector('.figures').textContent.includes('300 episodes')")
    assert "\u221213 exact optimum" in table.text(".results .figures")
    assert "\u221213 greedy policy" in table.text(".results .figures")
    assert table.page.locator(".series-line").count() == 4
    table.page.get_by_role("button", name="Difference").click()
    label = table.page.locator(".cell.start").get_attribute("aria-label")
    assert abs(float(re.search(r"value (\u2212?[\d.]+)", label)[1].replace("\u2212", "-"))) < 0.05
    table.page.get_by_role("button", name="Exact").click()
    assert "value \u221213.00, go up" in table.page.locator(".cell.start").get_attribute("aria-label")
    table.page.get_by_text("Every state").click()
    table.until("document.querySelectorAll('.scroll.tall tbody tr').length === 37")


def test_sliders_exclude_each_other(visit):
    table = visit("/reinforcement").until("document.querySelector('.world .value')")
    slider = table.page.locator("input[name=n]")
    slider.fill("4")
    table.page.locator("input[name=lambda]").fill("0.8")
    assert slider.input_value() == "1"
    table.page.locator("input[name=plans]").fill("10")
    assert table.page.locator("input[name=lambda]").input_value() == "0"


def test_cells_are_drawn_with_the_keyboard(visit):
    table = visit("/reinforcement").until("document.querySelector('.world .value')")
    table.page.locator(".cell").first.focus()
    table.page.keyboard.press("ArrowRight")
    table.page.keyboard.press("Enter")
    assert table.page.locator(".cell.wall").count() == 1
    assert "column 2: wall" in table.page.evaluate("document.activeElement.getAttribute('aria-label')")
    table.page.get_by_role("button", name="Goal", exact=True).click()
    table.page.locator(".cell").nth(13).click()
    assert table.page.locator(".cell.goal").count() == 2
    assert "\u22122 exact optimum" not in table.text(".results .figures")


def test_a_world_without_a_goal_says_so(visit):
    table = visit("/reinforcement").until("document.querySelector('.world .value')")
    table.page.get_by_role("button", name="Floor", exact=True).click()
    table.page.locator(".cell.goal").click()
    assert "No goal can be reached" in table.text(".equation")


def test_on_a_phone(visit):
    table = visit("/reinforcement", size=PHONE, color_scheme="dark").until(
        "document.querySelector('.world .toward')"
    )
    table.page.get_by_role("button", name="Episode", exact=True).click()
    assert table.page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    assert "1 episode\n" in table.text(".results .figures")
    assert not table.page.locator(".world .value").first.is_visible()
