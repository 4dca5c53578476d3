import json
import runpy

import pytest

from mdplay.errors import LimitError, UnknownName
from mdplay.lab.benchmarks import run
from mdplay.lab.benchmarks.measuring import OURS, Group
from mdplay.lab.benchmarks.run import GROUPS, bench, ratio_text, read
from tests.helpers import ROOT


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


def test_a_document_is_read_back(one_group, tmp_path):
    found = bench(quick=True, rounds=2)
    again = read(json.loads(json.dumps(found.document())))
    assert (again.text(), again.rounds) == (found.text(), 2)
    assert again.document()["groups"] == found.document()["groups"]
    again.plot(tmp_path / "cost.svg")
    assert (tmp_path / "cost.svg").read_text().count("<svg") == 1
    with pytest.raises(LimitError, match="not measured again"):
        again.groups[0].contenders[OURS](1)


def test_the_page_shows_every_group_as_it_was_measured():
    tool = runpy.run_path(str(ROOT / "tools" / "benchmarks.py"))
    assert (ROOT / "docs" / "benchmarks.md").read_text() == tool["page"](), "run python tools/benchmarks.py"
    documents = tool["documents"]()
    assert {path.stem for path in (ROOT / "benchmarks" / "results").glob("*.json")} == set(documents)
    assert sorted(name for told in documents.values() for name in told["groups"]) == sorted(GROUPS)
    for name, told in documents.items():
        assert (ROOT / "docs" / "benchmarks" / f"{name}.png").is_file()
        assert all(one["agrees"] for group in told["groups"].values() for one in group["measured"])


def test_a_small_ratio_keeps_its_digits():
    assert [ratio_text(one) for one in (0.0011, 0.4, 2.654, 412.3)] == ["0.0011", "0.40", "2.65", "412"]


def test_what_hardly_differs_does_not_look_as_if_it_did():
    """An axis spans a factor of ten at least."""
    from matplotlib.figure import Figure

    group = run.Group("flat", "nothing changes", "things", [1, 10], {OURS: lambda size: lambda: size})
    panel = Figure().subplots()
    measured = [
        run.Measured("flat", size, OURS, 1.0, 1.0, 1.0, 1.0, True, 5_000_000 + size) for size in group.sizes
    ]
    run.draw_costs(panel, group, measured, "megabytes", lambda found: found.memory / 1e6)
    low, high = panel.get_ylim()
    assert high / low == pytest.approx(10) and low < 5 < high
