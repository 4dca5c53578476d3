"""Chapters 9 to 11: values that are linear in features, the average reward, and off-policy divergence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import mdplay
from mdplay import Curve, Task
from mdplay.lab.reproduction.steps import Claim, Facts, Figure, Step, differs, equal
from mdplay.lab.reproduction.textbook.drawing import (
    STANDARD_ERRORS,
    Axes,
    Floats,
    Line,
    Show,
    interval,
    last,
    length_line,
    picture,
    reward_line,
    rows_table,
)

TITLE = "Function approximation"
STATES = 1000  # of the walk
AVERAGE = 2.31  # the average reward that Figure 10.5 reports
TILINGS = 50
CAR = "mountain-car"


def steps(quick: bool, seed: int) -> list[Step]:
    """Return the figures of the chapters."""
    episodes, runs = (2000, 2) if quick else (100_000, 2)
    tilings = (500, 2) if quick else (5000, 30)
    car_runs = 5 if quick else 100
    queue = (200_000, 4) if quick else (2_000_000, 40)
    return [
        Step("aggregation", lambda show: _aggregation(episodes, runs, seed, show), {"episodes": episodes}),
        Step("tilings", lambda show: _tilings(*tilings, seed, show), {"size": tilings, "seed": seed}),
        Step("mountain-car", lambda show: _mountain_car(car_runs, seed, show), {"runs": car_runs, "seed": seed}),
        Step(
            "mountain-car-n", lambda show: _several_steps(car_runs, seed, show), {"runs": car_runs, "seed": seed}
        ),
        Step(
            "mountain-car-traces",
            lambda show: _traces(car_runs // 2, seed, show),
            {"runs": car_runs, "seed": seed},
        ),
        Step("baird", lambda show: _baird(car_runs, seed, show), {"runs": car_runs, "seed": seed}),
        Step("access-control", lambda show: _access(*queue, seed, show), {"size": queue, "seed": seed}),
    ]


def headline(facts: Facts) -> str:
    """Return the chapters in a sentence."""
    access = facts["access-control"]
    return (
        f"Aggregation into ten groups cannot do better than an error of {facts['aggregation']['best']:.4f}; the "
        f"best policy of the queue earns {access['optimum']:.4f} a step."
    )


def claims(facts: Facts) -> list[Claim]:
    """Return the book's statements beside what came out."""
    return [
        *_walk_claims(facts),
        *_car_claims(facts),
        _access_claim(facts["access-control"]),
        *_baird_claims(facts["baird"]),
    ]


def _walk_claims(facts: Facts) -> list[Claim]:
    walk, tilings = facts["aggregation"], facts["tilings"]
    return [
        equal(
            "Figure 9.1: the state distribution is highest at the centre, about 1.37 %, and 0.0147 % at the ends.",
            f"{100 * walk['share'][1]:.4f} % at state 500 and {100 * walk['share'][0]:.6f} % at state 1, exactly",
            "Expected visits from the linear equations.",
            abs(walk["share"][1] - 0.0137) < 1e-4 and abs(walk["share"][0] - 0.000147) < 1e-6,
        ),
        equal(
            "Figure 9.1: gradient Monte Carlo comes near the global optimum of aggregation.",
            f"RMS error {walk['mc']:.4f}; the optimum is {walk['best']:.4f}",
            f"{walk['episodes']:,} episodes, alpha 2e-5; weights are the state distribution.",
            walk["mc"] < 1.05 * walk["best"] if walk["episodes"] >= 100_000 else walk["mc"] < 0.5,
        ),
        equal(
            "Figure 9.2: semi-gradient TD converges to a worse solution.",
            f"RMS error {walk['td']:.4f}; the TD fixed point has {walk['fixed']:.4f}",
            "The fixed point from its linear equations.",
            abs(walk["td"] - walk["fixed"]) < 0.1 * walk["fixed"] and walk["fixed"] > 1.5 * walk["best"],
        ),
        equal(
            f"Figure 9.10: {TILINGS} tilings have a lower error than one.",
            f"{tilings['many']:.4f} against {tilings['one']:.4f} after {tilings['episodes']:,} episodes",
            f"{tilings['runs']} runs, alpha 0.0001 over the number of tilings.",
            tilings["many"] < tilings["one"],
        ),
    ]


def _car_claims(facts: Facts) -> list[Claim]:
    car, best, traces = (
        facts["mountain-car"],
        facts["mountain-car-n"]["best"],
        facts["mountain-car-traces"]["best"],
    )
    return [
        equal(
            "Figure 10.2: alpha 0.5/8 learns faster than 0.1/8.",
            f"mean steps of the first 100 episodes: {car['early'][2]:.0f} against {car['early'][0]:.0f}",
            f"{car['runs']} runs of 500 episodes; no exact value: the states are real numbers.",
            car["early"][2] < car["early"][0],
        ),
        equal(
            "Figure 10.4: an intermediate n is best; n = 4 takes about 220 steps in the first 50 episodes.",
            ", ".join(f"n = {n}: {steps:.0f}" for n, steps in best.items()),
            f"Best of the step sizes; {facts['mountain-car-n']['runs']} runs (the book: 100).",
            min(best, key=best.__getitem__) in ("2", "4", "8") and abs(best["4"] - 225) < 15,
        ),
        equal(
            "Figure 12.10: replacing traces are far better than accumulating ones.",
            ", ".join(f"{kind}: {steps:.0f}" for kind, steps in traces.items()),
            "Steps of an episode in the first 50, lambda 0.92, alpha 0.5/8; episodes are truncated after 5,000.",
            2.0 * traces["replacing"] < traces["accumulating"],
        ),
    ]


def _access_claim(access: dict[str, Any]) -> Claim:
    earned, half = access["earned"]
    low = (access["mean"] - AVERAGE) / access["deviation"]
    return differs(
        f"Figure 10.5: the learned average reward is about {AVERAGE}, after two million steps.",
        f"{interval(earned, half, 4)} a step earned; the exact optimum is {access['optimum']:.4f}, with epsilon "
        f"0.1 {access['exploring']:.4f}",
        f"Relative value iteration and stationary distributions; {access['runs']} runs of {access['steps']:,} "
        f"steps.",
        "the estimate of the average moves with step size 0.01: at the end of a run it is "
        f"{access['mean']:.3f} with a standard deviation of {access['deviation']:.3f}, from "
        f"{access['least']:.2f} to "
        f"{access['most']:.2f}. {AVERAGE} is one such reading, {low:.1f} deviations low. Accepting every customer "
        f"earns {access['accept_all']:.4f}; if an accepted customer cannot leave at once, the optimum is "
        f"{access['late']:.4f}",
    )


def _baird_claims(baird: dict[str, Any]) -> list[Claim]:
    semi, corrected = baird["off-policy-td"], baird["tdc"]
    return [
        equal(
            "Figure 11.2: semi-gradient off-policy TD diverges on Baird's counterexample, alpha 0.01.",
            f"RMS error of the values after 1,000 steps {semi[-1]:.0f}, ten times that of step 100 "
            f"({semi[0]:.1f}); with more steps every run is reported to have diverged: "
            f"{baird['diverged']:.0%}",
            f"{baird['runs']} runs; all exact values are 0.",
            semi[-1] > 10.0 * semi[0] and baird["diverged"] == 1.0,
        ),
        equal(
            "Figure 11.5: TDC (alpha 0.005, beta 0.05) stays bounded; its values do not reach 0 within 1,000 "
            "steps.",
            f"RMS error {corrected[-1]:.2f}",
            "The figure levels off near 2.",
            abs(corrected[-1] - 2.0) < 0.3,
        ),
    ]


# ---------------------------------------------------------------- the walk of 1000 states
def _walk_matrix(task: Task) -> tuple[Floats, Floats]:
    """Return the transition probabilities and the expected rewards of the states that are not terminal."""
    model = task.mdp
    counts = np.diff(model.first_transition.astype(int))
    matrix = np.zeros((STATES + 2, STATES + 2))
    np.add.at(matrix, (np.repeat(model.owners(), counts), model.target.astype(int)), model.probability)
    return matrix[1:-1, 1:-1], model.reward


def _aggregation(episodes: int, runs: int, seed: int, show: Show) -> Figure:
    task = mdplay.make_task("long-walk")
    matrix, rewards = _walk_matrix(task)
    start = np.zeros(STATES)
    start[STATES // 2 - 1] = 1.0
    value = np.linalg.solve(np.eye(STATES) - matrix, rewards)
    visits = np.linalg.solve(np.eye(STATES) - matrix.T, start)
    share = visits / visits.sum()
    groups = np.eye(10)[np.arange(STATES) // 100]
    weighted = groups.T * share
    best = groups @ np.linalg.solve(weighted @ groups, weighted @ value)
    fixed = groups @ np.linalg.solve(weighted @ (groups - matrix @ groups), weighted @ rewards)

    def error(table: Floats) -> float:
        return float(np.sqrt((((table - value) ** 2) @ share).mean()))

    learned = {
        name: mdplay.learn(
            task, method=method, policy="uniform", alpha=alpha, episodes=episodes, runs=runs, seed=seed, points=1,
            progress=show,
        )[0].tables
        for name, method, alpha in (("mc", "td(n=2000)", 2e-5), ("td", "td", 1e-3))
    }  # fmt: skip
    return Figure(
        "Figures 9.1 and 9.2: state aggregation on the walk of 1000 states",
        f"mdplay learn long-walk --method 'td(n=2000)' --policy uniform --alpha 0.00002 --episodes {episodes}",
        "Monte Carlo is TD with more steps than an episode has.",
        {
            "share": [float(share[0]), float(share[STATES // 2 - 1])],
            "best": error(best[None]),
            "fixed": error(fixed[None]),
            "episodes": episodes,
            **{name: error(tables) for name, tables in learned.items()},
        },
        rows_table(
            ("solution", "RMS error"),
            [
                ("best weights", f"{error(best[None]):.4f}"),
                ("gradient Monte Carlo, learned", f"{error(learned['mc']):.4f}"),
                ("TD fixed point", f"{error(fixed[None]):.4f}"),
                ("semi-gradient TD, learned", f"{error(learned['td']):.4f}"),
            ],
        ),
    )


def _tilings(episodes: int, runs: int, seed: int, show: Show) -> Figure:
    walk = mdplay.make_task("long-walk")
    matrix, rewards = _walk_matrix(walk)
    value = np.linalg.solve(np.eye(STATES) - matrix, rewards)
    counts = np.linalg.solve(np.eye(STATES) - matrix.T, np.eye(STATES)[STATES // 2 - 1])
    states = np.clip(np.arange(STATES + 2) - 1, 0, STATES - 1)
    features = np.stack([7 * i + (states + 4 * i) // 200 for i in range(TILINGS)], axis=1).astype(np.int32)
    found = {}
    for name, tiles in (("many", features), ("one", features[:, :1])):
        task = replace(walk, features=np.ascontiguousarray(tiles))
        curve = mdplay.learn(
            task, method="td(n=2000)", policy="uniform", alpha=1e-4 / tiles.shape[1], episodes=episodes, runs=runs,
            seed=seed, points=1, progress=show,
        )[0]  # fmt: skip
        found[name] = float(np.sqrt(((curve.tables - value) ** 2) @ (counts / counts.sum())).mean())
    return Figure(
        "Figure 9.10: several tilings",
        "mdplay reproduce textbook",
        "Gradient Monte Carlo on the walk of 1000 states with tiles of 200 states, displaced by 4.",
        {**found, "episodes": episodes, "runs": runs},
        rows_table(
            ("tilings", "RMS error"), [(str(TILINGS), f"{found['many']:.4f}"), ("1", f"{found['one']:.4f}")]
        ),
    )


# ---------------------------------------------------------------- mountain car
def _learn_car(
    method: str, alphas: list[float], runs: int, episodes: int, seed: int, show: Show, **how: Any
) -> Any:
    return mdplay.learn(
        mdplay.make_task(CAR), method=method, alpha=[alpha / 8 for alpha in alphas], epsilon=0.0, runs=runs,
        episodes=episodes, seed=seed, progress=show, **how,
    )  # fmt: skip


def _mountain_car(runs: int, seed: int, show: Show) -> Figure:
    alphas = [0.1, 0.2, 0.5]
    curves = _learn_car("sarsa", alphas, runs, 500, seed, show)
    return Figure(
        "Figure 10.2: mountain car",
        f"mdplay learn mountain-car --method sarsa --alpha 0.0125,0.025,0.0625 --epsilon 0 --runs {runs}",
        "Steps of an episode; 8 tilings.",
        {"early": [float(c.length[:100].mean()) for c in curves], "runs": runs},
        None,
        picture(
            {f"alpha {alpha}/8": length_line(c) for alpha, c in zip(alphas, curves, strict=True)},
            Axes("episode", "steps of an episode", 100.0, 1000.0),
        ),
    )


def _several_steps(runs: int, seed: int, show: Show) -> Figure:
    given = {1: [0.6, 0.8, 1.0, 1.2], 2: [0.6, 0.8, 1.0], 4: [0.3, 0.4, 0.5, 0.6], 8: [0.2, 0.3, 0.4]}
    best, rows = {}, []
    for n, alphas in given.items():
        curves = _learn_car(f"sarsa(n={n})", alphas, runs, 50, seed, show, points=1)
        found = [float(c.length[-1]) for c in curves]
        best[str(n)] = min(found)
        rows.append((str(n), *(f"{alpha}: {steps:.1f}" for alpha, steps in zip(alphas, found, strict=True))))
    rows = [(*row, *[""] * (5 - len(row))) for row in rows]
    return Figure(
        "Figure 10.4: n-step SARSA on the mountain car",
        f"mdplay learn mountain-car --method 'sarsa(n=4)' --alpha 0.05 --epsilon 0 --episodes 50 --runs {runs}",
        "Mean steps of the first 50 episodes, by step size times 8.",
        {"best": best, "runs": runs},
        rows_table(("n", "alpha x 8: steps", "", "", ""), rows),
    )


def _traces(runs: int, seed: int, show: Show) -> Figure:
    kinds = ("accumulating", "replacing", "true-online")
    curves = {
        kind: _learn_car(
            f"sarsa(lambda=0.92,traces={kind})", [0.5], runs, 50, seed, show, points=1, max_steps=5000
        )[0]
        for kind in kinds
    }
    best = {kind: float(c.length[-1]) for kind, c in curves.items()}
    return Figure(
        "Figure 12.10: SARSA(lambda) on the mountain car",
        f"mdplay learn mountain-car --method 'sarsa(lambda=0.92,traces=replacing)' --alpha 0.0625 --epsilon 0 "
        f"--episodes 50 --runs {runs} --max-steps 5000",
        f"Mean steps of the first 50 episodes; {runs} runs.",
        {"best": best},
        rows_table(("traces", "steps"), [(kind, f"{steps:.1f}") for kind, steps in best.items()]),
    )


# ---------------------------------------------------------------- Baird's counterexample
def _baird(runs: int, seed: int, show: Show) -> Figure:
    task, policy, behaviour = mdplay.make_task("baird"), [1] * 7, np.tile([6 / 7, 1 / 7], 7)

    def learned(method: str, episodes: int, length: int) -> Curve:
        # The behaviour policy makes all states equally likely, so a new start changes nothing.
        found: Curve = mdplay.learn(
            task, method=method, policy=policy, behaviour=behaviour, episodes=episodes, max_steps=length,
            runs=runs, seed=seed, points=10, progress=show,
        )[0]  # fmt: skip
        return found

    curves = {"off-policy-td": learned("off-policy-td(alpha=0.01)", 100, 10),
              "tdc": learned("tdc(alpha=0.005,beta=0.05)", 100, 10)}  # fmt: skip
    lines = {
        name: Line((10 * c.at).tolist(), c.error.tolist(), (STANDARD_ERRORS * c.error_error).tolist())
        for name, c in curves.items()
    }
    return Figure(
        "Figures 11.2 and 11.5: Baird's counterexample",
        "mdplay reproduce textbook",
        "RMS error of the seven values, of which all are 0.",
        {
            **{name: c.error.tolist() for name, c in curves.items()},
            "diverged": learned("off-policy-td(alpha=0.01)", 2000, 100).diverged,
            "runs": runs,
        },
        None,
        picture(lines, Axes("step", "RMS error", 0.0, 100.0)),
    )


# ---------------------------------------------------------------- access control
def _access(length: int, runs: int, seed: int, show: Show) -> Figure:
    task = mdplay.make_task("access-control")
    curve = mdplay.learn(
        task, method="differential-sarsa(beta=0.01)", alpha=0.01, steps=length, runs=runs, seed=seed, points=100,
        progress=show,
    )[0]  # fmt: skip
    optimum, q = best_average(task)
    accept_all = np.where(task.mdp.action == 1, 1.0, 0.0)
    accept_all[np.bincount(task.mdp.owners())[task.mdp.owners()] == 1] = 1.0
    total, half = last(curve)
    return Figure(
        "Figure 10.5: the access-control queue",
        f"mdplay learn access-control --method differential-sarsa --alpha 0.01 --steps {length} --runs {runs}",
        "Reward so far.",
        {
            "optimum": optimum,
            "exploring": average_reward(task, epsilon_greedy(task, q, 0.1)),
            "accept_all": average_reward(task, accept_all),
            "late": best_average(mdplay.make_task("access-control:late=true"))[0],
            "earned": [total / length, half / length],
            "mean": float(curve.averages.mean()),
            "deviation": float(curve.averages.std(ddof=1)),
            "least": float(curve.averages.min()),
            "most": float(curve.averages.max()),
            "steps": length,
            "runs": runs,
        },
        None,
        picture({"differential SARSA": reward_line(curve)}, Axes("step", "reward so far", 0.0)),
    )


def _pair_matrix(task: Task) -> Floats:
    """Return the probabilities of the targets of every pair."""
    model = task.mdp
    matrix = np.zeros((model.num_choices, model.num_states))
    pair = np.repeat(np.arange(model.num_choices), np.diff(model.first_transition.astype(int)))
    np.add.at(matrix, (pair, model.target.astype(int)), model.probability)
    return matrix


def best_average(task: Task) -> tuple[float, Floats]:
    """Return the largest average reward of a task that never ends, and its relative action values.

    Relative value iteration; every policy of the task has one recurrent class.
    """
    matrix, first = _pair_matrix(task), task.mdp.first_choice[:-1].astype(int)
    value, spread, gain = np.zeros(task.mdp.num_states), 1.0, 0.0
    while spread > 1e-10:
        q = task.mdp.reward + matrix @ value
        new = np.maximum.reduceat(q, first)
        change = new - value
        spread, gain = float(np.ptp(change)), float(change.mean())
        value = new - new[0]
    return gain, np.asarray(task.mdp.reward + matrix @ value - gain)


def epsilon_greedy(task: Task, q: Floats, epsilon: float) -> Floats:
    """Return the probabilities of the pairs under the epsilon-greedy policy of action values."""
    owner = task.mdp.owners().astype(int)
    best = q == np.maximum.reduceat(q, task.mdp.first_choice[:-1].astype(int))[owner]
    size, ties = np.bincount(owner)[owner], np.bincount(owner, best)[owner]
    return np.asarray(epsilon / size + (1.0 - epsilon) * best / ties)


def average_reward(task: Task, share: Floats) -> float:
    """Return the average reward of a policy, from its stationary distribution."""
    states = task.mdp.num_states
    chain, rewards = np.zeros((states, states)), np.zeros(states)
    np.add.at(chain, task.mdp.owners(), share[:, None] * _pair_matrix(task))
    np.add.at(rewards, task.mdp.owners(), share * task.mdp.reward)
    equations = np.vstack([np.eye(states) - chain.T, np.ones(states)])
    stationary = np.linalg.lstsq(equations, np.append(np.zeros(states), 1.0), rcond=None)[0]
    return float(stationary @ rewards)
