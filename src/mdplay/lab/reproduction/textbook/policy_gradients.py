"""Chapter 13, policy gradients: the short corridor."""

from __future__ import annotations

import math

import numpy as np

import mdplay
from mdplay.lab.reproduction.steps import Claim, Facts, Figure, Step, differs, equal
from mdplay.lab.reproduction.textbook.drawing import Axes, Floats, Line, Show, picture, reward_line, rows_table

TITLE = "Policy gradients"
POWERS = (12, 13, 14)  # step sizes 2^-12, 2^-13 and 2^-14
LEAD = math.log(19.0)  # preference of left: probability 0.95, the left epsilon-greedy policy of Example 13.1
LIMIT = 1000  # steps of an episode
EPISODES = 1000


def steps(quick: bool, seed: int) -> list[Step]:
    """Return the figures of the chapter."""
    runs = 100 if quick else 1000
    settings = {"runs": runs, "seed": seed}
    return [
        Step("corridor", lambda show: _corridor()),
        Step("reinforce", lambda show: _reinforce(runs, seed, show), settings),
        Step("baseline", lambda show: _baseline(runs, seed, show), settings),
    ]


def headline(facts: Facts) -> str:
    """Return the chapter in a sentence."""
    return (
        f"The best policy of the corridor goes right with probability {facts['corridor']['best']:.6f} and is "
        f"worth {facts['corridor']['value']:.6f}."
    )


def claims(facts: Facts) -> list[Claim]:
    """Return the book's statements beside what came out."""
    exact, learned, baseline = facts["corridor"], facts["reinforce"], facts["baseline"]
    slow = learned["13"]
    return [
        equal(
            "Example 13.1: the best probability of right is about 0.59, worth about -11.6; the epsilon-greedy "
            "policies are worth less than -44 and -82.",
            f"2 - sqrt 2 = {exact['best']:.6f}, {exact['value']:.6f}; {exact['right']:.2f} and "
            f"{exact['left']:.2f}",
            "Linear equations, and the root of the derivative.",
            abs(exact["value"] + 11.6569) < 1e-4 and abs(exact["best"] - 2.0 + math.sqrt(2.0)) < 1e-5,
        ),
        differs(
            "Figure 13.1: REINFORCE with alpha 2^-13 approaches -11.6 within 1,000 episodes, in the mean of 100 "
            "runs.",
            f"median of the exact values {slow['median']:.2f}; mean reward {slow['mean']:.1f}, "
            f"{slow['lost']:.1%} of the runs never end any more",
            f"{learned['runs']:,} runs from the left epsilon-greedy policy; 2^-12: median "
            f"{learned['12']['median']:.2f}, lost {learned['12']['lost']:.1%}; 2^-14: "
            f"{learned['14']['median']:.2f}, "
            f"{learned['14']['lost']:.1%}.",
            "the pseudocode updates the policy within an episode, and a long first episode makes some runs "
            "choose left always; a mean of 100 runs depends on whether one is among them. With all updates of "
            "an episode computed from the policy that played it, none is lost and the mean of the last 100 "
            f"episodes is {learned['batch']:.2f}, as in the figure",
        ),
        equal(
            "Figure 13.2: the baseline makes REINFORCE learn much faster.",
            f"median of the exact values after 100 episodes {baseline['early'][1]:.2f} with and "
            f"{baseline['early'][0]:.2f} without a baseline",
            f"alpha 2^-9 and 2^-6 with, 2^-13 without; {baseline['runs']:,} runs.",
            baseline["early"][1] > baseline["early"][0] + 2.0,
        ),
    ]


def _value(right: float) -> float:
    """Return the exact value of the start, if right is chosen with the given probability."""
    task = mdplay.make_task("corridor")
    return float(mdplay.evaluate_policy(task.chain(np.tile([1.0 - right, right], 3)).mdp, [0, 0, 0, -1]).value[0])


def _corridor() -> Figure:
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(lambda p: -_value(p), bounds=(0.3, 0.8), method="bounded", options={"xatol": 1e-7})
    shares = [0.02 * i for i in range(3, 49)]
    return Figure(
        "Example 13.1: the short corridor",
        "mdplay reproduce textbook",
        "The value of the start by the probability of right; three states cannot be told apart.",
        {
            "best": float(found.x),
            "value": _value(float(found.x)),
            "right": _value(0.95),
            "left": _value(0.05),
        },
        None,
        picture(
            {"value": Line(shares, [_value(p) for p in shares])},
            Axes("probability of right", "value", -100.0, 0.0),
        ),
    )


def _reinforce(runs: int, seed: int, show: Show) -> Figure:
    task = mdplay.make_task("corridor")
    curves = {
        power: mdplay.learn(
            task, method="reinforce", alpha=2.0**-power, lead=LEAD, episodes=EPISODES, runs=runs, seed=seed,
            max_steps=LIMIT, points=200, checkpoints=10, progress=show,
        )[0]
        for power in POWERS
    }  # fmt: skip
    facts = {
        str(power): {
            "median": float(c.followed[-1]),
            "mean": float(c.reward[-20:].mean()),
            "lost": float((_right(c.tables) < 1e-3).mean() + (_right(c.tables) > 1.0 - 1e-3).mean()),
        }
        for power, c in curves.items()
    }
    lines = {f"2^-{power}, mean reward": reward_line(c) for power, c in curves.items()}
    medians = {
        f"2^-{power}, median exact value": Line(c.checkpoints.tolist(), c.followed.tolist())
        for power, c in curves.items()
    }
    return Figure(
        "Figure 13.1: REINFORCE in the short corridor",
        f"mdplay learn corridor --method 'reinforce(lead={LEAD:.4f})' --alpha {2.0**-13:.10f} --episodes "
        f"{EPISODES} --runs {runs} --max-steps {LIMIT}",
        f"Episodes are truncated after {LIMIT} steps.",
        {**facts, "runs": runs, "batch": _batch_updates(2.0**-13, min(runs, 400), seed)},
        rows_table(
            ("alpha", "median exact value", "mean reward, last 100", "lost runs"),
            [(f"2^-{p}", f"{f['median']:.2f}", f"{f['mean']:.1f}", f"{f['lost']:.1%}") for p, f in facts.items()],
        ),
        picture({**lines, **medians}, Axes("episode", "reward", -90.0, 0.0, {"best": -11.6569})),
    )


def _right(tables: Floats) -> Floats:
    """Return the probability of right of each run."""
    difference = np.clip(tables[:, 0] - tables[:, 1], -700.0, 700.0)
    return np.asarray(1.0 / (1.0 + np.exp(difference)), float)


def _batch_updates(alpha: float, runs: int, seed: int) -> float:
    """Return the mean reward of the last 100 episodes, if the updates of an episode use its own policy.

    All runs are played side by side; ``lead`` is the preference of right over left.
    """
    rng, lead, rewards = np.random.default_rng(seed), np.full(runs, -LEAD), []
    for _ in range(EPISODES):
        right_share = 1.0 / (1.0 + np.exp(-lead))
        state, steps_left = np.zeros(runs, int), np.ones(runs, bool)
        gradients: list[Floats] = []
        while steps_left.any() and len(gradients) < LIMIT:
            right = rng.random(runs) < right_share
            gradients.append(np.where(steps_left, right - right_share, 0.0))
            forward = np.where(state == 1, ~right, right)
            state = np.where(steps_left, np.where(forward, state + 1, np.maximum(state - 1, 0)), state)
            steps_left &= state < 3
        moved = np.array(gradients) != 0.0
        length = moved.sum(axis=0)
        returns = -np.maximum(length - np.arange(len(gradients))[:, None], 0)
        lead = lead + 2.0 * alpha * np.where(steps_left, 0.0, (returns * np.array(gradients)).sum(axis=0))
        rewards.append(-float(length.mean()))
    return float(np.mean(rewards[-100:]))


def _baseline(runs: int, seed: int, show: Show) -> Figure:
    task = mdplay.make_task("corridor")
    methods = {
        "REINFORCE, 2^-13": f"reinforce(alpha={2.0**-13})",
        "with baseline, 2^-9 and 2^-6": f"reinforce(alpha={2.0**-9},alpha_w={2.0**-6},baseline=true)",
    }
    curves = {
        name: mdplay.learn(
            task, method=method, lead=LEAD, episodes=EPISODES, runs=runs, seed=seed, max_steps=LIMIT, points=200,
            checkpoints=50, progress=show,
        )[0]
        for name, method in methods.items()
    }  # fmt: skip
    return Figure(
        "Figure 13.2: REINFORCE with a baseline",
        f"mdplay learn corridor --method 'reinforce(baseline=true,lead={LEAD:.4f})' --episodes {EPISODES} --runs "
        f"{runs} --max-steps {LIMIT}",
        "Medians over the runs of the exact value of the policy.",
        {"early": [float(c.followed[4]) for c in curves.values()], "runs": runs},
        None,
        picture(
            {name: Line(c.checkpoints.tolist(), c.followed.tolist()) for name, c in curves.items()},
            Axes("episode", "median exact value", -60.0, 0.0, {"best": -11.6569}),
        ),
    )
