"""The public names of the package; each is imported when it is first used."""

from .adapters.spaces import observe as observe
from .bits import U64 as U64
from .bits import Wide as Wide
from .checking.check import check_game as check_game
from .errors import (
    AgentError as AgentError,
)
from .errors import (
    ArgumentError as ArgumentError,
)
from .errors import (
    FormatError as FormatError,
)
from .errors import (
    GameError as GameError,
)
from .errors import (
    IllegalMove as IllegalMove,
)
from .errors import (
    LimitError as LimitError,
)
from .errors import (
    MdplayError as MdplayError,
)
from .errors import (
    NotCompiled as NotCompiled,
)
from .errors import (
    PositionError as PositionError,
)
from .errors import (
    UnknownName as UnknownName,
)
from .evaluating.evaluation import (
    Evaluation as Evaluation,
)
from .evaluating.evaluation import (
    Evaluator as Evaluator,
)
from .evaluating.evaluation import (
    MoveEvaluation as MoveEvaluation,
)
from .evaluating.evaluation import (
    best_moves as best_moves,
)
from .game import Between as Between
from .game import Bounds as Bounds
from .game import Compiled as Compiled
from .game import Game as Game
from .game import ProofView as ProofView
from .learning.cell_utilities import PointUtilities as PointUtilities
from .learning.learned import Learned as Learned
from .learning.reinforcement.experiment import Experiment as Experiment
from .learning.reinforcement.library import make_task as make_task
from .learning.reinforcement.methods import make_method as make_method
from .learning.reinforcement.results import Curve as Curve
from .learning.reinforcement.rules import After as After
from .learning.reinforcement.rules import Rule as Rule
from .learning.reinforcement.tasks import FloatTask as FloatTask
from .learning.reinforcement.tasks import Task as Task
from .naming.registry import make as make
from .naming.registry import register_extras as register_extras
from .planning.mdp import MDP as MDP
from .planning.planner import Plan as Plan
from .planning.planner import evaluate_policy as evaluate_policy
from .planning.planner import plan as plan
from .planning.planner import verify as verify
from .playing.accuracy import Accuracy as Accuracy
from .playing.accuracy import accuracy as accuracy
from .playing.agents import Agent as Agent
from .playing.agents import make_agent as make_agent
from .playing.agents import search as search
from .playing.learning import learn as learn
from .playing.matches.evaluating import EvaluationResult as EvaluationResult
from .playing.matches.evaluating import evaluate as evaluate
from .playing.matches.games import play as play
from .playing.matches.match import MatchResult as MatchResult
from .playing.matches.match import match as match
from .playing.matches.schedule import MatchOptions as MatchOptions
from .playing.matches.tournament import TournamentResult as TournamentResult
from .playing.matches.tournament import tournament as tournament
from .playing.records import Record as Record
from .playing.records import load_records as load_records
from .playing.records import save_records as save_records
from .position import Position as Position
from .position import find_action as find_action
from .runtime.run import Run as Run
from .searching.depth_limited import DepthLimited as DepthLimited
from .searching.depth_limited import depth_limited as depth_limited
from .searching.mcts import MCTS as MCTS
from .searching.mcts import Search as Search
from .searching.mcts import mcts as mcts
from .searching.playouts import Playouts as Playouts
from .searching.playouts import playouts as playouts
from .searching.result import SearchResult as SearchResult
from .searching.selectors import Selector as Selector
from .searching.selectors import make_selector as make_selector
from .solving.proof.prover import Proof as Proof
from .solving.proof.prover import Prover as Prover
from .solving.proof.prover import prove as prove
from .solving.responding import Responses as Responses
from .solving.responding import respond as respond
from .solving.solution import Solution as Solution
from .solving.solvers import solve as solve
from .solving.values import Choice as Choice
from .states.perft import Ply as Ply
from .states.perft import perft as perft

__version__: str
__all__: list[str]
