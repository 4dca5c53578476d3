"""All states of a game and what joins them, found once; a fixed opponent then makes an MDP of it.

States are numbered breadth first from the start, their edges in the order of actions or outcomes:

    state s   kind[s] = 0 or 1: that player moves; CHANCE; END, worth result[s] to player 0
              edges first_edge[s] .. first_edge[s + 1] - 1
    edge e    action[e] (or outcome) leads to target[e], earns player 0 points[e]; chance[e] is its probability

In the MDP of a player every state of the game is a state, in the same order.  The player's own edges are its
choices; where the opponent or chance moves there is one choice, action 0, with all edges as transitions.  The
ends are terminal: what they are worth is earned on entering them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from mdplay.bits import lowest, rest, some
from mdplay.bridge import kernel, load, native, pack, part, prefetch, unpack, words
from mdplay.errors import FormatError, LimitError
from mdplay.game import Game
from mdplay.mdp.loops import preorder, run
from mdplay.mdp.model import MDP, Floats, Integers, lengths
from mdplay.running import Show, Watch
from mdplay.solving.hashing import HALF, choices_of, doubled_index, find_listed, tag_of, write_key

CHANCE, END = 2, 3
FIRST_ROOM = 1024
BLOCK_EDGES = 4096  # followers that are looked up together
MOST_EDGES = 128  # of a state
BYTES_PER_STATE = 400  # with its edges and its place in the hash set, generously
MAX_STATES = 50_000_000

Opponent = str | Callable[[Any], int | Mapping[int, float]]


@dataclass(frozen=True)
class Score:
    """What the end of a game is worth to a player who won, drew or lost."""

    win: float = 1.0
    draw: float = 0.0
    loss: float = -1.0


@dataclass(frozen=True, eq=False)
class GameGraph:
    """All states of a game; see the module's text for the arrays."""

    game: Game[Any]
    packed: Integers
    kind: Integers
    result: Floats
    first_edge: Integers
    action: Integers
    target: Integers
    points: Floats
    chance: Floats

    @property
    def num_states(self) -> int:
        """The number of states, ends included."""
        return len(self.kind)

    def state(self, number: int) -> Any:
        """Return the state with a number."""
        return unpack(self.game, tuple(int(word) for word in self.packed[number]))

    def index(self, state: Any) -> int:
        """Return the number of a state; raise KeyError if no game reaches it."""
        return self._numbers[tuple(int(word) for word in words(state))]

    @cached_property
    def _numbers(self) -> dict[tuple[int, ...], int]:
        return {tuple(row): number for number, row in enumerate(self.packed.tolist())}

    @cached_property
    def owner(self) -> Integers:
        """The state of every edge."""
        return np.repeat(np.arange(self.num_states, dtype=np.int64), lengths(self.first_edge))

    def preorder(self) -> Integers:
        """Return the states in the order in which a walk in depth, lowest action first, meets them."""
        order = np.zeros(self.num_states, dtype=np.int64)
        run(preorder, 4 * len(self.target), self.first_edge, self.target, order)
        return order

    def uniform(self) -> Floats:
        """Return the probability of each edge when every action of a state is as likely as the others."""
        return 1.0 / lengths(self.first_edge)[self.owner]

    def weights(self, opponent: Opponent, player: int) -> Floats:
        """Return the probability of each edge when ``player`` follows a policy: "uniform" or a function.

        The function gets a state and returns an action, or probabilities by action.
        """
        if opponent == "uniform":
            return self.uniform()
        if not callable(opponent):
            raise FormatError(f"the opponent {opponent!r} is neither 'uniform' nor a function of states")
        weights = np.zeros(len(self.target))
        for number in np.flatnonzero(self.kind == player):
            edges = slice(int(self.first_edge[number]), int(self.first_edge[number + 1]))
            weights[edges] = self._answer(opponent, int(number), self.action[edges].tolist())
        return weights

    def _answer(self, opponent: Callable[[Any], Any], number: int, actions: list[int]) -> list[float]:
        """Return what a policy answers in one state, checked."""
        given = opponent(self.state(number))
        found = {int(given): 1.0} if isinstance(given, (int, np.integer)) else dict(given)
        answer = [float(found.get(action, 0.0)) for action in actions]
        if abs(sum(answer) - 1.0) > 1e-6 or min(answer) < 0.0:
            place = self.game.text(self.state(number))
            raise FormatError(f"the policy answers {given} in {place}; its actions are {actions}")
        return answer

    def mdp(self, player: int, weights: Floats, *, score: Score | None = None, discount: float = 1.0) -> MDP:
        """Return the MDP of a player against an opponent who takes edges with these probabilities."""
        own = self.kind == player
        choice = np.where(own[self.owner], 1.0, np.where(self.kind[self.owner] == CHANCE, self.chance, weights))
        begins = own[self.owner]
        begins[self.first_edge[:-1][lengths(self.first_edge) > 0].astype(np.int64)] = True
        starts = np.flatnonzero(begins)
        earned = choice * self._gains(player, score)
        choices = np.where(own, lengths(self.first_edge), lengths(self.first_edge) > 0)
        return MDP(
            first_choice=np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(choices)]),
            action=np.where(own[self.owner], self.action, 0)[starts],
            first_transition=np.append(starts, len(self.target)),
            target=self.target,
            probability=choice,
            reward=np.add.reduceat(earned, starts) if len(starts) else np.zeros(0),
            discount=discount,
        )

    def _gains(self, player: int, score: Score | None) -> Floats:
        """Return what each edge earns a player, the worth of an end included."""
        sign = 1.0 - 2.0 * player
        result = sign * self.result
        if score is not None:
            result = np.where(result > 0.0, score.win, np.where(result < 0.0, score.loss, score.draw))
        ends = self.kind[self.target] == END
        gains: Floats = sign * self.points + np.where(ends, result[self.target], 0.0)
        return gains


def explore(game: Game[Any], *, max_states: int | None = None, show: Show | None = None) -> GameGraph:
    """Return all states of a game; a game of more than ``max_states`` is refused."""
    limit = min(MAX_STATES, _room()) if max_states is None else max_states
    start = words(game.initial())
    watch = Watch(1, show)
    found = watch.run([partial(expand, native(game), start, limit, watch.stop, watch.progress)])[0]
    packed, kind, result, first_edge, action, target, points, chance = found
    if len(packed) > limit:
        raise LimitError(f"the game has more than {limit:,} states: too many to plan with in this memory")
    points, chance = (
        column[: len(target)] if used else np.zeros(len(target))  # untouched zeros take no memory
        for column, used in ((points, game.has_reward), (chance, game.has_outcomes))
    )
    return GameGraph(game, packed, kind, result, first_edge, action, target, points, chance)


def _room() -> int:
    """Return how many states fit into half of the free memory."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        return MAX_STATES
    return 1024 * free // (2 * BYTES_PER_STATE)


@part
def grown(array: Any) -> Any:
    """Return the array with as much room again."""
    larger = np.empty(2 * len(array), array.dtype)
    for i in range(len(array)):
        larger[i] = array[i]
    return larger


@part
def grown_table(table: Any) -> Any:
    """Return the table with as many rows again."""
    larger = np.empty((2 * len(table), table.shape[1]), table.dtype)
    for i in range(len(table)):
        for j in range(table.shape[1]):
            larger[i, j] = table[i, j]
    return larger


@kernel
def expand(game: Any, start: Any, max_states: int, stop: Any, progress: Any) -> Any:
    """Find all states from the start on, breadth first; more than ``max_states`` end the search.

    The states of a block are stepped from first, and the hash set is asked for all their followers afterwards:
    by then the memory has brought what it was asked for.
    """
    index = np.zeros(FIRST_ROOM, np.int64)
    packed, kind = np.zeros((FIRST_ROOM, len(start)), np.uint64), np.zeros(FIRST_ROOM, np.uint8)
    result, first_edge = np.zeros(FIRST_ROOM), np.zeros(FIRST_ROOM + 1, np.int64)
    action, target = np.zeros(FIRST_ROOM, np.uint8), np.zeros(FIRST_ROOM, np.uint32)
    points, chance = np.zeros(FIRST_ROOM), np.zeros(FIRST_ROOM)
    followers, tags = np.zeros((BLOCK_EDGES, len(start)), np.uint64), np.zeros(BLOCK_EDGES, np.int64)
    write_key(packed, 0, start)
    index[tag_of(start) & (FIRST_ROOM - 1)] = (tag_of(start) << 32) + 1
    found, done, edges = 1, 0, 0
    while done < found and found <= max_states and not stop[0]:
        while 2 * (found + BLOCK_EDGES) > len(index):
            index = doubled_index(index)
        while edges + BLOCK_EDGES > len(target):
            action, target = grown(action), grown(target)
            points = grown(points) if game.has_reward else points
            chance = grown(chance) if game.has_outcomes else chance
        while found + BLOCK_EDGES > len(kind):
            packed, kind, result, first_edge = grown_table(packed), grown(kind), grown(result), grown(first_edge)
        first = edges
        while done < found and edges + MOST_EDGES <= first + BLOCK_EDGES:
            s = load(game, packed, done)
            mask, by_chance = choices_of(game, s)
            mover = game.player(s)
            kind[done] = CHANCE if by_chance else mover if some(mask) else END
            result[done] = 0.0 if some(mask) else game.result(s)
            while some(mask):
                pick = lowest(mask)
                mask = rest(mask)
                if game.has_outcomes:
                    chance[edges] = game.probability(s, pick) if by_chance else 0.0
                if game.has_reward:
                    earned = 0.0 if by_chance else float(game.reward(s, pick))
                    points[edges] = -earned if mover else earned
                following = pack(game, game.outcome(s, pick) if by_chance else game.step(s, pick))
                tag = tag_of(following)
                prefetch(index, tag & (len(index) - 1))
                write_key(followers, edges - first, following)
                tags[edges - first] = tag
                action[edges] = pick
                edges += 1
            done += 1
            first_edge[done] = edges
        for i in range(edges - first):
            entry = index[tags[i] & (len(index) - 1)]
            prefetch(packed, max(0, (entry & HALF) - 1) * len(start))
        for i in range(edges - first):
            slot = find_listed(index, packed, followers, i, tags[i])
            if index[slot] == 0:
                for j in range(len(start)):
                    packed[found, j] = followers[i, j]
                found += 1
                index[slot] = (tags[i] << 32) + found
            target[first + i] = (index[slot] & HALF) - 1
        progress[0] = done
    return (
        packed[:found],
        kind[:found],
        result[:found],
        first_edge[: done + 1],
        action[:edges],
        target[:edges],
        points,
        chance,
    )
