"""Connect Four: its rules, and what proof search knows of threats."""

from mdplay.games.connect_four.rules import ConnectFour
from mdplay.registry import bring

bring(ConnectFour, views={"proof": "mdplay.games.connect_four.knowledge:ThreatView"})

__all__ = ["ConnectFour"]
