"""Promises that a game broke in the middle of a search: what the kernels note, and the sentence for it.

A kernel that meets a value it cannot go on with notes the promise and returns; Python raises GameError.  Most
broken promises are found before a search begins, by a sample (mdplay.checking.contract_checks); these checks are
for the rare ones, wherever a value is used as an index, could hang the kernel, or would spoil all that it has
added up.

The promises of a game, held in plain Python: at one position, or in a small sample before a long run.

``ContractChecks`` checks what the contract (mdplay.game) says of a single position; ``check_game`` uses it at many
of them, with the words for people besides.  ``spot_check`` plays a few random games, some milliseconds in all, so
that a kernel is not sent for hours through rules that lie.  The sentence of the GameError names the promise.  No
numba in here.
"""

from __future__ import annotations

import ctypes
import math
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from weakref import WeakSet

from mdplay.bits import as_int, elements, nonempty, popcount
from mdplay.compiling.contract import check_shape, checked, wrap_rule_errors
from mdplay.compiling.digest import forget_with, refresh
from mdplay.errors import GameError, pluralize
from mdplay.game import Game, State, num_players
from mdplay.rng import Random

LARGEST = 1e100  # of results, rewards and guesses, and of sums of their squares: all that is added up stays finite
SUM_ERROR = 1e-6  # tolerance of the sum of the probabilities of a chance event
WATCH_SECONDS = 0.02  # shortest interval between two looks at the processor time

KEPT, NUMBERS, PROBABILITY, DRAW, BOUNDS_LISTED, PLAYER, ENDLESS, STOPPED = range(8)
SENTENCES = {
    NUMBERS: f"a result, reward or heuristic is no number from -{LARGEST:g} to {LARGEST:g}",
    PROBABILITY: "the probabilities of a chance event are not all above 0, or their sum is not 1",
    DRAW: "draw gave an outcome that is not among the outcomes",
    BOUNDS_LISTED: "bounds list an action that is not legal",
    PLAYER: "player is neither 0 nor 1",
}


def check_kept(game: Game[Any], code: int, max_moves: int = 0) -> None:
    """Raise GameError for what a kernel noted; nothing for ``KEPT`` and ``STOPPED``."""
    if code in (KEPT, STOPPED):
        return
    if code == ENDLESS:
        way = "does every game end?  If positions repeat, set max_moves of the game or of the call"
        raise GameError(f"a random game did not end within {pluralize(max_moves, 'move')}; {way}")
    raise GameError(f"{type(game).__name__} breaks a promise: {SENTENCES[code]}; mdplay check tells where")


MOST_SYMMETRIES = 1 << 16
MOST_SCORE = 1 << 40
WHOLE = (1 << 53) - 1  # up to here sums of integers are exact
SLACK = 1e-9  # of a sum of probabilities

GAMES = 6  # of a sample
MOST_PLIES = 300  # of all its games
EFFORT = 400  # successors that may be made to check positions closely
TRIALS = 4  # sets of actions that are tried where a game tells its scoring sets
SECONDS = 10.0

_HELD: WeakSet[Game[Any]] = WeakSet()
forget_with(_HELD.clear)


def spot_check(game: Game[Any], state: State | None = None) -> None:
    """Raise GameError if a small sample of random games from a state (default: the start) shows a broken promise.

    Each game is checked once.  A game without end breaks no promise here.
    """
    refresh(game)  # every verb comes here: rules that have changed in this process are noticed now
    if game in _HELD:
        return
    check_shape(game)
    double = checked(game)
    with wrap_rule_errors(), time_limit(SECONDS):
        sample = _Sample(double)
        sample.check_constants()
        if game.has_scoring_sets:
            check_scoring_sets(double, TRIALS)
        for number in range(GAMES):
            sample.play(double.initial() if state is None else state, Random(0, number))
        sample.look_closely(Random(0, GAMES))
    vars(game).update({name: table for name, table in vars(double).items() if name not in vars(game)})
    _HELD.add(game)


def number_of(game: Game[Any], s: State) -> int:
    """Return the number of a state; raise GameError if it is not below ``size``."""
    number, size = game.index(s), game.size()
    if not 0 <= number < size:
        raise GameError(f"index gives {number} for {show(game, s)}; size is {size}")
    return number


def diagnose_position(game: Game[Any], s: State) -> None:
    """Raise GameError for the promise that is broken at a position or right after it, if there is one."""
    double = checked(game)
    promises = ContractChecks(double)
    with wrap_rule_errors(), time_limit(SECONDS):
        promises.check_constants()
        promises.check(s, Random(0))
        chance = nonempty(double.outcomes(s))
        for i in elements(double.outcomes(s) if chance else double.legal(s)):
            t = double.outcome(s, i) if chance else double.step(s, i)
            promises.check_player(t)
            if not nonempty(double.legal(t)) and not nonempty(double.outcomes(t)):
                promises.check_result(t)
            if game.has_size:
                number_of(double, t)


class _Overtime(BaseException):
    """Raised in the thread whose rules have used up their processor time."""


class _Watchdog(threading.Thread):
    """Raise _Overtime in another thread when the process has used ``seconds`` of processor time.

    The exception is raised between two bytecodes of the thread, as by a signal handler, but no handler or timer of
    the process is changed, and the thread need not be the main thread.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(daemon=True)
        self._thread = threading.get_ident()
        self._end = time.process_time() + seconds
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._raised = False
        self.place = "?"  # where the thread was interrupted

    def run(self) -> None:
        """Wait for the end of the processor time, or until the watchdog is stopped."""
        while (left := self._end - time.process_time()) > 0:
            if self._stopped.wait(max(left, WATCH_SECONDS)):
                return
        with self._lock:
            if not self._stopped.is_set():
                if frame := sys._current_frames().get(self._thread):
                    self.place = f"{Path(frame.f_code.co_filename).name}, line {frame.f_lineno}"
                self._raised = True
                thread, exception = ctypes.c_ulong(self._thread), ctypes.py_object(_Overtime)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, exception)

    def stop(self) -> None:
        """Raise nothing from now on; an exception that is on its way arrives before this returns."""
        with self._lock:
            self._stopped.set()
        for _ in range(100 if self._raised else 0):
            time.sleep(0)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise GameError if the block uses more than ``seconds`` of processor time.

    Wall-clock time would refuse a correct game on a busy machine.
    """
    watchdog = _Watchdog(seconds)
    watchdog.start()
    try:
        try:
            yield
        finally:
            watchdog.stop()
    except _Overtime:
        used = f"the rules used more than {seconds:g} s of CPU time ({watchdog.place})"
        raise GameError(f"{used}; check for an infinite loop") from None


def show(game: Game[Any], s: State) -> str:
    """Return the position as text, or its fields if that fails: an error message must not raise."""
    try:
        return game.text(s)
    except Exception:
        return repr(tuple(s))


class ContractChecks:
    """Holds a game to its promises, a position at a time; the game should be a ``checked`` double."""

    def __init__(self, game: Game[Any]) -> None:
        self.game = game

    def check_constants(self) -> None:
        """Check what the game promises once and for all."""
        game = self.game
        if game.has_size and game.size() < 1:
            raise GameError(f"size is {game.size()}; a game has at least one state")
        if game.has_symmetries and not 1 <= game.symmetries() <= MOST_SYMMETRIES:
            least = f"symmetries gives {game.symmetries()}"
            raise GameError(f"{least}; with the identity there is at least 1, and at most {MOST_SYMMETRIES:,}")
        if not isinstance(game.endless, int):
            raise GameError(f"endless is {game.endless!r}; the value of infinite play must be an integer")
        if game.has_key and not (isinstance(game.key_bits, int) and 1 <= game.key_bits <= 64):
            raise GameError(f"key_bits is {game.key_bits}; a key has 1 to 64 bits")

    def check(self, s: State, rng: Random) -> None:
        """Hold the game to every promise at one position."""
        game = self.game
        self.check_player(s)
        if nonempty(game.outcomes(s)):
            self.check_chance(s, rng)
        elif nonempty(game.legal(s)):
            self.check_moves(s)
        else:
            self.check_result(s)
        self.check_knowledge(s)

    def check_player(self, s: State) -> None:
        """Check that player 0 or 1 is to move."""
        if self.game.player(s) not in (0, 1):
            raise GameError(f"player must be 0 or 1, not {self.game.player(s)}, in {show(self.game, s)}")

    def check_result(self, s: State) -> None:
        """Check the result of a finished game."""
        check_number("result", self.game.result(s), self.game, s)

    def check_moves(self, s: State) -> None:
        """Check the legal moves of a position, their rewards and where they lead."""
        game = self.game
        reached: dict[Any, int] = {}
        for a in elements(game.legal(s)):
            check_number(f"the reward of action {a}", game.reward(s, a), game, s)
            t = game.step(s, a)
            if t == s and num_players(game) == 2:  # a single player may bump into a wall
                what = f"step(s, {a}) returns the same state in {show(game, s)}"
                raise GameError(f"{what}; remove action {a} from legal() or correct step()")
            if game.step(s, a) != t or game.legal(s) != game.legal(s):
                raise GameError(f"step is not a pure function: action {a} gives two states in {show(game, s)}")
            if t in reached and game.reward(s, a) != game.reward(s, reached[t]):
                raise GameError(
                    f"actions {reached[t]} and {a} lead to one state with two rewards in {show(game, s)}"
                )
            reached[t] = a

    def check_chance(self, s: State, rng: Random) -> None:
        """Check the probabilities of a chance event, and that ``draw`` gives one of its outcomes."""
        self.chances(s)
        self.check_drawn(s, self.game.draw(s, rng.word()))

    def chances(self, s: State) -> dict[int, float]:
        """Return the probabilities of a chance event, checked."""
        game = self.game
        chances = {i: game.probability(s, i) for i in elements(game.outcomes(s))}
        for i, chance in chances.items():
            if not 0.0 < chance <= 1.0 + SLACK:
                raise GameError(f"outcome {i} has probability {chance} in {show(game, s)}")
        total = math.fsum(chances.values())
        if abs(total - 1.0) > SLACK:
            raise GameError(f"the probabilities sum to {total:.6g}, not 1, in {show(game, s)}")
        return chances

    def check_drawn(self, s: State, i: int) -> None:
        """Check that what ``draw`` gave is an outcome of the position."""
        if i < 0 or not as_int(self.game.outcomes(s)) >> i & 1:
            place = show(self.game, s)
            raise GameError(f"draw gave outcome {i}, which is not among the outcomes of {place}")

    # ------------------------------------------------------------ knowledge
    def check_knowledge(self, s: State) -> None:
        """Check the optional promises that the game makes."""
        game = self.game
        if game.has_symmetries and (due := self.symmetries_due(s)):
            following = self.following(s)
            for k in due:
                self.check_symmetry(s, k, following)
        if game.has_index or game.has_size:
            self.check_index(s)
        if game.has_bounds:
            self.check_bounds(s)
        if game.has_key:
            self.check_key(s)
        self.check_guesses(s)

    def check_key(self, s: State) -> None:
        """Check that the key has no more bits than promised."""
        game = self.game
        if not 0 <= game.key(s) < 1 << game.key_bits:
            raise GameError(f"key is {game.key(s)} in {show(game, s)}; it has key_bits = {game.key_bits} bits")

    def check_guesses(self, s: State) -> None:
        """Check what is guessed of a position."""
        game = self.game
        if game.has_heuristic:
            check_number("heuristic", game.heuristic(s), game, s)
        if game.has_ordering_score and abs(game.ordering_score(s)) > MOST_SCORE:
            raise GameError(f"ordering_score is {game.ordering_score(s)} in {show(game, s)}; it is at most 2**40")
        if game.has_order and not nonempty(game.outcomes(s)):
            for a in elements(game.legal(s)):
                game.order(s, a)

    def symmetries_due(self, s: State) -> list[int]:
        """Return the symmetries to check at a position: all of them."""
        return list(range(self.game.symmetries()))

    def check_symmetry(self, s: State, k: int, following: list[tuple[State, float]]) -> None:
        """Check that symmetry k maps the position and all that follows onto its image."""
        game, t = self.game, self.game.image(s, k)
        if k == 0 and t != s:
            raise GameError(f"symmetry 0 must be the identity; it moves {show(game, s)}; correct image()")
        fault = self.difference(s, t, sorted((game.image(after, k), number) for after, number in following))
        if fault:
            raise GameError(f"symmetry {k} is none: {show(game, s)} and its image {show(game, t)} {fault}")

    def difference(self, s: State, t: State, images: list[tuple[State, float]]) -> str:
        """Return what tells a position from its image; ``images`` are those of all that follows it, sorted."""
        game = self.game
        if game.player(t) != game.player(s):
            return "have different players to move"
        if not nonempty(game.legal(s)) and not nonempty(game.outcomes(s)) and game.result(t) != game.result(s):
            return "end with different results"
        return "" if sorted(self.following(t)) == images else "do not have the same moves"

    def following(self, s: State) -> list[tuple[State, float]]:
        """Return all that may follow, each with its reward or probability."""
        game = self.game
        if nonempty(game.outcomes(s)):
            pairs = [(game.outcome(s, i), game.probability(s, i)) for i in elements(game.outcomes(s))]
        else:
            pairs = [(game.step(s, a), game.reward(s, a)) for a in elements(game.legal(s))]
        return [(after, round(number, 9)) for after, number in pairs]

    def check_bounds(self, s: State) -> None:
        """Check that bounds list legal actions, some unless settled, and settle the ends after them."""
        game, legal = self.game, as_int(self.game.legal(s))
        if not legal or nonempty(game.outcomes(s)):
            return
        bounds = game.bounds(s)
        listed = as_int(bounds.moves)
        if bounds.low > bounds.high:
            raise GameError(f"bounds gives {bounds.low} .. {bounds.high} in {show(game, s)}")
        if listed & ~legal or (bounds.low < bounds.high and not listed):
            raise GameError(f"bounds lists {elements(listed)} in {show(game, s)}; legal are {elements(legal)}")
        if bounds.low < bounds.high:
            for a in elements(listed):
                self.check_end(game.step(s, a))
        elif popcount(listed) == 1:
            self.check_named(s, bounds.low, elements(listed)[0])

    def check_end(self, s: State) -> None:
        """Check that bounds knows the result where the game is over."""
        game = self.game
        if nonempty(game.legal(s)) or nonempty(game.outcomes(s)):
            return
        bounds, result = game.bounds(s), game.result(s)
        if not bounds.low == bounds.high == result:
            shown = f"{bounds.low} .. {bounds.high}"
            raise GameError(f"bounds gives {shown} in {show(game, s)}, where the game is over with {result}")

    def check_named(self, s: State, value: int, action: int) -> None:
        """Check that the only move listed in a settled position leads to what is claimed, as far as it tells."""
        game, t = self.game, self.game.step(s, action)
        points = game.reward(s, action) * (-1 if game.player(s) else 1)
        if nonempty(game.outcomes(t)):
            return
        low, high = (game.result(t),) * 2 if not nonempty(game.legal(t)) else game.bounds(t)[:2]
        if not low + points <= value <= high + points:
            claim = f"bounds settles {show(game, s)} as {value} by action {action}"
            raise GameError(f"{claim}, which leads to {low + points} .. {high + points}")

    def check_index(self, s: State) -> None:
        """Check that numbers are in range, return to themselves and rise with every move."""
        game, number = self.game, self.game.index(s)
        if game.has_size:
            number_of(game, s)
        twin = game.state(number)
        if game.index(twin) != number:
            raise GameError(f"state({number}) has the number {game.index(twin)}, not {number}")
        if game.legal(twin) != game.legal(s) or game.outcomes(twin) != game.outcomes(s):
            raise GameError(f"{show(game, s)} and state({number}) share a number but not their moves")
        if game.has_size:
            self.check_rising(s, number)

    def check_rising(self, s: State, number: int) -> None:
        """Check that every step and outcome raises the number."""
        game = self.game
        chance = nonempty(game.outcomes(s))
        for i in elements(game.outcomes(s) if chance else game.legal(s)):
            t = game.outcome(s, i) if chance else game.step(s, i)
            if game.index(t) <= number:
                raise GameError(
                    f"action {i} in {show(game, s)} does not raise the number ({number} to {game.index(t)})"
                )


class _Sample(ContractChecks):
    """A few random games: every position on the way is looked at, and as many as the effort lasts for closely."""

    def __init__(self, game: Game[Any]) -> None:
        super().__init__(game)
        self.plies = MOST_PLIES
        self.seen: dict[Any, None] = {}  # in the order of first visits

    def play(self, s: State, rng: Random) -> None:
        """Play a random game, to its end if the plies of the sample last so long."""
        game, left = self.game, self.plies // 2  # so that a long game leaves some to the next
        for _ in range(left):
            self.plies -= 1
            self.glance(s)
            if nonempty(game.outcomes(s)):
                i = game.draw(s, rng.word())
                self.check_drawn(s, i)
                s = game.outcome(s, i)
            elif nonempty(game.legal(s)):
                action = rng.pick(game.legal(s))
                check_number(f"the reward of action {action}", game.reward(s, action), game, s)
                s = game.step(s, action)
            else:
                self.check_result(s)
                return

    def glance(self, s: State) -> None:
        """Check what is quickly seen of a position."""
        self.seen[s] = None
        self.check_player(s)
        if self.game.has_size:
            number_of(self.game, s)
        if self.game.has_key:
            self.check_key(s)

    def look_closely(self, rng: Random) -> None:
        """Check positions closely while the effort lasts: the start, then others by chance."""
        effort, left = EFFORT, list(self.seen)
        while left and effort > 0:
            s = left.pop(rng.below(len(left)) if effort < EFFORT else 0)
            effort -= self.cost(s)
            self.check(s, rng)

    def cost(self, s: State) -> int:
        """Return how many successors a close check makes, roughly."""
        game = self.game
        follow = popcount(game.outcomes(s)) or popcount(game.legal(s))
        return 1 + follow * (1 + game.has_bounds + game.has_size + 2 * game.has_symmetries)

    def symmetries_due(self, s: State) -> list[int]:
        """Return one symmetry, by the position."""
        return [hash(tuple(s)) % self.game.symmetries()]


def check_scoring_sets(game: Game[Any], trials: int) -> None:
    """Hold a game to what its scoring sets promise, in random states; raise GameError otherwise."""
    rng, lines = Random(0), game.size().bit_length() - 1
    if game.size() < 1 or game.size() != 1 << lines or game.has_outcomes or game.has_result:
        raise GameError("a game with scoring sets has 2**n states, no chance and no result at the end")
    if wrong := [found for found in game.scoring_sets if not 0 < found < game.size()]:
        raise GameError(f"the scoring set {wrong[0]} is no set of the actions 0 .. {lines - 1}")
    for _ in range(trials):
        drawn = rng.word() & game.size() - 1
        s = game.state(drawn)
        if elements(game.legal(s)) != elements(~drawn & game.size() - 1):
            raise GameError(
                f"in {show(game, s)} the legal actions are not those not made yet, as scoring_sets promises; "
                "correct legal() or state()"
            )
        for line in elements(game.legal(s)):
            t = game.step(s, line)
            gain = sum(found >> line & 1 and found & ~drawn == 1 << line for found in game.scoring_sets)
            again = game.player(t) == game.player(s)
            if (game.index(t), game.reward(s, line), again) != (drawn | 1 << line, gain, gain > 0):
                what = f"action {line} in {show(game, s)} is not what the scoring sets promise"
                raise GameError(f"{what}; correct step(), index() or reward()")


def check_number(what: str, value: float, game: Game[Any], s: State) -> None:
    """Check that a result, a reward or a guess is finite and, if whole, told exactly."""
    if not math.isfinite(value):
        raise GameError(f"{what} is {value} in {show(game, s)}; it must be a finite number")
    if isinstance(value, int) and abs(value) > WHOLE:
        raise GameError(f"{what} is {value} in {show(game, s)}; whole numbers are exact below 2**53")
