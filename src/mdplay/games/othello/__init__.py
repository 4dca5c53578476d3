"""Othello: its rules, and a network that has learned the board of 6 x 6."""

from pathlib import Path

from mdplay.games.othello.rules import Othello
from mdplay.naming.registry import register_extras

register_extras(
    Othello,
    formats={"sgf": "mdplay.playing.formats:SGF"},
    networks={"side=6": Path(__file__).with_name("6x6.network")},
)

__all__ = ["Othello"]
