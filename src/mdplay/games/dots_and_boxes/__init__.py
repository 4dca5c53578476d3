"""Dots and Boxes: its rules, the search that knows chains, and a network that has learned the board of 3 x 3."""

from pathlib import Path

from mdplay.games.dots_and_boxes.rules import DotsAndBoxes
from mdplay.registry import bring

bring(
    DotsAndBoxes,
    formats={"sgf": "mdplay.playing.formats.sgf:SGF"},
    networks={"rows=3,cols=3": Path(__file__).with_name("3x3.network")},
    solvers={"chains": "mdplay.games.dots_and_boxes.chains:ChainSolver"},
)

__all__ = ["DotsAndBoxes"]
