"""The plainest agents: one that plays at random, one that follows a policy file.

A policy file tells one player's probabilities of every action, in every state where that player moves:

    1
    000000000 0.0 0.0 0.0 0.0 1.0 0.0 0.0 0.0 0.0
    ...

Its first line is the player's number, 1 or 2; then a position in the game's notation and the probabilities of
the actions 0, 1, 2 ... a line.
"""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path
from typing import Any

from mdplay.bits import has
from mdplay.errors import FormatError, MdplayError, PositionError
from mdplay.game import Game, parse_position
from mdplay.rng import Random

TOLERANCE = 1e-6  # of the sum of a line's probabilities

Policy = dict[Any, tuple[float, ...]]


class RandomAgent:
    """Play every legal action with equal probability."""

    def __init__(self, game: Game[Any]) -> None:
        self.game = game

    def act(self, state: Any, rng: Random) -> int:
        """Return a legal action drawn at random."""
        return rng.pick(self.game.legal(state))


class PolicyAgent:
    """Play as a policy file tells."""

    def __init__(self, game: Game[Any], file: str) -> None:
        self.game, self.file = game, file
        path = Path(file).expanduser()
        self.policy = read_policy(game, path, _changed(path))

    def act(self, state: Any, rng: Random) -> int:
        """Draw an action by the file's probabilities."""
        if state not in self.policy:
            raise PositionError(f"the policy {self.file} has no line for this position")
        left = rng.unit()
        for action, probability in enumerate(self.policy[state]):
            left -= probability
            if left < 0:
                return action
        return max(a for a, probability in enumerate(self.policy[state]) if probability > 0)


def _changed(path: Path) -> int:
    """Return when a file was last changed, so that a new one is read anew."""
    try:
        return path.stat().st_mtime_ns
    except OSError as error:
        raise FormatError(f"cannot read the policy {path}: {error.strerror or error}") from None


@lru_cache(maxsize=4)
def read_policy(game: Game[Any], path: Path, changed: int) -> Policy:
    """Return the probabilities of each state in a policy file, or raise FormatError naming the line."""
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"cannot read the policy {path}: {error}") from None
    if not lines or lines[0].strip() not in ("1", "2"):
        raise FormatError(f"{path}, line 1: the first line of a policy is the player's number, 1 or 2")
    player, policy = int(lines[0]) - 1, {}
    for number, line in enumerate(lines[1:], start=2):
        if line.strip():
            state, chances = _entry(game, player, line, f"{path}, line {number}")
            policy[state] = chances
    return policy


def _entry(game: Game[Any], player: int, line: str, place: str) -> tuple[Any, tuple[float, ...]]:
    position, *numbers = line.split()
    try:
        state, chances = parse_position(game, position), tuple(map(float, numbers))
    except MdplayError as error:
        raise FormatError(f"{place}: {error}") from None
    except ValueError:
        raise FormatError(f"{place}: {' '.join(numbers)!r} are not all numbers") from None
    if game.player(state) != player:
        raise FormatError(f"{place}: player {player + 1} is not to move in {position}")
    if not all(0 <= p <= 1 for p in chances) or abs(math.fsum(chances) - 1) > TOLERANCE:
        raise FormatError(f"{place}: the probabilities of {position} must be at least 0 and sum to 1")
    for action, probability in enumerate(chances):
        if probability > 0 and not has(game.legal(state), action):
            raise FormatError(f"{place}: action {action} is not legal in {position}")
    return state, chances
