"""Dots and Boxes: its rules, the search that knows chains, and networks that know 3 x 3 and 5 x 5 boxes."""

from pathlib import Path

from mdplay.games.dots_and_boxes.rules import DotsAndBoxes
from mdplay.naming.registry import register_extras

register_extras(
    DotsAndBoxes,
    formats={"sgf": "mdplay.playing.formats:SGF"},
    networks={f"rows={n},cols={n}": Path(__file__).with_name(f"{n}x{n}.network") for n in (3, 5)},
    solvers={"chains": "mdplay.games.dots_and_boxes.solver:ChainSolver"},
)

__all__ = ["DotsAndBoxes"]
