"""Breakthrough: its rules."""

from mdplay.games.breakthrough.rules import Breakthrough
from mdplay.naming.registry import register_extras

register_extras(Breakthrough, formats={"sgf": "mdplay.playing.formats:SGF"})

__all__ = ["Breakthrough"]
