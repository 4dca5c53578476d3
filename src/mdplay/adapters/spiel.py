"""A game of ours as one of OpenSpiel's: all of its algorithms take it.

    state = spiel_game(make("dots-and-boxes")).new_initial_state()

OpenSpiel requires the range of utilities and the maximum length of a game, which the rules do not state: both are
options with wide defaults.  Its games are finite: a game with cycles is truncated there as in a match.  It
recreates a game from its name, so each game is registered there under a name of its own.

Bots and policies of OpenSpiel as agents, and agents as theirs.

    AgentBot(agent)             an agent as a bot            BotAgent(game, bot)         a bot as an agent
    AgentPolicy(game, agent)    an agent as a policy         PolicyAgent(game, policy)   a policy as an agent

All of them play games of ours: a state of theirs is a ``SpielState`` (spiel.py).

Games of OpenSpiel as MDPs: every state that a player meets against a fixed opponent.

model, number = mdp_of(pyspiel.load_game("tic_tac_toe"))
plan(model).value[number[str(state)]]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, count
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from mdplay import MDP, Agent, Game, GameError, LimitError
from mdplay.adapters.spaces import library, num_actions
from mdplay.bits import elements, nonempty
from mdplay.game import num_players
from mdplay.naming.notation import event_text, follow
from mdplay.rng import Random
from mdplay.states.game_length import move_limit

if TYPE_CHECKING:
    import pyspiel
    from open_spiel.python import policy as spiel_policy
else:
    pyspiel, spiel_policy = library("pyspiel"), library("open_spiel.python.policy")


MAX_UTILITY, MAX_LENGTH, MAX_OUTCOMES = 1e6, 10_000, 128


# ---------------------------------------------------------------- a game of ours as one of theirs
class SpielState(pyspiel.State):
    """A state of a game in OpenSpiel: ours, with what each player has earned so far."""

    def __init__(self, parent: Any, game: Game[Any], state: Any = None) -> None:
        super().__init__(parent)
        self.game = game
        self.state = game.initial() if state is None else state
        self._earned, self._gain = 0.0, 0.0  # by player 0, in all and since the last move
        self._left: int = parent.limit  # moves before the game is truncated

    def current_player(self) -> int:
        """Return the player to move, or OpenSpiel's number for chance or for a terminal state."""
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
        """Return whether the rules end the game; a truncated game does not count."""
        return not nonempty(self.game.outcomes(self.state)) and not nonempty(self.game.legal(self.state))

    def _action_to_string(self, player: int, action: int) -> str:
        return event_text(self.game, self.state, action)

    def is_terminal(self) -> bool:
        """Return whether the game is over."""
        return self.current_player() == int(pyspiel.PlayerId.TERMINAL)

    def returns(self) -> list[float]:
        """Return what each player has got."""
        return self._shared(self._earned)

    def rewards(self) -> list[float]:
        """Return each player's reward of the last move and of chance after it; 0 until chance has moved."""
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

    It is truncated after ``max_length`` moves; by default only a game with cycles is truncated.
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


class AgentBot(pyspiel.Bot):
    """An agent of ours where OpenSpiel wants a bot."""

    def __init__(self, agent: Agent, *, seed: int = 0) -> None:
        super().__init__()
        self._agent, self._rng = agent, Random(seed)

    def step(self, state: SpielState) -> int:
        """Return the agent's action."""
        return self._agent.act(state.state, self._rng)

    def restart_at(self, state: Any) -> None:
        """Nothing is remembered."""


class BotAgent:
    """A bot of OpenSpiel as an agent in our matches."""

    remembers = True  # a bot may keep data between moves, and use random numbers of its own

    def __init__(self, game: Game[Any], bot: Any) -> None:
        self._game, self._bot = game, bot
        self._parent = spiel_game(game)

    def act(self, state: Any, rng: Random) -> int:
        """Return the bot's action."""
        return int(self._bot.step(SpielState(self._parent, self._game, state)))


class AgentPolicy(spiel_policy.Policy):
    """An agent of ours where OpenSpiel wants a policy: what share of its answers each action has.

    An agent that draws its moves is asked ``samples`` times.  The shares of a state are the same whenever it is
    asked about.
    """

    def __init__(self, game: Game[Any], agent: Agent, *, samples: int = 1, seed: int = 0) -> None:
        super().__init__(spiel_game(game), list(range(num_players(game))))
        self._agent, self._samples, self._seed = agent, samples, seed

    def action_probabilities(self, state: SpielState, player_id: int | None = None) -> dict[int, float]:
        """Return the probability of every legal action."""
        rng = Random(self._seed, crc32(str(state).encode()))
        counts = Counter(self._agent.act(state.state, rng) for _ in range(self._samples))
        return {action: counts[action] / self._samples for action in elements(state.game.legal(state.state))}


class PolicyAgent:
    """A policy of OpenSpiel, in Python or C++, as an agent in our matches."""

    def __init__(self, game: Game[Any], policy: Any) -> None:
        self._game, self._policy = game, policy
        self._parent = spiel_game(game)

    def act(self, state: Any, rng: Random) -> int:
        """Draw an action by the policy's probabilities."""
        shares = self._policy.action_probabilities(SpielState(self._parent, self._game, state))
        return rng.draw(shares)


MAX_STATES = 1_000_000
Policy = Callable[[Any], Mapping[int, float]]  # from a state of theirs to the probabilities of actions


def uniform(state: Any) -> dict[int, float]:
    """Play every legal action with equal probability."""
    actions = state.legal_actions()
    return {action: 1.0 / len(actions) for action in actions}


def mdp_of(
    game: Any,
    *,
    player: int = 0,
    opponent: Policy = uniform,
    discount: float = 1.0,
    key: Callable[[Any], Any] = str,
    max_states: int = MAX_STATES,
) -> tuple[MDP, dict[Any, int]]:
    """Return what a player of an OpenSpiel game faces, and the number of each state by its key.

    States are those in which the player moves; the last number is the end.  ``key`` tells states apart: by their
    text, unless a game's text leaves something out.  A reward is what the player's return rises by.
    """
    if game.get_type().dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
        raise GameError("an MDP needs a game in which players move one after the other")
    return _Walk(player, opponent, key, max_states).mdp(game, discount)


class _Walk:
    """All states in which the player moves, breadth first, numbered as they are met."""

    def __init__(self, player: int, opponent: Policy, key: Callable[[Any], Any], most: int) -> None:
        self.player, self.opponent, self.key, self.most = player, opponent, key, most
        self.number: dict[Any, int] = {}
        self.waiting: list[Any] = []
        self.rows: list[tuple[int, int, int, float, float]] = []

    def mdp(self, game: Any, discount: float) -> tuple[MDP, dict[Any, int]]:
        for _, state in self._next_turns(game.new_initial_state(), 1.0):
            self._numbered(state)
        done = 0
        while done < len(self.waiting):
            self._expand(done, self.waiting[done])
            self.waiting[done] = None
            done += 1
        end = len(self.number)
        columns = zip(*((s, a, end if t < 0 else t, r, p) for s, a, t, r, p in self.rows), strict=True)
        made = MDP.from_transitions(*map(np.array, columns), num_states=end + 1, discount=discount)
        return made, self.number

    def _expand(self, number: int, state: Any) -> None:
        before = state.returns()[self.player]
        for action in state.legal_actions():
            for probability, successor in self._next_turns(state.child(action), 1.0):
                target = -1 if successor.is_terminal() else self._numbered(successor)
                gain = successor.returns()[self.player] - before
                self.rows.append((number, action, target, gain, probability))

    def _next_turns(self, state: Any, probability: float) -> Iterator[tuple[float, Any]]:
        """Yield the states in which the player moves next, and ends, with their probabilities."""
        if state.is_terminal() or state.current_player() == self.player:
            yield probability, state
            return
        choices = state.chance_outcomes() if state.is_chance_node() else self.opponent(state).items()
        for action, share in choices:
            if share > 0:
                yield from self._next_turns(state.child(action), probability * share)

    def _numbered(self, state: Any) -> int:
        key = self.key(state)
        if key not in self.number:
            if len(self.number) >= self.most:
                raise LimitError(f"the game has more than {self.most:,} states; raise max_states")
            self.number[key] = len(self.number)
            self.waiting.append(state)
        return self.number[key]
