"""Chapter 5, Monte Carlo methods: blackjack, importance sampling and infinite variance."""

from __future__ import annotations

from typing import Any

import numpy as np

import mdplay
from mdplay.lab.reproduction.steps import Claim, Facts, Figure, Step, equal
from mdplay.lab.reproduction.textbook.drawing import Axes, Line, Show, picture, rows_table

TITLE = "Monte Carlo methods"
PUBLISHED = -0.27726  # Example 5.4, from 10^8 episodes
STATE = (1 * 2 + 1) * 10 + 1  # sum 13, a usable ace, dealer's 2
STICK_ON_20 = [0 if s // 20 + 12 >= 20 else 1 for s in range(200)] + [-1] * 3
COUNTS = (1, 10, 100, 1000, 10_000)  # episodes of Figure 5.3
KINDS = ("ordinary", "weighted")


def steps(quick: bool, seed: int) -> list[Step]:
    """Return the figures of the chapter."""
    small, large = (2000, 20_000) if quick else (10_000, 500_000)
    start_episodes = 50_000 if quick else 5_000_000
    runs = 500 if quick else 20_000
    endless = 100_000 if quick else 10_000_000
    return [
        Step("stick-on-20", lambda show: _stick_on_20(small, large, seed, show), {"large": large, "seed": seed}),
        Step("exploring-starts", lambda show: _starts(start_episodes, seed, show), {"episodes": start_episodes}),
        Step("importance", lambda show: _importance(runs, seed, show), {"runs": runs, "seed": seed}),
        Step(
            "infinite-variance", lambda show: _infinite(endless, seed, show), {"episodes": endless, "seed": seed}
        ),
    ]


def headline(facts: Facts) -> str:
    """Return the chapter in a sentence."""
    return (
        f"The state that the book estimates from 100 million episodes as {PUBLISHED} is worth exactly "
        f"{facts['importance']['exact']:.7f}."
    )


def claims(facts: Facts) -> list[Claim]:
    """Return the book's statements beside what came out."""
    stick, starts, chance, endless = (
        facts[name] for name in ("stick-on-20", "exploring-starts", "importance", "infinite-variance")
    )
    ordinary, weighted = chance["mse"]["ordinary"], chance["mse"]["weighted"]
    distance = abs(chance["exact"] - PUBLISHED) / (chance["deviation"] / 1e4)
    return [
        equal(
            "Figure 5.1: estimates are rough after 10,000 episodes and smooth after 500,000; more so for the "
            "states with a usable ace, which are rarer.",
            f"RMS error {stick['errors'][0]:.3f} after {stick['episodes'][0]:,} and {stick['errors'][1]:.3f} "
            f"after {stick['episodes'][1]:,} episodes; with a usable ace {stick['ace'][1]:.3f}, without "
            f"{stick['plain'][1]:.4f}",
            "Against the exact values of the policy; 20 runs.",
            stick["errors"][1] < stick["errors"][0] / 3 and stick["plain"][1] < stick["ace"][1],
        ),
        equal(
            "Figure 5.2: Monte Carlo with exploring starts finds the optimal policy (Thorp's, but for a notch).",
            f"{min(starts['right'])} to {max(starts['right'])} of 200 states right after {starts['episodes']:,} "
            f"episodes; exact loss {max(starts['loss']):.5f} at most",
            f"Against the planner; the game is worth {starts['optimum']:.6f} exactly.",
            max(starts["loss"]) < starts["allowed"],
        ),
        equal(
            f"Example 5.4: the value of the state (13, usable ace, dealer 2) is {PUBLISHED}, from 10^8 episodes.",
            f"{chance['exact']:.7f} exactly",
            f"The linear equations of the policy; a return has the standard deviation {chance['deviation']:.3f}.",
            distance < 2.0,
            f"the book's estimate lies {distance:.1f} of its own standard errors away",
        ),
        equal(
            "Figure 5.3: weighted importance sampling has the lower error at the beginning.",
            ", ".join(f"{n:,}: {a:.3g} and {b:.3g}" for n, a, b in zip(COUNTS, ordinary, weighted, strict=True)),
            f"Mean square error of ordinary and weighted sampling in {chance['runs']:,} runs (the book: 100).",
            weighted[1] < ordinary[1] and weighted[2] < ordinary[2],
        ),
        equal(
            "Figure 5.4: ordinary importance sampling does not converge to 1 after millions of episodes; the "
            "variance is infinite. Weighted sampling gives 1 from the first episode that is possible under the "
            "policy.",
            f"ordinary: {', '.join(f'{v:.2f}' for v in sorted(endless['ordinary']))}; weighted: "
            f"{', '.join(sorted({f'{v:.2f}' for v in endless['weighted']}))}",
            f"{len(endless['ordinary'])} runs of {endless['episodes']:,} episodes (the axis of the book: 10^8).",
            max(abs(v - 1.0) for v in endless["ordinary"]) > 0.02 > max(abs(v - 1.0) for v in endless["weighted"]),
        ),
    ]


def _stick_on_20(small: int, large: int, seed: int, show: Show) -> Figure:
    task = mdplay.make_task("blackjack")
    truth = np.asarray(mdplay.evaluate_policy(task.mdp, STICK_ON_20).value)[:200]
    ace = np.arange(200) // 10 % 2 == 1
    errors: dict[str, list[float]] = {"errors": [], "ace": [], "plain": []}
    last = truth
    for episodes in (small, large):
        curve = mdplay.learn(
            task, method="mc-prediction", policy=STICK_ON_20, episodes=episodes, runs=20, seed=seed, points=1,
            max_steps=100, progress=show,
        )[0]  # fmt: skip
        wrong = curve.tables - truth
        errors["errors"].append(float(np.sqrt((wrong**2).mean())))
        errors["ace"].append(float(np.sqrt((wrong[:, ace] ** 2).mean())))
        errors["plain"].append(float(np.sqrt((wrong[:, ~ace] ** 2).mean())))
        last = curve.tables[0]
    shown = {"exact, usable ace": truth[ace], "learned, usable ace": last[ace], "exact": truth[~ace],
             "learned": last[~ace]}  # fmt: skip
    return Figure(
        "Figure 5.1: first-visit Monte Carlo for the policy that sticks on 20 and 21",
        f"mdplay learn blackjack --method mc-prediction --policy FILE --episodes {large} --runs 20",
        "The picture shows the states with dealer's card 10, by the player's sum, for one run.",
        {"episodes": [small, large], **errors},
        None,
        picture(
            {name: Line(range(12, 22), values[9::10].tolist()) for name, values in shown.items()},
            Axes("player's sum", "value"),
        ),
    )


def _starts(episodes: int, seed: int, show: Show) -> Figure:
    task = mdplay.make_task("blackjack")
    plan = mdplay.plan(task.mdp)
    optimal, live = np.asarray(plan.value), ~task.mdp.terminal
    curve = mdplay.learn(
        task, method="mc-es", epsilon=0.0, episodes=episodes, runs=10, seed=seed, points=1, max_steps=100,
        progress=show,
    )[0]  # fmt: skip
    right, loss = [], []
    for run in range(10):
        policy = np.array(curve.policy(run))
        value = np.asarray(mdplay.evaluate_policy(task.mdp, policy).value)
        right.append(int((policy == plan.action)[live].sum()))
        loss.append(float(sum(share * (optimal[s] - value[s]) for s, share in task.starts.items())))
    stick = [[_first_stick(plan.action, ace, shown) for shown in range(1, 11)] for ace in (0, 1)]
    return Figure(
        "Figure 5.2: the optimal policy of blackjack",
        f"mdplay learn blackjack --method mc-es --epsilon 0 --episodes {episodes} --runs 10",
        "The smallest sum on which the optimal policy sticks, by the dealer's card.",
        {
            "episodes": episodes,
            "right": right,
            "loss": loss,
            "allowed": 0.001 if episodes > 1_000_000 else 0.02,
            "optimum": float(curve.optimum or 0.0),
        },
        rows_table(
            ("hand", "A", *map(str, range(2, 11))),
            [(name, *map(str, row)) for name, row in zip(("no usable ace", "usable ace"), stick, strict=True)],
        ),
    )


def _first_stick(action: Any, ace: int, shown: int) -> int:
    return next(total for total in range(12, 22) if action[((total - 12) * 2 + ace) * 10 + shown - 1] == 0)


def _importance(runs: int, seed: int, show: Show) -> Figure:
    task = mdplay.Task(mdplay.make_task("blackjack").mdp, STATE)
    exact = float(mdplay.evaluate_policy(task.mdp, STICK_ON_20).value[STATE])
    first = int(task.mdp.first_choice[STATE])
    found: dict[str, list[float]] = {}
    for kind in KINDS:
        found[kind] = []
        for episodes in COUNTS:
            curve = mdplay.learn(
                task, method="off-policy-mc", policy=STICK_ON_20, behaviour="uniform", off_policy=kind,
                episodes=episodes, seed=seed, points=1,
                runs=runs if episodes < 10_000 else runs // 10, max_steps=100, progress=show,
            )[0]  # fmt: skip
            found[kind].append(float(((curve.tables[:, first] - exact) ** 2).mean()))
    return Figure(
        "Figure 5.3: the value of one state of blackjack, estimated off policy",
        "mdplay learn blackjack --method off-policy-mc --behaviour uniform --policy FILE --start 31",
        f"Mean square error over {runs:,} runs; a tenth of them with 10,000 episodes.",
        {"exact": exact, "mse": found, "runs": runs, "deviation": _deviation(task)},
        rows_table(
            ("episodes", *KINDS),
            [(f"{n:,}", *(f"{found[kind][i]:.5f}" for kind in KINDS)) for i, n in enumerate(COUNTS)],
        ),
        picture(
            {kind: Line(COUNTS, found[kind]) for kind in KINDS}, Axes("episodes", "MSE", 0.0, 3.0, log_x=True)
        ),
    )


def _deviation(task: Any) -> float:
    """Return the standard deviation of the return: rewards are -1, 0 and 1, so their squares are a second task."""
    chain = task.chain(STICK_ON_20).mdp
    mean = float(mdplay.evaluate_policy(chain, np.where(chain.terminal, -1, 0)).value[STATE])
    lose_or_win = np.zeros((203, 203))
    rows = np.repeat(chain.owners(), np.diff(chain.first_transition.astype(int)))
    np.add.at(lose_or_win, (rows, chain.target.astype(int)), chain.probability)
    ends = np.linalg.solve(np.eye(200) - lose_or_win[:200, :200], lose_or_win[:200, 200:])[STATE]
    return float(np.sqrt(ends[0] + ends[2] - mean**2))


def _infinite(episodes: int, seed: int, show: Show) -> Figure:
    mdp = mdplay.MDP.from_transitions(
        [0, 0, 0], [0, 0, 1], [0, 1, 2], [0.0, 1.0, 0.0], [0.9, 0.1, 1.0], num_states=3, discount=1.0,
        keep_rewards=True,
    )  # fmt: skip
    task = mdplay.Task(mdp, 0, "infinite variance")
    ends = {
        kind: mdplay.learn(
            task, method="off-policy-mc", policy=[0, -1, -1], behaviour="uniform", off_policy=kind,
            episodes=episodes, runs=10, seed=seed, points=1, progress=show,
        )[0].tables[:, 0].tolist()
        for kind in KINDS
    }  # fmt: skip
    return Figure(
        "Figure 5.4: ordinary importance sampling with infinite variance",
        "the task of Example 5.5 as an MDP, with --method off-policy-mc --off-policy ordinary",
        f"The estimates of ten runs after {episodes:,} episodes; the true value is 1.",
        {"episodes": episodes, **ends},
        rows_table(
            ("run", *KINDS), [(str(i + 1), *(f"{ends[kind][i]:.4f}" for kind in KINDS)) for i in range(10)]
        ),
    )
