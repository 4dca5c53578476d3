import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdplay import Position, make
from mdplay.naming import registry
from mdplay.views.html import ATTRIBUTES, SPACE, TAGS, safe_picture

SVG = "{http://www.w3.org/2000/svg}"


def names(svg):
    return {shape.tag.removeprefix(SVG) for shape in ET.fromstring(svg).iter()}


@pytest.mark.parametrize("name", registry.names())
def test_pictures_of_our_games_lose_their_style_sheet_and_nothing_else(name):
    position = Position.start(make(name))
    before, after = ET.fromstring(position.svg), ET.fromstring(safe_picture(position.svg, position.board))
    kept = [shape for shape in before.iter() if shape.tag != f"{SVG}style"]
    assert [(shape.tag, shape.attrib, shape.text) for shape in kept] == [
        (shape.tag, shape.attrib, shape.text) for shape in after.iter()
    ]


@pytest.mark.parametrize(
    "inside",
    [
        "<script>alert(1)</script>",
        '<g onload="alert(1)"/>',
        '<a href="javascript:alert(1)"><text>x</text></a>',
        '<use href="#x"/>',
        '<image href="http://x.example/a.png"/>',
        '<foreignObject><b xmlns="http://www.w3.org/1999/xhtml">b</b></foreignObject>',
        '<rect style="fill: red"/>',
        '<rect fill="url(http://x.example/a)"/>',
        "<rect fill=\"URL( 'http://x.example/a' )\"/>",
        "<style>* { color: red }</style>",
        '<animate attributeName="href" to="javascript:alert(1)"/>',
        '<x:script xmlns:x="http://www.w3.org/1999/xhtml">alert(1)</x:script>',
        '<set xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="#a"/>',
    ],
)
def test_what_acts_is_left_out(inside):
    svg = safe_picture(f'<svg xmlns="http://www.w3.org/2000/svg">{inside}<circle r="1"/></svg>', "board")
    assert "circle" in names(svg)
    for word in ("script", "href", "style", "http://x.example", "onload", "foreignObject", "animate", "alert"):
        assert word not in svg.replace('xmlns="http://www.w3.org/2000/svg"', "")


@pytest.mark.parametrize(
    "svg",
    [
        "",
        "no picture",
        "<html/>",
        "<svg>",
        '<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg">&a;</svg>',
        "<svg>" + "<g>" * 100_000,
    ],
)
def test_what_is_no_picture_becomes_one_of_its_characters(svg):
    found = safe_picture(svg, "a < b")
    assert [text.text for text in ET.fromstring(found).iter(f"{SVG}text")] == ["a < b"]


@given(st.text(max_size=200), st.text(max_size=50))
def test_whatever_comes_the_picture_has_only_what_is_allowed(inside, board):
    for svg in (inside, f'<svg xmlns="http://www.w3.org/2000/svg"><text>{inside}</text></svg>'):
        for shape in ET.fromstring(safe_picture(svg, board)).iter():
            assert shape.tag.removeprefix(SVG) in TAGS
            assert set(shape.attrib) <= ATTRIBUTES | {SPACE}
