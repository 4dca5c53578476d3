"""``learn``: a game learned by one of its own learners, or by one that serves any game it fits.

A learner is a frozen dataclass of its options, annotated with a line of help each, and a method:

    alpha: Annotated[float, "Rate of learning."] = 0.1

    def learn(self, game, run) -> Learned       run: a LearningRun

A game brings its own by ``registry.register_extras(Game, learners={"name": Learner})``; the first of them is
``auto``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mdplay.compiling.contract import need_game
from mdplay.errors import UnknownName, unknown
from mdplay.game import Game
from mdplay.learning.learned import Learned, Learner, LearningRun
from mdplay.naming.registry import extras_of, load_attribute
from mdplay.naming.specs import Parameter, parameters
from mdplay.runtime.run import Run

LEARNERS = {
    "network": "mdplay.learning.training:NetworkLearner",
    "points": "mdplay.learning.cell_counting:PointsLearner",
}
ANY_METHOD = (
    "method",
    "episodes",
    "seed",
    "file",
    "against",
    "games",
    "exact",
    "progress",
    "report",
)  # of ``learn``
EXAMINE = "examine"  # an option that is a function: only Python can give it

Maker = Callable[..., Learner]


def learners(game: Game[Any]) -> dict[str, Maker]:
    """Return the ways to learn a game by their names: its own first, then those for any game that they fit."""
    return extras_of(game, "learners") | {name: load_attribute(place) for name, place in LEARNERS.items()}


def options_of(game: Game[Any]) -> list[Parameter]:
    """Return the options of all learners of a game; of one that several have, what the first of them says."""
    found: dict[str, Parameter] = {}
    for learner in learners(game).values():
        for option in parameters(learner):
            found.setdefault(option.name, option)
    return [option for name, option in found.items() if name != EXAMINE]


def learn_by(game: Game[Any], asked: LearningRun, run: Run | None = None, **options: Any) -> Learned:
    """Learn a game, and return the result: the inner side of ``mdplay.learn``.

    Without a method it is the first of the game's own, else network.  Options that are None count as not given.
    The settings of ``run`` that are not in ``asked`` are options of the learner.
    """
    need_game(game)
    known = learners(game)
    if asked.method is not None and asked.method not in known:
        raise unknown("method", asked.method, known)
    method = asked.method or next(iter(known))
    given = _settings(run or Run(), _takes(known[method]))
    given |= {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in _takes(known[method]):
            raise _no_option(known, method, name)
    return known[method](**given).learn(game, asked)


def _settings(run: Run, takes: list[str]) -> dict[str, Any]:
    """Return the settings of a run as options of a learner: minutes, and threads of an executor as workers."""
    limits = {"seconds": run.seconds, "threads": run.threads, "executor": run.executor}
    given: dict[str, Any] = {name: value for name, value in limits.items() if value is not None}
    if run.save_every != Run().save_every:
        given["save_every"] = run.save_every
    if "seconds" in given and "minutes" in takes:
        given["minutes"] = given.pop("seconds") / 60.0
    if "executor" in given and "threads" in given and "workers" in takes:
        given["workers"] = given.pop("threads")
    return given


def _takes(maker: Maker) -> list[str]:
    return [option.name for option in parameters(maker)]


def _no_option(known: dict[str, Maker], method: str, name: str) -> UnknownName:
    """Return the error for an option that a method has not: who has it, or what there is instead."""
    said = "against" if name == EXAMINE else name.rstrip("_")
    others = [other for other, maker in known.items() if name in _takes(maker)]
    if others:
        return UnknownName(f"the method {method} has no option {said!r}, but {' and '.join(others)} has")
    own = [option.rstrip("_") for option in _takes(known[method]) if option != EXAMINE]
    return unknown("option", said, [*own, *ANY_METHOD])
