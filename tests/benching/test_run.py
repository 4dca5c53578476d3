import json

import pytest

from mdplay.benching import run
from mdplay.benching.measuring import OURS, Group
from mdplay.benching.run import GROUPS, bench
from mdplay.errors import UnknownName


def tiny(quick):
    contenders = {OURS: lambda size: lambda: size, "other": lambda size: lambda: size + 1}
    return Group("tiny", "count", "things", [1, 10], contenders, missing=["some-peer"])


@pytest.fixture
def one_group(monkeypatch):
    monkeypatch.setattr(run, "GROUPS", {"tiny": tiny})
    monkeypatch.setattr(run, "WARM", 0.0)


def test_the_groups():
    assert list(GROUPS) == ["mdp", "mcts", "connect-four", "2048", "exact", "bandits", "learning", "environments"]
    assert all(make(True).name == name and make(False).sizes[0] > 0 for name, make in GROUPS.items())


def test_a_table_a_document_and_a_plot(one_group, tmp_path):
    heard = []
    found = bench(quick=True, rounds=2, report=heard.append)
    assert found.text() == heard[0]
    lines = found.text().splitlines()
    assert lines[:2] == ["tiny: count", "  some-peer is not installed: pip install 'mdplay[bench]'"]
    assert len(lines) == 6 and lines[3].endswith("OTHER ANSWERS")
    found.save(tmp_path / "found.json")
    told = json.loads((tmp_path / "found.json").read_text())
    assert told["rounds"] == 2 and told["versions"]["numpy"]
    assert [m["size"] for m in told["groups"]["tiny"]["measured"]] == [1, 1, 10, 10]
    found.plot(tmp_path / "cost.png")
    assert (tmp_path / "cost.png").read_bytes().startswith(b"\x89PNG")


def test_the_command(one_group, mdplay, tmp_path):
    answer = mdplay("bench", "tiny", "--quick", "--rounds", 1, "--out", tmp_path / "found.json")
    assert answer.code == 0 and "other" in answer.out
    assert json.loads((tmp_path / "found.json").read_text())["groups"]["tiny"]["missing"] == ["some-peer"]
    assert json.loads(mdplay("bench", "tiny", "--quick", "--json").out)["groups"]["tiny"]["unit"] == "things"


def test_a_group_that_is_none(mdplay):
    with pytest.raises(UnknownName, match="chess"):
        bench(["chess"])
    assert mdplay("bench", "chess").code == 2
