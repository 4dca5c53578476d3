"""Tests of ``mdplay.distributed.states``.

Here are tested besides: ``mdplay.distributed.state_shard``, ``mdplay.distributed.state_shard``.
"""

import pytest

from mdplay import FormatError, LimitError, make
from mdplay.distributed import state_shard as shard
from mdplay.distributed import states as driver
from mdplay.distributed.state_shard import digest_of
from mdplay.distributed.states import Count, count_states, enumerated
from mdplay.runtime.run import Run
from mdplay.states.enumeration import Enumeration
from tests.distributed.state_shards import Mortal

pytestmark = pytest.mark.usefixtures("needs_compiler")
FOUR = "connect-four:rows=4,cols=4"  # 161,029 positions, says John Tromp's table


def in_one_process(game, fold=False):
    states = Enumeration(game, fold=fold).finish()
    return Count(tuple(states.levels()), len(states.target), digest_of(states.words, states.keys) % (1 << 64))


@pytest.mark.parametrize(
    ("name", "fold", "shards"), [("tic-tac-toe", False, 1), ("mu-torere", False, 3), (FOUR, True, 2)]
)
def test_shards_find_what_one_process_finds(name, fold, shards, monkeypatch):
    monkeypatch.setattr(shard, "PARCELS_ROOM", 1)  # so small that levels take several rounds
    game = make(name)
    assert count_states(game, fold=fold, threads=shards) == in_one_process(game, fold)


def test_the_positions_of_connect_four_are_as_many_as_published():
    assert len(count_states(make(FOUR), threads=2)) == 161_029


def test_workers_that_die_change_nothing(tmp_path):
    game = make(FOUR)
    with enumerated(game, run=Run(executor="processes", threads=2, file=tmp_path), make=Mortal) as found:
        assert found.count() == in_one_process(game)
    assert (tmp_path / "1.before").exists() and (tmp_path / "1.after").exists()


def test_an_enumeration_that_was_cut_off_goes_on_and_ends_in_the_same_files(tmp_path):
    game, parts = make("tic-tac-toe"), [tmp_path / "whole", tmp_path / "cut"]
    rounds = []

    def show(known):
        rounds.append(known)
        if len(rounds) == 4:
            raise KeyboardInterrupt

    whole = count_states(game, threads=3, file=parts[0])
    with pytest.raises(KeyboardInterrupt):
        count_states(game, threads=3, file=parts[1], progress=show)
    with (parts[1] / "2.keys").open("ab") as file:  # as if killed while it wrote a round
        file.write(b"half a k")
    assert count_states(game, threads=3, file=parts[1], progress=rounds.append) == whole
    assert len(rounds) == len(whole.levels)
    for name in ("0.keys", "1.keys", "2.keys", "2.rounds"):
        assert (parts[0] / name).read_bytes() == (parts[1] / name).read_bytes()


def test_fields_that_turn_out_wider_begin_anew(monkeypatch):
    monkeypatch.setattr(driver, "states_seen", lambda game, start: [start])
    game = make("tic-tac-toe")
    assert count_states(game, threads=2).levels == in_one_process(game).levels


def test_a_folder_of_other_rules_is_refused(tmp_path):
    count_states(make("tic-tac-toe"), threads=1, file=tmp_path)
    with pytest.raises(FormatError, match="another enumeration"):
        count_states(make("anti-tic-tac-toe"), threads=1, file=tmp_path)
    (tmp_path / "0.keys").write_bytes(b"")
    with pytest.raises(FormatError, match="truncated"):
        count_states(make("tic-tac-toe"), threads=1, file=tmp_path)


@pytest.mark.parametrize("name", ["1.keys", "1.rounds"])
@pytest.mark.parametrize("place", [0.0, 0.5, 0.999])
def test_a_damaged_shard_is_refused_by_its_name(name, place, tmp_path):
    count_states(make("tic-tac-toe"), threads=2, file=tmp_path)
    content = bytearray((tmp_path / name).read_bytes())
    content[int(place * len(content))] ^= 4
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FormatError, match=r"1\.keys or 1\.rounds is damaged or truncated; remove its folder"):
        count_states(make("tic-tac-toe"), threads=2, file=tmp_path)


def test_too_little_memory_is_a_sentence():
    with pytest.raises(LimitError, match="needs more memory than 100 kB"):
        count_states(make(FOUR), threads=1, memory=100_000)
