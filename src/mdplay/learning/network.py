"""A network of tuples over the board of a game: values of positions and moves, and its files.

A file (``.safetensors``) is a ``mdplay.storage.arrays`` file of kind ``tuple-network``: the array ``weights``, or
those of ``compact.py`` in its place, the tuples, the identity of the rules and of the cells, and whatever the
course of learning adds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import elements, nonempty
from mdplay.compiling import State, native, words
from mdplay.compiling.digest import per_game
from mdplay.compiling.identity import cells_identity, check_rules, game_identity
from mdplay.errors import FormatError, IllegalMove, MdplayError, check_kind
from mdplay.evaluating.evaluation import tie_margin
from mdplay.game import Game
from mdplay.learning import compact
from mdplay.learning.board import Board, board_of, is_over
from mdplay.learning.episodes import look_up_state, value_moves
from mdplay.learning.lookups import NetworkArrays, Tables, new_places
from mdplay.learning.shipped import SHIPPED, need_shipped, shipped_file
from mdplay.learning.tuples import (
    Cells,
    PackedTuples,
    TupleShape,
    named_tuples,
    num_entries,
    places_of,
    tuples_text,
)
from mdplay.position import takes_state
from mdplay.rng import Random
from mdplay.runtime.memory import new_floats
from mdplay.storage.arrays import load, save

KIND = "tuple-network"
ARRAYS = TupleShape()
LAYOUT, PACKED_LAYOUT = 1, 2  # the order of the weights: of ``places_of``, of ``PackedTuples``
MAX_ACTIONS = 128
TYPES = {"weights": "float32", "coherence": "float32", "scores": "float64", "moves": "int64", **compact.TYPES}
ANEW = "learn it again"


@dataclass(frozen=True, eq=False)
class Network:
    """Tuples of cells and their weights; the weights are changed in place by learning.

    The values are those of afterstates, or of the positions in which a player moves where ``before`` is set.
    """

    board: Board
    tuples: tuple[Cells, ...]
    weights: NDArray[np.float32]
    shape: TupleShape = ARRAYS
    before: bool = False

    @classmethod
    def create(
        cls,
        board: Board,
        tuples: tuple[Cells, ...],
        value: float = 0.0,
        *,
        before: bool = False,
        vector: bool = True,
        packed: bool = True,
    ) -> Network:
        """Return a network that gives every position the same value; a high value encourages exploration.

        The tables are packed if the board packs, unless ``packed`` is False.
        """
        packed = packed and board.packs
        weights = new_floats(num_entries(board, tuples, packed=packed))
        network = cls(board, tuples, weights, before=before)
        if packed:
            network = cls.of(board, tuples, weights, before=before, vector=vector)
        if value:  # else nothing is written: memory that no position asks for is never had
            weights.fill(np.float32(value / network.num_lookups))
        return network

    @classmethod
    def of(
        cls,
        board: Board,
        tuples: tuple[Cells, ...],
        weights: NDArray[np.float32],
        *,
        before: bool = False,
        vector: bool = True,
    ) -> Network:
        """Return a network of weights that are in the order of the board: packed if a word holds it."""
        shape: TupleShape = ARRAYS
        if board.packs:
            shape = PackedTuples(tuples, board.symmetries, vector, board.four_moves)
        return cls(board, tuples, weights, shape, before)

    @property
    def game(self) -> Game[Any]:
        """The game that it knows."""
        return self.board.game

    @cached_property
    def tables(self) -> Tables:
        """The network as kernels take it."""
        board, shape = self.board, self.shape
        base, powers = np.zeros(0, np.int32), np.zeros((board.num_cells, 0), np.int32)
        if isinstance(shape, PackedTuples):
            base = np.zeros(shape.num_lookups, np.int32)
        else:
            base, powers = places_of(board, self.tuples)
        layout = np.array(board.layout or ((0,) * 6,), np.int64)
        return Tables(
            self.weights, base, powers, layout, board.points, board.shared, not board.points, native(shape)
        )

    @cached_property
    def fixed(self) -> Tables:
        """The network for kernels that do not learn.

        They get its weights read-only, be they learned here or read from a file: for either way a kernel would be
        compiled of its own.
        """
        weights = self.weights.view()
        weights.flags.writeable = False
        return self.tables._replace(weights=weights)

    def copy(self) -> Network:
        """Return the same network with weights of its own, to learn on."""
        weights = new_floats(len(self.weights))
        weights[:] = self.weights
        return replace(self, weights=weights)

    def arrays(self) -> NetworkArrays:
        """Return the network for one thread of a kernel that does not learn."""
        return NetworkArrays(self.fixed, new_places(self.fixed))

    @property
    def num_lookups(self) -> int:
        """The lookups of a position, all images counted."""
        return len(self.tables.base)

    # ---------------------------------------------------------------- values, and play by them
    @takes_state
    def values(self, state: Any) -> dict[int, float]:
        """Return the value of every move for the player to move, its points included."""
        row = np.array([[int(w) for w in words(state)]], np.uint64)
        out = np.zeros((1, MAX_ACTIONS), np.float32)
        value_moves(native(self.game), self.fixed, new_places(self.fixed), row, out)
        return {action: float(out[0, action]) for action in elements(self.game.legal(state))}

    @takes_state
    def value(self, state: Any) -> float:
        """Return the estimated value of a state for the player to move; chance is averaged."""
        game = self.game
        if nonempty(game.outcomes(state)):
            return sum(self._share(state, i) for i in elements(game.outcomes(state)))
        if is_over(game, state):
            return float(game.result(state)) * (-1 if game.player(state) else 1)
        return max(self.values(state).values())

    def _share(self, state: State, i: int) -> float:
        """Return what an outcome adds to the value of a chance event, for who moves in the state."""
        after = self.game.outcome(state, i)
        sign = 1 if self.game.player(after) == self.game.player(state) else -1
        return self.game.probability(state, i) * sign * self.value(after)

    # ---------------------------------------------------------------- single positions and tables
    def estimate(self, state: State) -> float:
        """Return V of a position that is not over, for player 0: that of an afterstate, unless ``before``."""
        return self._look_up(state)[0]

    def weight_indices(self, state: State) -> NDArray[np.uint32]:
        """Return the indices of the lookups of a position in the weights."""
        return self._look_up(state)[1]

    def update(self, state: State, change: float) -> None:
        """Change the sum of a position by spreading the change evenly over its lookups, in place."""
        np.add.at(self.weights, self.weight_indices(state), np.float32(change / self.num_lookups))

    def _look_up(self, state: State) -> tuple[float, NDArray[np.uint32]]:
        row = np.array([[int(w) for w in words(state)]], np.uint64)
        places, out = new_places(self.fixed), np.zeros(1, np.float32)
        look_up_state(native(self.game), self.fixed, places, row, out)
        return float(out[0]), places.now

    def table(self, p: int) -> NDArray[np.float32]:
        """Return a copy of the table of tuple p of a packed board, its first cell in the lowest nibble."""
        assert isinstance(self.shape, PackedTuples)
        return self.weights[self.shape.canonical(p)]

    def set_table(self, p: int, table: NDArray[np.float32]) -> None:
        """Replace the table of tuple p of a packed board, given in the order of ``table``."""
        assert isinstance(self.shape, PackedTuples)
        places = self.shape.canonical(p)
        if table.shape != places.shape:
            raise FormatError(f"a table of {table.size} entries does not fit the tuple, which has {places.size}")
        self.weights[places] = table

    # ---------------------------------------------------------------- files
    @property
    def stamp(self) -> str:
        """The hash of where the lookups lie: a file with another one belongs to another board."""
        tables = self.tables
        data = b"".join(array.tobytes() for array in (tables.base, tables.powers, tables.layout))
        if isinstance(self.shape, PackedTuples):
            data += repr((self.shape.base, self.shape.bit, self.shape.origin)).encode()
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
        weights = self.weights
        if not self.shape.is_packed:
            weights = compact.folded(self.board, self.tuples, weights)
        save(path, compact.packed(weights), kind=KIND, meta=self._words)

    @property
    def _words(self) -> dict[str, Any]:
        """What a file says of the network: which it is, and which game it belongs to."""
        known = {"rules": game_identity(self.game), "cells": cells_identity(self.game), "stamp": self.stamp}
        layout = PACKED_LAYOUT if self.shape.is_packed else LAYOUT
        return {"layout": layout, "tuples": tuples_text(self.tuples), **known}

    @classmethod
    def load(cls, path: str | Path, game: Game[Any]) -> tuple[Network, dict[str, NDArray[Any]], dict[str, Any]]:
        """Read the network of a game, its owner's arrays and words, or raise FormatError.

        The weights are a read-only view of the mapped file, if they are whole.
        """
        stored = load(path, kind=KIND, types=TYPES)
        meta = stored.meta
        if meta.get("layout") not in (LAYOUT, PACKED_LAYOUT):
            known = f"{LAYOUT} and {PACKED_LAYOUT}"
            raise FormatError(
                f"{path} has layout {meta.get('layout')!r:.40}; this version of mdplay reads {known}"
            )
        check_rules(path, meta.get("rules"), game, ANEW)
        board = board_of(game)
        packed = meta["layout"] == PACKED_LAYOUT
        if packed and not board.packs:
            raise FormatError(f"{path} is damaged: its layout is not one of the cells of {type(game).__name__}")
        tuples = _tuples_of(path, meta, board, packed=packed)
        weights = compact.weights_of(path, stored.arrays, num_entries(board, tuples, packed=packed))
        network = cls.of(board, tuples, weights) if packed else cls(board, tuples, weights)
        if (meta.get("cells"), meta.get("stamp")) != (cells_identity(game), network.stamp):
            raise FormatError(f"the cells of {type(game).__name__} have changed since {path} was made; {ANEW}")
        return network, stored.arrays, meta


def _tuples_of(path: str | Path, meta: Mapping[str, Any], board: Board, *, packed: bool) -> tuple[Cells, ...]:
    try:
        tuples = named_tuples(str(meta["tuples"]), board)
        num_entries(board, tuples, packed=packed)
    except MdplayError as error:
        raise FormatError(f"{path} is damaged: its tuples cannot be read ({error})") from None
    except KeyError:
        raise FormatError(f"{path} is damaged: its tuples are missing") from None
    return tuples


Reader = Callable[[Path, Game[Any]], Network]


def load_network(path: Path, game: Game[Any]) -> Network:
    """Return the network of a file of kind ``tuple-network``."""
    return Network.load(path, game)[0]


@per_game(maxsize=4)
def _cached(path: Path, changed: int, game: Game[Any], read: Reader) -> Network:
    """Return the network of a file, which is read again only if it has changed."""
    return read(path, game)


def read_network(file: str | Path, game: Game[Any], read: Reader = load_network) -> Network:
    """Return the network of a file, trained for a game, or raise FormatError."""
    path = Path(file).expanduser()
    try:
        changed = path.stat().st_mtime_ns
    except OSError as error:
        raise FormatError(f"cannot read {path}: {error.strerror or error}") from None
    return _cached(path, changed, game, read)


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

    def act(self, state: State, rng: Random | None = None) -> int:
        """Return the best move; nothing is random about it."""
        return best_of(self.values(state), self.network.game, state)

    def values(self, state: State) -> dict[int, float]:
        """Return the estimated value of every move for the player to move."""
        return self.network.values(state)


def best_of(values: Mapping[int, float], game: Game[Any], state: State) -> int:
    """Return the action of the highest value; ties go to the smallest."""
    if not values:
        raise IllegalMove(f"{game.text(state)}: no player moves here")
    most = max(values.values())
    return min(action for action, value in values.items() if value >= most - tie_margin(most))


def lengths_text(tuples: Sequence[Cells]) -> str:
    """Return the number of tuples of each length, as text."""
    lengths = sorted({len(cells) for cells in tuples}, reverse=True)
    counts = [(sum(len(cells) == n for cells in tuples), n) for n in lengths]
    return ", ".join(f"{count} x {n}" for count, n in counts)
