import pytest

from mdplay.errors import MdplayError
from mdplay.views.charts import data_url, png, save_plot


def paint(figure):
    axes = figure.add_subplot(title="a line")
    axes.plot([1, 2, 3])


def test_the_ending_tells_the_format(tmp_path):
    for ending, start in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        save_plot(paint, tmp_path / f"line.{ending}")
        assert (tmp_path / f"line.{ending}").read_bytes().startswith(start)
    with pytest.raises(MdplayError, match="must end in .png, .svg or .pdf"):
        save_plot(paint, tmp_path / "line.xyz")


def test_light_and_dark_differ_and_repeat():
    assert png(paint) == png(paint) != png(paint, dark=True)
    assert data_url(png(paint)).startswith("data:image/png;base64,")
