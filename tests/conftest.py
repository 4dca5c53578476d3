"""What all tests share: whether the compiler is on, and the command line in this process."""

import gc
import os
import signal
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

from tests.helpers import COMPILED, ROOT

# Kernels run as users meet them: small questions in plain Python first, compiled when they take longer.  The
# files below compile at once, because they test compiled kernels.
PLAIN_FIRST, AT_ONCE = "0.6", "0"
COMPILED_AT_ONCE = ("compiling", "test_every_kernel.py", "test_signature.py")
os.environ.setdefault("MDPLAY_PLAIN_SECONDS", PLAIN_FIRST)
FORCED = os.environ["MDPLAY_PLAIN_SECONDS"] != PLAIN_FIRST

# Files that take long go first, so that at the end no core waits for the last one.  Their order does not matter
# much; a run of all tests says so if a file that is not named here took a fiftieth of it.
LONG = """
test_docs.py test_examples.py distributed/test_processes.py searching/test_mcts.py solving/proof/test_prover.py
web/static/test_games.py compiling/test_cache.py solving/test_hashed.py checking/test_check.py
learning/test_training.py test_every_kernel.py test_signature.py web/static/test_access.py
web/static/test_page.py web/static/test_beyond.py games/twenty48/test_training.py web/games/test_routes.py
distributed/test_on_ray.py cli/test_verbs.py distributed/test_planning.py searching/test_depth_limited.py
planning/test_planner.py bandits/test_laboratory.py compiling/test_kernels.py web/work/test_doers.py
web/work/test_on_executor.py hardening/test_campaign.py test_clinic.py playing/test_time_limits.py
learning/reinforcement/test_experiment.py learning/reinforcement/test_second_implementation.py
"""
SHARE = 0.02

# A shell that runs the tests in the background lets them ignore Ctrl-C, and with them every program they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A compiler creates millions of objects and keeps most of them: the collector took a seventh of the compile time.
gc.set_threshold(200_000, 50, 50)

settings.register_profile("mdplay", deadline=None, max_examples=50)
settings.load_profile("mdplay")


@dataclass
class Answer:
    code: int
    out: str
    err: str


@pytest.fixture
def mdplay(capsys, monkeypatch):
    """Run the command line in this process: mdplay("show", "2048") -> code, out, err."""

    def run(*arguments):
        from mdplay.cli import run as run_commands

        monkeypatch.setattr(sys, "argv", ["mdplay", *map(str, arguments)])
        capsys.readouterr()
        code = run_commands()
        captured = capsys.readouterr()
        return Answer(code, captured.out, captured.err)

    return run


@pytest.fixture(autouse=True)
def _forget_own_modules(request):
    """Forget the games that a test wrote into its folder: a file is called the same in every test.

    Else the next one would go by a name of its own, and so would its kernels, and no run would find them again.
    """
    yield
    folder = request.node.funcargs.get("tmp_path")
    if folder is None:
        return
    sys.path[:] = [place for place in sys.path if not Path(place).is_relative_to(folder)]
    files = {name: getattr(module, "__file__", None) for name, module in list(sys.modules.items())}
    for name, file in files.items():
        if file and Path(file).is_relative_to(folder):
            del sys.modules[name]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Set when kernels are compiled, here and in the processes that a test starts."""
    if FORCED:
        return
    from mdplay.compiling import kernels

    path = item.path.relative_to(ROOT / "tests").as_posix()
    seconds = AT_ONCE if path.startswith(COMPILED_AT_ONCE) else PLAIN_FIRST
    os.environ["MDPLAY_PLAIN_SECONDS"] = seconds
    kernels.PLAIN_SECONDS = 0.0 if kernels.BOUNDS else float(seconds)


def pytest_collection_modifyitems(items):
    order = {ROOT / "tests" / name: number for number, name in enumerate(LONG.split())}
    assert all(path.exists() for path in order), "a file of LONG is no more"
    items.sort(key=lambda item: order.get(item.path, len(order)))
    skip = pytest.mark.skip(reason="needs the compiler")
    for item in items:
        if not COMPILED and "needs_compiler" in getattr(item, "fixturenames", ()):
            item.add_marker(skip)


def pytest_terminal_summary(terminalreporter):
    """Say which files take long and are not named in LONG."""
    seconds = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds[report.nodeid.partition("::")[0].removeprefix("tests/")] += report.duration
    named, total = set(LONG.split()), seconds.total()
    late = [name for name, own in seconds.most_common() if own > SHARE * total and name not in named]
    if late and named <= set(seconds):
        terminalreporter.write_line(f"take long, and LONG in tests/conftest.py does not name them: {late}")


@pytest.fixture
def needs_compiler():
    """Skip the test when NUMBA_DISABLE_JIT is set."""
