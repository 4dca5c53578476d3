"""Write a game once, in plain Python; solve it, search it, learn it, play it, at the speed of C++.

Each public name is imported when it is first used.  ``__init__.pyi`` lists the names for type checkers, and a test
compares the lists.  lazy_loader would read them from the stub at run time: ``import mdplay`` then takes 11 ms
instead of 3.
"""

from importlib import import_module

__version__ = "0.2.0"

_NAMES = {  # public names by module
    "adapters.spaces": "observe",
    "bits": "U64 Wide",
    "checking.check": "check_game",
    "errors": (
        "AgentError ArgumentError FormatError GameError IllegalMove "
        "LimitError MdplayError NotCompiled PositionError UnknownName"
    ),
    "evaluating.evaluation": "Evaluation Evaluator MoveEvaluation best_moves",
    "game": "Between Bounds Compiled Game ProofView",
    "learning.cell_utilities": "PointUtilities",
    "learning.learned": "Learned",
    "learning.reinforcement.experiment": "Experiment",
    "learning.reinforcement.library": "make_task",
    "learning.reinforcement.methods": "make_method",
    "learning.reinforcement.results": "Curve",
    "learning.reinforcement.rules": "After Rule",
    "learning.reinforcement.tasks": "FloatTask Task",
    "naming.registry": "make register_extras",
    "planning.mdp": "MDP",
    "planning.planner": "Plan evaluate_policy plan verify",
    "playing.accuracy": "Accuracy accuracy",
    "playing.agents": "Agent make_agent search",
    "playing.learning": "learn",
    "playing.matches.evaluating": "EvaluationResult evaluate",
    "playing.matches.games": "play",
    "playing.matches.match": "MatchResult match",
    "playing.matches.schedule": "MatchOptions",
    "playing.matches.tournament": "TournamentResult tournament",
    "playing.records": "Record load_records save_records",
    "position": "Position find_action",
    "runtime.run": "Run",
    "searching.depth_limited": "DepthLimited depth_limited",
    "searching.mcts": "MCTS Search mcts",
    "searching.playouts": "Playouts playouts",
    "searching.result": "SearchResult",
    "searching.selectors": "Selector make_selector",
    "solving.proof.prover": "Proof Prover prove",
    "solving.responding": "Responses respond",
    "solving.solution": "Solution",
    "solving.solvers": "solve",
    "solving.values": "Choice",
    "states.perft": "Ply perft",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> object:
    """Import a public name (PEP 562)."""
    if name in _MODULES:
        return getattr(import_module(f"mdplay.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'mdplay' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
