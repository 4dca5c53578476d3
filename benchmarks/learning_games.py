"""Learning curves of networks on any game, over several seeds: mean and worst.

    python benchmarks/learning_games.py connect-four --seeds 5 --minutes 5 --first 200 --answers c4.json
    python benchmarks/learning_games.py connect-four --networks c4-0.safetensors --search 1000 --first 1000
    python benchmarks/learning_games.py connect-four --networks c4-0.safetensors --optimal 1000
    python benchmarks/learning_games.py dots-and-boxes:rows=3,cols=3 --seeds 5 --minutes 5 --optimal 1500 --margin 100
    python benchmarks/learning_games.py othello:side=6 --seeds 5 --minutes 5 --against mcts:simulations=10000
    python benchmarks/learning_games.py my_game.py --seeds 3 --minutes 2 --against mcts:simulations=1000

Minutes are processor time of one thread.  ``--networks``: files that were learned before, instead.
``--against AGENT``: sides alternate over random openings.  ``--search N``: the network plays by tree search of N
simulations, not greedily.

With exact values, of a solver:
``--first N``: N games from the start, the network moving first against a perfect player that delays its losses and
draws lots among equal moves.  A game ends when the network has given its win away: a perfect player does not give it
back.  ``--answers FILE`` keeps the scores that were proved.
``--optimal N``: N positions of random games in which not every move keeps the exact value; the share in which the
network's does.
``--margin N``: what N games a side against perfect play bring, in points.

A line of JSON for each seed, then the summary.
"""

from __future__ import annotations

import argparse
import json
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

from mdplay import make, match, mcts, solve
from mdplay.bits import elements
from mdplay.game import Game
from mdplay.learning.board import board_of
from mdplay.learning.network import Network
from mdplay.learning.training import NetworkTraining, Settings, suited
from mdplay.learning.tuples import choose_tuples, read_tuples, tuples_text
from mdplay.playing.accuracy import critical_states, keeps_value
from mdplay.playing.evaluators import oracle_for
from mdplay.playing.matches.results import score_interval
from mdplay.rng import Random
from mdplay.solving.proof.book import prover_for

BLOCK = 2000
SETTINGS = ("alpha", "decay", "discount", "epsilon", "exploring_starts")


class Searcher:
    """Plays by tree search with a network."""

    def __init__(self, network: Network, simulations: int) -> None:
        self.network, self.simulations = network, simulations

    def act(self, state: Any, rng: Random) -> int:
        """Return the move found."""
        found = mcts(self.network.game, state, simulations=self.simulations, network=self.network, seed=rng.word())
        return found.action


def trained(game: Game[Any], seed: int, options: argparse.Namespace) -> NetworkTraining:
    """Return a network learned for some minutes of processor time; the rate falls in their last third."""
    board = board_of(game)
    tuples = read_tuples(options.tuples, board, seed) if options.tuples else choose_tuples(board, seed)
    given = {name: getattr(options, name) for name in SETTINGS}
    chosen = {**suited(board), **{name: value for name, value in given.items() if value is not None}}
    training = NetworkTraining.begin(game, Settings(tuples=tuples_text(tuples), seed=seed, **chosen))
    training.prepare()
    began, planned = time.process_time(), 1 << 40
    while (spent := time.process_time() - began) < 60 * options.minutes:
        if spent > 1:
            planned = int(training.episodes * 60 * options.minutes / spent) + 1
        training.run(BLOCK, 1, planned)
    training.seconds = time.process_time() - began
    return training


class Judge:
    """Exact scores of positions, proved once: how soon a position is won, or lost, by its player to move."""

    def __init__(self, game: Game[Any], path: str | None) -> None:
        self.game, self.path = game, Path(path) if path else None
        self.known = json.loads(self.path.read_text()) if self.path and self.path.exists() else {}
        self.prover = prover_for(game, threads=1)

    def score(self, s: Any) -> int:
        """Return the score of a position, the same for all its images."""
        images = (self.game.image(s, k) for k in range(self.game.symmetries()))
        key = "-".join(map(str, min(map(tuple, images))))
        if key not in self.known:
            self.known[key] = self.prover.score(s)
        return int(self.known[key])

    def scores(self, s: Any) -> dict[int, int]:
        """Return what every move is worth to the player to move."""
        return {action: -self.score(self.game.step(s, action)) for action in elements(self.game.legal(s))}

    def keep(self) -> None:
        """Write what is known to the file."""
        if self.path:
            self.path.write_text(json.dumps(self.known))


def as_first(game: Game[Any], agent: Any, judge: Judge, games: int) -> dict[str, Any]:
    """Play games from the start, the agent always first, as long as it keeps its win."""
    lost_at = [ply for number in range(games) if (ply := _win_lost_at(game, agent, judge, Random(1, number)))]
    judge.keep()
    low, high = score_interval(games - len(lost_at), 0, len(lost_at))
    return {"wins": games - len(lost_at), "games": games, "interval": [low, high], "lost_at": sorted(lost_at)}


def _win_lost_at(game: Game[Any], agent: Any, judge: Judge, rng: Random) -> int:
    """Play a game; return at which ply the agent gave its win away, 0 if it did not."""
    s, ply = game.initial(), 0
    while elements(game.legal(s)):
        if not game.player(s):
            s, ply = game.step(s, agent.act(s, rng)), ply + 1
            continue
        scores = judge.scores(s)
        best = [action for action, score in scores.items() if score == max(scores.values())]
        if scores[best[0]] >= 0:
            return ply
        s, ply = game.step(s, best[rng.below(len(best))]), ply + 1
    return 0 if game.result(s) > 0 else ply


@lru_cache(maxsize=1)
def critical_positions(game: Game[Any], count: int) -> dict[Any, dict[int, float]]:
    """Return positions of random games in which not every move keeps the value, and what their moves are worth."""
    return critical_states(game, oracle_for(game, "perfect"), count)


def optimal_share(agent: Any, positions: dict[Any, dict[int, float]]) -> float:
    """Return the share of positions in which the agent's move keeps the exact value."""
    kept = [keeps_value(values, agent.act(s, Random(0))) for s, values in positions.items()]
    return sum(kept) / len(kept)


def margins(game: Game[Any], agent: Any, games: int) -> dict[str, float]:
    """Return the points that the agent is ahead in the mean against perfect play, and what perfect play would be."""
    solution, found = solve(game), dict[str, float]()
    for side, name in enumerate(("first", "second")):
        total = sum(_margin(game, agent, solution, side, Random(side, number)) for number in range(games))
        found[name] = total / games
        found[f"{name} lost"] = solution.value() * (-1 if side else 1) - found[name]
    return found


def _margin(game: Game[Any], agent: Any, solution: Any, side: int, rng: Random) -> float:
    s, total = game.initial(), 0.0
    while elements(game.legal(s)):
        mine, best = game.player(s) == side, solution.best(s)
        action = agent.act(s, rng) if mine else best[rng.below(len(best))]
        total += game.reward(s, action) * (1 if mine else -1)
        s = game.step(s, action)
    return total + game.result(s) * (-1 if side else 1)


def measured(training: NetworkTraining, options: argparse.Namespace) -> dict[str, Any]:
    """Return all figures of what was learned."""
    game, network = training.game, training.network
    agent: Any = Searcher(network, options.search) if options.search else training.agent()
    found: dict[str, Any] = {"seed": training.settings.seed, "moves": training.moves}
    found["k_moves_per_cpu_second"] = round(training.moves_per_second / 1e3)
    if options.optimal:
        found["optimal"] = optimal_share(agent, critical_positions(game, options.optimal))
    if options.first:
        found["first"] = as_first(game, agent, Judge(game, options.answers), options.first)
        found["wins"] = found["first"]["wins"] / options.first
    if options.margin:
        found["margin"] = margins(game, agent, options.margin)
    if options.against:
        played = match(game, agent, options.against, games=options.games, openings=options.openings, seed=2)
        found |= {"score": played.tally.score, "interval": list(played.interval), "distinct": played.distinct}
    return found


def read_training(file: str, game: Game[Any]) -> NetworkTraining:
    """Return a training before its first episode, but with the network of a file."""
    network = Network.load(file, game)[0]
    training = NetworkTraining.begin(game, Settings(tuples=tuples_text(network.tuples), **suited(network.board)))
    training.network.weights[:] = network.weights
    return training


def main() -> None:
    """Measure all seeds, or files, and print mean and worst."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game")
    for name, default in (
        ("seeds", 5),
        ("games", 100),
        ("first", 0),
        ("search", 0),
        ("optimal", 0),
        ("margin", 0),
    ):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--networks", nargs="*", default=[])
    parser.add_argument("--against")
    parser.add_argument("--answers")
    parser.add_argument("--openings", default="random:4")
    parser.add_argument("--tuples")
    for name in SETTINGS:
        parser.add_argument(f"--{name.replace('_', '-')}", type=float)
    parser.add_argument("--out")
    options = parser.parse_args()
    game, rows = make(options.game), []
    for number in options.networks or range(options.first_seed, options.first_seed + options.seeds):
        learned = read_training(number, game) if options.networks else trained(game, number, options)
        if options.out:
            learned.save(f"{options.out}-{number}.safetensors")
        rows.append(measured(learned, options))
        print(json.dumps(rows[-1]), flush=True)
    for name in ("optimal", "wins", "score"):
        values = [row[name] for row in rows if name in row]
        if values:
            print(f"{name}: mean {sum(values) / len(values):.3f}, worst {min(values):.3f} of {len(values)}")


if __name__ == "__main__":
    main()
