"""Tests of ``mdplay.distributed.layers``.

Here is tested besides: ``mdplay.distributed.layers``.
"""

import pytest

from mdplay import FormatError, GameError, LimitError, PositionError, UnknownName, make, solve
from mdplay.distributed import layers as driver
from mdplay.distributed import state_shard as shard
from mdplay.runtime.executors import using
from tests.distributed.layer_shards import Mortal

pytestmark = pytest.mark.usefixtures("needs_compiler")
FOUR, BOXES = "connect-four:rows=4,cols=4", "dots-and-boxes:rows=2,cols=2"


@pytest.mark.parametrize("name", ["tic-tac-toe", FOUR, BOXES])
@pytest.mark.parametrize("shards", [1, 3])
def test_values_are_those_of_a_table_in_one_process(name, shards, monkeypatch):
    monkeypatch.setattr(shard, "PARCELS_ROOM", 1)  # so small that layers take several rounds
    game = make(name)
    found, whole = solve(game, executor="serial", threads=shards), solve(game, method="hashed")
    assert found.method == "layered" and found.states == whole.states
    assert len(found.line()) == whole.distance()
    for number, state in enumerate(found.table.states()):
        if number % 37 == 0:
            assert found.value(state) == whole.value(state)
            assert found.distance(state) == whole.distance(state)
            assert found.choices(state) == whole.choices(state)


def test_connect_four_on_a_small_board_is_a_draw_and_boxes_are_won():
    # John Tromp's table of small boards: 5 columns and 4 rows are a draw.
    assert solve(make("connect-four:rows=4,cols=5"), executor="serial", threads=2).value() == 0
    assert solve(make(BOXES), executor="serial", threads=2).value() == solve(make(BOXES)).value()


def test_the_digest_does_not_depend_on_shards_workers_and_deaths(tmp_path, monkeypatch):
    game = make(FOUR)
    digest = solve(game, executor="serial", threads=1).table.digest
    assert solve(game, executor="serial", threads=4).table.digest == digest
    monkeypatch.setattr(driver, "Layered", Mortal)
    with using("processes", 2) as two:
        assert solve(game, executor=two, threads=2, file=tmp_path / "mortal").table.digest == digest
    assert len(list((tmp_path / "mortal").glob("1.died-*"))) == 3


def test_what_was_cut_off_goes_on(tmp_path):
    game, seen = make(FOUR), list[int]()

    def show(known):
        seen.append(known)
        if len(seen) > 1 and known < seen[-2] and seen[-2] > 1000:
            raise KeyboardInterrupt  # the values have begun

    with pytest.raises(KeyboardInterrupt):
        solve(game, executor="serial", threads=2, file=tmp_path, progress=show)
    again = solve(game, executor="serial", threads=2, file=tmp_path)
    assert again.table.digest == solve(game, executor="serial", threads=3).table.digest


def test_other_games_are_refused_in_a_sentence():
    with pytest.raises(GameError, match="Pig has chance"):
        solve(make("pig"), executor="serial")
    with pytest.raises(LimitError, match="after different numbers of moves"):
        solve(make("mu-torere"), executor="serial")
    with pytest.raises(GameError, match="perfect opponent"):
        solve(make(FOUR), opponent="uniform", executor="serial")
    with pytest.raises(UnknownName, match="by the method layered"):
        solve(make(FOUR), method="hashed", executor="serial")


def test_a_state_out_of_reach_is_a_sentence():
    game = make("tic-tac-toe")
    found = solve(game, game.step(game.initial(), 4), executor="serial")
    with pytest.raises(PositionError, match="does not reach"):
        found.value(game.initial())


@pytest.mark.parametrize("name", ["1.values", "1.sums", "1.keys", "1.rounds"])
def test_a_damaged_shard_is_refused_by_its_name(name, tmp_path):
    game = make("tic-tac-toe")
    solve(game, executor="serial", threads=2, file=tmp_path)
    content = bytearray((tmp_path / name).read_bytes())
    content[len(content) // 2] ^= 4
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FormatError, match=r"1\.(values or 1\.sums|keys or 1\.rounds) is damaged"):
        solve(game, executor="serial", threads=2, file=tmp_path)


@pytest.mark.parametrize("name", ["1.values", "1.sums", "1.rounds"])
def test_what_a_truncated_file_of_a_shard_lacks_is_computed_again(name, tmp_path):
    game = make("tic-tac-toe")
    whole = solve(game, executor="serial", threads=2, file=tmp_path)
    digest = whole.table.digest
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:-20])
    assert solve(game, executor="serial", threads=2, file=tmp_path).table.digest == digest
