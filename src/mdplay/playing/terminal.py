"""Play in the terminal.

Moves are typed in the game's notation.  ``undo`` takes back the last own move and all that followed, ``hint``
names the best move, ``values`` lists the evaluations of all moves, best first, ``save FILE`` writes the game and
``quit`` ends the session.  Outcomes of chance are printed as they happen.  Hints and values come from the helper:
the agent named by the user, else the opponent if it knows exact values, else a search.

The session reads and prints through two functions of the caller.

Boards are coloured: the marks of either player, tiles by their value, and what the last event changed.  This works
on the text that a game draws: X and O are the marks of the players, bare numbers name free cells (or are tiles, in
a single-player game), and a character that differs from the previous text is new.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from itertools import islice
from threading import Timer
from typing import Any

import click

from mdplay.bits import elements
from mdplay.errors import AgentError, IllegalMove, MdplayError, pluralize
from mdplay.evaluating.evaluation import Evaluation, MoveEvaluation
from mdplay.evaluating.wording import describe
from mdplay.game import Game
from mdplay.naming.notation import find_action
from mdplay.playing.agents import Agent, NamedAgent, choose, default_agent, named_agent
from mdplay.playing.matches.games import CHANCE
from mdplay.playing.records import Record
from mdplay.position import Position
from mdplay.rng import Random
from mdplay.states.game_length import LEAST, MoveLimit

MARKS = {"X": "red", "O": "yellow"}
TILES = ("white", "cyan", "blue", "green", "yellow", "magenta", "red")
TOKEN = re.compile(r"\d+|[XO]\b|-+|\S")


def paint(picture: str, before: str | None = None, *, tiles: bool = False) -> str:
    """Return the picture with colours for a terminal; what differs from ``before`` is shown in reverse."""
    old = (before or picture).splitlines()
    lines = picture.splitlines()
    if [len(line) for line in old] != [len(line) for line in lines]:
        old = lines
    return "\n".join(_paint_line(line, earlier, tiles) for line, earlier in zip(lines, old, strict=True))


def _paint_line(line: str, before: str, tiles: bool) -> str:
    def style(found: re.Match[str]) -> str:
        changed = not tiles and found[0] != before[found.start() : found.end()]
        return _paint_token(found[0], tiles, changed)

    return TOKEN.sub(style, line)


def _paint_token(token: str, tiles: bool, changed: bool) -> str:
    if token.isdecimal() and tiles:
        return click.style(token, fg=TILES[(int(token).bit_length() - 2) % len(TILES)], bold=True)
    if token.isdecimal() or token == ".":
        return click.style(token, dim=True)
    return click.style(token, fg=MARKS.get(token), bold=token in MARKS, reverse=changed)


Ask = Callable[[str], str]
Say = Callable[[str], None]
HELP = "Type a move, or: undo, hint, values, moves, save FILE, quit."
DEFAULT_FILE = "game.json"
PATIENCE_SECONDS = 2.0


def legal_moves(game: Game[Any], s: Any) -> list[str]:
    """Return the legal moves in the game's notation."""
    return [game.move_text(s, action) for action in elements(game.legal(s))]


def illegal_sentence(game: Game[Any], s: Any, text: str) -> str:
    """Return the message for a text that is neither a legal move nor a command."""
    return f"{text!r} is not a legal move here. Legal moves: {', '.join(legal_moves(game, s))}"


class HumanAgent:
    """Ask a person at the terminal for every move."""

    def __init__(self, game: Game[Any]) -> None:
        self.game = game

    def act(self, state: Any, rng: Random) -> int:
        """Draw the board and ask until a legal move is typed."""
        click.echo(self.game.board(state))
        while True:
            text = self._typed(f"player {self.game.player(state) + 1}> ")
            try:
                return find_action(self.game, state, text)
            except IllegalMove:
                click.echo(illegal_sentence(self.game, state, text))

    def _typed(self, prompt: str) -> str:
        try:
            return input(prompt).strip()
        except EOFError:
            raise AgentError("the person has left") from None


@dataclass(eq=False)
class Session:
    """One game of a person against an agent, or alone."""

    position: Position[Any]
    opponent: NamedAgent | None
    named_helper: NamedAgent | None = None
    _: KW_ONLY
    ask: Ask
    say: Say
    human: int = 0
    hints: bool = False
    colour: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        self.game = self.position.game
        self.agents: dict[str, Agent] = {}
        self.alone = self.opponent is None
        self.rng, self.luck = Random(self.seed, 1 - self.human), Random(self.seed, CHANCE)
        self.shown: str | None = None
        self.left = False
        self.commands: dict[str, Callable[[Sequence[str]], None]] = {
            "undo": self.undo,
            "hint": self.hint,
            "values": self.list_values,
            "moves": self.list_moves,
            "save": self.save,
            "quit": self.quit,
            "help": self.help,
        }

    @cached_property
    def helper(self) -> NamedAgent:
        """Who gives hints and values."""
        if self.named_helper is not None:
            return self.named_helper
        if self.opponent and getattr(self._made(self.opponent), "exact", False):
            return self.opponent
        return named_agent(self.game, default_agent(self.game))

    def run(self) -> None:
        """Play until the game is over or the person quits."""
        self.say(self._greeting())
        if self.opponent:
            self._made(self.opponent)  # an opponent that cannot be made raises now
        while not self.position.is_over and not self.called_off and not self.left:
            if self.position.is_chance:
                self._roll()
            elif self._is_own(self.position):
                self._turn()
            elif self.opponent:
                self._answer(self.opponent)
        if not self.left:
            self._draw()
            self.say(self._end())

    @property
    def called_off(self) -> bool:
        """Whether the game has gone on for too long; taking back moves makes it shorter."""
        referee = MoveLimit(self.game)
        if self.position.num_events < (referee.limit or LEAST):
            return False
        return any(referee.is_truncated(position) for position in self.position.positions)

    def record(self) -> Record:
        """Return the game so far."""
        names = ("human", self.opponent.name) if self.opponent else ("human",)
        first = self.position.positions[0].state
        start = None if first == self.game.initial() else first
        by_limit = not self.position.is_over and self.called_off
        result = self.position.total_if_endless if by_limit else self.position.result
        agents, events = names[:: -1 if self.human else 1], self.position.events
        return Record(self.game, agents, events, result, self.seed, start=start, by_limit=by_limit)

    # ------------------------------------------------------------ turns
    def _turn(self) -> None:
        self._draw()
        if self.hints:
            self._follow("hint")
        position = self.position
        while self.position is position and not self.left:
            self._obey(self.ask(self._prompt()))

    def _go_on(self, event: int) -> None:
        self.position = self.position.after(event)

    def _roll(self) -> None:
        """Let chance move, and say what it did."""
        outcome = self.position.draw(self.luck.word())
        self.say(f"chance: {self.game.outcome_text(self.position.state, outcome)}")
        self._go_on(outcome)

    def _obey(self, text: str) -> None:
        """Make a move or follow a command."""
        try:
            self._go_on(find_action(self.game, self.position.state, text))
        except IllegalMove:
            self._follow(*text.split())

    def _follow(self, command: str = "help", *words: str) -> None:
        """Follow a command; whatever goes wrong is a sentence, and the game goes on."""
        if command not in self.commands:
            self.say(illegal_sentence(self.game, self.position.state, " ".join([command, *words])))
            return
        try:
            self.commands[command](words)
        except MdplayError as error:
            self.say(str(error))

    def _answer(self, opponent: NamedAgent) -> None:
        state = self.position.state
        agent = self._made(opponent)
        with self._patience(opponent):
            action = choose(agent, opponent.name, self.game, state, self.rng)
        self.say(f"{opponent.name} plays {self.game.move_text(state, action)}")
        self._go_on(action)

    def _made(self, one: NamedAgent) -> Agent:
        """Return the agent, made when it is first needed: a helper may never be asked."""
        if one.name not in self.agents:
            with self._patience(one):
                self.agents[one.name] = one.fresh()
        return self.agents[one.name]

    @contextmanager
    def _patience(self, one: NamedAgent) -> Iterator[None]:
        """Print a notice if an agent needs long for the first move."""
        timer = Timer(PATIENCE_SECONDS, self.say, [f"{one.name} thinks; the first time a game is compiled ..."])
        if one.name != "human":
            timer.start()
        try:
            yield
        finally:
            timer.cancel()

    # ------------------------------------------------------------ commands
    def undo(self, words: Sequence[str]) -> None:
        """Take back the last own move and all that followed."""
        earlier = islice(self.position.history(), 1, None)
        own = next(filter(self._is_own, earlier), None)
        if own is None:
            self.say("There is nothing to undo.")
        else:
            self.position = own

    def _is_own(self, position: Position[Any]) -> bool:
        return not position.is_chance and (self.alone or position.mover == self.human)

    def hint(self, words: Sequence[str]) -> None:
        """Name the best move according to the helper."""
        evaluation = self._evaluation()
        best = evaluation.best[0]
        value = f", {self._words(evaluation.moves[best])}" if best in evaluation.moves else ""
        self.say(f"Hint by {self.helper.name}: {self.game.move_text(self.position.state, best)}{value}")

    def list_values(self, words: Sequence[str]) -> None:
        """List the moves with their evaluations for the player to move."""
        ranked = self._evaluation().ranked
        if not ranked:
            self.say(f"{self.helper.name} knows no values; start with --helper perfect or --helper mcts.")
        for action, value in ranked:
            self.say(f"  {self.game.move_text(self.position.state, action):>6}  {self._words(value)}")

    def _evaluation(self) -> Evaluation:
        from mdplay.playing.evaluators import agent_evaluation

        agent = self._made(self.helper)
        with self._patience(self.helper):
            return agent_evaluation(agent, self.helper.name, self.game, self.position.state)

    def _words(self, value: MoveEvaluation) -> str:
        player, total = self.game.player(self.position.state), self.position.total
        return describe(self.game, value, lead=-total if player else total, side=f"player {player + 1}")

    def list_moves(self, words: Sequence[str]) -> None:
        """List the legal moves."""
        self.say(f"Legal moves: {', '.join(legal_moves(self.game, self.position.state))}")

    def save(self, words: Sequence[str]) -> None:
        """Write the game so far to a file."""
        path = words[0] if words else DEFAULT_FILE
        self.record().save(path)
        self.say(f"Saved to {path}.")

    def quit(self, words: Sequence[str]) -> None:
        """Leave the game."""
        self.left = True

    def help(self, words: Sequence[str]) -> None:
        """Print the possible inputs."""
        self.say(HELP)

    # ------------------------------------------------------------ words and pictures
    def _draw(self) -> None:
        picture = self.position.board
        self.say("\n" + (paint(picture, self.shown, tiles=self.alone) if self.colour else picture))
        self.shown = picture
        if self.alone:
            self.say(f"score {self.position.total:g}")
        elif self.game.has_reward:
            self.say(f"player 1 {self.position.total:+g}")

    def _greeting(self) -> str:
        return f"You are player {self.human + 1} against {self.opponent.name}. {HELP}" if self.opponent else HELP

    def _prompt(self) -> str:
        return "your move> " if self.alone else f"player {self.game.player(self.position.state) + 1}> "

    def _end(self) -> str:
        if not self.position.is_over:
            value = f"{self.position.total_if_endless:g} for player 1"
            return f"The game is truncated after {pluralize(self.position.num_events, 'move')}: {value}."
        total = self.position.total
        if self.alone:
            return f"The game is over: {total:g} points."
        own = -total if self.human else total
        if own == 0:
            return "The game is over: a draw."
        margin = f" by {abs(own):g}" if self.game.has_reward or abs(own) != 1 else ""
        return f"The game is over: you {'win' if own > 0 else 'lose'}{margin}."
