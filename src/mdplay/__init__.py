"""Write a game once, in plain Python; solve it, search it, learn it, play it, at the speed of C++.

Everything public is listed in ``__all__``; what needs the compiler is imported on first use only.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mdplay.bits import U64, Wide
from mdplay.check import check_game
from mdplay.errors import (
    AgentError,
    FormatError,
    GameError,
    IllegalMove,
    LimitError,
    MdplayError,
    PositionError,
    UnknownName,
)
from mdplay.game import Between, Compiled, Game, Look, Study, find_action, parse_position
from mdplay.position import Position
from mdplay.registry import make

if TYPE_CHECKING:
    from mdplay.learning.points import PointUtilities, learn
    from mdplay.mdp.model import MDP
    from mdplay.mdp.planning import Plan, plan
    from mdplay.playing.agents import Agent, make_agent
    from mdplay.playing.evaluating import Evaluation, evaluate
    from mdplay.playing.games import play
    from mdplay.playing.matches import MatchResult, match
    from mdplay.playing.records import Record, load_records, save_records
    from mdplay.playing.tournaments import TournamentResult, tournament
    from mdplay.searching.mcts import mcts
    from mdplay.searching.playouts import Playouts, playouts
    from mdplay.searching.result import SearchResult
    from mdplay.solving.perft import Ply, perft
    from mdplay.solving.proof import Proof, Prover, prove
    from mdplay.solving.qubic_proof import prove_qubic
    from mdplay.solving.solution import Solution, solve
    from mdplay.solving.threats import Threats
    from mdplay.solving.worth import Choice

__version__ = "0.1.0"

__all__ = [
    "MDP",
    "U64",
    "Agent",
    "AgentError",
    "Between",
    "Choice",
    "Compiled",
    "Evaluation",
    "FormatError",
    "Game",
    "GameError",
    "IllegalMove",
    "LimitError",
    "Look",
    "MatchResult",
    "MdplayError",
    "Plan",
    "Playouts",
    "Ply",
    "PointUtilities",
    "Position",
    "PositionError",
    "Proof",
    "Prover",
    "Record",
    "SearchResult",
    "Solution",
    "Study",
    "Threats",
    "TournamentResult",
    "UnknownName",
    "Wide",
    "check_game",
    "evaluate",
    "find_action",
    "learn",
    "load_records",
    "make",
    "make_agent",
    "match",
    "mcts",
    "parse_position",
    "perft",
    "plan",
    "play",
    "playouts",
    "prove",
    "prove_qubic",
    "save_records",
    "solve",
    "tournament",
]

_LAZY = {
    "MDP": "mdplay.mdp.model",
    "Agent": "mdplay.playing.agents",
    "Choice": "mdplay.solving.worth",
    "Evaluation": "mdplay.playing.evaluating",
    "MatchResult": "mdplay.playing.matches",
    "Plan": "mdplay.mdp.planning",
    "Playouts": "mdplay.searching.playouts",
    "Ply": "mdplay.solving.perft",
    "PointUtilities": "mdplay.learning.points",
    "Proof": "mdplay.solving.proof",
    "Prover": "mdplay.solving.proof",
    "Record": "mdplay.playing.records",
    "SearchResult": "mdplay.searching.result",
    "Solution": "mdplay.solving.solution",
    "Threats": "mdplay.solving.threats",
    "TournamentResult": "mdplay.playing.tournaments",
    "evaluate": "mdplay.playing.evaluating",
    "learn": "mdplay.learning.points",
    "load_records": "mdplay.playing.records",
    "make_agent": "mdplay.playing.agents",
    "match": "mdplay.playing.matches",
    "mcts": "mdplay.searching.mcts",
    "perft": "mdplay.solving.perft",
    "plan": "mdplay.mdp.planning",
    "play": "mdplay.playing.games",
    "playouts": "mdplay.searching.playouts",
    "prove": "mdplay.solving.proof",
    "prove_qubic": "mdplay.solving.qubic_proof",
    "save_records": "mdplay.playing.records",
    "solve": "mdplay.solving.solution",
    "tournament": "mdplay.playing.tournaments",
}


def __getattr__(name: str) -> Any:
    """Import what needs the compiler when it is first asked for (PEP 562)."""
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'mdplay' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
