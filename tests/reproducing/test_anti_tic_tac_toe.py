from matplotlib.figure import Figure

from mdplay.reproducing.anti_tic_tac_toe import paint_history

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
