"""Connect Four: its rules, what proof search knows of threats, and a network that has learned it."""

from pathlib import Path

from mdplay.games.connect_four.rules import ConnectFour
from mdplay.naming.registry import register_extras

register_extras(
    ConnectFour,
    formats={"moves": "mdplay.games.connect_four.knowledge:MoveStrings", "sgf": "mdplay.playing.formats:SGF"},
    networks={"rows=6,cols=7": Path(__file__).with_name("6x7.network")},
    views={"proof": "mdplay.games.connect_four.knowledge:ThreatView"},
)

__all__ = ["ConnectFour"]
