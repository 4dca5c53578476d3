"""Exact solving by the workers of an engine: all states are found forwards, their values backwards, in shards.

First the states are enumerated (mdplay.states.sharding.driver), each by the shard that its hash names.  Then layer
after layer, from the last ply to the first, each shard solves its own states from the kept values of the next
layer (mdplay.solving.layers.shard).  This needs a game in which each move leads to the next layer: no position is
met after different numbers of moves, let alone twice.

All that is found lies in a folder, which whoever was killed goes on from:

    NUMBER.keys NUMBER.rounds     the states of a shard (mdplay.states.sharding.log)
    NUMBER.values NUMBER.index    their values, and where to find them
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from mdplay.engines import Engine
from mdplay.errors import GameError, PositionError
from mdplay.game import Game
from mdplay.running import Show
from mdplay.solving.hashed import has_whole_values
from mdplay.solving.layers.shard import Layered, distance_in, value_in
from mdplay.solving.question import Question
from mdplay.solving.values import StateValue
from mdplay.states.keys import hash_key, key_of, num_words, state_of
from mdplay.states.numbering import Index, Listed, number_of
from mdplay.states.sharding.driver import Enumerated, enumerated
from mdplay.states.sharding.shard import Sharding, owner_of


class LayeredTable:
    """The values of all states, mapped from the files of the shards."""

    method = "layered"
    counts_plies = True

    def __init__(self, game: Game[Any], sharding: Sharding, bits: list[int], digest: int) -> None:
        self.game, self._sharding, self._bits = game, sharding, bits
        self.digest = digest  # of all states with their values: the same whatever the engine and the shards
        self._words = num_words(sharding.layout)
        shards = range(sharding.shards)
        self._keys = [_mapped(sharding.folder / f"{number}.keys", np.int64) for number in shards]
        self._index = [_mapped(sharding.folder / f"{number}.index", np.uint32) for number in shards]
        self._entries = [_mapped(sharding.folder / f"{number}.values", np.int32) for number in shards]

    def __len__(self) -> int:
        return sum(len(entries) for entries in self._entries)

    def lookup(self, state: Any, player: int) -> StateValue:
        """Return what a state is worth to a player, and the plies to the end."""
        entry = self._entry(state)
        value = value_in(entry)
        return StateValue(-value if player else value, distance_in(entry))

    def states(self) -> Iterator[Any]:
        """Yield every state, in the order of their keys; of symmetric ones the least image."""
        keys = np.concatenate(self._keys).reshape(-1, self._words)
        for number in np.lexsort(keys.view(np.uint64).T):
            yield state_of(self.game, keys[number], self._sharding.layout)

    def _entry(self, state: Any) -> int:
        key = key_of(self.game, state, self._sharding.layout, fold=self._sharding.fold)
        number = -1
        if key is not None:
            shard = owner_of(hash_key(key, 0, self._words), self._sharding.shards)
            listed = Listed(self._keys[shard], len(self._entries[shard]), self._words)
            number = int(number_of(Index(self._index[shard], self._bits[shard]), listed, key))
        if number < 0:
            raise PositionError(f"the start that was solved does not reach {self.game.text(state)}")
        return int(self._entries[shard][number])


def _mapped(path: Path, kind: Any) -> NDArray[Any]:
    return np.memmap(path, kind, "r") if path.stat().st_size else np.empty(0, kind)


def solve_layers(question: Question, engine: Engine | str) -> LayeredTable:
    """Return the values of all states that the question's reaches, by the workers of an engine.

    Its file is a folder here, by default a temporary one; all workers must see it.
    """
    game = question.game
    _refuse(question)
    folder = Path(question.file or mkdtemp(prefix="mdplay-layers-"))
    how: dict[str, Any] = {"fold": True, "shards": question.threads, "folder": folder, "make": Layered}
    how |= {"memory": question.memory, "show": question.show}
    try:
        begun = any(path.stat().st_size for path in folder.glob("*.rounds"))
        with enumerated(game, engine, question.state, **how) as found:
            if begun:
                question.notes.append(f"states and values, as far as they are there, read from {folder}")
            table = LayeredTable(game, found.sharding, *_solved(found, question.show))
    except BaseException:
        if question.file is None:
            rmtree(folder, ignore_errors=True)
        raise
    if question.file is None:
        finalize(table, rmtree, folder, ignore_errors=True)  # it goes with the table
    return table


def _refuse(question: Question) -> None:
    """Raise what keeps a game from being solved in layers."""
    if question.opponent != "perfect" or question.objective == "win":
        raise GameError("an engine solves for a perfect opponent and the difference; leave out the engine")
    if not has_whole_values(question.game):
        why = "chance" if question.game.has_outcomes else "values that are not whole numbers"
        raise GameError(f"{question.name} has {why}, which an engine does not solve; leave out the engine")


def _solved(found: Enumerated, show: Show | None) -> tuple[list[int], int]:
    """Solve all layers, the last one first; return what finds states in the shards, and the digest."""
    actors, rounds, solved = found.actors, found.rounds, 0
    for layer in reversed(range(max(actors.call("prepare", rounds)))):
        done = [0] * found.sharding.shards
        while True:
            questions, told = actors.scatter("ask", rounds, layer, done)
            if told == done:
                break
            answers, _ = actors.scatter("answer", rounds, layer, questions)
            actors.call("take", rounds, layer, done, answers)
            done = told
        solved += sum(done)
        if show is not None:
            show(solved)
    published: list[tuple[int, int]] = actors.call("publish", rounds)
    return [bits for bits, _ in published], sum(digest for _, digest in published) % (1 << 64)
