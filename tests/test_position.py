import doctest
from dataclasses import dataclass
from typing import NamedTuple

import pytest

import mdplay.position
from mdplay import Game, IllegalMove, Position, PositionError, make


class Pile(NamedTuple):
    pile: int
    player: int


@dataclass(frozen=True)
class Nim(Game[Pile]):
    """The game of the contract's docstring: whoever cannot take 1 to 3 has lost."""

    def initial(self) -> Pile:
        return Pile(5, 0)

    def legal(self, s: Pile) -> int:
        return (1 << min(3, s.pile)) - 1

    def step(self, s: Pile, action: int) -> Pile:
        return Pile(s.pile - action - 1, 1 - s.player)

    def result(self, s: Pile) -> int:
        return 2 * s.player - 1


def test_doctest():
    assert doctest.testmod(mdplay.position).failed == 0


def test_a_users_game_is_played_and_drawn():
    p = Position.start(Nim())
    assert (p.player, p.actions, p.moves, p.result) == (0, [0, 1, 2], ["0", "1", "2"], None)
    p = p.play("2").play(1)
    assert (p.is_over, p.player, p.moves, p.result) == (True, None, [], -1)
    assert str(p) == "pile = 0\nplayer = 0"
    assert "pile = 0" in p._repr_svg_()


def test_undo_goes_back_to_the_last_move():
    start = Position.start(make("2048")).play("2@0").play("2@1")
    after = start.play("left").play("4@15")
    assert after.points == (4,)
    assert after.undo() == start
    assert after.undo().points == (0,)
    with pytest.raises(IllegalMove, match="no move to take back"):
        start.undo()


def test_points_and_owners_come_from_the_past():
    p = Position.parse(make("dots-and-boxes"), "moves:0,2,6,8,1,3,4,5,9,11,7")
    assert p.points == (2, 1)
    assert p.text == "3071"
    assert p.board.splitlines() == ["+----+----+", "|  O |    10", "+----+----+", "|  X |  X |", "+----+----+"]
    assert p.player == 0  # the owner of the last boxes moves on
    end = p.play("10")
    assert (end.points, end.result) == ((3, 1), 2)


def test_equal_states_are_equal_whatever_their_past():
    game = make("dots-and-boxes")
    assert Position.parse(game, "moves:0,2,6,8") == Position.parse(game, "325/2")
    assert len({Position.parse(game, "moves:0,2"), Position.parse(game, "moves:2,0")}) == 1


def test_outcomes_of_chance():
    p = Position.start(make("2048:rows=1,cols=2"))
    assert p.outcomes == pytest.approx({"2@0": 0.45, "4@0": 0.05, "2@1": 0.45, "4@1": 0.05})
    assert (p.is_chance, p.player, p.moves) == (True, None, [])
    assert p.play("2@0") == p.play("*0") == p.play(0)
    with pytest.raises(IllegalMove, match="no outcome of chance"):
        p.play("left")


def test_illegal_moves_name_what_would_be_right():
    p = Position.start(make("connect-four"))
    with pytest.raises(IllegalMove, match=r"'8' is not a legal move .* choose from 1, 2, 3"):
        p.play("8")
    with pytest.raises(IllegalMove, match=r"action 7 is not legal .* choose from \[0, 1"):
        p.play(7)
    with pytest.raises(PositionError, match="move 2: 'x'"):
        Position.parse(p.game, "moves:1,x")
