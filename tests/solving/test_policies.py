"""System 1: Dots and Boxes on 2 x 2 boxes against random opponents, in exact fractions."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from mdplay import FormatError, UnknownName, make
from mdplay.planning.mdp import MDP
from mdplay.planning.planner import plan
from mdplay.solving.solvers import solve

FULL = 4095
BOXES = (325, 1290, 660, 2600)  # the masks of the four boxes
BORDER = [0, 1, 4, 5, 6, 7, 10, 11]


def completed(before, after):
    return sum(before & box != box and after & box == box for box in BOXES)


def exact(once, own):
    """Plain recursion with fractions, written from the rules alone: my value when I move, the best action."""

    def lines(s):
        return [i for i in range(12) if not s >> i & 1]

    @cache
    def mine(s):
        return max((act(s, i) for i in lines(s)), default=Fraction(0))

    def act(s, i):
        t = s | 1 << i
        gain = completed(s, t)
        return gain + (mine(t) if gain else theirs(t))

    @cache
    def theirs(s):
        if s == FULL:
            return Fraction(0)
        return sum(reply(s, i) for i in lines(s)) / len(lines(s))

    def reply(s, i):
        t = s | 1 << i
        gain = completed(s, t)
        if once or not gain:
            return mine(t)
        return theirs(t) - (0 if own else gain)

    def action(s):
        return min((i for i in lines(s) if act(s, i) == mine(s)), default=0)

    return mine, action


CASES = [
    ("uniform-once", "own", Fraction(2756, 693)),
    ("uniform", "own", Fraction(41341, 10395)),
    ("uniform", "difference", Fraction(41102, 10395)),
]


@pytest.mark.parametrize("opponent, objective, value", CASES)
def test_every_value_and_action_equals_the_exact_recursion(opponent, objective, value, needs_compiler):
    solution = solve(make("dots-and-boxes"), opponent=opponent, objective=objective)
    assert solution.method == "policy-iteration"
    mine, action = exact(opponent == "uniform-once", objective == "own")
    assert mine(0) == value
    assert solution.value() == pytest.approx(float(value), abs=1e-9)
    assert solution.best() == BORDER
    assert solution.action() == 0
    for s in range(FULL + 1):
        assert solution.table.mine[s] == pytest.approx(float(mine(s)), abs=1e-9)
        assert solution.table.actions[s] == action(s)


def test_the_rounds_end_with_one_that_changes_nothing(needs_compiler):
    rounds = solve(make("dots-and-boxes"), opponent="uniform-once", objective="own").table.rounds
    assert [r.sweeps for r in rounds] == [2] * len(rounds)  # one fills the values, one finds them unchanged
    assert all(r.changed for r in rounds[:-1])
    assert rounds[-1].changed == 0


def test_plain_python_gives_the_same_on_one_box():
    solution = solve(make("dots-and-boxes:rows=1,cols=1"), opponent="uniform", objective="own")
    assert solution.value() == 0  # the fourth line is the opponent's
    assert solution.value(solution.game.parse("7")) == 1


def test_what_has_no_meaning_is_refused():
    game = make("dots-and-boxes")
    with pytest.raises(UnknownName, match="uniform-once requires objective own"):
        solve(game, opponent="uniform-once")
    with pytest.raises(FormatError, match="opponent unifrm is neither perfect, uniform, uniform-once nor a file"):
        solve(game, opponent="unifrm")
    with pytest.raises(UnknownName, match="did you mean 'own'"):
        solve(game, opponent="uniform", objective="win")


def planning_model(once, own):
    """The MDP of the rules, written from them alone; the opponent's turn is part of my transition."""

    @cache
    def replies(s):
        """Return {my next state: (probability, expected points)} after the opponent's turn."""
        if s == FULL:
            return {FULL: (1.0, 0.0)}
        lines, found = [i for i in range(12) if not s >> i & 1], {}
        for i in lines:
            t = s | 1 << i
            gain = 0 if once else completed(s, t)
            for after, (chance, points) in (replies(t) if gain else {t: (1.0, 0.0)}).items():
                p, e = found.get(after, (0.0, 0.0))
                lost = 0.0 if own else gain * chance
                found[after] = (p + chance / len(lines), e + (points - lost) / len(lines))
        return found

    rows = []
    for s in range(FULL):
        for i in (i for i in range(12) if not s >> i & 1):
            t = s | 1 << i
            gain = completed(s, t)
            for after, (chance, points) in ({t: (1.0, 0.0)} if gain else replies(t)).items():
                rows.append((s, i, after, gain + points / chance, chance))
    return MDP.from_transitions(*map(np.array, zip(*rows, strict=True)), num_states=4096, discount=1.0)


@pytest.mark.parametrize("opponent, objective, value", CASES)
@pytest.mark.parametrize("method", ["vi", "hpi", pytest.param("lp", marks=pytest.mark.slow)])
def test_the_planner_agrees_in_every_value_and_action(opponent, objective, value, method, needs_compiler):
    table = solve(make("dots-and-boxes"), opponent=opponent, objective=objective).table
    found = plan(planning_model(opponent == "uniform-once", objective == "own"), method, tolerance=1e-10)
    assert found.value[0] == pytest.approx(float(value), abs=1e-9)
    assert np.abs(found.value - table.mine).max() < 1e-9
    assert np.array_equal(found.action[:FULL], table.actions[:FULL])
