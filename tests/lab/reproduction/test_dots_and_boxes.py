from mdplay.lab.reproduction.dots_and_boxes import FULL, PolicyIteration, entries_of, number_of, outcomes


def test_states_are_sums_of_lines():
    assert number_of([1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0]) == 325
    assert all(number_of(entries_of(state)) == state for state in range(FULL + 1))


def test_outcomes_of_a_line():
    assert outcomes(325 ^ 1, 0) == (1, (325,)), "a box is earned, and the mover goes on"
    assert outcomes(FULL ^ 1, 0) == (1, (FULL,)), "the last line completes a box too"
    earned, following = outcomes(0, 0)
    assert earned == 0 and sorted(following) == sorted(1 | 1 << reply for reply in range(1, 12))
    assert outcomes(325 ^ 256 | 1290 ^ 256, 8)[0] == 2, "a line between two boxes may complete both"


def test_a_round_downwards_takes_two_sweeps_from_values_that_are_wrong():
    policy = [min((a for a in range(12) if not state >> a & 1), default=0) for state in range(FULL + 1)]
    run = PolicyIteration([5.0] * FULL + [0.0], policy)
    assert run.evaluate() == 2
    assert run.evaluate() == 1, "and one when nothing is left to change"
    assert run.improve()
