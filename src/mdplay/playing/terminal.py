"""A person at the keyboard.

Moves are typed in the game's notation.  ``undo`` takes back the last own move and all that followed, ``hint``
names a move, ``values`` tells what every move is worth and whether that is exact, ``save FILE`` writes the game,
``quit`` leaves.  The session itself only asks and says: whoever makes it brings the two functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Timer
from typing import Any

import click

from mdplay.bits import members, some
from mdplay.errors import AgentError, IllegalMove, MdplayError
from mdplay.game import Game, find_action
from mdplay.playing.advice import Advice, advise
from mdplay.playing.agents import Agent, Entrant, choose
from mdplay.playing.course import Course
from mdplay.playing.games import CHANCE
from mdplay.playing.painting import paint
from mdplay.playing.records import Record
from mdplay.rng import Random

Ask = Callable[[str], str]
Say = Callable[[str], None]
HELP = "Type a move, or: undo, hint, values, moves, save FILE, quit."
DEFAULT_FILE = "game.json"
PATIENCE_SECONDS = 2.0


def legal_moves(game: Game[Any], s: Any) -> list[str]:
    """Return the legal moves in the game's notation."""
    return [game.move_text(s, action) for action in members(game.legal(s))]


def illegal_sentence(game: Game[Any], s: Any, text: str) -> str:
    """Return what a person is told who typed neither a legal move nor a command."""
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


class Session:
    """One game of a person against an agent, or alone."""

    def __init__(
        self,
        course: Course,
        opponent: Entrant | None,
        helper: Entrant,
        *,
        ask: Ask,
        say: Say,
        human: int = 0,
        hints: bool = False,
        colour: bool = False,
        seed: int = 0,
    ) -> None:
        self.course, self.game = course, course.game
        self.opponent, self.helper = opponent, helper
        self.agents: dict[str, Agent] = {}
        self.ask, self.say = ask, say
        self.human, self.hints, self.colour, self.seed = human, hints, colour, seed
        self.alone = opponent is None
        self.rng, self.luck = Random(seed, 1 - human), Random(seed, CHANCE)
        self.shown: str | None = None
        self.left = False
        self.commands: dict[str, Callable[[Sequence[str]], None]] = {
            "undo": self.undo,
            "hint": self.hint,
            "values": self.tell_values,
            "moves": self.tell_moves,
            "save": self.save,
            "quit": self.quit,
            "help": self.help,
        }

    def run(self) -> None:
        """Play until the game is over or the person quits."""
        self.say(self._greeting())
        if self.opponent:
            self._made(self.opponent)  # whoever cannot be made says so now
        while not self.course.over and not self.left:
            if some(self.course.chance):
                self.course.add(self.game.draw(self.course.state, self.luck.word()))
            elif self._is_own(self.course.state):
                self._turn()
            elif self.opponent:
                self._answer(self.opponent)
        if not self.left:
            self._draw()
            self.say(self._end())

    def record(self) -> Record:
        """Return the game so far."""
        names = ("human", self.opponent.name) if self.opponent else ("human",)
        result = self.course.total if self.course.over else None
        start = None if self.course.start == self.game.initial() else self.course.start
        events = tuple(self.course.events)
        return Record(self.game, names[:: -1 if self.human else 1], events, result, self.seed, start=start)

    # ------------------------------------------------------------ turns
    def _turn(self) -> None:
        self._draw()
        if self.hints:
            self._follow("hint")
        state = self.course.state
        while self.course.state is state and not self.left:
            self._obey(self.ask(self._prompt()))

    def _obey(self, text: str) -> None:
        """Make a move or follow a command."""
        try:
            self.course.add(find_action(self.game, self.course.state, text))
        except IllegalMove:
            self._follow(*text.split())

    def _follow(self, command: str = "help", *words: str) -> None:
        """Follow a command; whatever goes wrong is a sentence, and the game goes on."""
        if command not in self.commands:
            self.say(illegal_sentence(self.game, self.course.state, " ".join([command, *words])))
            return
        try:
            self.commands[command](words)
        except MdplayError as error:
            self.say(str(error))

    def _answer(self, opponent: Entrant) -> None:
        state = self.course.state
        agent = self._made(opponent)
        with self._patience(opponent):
            action = choose(agent, opponent.name, self.game, state, self.rng)
        self.say(f"{opponent.name} plays {self.game.move_text(state, action)}")
        self.course.add(action)

    def _made(self, one: Entrant) -> Agent:
        """Return the agent, made when it is first needed: a helper may never be asked."""
        if one.name not in self.agents:
            with self._patience(one):
                self.agents[one.name] = one.fresh()
        return self.agents[one.name]

    @contextmanager
    def _patience(self, one: Entrant) -> Iterator[None]:
        """Say something to whoever waits for long."""
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
        own = [i for i, s in enumerate(self.course.states[:-1]) if self._is_own(s)]
        if not own:
            self.say("There is nothing to undo.")
            return
        while len(self.course.events) > own[-1]:
            self.course.take_back()

    def _is_own(self, s: Any) -> bool:
        return not some(self.game.outcomes(s)) and (self.alone or self.game.player(s) == self.human)

    def hint(self, words: Sequence[str]) -> None:
        """Name the move that the helper would make."""
        advice = self._advice()
        worth = f", {advice.worths[advice.action]}" if advice.worths else ""
        self.say(f"Hint by {self.helper.name}: {self.game.move_text(self.course.state, advice.action)}{worth}")

    def tell_values(self, words: Sequence[str]) -> None:
        """List the moves with what they are worth to the player to move."""
        ranked = self._advice().ranked
        if not ranked:
            self.say(f"{self.helper.name} knows no values; start with --helper perfect or --helper mcts.")
        for action, worth in ranked:
            self.say(f"  {self.game.move_text(self.course.state, action):>6}  {worth}")

    def _advice(self) -> Advice:
        agent = self._made(self.helper)
        with self._patience(self.helper):
            return advise(agent, self.helper.name, self.game, self.course.state)

    def tell_moves(self, words: Sequence[str]) -> None:
        """List the legal moves."""
        self.say(f"Legal moves: {', '.join(legal_moves(self.game, self.course.state))}")

    def save(self, words: Sequence[str]) -> None:
        """Write the game so far to a file."""
        path = words[0] if words else DEFAULT_FILE
        self.record().save(path)
        self.say(f"Saved to {path}.")

    def quit(self, words: Sequence[str]) -> None:
        """Leave the game."""
        self.left = True

    def help(self, words: Sequence[str]) -> None:
        """Tell what can be typed."""
        self.say(HELP)

    # ------------------------------------------------------------ words and pictures
    def _draw(self) -> None:
        picture = self.course.board
        self.say("\n" + (paint(picture, self.shown, tiles=self.alone) if self.colour else picture))
        self.shown = picture
        if self.alone:
            self.say(f"score {self.course.total:g}")
        elif self.game.has_reward:
            self.say(f"player 1 {self.course.total:+g}")

    def _greeting(self) -> str:
        return f"You are player {self.human + 1} against {self.opponent.name}. {HELP}" if self.opponent else HELP

    def _prompt(self) -> str:
        return "your move> " if self.alone else f"player {self.game.player(self.course.state) + 1}> "

    def _end(self) -> str:
        total = self.course.total
        if self.alone:
            return f"The game is over: {total:g} points."
        own = -total if self.human else total
        if own == 0:
            return "The game is over: a draw."
        return f"The game is over: you {'win' if own > 0 else 'lose'} ({abs(own):g})."
