"""Players of 2048 that go by a network: an agent for single moves, and whole games at full speed."""

from __future__ import annotations

import time
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from mdplay.bits import elements, nonempty
from mdplay.compiling import native, word
from mdplay.errors import GameError, IllegalMove, LimitError
from mdplay.game import Game
from mdplay.games.twenty48.curves import shares
from mdplay.games.twenty48.expectimax import Memory, choose_once, play_games
from mdplay.games.twenty48.files import game_of
from mdplay.games.twenty48.files import read_network as read_any
from mdplay.games.twenty48.moves import Evaluator, no_games
from mdplay.games.twenty48.rules import State, Twenty48
from mdplay.learning.network import Network, read_network
from mdplay.learning.shipped import SHIPPED, need_shipped
from mdplay.playing.matches.evaluating import PlayedGames
from mdplay.rng import Random
from mdplay.runtime.threads import Show, TaskGroup, num_threads

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
    def _evaluator(self) -> Evaluator:
        return Evaluator(self.network.arrays(), self.network.before)


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
