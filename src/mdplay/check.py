"""``check_game``: the conformance test that authors of games import.

It plays random games in plain Python on a checked double, and at every position holds the game to each promise
of the contract; then it asks the compiled rules the same questions.  The first broken promise is one sentence
that says what is wrong and where.
"""

from __future__ import annotations

import math
import signal
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from mdplay.bits import as_int, members, some
from mdplay.contract import check_shape, checked
from mdplay.errors import GameError, MdplayError
from mdplay.exact import Exact
from mdplay.game import Game, num_players, parse_position
from mdplay.rng import Random

MAX_MOVES = 10_000
FULL_CHECKS = 200  # positions at which every promise is checked; beyond that only play goes on
WORDS_DRAWN = 2000
TRIAL_MOVES, TRIAL_SECONDS = 1000, 10.0


@dataclass(frozen=True)
class Report:
    """What ``check_game`` has seen of a game that keeps its contract."""

    games: int
    positions: int
    longest: int
    knowledge: tuple[str, ...]
    compiled: bool


def check_game(
    game: Game[Any], *, games: int = 20, seed: int = 0, max_moves: int = MAX_MOVES, compiled: bool = True
) -> Report:
    """Check that a game keeps the contract, or raise GameError with the first broken promise.

    ``compiled=False`` leaves out the comparison with the compiled rules.
    """
    check_shape(game)
    try_game(game)
    checker = _Checker(checked(game), max_moves)
    with _blaming(game):
        for number in range(games):
            checker.play(Random(seed, number))
        if game.has_look:
            checker.check_settled()
    checker.check_players(games)
    if compiled:
        from mdplay.probe import compare_with_compiled

        compare_with_compiled(game, checker.visited)
    known = ("outcomes", "size", "symmetries", "heuristic", "order", "look", "key", "parse")
    knowledge = tuple(name for name in known if getattr(game, f"has_{name}"))
    return Report(games, len(checker.visited), checker.longest, knowledge, compiled)


def try_game(game: Game[Any], *, seconds: float = TRIAL_SECONDS) -> None:
    """Play one short random game in plain Python, before anything is compiled.

    Whatever a rule raises, a wrong type or a rule that never returns becomes a GameError in one sentence.
    """
    plain, rng = checked(game), Random(0)
    with _blaming(game), _time_limit(seconds):
        s = plain.initial()
        for _ in range(TRIAL_MOVES):
            if some(plain.outcomes(s)):
                s = plain.outcome(s, plain.draw(s, rng.word()))
            elif some(plain.legal(s)):
                action = rng.pick(plain.legal(s))
                plain.reward(s, action)
                s = plain.step(s, action)
            else:
                plain.result(s)
                return


@contextmanager
def _blaming(game: Game[Any]) -> Iterator[None]:
    """Turn whatever the game raises into a GameError that says where."""
    try:
        yield
    except MdplayError:
        raise
    except Exception as error:
        raise GameError(f"{type(game).__name__} raised {_blame(error)}") from None


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise GameError in the main thread when the time is up; elsewhere there is no limit."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(number: int, frame: Any) -> None:
        place = f"{Path(frame.f_code.co_filename).name}, line {frame.f_lineno}" if frame else "?"
        raise GameError(f"the rules did not answer within {seconds:g} s; they were at {place}")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _blame(error: Exception) -> str:
    """Return the error with the file and line where it arose; generated code has no lines to show."""
    frames = traceback.extract_tb(error.__traceback__)
    last = [frame for frame in frames if frame.line][-1]
    return f"{type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno}: {last.line})"


class _Checker:
    """Plays a game in plain Python and checks each position on the way."""

    def __init__(self, game: Game[Any], max_moves: int) -> None:
        self.game = game
        self.max_moves = max_moves
        self.visited: dict[Any, None] = {}  # in the order of first visits
        self.movers: set[int] = set()
        self.longest = 0

    def play(self, rng: Random) -> None:
        """Play one random game to its end."""
        game = self.game
        s = game.initial()
        for moves in range(self.max_moves + 1):
            if s not in self.visited and len(self.visited) < FULL_CHECKS:
                self.check(s, rng)
            self.visited[s] = None
            outcomes, legal = game.outcomes(s), game.legal(s)
            if some(outcomes):
                s = game.outcome(s, game.draw(s, rng.word()))
            elif some(legal):
                self.movers.add(game.player(s))
                s = game.step(s, rng.pick(legal))
            else:
                self.longest = max(self.longest, moves)
                return
        raise GameError(f"a random game did not end within {self.max_moves} moves; it came to {_show(game, s)}")

    def check_players(self, games: int) -> None:
        """Check that both players of a game for two have moved."""
        if num_players(self.game) == 2 and self.longest > 1 and len(self.movers) == 1:
            idle = 1 - self.movers.pop()
            raise GameError(f"player {idle} never moved in {games} random games; does step change the player?")

    def check(self, s: Any, rng: Random) -> None:
        """Hold the game to every promise at one position."""
        game = self.game
        if game.player(s) not in (0, 1):
            raise GameError(f"player must be 0 or 1, not {game.player(s)}, in {_show(game, s)}")
        if some(game.outcomes(s)):
            self.check_chance(s, rng)
        elif some(game.legal(s)):
            self.check_moves(s)
        else:
            _check_finite("result", game.result(s), game, s)
        self.check_knowledge(s)
        self.check_words(s)

    def check_moves(self, s: Any) -> None:
        """Check the legal moves of a position, their rewards and where they lead."""
        game = self.game
        reached: dict[Any, int] = {}
        for a in members(game.legal(s)):
            _check_finite(f"the reward of action {a}", game.reward(s, a), game, s)
            t = game.step(s, a)
            if t == s:
                raise GameError(f"action {a} changes nothing in {_show(game, s)}")
            if game.step(s, a) != t or game.legal(s) != game.legal(s):
                raise GameError(f"step is not a pure function: action {a} gives two states in {_show(game, s)}")
            if t in reached and game.reward(s, a) != game.reward(s, reached[t]):
                raise GameError(
                    f"actions {reached[t]} and {a} lead to one state with two rewards in {_show(game, s)}"
                )
            reached[t] = a

    def check_chance(self, s: Any, rng: Random) -> None:
        """Check the probabilities of a chance event, and that ``draw`` follows them."""
        game, outcomes = self.game, members(self.game.outcomes(s))
        chances = {i: game.probability(s, i) for i in outcomes}
        for i, chance in chances.items():
            if not 0.0 < chance <= 1.0 + 1e-9:
                raise GameError(f"outcome {i} has probability {chance} in {_show(game, s)}")
        if abs(math.fsum(chances.values()) - 1.0) > 1e-9:
            total = math.fsum(chances.values())
            raise GameError(f"the probabilities sum to {total:.6g}, not 1, in {_show(game, s)}")
        self.check_draw(s, chances, rng)

    def check_draw(self, s: Any, chances: dict[int, float], rng: Random) -> None:
        """Check that draws are outcomes and as frequent as promised, by the chi-square of their counts."""
        counts = dict.fromkeys(chances, 0)
        draws = WORDS_DRAWN if len(self.visited) < 10 else 50
        for _ in range(draws):
            i = self.game.draw(s, rng.word())
            if i not in counts:
                raise GameError(f"draw gave outcome {i}, which is not among the outcomes of {_show(self.game, s)}")
            counts[i] += 1
        misses = {i: (counts[i] - draws * p) ** 2 / (draws * p) for i, p in chances.items() if draws * p >= 1.0}
        if sum(misses.values()) > len(misses) + 6.0 * math.sqrt(2.0 * len(misses)) + 36.0:
            worst = max(misses, key=misses.__getitem__)
            often = f"{counts[worst]} of {draws} times"
            raise GameError(f"draw gave outcome {worst} {often}, its probability is {chances[worst]:.4g}")

    # ------------------------------------------------------------ knowledge
    def check_knowledge(self, s: Any) -> None:
        """Check the optional promises that the game makes."""
        game = self.game
        if game.has_symmetries:
            for k in self.symmetries_due(s):
                self.check_symmetry(s, k)
        if game.has_index:
            self.check_index(s)
        if game.has_look:
            self.check_look(s)
        if game.has_key and not 0 <= game.key(s) < 1 << game.key_bits:
            raise GameError(f"key is {game.key(s)} in {_show(game, s)}; it has key_bits = {game.key_bits} bits")
        if game.has_heuristic:
            _check_finite("heuristic", game.heuristic(s), game, s)
        if game.has_order and not some(game.outcomes(s)):
            for a in members(game.legal(s)):
                game.order(s, a)

    def symmetries_due(self, s: Any) -> list[int]:
        """Return the symmetries to check: all at the end of a game; before it of many two, by turns."""
        game, count = self.game, self.game.symmetries()
        if count <= 8 or not (some(game.legal(s)) or some(game.outcomes(s))):
            return list(range(count))
        first = 2 * len(self.visited)
        return [first % count, (first + 1) % count]

    def check_symmetry(self, s: Any, k: int) -> None:
        """Check that symmetry k maps the position and all that follows onto its image."""
        game, t = self.game, self.game.image(s, k)
        if k == 0 and t != s:
            raise GameError(f"symmetry 0 must be the identity; it moves {_show(game, s)}")
        place = f"symmetry {k} is none: {_show(game, s)} and its image {_show(game, t)}"
        if game.player(t) != game.player(s):
            raise GameError(f"{place} have different players to move")
        if not some(game.legal(s)) and not some(game.outcomes(s)) and game.result(t) != game.result(s):
            raise GameError(f"{place} end with different results")
        if self.followers(t, 0) != self.followers(s, k):
            raise GameError(f"{place} do not have the same moves")

    def followers(self, s: Any, k: int) -> list[Any]:
        """Return the images of all that may follow, each with its reward or probability, sorted."""
        game = self.game
        if some(game.outcomes(s)):
            pairs = [(game.outcome(s, i), game.probability(s, i)) for i in members(game.outcomes(s))]
        else:
            pairs = [(game.step(s, a), game.reward(s, a)) for a in members(game.legal(s))]
        return sorted((game.image(t, k), round(number, 9)) for t, number in pairs)

    def check_look(self, s: Any) -> None:
        """Check that look lists legal actions, some unless it settles, and that it settles the ends after them."""
        game, legal = self.game, as_int(self.game.legal(s))
        if not legal or some(game.outcomes(s)):
            return
        look = game.look(s)
        listed = as_int(look.moves)
        if look.low > look.high:
            raise GameError(f"look gives the bounds {look.low} .. {look.high} in {_show(game, s)}")
        if listed & ~legal or (look.low < look.high and not listed):
            raise GameError(f"look lists {members(listed)} in {_show(game, s)}; legal are {members(legal)}")
        if look.low < look.high:
            for a in members(listed):
                self.check_end(game.step(s, a))
        elif len(members(listed)) == 1:
            self.check_named(s, look.low, members(listed)[0])

    def check_end(self, s: Any) -> None:
        """Check that look knows the result where the game is over."""
        game = self.game
        if some(game.legal(s)) or some(game.outcomes(s)):
            return
        look, result = game.look(s), game.result(s)
        if not look.low == look.high == result:
            bounds = f"{look.low} .. {look.high}"
            raise GameError(f"look gives {bounds} in {_show(game, s)}, where the game is over with {result}")

    def check_named(self, s: Any, value: int, action: int) -> None:
        """Check that the only move listed in a settled position leads to what is claimed, as far as look tells."""
        game, t = self.game, self.game.step(s, action)
        points = game.reward(s, action) * (-1 if game.player(s) else 1)
        if some(game.outcomes(t)):
            return
        low, high = (game.result(t),) * 2 if not some(game.legal(t)) else game.look(t)[:2]
        if not low + points <= value <= high + points:
            claim = f"look settles {_show(game, s)} as {value} by action {action}"
            raise GameError(f"{claim}, which leads to {low + points} .. {high + points}")

    def check_settled(self) -> None:
        """Compare look with exact values, from the ends of the games back, where these are soon found."""
        game, exact = self.game, Exact(self.game)
        for s in list(self.visited)[: -FULL_CHECKS - 1 : -1]:
            if some(game.legal(s)) and not some(game.outcomes(s)) and exact.sees(s):
                look, value = game.look(s), exact.value(s)
                if not look.low <= value <= look.high:
                    bounds = f"{look.low} .. {look.high}"
                    raise GameError(f"look gives {bounds} in {_show(game, s)}; player 0's value is {value:g}")
                if some(look.moves) and value not in [exact.value_of(s, a) for a in members(look.moves)]:
                    raise GameError(f"look lists {members(look.moves)} in {_show(game, s)}; none of them is best")

    def check_index(self, s: Any) -> None:
        """Check that numbers are in range, return to themselves and rise with every move."""
        game, number = self.game, self.game.index(s)
        if game.has_size and not 0 <= number < game.size():
            raise GameError(f"index gives {number} for {_show(game, s)}; size is {game.size()}")
        twin = game.state(number)
        if game.index(twin) != number:
            raise GameError(f"state({number}) has the number {game.index(twin)}, not {number}")
        if game.legal(twin) != game.legal(s) or game.outcomes(twin) != game.outcomes(s):
            raise GameError(f"{_show(game, s)} and state({number}) share a number but not their moves")
        if game.has_size:
            self.check_rising(s, number)

    def check_rising(self, s: Any, number: int) -> None:
        """Check that every step and outcome raises the number."""
        game = self.game
        chance = some(game.outcomes(s))
        for i in members(game.outcomes(s) if chance else game.legal(s)):
            t = game.outcome(s, i) if chance else game.step(s, i)
            if game.index(t) <= number:
                raise GameError(
                    f"action {i} in {_show(game, s)} does not raise the number ({number} to {game.index(t)})"
                )

    # ------------------------------------------------------------ words for people
    def check_words(self, s: Any) -> None:
        """Check that moves have different names, boards are drawn and texts are read back."""
        game = self.game
        named = [game.move_text(s, a) for a in members(game.legal(s))]
        if len(set(named)) != len(named):
            twice = next(name for name in named if named.count(name) > 1)
            raise GameError(f"two moves are called {twice!r} in {_show(game, s)}")
        if not isinstance(game.board(s), str) or not game.board(s):
            raise GameError(f"board drew nothing for {_show(game, s)}")
        try:
            ElementTree.fromstring(game.svg(s))
        except (ElementTree.ParseError, TypeError) as error:
            raise GameError(f"svg drew no SVG for {_show(game, s)}: {error}") from None
        if game.has_parse:
            self.check_text(s)

    def check_text(self, s: Any) -> None:
        """Check that the text of a position is read back as the same position."""
        game, text = self.game, self.game.text(s)
        try:
            back = parse_position(game, text)
        except MdplayError as error:
            raise GameError(f"parse does not read {text!r}, which text gave: {error}") from None
        if back != s:
            raise GameError(f"parse reads {text!r} as {tuple(back)}; it was the text of {tuple(s)}")


def _check_finite(what: str, value: float, game: Game[Any], s: Any) -> None:
    if not math.isfinite(value):
        raise GameError(f"{what} is {value} in {_show(game, s)}")


def _show(game: Game[Any], s: Any) -> str:
    """Return the position as text, or its fields if that fails: an error message must not raise."""
    try:
        return game.text(s)
    except Exception:
        return repr(tuple(s))
