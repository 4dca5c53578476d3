"""System 4: Connect Four: heuristic, MCTS, bandits.

The first part is the report's tree search (algorithms 1 to 5) in plain Python, with the package's random numbers.

search         while there are iterations left: select, expand, simulate, backpropagate; then the most visits
select         walk to a leaf by UCB1, a visit to every node stepped into
expand         make all children of the leaf
simulate       a random game from each of them
backpropagate  from the child to the root: a visit, and 1 where the player who moved into the node has won
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import mdplay.svg as draw
from mdplay import Game
from mdplay.bits import elements
from mdplay.games.connect_four.rules import ConnectFour, State
from mdplay.lab.reproduction.steps import (
    Claim,
    Drawing,
    Facts,
    Figure,
    ResultTable,
    Step,
    better,
    both,
    equal,
    tree,
    valued,
)
from mdplay.rng import advance, pick, scramble, stream
from mdplay.runtime.threads import Show


@dataclass
class TreeNode:
    """A position, the move that led into it, who made that move, and what the search has counted."""

    state: Any
    action: int = -1
    mover: int = 0
    visits: int = 0
    wins: int = 0
    children: list[TreeNode] = field(default_factory=list)

    def walk(self, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], TreeNode]]:
        """Yield all nodes below and this one, each with the moves that lead to it."""
        yield path, self
        for child in self.children:
            yield from child.walk((*path, child.action))


@dataclass
class ReportSearch:
    """A search of one position; ``simulations`` counts as the package does: random games, and finished leaves."""

    game: Game[Any]
    state: Any
    seed: int = 0
    simulations: int = 0

    def __post_init__(self) -> None:
        """Begin with the root alone."""
        self.root = TreeNode(self.state)
        self._seed = stream(self.seed, 0)

    def iterate(self) -> None:
        """Select, expand, simulate, backpropagate: once."""
        path, x = self._select(stream(self._seed, self.simulations))
        self._expand(path[-1])
        for child in path[-1].children:
            result, x = self._simulate(child.state, x)
            self._backpropagate([*path, child], result)
        self.simulations += max(len(path[-1].children), 1)

    def best(self) -> TreeNode:
        """Return the child of the root with the most visits; of equals the first."""
        return max(self.root.children, key=lambda node: node.visits)

    def _select(self, x: int) -> tuple[list[TreeNode], int]:
        path = [self.root]
        while path[-1].children:
            x = advance(x)
            total = path[-1].visits
            path.append(max(path[-1].children, key=lambda node: ucb1(node, total)))
            path[-1].visits += 1
        return path, x

    def _expand(self, leaf: TreeNode) -> None:
        game, mover = self.game, self.game.player(leaf.state)
        leaf.children = [TreeNode(game.step(leaf.state, a), a, mover) for a in elements(game.legal(leaf.state))]

    def _simulate(self, state: Any, x: int) -> tuple[float, int]:
        x = advance(x)
        while elements(self.game.legal(state)):
            state = self.game.step(state, pick(self.game.legal(state), scramble(x)))
            x = advance(x)
        return self.game.result(state), x

    def _backpropagate(self, path: list[TreeNode], result: float) -> None:
        self.root.visits += 1
        for node in path[1:]:
            node.visits += 1
            node.wins += result < 0 if node.mover else result > 0


def ucb1(node: TreeNode, total: int) -> float:
    """Return the mean of the wins and what is added for exploration (Auer, Cesa-Bianchi and Fischer 2002)."""
    return node.wins / node.visits + math.sqrt(2.0 * math.log(total) / node.visits)


def slice_score(cells: str, own: str) -> int:
    """Return the points of four cells: 100 for four own discs, 5 for three and an empty one, 2 for two and two."""
    counts = cells.count(own), cells.count(".")
    return {(4, 0): 100, (3, 1): 5, (2, 2): 2}.get(counts, 0)


TITLE = "Connect Four: heuristic, MCTS, bandits"
BERNOULLI = ("uniform", "epsilon-greedy(epsilon=0.1)", "softmax", "ucb1", "ucb1-tuned", "kl-ucb", "thompson")
PLAYERS = ("uniform", "epsilon-greedy", "softmax", "ucb1", "ucb1-tuned", "thompson")
MORE_PLAYERS = ("greedy", "epsilon-decay", "optimistic", "kl-ucb", "thompson-gaussian", "exp3")
SLICES = ("xxxx", "xxx.", "xx..", "x...", "xxxo")  # x is the player who is scored
TREE_POSITION = "6732262516224117317171555563352773"  # columns played; three of them are still open
TREE_SEED = 1
DRAWN = (1, 2, 10)  # iterations after which the tree is drawn
COMPARED = 50  # iterations after which all nodes are compared
SCORED = "6262455127741665"  # columns played; a position whose moves are scored
LATE = 18  # discs from which on positions are proved in no time


def steps(quick: bool, seed: int) -> list[Step]:
    """Return the steps: slices, the tree, exact scores, bandits, selectors in play, the heuristic player."""
    runs, games, simulations = (200, 10, 300) if quick else (2000, 40, 1000)
    players = PLAYERS if quick else PLAYERS + MORE_PLAYERS
    return [
        Step("slices", lambda show: _slices()),
        Step("search-tree", lambda show: _tree()),
        Step("exact-scores", lambda show: _scores(show)),
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


def headline(facts: Facts) -> str:
    """Return that the trees are equal, and who did best on the bandit and in play."""
    regrets = sorted(facts["bandits"]["regret"].items(), key=lambda pair: pair[1])
    listed = ", ".join(f"{name} {regret:.1f}" for name, regret in regrets[:4])
    nodes, best = facts["search-tree"]["compared"], facts["mcts-selectors"]["best"]
    return (
        f"The report's five algorithms and mdplay grow the same tree, {nodes} nodes of {nodes}; least regret "
        f"after 5000 steps: {listed}; the strongest MCTS player selects by {best}."
        if facts["search-tree"]["equal"] == nodes
        else f"{facts['search-tree']['equal']} of {nodes} nodes agree with the report's five algorithms."
    )


def claims(facts: Facts) -> list[Claim]:
    """Return the report's claims beside what came out."""
    slices, found, bandits = facts["slices"], facts["search-tree"], facts["bandits"]
    compared = f"{found['equal']} of {found['compared']} nodes after {COMPARED} iterations"
    same = found["equal"] == found["compared"]
    plain = "The report's algorithms 1 to 5 in plain Python, by the same random words, node for node."
    return [
        equal(
            "A slice of four cells scores 100 for four own discs, 5 for three own and one empty, 2 for two own "
            "and two empty, else 0.",
            ", ".join(f"{cells} {score}" for cells, score in slices["scores"].items()),
            f"mdplay's slice score, drawn below; all {slices['slices']} slices of 7 x 6 in {slices['positions']} "
            f"positions, {slices['agree']} sums equal to plain Python.",
            list(slices["scores"].values()) == [100, 5, 2, 0, 0] and slices["agree"] == slices["sums"],
        ),
        better(
            "The report's code counts the number 0 both for empty cells and for player 0.",
            f"The empty board scores {slices['empty']} for player 0; counted in that way it would be "
            f"{slices['empty_confused']}.",
            "Both ways of counting on the empty board.",
            slices["empty"] == 0 and slices["empty_confused"] > 0,
            "players and empty cells are distinguished",
        ),
        equal(
            "Algorithm 1: while iterations are left, select, expand, simulate, backpropagate.",
            f"{compared} have the same visits and values.",
            plain,
            same,
        ),
        equal(
            "Algorithms 2 and 3: select adds a visit to every node stepped into; expand makes all children.",
            f"After 1 iteration {found['sizes'][0]} nodes, after 2 {found['sizes'][1]}, after 10 "
            f"{found['sizes'][2]}; "
            f"visits equal: {'yes' if same else 'no'}.",
            "The trees drawn below; traced by hand in tests/lab/reproduction/test_connect_four.py.",
            same,
        ),
        equal(
            "Algorithm 4: one random game from each child.",
            f"{found['simulations']} random games and finished leaves in {COMPARED} iterations, "
            f"{found['package_simulations']} in mdplay.",
            "Counted in both.",
            found["simulations"] == found["package_simulations"],
        ),
        equal(
            "Algorithm 5: backpropagate adds a visit, and 1 where the player who moved into the node has won.",
            f"{found['wins']} wins over all nodes in plain Python, {found['package_wins']} in mdplay.",
            "Summed over all nodes of both trees.",
            found["wins"] == found["package_wins"],
        ),
        equal(
            "The move is the root's child with most visits.",
            f"Column {found['best']} with {found['best_visits']} visits; mdplay plays column "
            f"{found['package_best']}.",
            "The position drawn below.",
            found["best"] == found["package_best"],
        ),
        equal(
            "Exploration policies are compared on multi-armed bandits, in a figure (its values are not in the "
            "text).",
            f"{len(bandits['regret'])} policies, {bandits['runs']} runs of {bandits['steps']} steps: regret "
            f"{min(bandits['regret'].values()):.1f} to {max(bandits['regret'].values()):.1f}.",
            "The plot below; the same selectors guide the trees.",
            len(bandits["regret"]) == len(BERNOULLI),
        ),
    ]


# ---------------------------------------------------------------- slices
def _slices() -> Figure:
    game, one_slice = ConnectFour(), ConnectFour(1, 4)
    scores = {cells: one_slice.slice_score(_lain(cells), 0) for cells in SLICES}
    rows = [[cells, str(scores[cells])] for cells in SLICES]
    states = list(_positions(game, 200))
    sums = [(game.slice_score(s, player), _plain_score(game, s, player)) for s in states for player in (0, 1)]
    return Figure(
        title="The slice score",
        command="mdplay search connect-four --agent heuristic:depth=4",
        text="The score of four cells in a row for the player of the red discs. The heuristic is the sum over "
        "all slices, the first player's less the second's.",
        facts={
            "scores": scores,
            "slices": len(game.slices),
            "positions": len(states),
            "sums": len(sums),
            "agree": sum(one == other for one, other in sums),
            "empty": game.slice_score(game.initial(), 0),
            "empty_confused": len(game.slices) * slice_score("0000", "0"),
        },
        table=ResultTable(["four cells", "score"], rows),
        drawings=[Drawing(_slice_svg(cells), f"{scores[cells]}") for cells in SLICES],
    )


def _lain(cells: str) -> State:
    """Return the discs of one row of four cells; a column of one cell has two bits."""
    own, other = (sum(1 << 2 * i for i, cell in enumerate(cells) if cell == mark) for mark in "xo")
    return State(own, other, 0)


def _slice_svg(cells: str) -> str:
    shapes = [draw.rect(0, 0, 180, 52, "panel", 12)]
    for i, cell in enumerate(cells):
        x = 26 + 43 * i
        shapes.append(draw.circle(x, 26, 18, "hole"))
        if cell != ".":
            shapes.append(draw.stone(x, 26, 18, "first" if cell == "x" else "second"))
    return draw.picture(180, 52, shapes, cells)


def _positions(game: ConnectFour, count: int) -> Iterator[State]:
    """Yield positions of random games."""
    from mdplay.playing.accuracy import sample_states

    yield from sample_states(game, count)


def _plain_score(game: ConnectFour, state: State, player: int) -> int:
    """Return the slice score of a position from its text, slice by slice."""
    rows = game.text(state).split("/")
    cells = {(r, c): rows[r][c] for r in range(game.rows) for c in range(game.cols)}
    score = 0
    for (r, c), (dr, dc) in ((start, way) for start in cells for way in ((0, 1), (1, 0), (1, 1), (1, -1))):
        line = [(r + i * dr, c + i * dc) for i in range(4)]
        if line[-1] in cells:
            score += slice_score("".join(cells[place] for place in line), "xo"[player])
    return score


# ---------------------------------------------------------------- the tree
def _tree() -> Figure:
    from mdplay import mcts

    game = ConnectFour()
    state = game.parse(TREE_POSITION)
    plain, pictures, sizes = ReportSearch(game, state, TREE_SEED), [], []
    names = {action: game.move_text(state, action) for action in range(game.cols)}
    for iteration in range(1, COMPARED + 1):
        plain.iterate()
        if iteration in DRAWN:
            sizes.append(sum(1 for _ in plain.root.walk()))
            pictures.append((iteration, tree(plain.root, plain.best().action, names)))
        if iteration == DRAWN[-1]:
            chosen = plain.best()
            after_ten = (names[chosen.action], chosen.visits, plain.simulations)
    found = mcts(game, state, simulations=plain.simulations, expansion="all", seed=TREE_SEED)
    ten = mcts(game, state, simulations=after_ten[2], expansion="all", seed=TREE_SEED)
    package = dict(_counted(found.tree))
    counted = {path: (node.visits, node.wins) for path, node in plain.root.walk()}
    equal_nodes = sum(package.get(path) == counts for path, counts in counted.items())
    caption = "the columns that are still open"
    return Figure(
        title="The search tree after 1, 2 and 10 iterations",
        command=f"mdplay search connect-four --position {TREE_POSITION} --agent mcts:expansion=all "
        f"-n {after_ten[2]} --seed {TREE_SEED}",
        text="A late position, so that the tree stays small. In each node stand the wins and the visits for the "
        "player who moved there, at the root the random games; on each edge the column. Green is the move that "
        "would be played: the most visits.",
        facts={
            "sizes": sizes,
            "compared": len(counted | package),
            "equal": equal_nodes,
            "simulations": plain.simulations,
            "package_simulations": found.simulations,
            "wins": sum(wins for _, wins in counted.values()),
            "package_wins": sum(wins for _, wins in package.values()),
            "best": after_ten[0],
            "best_visits": after_ten[1],
            "package_best": names[ten.action],
        },
        drawings=[
            Drawing(game.svg(state), caption),
            *(Drawing(svg, f"after {n} iteration{'s' if n > 1 else ''}") for n, svg in pictures),
        ],
    )


def _counted(node: Any, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], tuple[int, int]]]:
    """Yield the visits and wins of every node of mdplay's tree, and the moves to it; none at the root."""
    yield path, (node.visits, round(node.value * node.visits) if path else 0)
    for child in node.children:
        yield from _counted(child, (*path, child.action))


# ---------------------------------------------------------------- exact scores
def _scores(show: Show) -> Figure:
    from mdplay import solve

    game = ConnectFour()
    state = game.parse(SCORED)
    choices = solve(game, state, method="proof", progress=show).choices(state)
    best = [c.action for c in choices if c.score == max(c.score or 0 for c in choices)]
    texts = {c.action: f"{c.score:+d}" if c.score else "0" for c in choices}
    rows = [[game.move_text(state, c.action), texts[c.action], str(c.distance)] for c in choices]
    return Figure(
        title="A position with the exact score of every move",
        command=f"mdplay solve connect-four --position {SCORED} --method proof",
        text="Beyond the report: the value of every column under perfect play. A score of +n wins with the "
        "n-th last disc that the winner has, -n loses so, 0 draws.",
        facts={"scores": {game.move_text(state, c.action): c.score for c in choices}},
        table=ResultTable(["column", "score", "plies to the end"], rows),
        drawings=[
            Drawing(valued(game.svg(state), texts, best), f"{'red' if state.player == 0 else 'blue'} to move")
        ],
    )


# ---------------------------------------------------------------- bandits and play
def _bandits(runs: int, seed: int, show: Show) -> Figure:
    from mdplay.bandits.laboratory import compare
    from mdplay.bandits.plots import paint_curves

    curves = compare("0.9,0.8", BERNOULLI, steps=5000, runs=runs, seed=seed, show=show)
    rows = [
        [c.name, f"{c.regret[-1]:.1f}", f"{1.96 * c.regret_error[-1]:.1f}", f"{c.end_optimal:.1%}"] for c in curves
    ]
    return Figure(
        title="Exploration on a bandit of two arms (0.9 and 0.8)",
        command=f"mdplay bandits --arms 0.9,0.8 --policies {','.join(BERNOULLI)} --steps 5000 --runs {runs} "
        f"--seed {seed}",
        text="Regret is what was lost against always pulling the better arm; the same selectors guide MCTS below.",
        facts={"regret": {c.name: float(c.regret[-1]) for c in curves}, "runs": runs, "steps": 5000},
        table=ResultTable(["policy", "regret at 5000 steps", "+- (95 %)", "optimal pulls at the end"], rows),
        picture=both(lambda figure: paint_curves(figure, curves, stacked=True), (6.6, 7.6)),
    )


def _selectors(players: Sequence[str], games: int, simulations: int, seed: int, show: Show) -> Figure:
    from mdplay import tournament

    agents = [f"mcts:simulations={simulations},selector={name}" for name in players]
    found = tournament(ConnectFour(), agents, games=games, seed=seed, progress=show)
    names = dict(zip(agents, players, strict=True))
    ratings = [(names[r.agent], r.elo, r.reach) for r in found.ratings]
    ranked = [r.agent for r in found.ratings]
    rows = [
        [str(number), name, f"{elo:+.0f}", f"{reach:.0f}", *(_score(found, agent, other) for other in ranked)]
        for number, (agent, (name, elo, reach)) in enumerate(zip(ranked, ratings, strict=True), start=1)
    ]
    return Figure(
        title="MCTS by selector, everybody against everybody",
        command=f"mdplay tournament connect-four {' '.join(agents)} --games {games} --seed {seed}",
        text=f"{games} games a pair, {simulations} simulations a move, random openings, sides exchanged. The "
        "numbered columns are the score against that player, in per cent.",
        facts={"best": ratings[0][0], "elo": {name: elo for name, elo, _ in ratings}},
        table=ResultTable(["", "selector", "Elo", "+- (95 %)", *(str(n + 1) for n in range(len(ranked)))], rows),
        picture=both(lambda figure: _paint_ratings(figure, ratings), (6.6, 1.2 + 0.38 * len(players))),
    )


def _score(found: Any, agent: str, other: str) -> str:
    return "" if agent == other else f"{100 * found.tallies[agent, other].score:.0f}"


def _paint_ratings(figure: Any, ratings: Sequence[tuple[str, float, float]]) -> None:
    """Paint the ratings with their intervals, the best on top."""
    names, elo, reach = zip(*ratings, strict=True)
    axes = figure.add_subplot(xlabel="Elo, with 95 % intervals")
    axes.errorbar(elo, range(len(names)), xerr=reach, fmt="o", capsize=4, color="C6")
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(axis="x")


def _heuristic(games: int, simulations: int, seed: int, show: Show) -> Figure:
    from mdplay import match

    opponent = f"mcts:simulations={simulations}"
    found = match(ConnectFour(), "heuristic:depth=4", opponent, games=games, seed=seed, progress=show)
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
    from mdplay import Prover, accuracy
    from mdplay.playing.accuracy import sample_states

    game = ConnectFour()
    states = [s for s in sample_states(game, 3 * count, seed=seed) if (s.mine | s.theirs).bit_count() >= LATE][
        :count
    ]
    oracle = Prover(game)
    agents = ["random", "heuristic:depth=4", *(f"mcts:simulations={n}" for n in (simulations // 10, simulations))]
    found = {name: accuracy(game, name, oracle, states, seed=seed) for name in agents}
    rows = [[name, str(a.positions), str(a.kept), f"{a.kept / a.positions:.1%}"] for name, a in found.items()]
    return Figure(
        title="Moves kept right against exact values",
        command=f"mdplay accuracy connect-four --agent {agents[-1]} --oracle proof --count {len(states)}",
        text=f"In positions of random games with at least {LATE} discs, how often the chosen move keeps the exact "
        "value.",
        facts={"kept": {name: a.kept / a.positions for name, a in found.items()}},
        table=ResultTable(["agent", "positions", "value kept", "share"], rows),
    )
