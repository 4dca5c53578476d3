"""A game of ours as one of OpenSpiel's: all of its algorithms take it.

    state = spiel_game(make("dots-and-boxes")).new_initial_state()

OpenSpiel wants to know the range of utilities and the length of a game, which no rule tells: both are options with
wide defaults.  Its games end: one of ours that comes back to its positions is called off there as in a match.  It
makes a game again by its name, so each of ours has one of its own there.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, count
from typing import TYPE_CHECKING, Any

from mdplay.adapters.spaces import library, num_actions
from mdplay.bits import elements, nonempty
from mdplay.checking.limits import move_limit
from mdplay.errors import GameError
from mdplay.game import Game, num_players
from mdplay.notation import event_text, follow

if TYPE_CHECKING:
    import pyspiel
else:
    pyspiel = library("pyspiel")

MAX_UTILITY, MAX_LENGTH, MAX_OUTCOMES = 1e6, 10_000, 128


# ---------------------------------------------------------------- a game of ours as one of theirs
class SpielState(pyspiel.State):
    """A state of a game in OpenSpiel: ours, with what each player has earned so far."""

    def __init__(self, parent: Any, game: Game[Any], state: Any = None) -> None:
        super().__init__(parent)
        self.game = game
        self.state = game.initial() if state is None else state
        self._earned, self._gain = 0.0, 0.0  # by player 0, in all and since the last move
        self._left: int = parent.limit  # moves before the game is called off

    def current_player(self) -> int:
        """Return who moves: a player, chance, or nobody."""
        if self._left <= 0:
            return int(pyspiel.PlayerId.TERMINAL)
        if nonempty(self.game.outcomes(self.state)):
            return int(pyspiel.PlayerId.CHANCE)
        return int(pyspiel.PlayerId.TERMINAL) if self._is_over() else self.game.player(self.state)

    def _legal_actions(self, player: int) -> list[int]:
        return elements(self.game.legal(self.state))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return what chance may do, with the probabilities."""
        game, s = self.game, self.state
        return [(i, game.probability(s, i)) for i in elements(game.outcomes(s))]

    def _apply_action(self, action: int) -> None:
        game, s = self.game, self.state
        gain = 0.0
        if not self.is_chance_node():
            points = float(game.reward(s, action))
            gain = -points if game.player(s) else points
            self._gain = 0.0
        self.state = follow(game, s, action)
        self._left -= 1
        if self.is_terminal() and self._is_over():
            gain += float(game.result(self.state))
        self._gain += gain
        self._earned += gain

    def _is_over(self) -> bool:
        """Tell whether the rules end the game, and nobody calls it off."""
        return not nonempty(self.game.outcomes(self.state)) and not nonempty(self.game.legal(self.state))

    def _action_to_string(self, player: int, action: int) -> str:
        return event_text(self.game, self.state, action)

    def is_terminal(self) -> bool:
        """Tell whether the game is over."""
        return self.current_player() == int(pyspiel.PlayerId.TERMINAL)

    def returns(self) -> list[float]:
        """Return what each player has got."""
        return self._shared(self._earned)

    def rewards(self) -> list[float]:
        """Return what each player got by the last move, and by chance after it; it is told once chance is done."""
        return self._shared(0.0 if self.is_chance_node() else self._gain)

    def _shared(self, total: float) -> list[float]:
        return [total, -total][: num_players(self.game)]

    def __str__(self) -> str:
        return self.game.text(self.state)


class Observer:
    """What a player sees: the whole state, as a text."""

    tensor: Any = None

    def __init__(self) -> None:
        self.dict: dict[str, Any] = {}

    def set_from(self, state: SpielState, player: int) -> None:
        """There is no tensor to fill."""

    def string_from(self, state: SpielState, player: int) -> str:
        """Return the state in the game's notation."""
        return str(state)


Known = tuple[Game[Any], float, int]  # a game, its greatest utility and its longest
_named: dict[str, Known] = {}  # those that OpenSpiel knows


def spiel_game(
    game: Game[Any], *, max_utility: float = MAX_UTILITY, max_length: int | None = None, name: str | None = None
) -> Any:
    """Return a game as OpenSpiel has games; it is registered there under ``name``.

    After ``max_length`` moves it is called off, by default only if its positions come again.
    """
    limit = move_limit(game, max_length)
    known = (game, max_utility, limit)
    short_name = name or _free_name(known)
    if _named.setdefault(short_name, known) != known:
        raise GameError(f"OpenSpiel knows another game by the name {short_name}")
    kind, info = _game_type(game, short_name), _game_info(game, max_utility, min(limit, MAX_LENGTH))

    class SpielGame(pyspiel.Game):
        def __init__(self, params: Mapping[str, Any] | None = None) -> None:
            super().__init__(kind, info, params or {})
            self.game, self.limit = game, limit

        def new_initial_state(self) -> SpielState:
            return SpielState(self, game)

        def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer:
            return Observer()

    if short_name not in pyspiel.registered_names():
        pyspiel.register_game(kind, SpielGame)
    return SpielGame()


def _free_name(known: Known) -> str:
    """Return the name of a game: that of its class, with a number if another game has it."""
    first = f"mdplay_{type(known[0]).__name__.lower()}"
    return next(
        name for name in chain([first], (f"{first}_{i}" for i in count(2))) if _named.get(name, known) == known
    )


def _game_type(game: Game[Any], name: str) -> Any:
    kind, chance = pyspiel.GameType, pyspiel.GameType.ChanceMode
    players = num_players(game)
    return kind(
        short_name=name,
        long_name=type(game).__name__,
        dynamics=kind.Dynamics.SEQUENTIAL,
        chance_mode=chance.EXPLICIT_STOCHASTIC if game.has_outcomes else chance.DETERMINISTIC,
        information=kind.Information.PERFECT_INFORMATION,
        utility=kind.Utility.ZERO_SUM if players == 2 else kind.Utility.GENERAL_SUM,
        reward_model=kind.RewardModel.REWARDS if game.has_reward else kind.RewardModel.TERMINAL,
        max_num_players=players,
        min_num_players=players,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=False,
        parameter_specification={},
    )


def _game_info(game: Game[Any], max_utility: float, max_length: int) -> Any:
    return pyspiel.GameInfo(
        num_distinct_actions=num_actions(game),
        max_chance_outcomes=MAX_OUTCOMES if game.has_outcomes else 0,
        num_players=num_players(game),
        min_utility=-max_utility,
        max_utility=max_utility,
        utility_sum=0.0 if num_players(game) == 2 else None,
        max_game_length=max_length,
    )
