"""System 5: Qubic, learned by Monte Carlo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mdplay.games.qubic.rules import Qubic
from mdplay.reproducing.steps import Figure, Made, ResultTable, Step, both
from mdplay.running import Show

TITLE = "Qubic, learned by Monte Carlo"
GAMES = (1_000, 10_000, 100_000)
TOP = 16


def steps(quick: bool, seed: int) -> list[Step]:
    """Return the steps: utilities under annealing, under pure exploration, and random play."""
    settings = {"games": GAMES, "seed": seed}
    return [
        Step("qubic-annealed", lambda show: _points("annealed", seed, show), settings, sum(GAMES)),
        Step("qubic-always", lambda show: _points("always", seed, show), settings, sum(GAMES)),
        Step("qubic-random", lambda show: _random(seed, show), {"seed": seed}, 1_000_000),
        Step("qubic-proof", _proof),
    ]


def headline(figures: Sequence[Made]) -> str:
    """Return the finding in one sentence."""
    facts = {made.name: made.figure.facts for made in figures}
    annealed, always = (facts[name]["in_top"] for name in ("qubic-annealed", "qubic-always"))
    return (
        f"Of the sixteen points on seven lines, {_listed(annealed)} are among the sixteen best after "
        f"{_listed(f'{n:,}' for n in GAMES)} annealed games, and {_listed(always)} under pure exploration."
    )


def _listed(items: Any) -> str:
    first, *middle, last = map(str, items)
    return f"{', '.join([first, *middle])} and {last}"


def _points(explore: str, seed: int, show: Show) -> Figure:
    from mdplay.learning.heat_maps import paint
    from mdplay.learning.points import learn_utilities
    from mdplay.learning.utilities import rich_points, shape_of

    game = Qubic()
    runs = learn_utilities(game, episodes=GAMES, explore=explore, seed=seed, show=show).curve
    rich = set(rich_points(game))
    in_top = [len(rich & set(run.highest(TOP))) for run in runs]
    rows = [
        [f"{run.num_games:,}", str(count), f"{run.utilities.min():.3f}", f"{run.utilities.max():.3f}"]
        for run, count in zip(runs, in_top, strict=True)
    ]
    how = "with growing probability the best known point" if explore == "annealed" else "always a random point"
    return Figure(
        title=f"Utilities of the 64 points, {'annealed' if explore == 'annealed' else 'pure exploration'}",
        command=f"mdplay learn qubic --method points --episodes {','.join(map(str, GAMES))} "
        f"--explore {explore} --seed {seed}",
        text=f"Each run starts from scratch and plays {how}; a point's utility is the share of games won by "
        "whoever took it. Each row of layers is one number of games.",
        facts={"games": list(GAMES), "in_top": in_top, "utilities": [run.utilities.tolist() for run in runs]},
        table=ResultTable(["games", f"seven-line points in the top {TOP}", "lowest utility", "highest"], rows),
        picture=both(lambda figure: paint(figure, runs, shape_of(game)), (11, 8)),
    )


def _random(seed: int, show: Show) -> Figure:
    from mdplay.searching.playouts import playouts

    found = playouts(Qubic(), games=1_000_000, seed=seed, show=show)
    return Figure(
        title="Random play",
        command=f"mdplay playouts qubic --games 1000000 --seed {seed}",
        text="A million games of uniformly random moves: how much the first move alone is worth.",
        facts={"wins": found.wins, "losses": found.losses, "draws": found.draws, "mean_length": found.mean_length},
        table=ResultTable(
            ["first player wins", "second player wins", "ties", "moves a game"],
            [
                [
                    f"{found.wins / found.games:.4f}",
                    f"{found.losses / found.games:.4f}",
                    str(found.draws),
                    f"{found.mean_length:.2f}",
                ]
            ],
        ),
    )


def _proof(show: Show) -> Figure:
    from mdplay.games.qubic.proof import prove_qubic

    proof = prove_qubic(None, show=show)
    lines = 0 if proof.book is None else len(proof.book)
    facts = {"proved": proof.proved, "replies": proof.replies, "lines": lines, "expansions": proof.expansions}
    return Figure(
        title="The first player wins: a proof",
        command="mdplay prove qubic --out book.txt; mdplay verify qubic book.txt",
        text="Proof-number search up to symmetry, with threat sequences at every node. The book has "
        "a line for every position in which the winner needs more than threats.",
        facts=facts,
        table=ResultTable(
            ["answers proved", "of", "lines of the book", "expansions", "threat positions"],
            [[f"{n:,}" for n in (proof.proved, proof.replies, lines, proof.expansions, proof.threat_nodes)]],
        ),
    )
