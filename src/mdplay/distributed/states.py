"""Enumerate the states of a game in shards, each in a worker of an executor.

A state belongs to the shard that its hash names.  Round after round each shard finds the followers of its next
states and hands those of others on, from worker to worker; the driver sees counts alone.  All shards finish a
*level*, the states of one ply, before the next one begins, so levels are those of a breadth-first search.

Every shard writes what it found (mdplay.distributed.state_shard): a worker that is killed makes its shard again
from there and does the round again, and who runs the same enumeration in the same folder goes on where it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypedDict, Unpack

import numpy as np

from mdplay.distributed.state_shard import Shard, Sharding, Summary, Told
from mdplay.errors import FormatError
from mdplay.game import Game
from mdplay.naming.transfer import GameSpec, recipe_of
from mdplay.runtime.executors import Actors, Executor, using
from mdplay.runtime.memory import budget
from mdplay.runtime.threads import Show
from mdplay.states.keys import Layout, images_of, key_of, layout_of, refuse_thin, states_seen, widths_among
from mdplay.storage import arrays as store
from mdplay.storage.files import make_folder

KIND = "sharded enumeration"


@dataclass(frozen=True)
class Count:
    """What an enumeration found."""

    levels: tuple[int, ...]  # states by the fewest plies from the start
    edges: int
    digest: int  # of all keys, in whatever order: ``digest_of``

    def __len__(self) -> int:
        return sum(self.levels)


class How(TypedDict, total=False):
    """How to enumerate: what ``enumerated`` may be told."""

    fold: bool
    shards: int | None
    folder: str | Path | None
    memory: int | None
    show: Show | None


def count_states(game: Game[Any], executor: Executor | str, state: Any = None, **how: Unpack[How]) -> Count:
    """Count all states that one (default: the start) reaches, as ``enumerated`` finds them."""
    with enumerated(game, executor, state, **how) as found:
        return found.count()


class Enumerated:
    """All states of a game, in the shards where they were found."""

    def __init__(self, actors: Actors, sharding: Sharding, rounds: int, sent: int) -> None:
        self.actors, self.sharding, self.rounds = actors, sharding, rounds
        self.sent = sent  # keys that went from shard to shard, since this program began

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
    executor: Executor | str,
    state: Any = None,
    *,
    fold: bool = False,
    shards: int | None = None,
    folder: str | Path | None = None,
    memory: int | None = None,
    show: Show | None = None,
    make: type[Shard] = Shard,
) -> Iterator[Enumerated]:
    """Enumerate all states that one (default: the start) reaches, and give the shards, which live until the end.

    ``fold`` lets images under the game's symmetries be one state.  There are as many ``shards`` as workers unless
    told otherwise.  ``folder`` is where the keys are kept, and whence an enumeration that was cut off goes on; all
    workers must see it.  ``memory`` is what each shard may take, in bytes; by default all together take most of
    what is free here.  ``make`` is the class of the shards.
    """
    start = game.initial() if state is None else state
    fold = fold and game.has_symmetries
    layout = layout_of(widths_among([*images_of(game, start, fold), *states_seen(game, start)]))
    recipe = recipe_of(game)
    with using(executor, shards) as chosen, TemporaryDirectory(prefix="mdplay-states-") as temporary:
        count = shards or chosen.workers
        place, most = make_folder(folder or temporary), memory or budget(None) // count
        while True:
            layout = _identified(place, recipe, fold, layout, start, count)
            key = key_of(game, start, layout, fold=fold)
            assert key is not None
            sharding = Sharding(recipe, fold, layout, key, count, place, most)
            actors = chosen.actors(make, count, sharding)
            try:
                found = _run(actors, game, show)
                if isinstance(found, tuple):
                    yield Enumerated(actors, sharding, *found)
                    return
                layout = _begin_anew(place, found)
            finally:
                actors.close()


def _run(actors: Actors, game: Game[Any], show: Show | None) -> tuple[int, int] | list[int]:
    """Do rounds until all states are found; return how many there were, and the keys sent.

    Where keys turn out too narrow, return the widths that the fields need.
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
    """Say in the folder what is enumerated there, and return its layout; refuse a folder of something else."""
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
    """Remove what was found with keys too narrow, and return a layout for wider ones."""
    for path in (*folder.glob("*.states"), *folder.glob("*.rounds"), *folder.glob("*.keys")):
        path.unlink()
    return layout_of(widths)
