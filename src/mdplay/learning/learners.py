"""``learn``: a game learned by one of its own learners, or by one that serves any game it fits.

A learner is a frozen dataclass of its options, annotated with a line of help each, and a method:

    alpha: Annotated[float, "Rate of learning."] = 0.1

    def learn(self, game, run) -> Learned

A game brings its own by ``registry.register_extras(Game, learners={"name": Learner})``; the first of them is
``auto``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mdplay.compiling.contract import need_game
from mdplay.errors import UnknownName, unknown
from mdplay.game import Game
from mdplay.learning.learned import Learned, Learner, Run
from mdplay.naming.registry import extras_of, load_attribute
from mdplay.naming.specs import Parameter, parameters

LEARNERS = {
    "network": "mdplay.learning.training:NetworkLearner",
    "points": "mdplay.learning.cell_counting:PointsLearner",
}
ANY_METHOD = ("method", "episodes", "seed", "file", "against", "games", "exact", "show", "report")  # of ``learn``
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


def learn_by(game: Game[Any], run: Run, **options: Any) -> Learned:
    """Learn a game as a run says, and return the result: the inner side of ``mdplay.learn``.

    Without a method it is the first of the game's own, else network.  Options that are None count as not given.
    """
    need_game(game)
    known = learners(game)
    if run.method is not None and run.method not in known:
        raise unknown("method", run.method, known)
    method = run.method or next(iter(known))
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in _takes(known[method]):
            raise _no_option(known, method, name)
    return known[method](**given).learn(game, run)


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
