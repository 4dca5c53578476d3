"""The perfect agent against everybody, and against chance as exactly as can be counted."""

import math
from functools import cache

import pytest

from mdplay import MdplayError, make, match
from mdplay.bits import elements, nonempty
from mdplay.evaluating.evaluation import final_evaluation
from mdplay.playing.agents import make_agent
from mdplay.rng import Random
from tests.helpers import NIM, write

pytestmark = pytest.mark.usefixtures("needs_compiler")


@pytest.mark.parametrize("name", ["tic-tac-toe", "anti-tic-tac-toe"])
def test_it_never_gets_less_than_the_value_whatever_is_played_against_it(name):
    """Every line of play against it, from every position it may be given to either player."""
    game = make(name)
    agent = make_agent(game, "perfect")

    @cache
    def worst(s, player):
        """The worst that can happen to ``player`` who follows the agent, for that player."""
        if not nonempty(game.legal(s)):
            return game.result(s) * (1 - 2 * player)
        if game.player(s) == player:
            return worst(game.step(s, agent.act(s, Random(0))), player)
        return min(worst(game.step(s, a), player) for a in elements(game.legal(s)))

    @cache
    def minimax(s):
        """The value to player 0 by the plainest recursion."""
        if not nonempty(game.legal(s)):
            return game.result(s)
        values = [minimax(game.step(s, a)) for a in elements(game.legal(s))]
        return min(values) if game.player(s) else max(values)

    def reachable(s, seen):
        if s not in seen:
            seen.add(s)
            for a in elements(game.legal(s)):
                reachable(game.step(s, a), seen)
        return seen

    positions = reachable(game.initial(), set())
    assert len(positions) == 5478 or name != "tic-tac-toe"
    for s in positions:
        for player in (0, 1):
            assert worst(s, player) == minimax(s) * (1 - 2 * player)


@pytest.mark.parametrize(
    "name, every",
    [("dodgem", 3), ("mens-morris", 1), ("mu-torere", 1), ("chess-ending", 499)],
)
def test_no_won_position_is_spoiled_whoever_plays_against_it(name, every):
    """Every move of the winner comes one ply nearer to the end, and no move of the loser leads away from it.

    So a game from a won position is won within its distance: against perfect, random and mcts alike.
    """
    game = make(name)
    agent = make_agent(game, "perfect")
    solution, won, lost = agent.solution, 0, 0
    for number in range(0, solution.states, every):
        s = solution.table.state(number)
        mover, plies = game.player(s), solution.distance(s)
        if solution.value(s) == 1.0 and nonempty(game.legal(s)):
            won += 1
            after = game.step(s, agent.act(s, Random(0)))
            assert (solution.value(after, player=mover), solution.distance(after)) == (1.0, plies - 1)
        elif solution.value(s) == -1.0:
            lost += 1
            for after in (game.step(s, a) for a in elements(game.legal(s))):
                assert solution.value(after, player=mover) == -1.0 and solution.distance(after) < plies
    assert won > 5 and lost > 5


def test_a_game_of_chance_comes_to_its_end():
    found = match(make("pig:goal=20"), "perfect", "perfect", games=10)
    assert all(record.result in (-1, 1) and not record.by_limit for record in found.records)


def test_a_game_may_bring_its_own_perfect_player(tmp_path):
    player = """

from mdplay import register_extras

class Best:
    def __init__(self, game):
        self.game = game

    def act(self, state, rng):
        return max(state.pile % 4, 1) - 1

register_extras(Nim, agents={"perfect": Best})
"""
    game = make(str(write(tmp_path, "nim_of_mine.py", NIM + player)))
    agent = make_agent(game, "perfect")
    assert type(agent).__name__ == "Best" and agent.game == game
    as_first, _ = match(game, agent, "random", games=20, openings="none").sides
    assert as_first.wins == 10  # 21 is no multiple of four: whoever moves first wins


def test_its_mean_against_random_is_the_exact_expectation():
    """2 x 2 Dots and Boxes: expectation and variance by recursion over the agent's own moves."""
    game = make("dots-and-boxes:rows=2,cols=2")
    agent = make_agent(game, "perfect")

    @cache
    def moments(s, player):
        """Mean and mean square of what is still to come for player 0, with the agent as ``player``."""
        actions = elements(game.legal(s))
        if not actions:
            return 0.0, 0.0
        if game.player(s) == player:
            actions = [agent.act(s, Random(0))]
        mean = square = 0.0
        for a in actions:
            points = game.reward(s, a) * (1 - 2 * game.player(s))
            m, q = moments(game.step(s, a), player)
            mean += (points + m) / len(actions)
            square += (points * points + 2 * points * m + q) / len(actions)
        return mean, square

    found = match(game, "perfect", "random", games=1000, openings="none", seed=1)
    for player in (0, 1):
        mean, square = moments(game.initial(), player)
        played = [record.result for record in found.records[player::2]]
        error = math.sqrt((square - mean * mean) / len(played))
        assert abs(sum(played) / len(played) - mean) < 3 * error
    assert moments(game.initial(), 0)[0] > 2  # more than against a perfect opponent


def test_it_draws_against_itself_and_never_loses_to_random():
    game = make("tic-tac-toe")
    assert match(game, "perfect", "perfect", games=2, openings="none").tally.draws == 2
    assert match(game, "perfect", "random", games=100, openings="none").tally.losses == 0


def test_a_game_that_is_proved_position_by_position_and_by_threads():
    """On a small board of Connect Four it never gets less than the value of the opening."""
    game = make("connect-four:rows=4,cols=5")
    one, two = (match(game, "perfect", "random", games=6, openings="random:6", threads=n) for n in (1, 3))
    assert one == two
    agent = make_agent(game, "perfect")
    for record in one.records:
        start = record.replay().positions[record.opening].state
        value = max(final_evaluation(agent, start).values.values()) * (1 - 2 * game.player(start))
        side = 1 - 2 * (record.number % 2)
        assert side * record.result >= side * value


def test_values_are_exact():
    game = make("tic-tac-toe")
    agent = make_agent(game, "perfect")
    assert agent.exact
    # X has two in a row and moves: cell 2 wins, all else draws or loses
    values = final_evaluation(agent, game.parse("110220000")).values
    assert values[2] == 1 and max(value for action, value in values.items() if action != 2) < 1


def test_a_game_that_is_too_large_is_refused_with_a_sentence():
    with pytest.raises(MdplayError, match="agent perfect: "):
        make_agent(make("tic-tac-toe:rows=6,cols=6,length=5"), "perfect")
