"""Searches of random honest games against plain recursion: chance in rows, extra turns, points, wide masks.

Each game is searched to several depths and by a tree, played at random and solved; every value that is exact is
compared with a recursion over the rules, and what the compiled kernels answer with what the plain ones do.  The
games of a mode share a child process; if it dies, the game after the last that it answered is the finding.

    python -m tests.hardening.searches SEED NUMBER...       prints a line of JSON a game
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from typing import Any

from mdplay.bits import elements
from tests.hardening.campaign import Tally
from tests.hardening.table_games import KINDS
from tests.helpers import ROOT

DEPTHS = (1, 2, 3, 5)
SIMULATIONS = 300
GAMES = 40
COMPILED_EVERY = 12  # a game compiles for half a minute
SECONDS = 600


def game_of(number: int, seed: int) -> Any:
    """Return game ``number`` of a seed."""
    return KINDS[number % len(KINDS)](seed=1_000_003 * seed + number)


# ---------------------------------------------------------------- plain recursion
def minimax(game: Any, s: Any, depth: int) -> float:
    """Return the value for player 0 at a depth, without pruning, table or stack."""
    from mdplay.searching.alpha_beta import WIN

    if outcomes := elements(game.outcomes(s)):
        return sum(game.probability(s, i) * minimax(game, game.outcome(s, i), depth) for i in outcomes)
    actions = elements(game.legal(s))
    if not actions:
        return float(game.result(s) * (1 if game.has_reward else WIN + depth))
    if depth == 0:
        return float(game.heuristic(s))
    sign = -1 if game.player(s) else 1
    values = [sign * game.reward(s, a) + minimax(game, game.step(s, a), depth - 1) for a in actions]
    return min(values) if game.player(s) else max(values)


def exact_values(game: Any) -> dict[int, float]:
    """Return what each first move is worth to the player who makes it."""

    @cache
    def value(s: Any) -> float:
        if outcomes := elements(game.outcomes(s)):
            return sum(game.probability(s, i) * value(game.outcome(s, i)) for i in outcomes)
        if not elements(game.legal(s)):
            return float(game.result(s))
        return max(of_moves(s).values()) * (-1 if game.player(s) else 1)

    def of_moves(s: Any) -> dict[int, float]:
        sign = -1 if game.player(s) else 1
        return {a: game.reward(s, a) + sign * value(game.step(s, a)) for a in elements(game.legal(s))}

    return of_moves(game.initial())


# ---------------------------------------------------------------- one game
def examine(game: Any) -> dict[str, Any]:
    """Search, play and solve a game; return what was answered, and what of it is wrong under ``wrong``."""
    exact = exact_values(game)
    answers: dict[str, Any] = {"wrong": []}
    for depth in DEPTHS:
        answers[f"depth {depth}"] = _depth(game, depth, exact, answers["wrong"])
    answers["trees"] = _trees(game, exact, answers["wrong"])
    answers["random games"] = _random_games(game, answers["wrong"])
    answers["solution"] = _solution(game, exact, answers["wrong"])
    return answers


def _depth(game: Any, depth: int, exact: dict[int, float], wrong: list[str]) -> Any:
    from mdplay.searching.alpha_beta import WIN
    from mdplay.searching.depth_limited import depth_limited

    s = game.initial()
    sign = -1 if game.player(s) else 1
    found = depth_limited(game, depth=depth)
    for move in found.moves:
        after = minimax(game, game.step(s, move.action), found.depth - 1)
        expected = game.reward(s, move.action) + sign * after
        if not game.has_reward and abs(expected) > WIN / 2:
            expected = round(expected / WIN, 3)  # a result, as far as nothing is guessed
        if move.proven:
            expected = exact[move.action]
        if move.value != expected:
            wrong.append(f"depth {depth}, action {move.action}: {move.value}, not {expected}")
    return [[move.value, move.proven] for move in found.moves]


def _trees(game: Any, exact: dict[int, float], wrong: list[str]) -> Any:
    from mdplay.searching.mcts import mcts

    found = mcts(game, simulations=SIMULATIONS, seed=1)
    for move in found.moves:
        if move.proven and move.value != exact[move.action]:
            wrong.append(f"tree search proves {move.value} for {move.action}, not {exact[move.action]}")
    if found.proven and found.value != max(exact.values()):
        wrong.append(f"tree search proves {found.value}, not {max(exact.values())}")
    if any(tree.size > len(tree.nodes) for tree, _ in found.tree.places):
        wrong.append("a tree is larger than its array")
    if [move.action for move in found.moves] != sorted(exact):
        wrong.append(f"tree search has the moves {[move.action for move in found.moves]}")
    return [[move.visits, round(move.value, 9), move.proven] for move in found.moves]


def _random_games(game: Any, wrong: list[str]) -> Any:
    from mdplay.searching.playouts import playouts

    found = playouts(game, games=GAMES, seed=1, threads=1)
    if found.wins + found.draws + found.losses != GAMES or not 0 < found.longest < game.states:
        wrong.append(f"random games: {found}")
    return [found.mean, found.wins, found.losses, found.moves, found.longest]


def _solution(game: Any, exact: dict[int, float], wrong: list[str]) -> Any:
    from mdplay import solve

    value = solve(game).value()
    if abs(value - max(exact.values())) > 1e-9 * max(1.0, abs(value)):
        wrong.append(f"solve says {value}, not {max(exact.values())}")
    return round(value, 9)


# ---------------------------------------------------------------- many games in a child
def run(tally: Tally, count: int, seed: int) -> None:
    """Examine games in plain Python, and some of them compiled too."""
    plain = _examined(range(count), seed, tally, NUMBA_DISABLE_JIT="1")
    compiled = _examined(range(0, count, COMPILED_EVERY), seed, tally, NUMBA_DISABLE_JIT="0")
    for number, answers in compiled.items():
        if number in plain and answers != plain[number]:
            tally.found(f"game {number} of seed {seed}: compiled {answers}, plain {plain[number]}")


def _examined(numbers: Any, seed: int, tally: Tally, **environment: str) -> dict[int, Any]:
    """Return the answers for games; what went wrong is told to the tally."""
    found: dict[int, Any] = {}
    left = list(numbers)
    while left:
        lines, ended = _child(left, seed, environment)
        for number, answers in lines:
            found[number] = answers
            left.remove(number)
            if answers["wrong"]:
                tally.found(f"{_place(number, seed, environment)}: {'; '.join(answers['wrong'])}")
            else:
                tally.ended("agreed")
        if ended:
            tally.found(f"{_place(left.pop(0), seed, environment)}: {ended}")
    return found


def _place(number: int, seed: int, environment: dict[str, str]) -> str:
    words = " ".join(f"{name}={value}" for name, value in environment.items())
    return f"game {number} of seed {seed} ({words} python -m tests.hardening.searches {seed} {number})"


def _child(numbers: list[int], seed: int, environment: dict[str, str]) -> tuple[list[tuple[int, Any]], str]:
    """Examine games in a fresh process: the answers, and how it ended if not well."""
    command = [sys.executable, "-m", "tests.hardening.searches", str(seed), *map(str, numbers)]
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", **environment}
    try:
        done = subprocess.run(
            command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS + 60 * len(numbers)
        )
        out, ended = done.stdout, f"exit code {done.returncode}: {done.stderr[-400:]}" if done.returncode else ""
    except subprocess.TimeoutExpired as error:
        out, ended = (error.stdout or b"").decode(), "it did not end"
    return [(number, answers) for number, answers in map(json.loads, out.splitlines())], ended


def main(seed: int, numbers: list[int]) -> None:
    """Print the answers for games, a line each."""
    for number in numbers:
        print(json.dumps([number, examine(game_of(number, seed))]), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), [int(number) for number in sys.argv[2:]])
