"""Depth-limited search for any game: deeper and deeper, until depth or time is spent.

Where the depth ends the game's heuristic guesses; a game without one is guessed to be even, so that only what is
decided within the depth, and the points earned there, count.  A network or an evaluator may value these leaves
instead; an evaluator in Python is called once for a leaf and its siblings.

Each depth searches every move of the position to its exact value at that depth, so that all can be compared; what
one depth has found orders the moves of the next.  A depth that time cut short is not used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import covers, elements
from mdplay.checking.contract_checks import BOUNDS_LISTED, KEPT, LARGEST, NUMBERS, check_kept, spot_check
from mdplay.compiling import Packed, State, load, native, width, words
from mdplay.compiling.contract import mask_size
from mdplay.errors import LimitError
from mdplay.evaluating.evaluation import Evaluator, tie_margin
from mdplay.evaluating.leaves import LeafEvaluator
from mdplay.game import Bounds, Game
from mdplay.learning.network import Network, check_network, named_network
from mdplay.position import takes_state
from mdplay.rng import Random
from mdplay.runtime.run import Run, options_and_run
from mdplay.runtime.threads import Show, Stopwatch, TaskGroup
from mdplay.searching.alpha_beta import (
    ASKED,
    BROKEN,
    CHANCE,
    COUNTERS,
    EXACT,
    GUESSES,
    LARGEST_GUESS,
    NODES,
    NONE,
    PLY,
    WIN,
    DepthSettings,
    hash_of,
    key_of,
    longer_stack,
    new_stack,
    new_table,
    search_value,
)
from mdplay.searching.by_evaluator import leaf_batches
from mdplay.searching.result import MethodAgent, MoveStatistics, SearchResult, check_open, stopping_after
from mdplay.searching.tree import bounds_of, is_settled
from mdplay.states.game_length import has_margins

DEPTH = 6
MAX_DEPTH = 1000
MAX_PLIES = 100_000  # of one line of play, chance events counted: beyond it they hardly end
MAX_FIRST_NODES = 1 << 27  # after a move at depth 1; later the depth before has told something
ANY_NODES = 1 << 62
TABLE_BITS = 18


class Deepening:
    """A position searched deeper and deeper: its table, and the values of its moves at the last whole depth.

    ``limit`` is the last depth.  Raise MdplayError if the options do not fit, or nothing is to be chosen.
    """

    def __init__(
        self, game: Game[Any], s: State, method: DepthLimited, watch: TaskGroup, seconds: float | None = None
    ) -> None:
        depth, network, knowledge = method.depth, method.resolved(game).network, method.knowledge
        self._leaves = leaves = leaf_batches(game, method.evaluator, network)
        if depth is not None and not 1 <= depth <= MAX_DEPTH:
            raise LimitError(f"depth={depth} must be from 1 to {MAX_DEPTH}")
        check_open(game, s)
        spot_check(game, s)
        self._network = network.arrays() if isinstance(network, Network) else None
        self.limit = depth or (DEPTH if seconds is None else MAX_DEPTH)
        self.game, self.state, self.knowledge, self.watch = game, s, knowledge, watch
        bounds = game.bounds(s) if knowledge and game.has_bounds else Bounds(0, 1, 0)
        check_kept(game, KEPT if covers(game.legal(s), bounds.moves) else BOUNDS_LISTED)
        self.actions = elements(bounds.moves) or elements(game.legal(s))
        self.known = bounds.low if bounds.low == bounds.high and len(self.actions) == 1 else None
        self.table = new_table(method.table_bits)
        self.values: list[float] = []
        self.nodes: list[int] = []
        self.depth = self.num_nodes = 0
        self.exact = False
        # The values are results as they are: those of an evaluator may be mixed with results by chance.
        self.plain = leaves is not None and bool(game.has_outcomes)
        plies = 2 * self.limit + 4  # a chance event a move; more when they come
        self._stack = new_stack(plies, width(game), mask_size(game))

    def deepen(self) -> bool:
        """Search all moves one deeper; return whether that came to its end and more depth would tell more."""
        found, nodes, guesses = [], [], 0
        for action in self.actions:
            counters = np.zeros(COUNTERS, np.int64)
            found.append(self._value(action, self.depth, counters))
            nodes.append(int(counters[NODES]))
            guesses += int(counters[GUESSES])
            self.num_nodes += nodes[-1]
            self.watch.progress[0] = self.num_nodes
        if any(map(math.isnan, found)):
            return False
        self.values, self.nodes, self.exact = found, nodes, guesses == 0
        self.depth += 1
        if self.exact and self._mixes():
            self._search_plainly()
        return not self.exact

    def _mixes(self) -> bool:
        """Return whether values may lie between the results: by chance, or because results do."""
        between = any(0.0 < abs(value) <= WIN / 2 for value in self.values)
        return not self.plain and not self.game.has_reward and (self.game.has_outcomes or between)

    def _search_plainly(self) -> None:
        """Find the values once more as results without any regard to speed; a stop leaves them as they were."""
        self.plain = True
        self.table.fill(0)
        counters = np.zeros(COUNTERS, np.int64)
        found = [self._value(action, self.depth - 1, counters) for action in self.actions]
        self.num_nodes += int(counters[NODES])
        if any(map(math.isnan, found)):
            self.plain = self.exact = False
        else:
            self.values = found

    def _value(self, action: int, depth: int, counters: NDArray[np.int64]) -> float:
        """Return the value of a move to its mover: as the game knows, or by a search."""
        game, s = self.game, self.state
        sign = -1 if game.player(s) else 1
        if self.known is not None:
            return sign * self.known * (1.0 if game.has_reward or self.plain else WIN)
        points = float(game.reward(s, action))
        check_kept(game, KEPT if abs(points) <= LARGEST else NUMBERS)
        return points + sign * self._search(words(game.step(s, action)), depth, counters)

    def _search(self, start: Packed, depth: int, counters: NDArray[np.int64]) -> float:
        """Return the value of a packed state for player 0; NaN when stopped."""
        while True:
            most = ANY_NODES if self.depth else MAX_FIRST_NODES
            settings = DepthSettings(depth, self.knowledge, self.plain, most, self._leaves is not None)
            arrays = (self._network, self.table, self._stack, self.watch.stop, counters)
            value = float(search_value(native(self.game), start, settings, *arrays))
            check_kept(self.game, int(counters[BROKEN]))
            if counters[ASKED]:
                self._evaluate_leaves(int(counters[PLY]))
                continue
            if counters[NODES] >= most:
                what = f"chance can go on from one move to more than {most:,} positions before the next"
                raise LimitError(f"{what}; let tree search draw them: mcts")
            if not counters[PLY]:
                return value
            if len(self._stack.frames) > MAX_PLIES:
                raise LimitError(
                    f"a line of play has more than {MAX_PLIES:,} moves and chance events; does chance end?"
                )
            self._stack = longer_stack(self._stack)

    def _evaluate_leaves(self, ply: int) -> None:
        """Let the evaluator value the leaf at a ply and the siblings that follow it; write them into the table."""
        assert self._leaves is not None
        game, leaf = self.game, load(self.game, self._stack.states, ply)
        siblings = [s for s in self._siblings(ply) if s != leaf and self._is_leaf(s)]
        states = [*dict.fromkeys(siblings), leaf]  # the leaf last: no other entry can replace its own
        for s, value in zip(states, self._leaves(states).values.tolist(), strict=True):
            key = key_of(game, s)
            guess = min(max(-value if game.player(s) else value, -LARGEST_GUESS), LARGEST_GUESS)
            self.table[key & len(self.table) - 1] = (key, guess, 0, EXACT, 1, NONE)

    def _siblings(self, ply: int) -> list[State]:
        """Return the states after the move that led to a ply and after the moves that follow it."""
        if ply == 0:
            return []
        game, frame, s = self.game, self._stack.frames[ply - 1], load(self.game, self._stack.states, ply - 1)
        moves = self._stack.moves[ply - 1, int(frame["tried"]) - 1 : int(frame["count"])].tolist()
        enter = game.outcome if frame["kind"] == CHANCE else game.step
        return [enter(s, move) for move in moves]

    def _is_leaf(self, s: State) -> bool:
        """Return whether a player moves in a state whose value is not known."""
        return bool(elements(self.game.legal(s))) and not (
            elements(self.game.outcomes(s)) or is_settled(bounds_of(self.game, s, self.knowledge))
        )

    def compile(self) -> None:
        """Have the kernels ready."""
        stop, counters, game = np.ones(1, np.uint8), np.zeros(COUNTERS, np.int64), native(self.game)
        settings = DepthSettings(0, self.knowledge, False, ANY_NODES, self._leaves is not None)
        arrays = (self._network, self.table, self._stack, stop, counters)
        search_value.compiled_first(game, words(self.state), settings, *arrays)

    def line(self, action: int) -> tuple[str, ...]:
        """Return a move and the best play after it, as far as the table still knows it; chance ends it."""
        game, s, moves, depth = self.game, self.state, [], self.depth
        while True:
            moves.append(game.move_text(s, action))
            s, depth = game.step(s, action), depth - 1
            if depth == 0 or elements(game.outcomes(s)) or not elements(game.legal(s)):
                return tuple(moves)
            key = int(hash_of(native(game), words(s)))
            entry = self.table[key & len(self.table) - 1]
            if (int(entry["key"]), int(entry["depth"]), int(entry["bound"])) != (key, depth, EXACT):
                return tuple(moves)
            action = int(entry["action"])


@dataclass(frozen=True)
class DepthLimited:
    """The options of depth-limited search; ``DepthLimited(...)(game)`` is an agent.

    With a time limit the search goes as deep as time allows, at most to ``depth``.  Depth 1 looks at the positions
    after each move.  Leaves are evaluated by the heuristic of the game, by a ``network`` (a file, "shipped" or an
    object), or by an ``evaluator``: a Python function of a list of states, which returns their values for the
    players to move (see ``mdplay.evaluating.leaves``); priors are ignored.  ``knowledge``: states that the game
    knows to be decided count as such, and only the moves are tried that it considers worth a search.
    """

    depth: Annotated[int | None, "Maximum depth in plies; 6 without a time limit."] = None
    network: Annotated[str | Network | None, "Network that evaluates leaves: a file, or shipped."] = None
    evaluator: Annotated[LeafEvaluator | Evaluator | None, "Function that evaluates leaves."] = None
    knowledge: Annotated[bool, "Use the bounds that the game defines."] = True
    table_bits: Annotated[int, "Logarithm to base 2 of the size of the transposition table."] = TABLE_BITS

    def __call__(self, game: Game[Any], **settings: Any) -> HeuristicAgent:
        """Return an agent that searches with these options, and settings of a run."""
        return HeuristicAgent(game, **vars(self), **settings)

    def resolved(self, game: Game[Any]) -> DepthLimited:
        """Return the options with the network that a text names; raise ArgumentError if it is none."""
        network = named_network(self.network, game) if isinstance(self.network, str) else self.network
        check_network(network)
        return replace(self, network=network)


@takes_state
def depth_limited(
    game: Game[Any],
    state: Any = None,
    *,
    watch: TaskGroup | None = None,
    interruptible: bool = False,
    run: Run | None = None,
    **options: Any,
) -> SearchResult:
    """Search a position (default: the start) to a depth (default 6) and return the best move.

    The options are those of ``DepthLimited`` and the settings ``seconds`` and ``progress`` of a ``Run``.  A value
    that is proven is a result; any other is in the unit of the heuristic.  ``interruptible``: Ctrl-C ends the
    search, not the program, and the best move so far is returned.
    """
    method, run = options_and_run("depth_limited", DepthLimited, ("seconds", "progress"), run, options)
    watch = watch or TaskGroup(1, run.progress, interruptible=interruptible)
    job = Deepening(game, state, method, watch, run.seconds)
    if run.seconds is not None:
        job.compile()  # the clock starts after that
    clock = Stopwatch()
    with stopping_after(run.seconds, watch):
        watch.run([partial(_deepen, job)])
    if not job.values:
        raise LimitError("the search ended before it had looked at even one move; give it more time")
    return summary(job, clock.seconds)


def _deepen(job: Deepening) -> None:
    while job.depth < job.limit and job.deepen():
        pass


def summary(job: Deepening, seconds: float) -> SearchResult:
    """Return what the last whole depth has found."""
    top = max(job.values)
    tied = [a for a, v in zip(job.actions, job.values, strict=True) if v >= top - tie_margin(top)]
    moves = tuple(_statistics(job, *row) for row in zip(job.actions, job.values, job.nodes, strict=True))
    chosen = next(move for move in moves if move.action == tied[0])
    return SearchResult(
        action=chosen.action,
        value=chosen.value,
        proven=chosen.proven,
        best=tuple(tied),
        moves=moves,
        line=job.line(chosen.action),
        simulations=0,
        nodes=job.num_nodes,
        seconds=seconds,
        depth=job.depth,
    )


def _statistics(job: Deepening, action: int, value: float, nodes: int) -> MoveStatistics:
    """Return a move's statistics; a value beyond all guesses is a result again.

    It is certain if chance has no part and no result is beyond -1 .. 1: among guesses may be a better win.
    """
    decided = not job.game.has_reward and not job.plain and abs(value) > WIN / 2
    shown = round(value / WIN, 3) if decided else value
    proven = job.exact or (decided and not job.game.has_outcomes and abs(shown) <= 1 and not has_margins(job.game))
    return MoveStatistics(action, job.game.move_text(job.state, action), nodes, shown, proven)


# ---------------------------------------------------------------- the agent
class HeuristicAgent(MethodAgent):
    """Plays by depth-limited search with the game's heuristic; ties are broken at random."""

    method = DepthLimited

    def search(
        self, state: State, *, seed: int = 0, show: Show | None = None, interruptible: bool = False
    ) -> SearchResult:
        """Search a position; the seed changes nothing."""
        run = replace(self.run, progress=show)
        return depth_limited(self._game, state, interruptible=interruptible, run=run, **vars(self.options))

    def act(self, state: State, rng: Random) -> int:
        """Choose one of the best actions."""
        best = self.search(state).best
        return best[rng.below(len(best))]
