import re
import xml.etree.ElementTree as ET
from inspect import signature

import pytest

from mdplay import Position, UnknownName, make
from mdplay import svg as drawing
from mdplay.game import Game
from mdplay.naming import registry
from mdplay.rng import Random
from tests.helpers import ROOT

WITH_ROOM = {"2048", "anti-tic-tac-toe", "connect-four", "dots-and-boxes", "qubic", "tic-tac-toe"}
SVG = "{http://www.w3.org/2000/svg}"
GAMES = [*registry.names(), "tic-tac-toe:rows=2,cols=5", "dots-and-boxes:rows=3,cols=1", "2048:rows=2,cols=3"]


def random_positions(game: Game, games: int):
    for number in range(games):
        rng, position = Random(4, number), Position.start(game)
        while not position.is_over and len(position.past) < 60:
            yield position
            s = position.state
            position = position.play(game.draw(s, rng.word()) if position.is_chance else rng.pick(game.legal(s)))
        yield position


@pytest.mark.parametrize("name", GAMES)
def test_pictures_stay_on_the_canvas_and_offer_exactly_the_legal_moves(name):
    game = make(name)
    for position in random_positions(game, games=2):
        root = ET.fromstring(position.svg)
        width, height = (float(root.get(side)) for side in ("width", "height"))
        assert root.get("viewBox") == f"0 0 {width:g} {height:g}"
        for x, y in points(root):
            assert 0 <= x <= width
            assert 0 <= y <= height
        targets = [g for g in root.iter(f"{SVG}g") if g.get("class") == "move"]
        offered = {int(g.get("data-action")): g.find(f"{SVG}title").text.split()[-1] for g in targets}
        assert offered == dict(zip(position.actions, position.moves, strict=True))
        rooms = [room for g in targets if (room := g.get("data-at"))]  # without one a page takes the middle
        assert len(rooms) == len(targets) or name.partition(":")[0] not in WITH_ROOM
        for x, y, r in (map(float, room.split()) for room in rooms):
            assert r <= x <= width - r
            assert r <= y <= height - r


@pytest.mark.parametrize("name", GAMES)
def test_the_last_move_is_marked_once_and_nothing_is_styled_by_an_attribute(name):
    for position in random_positions(make(name), games=1):
        root = ET.fromstring(position.svg)
        assert not any("style" in shape.attrib for shape in root.iter())
        marked = [g for g in root.iter(f"{SVG}g") if g.get("class") == "last"]
        knows = "past" in signature(type(position.game).svg).parameters  # who is not told cannot mark it
        assert len(marked) == (bool(position.past) and knows)


def test_a_ghost_is_the_piece_as_it_will_lie_there():
    before = Position.parse(make("connect-four"), "moves:4,4,3")
    target = next(g for g in ET.fromstring(before.svg).iter(f"{SVG}g") if g.get("data-action") == "3")
    ghost = next(g for g in target if g.get("class") == "ghost")
    after = ET.fromstring(before.play("4").svg)
    disc = next(g for g in after.iter(f"{SVG}g") if g.get("class") == "last")
    assert [shape.attrib for shape in ghost] == [shape.attrib for shape in disc]
    assert target.get("data-at") == " ".join(ghost[0].get(name) for name in ("cx", "cy", "r"))


def test_colour_is_not_all_that_tells_the_players_apart():
    assert "groove" in drawing.stone(5, 5, 4, "second")
    assert "groove" not in drawing.stone(5, 5, 4, "first")


SHAPES = {
    "circle": lambda kind, **more: drawing.circle(5, 5, 4, kind, **more),
    "ellipse": lambda kind, **more: drawing.ellipse(5, 5, 4, 3, kind, **more),
    "rect": lambda kind, **more: drawing.rect(0, 0, 4, 4, kind, **more),
    "line": lambda kind, **more: drawing.line(0, 0, 4, 4, kind, **more),
    "polygon": lambda kind, **more: drawing.polygon([(0, 0), (4, 0), (0, 4)], kind, **more),
    "text": lambda kind, **more: drawing.label(5, 5, "a", kind, 10, **more),
}


@pytest.mark.parametrize("name, shape", SHAPES.items(), ids=SHAPES)
def test_a_kind_that_nobody_colours_is_refused(name, shape):
    for kind, told in (("blak", ", it would be black"), ("first thinn", ""), ("", ", it would be black")):
        known = f"no kind of shape '[a-z]*'{told}: choose from panel, hole, .*, or give it a fill$"
        with pytest.raises(UnknownName, match=known):
            shape(kind)
    assert shape("first thin").startswith(f'<{name} class="first thin"')
    assert 'fill="#123456"' in shape("mine", fill="#123456")
    assert 'stroke="#123456"' in shape("mine", stroke="#123456")


def test_the_kinds_that_the_page_names_are_those_of_the_style_sheet():
    table = (ROOT / "docs" / "server.md").read_text().partition("| kind | meaning |")[2].partition("\n\n")[0]
    assert set(re.findall(r"`([a-z]+)`", table)) == set(drawing.NAMED) <= drawing.KINDS


def points(root: ET.Element):
    """The outermost points of circles, ellipses, rectangles and lines, and where words stand."""
    for shape in root.iter():
        number = {key: float(value) for key, value in shape.items() if key in NUMBERS}
        if "cx" in number:
            rx, ry = number.get("r", number.get("rx")), number.get("r", number.get("ry"))
            yield number["cx"] - rx, number["cy"] - ry
            yield number["cx"] + rx, number["cy"] + ry
        elif shape.tag == f"{SVG}rect":
            yield number["x"], number["y"]
            yield number["x"] + number["width"], number["y"] + number["height"]
        elif "x1" in number:
            yield number["x1"], number["y1"]
            yield number["x2"], number["y2"]
        elif shape.tag == f"{SVG}text":
            yield number["x"], number["y"]


NUMBERS = {"cx", "cy", "r", "rx", "ry", "x", "y", "width", "height", "x1", "y1", "x2", "y2"}


def kinds(svg: str) -> list[str]:
    return [shape.get("class", "") for shape in ET.fromstring(svg).iter()]


def test_what_has_won_is_marked():
    assert kinds(Position.parse(make("connect-four"), "4343434").svg).count("ring") == 4
    assert kinds(Position.parse(make("qubic"), "000,001,100,101,200,201,300").svg).count("ring") == 4
    assert kinds(Position.parse(make("tic-tac-toe"), "111220000").svg).count("first thick") == 6  # three crosses
    assert "ring" not in kinds(Position.parse(make("connect-four"), "434343").svg)


def test_boxes_wear_the_colour_of_their_owner_where_the_past_is_known():
    game = make("dots-and-boxes")
    played = kinds(Position.parse(game, "moves:0,2,6,8,1,3,4,5,9,11,7").svg)
    assert (played.count("second tint"), played.count("first tint"), played.count("neutral tint")) == (1, 2, 0)
    given = kinds(Position.parse(game, "325").svg)
    assert (given.count("second tint"), given.count("first tint"), given.count("neutral tint")) == (0, 0, 1)


def test_every_kind_has_a_style():
    used = {
        kind for name in GAMES for p in random_positions(make(name), 1) for kind in " ".join(kinds(p.svg)).split()
    }
    known = {word for selector in drawing.LIGHT for word in selector.replace(",", " ").split()}
    coloured = {"tile", "sticker"}  # these bring a fill of their own: a tile by its number, a sticker by its side
    unknown = {kind for kind in used - {"mdplay"} - coloured if not any(f".{kind}" in word for word in known)}
    assert unknown == set()


def test_words_are_escaped():
    svg = drawing.typed('a < b & c\n"d"')
    assert [text.text for text in ET.fromstring(svg).iter(f"{SVG}text")] == ["a < b & c", '"d"']
