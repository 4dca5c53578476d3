from matplotlib.figure import Figure

from mdplay.lab.reproduction.planner import claims, paint_history, random_mdp, steps

FALLING = ((1, 1.0), (2, 0.1), (3, 0.0))


def test_methods_of_equal_residuals_share_a_curve_that_names_both():
    figure = Figure()
    other = ((1, 2.0), (2, 1.0))
    paint_history(figure, {"hpi": FALLING, "lp": (), "auto": FALLING, "jacobi": other})
    assert sorted(line.get_label() for line in figure.axes[0].lines) == ["hpi, auto", "jacobi"]


def test_a_residual_told_once_is_seen():
    figure = Figure()
    paint_history(figure, {"vi": ((170, 1e-7),), "hpi": FALLING})
    line = figure.axes[0].lines[0]
    assert (line.get_label(), list(line.get_xdata())) == ("vi", [170])
    assert line.get_marker() not in ("", "None", None)


def test_random_models_repeat_and_can_be_planned():
    one, other = (random_mdp(6, 2, seed=4, branches=3) for _ in range(2))
    assert one.to_nested() == other.to_nested()
    assert (one.num_states, one.num_choices) == (6, 12)


def test_the_claims_of_the_planner_hold():
    facts = {step.name: step.make(lambda *_: None).facts for step in steps(True, 1)}
    marks = [claim.mark for claim in claims(facts)]
    assert marks == ["equal"] * 6
