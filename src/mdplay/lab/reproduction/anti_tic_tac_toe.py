"""System 2, second part: Anti-Tic-Tac-Toe; the planner is beside it."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mdplay.errors import pluralize
from mdplay.games.tic_tac_toe.rules import TicTacToe, anti_tic_tac_toe
from mdplay.lab.reproduction import planner
from mdplay.lab.reproduction.steps import Claim, Drawing, Facts, Figure, ResultTable, Step, differs, equal
from mdplay.runtime.threads import Show

if TYPE_CHECKING:
    from mdplay.planning.formats.cs747 import States
    from mdplay.solving.responses import Response
    from mdplay.states.graph import GameGraph

TITLE = "The MDP planner, and Anti-Tic-Tac-Toe"
REWARDS = {"win 1, else 0": (1.0, 0.0, 0.0), "win 1, draw 0, loss -1": (1.0, 0.0, -1.0)}
REPORT = REWARDS["win 1, else 0"]
POSITION, EARLIER, WINNING = "121220010", "121200010", "121202010"


def steps(quick: bool, seed: int) -> list[Step]:
    """Return the steps: the planner's, the course's files, the worked position, the alternation, its starts."""
    starts = 2 if quick else 10
    return [
        *planner.steps(quick, seed),
        Step("encoder-decoder", lambda show: _round_trip(show)),
        Step("worked-position", lambda show: _worked(show)),
        Step("alternation", lambda show: _alternation(show)),
        Step("any-start", lambda show: _any_start(starts, seed, show), {"starts": starts, "seed": seed}),
    ]


def headline(facts: Facts) -> str:
    """Return how well the planners agree, and where the alternation ends."""
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


def claims(facts: Facts) -> list[Claim]:
    """Return the report's claims beside what came out."""
    files, rules = facts["encoder-decoder"], facts["any-start"]
    ends = list(facts["alternation"]["end"].values())
    return [
        *planner.claims(facts),
        equal(
            "The encoder adds two states, draw-or-loss and win; reward 1 on entering win; no discount; illegal "
            "actions have no lines.",
            f"{files['states']} states and 2 more, ends {files['ends']}, rewards {files['rewards']}, discount "
            f"{files['discount']}, {files['illegal']} lines of illegal actions; value "
            f"{files['value_by_files']:.9f}.",
            "The encoded file read line by line; its value against the best response from the rules, and 173/192.",
            files["well_formed"] and abs(files["value_by_files"] - 173 / 192) < 1e-9,
        ),
        *_position_claims(facts["worked-position"]),
        equal(
            "A mover can never win by its own move; a draw needs a full board; player 1 makes the ninth move.",
            f"{rules['own_wins']} of {rules['ends']} last moves win for their mover; {rules['early_draws']} of "
            f"{rules['draws']} draws before the ninth mark; the ninth is player {rules['ninth']}'s.",
            f"All {rules['states']} positions and {rules['edges']} moves enumerated.",
            (rules["own_wins"], rules["early_draws"], rules["ninth"]) == (0, 0, 1),
        ),
        equal(
            "From any starting policy of either player the alternation converges.",
            f"{rules['converged']} of {rules['starts']} starts converged, after {rules['fewest']} to "
            f"{rules['most']} "
            "steps.",
            "Uniform, smallest cells and random policies of either player.",
            rules["converged"] == rules["starts"],
        ),
        equal(
            "At the fixed point player 1 never wins.",
            f"Player 1's value is {rules['highest']:g} at every one of the {rules['converged']} fixed points.",
            "The value of player 1's last best response, at each start.",
            rules["highest"] == 0,
        ),
        differs(
            "The report's run stood still after about ten policies of each player.",
            f"{rules['fewest_each']} to {rules['most_each']} policies of each player.",
            "Counted until neither changes.",
            "the report does not name its start; each step here answers in every state at once",
        ),
        equal(
            "In the final game player 1 takes the smallest cells, 0 1 2 3 ..., until it loses.",
            f"{' '.join(ends[0]['moves'])}: {_outcome(ends[0]['result'])}.",
            "The game that the two final policies play, drawn below.",
            ends[0]["moves"] == sorted(ends[0]["moves"]) and ends[0]["result"] < 0,
        ),
        equal(
            "With a draw worth more than a loss the fixed point is a draw.",
            f"{' '.join(ends[1]['moves'])}: {_outcome(ends[1]['result'])}.",
            "The same with win 1, draw 0, loss -1.",
            ends[1]["result"] == 0,
        ),
    ]


def _position_claims(found: dict[str, Any]) -> list[Claim]:
    """Return what is said of the worked position; cells count from 1 here, as in the report."""
    first, later = found["first"], found["later"]
    return [
        equal(
            "121 220 010, player 1 to move: after a mark at 6 or 9 player 2 answers 7, and player 1 must "
            "complete a line.",
            f"After 6 player 2 answers {first['after 6']}, after 9 it answers {first['after 9']}; then "
            f"{found['forced']} of 2 last cells complete a line.",
            "Player 2's first policy, from player 1 taking the smallest cell everywhere.",
            (first["after 6"], first["after 9"], found["forced"]) == (7, 7, 2),
        ),
        equal(
            "A mark at 7 makes player 2, for whom loss and draw are equal, complete a line at 6, the smaller "
            "number.",
            f"After 7 player 2 answers {first['after 7']}: {_outcome(found['after_7'])}.",
            "The same policy; drawn below.",
            first["after 7"] == 6 and found["after_7"] > 0,
        ),
        equal(
            "In the next round player 2 avoids it: at 121 200 010 it plays 6.",
            f"Player 2 plays {first['earlier']} in its first policy and {later['earlier']} in its next.",
            "The first two policies of player 2.",
            (first["earlier"], later["earlier"]) == (5, 6),
        ),
        equal(
            "That gives 121 202 010, which player 2 wins against every reply.",
            f"{found['replies_won']} of {found['replies']} replies lose for player 1.",
            "Each reply, then the best play of both, by exact solution.",
            found["replies_won"] == found["replies"],
        ),
    ]


def _outcome(result: float) -> str:
    return "a draw" if result == 0 else f"player {1 if result > 0 else 2} wins"


# ---------------------------------------------------------------- the course's files
def _round_trip(show: Show) -> Figure:
    from mdplay import MDP, plan
    from mdplay.planning.formats.cs747 import decode, encode, read_policy_file, read_states, write_policy
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
        text = "".join(encode(game, own, read_policy_file(policy, game)))
        mdp_file.write_text(text)
        found = plan(MDP.from_cs747(mdp_file))
        answer.write_text(
            "".join(f"{v:.9f} {max(a, 0)}\n" for v, a in zip(found.value, found.action, strict=True))
        )
        decoded = list(decode(game, own, answer))
        lines = text.count("transition")
    direct = best_response(graph, 0, opponent, score)
    first = own.texts.index("0" * 9)
    return Figure(
        title="Encoder, planner, decoder",
        command="mdplay plan anti-tic-tac-toe --states S1 --opponent P2 --format policy",
        text="Player 1's best response to a uniformly random player 2, by the files of the course and directly "
        "from the rules: the value of the empty board is 173/192.",
        facts={
            "value_by_files": float(found.value[first]),
            "value_direct": direct.value,
            **_encoded(text, own, game),
        },
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


def _encoded(text: str, own: States, game: TicTacToe) -> dict[str, Any]:
    """Return what an encoded file says, line by line."""
    words = [line.split() for line in text.splitlines()]
    header = {line[0]: line[1:] for line in words if line[0] != "transition"}
    lines = [[*map(int, line[1:4]), float(line[4])] for line in words if line[0] == "transition"]
    lost, win = len(own.texts), len(own.texts) + 1
    illegal = sum(not game.legal(own.states[int(s)]) >> int(a) & 1 for s, a, _, _ in lines)
    paid = all(reward == (target == win) for _, _, target, reward in lines)
    ends = [int(word) for word in header["end"]]
    told = (ends, header["numStates"], header["discount"], header["mdptype"])
    right = ([lost, win], [str(lost + 2)], ["1"], ["episodic"])
    return {
        "states": lost,
        "ends": ends,
        "rewards": sorted({reward for *_, reward in lines}),
        "discount": header["discount"][0],
        "illegal": illegal,
        "transitions": len(lines),
        "well_formed": told == right and paid and not illegal,
    }


def _score(values: tuple[float, float, float]) -> Any:
    from mdplay.planning.mdp import Score

    return Score(*values)


# ---------------------------------------------------------------- best responses by turns
def _alternation(show: Show) -> Figure:
    from mdplay.solving.responses import first_response, responses
    from mdplay.states.graph import explore

    graph = explore(anti_tic_tac_toe(), show=show)
    rows: list[list[str]] = []
    end: dict[str, Any] = {}
    drawings = []
    for name, values in REWARDS.items():
        series = list(responses(graph, first_response(graph, "uniform", 1), _score(values)))
        for number, step in enumerate(series[1:], start=1):
            changed = "first response" if step.changed is None else f"{pluralize(step.changed, 'state')} changed"
            rows.append([name, str(number), f"player {step.player + 1}", f"{step.value:.6f}", changed])
        moves, result, svg = _final_game(graph, series)
        drawings.append(Drawing(svg, f"{name}: {_outcome(result)}"))
        end[name] = {"steps": len(series) - 1, "moves": moves, "result": result}
    return Figure(
        title="Best responses by turns",
        command="mdplay respond anti-tic-tac-toe --player 2 [--win 1 --draw 0 --loss -1]",
        text=f"Starting from a uniformly random player 2, each player in turn becomes the best response to the "
        f"other's last policy, in every state. {_told(end)}",
        facts={"end": end},
        table=ResultTable(["rewards", "step", "who", "value", "what changed"], rows),
        drawings=drawings,
    )


def _told(end: dict[str, Any]) -> str:
    """Return the moves of the games that the final policies play, as text."""
    return " ".join(
        f"With {name} the final policies play {' '.join(e['moves'])}: {_outcome(e['result'])}."
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


# ---------------------------------------------------------------- the worked position
def _worked(show: Show) -> Figure:
    from mdplay import solve
    from mdplay.solving.responses import Response, responses
    from mdplay.states.graph import explore

    game = anti_tic_tac_toe()
    graph = explore(game, show=show)
    start = Response(0, _smallest(graph), None, None)
    policies = [step.weights for step in responses(graph, start, _score(REPORT)) if step.player == 1]
    asked = {"after 6": "121221010", "after 9": "121220011", "after 7": "121220110", "earlier": EARLIER}
    answers = [{name: _cell(graph, policy, text) for name, text in asked.items()} for policy in policies]
    solution = solve(game)
    replies = [game.step(game.parse(WINNING), cell) for cell in (4, 6, 8)]
    ends = [game.parse("121221210"), game.parse("121220211")]  # after 6 and 7, after 9 and 7
    facts = {
        "first": answers[0],
        "later": answers[1],
        "forced": sum(game.result(game.step(end, _only(game, end))) < 0 for end in ends),
        "after_7": game.result(game.step(game.parse(asked["after 7"]), answers[0]["after 7"] - 1)),
        "replies": len(replies),
        "replies_won": sum(solution.value(state, player=1) > 0 for state in replies),
    }
    boards = {
        POSITION: "X (player 1) to move; cells from 0, the report counts from 1",
        "121221210": f"X marks 6, O answers {answers[0]['after 6']}: X must take 9 and complete 3, 6, 9",
        "121222110": f"X marks 7, O answers {answers[0]['after 7']} and completes a line: the smaller of two "
        "equals",
        EARLIER: f"one move earlier, O to move: {answers[0]['earlier']} in its first policy, "
        f"{answers[1]['earlier']} then",
        WINNING: "after 6: O wins against every reply",
    }
    return Figure(
        title="The worked position",
        command="mdplay respond anti-tic-tac-toe --player 1",
        text="What player 2 answers in the report's position when player 1 took the smallest cell everywhere, and "
        "what it changes in its next policy.",
        facts=facts,
        drawings=[Drawing(game.svg(_state(game, text)), caption) for text, caption in boards.items()],
    )


def _state(game: TicTacToe, text: str) -> Any:
    """Return the state of nine digits, also where a line is complete."""
    first, second = (sum(1 << i for i, cell in enumerate(text) if cell == mark) for mark in "12")
    to_move = text.count("1") - text.count("2")
    return type(game.initial())(*((second, first) if to_move else (first, second)), to_move)


def _only(game: TicTacToe, state: Any) -> int:
    """Return the only cell that is left."""
    return game.legal(state).bit_length() - 1


def _smallest(graph: GameGraph) -> Any:
    """Return the policy of the smallest action everywhere, as weights of edges."""
    weights = np.zeros(len(graph.target))
    has_edges = np.diff(graph.first_edge) > 0
    weights[graph.first_edge[:-1][has_edges]] = 1.0
    return weights


def _cell(graph: GameGraph, weights: Any, text: str) -> int:
    """Return the cell that a policy takes, counted from 1."""
    state = graph.index(graph.game.parse(text))
    begin, end = int(graph.first_edge[state]), int(graph.first_edge[state + 1])
    return 1 + int(graph.action[begin + int(np.argmax(weights[begin:end]))])


# ---------------------------------------------------------------- any start
def _any_start(count: int, seed: int, show: Show) -> Figure:
    from mdplay.solving.responses import responses
    from mdplay.states.graph import explore

    graph = explore(anti_tic_tac_toe(), show=show)
    rows, highest, steps, each = [], -1.0, [], []
    for name, start in _starts(graph, count, seed):
        series = list(responses(graph, start, _score(REPORT)))[1:]
        values = [step.value or 0.0 for step in series if step.player == 0]
        highest = max(highest, values[-1])
        steps.append(len(series))
        each.append(max(sum(step.player == player for step in series) for player in (0, 1)))
        rows.append([name, str(len(series)), f"{values[-1]:g}", str(series[-1].changed)])
    return Figure(
        title="Any start comes to rest",
        command="mdplay respond anti-tic-tac-toe --player 1 --start FILE",
        text="Best responses by turns from several first policies; player 1's value at the end is its chance to "
        "win.",
        facts={
            "starts": len(rows),
            "converged": sum(row[-1] == "0" for row in rows),
            "fewest": min(steps),
            "most": max(steps),
            "fewest_each": min(each),
            "most_each": max(each),
            "highest": highest,
            **_last_moves(graph),
        },
        table=ResultTable(
            ["first policy", "steps", "player 1's value at the end", "changes in the last step"], rows
        ),
    )


def _starts(graph: GameGraph, count: int, seed: int) -> Iterator[tuple[str, Response]]:
    """Yield first policies of either player, with their names."""
    from mdplay.solving.responses import Response

    rng = random.Random(seed)
    for player in (0, 1):
        yield f"player {player + 1}, uniform", Response(player, graph.uniform(), None, None)
        yield f"player {player + 1}, smallest cell", Response(player, _smallest(graph), None, None)
        for number in range(1, count + 1):
            yield f"player {player + 1}, random {number}", Response(player, _random_policy(graph, rng), None, None)


def _random_policy(graph: GameGraph, rng: random.Random) -> Any:
    weights = np.zeros(len(graph.target))
    for begin, end in zip(graph.first_edge[:-1], graph.first_edge[1:], strict=True):
        if end > begin:
            weights[rng.randrange(int(begin), int(end))] = 1.0
    return weights


def _last_moves(graph: GameGraph) -> dict[str, Any]:
    """Return what is true of all moves that end the game."""
    from mdplay.states.graph import END

    last = np.flatnonzero(graph.kind[graph.target] == END)
    mover, result = graph.kind[graph.owner[last]], graph.result[graph.target[last]]
    marks = [9 - graph.game.text(graph.state(int(s))).count("0") for s in graph.target[last]]
    draws = [n for n, value in zip(marks, result, strict=True) if value == 0]
    ninth = {int(player) + 1 for n, player in zip(marks, mover, strict=True) if n == 9}
    return {
        "states": graph.num_states,
        "edges": len(graph.target),
        "ends": len(last),
        "own_wins": int(((mover == 0) & (result > 0)).sum() + ((mover == 1) & (result < 0)).sum()),
        "draws": len(draws),
        "early_draws": sum(n < 9 for n in draws),
        "ninth": ninth.pop() if len(ninth) == 1 else 0,
    }
