"""Write a game once, in plain Python; solve it, search it, learn it, play it, at the speed of C++.

Everything public is listed in ``__all__``; each name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mdplay.adapters.spaces import observe
    from mdplay.bits import U64, Wide
    from mdplay.checking.check import check_game
    from mdplay.errors import (
        AgentError,
        ArgumentError,
        FormatError,
        GameError,
        IllegalMove,
        LimitError,
        MdplayError,
        NotCompiled,
        PositionError,
        UnknownName,
    )
    from mdplay.evaluating.evaluation import Evaluation, Evaluator, MoveEvaluation, best_moves
    from mdplay.game import Between, Bounds, Compiled, Game, ProofView
    from mdplay.learning.cell_utilities import PointUtilities
    from mdplay.learning.learned import Learned
    from mdplay.naming.registry import make, register_extras
    from mdplay.planning.mdp import MDP
    from mdplay.planning.planner import Plan, evaluate_policy, plan, verify
    from mdplay.playing.accuracy import Accuracy, accuracy
    from mdplay.playing.agents import Agent, make_agent
    from mdplay.playing.learning import learn
    from mdplay.playing.matches.evaluating import EvaluationResult, evaluate
    from mdplay.playing.matches.games import play
    from mdplay.playing.matches.match import MatchResult, match
    from mdplay.playing.matches.tournament import TournamentResult, tournament
    from mdplay.playing.records import Record, load_records, save_records
    from mdplay.position import Position, find_action
    from mdplay.searching.depth_limited import depth_limited
    from mdplay.searching.mcts import Search, mcts
    from mdplay.searching.playouts import Playouts, playouts
    from mdplay.searching.result import SearchResult
    from mdplay.searching.selectors import Selector, make_selector
    from mdplay.solving.proof.prover import Proof, Prover, prove
    from mdplay.solving.responding import Responses, respond
    from mdplay.solving.solution import Solution
    from mdplay.solving.solvers import solve
    from mdplay.solving.values import Choice
    from mdplay.states.perft import Ply, perft

__version__ = "0.2.0"

__all__ = [
    "MDP",
    "U64",
    "Accuracy",
    "Agent",
    "AgentError",
    "ArgumentError",
    "Between",
    "Bounds",
    "Choice",
    "Compiled",
    "Evaluation",
    "EvaluationResult",
    "Evaluator",
    "FormatError",
    "Game",
    "GameError",
    "IllegalMove",
    "Learned",
    "LimitError",
    "MatchResult",
    "MdplayError",
    "MoveEvaluation",
    "NotCompiled",
    "Plan",
    "Playouts",
    "Ply",
    "PointUtilities",
    "Position",
    "PositionError",
    "Proof",
    "ProofView",
    "Prover",
    "Record",
    "Responses",
    "Search",
    "SearchResult",
    "Selector",
    "Solution",
    "TournamentResult",
    "UnknownName",
    "Wide",
    "accuracy",
    "best_moves",
    "check_game",
    "depth_limited",
    "evaluate",
    "evaluate_policy",
    "find_action",
    "learn",
    "load_records",
    "make",
    "make_agent",
    "make_selector",
    "match",
    "mcts",
    "observe",
    "perft",
    "plan",
    "play",
    "playouts",
    "prove",
    "register_extras",
    "respond",
    "save_records",
    "search",
    "solve",
    "tournament",
    "verify",
]

_PLACES = {
    "MDP": "mdplay.planning.mdp",
    "U64": "mdplay.bits",
    "Accuracy": "mdplay.playing.accuracy",
    "accuracy": "mdplay.playing.accuracy",
    "Agent": "mdplay.playing.agents",
    "AgentError": "mdplay.errors",
    "ArgumentError": "mdplay.errors",
    "Between": "mdplay.game",
    "Choice": "mdplay.solving.values",
    "Compiled": "mdplay.game",
    "Evaluation": "mdplay.evaluating.evaluation",
    "EvaluationResult": "mdplay.playing.matches.evaluating",
    "Evaluator": "mdplay.evaluating.evaluation",
    "FormatError": "mdplay.errors",
    "Game": "mdplay.game",
    "GameError": "mdplay.errors",
    "IllegalMove": "mdplay.errors",
    "Learned": "mdplay.learning.learned",
    "LimitError": "mdplay.errors",
    "Bounds": "mdplay.game",
    "MatchResult": "mdplay.playing.matches.match",
    "MdplayError": "mdplay.errors",
    "MoveEvaluation": "mdplay.evaluating.evaluation",
    "NotCompiled": "mdplay.errors",
    "Plan": "mdplay.planning.planner",
    "Playouts": "mdplay.searching.playouts",
    "Ply": "mdplay.states.perft",
    "PointUtilities": "mdplay.learning.cell_utilities",
    "Position": "mdplay.position",
    "PositionError": "mdplay.errors",
    "Proof": "mdplay.solving.proof.prover",
    "Prover": "mdplay.solving.proof.prover",
    "Record": "mdplay.playing.records",
    "Responses": "mdplay.solving.responding",
    "Search": "mdplay.searching.mcts",
    "SearchResult": "mdplay.searching.result",
    "Selector": "mdplay.searching.selectors",
    "Solution": "mdplay.solving.solution",
    "ProofView": "mdplay.game",
    "TournamentResult": "mdplay.playing.matches.tournament",
    "UnknownName": "mdplay.errors",
    "Wide": "mdplay.bits",
    "best_moves": "mdplay.evaluating.evaluation",
    "check_game": "mdplay.checking.check",
    "depth_limited": "mdplay.searching.depth_limited",
    "evaluate": "mdplay.playing.matches.evaluating",
    "evaluate_policy": "mdplay.planning.planner",
    "find_action": "mdplay.position",
    "learn": "mdplay.playing.learning",
    "load_records": "mdplay.playing.records",
    "make": "mdplay.naming.registry",
    "make_agent": "mdplay.playing.agents",
    "make_selector": "mdplay.searching.selectors",
    "match": "mdplay.playing.matches.match",
    "mcts": "mdplay.searching.mcts",
    "observe": "mdplay.adapters.spaces",
    "perft": "mdplay.states.perft",
    "plan": "mdplay.planning.planner",
    "play": "mdplay.playing.matches.games",
    "playouts": "mdplay.searching.playouts",
    "prove": "mdplay.solving.proof.prover",
    "register_extras": "mdplay.naming.registry",
    "respond": "mdplay.solving.responding",
    "save_records": "mdplay.playing.records",
    "search": "mdplay.playing.agents",
    "solve": "mdplay.solving.solvers",
    "tournament": "mdplay.playing.matches.tournament",
    "verify": "mdplay.planning.planner",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is first asked for (PEP 562)."""
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module 'mdplay' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
