"""Learning curves of networks on any game, over several seeds: mean and worst.

    python benchmarks/learning_games.py connect-four --seeds 5 --minutes 5 --against perfect --games 100 --first
    python benchmarks/learning_games.py connect-four --seeds 5 --minutes 30 --search 1000 --against perfect --first
    python benchmarks/learning_games.py dots-and-boxes:rows=3,cols=3 --seeds 5 --minutes 5 --optimal 1500
    python benchmarks/learning_games.py othello:size=6 --seeds 5 --minutes 5 --against mcts:simulations=10000
    python benchmarks/learning_games.py my_game.py --seeds 3 --minutes 2 --against mcts:simulations=1000

Minutes are processor time of one thread.  ``--first``: the network always moves first, from the start; else sides
alternate over random openings.  ``--search N``: it plays by tree search of N simulations, not greedily.
``--optimal N``: the share of N random positions in which the greedy move keeps the exact value, among those where not
every move does.  A line of JSON for each seed, then the summary.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from mdplay import make, match, mcts, solve
from mdplay.bits import elements
from mdplay.game import Game
from mdplay.learning.board import board_of
from mdplay.learning.network import Network
from mdplay.learning.training import Settings, Training, suited
from mdplay.learning.tuples import choose_tuples, read_tuples, tuples_text
from mdplay.playing.agents import make_agent
from mdplay.playing.matches.statistics import score_interval
from mdplay.rng import Random

BLOCK = 2000


class Searcher:
    """Plays by tree search with a network."""

    def __init__(self, network: Network, simulations: int) -> None:
        self.network, self.simulations = network, simulations

    def act(self, state: Any, rng: Random) -> int:
        """Return the move found."""
        found = mcts(self.network.game, state, simulations=self.simulations, network=self.network, seed=rng.word())
        return found.action


def trained(game: Game[Any], seed: int, options: argparse.Namespace) -> Training:
    """Return a network learned for some minutes of processor time; the rate falls in their last third."""
    board = board_of(game)
    tuples = read_tuples(options.tuples, board, seed) if options.tuples else choose_tuples(board, seed)
    given = {name: getattr(options, name) for name in ("alpha", "decay", "epsilon")}
    chosen = {**suited(board), **{name: value for name, value in given.items() if value is not None}}
    training = Training.begin(game, Settings(tuples=tuples_text(tuples), seed=seed, **chosen))
    training.prepare()
    began, planned = time.process_time(), 1 << 40
    while (spent := time.process_time() - began) < 60 * options.minutes:
        if spent > 1:
            planned = int(training.episodes * 60 * options.minutes / spent) + 1
        training.run(BLOCK, 1, planned)
    training.seconds = time.process_time() - began
    return training


def as_first(game: Game[Any], agent: Any, opponent: str, games: int) -> dict[str, Any]:
    """Play games from the start, the agent always first; the opponent's equal moves are drawn by lot."""
    results = [_play(game, agent, make_agent(game, opponent), Random(1, number)) for number in range(games)]
    wins, draws = sum(r > 0 for r in results), sum(r == 0 for r in results)
    low, high = score_interval(wins, draws, games - wins - draws)
    return {"wins": wins, "draws": draws, "losses": games - wins - draws, "interval": [low, high]}


def _play(game: Game[Any], agent: Any, opponent: Any, rng: Random) -> float:
    s, total = game.initial(), 0.0
    while elements(game.legal(s)):
        mine = not game.player(s)
        action = agent.act(s, rng) if mine else _by_lot(opponent, s, rng)
        total += game.reward(s, action) * (1 if mine else -1)
        s = game.step(s, action)
    return total + game.result(s)


def _by_lot(opponent: Any, s: Any, rng: Random) -> int:
    """Return a best move, by lot among those of equal exact value; of a solution those that delay a loss."""
    solution = getattr(opponent, "solution", None)
    if solution is None:
        return int(opponent.act(s, rng))
    best = solution.best(s)
    return int(best[rng.below(len(best))])


def optimal_share(game: Game[Any], training: Training, count: int) -> float:
    """Return the share of random positions in which the greedy move keeps the exact value."""
    solution, agent, rng, right, asked = solve(game), training.agent(), Random(7), 0, 0
    while asked < count:
        s = game.initial()
        for _ in range(rng.below(40)):
            if len(elements(game.legal(s))) < 2:
                break
            s = game.step(s, rng.pick(game.legal(s)))
        values = {choice.action: choice.value for choice in solution.choices(s)} if elements(game.legal(s)) else {}
        if len(set(values.values())) > 1:
            asked += 1
            right += values[agent.act(s)] == max(v for v in values.values() if v is not None)
    return right / asked


def measured(game: Game[Any], seed: int, options: argparse.Namespace) -> dict[str, Any]:
    """Learn with one seed and return all figures."""
    training = trained(game, seed, options)
    found: dict[str, Any] = {"seed": seed, "episodes": training.episodes, "moves": training.moves}
    found["k_moves_per_cpu_second"] = round(training.moves_per_second / 1e3)
    agent = Searcher(training.network, options.search) if options.search else training.agent()
    if options.optimal:
        found["optimal"] = optimal_share(game, training, options.optimal)
    if options.against and options.first:
        found["first"] = as_first(game, agent, options.against, options.games)
        found["score"] = (found["first"]["wins"] + found["first"]["draws"] / 2) / options.games
    elif options.against:
        played = match(game, agent, options.against, games=options.games, openings=options.openings, seed=2)
        found |= {"score": played.tally.score, "interval": list(played.interval), "distinct": played.distinct}
    if options.out:
        training.save(f"{options.out}-{seed}.safetensors")
    return found


def main() -> None:
    """Measure all seeds and print mean and worst."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--against")
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--openings", default="random:4")
    parser.add_argument("--first", action="store_true")
    parser.add_argument("--search", type=int, default=0)
    parser.add_argument("--optimal", type=int, default=0)
    parser.add_argument("--tuples")
    parser.add_argument("--alpha", type=float)
    parser.add_argument("--decay", type=float)
    parser.add_argument("--epsilon", type=float)
    parser.add_argument("--out")
    options = parser.parse_args()
    game = make(options.game)
    rows = []
    for seed in range(options.seeds):
        rows.append(measured(game, seed, options))
        print(json.dumps(rows[-1]), flush=True)
    for name in ("optimal", "score"):
        values = [row[name] for row in rows if name in row]
        if values:
            print(f"{name}: mean {sum(values) / len(values):.3f}, worst {min(values):.3f} of {len(values)} seeds")


if __name__ == "__main__":
    main()
