"""The package as a whole: what it exports, what it imports, how it is laid out."""

import ast
import json
from pathlib import Path

import mdplay
from tests.helpers import NIM, ROOT, python, write

SOURCE = ROOT / "src" / "mdplay"


def test_every_public_name_exists_and_is_in_the_stub():
    assert all(hasattr(mdplay, name) for name in mdplay.__all__)
    stub = ast.parse((SOURCE / "__init__.pyi").read_text())
    listed = {
        alias.name: f"{node.module}"
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert listed == mdplay._MODULES


def test_import_and_help_need_no_compiler():
    check = "import sys; print([m for m in ('numba', 'scipy', 'matplotlib') if m in sys.modules])"
    assert python("-c", f"import mdplay; {check}").strip() == "[]"
    assert python(
        "-c", f"from mdplay.cli.commands import group; group.main(['--help'], standalone_mode=False); {check}"
    ).endswith("[]\n")


def test_only_one_folder_knows_numba():
    users = [path for path in SOURCE.rglob("*.py") if _imports(path) & {"numba", "llvmlite"}]
    assert {path.parent.relative_to(SOURCE).as_posix() for path in users} == {"compiling/numba"}


def _imports(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text())))
    plain = {
        alias.name.partition(".")[0] for node in nodes if isinstance(node, ast.Import) for alias in node.names
    }
    return plain | {(node.module or "").partition(".")[0] for node in nodes if isinstance(node, ast.ImportFrom)}


def test_json_of_the_version():
    assert json.dumps(mdplay.__version__) in (ROOT / "pyproject.toml").read_text()


SETTINGS = """
import faulthandler, gc, signal, sys, threading
from pathlib import Path


def settings():
    handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
    timers = [signal.getitimer(timer) for timer in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)]
    hooks = sys.getrecursionlimit(), sys.excepthook, sys.unraisablehook, threading.excepthook
    return handlers, timers, gc.isenabled(), gc.get_threshold(), list(sys.path), hooks


before, during = settings(), []
original, handled = gc.disable, signal.signal
gc.disable = lambda: during.append("gc") or original()
signal.signal = lambda *given: during.append("signal") or handled(*given)
import mdplay

game = mdplay.make(sys.argv[1])
mdplay.check_game(game)
mdplay.solve(game).value(), mdplay.search(game, simulations=50), mdplay.playouts(game, games=100)
mdplay.match(game, "random", "perfect", games=4, threads=2)
assert settings() == before and not during, (settings(), before, during)
"""


def test_the_library_changes_no_setting_of_the_process(tmp_path):
    path = write(tmp_path, "nim_alone.py", NIM)
    python("-c", SETTINGS, str(path), MDPLAY_PLAIN_SECONDS="0")
