"""The textbook's figures: the exact facts hold, and a quick run writes the whole page.

Here are tested besides: the modules of ``mdplay.lab.reproduction.textbook``.
"""

import json
from contextlib import nullcontext
from math import sqrt

import numpy as np
import pytest

from mdplay.lab.reproduction.run import TEXTBOOK, reproduce
from mdplay.lab.reproduction.textbook import (
    approximation,
    dynamic_programming,
    models,
    monte_carlo,
    policy_gradients,
)

OPEN_POINTS = ("612", "1,700", "2.31", "2^-13")
EXACT = ("Figure 4.3", "moves from 5 cars", "Example 5.4", "state distribution", "Example 13.1", "king's moves")


def quiet(label, total):
    return nullcontext(lambda done: None)


@pytest.fixture(scope="module")
def chapters(tmp_path_factory):
    folder = tmp_path_factory.mktemp("textbook")
    return reproduce(list(TEXTBOOK.modules), folder, quiet, quick=True, report=TEXTBOOK), folder


@pytest.mark.slow
def test_a_quick_run_writes_the_page(chapters, needs_compiler):
    made, folder = chapters
    text = (folder / "index.html").read_text()
    assert "What the book says" in text and "the book says" in text
    assert all(f'id="system-{number}"' in text for number in TEXTBOOK.modules)
    facts = json.loads((folder / "figures.json").read_text())
    assert set(facts["chapters"]) == {str(number) for number in TEXTBOOK.modules}
    assert len([claim for chapter in made for claim in chapter.claims]) > 30


@pytest.mark.slow
def test_exact_facts_are_equal(chapters, needs_compiler):
    claims = [claim for chapter in chapters[0] for claim in chapter.claims]
    for words in EXACT:
        assert [claim.mark for claim in claims if words in claim.says] == ["equal"], words


@pytest.mark.slow
def test_open_points_are_explained(chapters, needs_compiler):
    claims = [claim for chapter in chapters[0] for claim in chapter.claims]
    for words in OPEN_POINTS:
        (claim,) = [claim for claim in claims if words in claim.says]
        assert claim.mark == "differs"
        assert len(claim.why) > 100


def test_the_mean_first_episode_of_the_maze_is_that_of_a_random_walk():
    """868.7 steps: simulated walks of the maze, a second way to the solution of the linear equations."""
    figure = models._first_episode()
    rows = [".......#G", "..#....#.", "S.#....#.", "..#......", ".....#...", "........."]
    rng, lengths = np.random.default_rng(1), []
    for _ in range(400):
        y, x, steps = 2, 0, 0
        while (y, x) != (0, 8):
            dy, dx = ((-1, 0), (0, 1), (1, 0), (0, -1))[rng.integers(4)]
            a, b = y + dy, x + dx
            if 0 <= a < 6 and 0 <= b < 9 and rows[a][b] != "#":
                y, x = a, b
            steps += 1
        lengths.append(steps)
    assert abs(np.mean(lengths) - figure.facts["mean"]) < 4 * figure.facts["deviation"] / sqrt(400)


def test_the_average_reward_is_that_of_the_planner():
    """A discount near 1: (1 - discount) times the value approaches the average reward."""
    import mdplay

    task = mdplay.make_task("access-control:servers=3")
    gain, q = approximation.best_average(task)
    mdp = task.mdp
    near = mdplay.MDP.from_transitions(
        np.repeat(mdp.owners(), np.diff(mdp.first_transition.astype(int))),
        np.repeat(mdp.action, np.diff(mdp.first_transition.astype(int))),
        mdp.target, mdp.transition_reward, mdp.probability, num_states=mdp.num_states, discount=0.99999,
    )  # fmt: skip
    assert 1e-5 * float(np.mean(mdplay.plan(near, tolerance=1e-3).value)) == pytest.approx(gain, abs=1e-4)
    assert approximation.average_reward(task, approximation.epsilon_greedy(task, q, 0.0)) == pytest.approx(gain)


def test_the_deviation_of_a_return_is_that_of_played_games():
    import mdplay

    task = mdplay.Task(mdplay.make_task("blackjack").mdp, monte_carlo.STATE)
    curve = mdplay.learn(
        task,
        method="mc-prediction",
        policy=monte_carlo.STICK_ON_20,
        episodes=1,
        runs=20_000,
        points=1,
        max_steps=100,
    )[0]
    assert monte_carlo._deviation(task) == pytest.approx(float(curve.reward_error[-1]) * sqrt(19_999), rel=0.02)


def test_batch_updates_of_reinforce_improve():
    assert policy_gradients._batch_updates(2.0**-12, 50, 1) > -13.0


def test_the_second_program_of_the_car_rental_agrees():
    values = dynamic_programming.rental_values(30)
    assert values[20, 20] == pytest.approx(636.99, abs=0.01)
