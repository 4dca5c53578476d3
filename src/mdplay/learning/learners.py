"""``learn``: a game learned by one of its own learners, or by one that serves any game it fits.

A learner is a frozen dataclass of its options, annotated with a line of help each, and a method:

    alpha: Annotated[float, "Rate of learning."] = 0.1

    def learn(self, game, run) -> Learned

A game brings its own by ``registry.bring(Game, learners={"name": Learner})``; the first of them is ``auto``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mdplay.contract import need_game
from mdplay.errors import unknown
from mdplay.game import Game
from mdplay.learning.learned import Learned, Learner, Run
from mdplay.registry import brought, load_attribute
from mdplay.specs import Parameter, parameters

LEARNERS = {
    "network": "mdplay.learning.training:NetworkLearner",
    "points": "mdplay.learning.points.counting:PointsLearner",
}
EXAMINE = "examine"  # an option that is a function: only Python can give it

Maker = Callable[..., Learner]


def learners(game: Game[Any]) -> dict[str, Maker]:
    """Return the ways to learn a game by their names: its own first, then those for any game that they fit."""
    return brought(game, "learners") | {name: load_attribute(place) for name, place in LEARNERS.items()}


def options_of(game: Game[Any]) -> list[Parameter]:
    """Return the options of all learners of a game; of one that several have, what the first of them says."""
    found: dict[str, Parameter] = {}
    for learner in learners(game).values():
        for option in parameters(learner):
            found.setdefault(option.name, option)
    return [option for name, option in found.items() if name != EXAMINE]


def learn_by(game: Game[Any], run: Run, **options: Any) -> Learned:
    """Learn a game as a run says, and return what was learned: the inner side of ``mdplay.learn``.

    Without a method it is the first of the game's own, else network.  Options that are None count as not given.
    """
    need_game(game)
    known = learners(game)
    if run.method is not None and run.method not in known:
        raise unknown("method", run.method, known)
    maker = next(iter(known.values())) if run.method is None else known[run.method]
    learner = _made(maker, {name: value for name, value in options.items() if value is not None})
    return learner.learn(game, run)


def _made(maker: Maker, given: dict[str, Any]) -> Learner:
    """Return a learner with the options given, or raise UnknownName."""
    takes = [option.name for option in parameters(maker)]
    for name in given:
        if name not in takes:
            known = [option for option in takes if option != EXAMINE]
            raise unknown("option", "against" if name == EXAMINE else name, known)
    return maker(**given)
