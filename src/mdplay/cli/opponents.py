"""What ``mdplay solve`` does about opponents, objectives and tables of all states."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdplay.errors import FormatError, GameError, UnknownName, unknown
from mdplay.game import Game, num_players
from mdplay.running import Show

if TYPE_CHECKING:
    from mdplay.solving.solution import Solution

OBJECTIVES = ("difference", "own")
NAMES = ("perfect", "uniform", "uniform-once")
MAX_ROWS = 1 << 26


def solution_against(
    game: Game[Any],
    state: Any,
    opponent: str,
    objective: str,
    memory: int | None,
    save: str | None,
    show: Show | None,
) -> Solution:
    """Return the solution against an opponent: perfect, uniform, uniform-once, or a file with a policy."""
    from mdplay.solving.policies import policy_iteration
    from mdplay.solving.responses import respond_to
    from mdplay.solving.solution import solve

    if opponent == "perfect":
        if objective == "own":
            raise UnknownName("a perfect opponent counts the difference; --objective own needs another --opponent")
        return solve(game, state, memory=memory, file=save, show=show)
    if save is not None:
        raise UnknownName("--save keeps solutions against a perfect opponent only; --all writes any as CSV")
    if num_players(game) == 1:
        raise GameError(f"{type(game).__name__} is a game for one: it has no opponent")
    if opponent == "uniform-once" or (opponent == "uniform" and game.has_size and not game.has_outcomes):
        return policy_iteration(game, opponent=opponent, objective=objective, memory=memory)
    if opponent == "uniform":
        return respond_to(game, objective=objective)
    return _answer_to_file(game, opponent, objective)


def _answer_to_file(game: Game[Any], path: str, objective: str) -> Solution:
    """Return the best answer to the policy in a file, for the player whose policy it is not."""
    from mdplay.mdp.game_graph import explore
    from mdplay.mdp.policies import start_from
    from mdplay.solving.responses import answer_to_weights

    if not Path(path).is_file():
        raise FormatError(f"--opponent {path} is neither {', '.join(NAMES)} nor a file with a policy")
    graph = explore(game)
    given = start_from(graph, path, None)
    return answer_to_weights(game, graph, given.player, given.weights, objective=objective)


def with_objective(game: Game[Any], objective: str) -> Game[Any]:
    """Return the game in which an objective is played for: another one for ``tile=N``."""
    kind, _, tile = objective.partition("=")
    if kind == "tile":
        from mdplay.solving.reaching import reach_tile

        return reach_tile(game, int(tile) if tile.isdigit() else 0)
    if objective not in OBJECTIVES:
        raise unknown("objective", objective, (*OBJECTIVES, "tile=N"))
    return game


def needs_chains(game: Game[Any], opponent: str, memory: int | None) -> bool:
    """Tell whether perfect play is a matter for proof search by chains: the table would not fit."""
    from mdplay.solving.growing import needed_bytes
    from mdplay.solving.memory import budget

    return opponent == "perfect" and game.has_targets and needed_bytes(game) > budget(memory)


def prove_by_chains(game: Game[Any], name: str, state: Any, seconds: float, show: Show | None) -> dict[str, Any]:
    """Return the JSON document of a position of a large board: exact values, or bounds labelled as such."""
    from mdplay.solving.chains import ChainSearch

    search = ChainSearch(game)
    whole = search.prove(state, seconds=seconds / 2, show=show)
    moves = [
        {
            "move": game.move_text(state, action),
            "action": action,
            "value": float(found.low) if found.exact else None,
            "low": found.low,
            "high": found.high,
            "distance": game.size().bit_length() - 1 - game.index(state).bit_count(),
        }
        for action, found in search.moves(state, seconds=seconds / 2).items()
    ]
    return {
        "game": name,
        "position": game.text(state),
        "player": game.player(state) if moves else None,
        "value": float(whole.low) if whole.exact else None,
        "low": whole.low,
        "high": whole.high,
        "distance": moves[0]["distance"] if moves else 0,
        "exact": whole.exact,
        "best": [move["move"] for move in moves if whole.exact and move["low"] == whole.low],
        "moves": moves,
        "states": whole.nodes,
        "seconds": whole.seconds,
    }


def write_all(solution: Solution, path: str) -> int:
    """Write ``state,value,action`` for every state of a game that numbers them; return how many.

    The value is that to the player to move; the action of a state where the game is over stays empty.
    """
    game = solution.game
    if not game.has_size or game.size() > MAX_ROWS:
        raise GameError(
            f"--all is for games that number their states, at most {MAX_ROWS:,}; {type(game).__name__} is not"
        )
    from mdplay.store import replacing

    with replacing(path) as file:
        file.write(b"state,value,action\n")
        for number in range(game.size()):
            state = game.state(number)
            choices = solution.choices(state)
            action = str(solution.action(state)) if choices else ""
            file.write(f"{number},{solution.value(state)!r},{action}\n".encode())
    return game.size()
