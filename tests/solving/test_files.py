"""Solutions in files: the same answers, the same bytes after kills, a sentence for any other file."""

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from mdplay import FormatError, Solution, make, solve
from mdplay.naming.registry import register_extras
from mdplay.naming.specs import load_module
from mdplay.solving import files
from mdplay.solving.files import load_table, save_table
from mdplay.solving.values import Lacking, Solver, StateValue, Table
from tests.helpers import NIM, write
from tests.nim import Nim, State
from tests.solving.loopy_graphs import CIRCLE, Losing

SOLVE = """
import sys
from mdplay import make, solve
solve(make("connect-four:rows=4,cols=4"), file=sys.argv[1], save_every=0.02)
"""


@pytest.mark.parametrize("name", ["tic-tac-toe", "dots-and-boxes:rows=1,cols=1", "dots-and-boxes:rows=2,cols=2"])
def test_a_loaded_solution_answers_the_same(name, tmp_path, needs_compiler):
    game, path = make(name), tmp_path / "solution"
    solution = solve(game)
    solution.save(path)
    loaded = Solution.load(path, game)
    assert loaded.states == solution.states
    s = game.initial()
    while choices := solution.choices(s):
        assert loaded.choices(s) == choices
        s = game.step(s, solution.action(s))


def test_values_that_are_fractions_come_back_to_the_last_bit(tmp_path, needs_compiler):
    game, path = make("2048:rows=2,cols=2"), tmp_path / "solution"
    solution = solve(game, file=path)
    assert Solution.load(path, game).value() == solution.value()


def test_states_that_a_file_lacks_are_solved_when_asked_for(tmp_path):
    game, path = Nim(), tmp_path / "solution"
    solve(game, game.initial()._replace(pile=5), file=path)
    assert Solution.load(path, game).value(game.initial()._replace(pile=21)) == 1


def test_other_files_are_refused_with_a_sentence(tmp_path):
    path = tmp_path / "solution"
    solve(Nim(), file=path)
    content = path.read_bytes()
    with pytest.raises(FormatError, match=r"is a solution of Nim\(pile=21\), not of Nim\(pile=9\)"):
        Solution.load(path, Nim(9))
    for broken in (
        content[:-1],
        content[:100],
        content + b"x",
        bytes([content[0] ^ 1]) + content[1:],
        b"",
        b"text",
    ):
        path.write_bytes(broken)
        with pytest.raises(FormatError):
            Solution.load(path, Nim())
    flipped = bytearray(content)
    flipped[-3] ^= 4
    path.write_bytes(flipped)
    with pytest.raises(FormatError, match="damaged"):
        solve(Nim(), file=path)


def test_an_unfinished_file_is_no_solution_but_goes_on(tmp_path):
    path, game = tmp_path / "solution", Nim()
    part = solve(game, game.initial()._replace(pile=5))
    save_table(path, part.table, game=game, complete=False)
    with pytest.raises(FormatError, match="unfinished"):
        Solution.load(path, game)
    resumed = solve(game, file=path)
    assert resumed.value() == 1
    assert resumed.notes == (f"unfinished solution of {part.states} states read from {path}",)
    assert load_table(path, game)[1]
    assert solve(game, file=path).notes == (f"solution read from {path}",)


def kill_at_random_moments(path, kills):
    """Solve in a process that is killed at random moments, then to the end."""
    rng = random.Random(kills)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for _ in range(2):  # the second time, with the kernels compiled, tells how long it takes
        path.with_name("whole").unlink(missing_ok=True)
        began = time.monotonic()
        subprocess.run([sys.executable, "-c", SOLVE, str(path.with_name("whole"))], env=environment, check=True)
        whole = time.monotonic() - began
    for _ in range(kills):
        process = subprocess.Popen([sys.executable, "-c", SOLVE, str(path)], env=environment)
        time.sleep(rng.uniform(0.5, 1.0) * whole)
        process.send_signal(signal.SIGKILL)
        process.wait()
        if path.exists():
            load_table(path, make("connect-four:rows=4,cols=4"))  # raises FormatError if it is not whole
    subprocess.run([sys.executable, "-c", SOLVE, str(path)], env=environment, check=True)
    assert path.read_bytes() == path.with_name("whole").read_bytes()
    assert {file.name for file in path.parent.iterdir()} == {path.name, "whole"}


def test_kills_corrupt_nothing_and_the_end_is_the_same(tmp_path: Path, needs_compiler):
    kill_at_random_moments(tmp_path / "solution", 3)


@pytest.mark.slow
def test_fifty_kills(tmp_path: Path, needs_compiler):
    kill_at_random_moments(tmp_path / "solution", 50)


def test_a_solution_of_edited_rules_is_refused(tmp_path, needs_compiler):
    (tmp_path / "other").mkdir()
    game = load_module(write(tmp_path, "nim.py", NIM)).Nim(5)
    solve(game, file=tmp_path / "solution")
    other = load_module(write(tmp_path / "other", "nim.py", NIM.replace("min(3,", "min(2,"))).Nim(5)
    assert repr(other) == repr(game)
    with pytest.raises(
        FormatError, match="the rules of Nim have changed since .*solution was made, .*; name a new file"
    ):
        Solution.load(tmp_path / "solution", other)
    with pytest.raises(FormatError, match="the rules of Nim have changed"):
        solve(other, file=tmp_path / "solution")


def test_distances_that_were_counted_otherwise_are_not_read(tmp_path, monkeypatch):
    """An earlier mdplay counted the plies of games whose infinite play has a value in another way."""
    game, path = Losing(*CIRCLE), tmp_path / "solution"
    monkeypatch.setattr(files, "VERSION", 1)
    solve(game, file=path)
    assert Solution.load(path, game).value() == solve(game).value()
    monkeypatch.undo()
    with pytest.raises(FormatError, match="counted plies differently; solve again into a new file"):
        solve(game, file=path)


# ---------------------------------------------------------------- a solver that mdplay does not know
@dataclass(frozen=True)
class Piles(Nim):
    """Nim with a solver of its own."""


class PileTable(Table):
    """The values of piles of 0, 1, 2, ... for the player to move."""

    method = kind = "piles"
    array_types: ClassVar = {"values": "int8"}

    def __init__(self, game, values):
        self.game, self.values = game, values

    def __len__(self):
        return len(self.values)

    def lookup(self, state, player):
        return StateValue(float(self.values[state.pile]) * (1 if player == state.player else -1), None)

    def to_arrays(self):
        return {"values": np.array(self.values, np.int8)}, {"largest": len(self) - 1}

    @classmethod
    def from_arrays(cls, game, arrays, facts):
        if facts["largest"] != len(arrays["values"]) - 1:
            raise FormatError("the largest pile is another one")
        return cls(game, arrays["values"].tolist())


class PileSolver(Solver):
    """Solve one pile after the other; stop when the ``stop_at``-th is to be solved."""

    name = "piles"
    stop_at: ClassVar = 1000
    solved: ClassVar = []

    def applies(self, question):
        return Lacking("a perfect opponent") if question.opponent != "perfect" else 0.1

    def fill(self, question):
        values = list(question.begun.values) if isinstance(question.begun, PileTable) else [-1]
        while len(values) <= question.state.pile:
            if len(values) == self.stop_at:
                question.checkpoint(PileTable(question.game, values))
                raise KeyboardInterrupt
            self.solved.append(len(values))
            values.append(1 if -1 in values[-3:] else -1)
        return PileTable(question.game, values)


register_extras(Piles, solvers={"piles": PileSolver})


def test_a_table_of_another_package_is_saved_and_resumed(tmp_path, monkeypatch):
    game, path = Piles(), tmp_path / "solution"
    monkeypatch.setattr(PileSolver, "solved", [])
    monkeypatch.setattr(PileSolver, "stop_at", 8)
    with pytest.raises(KeyboardInterrupt):
        solve(game, file=path)
    with pytest.raises(FormatError, match="unfinished"):
        Solution.load(path, game)
    monkeypatch.undo()
    monkeypatch.setattr(PileSolver, "solved", [])
    resumed = solve(game, file=path)
    assert resumed.method == "piles" and PileSolver.solved == list(range(8, 22))
    assert resumed.notes == (f"unfinished solution of 8 states read from {path}",)
    loaded = Solution.load(path, game)
    assert [loaded.value(State(pile, 0)) for pile in range(22)] == [
        -1 if pile % 4 == 0 else 1 for pile in range(22)
    ]
    assert solve(game, file=path).notes == (f"solution read from {path}",)


def test_arrays_of_another_table_are_checked(tmp_path, monkeypatch):
    game, path = Piles(), tmp_path / "solution"
    solve(game, file=path)
    monkeypatch.setattr(PileTable, "array_types", {"values": "int64"})
    with pytest.raises(FormatError, match="its array 'values' is of type int8, not int64"):
        Solution.load(path, game)
    monkeypatch.undo()
    monkeypatch.delitem(Table.readers, "piles")
    with pytest.raises(FormatError, match="no installed solver reads tables of kind piles"):
        Solution.load(path, game)


def test_a_table_that_has_no_file_says_so(tmp_path):
    solution = solve(Nim(5), opponent="uniform")
    with pytest.raises(FormatError, match="a solution by best-response cannot be saved"):
        solution.save(tmp_path / "solution")
