"""System 2: the MDP planner, and Anti-Tic-Tac-Toe."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mdplay.games.tic_tac_toe.rules import anti_tic_tac_toe
from mdplay.reproducing.steps import Figure, Made, ResultTable, Step, both
from mdplay.running import Show

if TYPE_CHECKING:
    from mdplay.mdp.process import MDP
    from mdplay.states.graph import GameGraph

TITLE = "The MDP planner, and Anti-Tic-Tac-Toe"
METHODS = ("vi", "hpi", "lp", "auto")
REWARDS = {"win 1, else 0": (1.0, 0.0, 0.0), "win 1, draw 0, loss -1": (1.0, 0.0, -1.0)}


def steps(quick: bool, seed: int) -> list[Step]:
    """Return the steps: the planners, the round trip through the course's files, the alternation."""
    sizes = [(50, 5), (200, 5)] if quick else [(50, 5), (200, 10), (1000, 10)]
    return [
        Step("planners", lambda show: _planners(sizes, seed), {"sizes": sizes, "seed": seed}),
        Step("encoder-decoder", lambda show: _round_trip(show)),
        Step("alternation", lambda show: _alternation(show)),
    ]


def headline(figures: Sequence[Made]) -> str:
    """Return how well the planners agree, and where the alternation ends."""
    facts = {made.name: made.figure.facts for made in figures}
    planners = facts["planners"]
    agree = "and in every action" if planners["same_actions"] else "but not in every action"
    ends = [
        f"{end['steps']} steps with {name} ({_outcome(end['result'])})"
        for name, end in facts["alternation"]["end"].items()
    ]
    return (
        f"The planners agree within {planners['largest_difference']:.0e} {agree}; best responses by turns stand "
        f"still after {' and '.join(ends)}."
    )


def _outcome(result: float) -> str:
    return "a draw" if result == 0 else f"player {1 if result > 0 else 2} wins"


# ---------------------------------------------------------------- the planners
def random_mdp(num_states: int, num_actions: int, seed: int, *, branches: int = 5, discount: float = 0.95) -> MDP:
    """Return a random MDP: every choice leads to a few random states, with a random reward."""
    from mdplay.mdp.process import MDP

    rng = np.random.default_rng(seed)
    count = num_states * num_actions
    state = np.repeat(np.arange(num_states), num_actions * branches)
    action = np.tile(np.repeat(np.arange(num_actions), branches), num_states)
    target = rng.integers(num_states, size=count * branches)
    probability = rng.dirichlet(np.ones(branches), size=count).ravel()
    reward = np.repeat(rng.uniform(size=count), branches)
    return MDP.from_transitions(
        state, action, target, reward, probability, num_states=num_states, discount=discount
    )


def _planners(sizes: list[tuple[int, int]], seed: int) -> Figure:
    from mdplay.mdp.planning import plan

    rows, differences, same = [], [0.0], True
    histories: dict[str, Any] = {}
    for num_states, num_actions in sizes:
        mdp = random_mdp(num_states, num_actions, seed)
        plans = {method: plan(mdp, method) for method in METHODS}
        for method, found in plans.items():
            difference = float(np.abs(found.value - plans["hpi"].value).max())
            differences.append(difference)
            same = same and bool((found.action == plans["hpi"].action).all())
            rows.append(
                [
                    f"{num_states} x {num_actions}",
                    method,
                    str(found.iterations),
                    f"{found.gap:.1e}",
                    f"{difference:.1e}",
                    f"{found.seconds:.3f}",
                ]
            )
            histories[method] = found.history
    return Figure(
        title="Three planners, one answer",
        command="mdplay plan FILE --method vi|hpi|lp|auto --bounds",
        text="Random MDPs (five successors a choice, discount 0.95) by in-place value iteration, Howard's policy "
        "iteration and linear programming. The gap is the proven distance between lower and upper bound of the "
        "worst state; the difference is that to policy iteration." + ("" if same else " The actions differ!"),
        facts={"largest_difference": max(differences), "same_actions": same, "sizes": sizes},
        table=ResultTable(["states x actions", "method", "iterations", "gap", "difference", "seconds"], rows),
        picture=both(lambda figure: paint_history(figure, histories)),
    )


def paint_history(figure: Any, histories: dict[str, Any]) -> None:
    """Paint how the residual of each method falls; methods that tell none are left out."""
    axes = figure.add_subplot(
        xlabel="iteration",
        ylabel="residual",
        xscale="log",
        yscale="log",
        title="How the residual falls (the largest model)",
    )
    curves = {method: [(i, r) for i, r in history if r > 0] for method, history in histories.items()}
    told = {method: points for method, points in curves.items() if points}
    for number, (method, points) in enumerate(told.items()):
        axes.plot(*zip(*points, strict=True), label=method, **_style(number, len(told)))
    axes.grid(True)
    axes.legend()


def _style(number: int, count: int) -> dict[str, Any]:
    """Return how a curve is drawn: each one narrower than those below it, so that equal curves both show."""
    wide = count - number
    return {"marker": "os^Dv"[number % 5], "markersize": 2 + 2 * wide, "linewidth": 1.5 * wide}


# ---------------------------------------------------------------- the course's files
def _round_trip(show: Show) -> Figure:
    from mdplay.mdp.encoding import decode, encode, read_policy_file, read_states
    from mdplay.mdp.planning import plan
    from mdplay.mdp.policies import write_policy
    from mdplay.mdp.process import MDP
    from mdplay.solving.responses import best_response
    from mdplay.states.graph import explore

    game = anti_tic_tac_toe()
    graph = explore(game, show=show)
    opponent = graph.uniform()
    score = _score(REWARDS["win 1, else 0"])
    with tempfile.TemporaryDirectory() as folder:
        states, policy, mdp_file, answer = (Path(folder) / name for name in ("states", "policy", "mdp", "answer"))
        write_policy(graph, 1, opponent, policy)
        states.write_text(
            "".join(f"{game.text(graph.state(n))}\n" for n in graph.preorder() if graph.kind[n] == 0)
        )
        own = read_states(states, game)
        mdp_file.write_text("".join(encode(game, own, read_policy_file(policy, game, 9))))
        found = plan(MDP.from_cs747(mdp_file))
        answer.write_text(
            "".join(f"{v:.9f} {max(a, 0)}\n" for v, a in zip(found.value, found.action, strict=True))
        )
        decoded = list(decode(game, own, answer, 0, 9))
        lines = sum(1 for line in mdp_file.open() if line.startswith("transition"))
    direct = best_response(graph, 0, opponent, score)
    first = own.texts.index("0" * 9)
    return Figure(
        title="Encoder, planner, decoder",
        command="mdplay encode --policy P2 --states S1 > M; mdplay plan M > V; "
        "mdplay decode --value-policy V --states S1 --player-id 1",
        text="Player 1's best response to a uniformly random player 2, by the files of the course and directly "
        "from the rules: the value of the empty board is 173/192.",
        facts={"value_by_files": float(found.value[first]), "value_direct": direct.value, "transitions": lines},
        table=ResultTable(
            ["states", "transitions", "value by files", "value from the rules", "173/192", "policy lines"],
            [
                [
                    str(len(own.texts)),
                    str(lines),
                    f"{found.value[first]:.9f}",
                    f"{direct.value:.9f}",
                    f"{173 / 192:.9f}",
                    str(len(decoded) - 1),
                ]
            ],
        ),
    )


def _score(values: tuple[float, float, float]) -> Any:
    from mdplay.mdp.games import Score

    return Score(*values)


# ---------------------------------------------------------------- best responses by turns
def _alternation(show: Show) -> Figure:
    from mdplay.solving.responses import first_response, responses
    from mdplay.states.graph import explore

    graph = explore(anti_tic_tac_toe(), show=show)
    rows: list[list[str]] = []
    end: dict[str, Any] = {}
    drawing = None
    for name, values in REWARDS.items():
        series = list(responses(graph, first_response(graph, "uniform", 1), _score(values)))
        for number, step in enumerate(series[1:], start=1):
            changed = "first response" if step.changed is None else f"{step.changed} states changed"
            rows.append([name, str(number), f"player {step.player + 1}", f"{step.value:.6f}", changed])
        moves, result, drawing = _final_game(graph, series)
        end[name] = {"steps": len(series) - 1, "moves": moves, "result": result}
    return Figure(
        title="Best responses by turns",
        command="mdplay respond anti-tic-tac-toe --player 2 [--win 1 --draw 0 --loss -1]",
        text=f"Starting from a uniformly random player 2, each player in turn becomes the best response to the "
        f"other's last policy, in every state. {_told(end)} The last of these games is drawn below.",
        facts={"end": end},
        table=ResultTable(["rewards", "step", "who", "value", "what changed"], rows),
        drawing=drawing,
    )


def _told(end: dict[str, Any]) -> str:
    """Return the games that the final policies play, in words."""
    return " ".join(
        f"With {name} the final policies play {' '.join(e['moves'])} ({e['result']:+g} for player 1)."
        for name, e in end.items()
    )


def _final_game(graph: GameGraph, series: Sequence[Any]) -> tuple[list[str], float, str]:
    from mdplay.solving.responses import played

    last = {step.player: step.weights for step in series}
    edges = played(graph, (last[0], last[1]))
    states = [graph.state(int(graph.owner[edge])) for edge in edges]
    moves = [graph.game.move_text(s, int(graph.action[e])) for s, e in zip(states, edges, strict=True)]
    end = graph.state(int(graph.target[edges[-1]]))
    return moves, float(graph.game.result(end)), graph.game.svg(end)
