"""Training of 2048 by an n-tuple network, with checkpoints.

A checkpoint is the network file itself: the weights, the sums of temporal coherence, and the scores of all
episodes so far.  It is written atomically about every minute, at the end, and on interruption.  Every episode
has its own random stream, so a run on one thread that is resumed from a checkpoint ends with the same bits as
one that was never interrupted.

The methods td and tc are those of ``mdplay.learning.episodes``, online.  Backward, an episode is played to its end
and then replayed from there, so that V(next) is taken after its own update:

    return = points + (1 - lambda) * V(next) + lambda * return of the next         error = return - V(this)

lambda 0 is TD(0).  Before-states, the boards on which the player moves, are learned in this way: their moves are
chosen by points plus the expectation over every tile that may pop up, and a finished board has value 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import U64
from mdplay.compiling import inlined, kernel, native, word
from mdplay.compiling.identity import check_rules, game_identity
from mdplay.errors import FormatError, pluralize, unknown
from mdplay.game import Game
from mdplay.games.twenty48.files import (
    board_for,
    game_of,
    load_network,
    parse_patterns,
    save_compact,
    save_network,
)
from mdplay.games.twenty48.moves import BoardNetwork, greedy_move, largest, pop_up, start
from mdplay.games.twenty48.player import BLOCK, COLUMNS, Player, Point, curve, last_point
from mdplay.games.twenty48.rules import State, Twenty48
from mdplay.learning.curves import NO_JUDGE, Found
from mdplay.learning.episodes import LINEAR, NONE, Episodes, Rule, TrainingState, correct, rate_table
from mdplay.learning.learned import LearningRun
from mdplay.learning.lookups import NetworkArrays, new_places, store_places, total
from mdplay.learning.network import Network
from mdplay.learning.self_play import SelfPlayLearner, check_settings
from mdplay.learning.training import TupleTraining
from mdplay.rng import advance, stream
from mdplay.runtime.memory import new_floats
from mdplay.runtime.threads import WorkSlice

MAX_MOVES = 1 << 18  # every tile that pops up adds at least 2 to a board, which holds at most 16 * 32768


@inlined
def played_episode(game: Any, evaluator: BoardNetwork, x: Any, out_boards: Any, out_points: Any) -> Any:
    """Play an episode and write down its boards and points; return the score, the moves and the last board."""
    board, x = start(game, x)
    score, moves = 0, 0
    while True:
        choice = greedy_move(game, evaluator, board)
        if choice.action < 0:
            return score, moves, board
        out_boards[moves] = int(board) if evaluator.before else int(choice.after.board)
        out_points[moves] = choice.points
        score += int(choice.points)
        moves += 1
        x = advance(x)
        board = pop_up(game, choice.after.board, x)


@inlined
def replay(
    training: TrainingState, before: bool, moves: int, boards: Any, points: Any, places: Any, rates: Any
) -> None:
    """Learn an episode from its end.  A move's points count for the board before it, not for the one after."""
    tables = training.tables
    step, decay = np.float32(training.rule.step), np.float32(training.rule.decay)
    following = target = np.float32(0)
    for t in range(moves - 1, -1, -1):
        if before:
            target = points[t] + (np.float32(1) - decay) * following + decay * target
        elif t < moves - 1:
            target = points[t + 1] + (np.float32(1) - decay) * following + decay * target
        store_places(tables.shape, U64(boards[t]), places)
        correct(training, step, places, target - total(tables, places), rates)
        following = total(tables, places)


@kernel
def train_backward(
    game: Any,
    training: TrainingState,
    network: NetworkArrays,
    before: bool,
    seed: Any,
    first: int,
    worker: WorkSlice,
    out: Episodes,
) -> None:
    """Learn every episode from the first on that is the worker's, in place; one entry of ``out`` each."""
    evaluator, places = BoardNetwork(network, before), network.places.now
    boards, points = np.zeros(MAX_MOVES, np.uint64), np.zeros(MAX_MOVES, np.float32)
    rates = np.zeros(len(places), np.float32)
    for i in range(worker.first, len(out.scores), worker.stride):
        if worker.stop[0]:
            return
        score, moves, last = played_episode(game, evaluator, stream(seed, first + i), boards, points)
        replay(training, before, moves, boards, points, places, rates)
        out.scores[i], out.highest[i], out.moves[i] = score, largest(last), moves
        worker.progress[worker.first] += moves


class Method(NamedTuple):
    """How to learn: before-states or afterstates, backward or online, with temporal coherence or without."""

    before: bool = False
    backward: bool = False
    coherent: bool = False


METHODS = {
    "td": Method(),
    "td-before": Method(before=True, backward=True),
    "tc": Method(coherent=True),
}
ALPHAS = {"td": 0.1, "td-before": 0.1, "tc": 1.0}


@dataclass(frozen=True)
class TrainingSettings:
    """What a training depends on; with one thread nothing else changes its result.

    ``alpha`` None takes the method's own.  ``backward`` replays after-states from the end of each episode;
    ``decay`` (lambda) does so with returns of TD(lambda).  ``optimistic`` is the first value of every board.
    """

    method: str = "td"
    network: str = "default"
    rows: int = 4
    cols: int = 4
    alpha: float | None = None
    backward: bool = False
    decay: float = 0.0
    optimistic: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        if self.method not in METHODS:
            raise unknown("method", self.method, METHODS)
        if not 0 < self.rate <= 10:
            raise FormatError(f"alpha={self.rate} is not a rate; give a number above 0, as 0.1")
        if not 0 <= self.decay <= 1:
            raise FormatError(f"lambda={self.decay} is not between 0 and 1")
        if not abs(self.optimistic) < 1e9:
            raise FormatError(f"optimistic={self.optimistic} is no value of a board")

    @property
    def rate(self) -> float:
        """The rate of learning, shared by all lookups of a board."""
        return ALPHAS[self.method] if self.alpha is None else self.alpha

    @cached_property
    def game(self) -> Twenty48:
        """The game that is learned; one object, since kernels hash every new one."""
        return Twenty48(self.rows, self.cols)

    @property
    def rule(self) -> Method:
        """How the method and the options say to learn."""
        method = METHODS[self.method]
        return method._replace(backward=method.backward or self.backward or self.decay > 0)


def _settings_of(words: Mapping[str, Any]) -> TrainingSettings:
    """Return the settings of a checkpoint; raise TypeError for one that is not of its kind."""
    for setting in fields(TrainingSettings):
        value, default = words[setting.name], setting.default
        kinds = (int, float, type(default)) if default is None or type(default) is float else (type(default),)
        if type(value) not in kinds:
            raise TypeError(f"{setting.name} is {value!r:.40}")
    return TrainingSettings(**words)


@dataclass
class TilesTraining(TupleTraining):
    """A training: the settings, the network as it is now, and the results of the episodes."""

    COLUMNS: ClassVar[Sequence[str]] = COLUMNS

    settings: TrainingSettings
    network: Network
    coherence: NDArray[np.float32]
    scores: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    tiles: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    moves: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    seconds: float = 0.0

    @classmethod
    def begin(cls, settings: TrainingSettings) -> TilesTraining:
        """Return a training before its first episode."""
        patterns = parse_patterns(settings.network, settings.rows, settings.cols)
        board = board_for(settings.rows, settings.cols)
        network = Network.create(board, patterns, settings.optimistic, before=settings.rule.before)
        coherence = new_floats(len(network.weights) if settings.rule.coherent else 1, 2)
        coherence.fill(np.finfo(np.float32).tiny)  # the rate of a weight that was never changed is 1
        return cls(settings, network, coherence)

    @property
    def episodes(self) -> int:  # type: ignore[override]  # a count of what is kept
        """The episodes done."""
        return len(self.scores)

    @property
    def num_moves(self) -> int:
        """The moves of all episodes."""
        return int(self.moves.sum(dtype=np.int64))

    @property
    def curve(self) -> list[Point]:
        """The learning curve."""
        return curve(self.scores, self.tiles)

    @property
    def title(self) -> str:
        """The title of the plot."""
        return f"2048, {self.settings.method}, seed {self.settings.seed}"

    def agent(self, depth: int = 1) -> Player:
        """Return a player that goes by the network, looking ``depth`` moves ahead."""
        return Player(self.network, depth)

    def value(self, state: State) -> float:
        """Return the points that are expected from a state on, over all tiles that may pop up."""
        return self.agent().value(state)

    def text(self) -> str:
        """Return for people how much was learned how fast."""
        speed = self.moves_per_second / 1e6
        return f"{pluralize(self.episodes, 'episode')} in {self.seconds:,.1f} s, {speed:.2f} M moves per second"

    def document(self) -> dict[str, Any]:
        """Return the statistics for JSON: the last thousand episodes, and the curve."""
        points = self.curve
        last = self.scores[-BLOCK:]
        return {
            "mean": float(last.mean()) if len(last) else 0.0,
            "max": int(last.max(initial=0)),
            "episodes": self.episodes,
            "moves": self.num_moves,
            "seconds": self.seconds,
            "moves_per_second": self.moves_per_second,
            "settings": asdict(self.settings),
            "curve": [asdict(point) for point in points],
        }

    # ---------------------------------------------------------------- learning
    def rule(self, planned: int) -> Rule:
        """Return the rule of a run, as kernels take it; it is the same for any number of episodes."""
        coherence = LINEAR if self.settings.rule.coherent else NONE
        step = self.settings.rate / self.network.num_lookups
        return Rule(step, float(self.settings.decay), 1.0, 0.0, 0.0, False, 0, True, coherence)

    def task(self, worker: WorkSlice, planned: int, out: Episodes) -> Callable[[], None]:
        """Return the work of one thread: a kernel with all its arguments."""
        settings, tables = self.settings, self.network.tables
        if not settings.rule.backward:
            return super().task(worker, planned, out)
        training = TrainingState(tables, self.coherence, rate_table(), self.rule(planned))
        network, seed = NetworkArrays(tables, new_places(tables)), word(settings.seed)
        run = partial(train_backward, native(self.game), training, network, settings.rule.before, seed)
        return partial(run, self.episodes, worker, out)

    def add(self, played: Episodes) -> None:
        """Count episodes that were learned."""
        scores = np.concatenate([self.scores, played.scores.astype(np.int32)])
        tiles = np.concatenate([self.tiles, played.highest.astype(np.uint8)])
        moves = np.concatenate([self.moves, played.moves])
        self.scores, self.tiles, self.moves = scores, tiles, moves  # together: Ctrl-C must not part them

    def add_point(self, found: Found = NO_JUDGE) -> Point:
        """Return the last point of the curve, which goes by the episodes alone."""
        return last_point(self.scores, self.tiles)

    # ---------------------------------------------------------------- checkpoints
    def save(self, path: str | Path) -> None:
        """Write the checkpoint, which is also the network's file."""
        arrays: dict[str, NDArray[Any]] = {"scores": self.scores, "tiles": self.tiles, "moves": self.moves}
        if self.settings.rule.coherent:
            arrays["coherence"] = self.coherence
        rules = game_identity(self.settings.game)
        words = {"settings": asdict(self.settings), "seconds": self.seconds, "rules": rules}
        save_network(path, self.network, arrays, words)

    def save_compact(self, path: str | Path) -> None:
        """Write the network alone, rounded, in a fraction of the room."""
        save_compact(path, self.network)

    @classmethod
    def load(cls, path: str | Path) -> TilesTraining:
        """Read a checkpoint."""
        network, arrays, meta = load_network(path)
        if "settings" not in meta:
            raise FormatError(
                f"{path} contains weights but no training state; resume from the checkpoint that learn wrote"
            )
        try:
            settings, seconds = _settings_of(meta["settings"]), float(meta["seconds"])
            coherence = arrays["coherence"] if settings.rule.coherent else None
            scores, tiles, moves = (arrays[name].copy() for name in ("scores", "tiles", "moves"))
        except (KeyError, TypeError, ValueError, OverflowError):
            raise FormatError(
                f"{path} is damaged: its settings, counts or curve are missing or of a wrong kind"
            ) from None
        board = game_of(network)
        if (settings.rows, settings.cols) != (board.rows, board.cols):
            raise FormatError(f"{path} is damaged: its settings are not those of its network")
        instead = "it still plays, but start a new training in another file"
        check_rules(path, meta.get("rules"), settings.game, instead)
        if parse_patterns(settings.network, settings.rows, settings.cols) != network.tuples:
            raise FormatError(f"{path} is damaged: its patterns are not those of its settings")
        training = cls.begin(settings)
        if not scores.shape == tiles.shape == moves.shape == (scores.size,):
            raise FormatError(f"{path} is damaged: its episodes are not as many scores as tiles and moves")
        training.network.weights[:] = network.weights
        if coherence is not None:
            if coherence.shape != training.coherence.shape:
                raise FormatError(f"{path} is damaged: its sums of coherence are not those of its weights")
            training.coherence[:] = coherence
        training.scores, training.tiles, training.moves, training.seconds = scores, tiles, moves, seconds
        return training


@dataclass(frozen=True)
class TilesLearner(SelfPlayLearner[TilesTraining]):
    """Learn 2048 by an n-tuple network and temporal differences.

    Methods: td (after-states, the default), td-before (before-states), tc (temporal coherence).  Every 1000
    episodes: the mean score, the maximum, and for each tile the share of games that reached it.  The file is
    network and checkpoint in one, written about every minute.  Ctrl-C saves and stops; resume continues.  One seed
    and one thread repeat to the last bit, also over kills.

    Example:
      mdplay learn 2048 --episodes 100000 --seed 1 --out td.safetensors --plot td.png
      mdplay learn 2048 --method tc --threads 2 --episodes 5000 --json

    """

    EPISODES = 10_000
    POINT_EPISODES = BLOCK

    network: Annotated[str | None, "Patterns: 4x6 (the default), 5x6, 8x6 ... or cells in hex, as 0123,4567."] = (
        None
    )
    alpha: Annotated[float | None, "Rate of learning; 0.1 for td, 1 for tc unless given."] = None
    backward: Annotated[bool | None, "Replay each episode from its end."] = None
    lambda_: Annotated[float | None, "Returns of TD(lambda); replays backward."] = None
    optimistic: Annotated[float | None, "First value of every board (0)."] = None

    @staticmethod
    def short_run(game: Twenty48) -> dict[str, Any]:
        """Return options for a run of a few minutes, as on the page: small patterns, which learn faster."""
        return {"network": "4x5"} if (game.rows, game.cols) == (4, 4) else {}

    def settings(self, game: Game[Any], run: LearningRun) -> dict[str, Any]:
        """Return the settings of a training that are given."""
        assert isinstance(game, Twenty48)
        wanted = {"method": run.method, "network": self.network, "alpha": self.alpha, "backward": self.backward}
        wanted |= {"decay": self.lambda_, "optimistic": self.optimistic, "seed": run.seed}
        wanted |= {"rows": game.rows, "cols": game.cols}
        return {name: value for name, value in wanted.items() if value is not None}

    def begin(self, game: Game[Any], given: Mapping[str, Any]) -> TilesTraining:
        """Return a new training with the settings given, the others as the method has them."""
        return TilesTraining.begin(TrainingSettings(**given))

    def resumed(self, game: Game[Any], given: Mapping[str, Any], path: str | Path) -> TilesTraining:
        """Read a checkpoint to go on with; the settings given must be its own."""
        training = TilesTraining.load(path)
        check_settings(path, training.settings, given)
        return training
