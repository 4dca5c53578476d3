import copy
import doctest
import math
import pickle
from dataclasses import FrozenInstanceError, dataclass
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mdplay.position
from mdplay import Game, GameError, IllegalMove, MdplayError, Position, PositionError, make, play
from tests import nim


@dataclass(frozen=True)
class Nim(nim.Nim):
    """The game of the contract's docstring: whoever cannot take 1 to 3 has lost."""

    pile: int = 5


def test_doctest():
    assert doctest.testmod(mdplay.position).failed == 0


def test_a_users_game_is_played_and_drawn():
    p = Position.start(Nim())
    assert (p.player, p.actions, p.moves, p.result) == (0, [0, 1, 2], ["0", "1", "2"], None)
    p = p.play("2").play(1)
    assert (p.is_over, p.player, p.moves, p.result) == (True, None, [], -1)
    assert str(p) == "pile = 0\nplayer = 0"
    assert "pile = 0" in p._repr_svg_()


@pytest.mark.parametrize(
    "given, sentence",
    [
        ((Nim(),), "None is not a state of Nim; write Position.start"),
        ((Nim(), 5), "5 is not a state of Nim; write Position.start"),
        ((Nim,), r"Nim is a class, not a game: write Nim\(\)"),
        (("nim",), "'nim' is not a game"),
    ],
    ids=str,
)
def test_a_position_without_a_state_is_one_sentence(given, sentence):
    with pytest.raises(MdplayError, match=sentence):
        Position(*given)


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


# ---------------------------------------------------------------- all that led there
def test_rewards_chance_and_result_are_counted():
    game = make("2048:rows=2,cols=2")
    p = Position.start(game, game.parse("1100")).after(0)  # 2 + 2 = 4 points, then chance puts a 4 on cell 3
    assert (p.total, p.is_chance, p.is_over) == (4, True, False)
    p = p.after(13)
    assert p.text == "2002"
    assert (p.events, p.played, p.past) == ((0, 13), ["left", "4@3"], ((game.parse("1100"), 0),))


def test_the_total_is_player_0s():
    p = Position.start(make("tic-tac-toe"))
    for action in (0, 3, 1, 4, 8, 5):  # player 1 completes the middle row
        assert (p.total, p.result) == (0, None)
        p = p.after(action)
    assert (p.is_over, p.total, p.result) == (True, -1, -1)


@given(st.sampled_from(["2048:rows=2,cols=3", "dots-and-boxes:rows=2,cols=2"]), st.integers(0, 10**6))
def test_a_position_remembers_every_earlier_one_and_none_of_them_changes(name, seed):
    game = make(name)
    record = play(game, *["random"] * (1 if name.startswith("2048") else 2), seed=seed)
    p, seen = Position.start(game), []
    for event in record.events:
        seen.append((p, p.state, p.total, p.num_events, p.events))
        p = p.after(event)
    assert (p.events, p.total, tuple(p.played)) == (record.events, record.result, record.moves)
    assert [(q, q.state, q.total, q.num_events, q.events) for q in p.positions[:-1]] == seen
    assert p.total == p.points[0] - sum(p.points[1:])
    assert p == record.replay() == Position.start(game).replay(record.events)
    with pytest.raises(FrozenInstanceError):
        p.state = game.initial()


def test_a_state_of_unknown_past_is_a_start():
    game = make("connect-four")
    p = Position.start(game, game.parse("44")).play("5")
    assert (p.played, p.positions[0].text, p.positions[0].before) == (["5"], game.text(game.parse("44")), None)
    assert p.undo() is p.positions[0]


class Count(NamedTuple):
    steps: int
    player: int


@dataclass(frozen=True)
class Counter(Game[Count]):
    """Every step earns something; it ends after so many steps."""

    length: int
    gain: float = 1.0
    last: float = 0.0
    players: int = 2

    def initial(self) -> Count:
        return Count(0, 0)

    def legal(self, s: Count) -> int:
        return int(s.steps < self.length)

    def step(self, s: Count, action: int) -> Count:
        return Count(s.steps + 1, (s.player + 1) % self.players)

    def reward(self, s: Count, action: int) -> float:
        return self.gain

    def result(self, s: Count) -> float:
        return self.last


def test_a_game_of_a_hundred_thousand_events_is_held_drawn_copied_and_let_go():
    p = Position.start(Counter(100_000, players=1)).replay([0] * 100_000)
    assert (p.is_over, p.total, p.num_events, len(p.events)) == (True, 100_000, 100_000, 100_000)
    assert p.board == "steps = 100000\nplayer = 0"
    assert hash(p) == hash(Position.start(p.game, p.state))
    for twin in (copy.deepcopy(p), pickle.loads(pickle.dumps(p))):
        assert (twin, twin.total, twin.num_events) == (p, p.total, p.num_events)
    del p, twin  # a chain of objects must not be freed by recursion


def test_each_event_costs_the_game_the_same_however_long_the_past():
    asked = []

    class Asked(Counter):
        def step(self, s: Count, action: int) -> Count:
            asked.append(s)
            return super().step(s, action)

    p = Position.start(Asked(1000)).replay([0] * 1000)
    assert (len(asked), p.events) == (1000, (0,) * 1000)


def test_a_game_without_end_is_told(monkeypatch):
    monkeypatch.setattr("mdplay.position.MAX_EVENTS", 10)
    with pytest.raises(GameError, match="the game did not end within 10 moves; does every game end?"):
        Position.start(Counter(100)).replay([0] * 100)
    assert Position.start(Counter(100)).replay([0] * 10).num_events == 10


@pytest.mark.parametrize("game", [Counter(2, gain=math.inf, players=1), Counter(2, last=math.nan)])
def test_a_total_that_is_no_finite_number_is_refused(game):
    p = Position.start(game).play(0).play(0)
    with pytest.raises(GameError, match=r"rewards and result come to (inf|nan) in 2,[01]"):
        _ = p.result
    with pytest.raises(GameError, match="rewards and result"):
        play(game, *["random"] * 2)


def test_a_player_is_0_or_1():
    p = Position.start(Counter(4, players=3)).play(0).play(0)
    with pytest.raises(GameError, match="player must be 0 or 1, not 2, in 2,2"):
        _ = p.player
    with pytest.raises(GameError, match="player must be 0 or 1, not 2, in 2,2"):
        _ = p.play(0).points


def test_a_draw_that_is_no_outcome_is_refused():
    class Loaded(type(make("2048"))):
        def draw(self, s, word):
            return 63

    with pytest.raises(GameError, match="draw gave outcome 63, which is not among the outcomes of 0{16}"):
        Position.start(Loaded()).draw(1)
    p = Position.start(make("2048"))
    assert p.after(p.draw(12345)).num_events == 1


# ---------------------------------------------------------------- pictures
def test_a_game_draws_with_or_without_its_past():
    class Old(Nim):
        def board(self, s):
            return f"pile {s.pile}"

        def svg(self, s):
            return f"<svg>{s.pile}</svg>"

    class Telling(Nim):
        def board(self, s, past=()):
            return " ".join(str(action + 1) for _, action in past) or "nothing yet"

    old, telling = Position.start(Old()).play(0).play(1), Position.start(Telling()).play(0).play(1)
    assert (old.board, old.svg) == ("pile 2", "<svg>2</svg>")
    assert (telling.board, telling.positions[0].board) == ("1 2", "nothing yet")
    assert "1 2" in "".join(ElementTree.fromstring(telling.svg).itertext())
    assert Telling().board(telling.state) == "nothing yet"


def test_owners_are_in_the_svg_too():
    game = make("dots-and-boxes:rows=1,cols=1")
    p = Position.parse(game, "moves:0,1,2,3")
    assert p.board.splitlines()[1] == "|  O |" and game.board(p.state).splitlines()[1] == "|  # |"
    assert p.svg == game.svg(p.state, p.past) != game.svg(p.state)


def test_a_state_of_a_class_that_was_defined_again_is_taken():
    """A notebook's cell that is run again makes a new class of states."""

    class State(NamedTuple):
        pile: int
        player: int

    assert type(mdplay.position.as_state(nim.Nim(), State(3, 1))) is nim.State

    class Other(NamedTuple):
        heap: int
        player: int

    with pytest.raises(PositionError, match="is not a state of Nim"):
        mdplay.position.as_state(nim.Nim(), Other(3, 1))
