import numpy as np
import pytest

from mdplay import evaluate
from mdplay.bits import elements
from mdplay.compiling import cache as fingerprint
from mdplay.errors import IllegalMove, LimitError
from mdplay.games.twenty48.files import board_for, parse_patterns
from mdplay.games.twenty48.player import Player
from mdplay.games.twenty48.rules import State, Twenty48
from mdplay.learning.network import Network
from mdplay.rng import Random, advance, scramble, stream


def network(rows, cols, *, before=False):
    made = Network.create(board_for(rows, cols), parse_patterns("0123,014", rows, cols), before=before)
    made.weights[:] = np.random.default_rng(1).normal(scale=10, size=len(made.weights))
    return made


def best(game, net, s, depth):
    """Expectimax by its definition, through the game's own rules."""
    totals = [
        game.reward(s, action) + mean(game, net, game.step(s, action), depth) for action in elements(game.legal(s))
    ]
    return max(totals, default=0.0)


def mean(game, net, after, depth):
    if depth == 1 and not net.before:
        return net.estimate(after)
    chances = [(game.probability(after, i), game.outcome(after, i)) for i in elements(game.outcomes(after))]
    if depth == 1:
        return sum(p * net.estimate(s) if game.legal(s) else 0.0 for p, s in chances)
    return sum(p * best(game, net, s, depth - 1) for p, s in chances)


@pytest.mark.parametrize(
    ("rows", "cols", "depth", "before"),
    [(2, 3, 1, False), (2, 3, 2, False), (2, 3, 3, False), (4, 4, 2, False), (2, 3, 1, True), (2, 3, 3, True)],
)
def test_the_search_is_expectimax(rows, cols, depth, before):
    game, net = Twenty48(rows, cols), network(rows, cols, before=before)
    agent, rng = Player(net, depth), Random(2)
    for _ in range(10):
        board = sum((1 + rng.below(5) if rng.below(5) else 0) << 4 * cell for cell in range(rows * cols))
        s = State(board, 0)
        if not game.legal(s):
            continue
        action, total = agent.best(s)
        assert total == pytest.approx(best(game, net, s, depth), rel=1e-4, abs=1e-2)
        reached = game.reward(s, action) + mean(game, net, game.step(s, action), depth)
        assert reached == pytest.approx(total, rel=1e-4, abs=1e-2)
        assert agent.best(s) == (action, total)  # now from the table


def test_whole_games_are_those_of_the_agent():
    game, agent = Twenty48(2, 3), Player(network(2, 3), 2)
    found = evaluate(game, agent, games=20, seed=4, threads=1)
    scores = []
    for number in range(20):
        x, s, score = stream(4, number), game.initial(), 0
        while True:
            while s.popups:
                x = advance(x)
                s = game.outcome(s, game.draw(s, scramble(x)))
            if not game.legal(s):
                break
            action = agent.act(s)
            score += game.reward(s, action)
            s = game.step(s, action)
        scores.append(score)
    assert found.results == tuple(scores) and found.document()["max"] == max(scores)
    assert found.mean == pytest.approx((np.mean(scores), np.std(scores, ddof=1) / 20**0.5))


@pytest.mark.parametrize("depth", [1, 2])
def test_threads_change_nothing(depth):
    agent = Player(network(2, 3), depth)
    one, two = (evaluate(agent.game, agent, games=50, seed=1, threads=threads) for threads in (1, 2))
    assert one == two and one.moves > 0 and one.shares["tiles"][4] > 0.5


def test_bad_questions_get_a_sentence():
    agent = Player(network(2, 3))
    with pytest.raises(IllegalMove, match="over"):
        agent.act(State(0x212121, 0))
    with pytest.raises(IllegalMove, match="chance"):
        agent.act(agent.game.initial())
    with pytest.raises(LimitError, match="1 to 16"):
        Player(agent.network, 0)


def test_nothing_is_hashed_anew_for_a_move(monkeypatch, needs_compiler):
    """A game or rule that kernels have not met is hashed: made for every move, that took ten milliseconds."""
    player, state = Player(network(4, 4)), State(0x1123, 0)
    player.act(state)
    hashed = []
    monkeypatch.setattr(fingerprint, "instance_fingerprint", hashed.append)
    player.act(state)
    assert hashed == []


def test_values_are_those_of_the_network_as_it_is_now():
    net, state = network(2, 3), State(0x1123, 0)
    player = Player(net, 3)
    before = player.values(state)
    net.weights[:] *= -1
    assert player.values(state) == Player(net, 3).values(state) != before
