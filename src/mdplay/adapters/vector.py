"""Thousands of games as one Gymnasium vector environment: all of them take a step in one compiled call.

The opponent of a two-player game is random, in compiled code, or absent (``opponent=None``): then the caller moves
for both, a reward is that of the player who moved, and ``info["player"]`` is the player to move next.

An environment that has ended begins again at the next step, whatever its action (Gymnasium's ``NEXT_STEP``).
Turn t of environment i has a random stream of its own: how many others there are changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mdplay import Game, GameError, make
from mdplay.adapters.spaces import Mask, Observation, library, num_actions, num_bits
from mdplay.adapters.spaces import widths as field_widths
from mdplay.bits import has, lowest, nonempty, without_lowest
from mdplay.checking.contract_checks import spot_check
from mdplay.compiling import Packed, State, Word, inlined, kernel, load, native, pack, unpack, word, words
from mdplay.game import num_players
from mdplay.playing.agents import check_player
from mdplay.rng import advance, pick, scramble, stream

if TYPE_CHECKING:
    import gymnasium
else:
    gymnasium = library("gymnasium")

ILLEGAL = -1.0
BOTH = -1  # the side of a caller who moves for both players
RUNNING, OVER = range(2)
MOST_MOVES = 1 << 20  # of chance and the opponent in a row
TOO_HIGH = 1  # what is wrong: an action beyond the space


class Turn(NamedTuple):
    """Which turn it is of which seed, and the side that the caller moves for."""

    seed: Any  # a word
    number: int
    side: int


class Batch(NamedTuple):
    """All games, a row each; kernels write into it."""

    states: NDArray[np.uint64]  # packed
    player: NDArray[np.int64]
    over: NDArray[np.uint8]
    mask: Mask
    reward: NDArray[np.float64]


Chosen = NDArray[np.uint8]
Actions = NDArray[np.int64]


@inlined
def wait(game: Game[Any], s: State, x: Word, side: int) -> Any:
    """Let chance and the opponent move: the state in which ``side`` moves, and what player 0 gained."""
    gain, moves = 0.0, 0
    while moves < MOST_MOVES:
        moves += 1
        if game.has_outcomes and nonempty(game.outcomes(s)):
            x = advance(x)
            s = game.outcome(s, game.draw(s, scramble(x)))
            continue
        mask = game.legal(s)
        if side == BOTH or game.player(s) == side or not nonempty(mask):
            break
        x = advance(x)
        action = pick(mask, scramble(x))
        if game.has_reward:
            points = game.reward(s, action)
            gain += -points if game.player(s) else points
        s = game.step(s, action)
    return s, gain


@inlined
def make_move(game: Game[Any], s: State, x: Word, action: int, side: int) -> Any:
    """Make a legal move and wait for the next: the state, and what the mover gained."""
    mover = game.player(s)
    gain = 0.0
    if game.has_reward:
        points = game.reward(s, action)
        gain = -points if mover else points
    s, more = wait(game, game.step(s, action), x, side)
    gain += more
    if not nonempty(game.legal(s)):
        gain += game.result(s)
    return s, -gain if mover else gain


@inlined
def write_mask(mask: Any, i: int, out_mask: Mask) -> int:
    """Write the legal actions of environment i; return whether one is beyond the space."""
    for a in range(out_mask.shape[1]):
        out_mask[i, a] = 0
    while nonempty(mask):
        a = lowest(mask)
        mask = without_lowest(mask)
        if a >= out_mask.shape[1]:
            return TOO_HIGH
        out_mask[i, a] = 1
    return 0


@inlined
def write_state(game: Game[Any], s: State, i: int, batch: Any) -> int:
    """Write a state of environment i, who moves in it and how; return what is wrong, or 0."""
    packed = pack(game, s)
    for j in range(len(packed)):
        batch.states[i, j] = packed[j]
    batch.player[i] = game.player(s)
    return write_mask(game.legal(s), i, batch.mask)


@kernel
def reset_games(game: Game[Any], start: Packed, turn: Turn, chosen: Chosen, batch: Batch) -> int:
    """Begin the games that are chosen; return what is wrong, or 0."""
    for i in range(len(chosen)):
        if chosen[i]:
            s, _ = wait(game, unpack(game, start), stream(stream(turn.seed, i), turn.number), turn.side)
            batch.over[i] = RUNNING
            if write_state(game, s, i, batch):
                return TOO_HIGH
    return 0


@kernel
def step_games(game: Game[Any], turn: Turn, actions: Actions, batch: Batch) -> int:
    """Make a move in every game that is not over, in place; return what is wrong, or 0."""
    for i in range(len(actions)):
        batch.reward[i] = 0.0
        if batch.over[i]:
            continue
        s, action = load(game, batch.states, i), actions[i]
        if not 0 <= action < batch.mask.shape[1] or not has(game.legal(s), action):
            batch.reward[i], batch.over[i] = ILLEGAL, OVER
            continue
        s, batch.reward[i] = make_move(game, s, stream(stream(turn.seed, i), turn.number), action, turn.side)
        batch.over[i] = RUNNING if nonempty(game.legal(s)) else OVER
        if write_state(game, s, i, batch):
            return TOO_HIGH
    return 0


class VectorGames(gymnasium.vector.VectorEnv[Observation, NDArray[np.int64], NDArray[Any]]):
    """Many games of one kind, stepped together."""

    metadata: ClassVar[dict[str, Any]] = {"autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP}

    def __init__(
        self, game: Game[Any] | str, num_envs: int = 1, *, opponent: str | None = "random", player: int = 0
    ) -> None:
        self.game = make(game) if isinstance(game, str) else game
        spot_check(self.game)
        if opponent not in ("random", None):
            raise GameError(f"opponent={opponent!r} has no compiled form; random, or None to move for both")
        check_player(self.game, player)
        self._side = player if opponent or num_players(self.game) == 1 else BOTH
        self._native, self._start = native(self.game), words(self.game.initial())
        self._widths = field_widths(self.game)
        self.num_envs = num_envs
        self._allot(num_actions(self.game))

    def _allot(self, size: int) -> None:
        """Make the spaces and the arrays that all steps work in."""
        spaces = gymnasium.spaces
        self.single_action_space = spaces.Discrete(size)
        self.single_observation_space = spaces.Box(0, 1, (num_bits(self.game),), np.int8)
        batch = gymnasium.vector.utils.batch_space
        self.action_space = batch(self.single_action_space, self.num_envs)
        self.observation_space = batch(self.single_observation_space, self.num_envs)
        self._batch = Batch(
            np.zeros((self.num_envs, len(self._start)), np.uint64),
            np.zeros(self.num_envs, np.int64),
            np.zeros(self.num_envs, np.uint8),
            np.zeros((self.num_envs, size), np.int8),
            np.zeros(self.num_envs),
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin all games anew."""
        super().reset(seed=seed)
        self._turn = Turn(word(int(self.np_random.integers(1 << 63))), 0, self._side)
        self._begin(np.ones(self.num_envs, np.uint8))
        return self._observation(), self._info()

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Observation, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Make a move in every game; one that was over begins again instead."""
        again = self._batch.over.copy()
        moves = np.ascontiguousarray(actions, np.int64)
        self._turn = self._turn._replace(number=self._turn.number + 1)
        self._check(step_games(self._native, self._turn, moves, self._batch))
        if again.any():
            self._begin(again)
        over, none = self._batch.over.astype(np.bool_), np.zeros(self.num_envs, np.bool_)
        return self._observation(), self._batch.reward.copy(), over, none, self._info()

    def _begin(self, chosen: Chosen) -> None:
        self._check(reset_games(self._native, self._start, self._turn, chosen, self._batch))

    def _check(self, fault: int) -> None:
        if fault == TOO_HIGH:
            size, name = self._batch.mask.shape[1], type(self.game).__name__
            raise GameError(f"{name} has an action beyond the {size} that were seen; give it num_actions")

    def _observation(self) -> Observation:
        """Return all bits of all states; the lowest of each field first."""
        octets = self._batch.states.astype("<u8", copy=False).view(np.uint8)
        bits = np.unpackbits(octets, axis=1, bitorder="little")
        parts = [bits[:, 64 * j : 64 * j + width] for j, width in enumerate(self._widths)]
        return np.concatenate(parts, axis=1).view(np.int8)

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks(), "player": self._batch.player.copy()}

    def action_masks(self) -> Mask:
        """Return the legal actions of every game, a row each."""
        return self._batch.mask.copy()
