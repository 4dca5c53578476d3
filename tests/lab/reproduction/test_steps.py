import json

import pytest

from mdplay.lab.reproduction.steps import Drawing, Figure, ResultTable, Step, both, run_step


def paint(figure):
    figure.add_subplot().plot([1, 3, 2])


def figure_of(calls):
    def make(show):
        calls.append(1)
        table = ResultTable(["n", "value"], [["1", "2.5"]])
        return Figure(
            "A title",
            "mdplay games",
            "Words.",
            {"answer": 42},
            table,
            both(paint, (3, 2)),
            [Drawing("<svg/>", "so")],
        )

    return make


def test_a_step_is_made_once(tmp_path):
    calls = []
    step = Step("answer", figure_of(calls), {"seed": 1})
    first = run_step(step, tmp_path, print)
    again = run_step(step, tmp_path, print)
    assert len(calls) == 1
    assert again == first
    run_step(Step("answer", step.make, {"seed": 2}), tmp_path, print)
    assert len(calls) == 2, "other settings, another figure"


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"stamp": {}}'])
def test_a_damaged_part_is_made_again(tmp_path, damage):
    calls = []
    step = Step("answer", figure_of(calls))
    run_step(step, tmp_path, print)
    (tmp_path / "answer.json").write_bytes(damage)
    run_step(step, tmp_path, print)
    assert len(calls) == 2
    assert json.loads((tmp_path / "answer.json").read_text())["figure"]["facts"] == {"answer": 42}
