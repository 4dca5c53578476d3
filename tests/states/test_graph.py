from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from mdplay import Game
from mdplay.bits import elements, nonempty
from mdplay.errors import FormatError, GameError, LimitError
from mdplay.games.dots_and_boxes.rules import DotsAndBoxes
from mdplay.games.tic_tac_toe.rules import TicTacToe, anti_tic_tac_toe
from mdplay.games.twenty48.rules import Twenty48
from mdplay.planning import MDP, plan
from mdplay.planning.mdp import Score, by_decision, mdp_of
from mdplay.planning.model import Model
from mdplay.states import keys as widths
from mdplay.states.graph import CHANCE, END, explore
from tests.solving.loopy_graphs import CIRCLE, Graph, Losing


def test_tic_tac_toe_has_5478_states():
    graph = explore(TicTacToe())
    assert graph.num_states == 5478
    assert [int((graph.kind == kind).sum()) for kind in (0, 1, CHANCE, END)] == [2423, 2097, 0, 958]
    for number in (0, 100, 5000):
        assert graph.index(graph.state(number)) == number


def by_hand(game, state, player, memo, discount=1.0):
    """Return the best value for a player against a uniform opponent, by plain recursion.

    The value of the next decision of the player is discounted; all else happens at once.
    """

    def later(next_state):
        decides = nonempty(game.legal(next_state)) and not nonempty(game.outcomes(next_state))
        own = decides and game.player(next_state) == player
        return (discount if own else 1.0) * by_hand(game, next_state, player, memo, discount)

    if state in memo:
        return memo[state]
    sign = -1 if player else 1
    outcomes, actions = elements(game.outcomes(state)), elements(game.legal(state))
    if outcomes:
        value = sum(game.probability(state, i) * later(game.outcome(state, i)) for i in outcomes)
    elif not actions:
        value = sign * game.result(state)
    else:
        mine = game.player(state) == player
        turn = 1 if mine else -1
        found = [turn * game.reward(state, a) + later(game.step(state, a)) for a in actions]
        value = max(found) if mine else sum(found) / len(found)
    memo[state] = value
    return value


@pytest.mark.parametrize("game", [TicTacToe(), anti_tic_tac_toe(), DotsAndBoxes(2, 1)], ids=repr)
@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("discount", [1.0, 0.5])
def test_plans_against_a_uniform_opponent_equal_plain_recursion(game, player, discount):
    """Extra turns and points (Dots and Boxes) included."""
    graph = explore(game)
    found = plan(mdp_of(graph, player, graph.uniform(), discount=discount))
    memo = {}
    wanted = [by_hand(game, graph.state(n), player, memo, discount) for n in range(0, graph.num_states, 7)]
    ends = graph.kind[::7] == END  # an end is terminal: its worth is earned on the way in
    assert found.value[::7][~ends] == pytest.approx(np.array(wanted)[~ends])
    assert (found.value[::7][ends] == 0).all()


@pytest.mark.parametrize("discount", [1.0, 0.9])
def test_a_game_of_chance_for_one(discount):
    """With a discount, a new tile is part of the step and takes no time."""
    game = Twenty48(2, 2)
    mdp = MDP.from_game(game, discount=discount)
    found = plan(mdp)
    assert found.closed
    assert mdp.discount == discount
    assert found.value[0] == pytest.approx(by_hand(game, game.initial(), 0, {}, discount))


@pytest.mark.parametrize("stay", [0.5, 1.0])
def test_chance_that_repeats_between_two_decisions(stay):
    """State 1 is passed through: it stays with some probability, else earns 1 and returns to decision 0."""
    first = [0, 1, 3] if stay < 1.0 else [0, 1, 2]
    target, probability = ([1, 1, 0], [1.0, stay, 1.0 - stay]) if stay < 1.0 else ([1, 1], [1.0, 1.0])
    model = Model([0, 1, 2], [0, 0], first, target, probability, [0.0, 1.0 - stay])
    if stay == 1.0:
        with pytest.raises(GameError, match="can move more than 10,000 times between two decisions"):
            by_decision(model, np.array([True, False]), 0.5)
        return
    found = plan(by_decision(model, np.array([True, False]), 0.5))
    assert found.value == pytest.approx([2.0, 2.0])  # 1 + 0.5 v = v


def test_an_opponent_may_be_any_function():
    first = MDP.from_game(
        TicTacToe(), player=1, opponent=lambda s: 0 if not s.mine & 1 | s.theirs & 1 else _low(s)
    )
    assert plan(first).value[0] == pytest.approx(1.0)  # whoever always takes the first free cell loses
    with pytest.raises(FormatError, match="its actions are"):
        MDP.from_game(TicTacToe(), opponent=lambda s: 9)
    with pytest.raises(FormatError, match="neither 'uniform' nor a function"):
        MDP.from_game(TicTacToe(), opponent="perfect")


def test_endless_play_is_not_silently_worth_nothing():
    """Player 0 loses by going on for ever: an MDP would hold that for a draw."""
    with pytest.raises(GameError, match="infinite play of Losing has the value -1 for player 0, but 0 in an MDP"):
        MDP.from_game(Losing(*CIRCLE))
    assert plan(MDP.from_game(Graph(*CIRCLE))).value[0] == 0
    assert plan(MDP.from_game(Losing(*CIRCLE), discount=0.5)).value[0] == 0


def _low(s):
    free = ~(s.mine | s.theirs)
    return (free & -free).bit_length() - 1


def test_too_many_states_are_refused():
    with pytest.raises(LimitError, match="more than 1,000 states"):
        explore(TicTacToe(), max_states=1000)


def test_scores_turn_results_into_worth():
    graph = explore(TicTacToe(2, 2, 2))
    assert plan(mdp_of(graph, 0, graph.uniform(), score=Score(win=7.0))).value[0] == pytest.approx(7.0)


class Count(NamedTuple):
    n: int


@dataclass(frozen=True)
class Counting(Game[Count]):
    """A game that only counts on."""

    def initial(self) -> Count:
        return Count(0)

    def legal(self, s: Count) -> int:
        return 1

    def step(self, s: Count, action: int) -> Count:
        return Count(s.n + 1)


def test_a_game_that_only_counts_on_is_refused(monkeypatch):
    monkeypatch.setattr(widths, "THIN_LEVELS", 1 << 9)
    with pytest.raises(LimitError, match="Counting goes on for more than 512 plies; does every game end"):
        explore(Counting())
