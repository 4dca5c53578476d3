import numpy as np
import pytest
from matplotlib.figure import Figure

from mdplay.errors import MdplayError
from mdplay.games.twenty48.player import COLUMNS, curve
from mdplay.learning.curves import draw, paint, write_csv

SCORES = np.array([100, 300, 200, 50], np.int32)
EXPONENTS = np.array([3, 5, 4, 3], np.uint8)


def test_a_point_sums_up_its_block():
    first, second = curve(SCORES, EXPONENTS, block=3)
    assert (first.episodes, first.mean, first.max) == (3, 200.0, 300)
    assert first.tiles == {2: 1.0, 4: 1.0, 8: 1.0, 16: pytest.approx(2 / 3), 32: pytest.approx(1 / 3)}
    assert (second.episodes, second.mean) == (4, 50.0)


def test_the_line_for_people():
    assert curve(SCORES, EXPONENTS)[0].line().split() == [
        "4",
        "mean",
        "162.5",
        "max",
        "300",
        "16",
        "50.0%",
        "32",
        "25.0%",
    ]


def test_the_csv(tmp_path):
    write_csv(tmp_path / "c.csv", curve(SCORES, EXPONENTS, block=2), COLUMNS)
    assert (tmp_path / "c.csv").read_text().splitlines() == [
        "episodes,mean,max,2,4,8,16,32",
        "2,200.000000,300,1,1,1,0.5,0.5",
        "4,125.000000,200,1,1,1,0.5,0",
    ]


def test_the_plot(tmp_path):
    draw(tmp_path / "c.png", curve(SCORES, EXPONENTS), "2048")
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(MdplayError, match="must end in .png"):
        draw(tmp_path / "c.doc", curve(SCORES, EXPONENTS))


@pytest.mark.parametrize(("block", "marked"), [(4, True), (1, False)])
def test_a_curve_of_one_point_is_seen(block, marked):
    figure = Figure()
    paint(figure, curve(SCORES, EXPONENTS, block=block))
    (line,) = figure.axes[0].lines
    assert (line.get_marker() == "o") == marked
