from matplotlib.figure import Figure

from mdplay.reproducing.planner import claims, paint_history, random_mdp, steps

FALLING = ((1, 1.0), (2, 0.1), (3, 0.0))


def test_curves_of_equal_residuals_are_both_seen():
    figure = Figure()
    paint_history(figure, {"hpi": FALLING, "lp": (), "auto": FALLING})
    below, above = figure.axes[0].lines
    assert (below.get_label(), above.get_label()) == ("hpi", "auto")
    assert below.get_linewidth() > above.get_linewidth()
    assert below.get_markersize() > above.get_markersize()


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
