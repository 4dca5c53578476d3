"""Evaluations of the four directions of 2048 by an n-tuple network.

A pretrained network is included for the board of 4 x 4.  For other boards a network is trained once, on this
machine, and stored in the cache folder; until then tree search evaluates.  Small boards are solved exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mdplay.compiling.identity import game_identity
from mdplay.errors import MdplayError
from mdplay.evaluating.evaluation import Evaluation, Evaluator, MoveEvaluation, best_moves
from mdplay.game import Game
from mdplay.games.twenty48.files import read_network
from mdplay.games.twenty48.player import Player
from mdplay.games.twenty48.rules import State, Twenty48
from mdplay.learning.learned import Report
from mdplay.learning.shipped import shipped_file
from mdplay.playing.evaluators import SearchEvaluator
from mdplay.playing.learning import learn
from mdplay.runtime.threads import Show
from mdplay.storage.folders import cache_folder, private_folder

SOLVED_CELLS = 6  # up to here a table is better
EPISODES = 20_000


class NetworkEvaluator:
    """The values of a network: the points of the move plus the expected points after it."""

    method = "network"

    def __init__(self, player: Player, source: str = "n-tuple network") -> None:
        self.player, self.source = player, source
        self.player.values(State(0x1123, 0))  # compiles

    def evaluate(self, state: State, *, brief: bool = False, show: Show | None = None) -> Iterator[Evaluation]:
        """Yield the evaluation of all directions."""
        moves = {action: MoveEvaluation.of(value, False) for action, value in self.player.values(state).items()}
        best = best_moves(moves)
        yield Evaluation({} if brief else moves, moves[best[0]], best, self.source, done=True)


class Untrained(SearchEvaluator):
    """Tree search until there is a network: ``improve`` trains one."""

    def improve(self, report: Report | None = None, show: Show | None = None) -> None:
        """Train a network for the board and save it; ``report`` is called with a line every thousand games."""
        assert isinstance(self.game, Twenty48)
        path = network_file(self.game)
        if path is not None:
            options: dict[str, Any] = {
                "method": "tc",
                "episodes": EPISODES,
                "seed": 1,
                "network": patterns_for(self.game),
            }
            learn(self.game, report=report, show=show, **options).save(path)


def patterns_for(game: Twenty48) -> str:
    """Return small patterns: rows, columns and squares of two by two that are not images of each other."""
    rows, cols = game.rows, game.cols
    if rows == cols == 4:
        return "5x4"
    lines = [[r * cols + c for c in range(cols)][:5] for r in range((rows + 1) // 2)]
    lines += [[r * cols + c for r in range(rows)][:5] for c in range((cols + 1) // 2)]
    squares = [
        [r * cols + c, r * cols + c + 1, (r + 1) * cols + c, (r + 1) * cols + c + 1]
        for r in range(rows // 2)
        for c in range(cols // 2)
        if rows > 1 and cols > 1
    ]
    found = {"".join(f"{cell:x}" for cell in cells) for cells in [*lines, *squares] if len(cells) > 1}
    return ",".join(sorted(found))


def network_file(game: Twenty48) -> Path | None:
    """Return where the network of a board is kept; None if nothing can be kept."""
    folder = private_folder(cache_folder() / "networks", "networks")
    name = f"2048-{game.rows}x{game.cols}-{game_identity(game)[:16]}.safetensors"
    return None if folder is None else folder / name


def evaluator(game: Game[Any]) -> Evaluator | None:
    """Return the evaluator of a board: a network, tree search until there is one, None if a table is better."""
    assert isinstance(game, Twenty48)
    if game.rows * game.cols <= SOLVED_CELLS:
        return None
    path = shipped_file(game) or network_file(game)
    try:
        if path is not None and path.is_file():
            return NetworkEvaluator(Player(read_network(path)))
    except MdplayError:  # a damaged file: train again
        pass
    return Untrained(game)
