from mdplay import make
from mdplay.games.twenty48.files import Runs

RUN = "2@0 2@1\nL 4@5\nD 2@15\n\n"


def test_a_run_by_hand():
    """Two 2s side by side make a 4 on the left, which earns 4 points; then chance puts a 4, as the text says."""
    game = make("2048")
    (record,) = Runs(game).load(RUN)
    end = record.replay()
    assert end.earned == 4 and len(record.events) == 6
    assert Runs(game).dump(record) == RUN
    assert [r.events for r in Runs(game).load(RUN.lower() + "\n" + RUN)] == [record.events] * 2
