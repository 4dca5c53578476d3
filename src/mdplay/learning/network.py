"""A network of tuples over the board of a game: values of positions and moves, and its files.

A file (``.safetensors``) is a ``mdplay.storage.arrays`` file of kind ``tuple-network``: the array ``weights``, or
those of ``compact.py`` in its place, the tuples, the identity of the rules and of the cells, and whatever the
course of learning adds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import elements, nonempty
from mdplay.compiling import native, words
from mdplay.compiling.digest import per_game
from mdplay.compiling.identity import cells_identity, check_rules, game_identity
from mdplay.errors import FormatError, IllegalMove, MdplayError, check_kind
from mdplay.game import Game
from mdplay.learning import compact
from mdplay.learning.board import Board, board_of, is_over
from mdplay.learning.episodes import value_moves
from mdplay.learning.look_ups import NetworkArrays, Tables, new_places
from mdplay.learning.shipped import SHIPPED, need_shipped, shipped_file
from mdplay.learning.tuples import Cells, named_tuples, num_entries, places_of, tuples_text
from mdplay.position import takes_state
from mdplay.rng import Random
from mdplay.runtime.memory import new_floats
from mdplay.storage.arrays import load, save

KIND = "tuple-network"
LAYOUT = 1
MAX_ACTIONS = 128
TYPES = {"weights": "float32", "coherence": "float32", "scores": "float64", "moves": "int64", **compact.TYPES}
TIE = 1e-9  # values that differ by no more, relatively, are tied
ANEW = "learn it again"


@dataclass(frozen=True, eq=False)
class Network:
    """Tuples of cells and their weights; the weights are changed in place by learning."""

    board: Board
    tuples: tuple[Cells, ...]
    weights: NDArray[np.float32]

    @classmethod
    def create(cls, board: Board, tuples: tuple[Cells, ...]) -> Network:
        """Return a network to which every position is worth 0."""
        return cls(board, tuples, new_floats(num_entries(board, tuples)))

    @property
    def game(self) -> Game[Any]:
        """The game that it knows."""
        return self.board.game

    @cached_property
    def tables(self) -> Tables:
        """The network as kernels take it."""
        base, powers = places_of(self.board, self.tuples)
        layout = np.array(self.board.layout or ((0,) * 6,), np.int64)
        board = self.board
        return Tables(self.weights, base, powers, layout, board.points, board.shared, not board.points)

    @cached_property
    def fixed(self) -> Tables:
        """The network for kernels that do not learn.

        They get its weights read-only, be they learned here or read from a file: for either way a kernel would be
        compiled of its own.
        """
        weights = self.weights.view()
        weights.flags.writeable = False
        return self.tables._replace(weights=weights)

    def arrays(self) -> NetworkArrays:
        """Return the network for one thread of a kernel that does not learn."""
        return NetworkArrays(self.fixed, new_places(self.fixed))

    @property
    def num_lookups(self) -> int:
        """The look-ups of a position, all images counted."""
        return len(self.tables.base)

    # ---------------------------------------------------------------- values, and play by them
    @takes_state
    def values(self, state: Any) -> dict[int, float]:
        """Return what every move is worth to the player to move, points on the way included."""
        row = np.array([[int(w) for w in words(state)]], np.uint64)
        out = np.zeros((1, MAX_ACTIONS), np.float32)
        value_moves(native(self.game), self.fixed, new_places(self.fixed), row, out)
        return {action: float(out[0, action]) for action in elements(self.game.legal(state))}

    @takes_state
    def value(self, state: Any) -> float:
        """Return what a state is held to be worth to the player to move; chance is averaged."""
        game = self.game
        if nonempty(game.outcomes(state)):
            return sum(self._share(state, i) for i in elements(game.outcomes(state)))
        if is_over(game, state):
            return float(game.result(state)) * (-1 if game.player(state) else 1)
        return max(self.values(state).values())

    def _share(self, state: Any, i: int) -> float:
        """Return what an outcome adds to the value of a chance event, for who moves in the state."""
        after = self.game.outcome(state, i)
        sign = 1 if self.game.player(after) == self.game.player(state) else -1
        return self.game.probability(state, i) * sign * self.value(after)

    # ---------------------------------------------------------------- files
    @property
    def stamp(self) -> str:
        """The hash of where the look-ups lie: a file with another one belongs to another board."""
        tables = self.tables
        data = b"".join(array.tobytes() for array in (tables.base, tables.powers, tables.layout))
        return hashlib.sha256(data).hexdigest()[:32]

    def save(
        self,
        path: str | Path,
        arrays: Mapping[str, NDArray[Any]] | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Write the network, with further arrays and words of its owner."""
        save(path, {"weights": self.weights, **(arrays or {})}, kind=KIND, meta={**(meta or {}), **self._words})

    def save_compact(self, path: str | Path) -> None:
        """Write the network alone, rounded, in a fraction of the room: to play by, not to learn on."""
        weights = compact.folded(self.board, self.tuples, self.weights)
        save(path, compact.packed(weights), kind=KIND, meta=self._words)

    @property
    def _words(self) -> dict[str, Any]:
        """What a file says of the network: which it is, and which game it belongs to."""
        known = {"rules": game_identity(self.game), "cells": cells_identity(self.game), "stamp": self.stamp}
        return {"layout": LAYOUT, "tuples": tuples_text(self.tuples), **known}

    @classmethod
    def load(cls, path: str | Path, game: Game[Any]) -> tuple[Network, dict[str, NDArray[Any]], dict[str, Any]]:
        """Read the network of a game, its owner's arrays and words, or raise FormatError.

        The weights are a read-only view of the mapped file, if they are whole.
        """
        stored = load(path, kind=KIND, types=TYPES)
        meta = stored.meta
        if meta.get("layout") != LAYOUT:
            raise FormatError(
                f"{path} has layout {meta.get('layout')!r:.40}; this version of mdplay reads {LAYOUT}"
            )
        check_rules(path, meta.get("rules"), game, ANEW)
        board = board_of(game)
        tuples = _tuples_of(path, meta, board)
        network = cls(board, tuples, compact.weights_of(path, stored.arrays, num_entries(board, tuples)))
        if (meta.get("cells"), meta.get("stamp")) != (cells_identity(game), network.stamp):
            raise FormatError(f"the cells of {type(game).__name__} have changed since {path} was made; {ANEW}")
        return network, stored.arrays, meta


def _tuples_of(path: str | Path, meta: Mapping[str, Any], board: Board) -> tuple[Cells, ...]:
    try:
        tuples = named_tuples(str(meta["tuples"]), board)
        num_entries(board, tuples)
    except MdplayError as error:
        raise FormatError(f"{path} is damaged: its tuples cannot be read ({error})") from None
    except KeyError:
        raise FormatError(f"{path} is damaged: its tuples are missing") from None
    return tuples


@per_game(maxsize=4)
def _kept(path: Path, changed: int, game: Game[Any]) -> Network:
    """Return the network of a file, which is read anew only if it has changed."""
    return Network.load(path, game)[0]


def read_network(file: str | Path, game: Game[Any]) -> Network:
    """Return the network of a file, made for a game, or raise FormatError."""
    path = Path(file).expanduser()
    try:
        changed = path.stat().st_mtime_ns
    except OSError as error:
        raise FormatError(f"cannot read {path}: {error.strerror or error}") from None
    return _kept(path, changed, game)


def shipped_network(game: Game[Any]) -> Network | None:
    """Return the network that comes with a game, if there is one of its present rules and cells."""
    path = shipped_file(game, KIND)
    return None if path is None else read_network(path, game)


def named_network(name: str, game: Game[Any]) -> Network:
    """Return the network of a file, or the one that is called ``shipped``; raise FormatError if there is none."""
    return read_network(need_shipped(game, KIND) if name == SHIPPED else name, game)


def check_network(network: object) -> None:
    """Raise ArgumentError unless this is a network or None."""
    check_kind("network", network, Network, "learn(game, method='network').network is one")


class NetworkAgent:
    """Play the best move by a network, a file's or the one that comes with the game; ties go to the smallest."""

    def __init__(self, game: Game[Any], file: str | Network = SHIPPED) -> None:
        self.network = named_network(file, game) if isinstance(file, str) else file

    def act(self, state: Any, rng: Random | None = None) -> int:
        """Return the best move; nothing is random about it."""
        return best_of(self.values(state), self.network.game, state)

    def values(self, state: Any) -> dict[int, float]:
        """Return what every move is held to be worth to the player to move."""
        return self.network.values(state)


def best_of(values: Mapping[int, float], game: Game[Any], state: Any) -> int:
    """Return the action of the highest value; ties go to the smallest."""
    if not values:
        raise IllegalMove(f"{game.text(state)}: no player moves here")
    most = max(values.values())
    return min(action for action, value in values.items() if value >= most - TIE * max(1.0, abs(most)))


def lengths_text(tuples: Sequence[Cells]) -> str:
    """Return in words how many tuples there are of which length."""
    lengths = sorted({len(cells) for cells in tuples}, reverse=True)
    counts = [(sum(len(cells) == n for cells in tuples), n) for n in lengths]
    return ", ".join(f"{count} x {n}" for count, n in counts)
