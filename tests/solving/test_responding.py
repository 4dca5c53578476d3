import pytest

from mdplay import FormatError, Position, Responses, make, respond
from tests.solving.loopy_graphs import CIRCLE, Graph, Losing, Winning

GAME = make("anti-tic-tac-toe")


def test_the_verb_reports_each_step_and_writes_each_policy(tmp_path):
    heard = []
    found = respond(GAME, draw=0.5, file=tmp_path, report=lambda number, step: heard.append((number, step)))
    assert isinstance(found, Responses) and tuple(step for _, step in heard) == found.steps
    assert len(list(tmp_path.iterdir())) == len(found.steps) > 3
    again = respond(GAME, draw=0.5, start=str(tmp_path / "step-00-player-1.txt"))
    assert again.document() == found.document()
    assert found.result == 0.0 and found.moves  # perfect play of both is a draw


def test_the_result_counts_the_points_on_the_way():
    game = make("dots-and-boxes:rows=1,cols=1")  # whoever draws the fourth line gets the box
    found = respond(game)
    assert found.result == found.last[0].value == -found.last[1].value == -1.0
    assert found.result == Position.start(game).play_all(found.moves).total


@pytest.mark.parametrize("kind, value", [(Graph, 0.5), (Winning, 1.0), (Losing, 0.0)])
def test_endless_play_is_worth_what_the_game_says(kind, value):
    found = respond(kind(*CIRCLE), draw=0.5)
    assert [step.value for step in found.last] == [value, 1.0 - value]
    assert found.result == (found.graph.game.endless if found.endless else -1)


def test_a_game_for_one_is_refused():
    with pytest.raises(FormatError, match="two players"):
        respond(make("2048:rows=2,cols=2"))
