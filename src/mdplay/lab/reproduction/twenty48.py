"""System 3: 2048, learned by an n-tuple network.

The first part is the report's method in plain Python: one pattern under its eight images, lookups in one table,
moves chosen by the values of before-states.

A board is sixteen exponents, row by row: 0 empty, 1 the tile 2, 3 the tile 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import mdplay.svg as draw
from mdplay.games.twenty48.rules import MOVES, Twenty48
from mdplay.lab.reproduction.steps import (
    Claim,
    Drawing,
    Facts,
    Figure,
    ResultTable,
    Step,
    better,
    both,
    differs,
    equal,
    resized,
    small,
    valued,
)
from mdplay.rng import Random
from mdplay.runtime.threads import Show

if TYPE_CHECKING:
    from mdplay.games.twenty48.training import TilesTraining


Cells = tuple[int, ...]
FOUR = 0.1  # the share of fours among the tiles that pop up
LEFT, RIGHT, UP, DOWN = range(4)


def exponents_of(tiles: Sequence[int]) -> list[int]:
    """Return the exponents of tiles; 0 for an empty cell."""
    return [tile.bit_length() - 1 if tile else 0 for tile in tiles]


def index(exponents: Sequence[int]) -> int:
    """Return the place in the table: the first cell's exponent is the lowest nibble."""
    return sum(exponent << 4 * i for i, exponent in enumerate(exponents))


def isomorphic(pattern: Cells) -> list[Cells]:
    """Return the eight patterns that turning and reflecting the board makes of one."""
    found, points = [], [divmod(cell, 4) for cell in pattern]
    for _ in range(2):
        for _ in range(4):
            found.append(tuple(4 * r + c for r, c in points))
            points = [(c, 3 - r) for r, c in points]  # a quarter turn
        points = [(r, 3 - c) for r, c in points]
    return found


def places(pattern: Cells, board: Sequence[int]) -> list[int]:
    """Return where the eight look-ups of a board are."""
    return [index([board[cell] for cell in image]) for image in isomorphic(pattern)]


def estimate(table: NDArray, pattern: Cells, board: Sequence[int]) -> float:  # type: ignore[type-arg]
    """Return the value of a board: the sum of eight look-ups."""
    return float(sum(table[place] for place in places(pattern, board)))


def update(table: NDArray, pattern: Cells, board: Sequence[int], amount: float) -> float:  # type: ignore[type-arg]
    """Add the same amount to every look-up of a board, and return the new value."""
    for place in places(pattern, board):
        table[place] += amount
    return estimate(table, pattern, board)


def slide(row: Sequence[int]) -> tuple[list[int], int]:
    """Return a row pushed to its first cell, and the points."""
    tiles, points = [exponent for exponent in row if exponent], 0
    out: list[int] = []
    while tiles:
        first = tiles.pop(0)
        if tiles and tiles[0] == first:
            tiles.pop(0)
            first += 1
            points += 1 << first
        out.append(first)
    return out + [0] * (len(row) - len(out)), points


def push(board: Sequence[int], move: int) -> tuple[list[int], int]:
    """Return a board pushed left, right, up or down, and the points."""
    out, points = list(board), 0
    for line in range(4):
        cells = [4 * line + i if move in (LEFT, RIGHT) else 4 * i + line for i in range(4)]
        cells = cells[::-1] if move in (RIGHT, DOWN) else cells
        row, earned = slide([board[cell] for cell in cells])
        points += earned
        for cell, exponent in zip(cells, row, strict=True):
            out[cell] = exponent
    return out, points


def move_values(table: NDArray, pattern: Cells, board: Sequence[int]) -> dict[int, float]:  # type: ignore[type-arg]
    """Return the value of every legal move: its points and the mean over the tiles that may pop up."""
    found = {}
    for move in (LEFT, RIGHT, UP, DOWN):
        after, points = push(board, move)
        if after != list(board):
            found[move] = points + _expected(table, pattern, after)
    return found


def _expected(table: NDArray, pattern: Cells, after: list[int]) -> float:  # type: ignore[type-arg]
    empty = [cell for cell in range(16) if not after[cell]]
    two, four = (
        fmean(estimate(table, pattern, [*after[:cell], tile, *after[cell + 1 :]]) for cell in empty)
        for tile in (1, 2)
    )
    return (1 - FOUR) * two + FOUR * four


TITLE = "2048, learned by an n-tuple network"
METHODS = {"td-before": "before-states (the report's)", "td": "after-states", "tc": "temporal coherence"}
ENOUGH = 100_000  # episodes of the report's plot
PATTERN = (1, 5, 9, 13)
TILES = (0, 2, 8, 0)
BOARD = "0123012100420300"  # exponents, row by row, in hexadecimal
POINTS = 40  # of a curve


def steps(quick: bool, seed: int) -> list[Step]:
    """Return the worked example, and a step for each method."""
    episodes = {"td-before": 1_000, "td": 3_000, "tc": 3_000} if quick else dict.fromkeys(METHODS, ENOUGH)
    return [
        Step("2048-example", lambda show: _example(seed), {"seed": seed}),
        *(
            Step(f"2048-{method}", partial(_learned, method, count, seed), {"episodes": count, "seed": seed})
            for method, count in episodes.items()
        ),
    ]


def headline(facts: Facts) -> str:
    """Return the means that the methods reached."""
    found = {method: facts[f"2048-{method}"] for method in METHODS}
    parts = [f"{found[m]['mean']:,.0f} by {name} ({found[m]['episodes']:,})" for m, name in METHODS.items()]
    return f"Mean score of the last thousand episodes: {', '.join(parts)}."


def claims(facts: Facts) -> list[Claim]:
    """Return the report's claims beside what came out."""
    example, learned, after = facts["2048-example"], facts["2048-td-before"], facts["2048-td"]
    return [
        equal(
            "Eight isomorphic patterns share one table.",
            f"{example['images']} images of the pattern {{1, 5, 9, 13}}, {example['look_ups']} look-ups in one "
            f"table of {example['entries']:,} entries.",
            "mdplay's look-ups against turning and reflecting the pattern by hand; drawn below.",
            example["images"] == example["look_ups"] == 8 and example["same_places"],
        ),
        equal(
            "Pattern {1, 5, 9, 13} over the tiles 0, 2, 8, 0 has exponents 0, 1, 3, 0, and the report's index "
            "function puts the first cell into the lowest nibble.",
            f"Exponents {', '.join(map(str, example['exponents']))}; index {example['index']}.",
            "mdplay's index beside the report's function in plain Python.",
            example["exponents"] == [0, 1, 3, 0] and example["index"] == example["plain_index"] == "0x0310",
        ),
        differs(
            "The text writes the index of this example as 0130.",
            example["index"],
            "The report's own function gives the same as here.",
            "its text has the digits in reading order, its function the first cell lowest",
        ),
        equal(
            "The estimate of a board is the sum of eight look-ups.",
            f"{example['boards']} boards; the two differ by at most {small(example['estimate_difference'])}.",
            "A table of random weights, in mdplay and in plain Python.",
            example["estimate_difference"] < 1e-5,
        ),
        equal(
            "An update adds the same amount to each look-up and returns the new sum.",
            f"{example['before']:.4f} before, {example['change']:g} spread over eight look-ups, "
            f"{example['after']:.4f} after "
            f"({example['plain_after']:.4f} in plain Python).",
            "The worked board, updated in mdplay and in plain Python.",
            abs(example["after"] - example["plain_after"]) < 1e-4,
        ),
        equal(
            "A move on a before-state is worth its reward plus the mean over the empty cells of 0.9 V(with a 2) + "
            "0.1 V(with a 4).",
            f"{example['moves']} moves on {example['boards']} boards; they differ by at most "
            f"{small(example['move_difference'])}.",
            "mdplay's player against this sentence in plain Python.",
            example["move_difference"] < 1e-3,
        ),
        equal(
            "An episode is replayed backwards, with a learning rate of 0.1.",
            f"Backwards: {'yes' if learned['backward'] else 'no'}; rate {learned['alpha']:g}.",
            "The settings of the run; that the update is the text book's is shown by "
            "test_td_is_what_the_text_books_say in tests/games/twenty48/test_training.py.",
            learned["backward"] and learned["alpha"] == 0.1,
        ),
        equal(
            "A plot of the mean score over at least 100,000 episodes (its values are not in the text).",
            f"{learned['episodes']:,} episodes, mean score {learned['mean']:,.0f} at the end.",
            "The plot below.",
            learned["episodes"] >= ENOUGH,
            "" if learned["episodes"] >= ENOUGH else "the quick run is short; without --quick it is 100,000",
        ),
        better(
            "Learned by before-states.",
            f"After-states: mean {after['mean']:,.0f} after {after['episodes']:,} episodes, "
            f"{after['moves_per_second'] / learned['moves_per_second']:.1f} times as many moves a second.",
            "Both methods, the same network and seed.",
            after["moves_per_second"] > learned["moves_per_second"],
            "a move needs one look at the board, not one for every tile that may pop up",
        ),
    ]


# ---------------------------------------------------------------- the worked example
def _example(seed: int) -> Figure:
    from mdplay.games.twenty48.files import board_for
    from mdplay.games.twenty48.files import index as index_in_table
    from mdplay.games.twenty48.player import Player
    from mdplay.learning.network import Network

    network = Network.create(board_for(4, 4), (PATTERN,), before=True, vector=False)
    table = np.random.default_rng(seed).integers(0, 100, 16 ** len(PATTERN)).astype(np.float32)
    network.set_table(0, table)
    boards = [[int(cell, 16) for cell in BOARD], *_random_boards(seed, 20)]
    player, game, first = Player(network), Twenty48(), boards[0]
    states = [game.parse("".join(f"{e:x}" for e in board)) for board in boards]
    plain = [move_values(table, PATTERN, board) for board in boards]
    moves = [player.values(state) for state in states]
    column = [0] * 16
    for cell, exponent in zip(PATTERN, exponents_of(TILES), strict=True):
        column[cell] = exponent
    facts: dict[str, Any] = {
        "images": len(set(isomorphic(PATTERN))),
        "look_ups": network.num_lookups,
        "entries": len(network.weights),
        "same_places": _same_places(network, table, boards, states),
        "exponents": exponents_of(TILES),
        "index": f"{index_in_table(PATTERN, column):#06x}",
        "plain_index": f"{index(exponents_of(TILES)):#06x}",
        "boards": len(boards),
        "estimate_difference": max(
            abs(network.estimate(s) - estimate(table, PATTERN, b)) for s, b in zip(states, boards, strict=True)
        ),
        "moves": sum(map(len, plain)),
        "move_difference": max(
            abs(one[a] - other[a]) for one, other in zip(plain, moves, strict=True) for a in one
        ),
        "before": network.estimate(states[0]),
        "change": 8.0,
    }
    network.update(states[0], facts["change"])
    facts["after"] = network.estimate(states[0])
    facts["plain_after"] = update(table, PATTERN, first, facts["change"] / 8)
    texts = {action: f"{value:.0f}" for action, value in moves[0].items()}
    best = [max(moves[0], key=lambda action: moves[0][action])]
    return Figure(
        title="The pattern, its eight images, and a choice of move",
        command=f"mdplay show 2048 --position {BOARD}",
        text="One pattern of four cells under the rotations and reflections of the board; and a board on which "
        "each direction is valued by a table of random weights, the best in green.",
        facts=facts,
        drawings=[
            Drawing(_images(), "the eight images; they share one table"),
            Drawing(
                resized(valued(game.svg(states[0]), texts, best), 0.8), f"{MOVES[best[0]]} has the highest value"
            ),
        ],
    )


def _random_boards(seed: int, count: int) -> list[list[int]]:
    """Return boards with empty cells and a legal move, many of them."""
    rng = np.random.default_rng(seed)
    return [(rng.integers(1, 6, 16) * (rng.random(16) < 0.6)).tolist() for _ in range(count)]


def _same_places(network: Any, table: Any, boards: Sequence[list[int]], states: Sequence[Any]) -> bool:
    """Tell whether the look-ups find the same weights as those of the plain pattern, on every board."""
    return all(
        sorted(network.weights[network.weight_indices(s)].tolist())
        == sorted(float(table[place]) for place in places(PATTERN, b))
        for s, b in zip(states, boards, strict=True)
    )


def _images() -> str:
    """Draw the eight images of the pattern, the first cell darker."""
    size, gap = 18, 22
    shapes = []
    for number, image in enumerate(isomorphic(PATTERN)):
        left, top = number % 4 * (4 * size + gap), number // 4 * (4 * size + gap)
        for cell in range(16):
            x, y = left + cell % 4 * size, top + cell // 4 * size
            kind = "ink" if cell == image[0] else "neutral" if cell in image else "panel"
            shapes.append(draw.rect(x, y, size - 2, size - 2, kind, 3, stroke="none"))
    return draw.picture(4 * (4 * size + gap) - gap, 8 * size + gap, shapes, "eight images of a pattern")


# ---------------------------------------------------------------- learning
def _learned(method: str, episodes: int, seed: int, show: Show) -> Figure:
    from mdplay import learn
    from mdplay.games.twenty48.player import curve

    training: Any = learn(Twenty48(), method=method, episodes=episodes, seed=seed, progress=show)
    found: dict[str, Any] = training.document()
    last = training.curve[-1]
    points = curve(training.scores, training.tiles, max(1, episodes // POINTS))
    tiles = {tile: share for tile, share in last.tiles.items() if 0.001 <= share < 1}
    return Figure(
        title=f"Learning by {METHODS[method]}, {episodes:,} episodes",
        command=f"mdplay learn 2048 --method {method} --episodes {episodes} --seed {seed} --plot curve.png",
        text=f"{found['moves_per_second']:,.0f} moves a second on one thread. The table shows the share of the "
        "last thousand games that reached each tile.",
        facts={
            "method": method,
            "episodes": episodes,
            "mean": found["mean"],
            "max": found["max"],
            "moves_per_second": found["moves_per_second"],
            "alpha": training.settings.rate,
            "backward": training.settings.rule.backward,
            "curve": found["curve"],
        },
        table=ResultTable(
            ["mean", "max", *map(str, tiles)],
            [[f"{last.mean:,.0f}", f"{last.max:,}", *(f"{share:.1%}" for share in tiles.values())]],
        ),
        picture=both(lambda figure: _paint(figure, method, points)),
        drawings=_game(training, seed) if method == "td" else (),
    )


def _paint(figure: Any, method: str, points: Sequence[Any]) -> None:
    """Paint a curve of mean scores; each method has a colour of its own."""
    axes = figure.add_subplot(xlabel="episodes", ylabel=f"mean score of {points[0].episodes:,} episodes")
    axes.plot(
        [point.episodes for point in points],
        [point.mean for point in points],
        color=f"C{list(METHODS).index(method)}",
        label=METHODS[method],
        linewidth=2.5,
    )
    axes.grid(True)
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.legend(loc="lower right")


def _game(training: TilesTraining, seed: int) -> list[Drawing]:
    """Play a game by what was learned, and draw its beginning, its middle and its end."""
    game, player, rng = Twenty48(), training.agent(), Random(seed)
    state, score, moves = game.initial(), 0, 0
    boards: list[tuple[Any, int, int]] = []
    while True:
        while state.popups:
            state = game.outcome(state, game.draw(state, rng.word()))
        boards.append((state, score, moves))
        if not game.legal(state):
            break
        values = player.values(state)
        action = max(values, key=lambda a: values[a])
        score, moves, state = score + game.reward(state, action), moves + 1, game.step(state, action)
    shown = [boards[len(boards) * part // 3] for part in range(3)] + [boards[-1]]
    return [Drawing(resized(game.svg(s), 0.55), f"move {count}, score {points:,}") for s, points, count in shown]
