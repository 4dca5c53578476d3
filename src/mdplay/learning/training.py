"""Learning a network of tuples for any game: a training that can be stopped, killed and resumed.

A checkpoint is the network's file: the weights, the sums of temporal coherence, the settings and the curve.  On
one thread a run of a given number of episodes ends with the same bits however often it was interrupted.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mdplay.checking.contract_checks import spot_check
from mdplay.compiling import native, word
from mdplay.compiling.contract import mask_size
from mdplay.errors import FormatError, GameError, pluralize
from mdplay.game import Between, Game
from mdplay.learning.board import Board, board_of
from mdplay.learning.curves import COLUMNS, NO_JUDGE, Found, Point, draw, label, point_from, series, write_csv
from mdplay.learning.episodes import (
    LARGEST,
    NO_NUMBER,
    Episodes,
    Rule,
    TrainingState,
    new_trajectory,
    no_episodes,
    rate_table,
    train_network,
)
from mdplay.learning.learned import Actor, LearningRun
from mdplay.learning.lookups import new_places
from mdplay.learning.network import Network, NetworkAgent, lengths_text
from mdplay.learning.self_play import Learn, SelfPlayLearner, Training, check_settings
from mdplay.learning.tuples import choose_tuples, read_tuples, tuples_text
from mdplay.position import takes_state
from mdplay.runtime.executors import Executor, driver
from mdplay.runtime.memory import new_floats
from mdplay.runtime.threads import MAX_THREADS, Show, TaskGroup, WorkSlice

Examine = Callable[[Actor], Found]


@dataclass(frozen=True)
class Settings:
    """What a training depends on; with one thread and a number of episodes nothing else changes its result."""

    tuples: str
    alpha: float
    decay: float = 0.8
    discount: float = 1.0
    epsilon: float = 0.1
    exploring_starts: float = 0.0
    seed: int = 0
    online: bool = False

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        if not 0 < self.alpha <= 100:
            raise FormatError(f"alpha={self.alpha} is not a rate; give a number above 0, as 1")
        if not 0 <= self.decay <= 1:
            raise FormatError(f"lambda={self.decay} is not between 0 and 1")
        if not 0 < self.discount <= 1:
            raise FormatError(f"discount={self.discount} is not above 0 and at most 1")
        if not 0 <= self.epsilon <= 1:
            raise FormatError(f"epsilon={self.epsilon} is not between 0 and 1")
        if not 0 <= self.exploring_starts <= 1:
            raise FormatError(f"exploring_starts={self.exploring_starts} is not between 0 and 1")


@dataclass
class Stretch:
    """The episodes since the last point of the curve."""

    episodes: int = 0
    score: float = 0.0  # of player 0, all episodes together
    moves: int = 0

    def add(self, played: Episodes) -> None:
        """Add episodes one after the other, so that it does not matter how they were parted."""
        self.score = float(np.cumsum(np.concatenate([[self.score], played.scores.astype(np.float64)]))[-1])
        self.episodes += len(played.scores)
        self.moves += int(played.moves.sum(dtype=np.int64))


def stretch_from(data: Mapping[str, Any]) -> Stretch:
    """Return the stretch that a file tells."""
    return Stretch(int(data["episodes"]), float(data["score"]), int(data["moves"]))


class TupleTraining(Training[Episodes]):
    """A training of an n-tuple network; subclasses define its settings, its curve and its file."""

    COLUMNS: ClassVar[Sequence[str]] = COLUMNS  # of the curve as CSV

    settings: Any
    network: Network
    coherence: NDArray[np.float32]
    curve: Any

    @property
    def game(self) -> Game[Any]:
        """The game that is learned."""
        return self.network.game

    @property
    def title(self) -> str:
        """The title of the plot."""
        return f"{self.game!r}, seed {self.settings.seed}"

    @abstractmethod
    def text(self) -> str:
        """Return the size and the speed of the training as a sentence."""

    @abstractmethod
    def rule(self, planned: int) -> Rule:
        """Return the rule of a run of ``planned`` episodes, as kernels take it."""

    def room(self, episodes: int) -> Episodes:
        """Return arrays for the results of ``count`` episodes."""
        return no_episodes(episodes)

    def check(self, played: Episodes) -> None:
        """Raise GameError for an episode whose rules told no number."""
        if NO_NUMBER in played.moves:
            limits = f"from {-LARGEST:g} to {LARGEST:g}"
            raise GameError(f"{type(self.game).__name__}: a result or reward is no number {limits}")

    def task(self, worker: WorkSlice, planned: int, out: Episodes) -> Callable[[], None]:
        """Return the work of one thread: a kernel with all its arguments."""
        tables, seed = self.network.tables, word(self.settings.seed)
        training = TrainingState(tables, self.coherence, rate_table(), self.rule(planned))
        places, trajectory = new_places(tables), new_trajectory(tables, mask_size(self.game))
        run = partial(train_network, native(self.game), training, places, trajectory, seed)
        return partial(run, self.episodes, worker, out)

    def plot(self, path: str | Path) -> None:
        """Draw the curve."""
        draw(path, self.curve, self.title)

    def write_curve(self, path: str | Path) -> None:
        """Write the curve as CSV."""
        write_csv(path, self.curve, self.COLUMNS)

    def _repr_html_(self) -> str:
        """Show the curve: the score against the opponent, or the score of self-play."""
        from mdplay.views.charts import chart
        from mdplay.views.html import sentence

        return sentence(self.text()) + chart(series(self.curve), "episodes", label(self.curve))

    def save_compact(self, path: str | Path) -> None:
        """Write the network alone, rounded, in a fraction of the room."""
        self.network.save_compact(path)


@dataclass
class NetworkTraining(TupleTraining):
    """A training: the settings, the network as it is now, and how it went so far."""

    settings: Settings
    network: Network
    coherence: NDArray[np.float32]
    episodes: int = 0
    moves: int = 0
    seconds: float = 0.0
    curve: list[Point] = field(default_factory=list)
    stretch: Stretch = field(default_factory=Stretch)

    @classmethod
    def begin(cls, game: Game[Any], settings: Settings, *, packed: bool = True) -> NetworkTraining:
        """Return a training before its first episode; its tables are packed if the board packs and ``packed``."""
        board = board_of(game)
        network = Network.create(board, read_tuples(settings.tuples, board, settings.seed), packed=packed)
        return cls(settings, network, new_floats(len(network.weights), 2))

    @property
    def num_moves(self) -> int:
        """The moves of all episodes."""
        return self.moves

    # ---------------------------------------------------------------- learning
    def play(self, first: int, episodes: int, planned: int) -> Episodes:
        """Learn episodes from a number on, and return what came of them; they do not count as played."""
        out, watch, before = no_episodes(episodes), TaskGroup(), self.episodes
        self.episodes = first
        watch.run([self.task(watch.worker(), planned, out)])
        self.episodes = before
        self.check(out)
        return out

    def add(self, played: Episodes) -> None:
        """Count episodes that were learned."""
        self.stretch.add(played)
        self.episodes += len(played.moves)
        self.moves += int(played.moves.sum(dtype=np.int64))

    def rule(self, planned: int) -> Rule:
        """Return the rule of a run of ``planned`` episodes, as kernels take it."""
        known = self.settings
        step = known.alpha / self.network.num_lookups
        return Rule(
            step,
            float(known.decay),
            float(known.discount),
            float(known.epsilon),
            float(known.exploring_starts),
            self._is_fair,
            planned,
            known.online,
        )

    @property
    def _is_fair(self) -> bool:
        """Whether rates are fair: beside a tuple of the whole board, which the others would hold back."""
        return len(self.network.tuples) > 1 and max(map(len, self.network.tuples)) == self.network.board.num_cells

    def add_point(self, found: Found = NO_JUDGE) -> Point:
        """End a stretch of episodes with a point of the curve and what judges found there; return the point."""
        stretch, self.stretch = self.stretch, Stretch()
        count = max(1, stretch.episodes)
        point = Point(self.episodes, self.seconds, stretch.score / count, stretch.moves / count, *found)
        self.curve.append(point)
        return point

    # ---------------------------------------------------------------- as every learner's
    def agent(self) -> NetworkAgent:
        """Return a player that takes the move of the highest value."""
        return NetworkAgent(self.game, self.network)

    @takes_state
    def value(self, state: Any) -> float:
        """Return the estimated value of a state for the player to move."""
        return self.network.value(state)

    def text(self) -> str:
        """Return for people how much was learned how fast."""
        network = self.network
        size = f"{network.num_lookups} lookups, {network.weights.nbytes / 1e6:.1f} MB"
        moves = pluralize(self.moves, "move")
        speed = f"{moves} in {self.seconds:,.1f} s, {self.moves_per_second / 1e3:,.0f} k a second"
        return f"{pluralize(self.episodes, 'episode')}, {speed}; {lengths_text(network.tuples)} cells, {size}"

    def document(self) -> dict[str, Any]:
        """Return the statistics for JSON."""
        return {
            "episodes": self.episodes,
            "moves": self.moves,
            "seconds": self.seconds,
            "moves_per_second": self.moves_per_second,
            "look_ups": self.network.num_lookups,
            "bytes": self.network.weights.nbytes,
            "settings": asdict(self.settings),
            "curve": [asdict(point) for point in self.curve],
        }

    # ---------------------------------------------------------------- checkpoints
    def save(self, path: str | Path) -> None:
        """Write the checkpoint, which is also the network's file."""
        progress = {"episodes": self.episodes, "moves": self.moves, "stretch": asdict(self.stretch)}
        progress |= {"curve": [asdict(point) for point in self.curve], "seconds": self.seconds}
        words = {"settings": asdict(self.settings), "progress": progress}
        self.network.save(path, {"coherence": self.coherence}, words)

    @classmethod
    def load(cls, path: str | Path, game: Game[Any]) -> NetworkTraining:
        """Read a checkpoint to go on with."""
        network, arrays, meta = Network.load(path, game)
        if "settings" not in meta or "coherence" not in arrays:
            raise FormatError(
                f"{path} contains weights but no training state; resume from the checkpoint that learn wrote"
            )
        try:
            settings = Settings(**meta["settings"])
            progress = meta["progress" if "progress" in meta else "course"]  # as older files have it
            counts = int(progress["episodes"]), int(progress["moves"]), float(progress["seconds"])
            curve, stretch = [point_from(point) for point in progress["curve"]], stretch_from(progress["stretch"])
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            raise FormatError(
                f"{path} is damaged: its settings, counts or curve are missing or of a wrong kind"
            ) from None
        right = settings.tuples == tuples_text(network.tuples) and type(settings.seed) is int and min(counts) >= 0
        if not right or arrays["coherence"].shape != (len(network.weights), 2):
            raise FormatError(f"{path} is damaged: its settings are not those of its network")
        training = cls(settings, network.copy(), new_floats(len(network.weights), 2))
        training.coherence[:] = arrays["coherence"]
        training.episodes, training.moves, training.seconds = counts
        training.curve, training.stretch = curve, stretch
        return training


# ---------------------------------------------------------------- runs
@dataclass(frozen=True)
class NetworkLearner(SelfPlayLearner[NetworkTraining]):
    """Learn any game by self-play: a network of tuples of cells, temporal differences, temporal coherence.

    A game may say what its cells are (num_cells, cell_values, cell); else they are read off its states.  The file
    is network and checkpoint in one, for the agents network:FILE and mcts:network=FILE.  Ctrl-C saves and stops;
    resume continues.  One seed, one thread and a number of episodes repeat to the last bit, also over kills.
    With an executor workers learn slices of episodes, which are put together: another training, not bit by bit.

    Example:
      mdplay learn connect-four --minutes 5 --out c4.safetensors --against mcts:simulations=1000
      mdplay learn my_game.py --episodes 50000 --plot curve.png

    """

    EPISODES = 100_000

    tuples: Annotated[str | None, "Cells to look at together: 70x8 (walks), all, or 0-1-2,3-4-5."] = None
    alpha: Annotated[float | None, "Rate of learning; 3, with points or chance 1, unless given."] = None
    lambda_: Annotated[float | None, "Returns of TD(lambda); 0.8, with points or chance 0.5, unless given."] = None
    discount: Annotated[
        float | None, "Of a result for each move before it; 0.99, with points or chance 1, unless given."
    ] = None
    epsilon: Annotated[float | None, "Share of random moves; 0.05, with chance 0.1, with points 0.3."] = None
    exploring_starts: Annotated[
        float | None, "Share of episodes that begin with random moves; 0.25, with chance 0."
    ] = None
    online: Annotated[
        bool | None, "Correct each afterstate as soon as the next move is chosen: TD(0), greedy moves."
    ] = None
    executor: Annotated[Executor | str | None, "Train with its workers: serial, processes or ray[:ADDRESS]."] = (
        None
    )
    workers: Annotated[int | None, Between(1, MAX_THREADS), "Of the executor; one for each core unless given."] = (
        None
    )
    examine: Examine | None = None  # asked at every point of the curve

    def learn(self, game: Game[Any], run: LearningRun) -> NetworkTraining:
        """Learn a game that keeps what its rules promise."""
        spot_check(game)
        return super().learn(game, run)

    def settings(self, game: Game[Any], run: LearningRun) -> dict[str, Any]:
        """Return the settings of a training that are given."""
        wanted = {"tuples": self.tuples, "alpha": self.alpha, "decay": self.lambda_, "discount": self.discount}
        wanted |= {"epsilon": self.epsilon, "exploring_starts": self.exploring_starts, "seed": run.seed}
        wanted["online"] = self.online
        return {name: value for name, value in wanted.items() if value is not None}

    def begin(self, game: Game[Any], given: Mapping[str, Any]) -> NetworkTraining:
        """Return a new training with the settings given, the others as they suit the game."""
        board, seed = board_of(game), given.get("seed", 0)
        found = read_tuples(given["tuples"], board, seed) if "tuples" in given else choose_tuples(board, seed)
        settings = Settings(**{**suited(board), **given, "tuples": tuples_text(found)})
        return NetworkTraining.begin(game, settings)

    def resumed(self, game: Game[Any], given: Mapping[str, Any], path: str | Path) -> NetworkTraining:
        """Read a checkpoint to go on with; the settings given must be its own."""
        training, asked = NetworkTraining.load(path, game), dict(given)
        if "tuples" in asked:
            found = read_tuples(asked["tuples"], training.network.board, training.settings.seed)
            asked["tuples"] = tuples_text(found)
        check_settings(path, training.settings, asked)
        return training

    @contextmanager
    def learning(self, training: NetworkTraining, show: Show | None) -> Iterator[tuple[Learn, int | None]]:
        """Yield the function that trains, by threads or an executor, and the fixed size of its blocks, if any."""
        way: AbstractContextManager[tuple[Learn, int | None]] = super().learning(training, show)
        if self.executor is not None:
            begin = partial(NetworkTraining.begin, packed=training.network.shape.is_packed)
            way = driver("learn")(training, begin, self.executor, self.workers)
        with way as learn:
            yield learn

    def judged(self, training: NetworkTraining) -> Found:
        """Return what judges find at a point of the curve."""
        return self.examine(training.agent()) if self.examine else NO_JUDGE


def suited(board: Board) -> dict[str, float]:
    """Return the settings that suit a game: gentle ones where points or chance make returns differ.

    Where a result is certain, a discount makes the winner hurry and the loser delay: self-play then meets the
    lines of a stubborn opponent, and wins differ in value.
    """
    if board.game.has_outcomes:
        return {"alpha": 1.0, "decay": 0.5, "discount": 1.0, "epsilon": 0.1}
    if board.points:
        return {"alpha": 1.0, "decay": 0.5, "discount": 1.0, "epsilon": 0.3}
    return {"alpha": 3.0, "decay": 0.8, "discount": 0.99, "epsilon": 0.05, "exploring_starts": 0.25}
