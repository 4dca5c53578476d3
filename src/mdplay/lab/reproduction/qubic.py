"""System 5: Qubic, learned by Monte Carlo.

The first part is the report's algorithm in plain Python, with the package's random numbers: points with a state,
wins and games.

A point is 0 (blank), 1 (X) or -1 (O).  The result of a game is 1, -1, 2 for a tie, 0 while it continues.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import mdplay.svg as draw
from mdplay.bits import below, unit
from mdplay.evaluating.evaluation import tie_margin
from mdplay.games.qubic.rules import CELLS, DIRECTIONS, Qubic
from mdplay.lab.reproduction.steps import Claim, Drawing, Facts, Figure, ResultTable, Step, better, equal, valued
from mdplay.rng import Random, advance, scramble, stream
from mdplay.runtime.threads import Show

NEUTRAL = 0.5  # before the first game
TIE_GAME = 2


def lines() -> list[tuple[int, ...]]:
    """Return the 76 lines, each as its four points x + 4 y + 16 z."""
    found = []
    for start, step in product(product(range(4), repeat=3), product((-1, 0, 1), repeat=3)):
        points = [tuple(s + i * d for s, d in zip(start, step, strict=True)) for i in range(4)]
        inside = all(0 <= c < 4 for point in points for c in point)
        if step > (0, 0, 0) and inside:
            found.append(tuple(x + 4 * y + 16 * z for x, y, z in points))
    return found


LINES = lines()
THROUGH = [[line for line in LINES if point in line] for point in range(64)]


def result(board: list[int], last: int) -> int:
    """Return how the game stands after a move on the last point."""
    mark = board[last]
    if any(all(board[point] == mark for point in line) for line in THROUGH[last]):
        return mark
    return 0 if 0 in board else TIE_GAME


class Trials:
    """``num_trials`` games of self-play from scratch; ``wins`` and ``games`` of every point."""

    def __init__(self, num_trials: int, seed: int) -> None:
        self.num_trials, self.seed = num_trials, seed
        self.wins, self.games = [0] * 64, [0] * 64

    def utility(self, point: int) -> float:
        """Return wins / games."""
        return self.wins[point] / self.games[point] if self.games[point] else NEUTRAL

    def run(self) -> None:
        """Play the trials."""
        for trial in range(self.num_trials):
            self._play(trial / self.num_trials, stream(self.seed, trial))

    def _play(self, greed: float, x: int) -> None:
        board, mark, end, last = [0] * 64, 1, 0, -1
        while end == 0:
            x = advance(x)
            greedy = greed > 0 and unit(scramble(x)) < greed
            x = advance(x)
            last = self._choose(board, greedy, scramble(x))
            board[last] = mark
            end, mark = result(board, last), -mark
        for point in range(64):
            self.games[point] += board[point] != 0
            self.wins[point] += board[point] == end

    def _choose(self, board: list[int], greedy: bool, word: int) -> int:
        """Return the blank point of the highest utility, ties at random; or any blank point at random."""
        points = [point for point in range(64) if board[point] == 0]
        if greedy:
            most = max(map(self.utility, points))
            points = [point for point in points if self.utility(point) >= most - tie_margin(most)]
        return points[below(word, len(points))]


TITLE = "Qubic, learned by Monte Carlo"
GAMES = (1_000, 10_000, 100_000)
TOP = 16
NUM_RANDOM = 200  # games, of which one is drawn
QUBIC_TIE = "XOOXOOXOOXXXOOXO XOXOOOXXXXOXOXXX OXOOOXXOOOXOXXOX OXOXXOOOOXXXOXOX"
TRIALS = 200  # of the report's way in plain Python
COLD, WARM = (0xF7, 0xEF, 0xE2), (0xB8, 0x4A, 0x12)  # of the heat maps


def steps(quick: bool, seed: int) -> list[Step]:
    """Return the steps: the report's way, utilities annealed and by pure exploration, random play, the proof."""
    settings = {"games": GAMES, "seed": seed}
    return [
        Step("qubic-cube", lambda show: _cube(seed), {"seed": seed}),
        Step("qubic-annealed", lambda show: _points("annealed", seed, show), settings, sum(GAMES)),
        Step("qubic-always", lambda show: _points("always", seed, show), settings, sum(GAMES)),
        Step("qubic-random", lambda show: _random(seed, show), {"seed": seed}, 1_000_000),
        *([] if quick else [Step("qubic-proof", _proof)]),
    ]


def headline(facts: Facts) -> str:
    """Return the finding in one sentence."""
    annealed, always = (facts[name]["in_top"] for name in ("qubic-annealed", "qubic-always"))
    return (
        f"Of the sixteen points on seven lines, {_listed(annealed)} are among the sixteen best after "
        f"{_listed(f'{n:,}' for n in GAMES)} annealed games, and {_listed(always)} under pure exploration."
    )


def claims(facts: Facts) -> list[Claim]:
    """Return the report's claims beside what came out."""
    cube, annealed, played = facts["qubic-cube"], facts["qubic-annealed"], facts["qubic-random"]
    kinds = cube["kinds"]
    same = f"{cube['same_points']} of 64 points have the same wins and games after {TRIALS} trials."
    plain = "The report's learning in plain Python, by the same random words."
    return [
        equal(
            "64 points with a state: 0 blank, 1 X, -1 O, and with wins and games; utility wins / games with a "
            "neutral start.",
            f"{cube['points']} points; before its first game a point has the utility {cube['neutral']:g}. {same}",
            plain,
            cube["points"] == cube["same_points"] == 64 and cube["neutral"] == 0.5,
        ),
        equal(
            "A game is won on 76 lines: 48 straight, 24 diagonals of planes, 4 diagonals of the cube.",
            f"{sum(kinds)} lines: {kinds[0]}, {kinds[1]} and {kinds[2]}.",
            "Counted by how many coordinates change along a line; the same 76 sets of points as in plain Python: "
            f"{'yes' if cube['same_lines'] else 'no'}.",
            kinds == [48, 24, 4] and cube["same_lines"],
        ),
        equal(
            "Results are -1, 0, 1, and 2 for a tie.",
            f"{_listed(cube['statuses'])}, by `Qubic.status`; {played['draws']} ties in a million random games. "
            "As in every game here, the result of a tie is 0.",
            f"Every position of {NUM_RANDOM} random games and of one that fills the cube, beside plain Python.",
            cube["statuses"] == [-1, 0, 1, 2] and cube["same_statuses"],
        ),
        equal(
            "Exploitation with probability trials done / all trials; ties among the best at random.",
            same,
            plain,
            cube["same_points"] == 64,
        ),
        equal(
            "The winner's points get a win and a game, the loser's a game, a tie's a game.",
            f"{cube['wins']} wins and {cube['games']} games in all, {cube['plain_wins']} and "
            f"{cube['plain_games']} in "
            "plain Python.",
            "Summed over all points of both.",
            (cube["wins"], cube["games"]) == (cube["plain_wins"], cube["plain_games"]),
        ),
        equal(
            "Three numbers of trials, each from scratch, 64 utilities printed for each.",
            f"{_listed(f'{n:,}' for n in annealed['games'])} games; {len(annealed['utilities'])} x "
            f"{len(annealed['utilities'][0])} utilities.",
            "The heat maps below show each of them.",
            [len(run) for run in annealed["utilities"]] == [64] * 3,
        ),
        *_proof_claims(facts.get("qubic-proof")),
    ]


def _proof_claims(proof: dict[str, Any] | None) -> list[Claim]:
    """Return what a proof adds to the utilities; nothing where it was left out."""
    if proof is None:
        return []
    return [
        better(
            "The first player's advantage is seen in the utilities.",
            f"{proof['proved']} of {proof['replies']} answers proved: the first player wins, in a book of "
            f"{proof['lines']:,} lines.",
            "Proof search, and a checker of its own.",
            proof["proved"] == proof["replies"],
            "not an estimate but a proof",
        )
    ]


def _listed(items: Any) -> str:
    first, *middle, last = map(str, items)
    return f"{', '.join([first, *middle])} and {last}"


# ---------------------------------------------------------------- the report's way
def _cube(seed: int) -> Figure:
    from mdplay.learning.cell_counting import learn_utilities
    from mdplay.learning.cell_utilities import NEUTRAL as first_utility

    game, trials = Qubic(), Trials(TRIALS, seed)
    trials.run()
    learned = learn_utilities(game, episodes=TRIALS, seed=seed)
    pairs = zip(learned.wins.tolist(), learned.games.tolist(), trials.wins, trials.games, strict=True)
    changing = [sum(map(abs, direction)) for direction, starts in _lines(game) for _ in range(starts)]
    statuses, same_statuses, won = _random_games(game, seed)
    through = {cell: str(count) for cell, count in enumerate(game.lines_through)}
    rich = [cell for cell, count in enumerate(game.lines_through) if count == 7]
    return Figure(
        title="The cube",
        command=f"mdplay learn qubic --method points --episodes {TRIALS} --seed {seed}",
        text="How many lines run through each point: seven through the corners and the middle (green), four "
        "through the others. Beside it a random game that was won.",
        facts={
            "points": len(learned.games),
            "neutral": first_utility,
            "same_points": sum((w, g) == (pw, pg) for w, g, pw, pg in pairs),
            "wins": int(learned.wins.sum()),
            "games": int(learned.games.sum()),
            "plain_wins": sum(trials.wins),
            "plain_games": sum(trials.games),
            "kinds": [changing.count(n) for n in (1, 2, 3)],
            "same_lines": {frozenset(_cells(line)) for line in game.lines} == set(map(frozenset, LINES)),
            "statuses": statuses,
            "same_statuses": same_statuses,
        },
        drawings=[
            Drawing(valued(game.svg(game.initial()), through, rich), "lines through each point"),
            Drawing(won, "a random game: the line is ringed"),
        ],
    )


def _lines(game: Qubic) -> list[tuple[tuple[int, ...], int]]:
    """Return each direction with the number of its lines."""
    return [(d, starts.bit_count()) for d, starts in zip(DIRECTIONS, game.starts, strict=True)]


def _cells(line: int) -> list[int]:
    return [cell for cell in range(64) if line >> cell & 1]


def _random_games(game: Qubic, seed: int) -> tuple[list[int], bool, str]:
    """Follow random games and a tie move by move.

    Return every status that there was, whether plain Python tells the same ones, and the picture of the first game
    that X has won.
    """
    statuses, same, won = set[int](), True, ""
    marks = QUBIC_TIE.replace(" ", "")
    tie = [[cell for cell in range(64) if marks[cell] == mark] for mark in "XO"]
    for number in range(NUM_RANDOM + 1):
        rng, state, board = Random(seed, number), game.initial(), [0] * 64
        for count in range(64):
            cell = rng.pick(game.legal(state)) if number else tie[state.player][count // 2]
            board[cell] = 1 - 2 * state.player
            state = game.step(state, cell)
            statuses.add(game.status(state))
            same &= game.status(state) == result(board, cell)
            if game.status(state):
                break
        if not won and game.status(state) == 1:
            won = game.svg(state)
    return sorted(statuses), same, won


# ---------------------------------------------------------------- utilities
def _points(explore: str, seed: int, show: Show) -> Figure:
    from mdplay.learning.cell_counting import learn_utilities
    from mdplay.learning.cell_utilities import rich_points

    game = Qubic()
    runs = learn_utilities(game, episodes=GAMES, explore=explore, seed=seed, show=show).curve
    rich = set(rich_points(game))
    in_top = [len(rich & set(run.highest(TOP))) for run in runs]
    rows = [
        [f"{run.num_games:,}", str(count), f"{run.utilities.min():.3f}", f"{run.utilities.max():.3f}"]
        for run, count in zip(runs, in_top, strict=True)
    ]
    how = "with growing probability the best known point" if explore == "annealed" else "always a random point"
    return Figure(
        title=f"Utilities of the 64 points, {'annealed' if explore == 'annealed' else 'pure exploration'}",
        command=f"mdplay learn qubic --method points --episodes {','.join(map(str, GAMES))} "
        f"--explore {explore} --seed {seed}",
        text=f"Each run starts from scratch and plays {how}; a point's utility is the share of games won by "
        "the player who took it, here in thousandths, the darker the higher. The sixteen points on seven lines "
        "are framed.",
        facts={"games": list(GAMES), "in_top": in_top, "utilities": [run.utilities.tolist() for run in runs]},
        table=ResultTable(["games", f"seven-line points in the top {TOP}", "lowest utility", "highest"], rows),
        drawings=[
            Drawing(
                heat_map(run.utilities.tolist(), rich), f"{run.num_games:,} games: {count} of 16 in the top 16"
            )
            for run, count in zip(runs, in_top, strict=True)
        ],
    )


def heat_map(utilities: Sequence[float], framed: set[int]) -> str:
    """Draw the four layers, two by two, each point by its utility in thousandths; some points framed."""
    size, gap = 34, 22
    side = 4 * size + gap
    low, high = min(utilities), max(utilities)
    shapes = [
        draw.label(z % 2 * side + 2 * size, z // 2 * side + gap / 2, f"z = {z}", "ink", 13) for z in range(4)
    ]
    for cell, (x, y, z) in enumerate(CELLS):
        left, top = z % 2 * side + x * size, z // 2 * side + y * size + gap
        warmth = (utilities[cell] - low) / ((high - low) or 1.0)
        frame: dict[str, float | str] = {"stroke": "#2c7a4b", "stroke_width": 3} if cell in framed else {}
        shapes.append(draw.rect(left + 2, top + 2, size - 4, size - 4, "value", 4, fill=_colour(warmth), **frame))
        ink = "#ffffff" if warmth > 0.6 else "#332d25"
        text = f"{1000 * utilities[cell]:.0f}"
        shapes.append(draw.label(left + size / 2, top + size / 2, text, "value", 13, fill=ink))
    return draw.picture(2 * side - gap, 2 * side, shapes, "utilities of the 64 points")


def _colour(warmth: float) -> str:
    """Return a colour between cold (0) and warm (1)."""
    return "#" + "".join(f"{round(c + warmth * (w - c)):02x}" for c, w in zip(COLD, WARM, strict=True))


# ---------------------------------------------------------------- beyond the report
def _random(seed: int, show: Show) -> Figure:
    from mdplay import playouts

    found = playouts(Qubic(), games=1_000_000, seed=seed, progress=show)
    return Figure(
        title="Random play",
        command=f"mdplay playouts qubic --games 1000000 --seed {seed}",
        text="A million games of uniformly random moves: the value of the first move alone.",
        facts={"wins": found.wins, "losses": found.losses, "draws": found.draws, "mean_length": found.mean_length},
        table=ResultTable(
            ["first player wins", "second player wins", "ties", "moves a game"],
            [
                [
                    f"{found.wins / found.games:.4f}",
                    f"{found.losses / found.games:.4f}",
                    str(found.draws),
                    f"{found.mean_length:.2f}",
                ]
            ],
        ),
    )


def _proof(show: Show) -> Figure:
    from mdplay.games.qubic.proof import prove_qubic

    proof = prove_qubic(None, show=show)
    lines = 0 if proof.book is None else len(proof.book)
    facts = {"proved": proof.proved, "replies": proof.replies, "lines": lines, "expansions": proof.expansions}
    return Figure(
        title="The first player wins: a proof",
        command="mdplay prove qubic --out book.txt; mdplay verify qubic book.txt",
        text="Proof-number search up to symmetry, with threat sequences at every node. The book has "
        "a line for every position in which the winner needs more than threats.",
        facts=facts,
        table=ResultTable(
            ["answers proved", "of", "lines of the book", "expansions", "threat positions"],
            [[f"{n:,}" for n in (proof.proved, proof.replies, lines, proof.expansions, proof.threat_nodes)]],
        ),
    )
