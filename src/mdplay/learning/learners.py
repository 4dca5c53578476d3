"""``learn``: a game learned by one of its own learners, or by one that serves any game it fits.

A learner is a function

    learner(game, *, method, episodes, seed, file, show, report, ...its own options...) -> Learned

whose own options are annotated, with a line of help: ``alpha: Annotated[float, "Rate of learning."] = 0.1``.
A game brings its own by ``registry.bring(Game, learners={"name": learner})``; the first of them is ``auto``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mdplay.contract import need_game
from mdplay.errors import unknown
from mdplay.game import Game
from mdplay.learning.learned import Learned, Learner, Report
from mdplay.registry import brought, load_attribute
from mdplay.running import Show
from mdplay.specs import Parameter, parameters

LEARNERS = {
    "network": "mdplay.learning.training:learn_network",
    "points": "mdplay.learning.points:learn_utilities",
}
COMMON = ("method", "episodes", "seed", "file", "show", "report", "examine")


def learners(game: Game[Any]) -> dict[str, Learner]:
    """Return the ways to learn a game by their names: its own first, then those for any game that they fit."""
    return brought(game, "learners") | {name: load_attribute(place) for name, place in LEARNERS.items()}


def options_of(game: Game[Any]) -> list[Parameter]:
    """Return the options of a game's learners: of its own, else of those for any game."""
    chosen = brought(game, "learners") or learners(game)
    found = {option.name: option for learner in chosen.values() for option in parameters(learner)[1:]}
    return [option for name, option in found.items() if name not in COMMON]


def learn(
    game: Game[Any],
    *,
    method: str = "auto",
    episodes: int | Sequence[int] | None = None,
    seed: int | None = None,
    file: str | Path | None = None,
    show: Show | None = None,
    report: Report | None = None,
    **options: Any,
) -> Learned:
    """Learn a game by playing it, and return what was learned: the inner side of ``mdplay.learn``.

    ``auto`` is the first of the game's own methods, else network.  Options that are None count as not given.
    """
    need_game(game)
    given = {name: value for name, value in options.items() if value is not None}
    common = {"episodes": episodes, "seed": seed, "file": file, "show": show, "report": report}
    known = learners(game)
    if method == "auto":
        return _learned(next(iter(known.values())), game, common, given)
    if method not in known:
        raise unknown("method", method, known)
    return _learned(known[method], game, {"method": method, **common}, given)


def _learned(learner: Learner, game: Game[Any], common: dict[str, Any], given: dict[str, Any]) -> Learned:
    takes = [option.name for option in parameters(learner)[1:]]
    known = [name for name in takes if name not in COMMON]
    for name in given:
        if name not in takes:
            raise unknown("option", {"examine": "against"}.get(name, name), known)
    return learner(game, **{name: value for name, value in common.items() if value is not None}, **given)
