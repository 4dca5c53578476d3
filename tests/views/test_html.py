"""What notebooks show: the right figures, well-formed pictures, nothing that a game's texts could smuggle in."""

import re
from dataclasses import dataclass
from typing import NamedTuple
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from mdplay import MDP, Game, Position, depth_limited, make, match, plan, search, solve, tournament
from mdplay.bandits.laboratory import compare, parse_bandit, run_bandit
from mdplay.bits import elements
from mdplay.games.twenty48.training import TilesTraining, TrainingSettings
from mdplay.learning.cell_utilities import PointUtilities
from mdplay.learning.curves import Examined, Point
from mdplay.learning.training import NetworkTraining, Settings
from mdplay.naming.registry import names
from mdplay.solving.solution import Solution
from mdplay.views.charts import Branch, Series, chart, heat_map, ticks, tree
from mdplay.views.html import TAGS, board, brief, number, sentence, table

TIC_TAC_TOE = make("tic-tac-toe")
FORK = Position.parse(TIC_TAC_TOE, "110220000")  # the one to move wins at once by 2
SVG = "{http://www.w3.org/2000/svg}"
HTML_TAGS = {"div", "p", "table", "tr", "th", "td"}


def pictures(html):
    """Return the pictures of a piece of HTML, each read by an XML parser; nothing in it may act."""
    root = ET.fromstring(f"<div>{html}</div>")
    svgs = list(root.iter(f"{SVG}svg"))
    drawn = {shape.tag for svg in svgs for shape in svg.iter()}
    assert {shape.tag for shape in root.iter()} <= HTML_TAGS | drawn
    assert drawn <= {f"{SVG}{tag}" for tag in (*TAGS, "style")}
    assert not [name for shape in root.iter() for name in shape.attrib if name.startswith("on") or "href" in name]
    return svgs


def words(html):
    """Return the words of a piece of HTML, which has to be well-formed."""
    root = ET.fromstring(f"<div>{html}</div>")
    return " ".join(text.strip() for text in root.itertext() if text.strip())


def cells(html):
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", html)]


# ---------------------------------------------------------------- positions
def test_a_solution_shows_every_move_with_its_value():
    html = solve(TIC_TAC_TOE).html(FORK)
    assert cells(html)[:2] == [["move", "value", "plies"], ["2", "1", "1"]]
    assert {row[0]: row[1] for row in cells(html)[1:]} == {"2": "1", "5": "0", "6": "-1", "7": "-1", "8": "-1"}
    (picture,) = pictures(html)
    values = [shape.text for shape in picture.iter() if shape.get("font-weight")]
    assert sorted(values) == ["-1", "-1", "-1", "0", "1"]
    assert "Evaluation for the player to move: wins in 1 ply; " in words(html)


def test_a_solution_shows_the_start():
    html = solve(TIC_TAC_TOE)._repr_html_()
    assert [row[:2] for row in cells(html)[1:]] == [[str(cell), "0"] for cell in range(9)]


def test_a_proof_is_not_made_for_a_glance():
    class Proving:
        method = "proof"
        on_demand = True

        def __len__(self):
            return 0

        def choices(self, state):
            raise AssertionError("this may take hours")

    html = Solution(TIC_TAC_TOE, Proving(), 0.0)._repr_html_()
    assert "html(position) proves" in words(html)
    assert len(pictures(html)) == 1 and not cells(html)


@pytest.mark.parametrize("name", names())
def test_the_board_of_every_game_takes_values_without_a_button(name):
    position = Position.start(make(name))
    while position.is_chance:
        position = position.after(elements(position.game.outcomes(position.state))[0])
    (picture,) = pictures(board(position, dict.fromkeys(position.actions, -0.25), position.actions[:1]))
    kinds = {kind for shape in picture.iter() for kind in shape.get("class", "").split()}
    assert "move" not in kinds
    assert float(picture.get("height")) <= 480


def test_moves_to_one_place_show_the_best_of_them():
    class Shared(type(TIC_TAC_TOE)):
        def svg(self, s):
            moves = "".join(f'<g class="move" data-action="{a}" data-at="50 50 30"/>' for a in (0, 1, 2))
            return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">{moves}</svg>'

    (picture,) = pictures(board(Position.start(Shared()), {0: -1.0, 1: 0.5, 2: None}))
    assert [shape.text for shape in picture.iter() if shape.get("font-weight")] == ["0.50"]


# ---------------------------------------------------------------- searches
def test_a_search_shows_visits_values_and_the_tree():
    found = search(TIC_TAC_TOE, "100020000", simulations=300)
    html = found._repr_html_()
    told = {row[0]: row[2] for row in cells(html)[1:]}
    assert told == {move.move: f"{move.visits:,}" for move in found.moves}
    assert cells(html)[1][0] == found.move
    drawn = pictures(html)[1]
    texts = [shape.text for shape in drawn.iter() if shape.get("class") == "node"]
    best = found.tree.ranked[0]
    assert texts[:2] == ["here", f"{best.text}  {brief(best.value)}  ({best.visits:,})"]
    assert any(shape.text == "… and 3 more" for shape in drawn.iter())  # 7 moves, 4 of them drawn


def test_a_search_without_a_tree_is_a_table():
    html = depth_limited(TIC_TAC_TOE, FORK.state)._repr_html_()
    assert not pictures(html)
    assert cells(html)[1][:2] == ["2", "1"]


def test_a_move_never_tried_has_no_value():
    html = search(TIC_TAC_TOE, FORK, simulations=1)._repr_html_()
    assert {row[1] for row in cells(html)[1:] if row[2] == "0"} == {""}


def test_the_tree_leaves_room_for_every_leaf():
    leaf = Branch("leaf", 0.5)
    (picture,) = pictures(tree(Branch("root", 1.0, (leaf, Branch("node", 0.5, (leaf, leaf), hidden=7))), 2))
    heights = [float(s.get("y")) for s in picture.iter() if s.text in ("leaf", "… and 7 more")]
    assert np.diff(heights) == pytest.approx([20, 20, 20])
    assert max(heights) < float(picture.get("height"))


# ---------------------------------------------------------------- games
def test_a_match_shows_its_tally_on_either_side():
    found = match(TIC_TAC_TOE, "random", "heuristic:depth=1", games=10)
    rows = cells(found._repr_html_())
    for row, tally in zip(rows[1:], (found.tally, *found.sides), strict=True):
        assert row[1:] == [str(tally.wins), str(tally.draws), str(tally.losses), f"{tally.score:.1%}"]
    assert f"{found.elo[0]:+.0f}" in words(found._repr_html_())


def test_a_tournament_shows_its_cross_table():
    found = tournament(TIC_TAC_TOE, ["random", "heuristic:depth=1", "perfect"], games=4)
    rows = cells(found._repr_html_())
    order = [rating.agent for rating in found.ratings]
    assert [row[0] for row in rows[1:]] == [f"{i}  {agent}" for i, agent in enumerate(order, start=1)]
    assert rows[1][3] == ""
    assert rows[1][4] == f"{100 * found.tallies[order[0], order[1]].score:.0f}"


# ---------------------------------------------------------------- plans, learning, bandits
def test_a_plan_shows_its_first_states_and_says_so():
    chain = [[[[min(s + 1, 29), 1.0, 1.0]]] for s in range(30)]
    html = plan(MDP.from_nested(chain, discount=0.5))._repr_html_()
    assert cells(html)[0] == ["state", "value", "lower", "upper", "action"]
    assert float(cells(html)[1][1]) == pytest.approx(2.0)  # 1 + 1/2 + 1/4 + ...
    assert len(cells(html)) == 13
    assert "The first 12 of 30 states are shown." in words(html)


def test_a_training_shows_its_curve():
    training = NetworkTraining.begin(TIC_TAC_TOE, Settings("0-1-2", 1.0))
    assert "no point of a curve yet" in words(training._repr_html_())
    scores = Examined("random", 100, 0.6, 0.5, 0.7), Examined("random", 100, 0.9, 0.8, 0.95)
    training.curve = [Point(1000 * (i + 1), 1.0, 0.0, 5.0, one) for i, one in enumerate(scores)]
    (picture,) = pictures(training._repr_html_())
    assert {"score against random", "episodes", "0.5", "0.9", "1000", "2000"} <= set(picture.itertext())
    assert [len(s.get("points").split()) for s in picture.iter() if s.get("points")] == [4, 2]


def test_a_training_of_2048_shows_mean_and_best():
    scores, tiles = np.arange(2000, dtype=np.int32), np.full(2000, 5, np.uint8)
    training = TilesTraining(TrainingSettings(), None, None, scores, tiles, np.ones(2000, np.int32), 1.0)
    (picture,) = pictures(training._repr_html_())
    assert {"mean", "best", "score", "episodes"} <= set(picture.itertext())
    assert picture.get("aria-label") == "score over episodes: mean, best"


def test_utilities_of_points_are_laid_out_as_on_the_board():
    wins, games = np.arange(9), np.full(9, 10)
    found = PointUtilities("always", 0, wins, games, 3, 3, 4, 1.0, None, TIC_TAC_TOE)
    (picture,) = pictures(found._repr_html_())
    values = [(float(s.get("y")), float(s.get("x")), s.text) for s in picture.iter() if s.get("class") == "value"]
    assert [text for *_, text in sorted(values)] == [f"{i / 10:.3f}" for i in range(9)]


def test_bandits_show_a_curve_for_every_rule():
    found = compare(parse_bandit("0.9,0.1"), ["ucb1", "thompson"], steps=20, runs=4)
    html = found._repr_html_()
    assert len(pictures(html)) == 2
    assert [row[0] for row in cells(html)[1:]] == ["ucb1", "thompson"]
    assert cells(html)[1][1].startswith(f"{found[0].regret[-1]:.2f}")
    alone = run_bandit(parse_bandit("0.9,0.1"), "ucb1", steps=20, runs=4)
    assert cells(alone._repr_html_())[1] == cells(html)[1]


# ---------------------------------------------------------------- strangers
EVIL = '<script>alert("x")</script>\x00<img src=x onerror=alert(1)>'


class Pile(NamedTuple):
    left: int


@dataclass(frozen=True)
class Evil(Game):
    """A pile of which one or two are taken, whose every text is an attack."""

    def initial(self) -> Pile:
        return Pile(3)

    def legal(self, s: Pile) -> int:
        return (1 << min(2, s.left)) - 1

    def step(self, s: Pile, a: int) -> Pile:
        return Pile(s.left - a - 1)

    def player(self, s: Pile) -> int:
        return (3 - s.left) % 2

    def result(self, s: Pile) -> int:
        return 1

    def move_text(self, s: Pile, a: int) -> str:
        return EVIL + str(a)

    def text(self, s: Pile) -> str:
        return EVIL

    def board(self, s: Pile) -> str:
        return EVIL

    def svg(self, s: Pile) -> str:
        return f'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)">{EVIL}</svg>'


@pytest.mark.parametrize("verb", [solve, lambda game: search(game, simulations=5), depth_limited])
def test_texts_of_a_strangers_game_stay_texts(verb):
    html = verb(Evil())._repr_html_()
    pictures(html)
    assert "&lt;script&gt;" in html
    assert "\x00" not in html


@pytest.mark.parametrize(
    "attributes, shape",
    [
        ('viewBox="0 0 0 0"', '<circle cx="50%" cy="1" r="2"/>'),
        ('viewBox="nonsense"', '<rect x="1" y="nan" width="9" height="9"/>'),
        ('viewBox="0 0 9"', '<circle cx="1" cy="1" r="0"/>'),
        ('viewBox="0 0 inf 9"', '<g data-action="0" data-at="1 2 three"/>'),
    ],
)
def test_a_picture_with_numbers_that_are_none_is_shown_without_values(attributes, shape):
    @dataclass(frozen=True)
    class Odd(Evil):
        def svg(self, s: Pile) -> str:
            head = f'<svg xmlns="http://www.w3.org/2000/svg" {attributes}>'
            return f'{head}<g data-action="1">{shape}</g><g data-action="{"9" * 5000}">{shape}</g></svg>'

    (picture,) = pictures(board(Position.start(Odd()), {0: 1.0, 1: 0.5}, [0]))
    assert not list(picture.iter("{http://www.w3.org/2000/svg}text"))


def test_names_of_agents_and_curves_stay_texts():
    assert words(sentence(EVIL)).startswith("<script>")
    (picture,) = pictures(chart([Series(EVIL, [1], [1.0]), Series("b", [2], [2.0])], EVIL, EVIL))
    assert any("<script>" in text for text in picture.itertext())
    pictures(tree(Branch(EVIL, 1.0), 1))
    assert cells(table([EVIL], [[EVIL]]))[0][0].startswith("&lt;script&gt;")


# ---------------------------------------------------------------- parts
def test_many_curves_and_points_are_cut_with_a_sentence():
    html = chart([Series(str(i), range(1000), range(1000)) for i in range(9)], "x", "y")
    assert "The first 8 of 9 curves are shown." in words(html)
    lines = [shape.get("points").split() for shape in pictures(html)[0].iter() if shape.get("points")]
    assert len(lines) == 8 and all(len(line) == 200 for line in lines)
    assert "The first 144 of 900 points" in words(heat_map([np.zeros((30, 30)).tolist()]))


def test_curves_that_are_flat_or_not_finite_are_drawn():
    (picture,) = pictures(chart([Series("a", [1, 2, 3], [5.0, float("inf"), 5.0])], "x", "y"))
    assert [len(shape.get("points").split()) for shape in picture.iter() if shape.get("points")] == [2]


@pytest.mark.parametrize("heights", [(1e17, 1e17), (-1.7e308, 1.7e308), (1.0, 1.0 + 2**-52), (0.0, 5e-324)])
def test_curves_at_the_edge_of_doubles_are_drawn(heights):
    (picture,) = pictures(chart([Series("a", [1, 2], heights)], "x", "y"))
    assert "nan" not in str(list(picture.itertext()))


@pytest.mark.parametrize("low, high", [(0, 10), (0.78, 0.93), (-3e-7, 2e-7), (0, 123456)])
def test_ticks_are_round_and_within(low, high):
    found = ticks(low, high)
    assert 2 <= len(found) <= 6
    assert low <= min(found) and max(found) <= high
    assert all(len(f"{tick:e}".split("e")[0].rstrip("0")) <= 4 for tick in found)


def test_figures_are_short():
    assert [number(x) for x in (None, 1.0, 12345.0, 0.5, 1e-5, float("inf"), 2e-17)] == [
        *("", "1", "12,345", "0.5000", "1e-05", "inf", "0"),
    ]
    assert [brief(x) for x in (None, -1.0, -0.001, 0.456, 1234.5)] == ["", "-1", "0.00", "0.46", "1,234"]


def test_pictures_take_the_colour_of_the_notebook():
    html = chart([Series("a", [1, 2], [1.0, 2.0])], "x", "y") + table(["a"], [["b"]])
    assert 'fill="currentColor"' in html
    assert not re.search(r"white[^-]|#fff|black|background", html)
