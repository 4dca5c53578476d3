"""Players of 2048 that use a network: an agent for single moves, whole games in compiled code, evaluations.

A pretrained network is included for the board of 4 x 4.  For other boards a network is trained once, on this
machine, and stored in the cache folder; until then tree search evaluates.  Small boards are solved exactly.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import elements, nonempty
from mdplay.compiling import native, word
from mdplay.compiling.identity import game_identity
from mdplay.errors import GameError, IllegalMove, LimitError, MdplayError
from mdplay.evaluating.evaluation import Evaluation, Evaluator, MoveEvaluation, best_moves
from mdplay.game import Game
from mdplay.games.twenty48.expectimax import Memory, choose_once, play_games
from mdplay.games.twenty48.files import game_of
from mdplay.games.twenty48.files import read_network as read_any
from mdplay.games.twenty48.moves import BoardNetwork, no_games
from mdplay.games.twenty48.rules import State, Twenty48
from mdplay.learning.learned import Report
from mdplay.learning.network import Network, read_network
from mdplay.learning.shipped import SHIPPED, need_shipped, shipped_file
from mdplay.playing.evaluators import SearchEvaluator
from mdplay.playing.learning import learn
from mdplay.playing.matches.evaluating import PlayedGames
from mdplay.rng import Random
from mdplay.runtime.threads import Show, TaskGroup, num_threads
from mdplay.storage.folders import cache_folder, private_folder

BLOCK = 1000  # episodes from point to point
COLUMNS = ("episodes", "mean", "max")  # of a CSV file, followed by one for each tile


@dataclass(frozen=True)
class Point:
    """A block of episodes: how many there were up to its end, their mean and best score, and the tiles.

    ``tiles`` maps each tile to the share of games that reached it or a larger one.
    """

    LABEL: ClassVar[str] = "score"
    SERIES: ClassVar[Mapping[str, str]] = {"mean": "mean", "max": "best"}
    examined = kept = None  # no opponent, no exact values

    episodes: int
    mean: float
    max: int
    tiles: dict[int, float]

    def line(self) -> str:
        """Return the point as a line for people; tiles that every game reached are left out."""
        shares = [(tile, share) for tile, share in self.tiles.items() if share < 1.0]
        table = "".join(f"  {tile} {share:.1%}" for tile, share in shares)
        return f"{self.episodes:>9,}  mean {self.mean:>10,.1f}  max {self.max:>8,}{table}"

    def columns(self) -> dict[str, Any]:
        """Return the entries of a row of a CSV file by the names of their columns."""
        row = {"episodes": self.episodes, "mean": f"{self.mean:.6f}", "max": self.max}
        return {**row, **{str(tile): share for tile, share in self.tiles.items()}}


def curve(scores: NDArray[np.int32], exponents: NDArray[np.uint8], block: int = BLOCK) -> list[Point]:
    """Return a point for every block of episodes; the last one may be shorter.

    ``exponents`` are those of the largest tile of each game.
    """
    return [_point(scores[i : i + block], exponents[i : i + block], i) for i in range(0, len(scores), block)]


def last_point(scores: NDArray[np.int32], exponents: NDArray[np.uint8]) -> Point:
    """Return the point of the block that was begun last."""
    begin = (len(scores) - 1) // BLOCK * BLOCK
    return _point(scores[begin:], exponents[begin:], begin)


def _point(scores: NDArray[np.int32], exponents: NDArray[np.uint8], before: int) -> Point:
    return Point(before + len(scores), float(scores.mean()), int(scores.max()), shares(exponents))


def shares(exponents: NDArray[Any]) -> dict[int, float]:
    """Return for every tile the share of games that reached it or a larger one."""
    return {1 << e: float(np.mean(exponents >= e)) for e in range(1, int(exponents.max()) + 1)}


MAX_DEPTH = 16
QUICK_DEPTH = 2  # up to here a move takes well below a millisecond
MEMORY_BITS = 18  # entries of the table, 13 bytes each


class Player:
    """Look ``depth`` moves ahead and value what is seen there by a network, as it was when it was first asked."""

    def __init__(self, network: Network, depth: int = 1) -> None:
        if not 1 <= depth <= MAX_DEPTH:
            raise LimitError(f"depth={depth} is out of range; 1 to {MAX_DEPTH}")
        self.network, self.depth = network, depth
        size = 1 << self._memory_bits
        self._memory = Memory(np.zeros(size, np.uint64), np.zeros(size, np.uint8), np.zeros(size, np.float32))

    @property
    def _memory_bits(self) -> int:
        return MEMORY_BITS if self.depth > 1 else 0

    @cached_property
    def game(self) -> Twenty48:
        """The game that the network knows; one object, since kernels hash every new one."""
        return game_of(self.network)

    def forget(self) -> None:
        """Forget what was seen ahead: the network may have learned since."""
        self._memory.depth.fill(0)

    def act(self, state: State, rng: Random | None = None) -> int:
        """Return the best move; nothing is random about it."""
        return self.best(state)[0]

    def value(self, state: State) -> float:
        """Return the points that are expected from a state on, over all tiles that may pop up."""
        game = self.game
        if not state.popups:
            return self.best(state)[1] if nonempty(game.legal(state)) else 0.0
        chances = [(game.probability(state, i), game.outcome(state, i)) for i in elements(game.outcomes(state))]
        return sum(probability * self.value(following) for probability, following in chances)

    def best(self, state: State) -> tuple[int, float]:
        """Return the best move, and the points that it is expected to bring from here on."""
        if state.popups:
            raise IllegalMove(f"{self.game.text(state)}: chance moves here, not the player")
        out = np.zeros(1, np.float32)
        run = partial(choose_once, native(self.network.game), self._evaluator, self._memory, word(state.board))
        watch = TaskGroup()
        if self.depth > QUICK_DEPTH:  # in a thread, so that Ctrl-C is heard
            action = watch.run([partial(run, self.depth, watch.stop, out)])[0]
        else:
            action = run(self.depth, watch.stop, out)
        if action < 0:
            raise IllegalMove(f"{self.game.text(state)}: the game is over")
        return int(action), float(out[0])

    def values(self, state: State) -> dict[int, float]:
        """Return what each legal move is expected to bring from here on, its own points included.

        One move ahead that is the network's opinion of the board after it; further ahead, the mean over what
        pops up.
        """
        if state.popups:
            raise IllegalMove(f"{self.game.text(state)}: chance moves here, not the player")
        if self.depth > 1:
            self._shallower.forget()
        return {action: self._move_value(state, action) for action in elements(self.game.legal(state))}

    def _move_value(self, state: State, action: int) -> float:
        after = self.game.step(state, action)
        points = float(self.game.reward(state, action))
        if self.depth > 1:
            return points + self._shallower.value(after)
        if not self.network.before:
            return points + self.network.estimate(after)
        popups = elements(self.game.outcomes(after))
        chances = [(self.game.probability(after, i), self.game.outcome(after, i)) for i in popups]
        return points + sum(probability * self.network.estimate(s) for probability, s in chances)

    @cached_property
    def _shallower(self) -> Player:
        """Who looks a move less ahead."""
        return Player(self.network, self.depth - 1)

    def play_games(
        self, *, games: int, seed: int = 0, threads: int | None = None, show: Show | None = None, first: int = 0
    ) -> PlayedGames:
        """Play whole games by compiled code, from number ``first`` on.

        Game number i of a seed is the same for any number of threads.
        """
        if games < 1:
            raise LimitError(f"games={games}: play at least one")
        count = min(num_threads(threads), games)
        out, watch = no_games(games), TaskGroup(count, show)
        run = partial(
            play_games,
            native(self.network.game),
            self._evaluator,
            self.depth,
            self._memory_bits,
            word(seed),
            first,
        )
        run(watch.worker(), no_games(0))  # compiles, before the clock
        began = time.perf_counter()
        watch.run([partial(run, watch.worker(i, count), out) for i in range(count)])
        results = tuple(map(float, out.scores))
        seconds = time.perf_counter() - began
        return PlayedGames(results, int(out.moves.sum(dtype=np.int64)), seconds, {"tiles": shares(out.tiles)})

    @cached_property
    def _evaluator(self) -> BoardNetwork:
        return BoardNetwork(self.network.arrays(), self.network.before)


class FilePlayer(Player):
    """Play by the network in a file, or by the one that comes with the game, looking ``depth`` moves ahead."""

    def __init__(self, game: Game[Any], file: str = SHIPPED, depth: int = 1) -> None:
        super().__init__(read_network(need_shipped(game) if file == SHIPPED else file, game, _network), depth)


def _network(path: Path, game: Game[Any]) -> Network:
    """Return the network of a file; raise GameError if it was trained on another board than the game's."""
    network = read_any(path)
    if game != (own := game_of(network)):
        raise GameError(f"{path} knows the board of {own.rows} x {own.cols} cells, not this game")
    return network


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
            return NetworkEvaluator(Player(read_any(path)))
    except MdplayError:  # a damaged file: train again
        pass
    return Untrained(game)
