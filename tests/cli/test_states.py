import json

import pytest

pytestmark = pytest.mark.usefixtures("needs_compiler")


def test_the_states_of_tic_tac_toe_are_counted(mdplay, tmp_path):
    words = ("states", "tic-tac-toe", "--count", "--threads", 2)
    found = json.loads(mdplay(*words, "--executor", "serial", "--folder", tmp_path, "--json").out)
    assert found["states"] == 5478 and found["levels"] == [1, 9, 72, 252, 756, 1260, 1520, 1140, 390, 78]
    again = mdplay(*words, "--folder", tmp_path)
    assert again.out == f"5,478 states, {found['edges']:,} edges, 10 levels, digest {found['digest']}\n"
    assert again.err == f"mdplay: states read from {tmp_path}\n"


def test_somebody_must_be_asked_for(mdplay):
    assert mdplay("states", "tic-tac-toe").code == 2
