"""Compiled kernels in fresh processes: found again, and never stale."""

from functools import partial
from shutil import copytree, ignore_patterns

import pytest

from mdplay.compiling.cache import read_checked, write_checked
from mdplay.naming.specs import load_module
from tests.helpers import NIM, ROOT, python, write

pytestmark = pytest.mark.usefixtures("needs_compiler")

PROGRAM = """
import sys
from mdplay import make, perft
from mdplay.states.enumeration import expand
game = make(sys.argv[1])
paths = [ply.paths for ply in perft(game, depth=4)]
print(paths, sum(expand.dispatcher.stats.cache_hits.values()))
"""
IN_MAIN = (
    NIM
    + """

if __name__ == "__main__":
    from mdplay import perft
    from mdplay.states.perft import expand
    print([ply.paths for ply in perft(Nim(), depth=4)], sum(expand.dispatcher.stats.cache_hits.values()))
"""
)


class Runs:
    """One user: a folder of programs and a cache, which may begin as a copy of another one's."""

    def __init__(self, folder, kept=None):
        self.folder, self.cache = folder, folder / "cache"
        self.program = write(folder, "program.py", PROGRAM)
        if kept is not None:
            copytree(kept, self.cache)

    def perft(self, text, pile=21, **environment):
        write(self.folder, "nim.py", text)
        out = python(self.program, f"nim.py:Nim:pile={pile}", cache=self.cache, cwd=self.folder, **environment)
        paths, _, hits = out.strip().rpartition(" ")
        return paths, int(hits) > 0


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The cache of a user who has compiled Nim, once for all tests that do something to it."""
    runs = Runs(tmp_path_factory.mktemp("kept"))
    assert runs.perft(NIM) == ("[1, 3, 9, 27, 81]", False)
    return runs.cache


def test_a_game_is_compiled_once_and_never_stale(tmp_path):
    runs = Runs(tmp_path)
    three, four = "[1, 3, 9, 27, 81]", "[1, 4, 16, 64, 256]"
    assert runs.perft(NIM) == (three, False)
    assert runs.perft(NIM) == (three, True)
    assert runs.perft(NIM.replace("class State", "# a comment\nclass State")) == (three, True)
    assert runs.perft(NIM.replace("min(3,", "min(4,")) == (four, False)
    assert runs.perft(NIM) == (three, True), "going back finds the old entry"
    assert runs.perft(NIM, pile=2) == ("[1, 2, 1]", False)


def test_an_entry_of_another_compiler_is_not_used(tmp_path, kept):
    runs, package = Runs(tmp_path, kept), tmp_path / "package"
    copytree(ROOT / "src", package, ignore=ignore_patterns("static", "__pycache__"))
    assert runs.perft(NIM, NUMBA_OPT="1") == ("[1, 3, 9, 27, 81]", False)
    assert runs.perft(NIM, PYTHONPATH=str(package)) == ("[1, 3, 9, 27, 81]", True), "a mere copy of the package"
    compiler = package / "mdplay" / "compiling" / "numba" / "numbers.py"
    rest = "builder.and_(mask, builder.sub(mask, WORD(1)))"
    assert rest in compiler.read_text()
    compiler.write_text(compiler.read_text().replace(rest, "builder.and_(mask, WORD(0))"))
    assert runs.perft(NIM, PYTHONPATH=str(package)) == ("[1, 1, 1, 1, 1]", False)


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


def test_a_damaged_entry_is_compiled_again(tmp_path, kept):
    runs = Runs(tmp_path, kept)
    for entry in (tmp_path / "cache" / "kernels").glob("*.bin"):
        entry.write_bytes(entry.read_bytes()[: entry.stat().st_size // 2])
    assert runs.perft(NIM) == ("[1, 3, 9, 27, 81]", False)
    assert runs.perft(NIM) == ("[1, 3, 9, 27, 81]", True)


def entry_of(folder):
    return next((folder / "cache" / "kernels").glob("*.bin"))


@pytest.mark.parametrize("place", [0, 20, 40, 1000, -1])
def test_one_flipped_bit_is_enough(tmp_path, kept, place):
    Runs(tmp_path, kept)
    entry = entry_of(tmp_path)
    sound = entry.read_bytes()
    content = bytearray(sound)
    content[place] ^= 4
    entry.write_bytes(content)
    assert read_checked(entry) is None and not entry.exists()
    entry.write_bytes(sound)
    assert read_checked(entry) == sound[32:]


def test_an_entry_does_not_stand_for_another(tmp_path):
    write_checked(tmp_path / "one.bin", b"machine code")
    (tmp_path / "one.bin").rename(tmp_path / "two.bin")
    assert read_checked(tmp_path / "two.bin") is None
    assert not any(tmp_path.iterdir())


def test_an_entry_that_others_could_have_written_is_not_loaded(tmp_path):
    entry = tmp_path / "one.bin"
    write_checked(entry, b"machine code")
    entry.chmod(0o666)
    assert read_checked(entry) is None and not entry.exists()


def test_a_folder_open_to_others_is_not_used_and_said_once(tmp_path):
    runs = Runs(tmp_path)
    runs.cache.mkdir()
    runs.cache.chmod(0o777)
    for _ in range(2):
        assert runs.perft(NIM) == ("[1, 3, 9, 27, 81]", False)
    assert not any(runs.cache.iterdir())


def test_a_word_asked_for_by_a_kernel_is_not_kept(tmp_path):
    from mdplay.compiling import kernel, native
    from mdplay.compiling.numba.compiler import KernelCache

    @kernel
    def ask(game, n):
        return game.distance(n)

    text = NIM + "\n    def distance(self, n: int) -> int:\n        return n + 1\n"
    game = load_module(write(tmp_path, "asked.py", text)).Nim()
    assert ask(native(game), 3) == 4
    (sig,) = ask.dispatcher.overloads
    assert not KernelCache(ask.py_func)._covers(sig)


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

    from mdplay.compiling import cache

    monkeypatch.setattr(cache, "kernels_folder", lambda: tmp_path)
    old, new = write(tmp_path, "old.bin", "x"), write(tmp_path, "new.bin", "x")
    os.utime(old, (0, 0))
    assert cache.prune() == 1
    assert (old.exists(), new.exists()) == (False, True)


ELSEWHERE = """
import sys
from mdplay import NotCompiled, make, perft
from mdplay.runtime.threads import compiling
compiling.elsewhere = True
try:
    print([ply.paths for ply in perft(make(sys.argv[1]), depth=4)])
except NotCompiled as error:
    print(error)
if len(sys.argv) > 2:
    with compiling.here():
        print([ply.paths for ply in perft(make(sys.argv[1]), depth=4)])
"""


def test_a_process_that_leaves_compiling_to_others_finds_what_they_compiled(tmp_path, kept):
    runs = Runs(tmp_path)
    write(tmp_path, "nim.py", NIM)
    program = write(tmp_path, "elsewhere.py", ELSEWHERE)
    ask = partial(python, program, "nim.py:Nim:pile=21", cache=runs.cache, cwd=tmp_path)
    assert "is not compiled yet" in ask()
    copytree(kept, runs.cache, dirs_exist_ok=True)
    assert ask().strip() == "[1, 3, 9, 27, 81]"


def test_a_process_may_compile_here_after_all(tmp_path):
    write(tmp_path, "nim.py", NIM)
    program = write(tmp_path, "elsewhere.py", ELSEWHERE)
    out = python(program, "nim.py:Nim:pile=21", "here", cache=tmp_path / "cache", cwd=tmp_path)
    assert out.splitlines()[1] == "[1, 3, 9, 27, 81]"


def test_the_name_of_an_entry_tells_the_versions_and_the_processor(monkeypatch):
    import llvmlite
    import numba
    import numpy as np
    from numba.core.registry import cpu_target

    from mdplay.compiling.numba.compiler import KernelCache

    def named(n):
        return n

    def path():
        return KernelCache(named)._path((numba.int64,), target)

    target = cpu_target.target_context
    before = path()
    assert before is not None and before == path()
    for library in (numba, llvmlite, np):
        with monkeypatch.context() as other:
            other.setattr(library, "__version__", "0.0.1")
            assert path() != before, library.__name__
    with monkeypatch.context() as other:
        other.setattr(type(target.codegen()), "magic_tuple", lambda _: ("another", "processor", ""))
        assert path() != before
