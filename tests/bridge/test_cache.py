"""Compiled kernels in fresh processes: found again, and never stale."""

import pytest

from tests.helpers import NIM, python, write

pytestmark = pytest.mark.usefixtures("needs_compiler")

PROGRAM = """
import sys
from mdplay import make, perft
from mdplay.solving.perft import following
game = make(sys.argv[1])
paths = [ply.paths for ply in perft(game, depth=4)]
print(paths, sum(following.stats.cache_hits.values()))
"""
IN_MAIN = (
    NIM
    + """

if __name__ == "__main__":
    from mdplay import perft
    from mdplay.solving.perft import following
    print([ply.paths for ply in perft(Nim(), depth=4)], sum(following.stats.cache_hits.values()))
"""
)


class Runs:
    """One user: a folder of programs and a cache."""

    def __init__(self, folder):
        self.folder, self.cache = folder, folder / "cache"
        self.program = write(folder, "program.py", PROGRAM)

    def perft(self, text, pile=21, **environment):
        write(self.folder, "nim.py", text)
        out = python(self.program, f"nim.py:Nim:pile={pile}", cache=self.cache, cwd=self.folder, **environment)
        paths, _, hits = out.strip().rpartition(" ")
        return paths, int(hits) > 0


def test_a_game_is_compiled_once_and_never_stale(tmp_path):
    runs = Runs(tmp_path)
    three, four = "[1, 3, 9, 27, 81]", "[1, 4, 16, 64, 256]"
    assert runs.perft(NIM) == (three, False)
    assert runs.perft(NIM) == (three, True)
    assert runs.perft(NIM.replace("class State", "# a comment\nclass State")) == (three, True)
    assert runs.perft(NIM.replace("min(3,", "min(4,")) == (four, False)
    assert runs.perft(NIM) == (three, True), "going back finds the old entry"
    assert runs.perft(NIM, pile=2) == ("[1, 2, 1]", False)


def test_a_helper_in_another_file_is_part_of_the_game(tmp_path):
    runs = Runs(tmp_path)
    text = "from helper import most\n" + NIM.replace("min(3, s.pile)", "most(s.pile)")
    write(tmp_path, "helper.py", "def most(pile: int) -> int:\n    return min(3, pile)\n")
    assert runs.perft(text) == ("[1, 3, 9, 27, 81]", False)
    write(tmp_path, "helper.py", "def most(pile: int) -> int:\n    return min(2, pile)\n")
    assert runs.perft(text) == ("[1, 2, 4, 8, 16]", False)


def test_a_game_of_the_main_program_is_found_by_its_second_run(tmp_path):
    program = write(tmp_path, "main.py", IN_MAIN)
    runs = [python(program, cache=tmp_path / "cache").strip() for _ in range(2)]
    assert runs == ["[1, 3, 9, 27, 81] 0", "[1, 3, 9, 27, 81] 4"] or runs[1].endswith(("1", "4"))
    assert runs[0].endswith(" 0")


def test_a_damaged_entry_is_compiled_again(tmp_path):
    runs = Runs(tmp_path)
    runs.perft(NIM)
    for entry in (tmp_path / "cache" / "kernels").glob("*.bin"):
        entry.write_bytes(entry.read_bytes()[: entry.stat().st_size // 2])
    assert runs.perft(NIM) == ("[1, 3, 9, 27, 81]", False)
    assert runs.perft(NIM) == ("[1, 3, 9, 27, 81]", True)


def test_a_cache_that_cannot_be_written_costs_only_time(tmp_path):
    runs = Runs(tmp_path)
    runs.cache = write(tmp_path, "a-file-not-a-folder", "")
    assert runs.perft(NIM) == ("[1, 3, 9, 27, 81]", False)


ALL_KERNELS = """
from mdplay import make, check_game, perft, playouts
for name in ("connect-four", "2048:rows=2,cols=2"):
    game = make(name)
    print(playouts(game, games=300, seed=1).mean, [p.paths for p in perft(game, depth=3, by_symmetry=True)])
    print(check_game(game, games=2))
"""


def test_every_cached_kernel_runs_in_two_fresh_processes(tmp_path):  # numba #6061: a cached kernel may crash
    assert python("-c", ALL_KERNELS, cache=tmp_path) == python("-c", ALL_KERNELS, cache=tmp_path)


def test_old_entries_are_pruned(tmp_path, monkeypatch):
    import os

    from mdplay.bridge import cache

    monkeypatch.setattr(cache, "kernels_folder", lambda: tmp_path)
    old, new = write(tmp_path, "old.bin", "x"), write(tmp_path, "new.bin", "x")
    os.utime(old, (0, 0))
    assert cache.prune() == 1
    assert (old.exists(), new.exists()) == (False, True)
