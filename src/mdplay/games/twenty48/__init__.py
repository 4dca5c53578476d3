"""2048: its rules, quick moves, the n-tuple network that learns it, exact values of reaching a tile."""

from pathlib import Path

from mdplay.games.twenty48.rules import Twenty48
from mdplay.naming.registry import register_extras

register_extras(
    Twenty48,
    evaluators={"network": "mdplay.games.twenty48.player:evaluator"},
    agents={"network": "mdplay.games.twenty48.player:FilePlayer"},
    formats={"runs": "mdplay.games.twenty48.files:Runs"},
    learners=dict.fromkeys(("td", "td-before", "tc"), "mdplay.games.twenty48.training:TilesLearner"),
    networks={"rows=4,cols=4": Path(__file__).with_name("4x4.network")},
    objectives={"tile": "mdplay.games.twenty48.rules:reach_tile"},
)

__all__ = ["Twenty48"]
