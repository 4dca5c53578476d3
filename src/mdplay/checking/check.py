"""``check_game``: the conformance test that authors of games import.

It plays random games in plain Python on a checked double, and at every position holds the game to each promise
of the contract; then it asks the compiled rules the same questions.  The first broken promise is one sentence
that says what is wrong and where.

Exact values of positions near the end, by looking at everything: what knowledge is checked against.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from mdplay.bits import elements, nonempty
from mdplay.checking.contract_checks import ContractChecks, check_scoring_sets, show, time_limit
from mdplay.checking.understood import Seen, black, check_cells, muted, sentence, unclear, warnings
from mdplay.compiling.contract import check_shape, checked, wrap_rule_errors
from mdplay.errors import GameError, MdplayError, pluralize
from mdplay.game import Game, State, num_players
from mdplay.naming.notation import parse_position
from mdplay.rng import Random
from mdplay.states.game_length import explicit_move_limit
from mdplay.svg import PLAYERS

MAX_NODES = 300  # positions looked at for one value; fewer than Python's frames


class Exact:
    """Values for player 0, in plain Python; what was found once is remembered."""

    def __init__(self, game: Game[Any]) -> None:
        self.game, self.known, self.left = game, dict[Any, float](), 0

    def sees(self, s: State) -> bool:
        """Return whether few enough positions follow to find the value."""
        self.left = MAX_NODES
        try:
            self.value(s)
        except _TooManyError:
            return False
        return True

    def value(self, s: State) -> float:
        """Return what is still to come for player 0."""
        if s not in self.known:
            if not self.left:
                raise _TooManyError
            self.left -= 1
            self.known[s] = self.find(s)
        return self.known[s]

    def find(self, s: State) -> float:
        """Return the value from those of the positions that follow."""
        game = self.game
        if outcomes := elements(game.outcomes(s)):
            return math.fsum(game.probability(s, i) * self.value(game.outcome(s, i)) for i in outcomes)
        if not (actions := elements(game.legal(s))):
            return game.result(s)
        return (min if game.player(s) else max)(self.value_of(s, a) for a in actions)

    def value_of(self, s: State, action: int) -> float:
        """Return the value of an action."""
        points = self.game.reward(s, action)
        return (-points if self.game.player(s) else points) + self.value(self.game.step(s, action))


class _TooManyError(Exception):
    pass


MAX_MOVES = 10_000
FULL_CHECKS = 200  # positions at which every promise is checked; beyond that only play goes on
WORDS_DRAWN = 2000
SETS = 50  # sets of a game with targets that are looked at
TRIAL_MOVES, TRIAL_SECONDS = 1000, 10.0
REPEATING_MOVES = 1000  # move limit of a random game that repeats a position


@dataclass(frozen=True)
class Report:
    """What ``check_game`` has seen of a game that keeps its contract, and how it understood the game.

    ``warnings`` are sentences about what breaks no promise and may still not be meant.
    """

    games: int
    positions: int
    longest: int
    knowledge: tuple[str, ...]
    compiled: bool
    shortest: int = 0
    players: int = 2
    chance: bool = False
    points: bool = False
    moves: int = 0  # the most to choose from at once
    repeats: bool = False  # a position came again
    understood: str = ""
    warnings: tuple[str, ...] = ()
    endless: int = 0  # what play that never ends is then worth to player 0


def check_game(
    game: Game[Any], *, games: int = 20, seed: int = 0, max_moves: int = MAX_MOVES, compiled: bool = True
) -> Report:
    """Check that a game keeps the contract, or raise GameError with the first broken promise.

    ``compiled=False`` leaves out the comparison with the compiled rules.
    """
    check_shape(game)
    with muted(game):
        return _checked_report(game, games, seed, max_moves, compiled)


def _checked_report(game: Game[Any], games: int, seed: int, max_moves: int, compiled: bool) -> Report:
    try_game(game)
    checker = _Checker(checked(game), min(max_moves, explicit_move_limit(game) or max_moves))
    with wrap_rule_errors():
        checker.check_constants()
        if game.has_scoring_sets:
            check_scoring_sets(checker.game, SETS)
        for number in range(games):
            checker.play(Random(seed, number))
        if game.has_bounds:
            checker.check_settled()
        check_cells(checker.game, list(checker.visited))
    checker.check_players(games)
    if compiled:
        from mdplay.checking.compiled import compare_with_compiled

        compare_with_compiled(game, checker.visited)
    known = ("outcomes", "size", "symmetries", "heuristic", "order", "bounds", "key", "cell", "parse")
    knowledge = tuple(name for name in known if getattr(game, f"has_{name}"))
    return checker.report(knowledge, compiled)


def try_game(game: Game[Any], *, seconds: float = TRIAL_SECONDS) -> None:
    """Play one short random game in plain Python, before anything is compiled.

    Whatever a rule raises, a wrong type or a rule that never returns becomes a GameError in one sentence.
    """
    plain, rng = checked(game), Random(0)
    with wrap_rule_errors(), time_limit(seconds), muted(game):
        s = plain.initial()
        for _ in range(TRIAL_MOVES):
            if nonempty(plain.outcomes(s)):
                s = plain.outcome(s, plain.draw(s, rng.word()))
            elif nonempty(plain.legal(s)):
                action = rng.pick(plain.legal(s))
                plain.reward(s, action)
                s = plain.step(s, action)
            else:
                plain.result(s)
                return


class _Checker(ContractChecks):
    """Plays a game in plain Python and checks each position on the way."""

    def __init__(self, game: Game[Any], max_moves: int) -> None:
        super().__init__(game)
        self.max_moves = max_moves
        self.visited: dict[Any, None] = {}  # in the order of first visits
        self.movers: set[int] = set()
        self.seen = Seen()
        self.longest = 0

    def play(self, rng: Random) -> None:
        """Play one random game to its end; a rule that never returns ends it too."""
        s, total, met = self.game.initial(), 0.0, set()
        self.seen.begin()
        for moves in range(self.max_moves + 1):
            again = s in met
            self.seen.repeats |= again
            met.add(s)
            with time_limit(TRIAL_SECONDS):
                after, points = self.play_on(s, rng)
            total += points
            if after is None or (again and moves >= REPEATING_MOVES):  # it need not end, and goes on long enough
                self.note_end(moves, total if after is None else None)
                return
            s = after
        if explicit_move_limit(self.game) is not None:
            self.note_end(self.max_moves, None)
            return
        limit = pluralize(self.max_moves, "move")
        reached = f"a random game did not end within {limit}; it reached {show(self.game, s)}"
        raise GameError(f"{reached}; set max_moves if the game can last without end")

    def note_end(self, moves: int, total: float | None) -> None:
        """Note how a game ended; None: it was truncated."""
        self.longest = max(self.longest, moves)
        self.seen.lengths.append(moves)
        if total is not None:
            self.seen.totals.append(total)
            self.seen.last.append(self.seen.mover)

    def report(self, knowledge: tuple[str, ...], compiled: bool) -> Report:
        """Return what was seen."""
        game, seen, players = self.game, self.seen, num_players(self.game)
        return Report(
            len(seen.lengths),
            len(self.visited),
            self.longest,
            knowledge,
            compiled,
            min(seen.lengths),
            players,
            seen.chance,
            game.has_reward,
            seen.most,
            seen.repeats,
            sentence(players, seen, game.has_reward),
            tuple(warnings(game, seen, list(self.visited))),
            game.endless,
        )

    def play_on(self, s: State, rng: Random) -> tuple[Any, float]:
        """Check a position and return one that follows by chance, None at the end, and what player 0 got."""
        game = self.game
        if s not in self.visited and len(self.visited) < FULL_CHECKS:
            self.check(s, rng)
        self.visited[s] = None
        outcomes, legal = game.outcomes(s), game.legal(s)
        if nonempty(outcomes):
            i = game.draw(s, rng.word())
            self.check_drawn(s, i)
            self.seen.chance = True
            return game.outcome(s, i), 0.0
        if nonempty(legal):
            action, player = rng.pick(legal), game.player(s)
            self.movers.add(player)
            self.seen.note_mover(player)
            self.seen.note_moves(legal)
            points = float(game.reward(s, action))
            return game.step(s, action), -points if player else points
        return None, float(game.result(s))

    def check_players(self, games: int) -> None:
        """Check that both players of a game for two have moved."""
        if num_players(self.game) == 2 and self.longest > 1 and len(self.movers) == 1:
            idle = 1 - self.movers.pop()
            who = f"the {PLAYERS[idle]} player (player == {idle})"
            raise GameError(
                f"{who} never moved in {pluralize(games, 'random game')}; does step change the player?"
            )

    def check(self, s: State, rng: Random) -> None:
        """Hold the game to every promise at one position, those about words for people too."""
        super().check(s, rng)
        self.check_same(s)
        self.check_words(s)

    def check_same(self, s: State) -> None:
        """Check that rules give the same answer when they are asked again."""
        game = self.game
        asked: dict[str, Any] = {"legal": game.legal, "outcomes": game.outcomes, "player": game.player}
        if not nonempty(game.outcomes(s)) and not nonempty(game.legal(s)):
            asked["result"] = game.result
        asked |= {name: getattr(game, name) for name in ("heuristic", "key") if getattr(game, f"has_{name}")}
        for name, rule in asked.items():
            one, two = rule(s), rule(s)
            if one != two:
                raise GameError(f"{name} is not a pure function: it gives {one} and then {two} in {show(game, s)}")

    def check_chance(self, s: State, rng: Random) -> None:
        """Check the probabilities of a chance event, and that ``draw`` follows them."""
        self.check_draw(s, self.chances(s), rng)

    def check_draw(self, s: State, chances: dict[int, float], rng: Random) -> None:
        """Check that draws are outcomes and as frequent as promised, by the chi-square of their counts."""
        counts = dict.fromkeys(chances, 0)
        draws = WORDS_DRAWN if len(self.visited) < 10 else 50
        for _ in range(draws):
            i = self.game.draw(s, rng.word())
            self.check_drawn(s, i)
            counts[i] += 1
        misses = {i: (counts[i] - draws * p) ** 2 / (draws * p) for i, p in chances.items() if draws * p >= 1.0}
        if sum(misses.values()) > len(misses) + 6.0 * math.sqrt(2.0 * len(misses)) + 36.0:
            worst = max(misses, key=misses.__getitem__)
            often = f"{counts[worst]} of {draws} times"
            raise GameError(f"draw gave outcome {worst} {often}, its probability is {chances[worst]:.4g}")

    # ------------------------------------------------------------ knowledge
    def symmetries_due(self, s: State) -> list[int]:
        """Return the symmetries to check: all at the end of a game; before it of many two, by turns."""
        game, count = self.game, self.game.symmetries()
        if count <= 8 or not (nonempty(game.legal(s)) or nonempty(game.outcomes(s))):
            return list(range(count))
        first = 2 * len(self.visited)
        return [first % count, (first + 1) % count]

    def check_settled(self) -> None:
        """Compare bounds with exact values, from the ends of the games back, where these are soon found."""
        game, exact = self.game, Exact(self.game)
        for s in list(self.visited)[: -FULL_CHECKS - 1 : -1]:
            if nonempty(game.legal(s)) and not nonempty(game.outcomes(s)) and exact.sees(s):
                bounds, value = game.bounds(s), exact.value(s)
                if not bounds.low <= value <= bounds.high:
                    shown = f"{bounds.low} .. {bounds.high}"
                    raise GameError(f"bounds gives {shown} in {show(game, s)}; player 0's value is {value:g}")
                if nonempty(bounds.moves) and value not in [exact.value_of(s, a) for a in elements(bounds.moves)]:
                    raise GameError(
                        f"bounds lists {elements(bounds.moves)} in {show(game, s)}; none of them is best"
                    )

    # ------------------------------------------------------------ words for people
    def check_words(self, s: State) -> None:
        """Check that moves have different names, boards are drawn and texts are read back."""
        game = self.game
        chance = nonempty(game.outcomes(s))
        events, word = (game.outcomes(s), game.outcome_text) if chance else (game.legal(s), game.move_text)
        named = [self.check_word(word(s, i), chance, s) for i in elements(events)]
        if len(set(named)) != len(named):
            twice = next(name for name in named if named.count(name) > 1)
            raise GameError(f"two {'outcomes' if chance else 'moves'} are called {twice!r} in {show(game, s)}")
        self.seen.words = self.seen.words or unclear(named)
        self.check_drawn_text("board", game.board(s), s)
        self.check_picture(s)
        if game.has_parse:
            self.check_text(s)

    def check_drawn_text(self, name: str, drawn: Any, s: State) -> None:
        """Check that what draws a position has returned a text."""
        if not isinstance(drawn, str):
            raise GameError(f"{name} returned {type(drawn).__name__} for {show(self.game, s)}; it must be a text")
        if not drawn:
            raise GameError(f"{name} drew nothing for {show(self.game, s)}")

    def check_picture(self, s: State) -> None:
        """Check that the picture is one, and that the moves it marks are those that may be played."""
        game, drawn = self.game, self.game.svg(s)
        self.check_drawn_text("svg", drawn, s)
        try:
            root = ElementTree.fromstring(drawn)
        except ElementTree.ParseError as error:
            raise GameError(f"svg drew no SVG for {show(game, s)}: {error}") from None
        self.seen.black = self.seen.black or black(drawn, root)
        marked = [one.get("data-action") for one in root.iter()]
        legal = [str(action) for action in elements(game.legal(s))]
        if legal and not nonempty(game.outcomes(s)) and (wrong := set(marked) - {None, *legal}):
            what = f"svg marks the action {min(map(str, wrong))} in {show(game, s)}"
            raise GameError(f"{what}; the legal ones are {', '.join(legal)}")

    def check_word(self, word: Any, chance: bool, s: State) -> str:
        """Check that a move or an outcome has a name, and return it as it is read: in small letters."""
        name = "outcome_text" if chance else "move_text"
        if not isinstance(word, str) or not word.strip():
            raise GameError(f"{name} gave {word!r} in {show(self.game, s)}; it must be a text")
        return word.strip().lower()

    def check_text(self, s: State) -> None:
        """Check that the text of a position is read back as the same position."""
        game, text = self.game, self.game.text(s)
        try:
            back = parse_position(game, text)
        except MdplayError as error:
            raise GameError(f"parse does not read {text!r}, which text gave: {error}") from None
        if back != s:
            raise GameError(f"parse reads {text!r} as {tuple(back)}; it was the text of {tuple(s)}")
