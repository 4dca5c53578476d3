"""Othello: its rules."""

from mdplay.games.othello.rules import Othello
from mdplay.registry import bring

bring(Othello, formats={"sgf": "mdplay.playing.formats.sgf:SGF"})

__all__ = ["Othello"]
