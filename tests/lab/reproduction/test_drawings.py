import re
import xml.etree.ElementTree as ET

from mdplay.games.connect_four.rules import ConnectFour
from mdplay.games.tic_tac_toe.rules import TicTacToe
from mdplay.lab.reproduction.connect_four import TreeNode
from mdplay.lab.reproduction.steps import GOOD, PLAIN, resized, tree, valued


def test_values_stand_where_the_moves_are():
    game = ConnectFour(4, 4)
    svg = valued(game.svg(game.initial()), {0: "+1", 2: "-3"}, best=[0])
    ET.fromstring(svg)
    assert (svg.count(GOOD), svg.count(PLAIN)) == (1, 1)
    assert ">+1</text>" in svg and ">-3</text>" in svg


def test_a_move_without_a_text_stays_as_it_is():
    game = TicTacToe()
    assert valued(game.svg(game.initial()), {}) == game.svg(game.initial())


def test_a_picture_can_be_smaller():
    small = resized('<svg viewBox="0 0 80 40" width="80" height="40"><rect width="9"/></svg>', 0.5)
    assert small == '<svg viewBox="0 0 80 40" width="40" height="20"><rect width="9"/></svg>'


def test_a_tree_shows_every_node_inside_the_picture():
    leaves = [TreeNode(None, 4, visits=3, wins=1), TreeNode(None, 6, visits=12, wins=8)]
    root = TreeNode(None, visits=15, children=[TreeNode(None, 2, visits=7, wins=3, children=leaves), *leaves])
    svg = tree(root, best=6, names={2: "3", 4: "5", 6: "7"})
    ET.fromstring(svg)
    assert re.findall(r">(\d+(?:/\d+)?)</text>", svg)[5:] == ["15", "3/7", "1/3", "8/12", "1/3", "8/12"]
    assert svg.count(GOOD) == 1, "only the root's child is played"
    width = float(re.search(r'width="([\d.]+)"', svg)[1])
    boxes = re.findall(r'<rect class="value" x="([\d.-]+)" y="[\d.-]+" width="([\d.]+)"', svg)
    assert all(float(x) >= 0 and float(x) + float(w) <= width for x, w in boxes) and len(boxes) == 6
