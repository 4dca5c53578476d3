"""System 4: Connect Four: heuristic, MCTS, bandits."""

from __future__ import annotations

from collections.abc import Sequence

from mdplay.games.connect_four.rules import ConnectFour
from mdplay.reproducing.steps import Figure, Made, ResultTable, Step, both
from mdplay.running import Show

TITLE = "Connect Four: heuristic, MCTS, bandits"
BERNOULLI = ("uniform", "epsilon-greedy(epsilon=0.1)", "softmax", "ucb1", "ucb1-tuned", "kl-ucb", "thompson")
PLAYERS = ("uniform", "epsilon-greedy", "softmax", "ucb1", "ucb1-tuned", "thompson")
MORE_PLAYERS = ("greedy", "epsilon-decay", "optimistic", "kl-ucb", "thompson-gaussian", "exp3")


def steps(quick: bool, seed: int) -> list[Step]:
    """Return the steps: bandits, selectors in play, the heuristic player."""
    runs, games, simulations = (200, 10, 300) if quick else (2000, 40, 1000)
    players = PLAYERS if quick else PLAYERS + MORE_PLAYERS
    return [
        Step("bandits", lambda show: _bandits(runs, seed, show), {"runs": runs, "seed": seed}),
        Step(
            "mcts-selectors",
            lambda show: _selectors(players, games, simulations, seed, show),
            {"players": players, "games": games, "simulations": simulations, "seed": seed},
        ),
        Step(
            "heuristic-against-mcts",
            lambda show: _heuristic(2 * games, simulations, seed, show),
            {"games": games, "simulations": simulations, "seed": seed},
        ),
        Step(
            "moves-kept-right",
            lambda show: _accuracy(10 * games, simulations, seed),
            {"positions": 10 * games, "simulations": simulations, "seed": seed},
        ),
    ]


def headline(figures: Sequence[Made]) -> str:
    """Return who did best on the bandit and in play."""
    facts = {made.name: made.figure.facts for made in figures}
    regrets = sorted(facts["bandits"]["regret"].items(), key=lambda pair: pair[1])
    listed = ", ".join(f"{name} {regret:.1f}" for name, regret in regrets[:4])
    best = facts["mcts-selectors"]["best"]
    return f"Least regret after 5000 steps: {listed}; the strongest MCTS player selects by {best}."


def _bandits(runs: int, seed: int, show: Show) -> Figure:
    from mdplay.bandits.laboratory import compare, parse_bandit
    from mdplay.bandits.plots import paint_curves

    bandit = parse_bandit("0.9,0.8")
    curves = compare(bandit, BERNOULLI, steps=5000, runs=runs, seed=seed, show=show)
    rows = [
        [c.name, f"{c.regret[-1]:.1f}", f"{1.96 * c.regret_error[-1]:.1f}", f"{c.end_optimal:.1%}"] for c in curves
    ]
    return Figure(
        title="Exploration on a bandit of two arms (0.9 and 0.8)",
        command=f"mdplay bandits --arms 0.9,0.8 --policies {','.join(BERNOULLI)} --steps 5000 --runs {runs} "
        f"--seed {seed}",
        text="Regret is what was lost against always pulling the better arm; the same selectors guide MCTS below.",
        facts={"regret": {c.name: float(c.regret[-1]) for c in curves}},
        table=ResultTable(["policy", "regret at 5000 steps", "+- (95 %)", "optimal pulls at the end"], rows),
        picture=both(lambda figure: paint_curves(figure, bandit, curves), (14, 4.5)),
    )


def _selectors(players: Sequence[str], games: int, simulations: int, seed: int, show: Show) -> Figure:
    from mdplay.playing.plots import paint_tournament
    from mdplay.playing.tournaments import tournament

    agents = [f"mcts:simulations={simulations},selector={name}" for name in players]
    found = tournament(ConnectFour(), agents, games=games, seed=seed, show=show)
    names = dict(zip(agents, players, strict=True))
    rows = [[names[r.agent], f"{r.elo:+.0f}", f"{r.reach:.0f}"] for r in found.ratings]
    return Figure(
        title="MCTS by selector, everybody against everybody",
        command=f"mdplay tournament connect-four {' '.join(agents)} --games {games} --seed {seed}",
        text=f"{games} games a pair, {simulations} simulations a move, random openings, sides exchanged.",
        facts={"best": names[found.ratings[0].agent], "elo": {names[r.agent]: r.elo for r in found.ratings}},
        table=ResultTable(["selector", "Elo", "+- (95 %)"], rows),
        picture=both(lambda figure: paint_tournament(figure, found), (12, 1.5 + 0.5 * len(players))),
    )


def _heuristic(games: int, simulations: int, seed: int, show: Show) -> Figure:
    from mdplay.playing.matches import match

    opponent = f"mcts:simulations={simulations}"
    found = match(ConnectFour(), "heuristic:depth=4", opponent, games=games, seed=seed, show=show)
    low, high = found.interval
    tally = found.tally
    return Figure(
        title="The heuristic player against MCTS",
        command=f"mdplay match connect-four heuristic:depth=4 {opponent} --games {games} --seed {seed}",
        text="Four plies of alpha-beta over the slice score, against tree search that knows only the rules.",
        facts={"score": tally.score, "interval": [low, high], "games": games},
        table=ResultTable(
            ["won", "drawn", "lost", "score", "95 % interval", "distinct games"],
            [
                [
                    *map(str, (tally.wins, tally.draws, tally.losses)),
                    f"{tally.score:.3f}",
                    f"{low:.3f} .. {high:.3f}",
                    str(found.distinct),
                ]
            ],
        ),
    )


def _accuracy(count: int, simulations: int, seed: int) -> Figure:
    from mdplay.playing.accuracy import ProofOracle, measure_accuracy, sample_states
    from mdplay.playing.agents import make_agent

    game = ConnectFour(4, 5)
    oracle, states = ProofOracle(game), sample_states(game, count, seed=seed)
    agents = ["random", "heuristic:depth=4", *(f"mcts:simulations={n}" for n in (simulations // 10, simulations))]
    found = {name: measure_accuracy(game, make_agent(game, name), oracle, states, seed=seed) for name in agents}
    rows = [[name, str(a.positions), str(a.kept), f"{a.kept / a.positions:.1%}"] for name, a in found.items()]
    return Figure(
        title="Moves kept right against exact values",
        command=f"mdplay accuracy connect-four:rows=4,cols=5 --agent {agents[-1]} --oracle proof --count {count}",
        text="In positions of random games on a board of 4 x 5, how often the chosen move keeps the exact value.",
        facts={"kept": {name: a.kept / a.positions for name, a in found.items()}},
        table=ResultTable(["agent", "positions", "value kept", "share"], rows),
    )
