"""Enumerate the states of a game in shards, each in a worker of an executor.

The hash of a state determines its shard.  In each round a shard generates the successors of its next states and
sends those of other shards from worker to worker; the driver receives counts only.  All shards finish a *level*,
the states of one ply, before the next one begins, so the levels are those of a breadth-first search.

Every shard saves its states (mdplay.distributed.state_shard).  If a worker is killed, its shard is loaded from
these files and the round is repeated; the same enumeration in the same folder is resumed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Unpack

import numpy as np

from mdplay import FormatError, Game, Run
from mdplay.compiling import State
from mdplay.distributed.state_shard import Shard, Sharding, Summary, Told
from mdplay.naming.transfer import GameSpec, recipe_of
from mdplay.runtime.executors import Actors, using
from mdplay.runtime.memory import budget
from mdplay.runtime.run import RunOptions, run_of
from mdplay.runtime.threads import Show
from mdplay.states.keys import Layout, images_of, key_of, layout_of, refuse_thin, states_seen, widths_among
from mdplay.storage import arrays as store
from mdplay.storage.files import make_folder

KIND = "sharded enumeration"


@dataclass(frozen=True)
class Count:
    """The numbers of states and edges of an enumeration."""

    levels: tuple[int, ...]  # numbers of states, by the fewest plies from the start
    edges: int
    digest: int  # of all keys, independent of their order: ``digest_of``

    def __len__(self) -> int:
        return sum(self.levels)


def count_states(
    game: Game[Any],
    state: State | None = None,
    *,
    fold: bool = False,
    run: Run | None = None,
    **settings: Unpack[RunOptions],
) -> Count:
    """Count all states that are reachable from a state (default: the start), as ``enumerated`` finds them.

    Settings: ``executor``, ``threads``, ``file``, ``memory`` and ``progress``.
    """
    allowed = ("executor", "threads", "file", "memory", "progress")
    with enumerated(game, state, fold=fold, run=run_of("count_states", allowed, run, settings)) as found:
        return found.count()


class Enumerated:
    """All states of a game, in their shards."""

    def __init__(self, actors: Actors, sharding: Sharding, rounds: int, sent: int) -> None:
        self.actors, self.sharding, self.rounds = actors, sharding, rounds
        self.sent = sent  # keys sent between shards since this program began

    def count(self) -> Count:
        """Return what was found."""
        found: list[Summary] = self.actors.call("summary", self.rounds)
        levels = [sum(sizes) for sizes in zip_longest(*(one.levels for one in found), fillvalue=0)]
        while levels and not levels[-1]:
            levels.pop()
        return Count(tuple(levels), sum(one.edges for one in found), sum(one.digest for one in found) % (1 << 64))


@contextmanager
def enumerated(
    game: Game[Any],
    state: State | None = None,
    *,
    fold: bool = False,
    run: Run,
    make: type[Shard] = Shard,
) -> Iterator[Enumerated]:
    """Enumerate all states that are reachable from a state (default: the start); yield their shards.

    With ``fold``, the images of a state under the game's symmetries count as one state.  ``make`` is the class of
    the shards.  Settings of ``run``:

    executor   where the shards are; default: this process
    threads    the number of shards; default: one for each worker
    file       the folder of the keys, which all workers must see; an interrupted enumeration is resumed from it
    memory     limit of each shard; default: all shards together take most of the free memory of this machine
    progress   called with the number of known states
    """
    start = game.initial() if state is None else state
    fold = fold and game.has_symmetries
    layout = layout_of(widths_among([*images_of(game, start, fold), *states_seen(game, start)]))
    recipe = recipe_of(game)
    with (
        using(run.executor or "serial", run.threads) as chosen,
        TemporaryDirectory(prefix="mdplay-states-") as temporary,
    ):
        count = run.threads or chosen.workers
        place, most = make_folder(run.file or temporary), run.bytes or budget(None) // count
        while True:
            layout = _identified(place, recipe, fold, layout, start, count)
            key = key_of(game, start, layout, fold=fold)
            assert key is not None
            sharding = Sharding(recipe, fold, layout, key, count, place, most)
            actors = chosen.actors(make, count, sharding)
            try:
                found = _run(actors, game, run.progress)
                if isinstance(found, tuple):
                    yield Enumerated(actors, sharding, *found)
                    return
                layout = _begin_anew(place, found)
            finally:
                actors.close()


def _run(actors: Actors, game: Game[Any], show: Show | None) -> tuple[int, int] | list[int]:
    """Do rounds until all states are found; return the number of rounds and of keys that were sent.

    If the keys turn out too narrow, return the widths that the fields need.
    """
    rounds: int = min(actors.call("rounds"))
    parcels, told, sent = None, list[Told](), 0
    if rounds:
        parcels, told = actors.scatter("again", rounds)
    while not told or any(one.sent or one.progress.known > one.progress.done for one in told):
        parcels, told = actors.scatter("step", rounds, parcels, all(one.at_level_end for one in told))
        rounds, sent = rounds + 1, sent + sum(one.sent for one in told)
        if wider := [one.wider for one in told if one.wider is not None]:
            return [max(widths) for widths in zip(*wider, strict=True)]
        known = sum(one.progress.known for one in told)
        refuse_thin(game, told[0].progress.level, known)
        if show is not None:
            show(known)
    return rounds, sent


def _identified(folder: Path, recipe: GameSpec, fold: bool, layout: Layout, start: Any, shards: int) -> Layout:
    """Record in the folder what is enumerated there and return its layout; refuse a folder of another one."""
    path = folder / "enumeration.states"
    words = {"game": recipe.identity, "fold": fold, "start": [int(v) for v in start], "shards": shards}
    words["checksums"] = True  # folders of older versions have none
    if not path.exists():
        store.save(path, {"layout": layout}, kind=KIND, meta=words)
    stored = store.load(path, kind=KIND, needs=("layout",))
    if stored.meta != words:
        raise FormatError(
            f"{folder} has another enumeration: of other rules, another start, number of shards or version"
        )
    return np.array(stored.arrays["layout"])


def _begin_anew(folder: Path, widths: list[int]) -> Layout:
    """Remove the files of an enumeration whose keys were too narrow; return a layout for wider keys."""
    for path in (*folder.glob("*.states"), *folder.glob("*.rounds"), *folder.glob("*.keys")):
        path.unlink()
    return layout_of(widths)
