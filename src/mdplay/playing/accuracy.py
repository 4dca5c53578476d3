"""How often an agent's moves are optimal, over positions from random games.

A move is optimal if no other has a higher value, within 1e-9 * max(1, |best|).  The values come from an
*oracle*: an evaluator, or an agent that knows the values of moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from mdplay.bits import nonempty, popcount
from mdplay.checking.contract_checks import ENDLESS, check_kept, spot_check
from mdplay.errors import LimitError, PositionError
from mdplay.evaluating.evaluation import Evaluator, final_evaluation, tie_margin
from mdplay.game import Game
from mdplay.playing.agents import Agent, Maker, check_player, choose, leave
from mdplay.playing.evaluators import oracle_for
from mdplay.playing.matches.results import Interval, score_interval
from mdplay.playing.time_limits import entering
from mdplay.position import as_state
from mdplay.rng import Random
from mdplay.states.game_length import MAX_MOVES, move_limit

MAX_FRUITLESS_GAMES = 100  # sampling ends after this many games in a row without a new position


class Mistake(NamedTuple):
    """A move that is not optimal: the position, the agent's move and the optimal moves, in the game's notation."""

    position: str
    move: str
    best: tuple[str, ...]


@dataclass(frozen=True)
class Accuracy:
    """The share of positions in which the agent's move is optimal.

    ``critical`` counts the positions in which not every move is optimal; ``lost`` lists the agent's mistakes.
    """

    positions: int
    kept: int
    lost: tuple[Mistake, ...]
    critical: int

    def __repr__(self) -> str:
        low, high = self.interval
        counts = (
            f"{self.kept:,} of {self.positions:,} moves are optimal ({self.critical:,} positions are critical)"
        )
        return f"<Accuracy {self.share:.1%} ({low:.1%} to {high:.1%}): {counts}>"

    @property
    def share(self) -> float:
        """The share of positions in which the move is optimal."""
        return self.kept / self.positions

    @property
    def critical_share(self) -> float:
        """The share of critical positions in which the move is optimal; 1 if there are none."""
        return 1.0 - len(self.lost) / self.critical if self.critical else 1.0

    @property
    def interval(self) -> Interval:
        """The 95 % interval of the share."""
        return score_interval(self.kept, 0, len(self.lost))

    @property
    def critical_interval(self) -> Interval:
        """The 95 % interval of the share of critical positions."""
        return (
            score_interval(self.critical - len(self.lost), 0, len(self.lost)) if self.critical else Interval(0, 1)
        )

    def document(self) -> dict[str, Any]:
        """Return the statistics for JSON."""
        return {
            "positions": self.positions,
            "kept": self.kept,
            "share": self.share,
            "interval": list(self.interval),
            "critical": self.critical,
            "critical_share": self.critical_share,
            "critical_interval": list(self.critical_interval),
            "lost": [mistake._asdict() for mistake in self.lost],
        }


def keeps_value(values: dict[int, float], action: int) -> bool:
    """Return whether no move has a higher value than the action."""
    best = max(values.values())
    return values[action] >= best - tie_margin(best)


def accuracy(
    game: Game[Any],
    agent: Agent | Maker | str,
    oracle: Evaluator | Agent | str = "perfect",
    states: Iterable[Any] | None = None,
    *,
    count: int = 200,
    seed: int = 0,
    side: int | None = None,
) -> Accuracy:
    """Ask the agent for a move in every state and compare it with the exact values of the oracle.

    The agent is given as for a match; every position is asked of a new one.  ``oracle``: an evaluator, an agent
    that knows the values of moves, or ``proof``, which solves each position by proof search.  By default the
    states are ``count`` of those that random games meet; ``side=0`` or ``1`` takes only those in which that player
    moves, as a policy file of one player needs it.
    """
    evaluator = oracle_for(game, oracle)
    if side is not None:
        check_player(game, side, "side")
    sampled = sample_states(game, count, seed=seed, side=side) if states is None else states
    asked = [as_state(game, s) for s in sampled]
    if not asked:
        raise LimitError("accuracy needs at least one position")
    for s in asked:
        if nonempty(game.outcomes(s)) or not nonempty(game.legal(s)):
            raise PositionError(f"no player is to move in {game.text(s)}; give positions with legal moves")
    lost, critical = [], 0
    with entering(game, (agent,)) as (one,):
        for number, s in enumerate(asked):
            player = one.fresh()
            action = choose(player, one.name, game, s, Random(seed, number))
            leave(player)
            values = final_evaluation(evaluator, s).values
            best = [move for move in values if keeps_value(values, move)]
            critical += len(best) < len(values)
            if action not in best:
                texts = tuple(game.move_text(s, move) for move in best)
                lost.append(Mistake(game.text(s), game.move_text(s, action), texts))
    return Accuracy(len(asked), len(asked) - len(lost), tuple(lost), critical)


def sample_states(game: Game[Any], count: int, *, seed: int = 0, side: int | None = None) -> list[Any]:
    """Return different states with more than one legal action, met in random games; fewer if there are no more.

    ``side``: only states in which this player moves.
    """
    spot_check(game)
    found: dict[Any, None] = {}
    fruitless = number = 0
    while len(found) < count and fruitless < MAX_FRUITLESS_GAMES:
        known = len(found)
        for s in _random_game(game, Random(seed, number)):
            asked = side is None or game.player(s) == side
            if asked and popcount(game.legal(s)) > 1 and len(found) < count:
                found[s] = None
        fruitless = 0 if len(found) > known else fruitless + 1
        number += 1
    if not found:
        raise LimitError("random games met no position with a choice of moves")
    return list(found)


def critical_states(
    game: Game[Any], oracle: Evaluator, count: int, *, seed: int = 0
) -> dict[Any, dict[int, float]]:
    """Return states of random games in which not every move is optimal, with the values of their moves.

    Each game gives one state, of any depth.  Returns fewer states if MAX_FRUITLESS_GAMES games in a row give none.
    """
    spot_check(game)
    found: dict[Any, dict[int, float]] = {}
    fruitless = number = 0
    while len(found) < count and fruitless < MAX_FRUITLESS_GAMES:
        rng = Random(seed, number)
        states, known = [s for s in _random_game(game, rng) if popcount(game.legal(s)) > 1], len(found)
        number += 1
        if states and (s := states[rng.below(len(states))]) not in found:
            values = final_evaluation(oracle, s).values
            if not all(keeps_value(values, action) for action in values):
                found[s] = values
        fruitless = 0 if len(found) > known else fruitless + 1
    if not found:
        raise LimitError("random games met no position in which a move loses value")
    return found


def _random_game(game: Game[Any], rng: Random) -> Iterator[Any]:
    """Yield the states of a random game in which a player moves."""
    s = game.initial()
    limit = move_limit(game)
    for _ in range(limit):
        if nonempty(game.outcomes(s)):
            s = game.outcome(s, game.draw(s, rng.word()))
        elif nonempty(game.legal(s)):
            yield s
            s = game.step(s, rng.pick(game.legal(s)))
        else:
            return
    if limit == MAX_MOVES:
        check_kept(game, ENDLESS, MAX_MOVES)
