"""Tasks by name: of Sutton and Barto's textbook (2nd edition), of Gymnasium's toy texts, and of files.

A text names a task of this library with its parameters (``walk:size=19``), a file with a drawn grid or a model in
the CS747 format, or a Python file with a FloatTask or a game.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import comb, exp, factorial
from pathlib import Path
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from mdplay.bits import U64, unit
from mdplay.errors import FormatError, GameError, unknown
from mdplay.game import Game
from mdplay.learning.reinforcement.tasks import FloatTask, Task, task_of, tile
from mdplay.naming.specs import load_module, parameters, read_parameters, read_spec
from mdplay.planning.grids import is_grid, read_grid
from mdplay.planning.mdp import MDP

Row = tuple[int, int, int, float, float]  # state, action, target, reward, probability
CLIFF = "............\n............\n............\nS**********G"
WINDY = "..........\n..........\n..........\nS......G..\n..........\n..........\n..........\nwind 0001112210"
MAZE = ".......#G\n..#....#.\nS.#....#.\n..#......\n.....#...\n.........\nreward 0\ngoal 1\ndiscount 0.95"
LAKES = {
    4: "S...\n.O.O\n...O\nO..G",
    8: "S.......\n........\n...O....\n.....O..\n...O....\n.OO...O.\n.O..O.O.\n...O...G",
}
ICE = "\nslip 1/3\nreward 0\ngoal 1\nhole 0\ndiscount 0.99"


def grid_task(drawing: str, name: str = "grid") -> Task:
    """Return the task of a drawn grid; it starts in any of the cells S, with equal probability."""
    grid = read_grid(drawing)
    starts = {s: 1.0 / len(grid.starts) for s in grid.starts}
    return Task(grid.mdp, starts, name, actions=grid.actions, drawing=grid.rows, cells=grid.cells)


def listed_task(rows: list[Row], start: Any, name: str, *, num_states: int, discount: float = 1.0) -> Task:
    """Return the task of a list of transitions."""
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return Task(
        MDP.from_transitions(*columns, num_states=num_states, discount=discount, keep_rewards=True), start, name
    )


# ---------------------------------------------------------------- grids
def cliff() -> Task:
    """Cliff walking, Example 6.6: the shortest path earns -13, the safe one -17."""
    return grid_task(CLIFF, "cliff")


def windy(moves: str = "four", gusts: bool = False) -> Task:
    """Windy gridworld, Example 6.5; king's moves and stochastic wind: Exercises 6.9 and 6.10."""
    return grid_task(f"{WINDY}\nmoves {moves}\ngusts {'yes' if gusts else 'no'}", "windy")


def maze() -> Task:
    """Dyna maze, Figure 8.2: the shortest path takes 14 steps."""
    return grid_task(MAZE, "maze")


def blocking_maze(change: int = 1000) -> Task:
    """Figure 8.4: the short path is blocked after ``change`` steps, and a longer one opens."""
    return _changing_maze("########.", ".########", change)


def shortcut_maze(change: int = 3000) -> Task:
    """Figure 8.5: a shorter path opens after ``change`` steps."""
    return _changing_maze(".########", ".#######.", change)


def _changing_maze(before: str, after: str, change: int) -> Task:
    """Return a maze whose wall changes; both models have all cells as states, those of walls included."""
    both = []
    for wall in (before, after):
        rows = ["........G", ".........", ".........", wall, ".........", "...S....."]
        free = [[c != "#" for c in row] for row in rows]
        table: list[Row] = []
        for s in range(54):
            y, x = divmod(s, 9)
            if rows[y][x] == "G":
                continue
            for action, (dy, dx) in enumerate(((-1, 0), (0, 1), (1, 0), (0, -1))):
                to = (min(max(y + dy, 0), 5), min(max(x + dx, 0), 8))
                target = to[0] * 9 + to[1] if free[to[0]][to[1]] else s
                table.append((s, action, target, float(rows[to[0]][to[1]] == "G"), 1.0))
        both.append(listed_task(table, 48, "changing maze", num_states=54, discount=0.95).mdp)
    return Task(both[0], 48, "changing maze", later=both[1], change=change)


def frozen_lake(size: int = 4) -> Task:
    """Gymnasium's FrozenLake, 4 x 4 or 8 x 8, slippery, with discount 0.99."""
    if size not in LAKES:
        raise FormatError(f"size={size}: the lake has 4 x 4 or 8 x 8 cells")
    return grid_task(LAKES[size] + ICE, "frozen-lake")


def taxi() -> Task:
    """Gymnasium's Taxi (Dietterich 2000): 500 states, 300 of them starts."""
    rows = ("R: | : :G", " : | : : ", " : : : : ", " | : | : ", "Y| : |B: ")
    marks = ((0, 0), (0, 4), (4, 0), (4, 3))
    table: list[Row] = []
    starts: list[int] = []
    for s in range(500):
        y, x, passenger, goal = s // 100, s // 20 % 5, s // 4 % 5, s % 4
        if passenger < 4 and passenger != goal:
            starts.append(s)
        east = x < 4 and rows[y][2 * x + 1] == ":"
        west = x > 0 and rows[y][2 * x - 1] == ":"
        moves = [(min(y + 1, 4), x), (max(y - 1, 0), x), (y, x + east), (y, x - west)]
        for action, (to_y, to_x) in enumerate(moves):
            table.append((s, action, ((to_y * 5 + to_x) * 5 + passenger) * 4 + goal, -1.0, 1.0))
        picks = passenger < 4 and (y, x) == marks[passenger]
        table.append((s, 4, s + 4 * (4 - passenger) if picks else s, -1.0 if picks else -10.0, 1.0))
        if passenger == 4 and (y, x) == marks[goal]:
            table.append((s, 5, 500, 20.0, 1.0))
        elif passenger == 4 and (y, x) in marks:
            table.append((s, 5, s + 4 * (marks.index((y, x)) - 4), -1.0, 1.0))
        else:
            table.append((s, 5, s, -10.0, 1.0))
    start = {s: 1.0 / len(starts) for s in starts}
    return listed_task(table, start, "taxi", num_states=501)


# ---------------------------------------------------------------- chains
def walk(size: int = 5, left: float = 0.0, discount: float = 1.0) -> Task:
    """Random walk, Example 6.2 (5 states, ends 0 and 1) and Figure 7.2 (19 states, left=-1); for prediction."""
    rows: list[Row] = []
    for s in range(1, size + 1):
        rows += [(s, 0, s - 1, left if s == 1 else 0.0, 0.5), (s, 0, s + 1, 1.0 if s == size else 0.0, 0.5)]
    return listed_task(rows, (size + 1) // 2, "walk", num_states=size + 2, discount=discount)


def long_walk(size: int = 1000, reach: int = 100, groups: int = 10) -> Task:
    """Walk of 1000 states, Example 9.1, with state aggregation into ``groups`` groups; for prediction."""
    rows: list[Row] = []
    for s in range(1, size + 1):
        share = 0.5 / reach
        inside = [t for t in range(s - reach, s + reach + 1) if t != s and 1 <= t <= size]
        rows += [(s, 0, t, 0.0, share) for t in inside]
        low, high = max(0, reach - s + 1), max(0, reach - (size - s))
        rows += [(s, 0, 0, -1.0, share * low)] * (low > 0) + [(s, 0, size + 1, 1.0, share * high)] * (high > 0)
    task = listed_task(rows, size // 2, "long walk", num_states=size + 2)
    group = np.minimum(np.maximum(np.arange(size + 2) - 1, 0) * groups // size, groups - 1)
    object.__setattr__(task, "features", group.reshape(-1, 1).astype(np.int32))
    return task


def corridor() -> Task:
    """Short corridor, Example 13.1: three states that share their preferences; the middle one is reversed."""
    moves = {0: (0, 1), 1: (2, 0), 2: (1, 3)}
    rows: list[Row] = [(s, a, t, -1.0, 1.0) for s, to in moves.items() for a, t in enumerate(to)]
    task = listed_task(rows, 0, "corridor", num_states=4)
    object.__setattr__(task, "features", np.zeros((4, 1), np.int32))
    return task


def baird(discount: float = 0.99) -> Task:
    """Baird's counterexample, Figure 11.1: action 0 leads to one of states 0 to 5, action 1 to 6; rewards are 0.

    The values 2 w[i] + w[7] and w[6] + 2 w[7] are linear in 8 weights; a feature of weight 2 is listed twice.
    """
    rows: list[Row] = [(s, 0, t, 0.0, 1 / 6) for s in range(7) for t in range(6)]
    rows += [(s, 1, 6, 0.0, 1.0) for s in range(7)]
    task = listed_task(sorted(rows), dict.fromkeys(range(7), 1 / 7), "baird", num_states=7, discount=discount)
    features = np.array([[i, i, 7] for i in range(6)] + [[6, 7, 7]], np.int32)
    return replace(task, features=features, weights=(1.0,) * 6 + (10.0, 1.0))


def bias(arms: int = 10, points: int = 64) -> Task:
    """Maximisation bias, Example 6.7: in state 0, action 1 ends with 0 and action 0 leads to state 1.

    The actions of state 1 earn N(-0.1, 1) and end.  The normal distribution is replaced by ``points`` equally
    likely quantiles, scaled to variance 1.
    """
    quantile = np.array([NormalDist().inv_cdf((i + 0.5) / points) for i in range(points)])
    quantile /= quantile.std()
    rows: list[Row] = [(0, 0, 1, 0.0, 1.0), (0, 1, 2, 0.0, 1.0)]
    for a in range(arms):
        rows += [(1, a, 2 + i, -0.1 + float(z), 1.0 / points) for i, z in enumerate(quantile)]
    return listed_task(rows, 0, "bias", num_states=2 + points)


def gambler(heads: float = 0.4, goal: int = 100) -> Task:
    """Gambler's problem, Example 4.3: action a stakes a + 1."""
    rows: list[Row] = []
    for s in range(1, goal):
        for stake in range(1, min(s, goal - s) + 1):
            rows.append((s, stake - 1, s + stake, float(s + stake == goal), heads))
            rows.append((s, stake - 1, s - stake, 0.0, 1.0 - heads))
    return listed_task(rows, dict.fromkeys(range(1, goal), 1.0 / (goal - 1)), "gambler", num_states=goal + 1)


# ---------------------------------------------------------------- queues, cars, cards
def access_control(servers: int = 10, finish: float = 0.06, late: bool = False) -> Task:
    """Access control, Example 10.2: reject (0) or accept (1) customers who pay 1, 2, 4 or 8; it never ends.

    ``late``: a customer cannot finish in the step in which it is accepted.
    """
    rows: list[Row] = []
    for idle in range(servers + 1):
        for customer in range(4):
            for accept in (0, 1) if idle else (0,):
                busy = servers - idle + (0 if late else accept)
                for done in range(busy + 1):
                    p = comb(busy, done) * finish**done * (1.0 - finish) ** (busy - done)
                    targets = [4 * (idle - accept + done) + other for other in range(4)]
                    rows += [(4 * idle + customer, accept, t, float(accept << customer), p / 4) for t in targets]
    start = {4 * servers + customer: 0.25 for customer in range(4)}
    return listed_task(rows, start, "access-control", num_states=4 * (servers + 1))


def car_rental(limit: int = 20) -> Task:
    """Jack's car rental, Example 4.2: action a moves a - 5 cars overnight for 2 each; a rented car earns 10."""

    def poisson(mean: float) -> list[float]:
        return [exp(-mean) * mean**n / factorial(n) for n in range(60)]

    def place(requests: float, returns: float) -> tuple[Any, Any]:
        earned, to = np.zeros(limit + 1), np.zeros((limit + 1, limit + 1))
        for cars in range(limit + 1):
            for n, p in enumerate(poisson(requests)):
                rented = min(n, cars)
                earned[cars] += 10.0 * p * rented
                for m, r in enumerate(poisson(returns)):
                    to[cars, min(limit, cars - rented + m)] += p * r
        return earned, to / to.sum(axis=1, keepdims=True)

    (earned_1, to_1), (earned_2, to_2) = place(3.0, 3.0), place(4.0, 2.0)
    states, actions, rewards, matrix = [], [], [], []
    for i in range(limit + 1):
        for j in range(limit + 1):
            for a in range(-min(5, j), min(5, i) + 1):
                x, y = min(i - a, limit), min(j + a, limit)
                matrix.append(np.outer(to_1[x], to_2[y]).ravel())
                states.append(i * (limit + 1) + j)
                actions.append(a + 5)
                rewards.append(earned_1[x] + earned_2[y] - 2.0 * abs(a))
    from scipy.sparse import csr_matrix

    mdp = MDP.from_pairs(states, actions, csr_matrix(np.array(matrix)), rewards, discount=0.9)
    return Task(mdp, (limit // 2) * (limit + 2), "car-rental")


def blackjack() -> Task:
    """Blackjack, Example 5.1: stick (0) or hit (1), 200 states, an infinite deck; a natural earns no bonus.

    State ((sum - 12) * 2 + usable ace) * 10 + dealer's card - 1; 200, 201 and 202 are a loss, a draw and a win.
    """
    cards = [(c, 1 / 13 if c < 10 else 4 / 13) for c in range(1, 11)]

    def added(total: int, ace: int, card: int) -> tuple[int, int]:
        total, ace = (total + 11, 1) if card == 1 and total + 11 <= 21 else (total + card, ace)
        return (total - 10, 0) if total > 21 and ace else (total, ace)

    def dealer(total: int, ace: int) -> dict[int, float]:
        if total >= 17:
            return {min(total, 22): 1.0}
        found: dict[int, float] = {}
        for card, p in cards:
            for last, q in dealer(*added(total, ace, card)).items():
                found[last] = found.get(last, 0.0) + p * q
        return found

    def state(total: int, ace: int, shown: int) -> int:
        return ((total - 12) * 2 + ace) * 10 + shown - 1

    rows: list[Row] = []
    for shown in range(1, 11):
        final = dealer(*added(0, 0, shown))
        for total in range(12, 22):
            for ace in (0, 1):
                s = state(total, ace, shown)
                ends = [0.0, 0.0, 0.0]
                for last, p in final.items():
                    ends[2 if last > 21 or last < total else 1 if last == total else 0] += p
                rows += [(s, 0, 200 + i, i - 1.0, p) for i, p in enumerate(ends) if p]
                for card, p in cards:
                    to, soft = added(total, ace, card)
                    rows.append((s, 1, 200, -1.0, p) if to > 21 else (s, 1, state(to, soft, shown), 0.0, p))
    starts: dict[int, float] = {}
    hands = {(0, 0): 1.0}
    while hands:
        (total, ace), share = hands.popitem()
        for card, p in cards:
            hand = added(total, ace, card)
            if hand[0] < 12:
                hands[hand] = hands.get(hand, 0.0) + share * p
                continue
            for shown, q in cards:
                s = state(*hand, shown)
                starts[s] = starts.get(s, 0.0) + share * p * q
    return listed_task(rows, starts, "blackjack", num_states=203)


class Car(NamedTuple):
    """A car in a valley: position and velocity."""

    x: float
    v: float


@dataclass(frozen=True)
class MountainCar(FloatTask):
    """Mountain car, Example 10.1: throttle backward, none, forward; 8 tilings of 8 x 8 tiles."""

    width = 3
    active = 8
    features = 8 * 10 * 12

    def start(self, word: U64) -> Car:
        """Return a car at rest near the bottom."""
        return Car(-0.6 + 0.2 * unit(word), 0.0)

    def step(self, s: Car, action: int, word: U64) -> Car:
        """Return the car after a step."""
        v = min(max(s.v + 0.001 * (action - 1) - 0.0025 * math.cos(3.0 * s.x), -0.07), 0.07)
        x = min(max(s.x + v, -1.2), 0.5)
        return Car(x, 0.0 if x == -1.2 else v)

    def reward(self, s: Car, action: int, after: Car) -> float:
        """Return -1."""
        return -1.0

    def is_terminal(self, s: Car) -> bool:
        """Return whether the car has left the valley."""
        return s.x >= 0.5

    def feature(self, s: Car, i: int) -> int:
        """Return the tile of tiling i."""
        a, b = tile(i, 8, 8.0 * (s.x + 1.2) / 1.7, 0), tile(i, 8, 8.0 * (s.v + 0.07) / 0.14, 1)
        return (i * 10 + a) * 12 + b


TASKS: dict[str, Callable[..., Any]] = {
    "cliff": cliff,
    "windy": windy,
    "maze": maze,
    "blocking-maze": blocking_maze,
    "shortcut-maze": shortcut_maze,
    "frozen-lake": frozen_lake,
    "taxi": taxi,
    "walk": walk,
    "long-walk": long_walk,
    "corridor": corridor,
    "baird": baird,
    "bias": bias,
    "gambler": gambler,
    "access-control": access_control,
    "car-rental": car_rental,
    "blackjack": blackjack,
    "mountain-car": MountainCar,
}


def is_task(text: str) -> bool:
    """Return whether a text names a task of the library, or a file that is no Python file."""
    spec = read_spec(text)
    return spec.file is None and (spec.name in TASKS or Path(text).is_file())


def make_task(text: str, *, start: int | None = None, opponent: Any = None, player: int = 0) -> Any:
    """Return the task that a text names: of the library, of a file, or of a game.

    >>> make_task("walk:size=19").mdp.num_states
    21
    """
    spec = read_spec(text)
    if spec.file is not None:
        found = _of_module(spec.file, spec.name)
        if found is not None:
            return found
    elif spec.name in TASKS:
        maker = TASKS[spec.name]
        made = maker(**read_parameters(parameters(maker), spec.options))
        return made if start is None or isinstance(made, FloatTask) else task_of(made, start=start)
    elif Path(text).is_file():
        from mdplay.storage.files import read_text

        drawing = read_text(text)
        if is_grid(drawing):
            return grid_task(drawing, Path(text).stem)
        return task_of(MDP.from_cs747(text, keep_rewards=True), start=start)
    from mdplay.naming.registry import make, names

    if spec.file is None and Path(text).suffix and spec.name not in names():
        raise GameError(f"there is no file {text}")
    if spec.file is None and spec.name not in names():
        raise unknown("task", spec.name, [*TASKS, *names()])
    return task_of(make(text), opponent=opponent, player=player)


def _of_module(path: Path, name: str) -> Any:
    """Return the FloatTask, or the result of the function, of a file; None if its class is a game."""
    module = load_module(path)
    classes = [
        found
        for found in vars(module).values()
        if isinstance(found, type)
        and issubclass(found, (FloatTask, Game))
        and found.__module__ == module.__name__
        and (not name or found.__name__ == name)
    ]
    if name and not classes and callable(getattr(module, name, None)):
        return task_of(getattr(module, name)())
    if len(classes) != 1:
        raise GameError(f"{path.name} has no single task or game; write {path.name}:Name")
    return classes[0]() if issubclass(classes[0], FloatTask) else None
