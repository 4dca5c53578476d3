"""``play(game, agent)`` as the last line of a cell: a board to click, against any agent.

    from mdplay.notebook import play
    play("connect-four", "mcts:simulations=1000")

The picture is the game's own, cleaned of whatever acts; a shape with ``data-action`` is a move.  Moves that the
picture does not offer are buttons below it.  Needs anywidget: ``pip install mdplay[notebook]``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from xml.etree import ElementTree as ET

from mdplay import Agent, Game, GameError, MdplayError, Position, make
from mdplay.game import num_players
from mdplay.playing.agents import Answering, check_player, default_agent, named_agent
from mdplay.svg import STYLE
from mdplay.views.html import SVG, safe_picture, sentence

if TYPE_CHECKING:
    import anywidget
    import traitlets
else:
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise GameError("this needs anywidget; pip install 'mdplay[notebook]'") from None

AGAIN, BACK = "again", "back"


def play(
    game: Game[Any] | str, agent: Agent | str | None = None, *, side: int = 0, seed: int = 0
) -> ClickableBoard:
    """Return a board to click, for one side of a game against an agent; without one, against a good one."""
    made = make(game) if isinstance(game, str) else game
    check_player(made, side, "side")
    return ClickableBoard(made, agent, side, seed)


class ClickableBoard(anywidget.AnyWidget):
    """A game under way; ``position`` is where it stands."""

    _esm: ClassVar[Path] = Path(__file__).with_name("board.js")
    picture = traitlets.Unicode().tag(sync=True)
    words = traitlets.Unicode().tag(sync=True)
    buttons = traitlets.List().tag(sync=True)  # what each tells when it is clicked, and its text

    def __init__(self, game: Game[Any], agent: Agent | str | None, side: int, seed: int) -> None:
        super().__init__()
        self._game, self._side, self._seed = game, side, seed
        self._opponent = named_agent(game, agent or default_agent(game))
        self.on_msg(self._told)
        self._begin()

    def _begin(self) -> None:
        self._answering = Answering(self._opponent, self._side, self._seed)
        self._seed += 1
        self._show(self._answering.answer(Position.start(self._game)))

    def _told(self, _: Any, message: dict[str, Any], __: Any) -> None:
        """Do what a click says; an error, such as an engine that has died, is shown below the board."""
        try:
            self._do(message)
        except MdplayError as error:
            self.words = sentence(str(error))

    def _do(self, message: dict[str, Any]) -> None:
        """Do what a click says; what is not legal, such as a click that came late, changes nothing."""
        action = message.get("action")
        if message.get("do") == AGAIN:
            self._begin()
        elif message.get("do") == BACK:
            self._show(self._taken_back())
        elif action in self.position.actions and self.position.player == self._side:
            self._show(self._answering.answer(self.position.after(int(action))))

    def _taken_back(self) -> Position[Any]:
        """Return the position before the last own move; the first one stays."""
        return next((p for p in list(self.position.history())[1:] if p.player == self._side), self.position)

    def _show(self, position: Position[Any]) -> None:
        self.position = position
        root = _picture(position)
        drawn = {shape.get("data-action") for shape in root.iter()}
        moves = zip(position.actions, position.moves, strict=True)
        others = [[{"action": action}, move] for action, move in moves if str(action) not in drawn]
        with self.hold_sync():
            self.picture = ET.tostring(root, encoding="unicode")
            self.words = sentence(_said(position, self._side))
            self.buttons = [*others, [{"do": BACK}, "take back"], [{"do": AGAIN}, "new game"]]


def _picture(position: Position[Any]) -> ET.Element:
    """Return the game's picture without what acts, in its colours."""
    root = ET.fromstring(safe_picture(position.svg, position.board))
    style = ET.Element(f"{{{SVG}}}style")
    style.text = STYLE
    root.insert(0, style)
    return root


def _said(position: Position[Any], side: int) -> str:
    """Return where the game stands, for a side."""
    result = position.result
    if result is None:
        return "Your move."
    own = -result if side else result
    if num_players(position.game) == 1:
        return f"The game is over: {own:g}."
    return f"The game is over: {'you won' if own > 0 else 'you lost' if own < 0 else 'a draw'}."


__all__ = ["play"]
