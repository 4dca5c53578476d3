"""Measure speed as ratios in one interleaved run; absolute figures depend on the machine.

    python benchmarks/speed.py [playouts] [startup] [2048]

Each comparison runs its candidates in turn, round after round, in CPU time of this thread; what is reported is
the median of the ratios round by round, and their spread.
"""

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version

ROUNDS = 9


def cpu_seconds(work: Callable[[], object]) -> float:
    began = time.thread_time()
    work()
    return time.thread_time() - began


def compare(title: str, count: int, unit: str, candidates: dict[str, Callable[[], object]]) -> None:
    """Print the speed of each candidate and its ratio to the first."""
    for work in candidates.values():
        work()
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(ROUNDS):
        for name, work in candidates.items():
            times[name].append(cpu_seconds(work))
    print(title)
    base = times[next(iter(candidates))]
    for name, taken in times.items():
        ratios = sorted(b / t for b, t in zip(base, taken, strict=True))
        speed = count / statistics.median(taken)
        print(
            f"  {name:24} {speed:14,.0f} {unit}/s   {statistics.median(ratios):6.2f}x  ({ratios[0]:.2f} .. {ratios[-1]:.2f})"
        )


# ---------------------------------------------------------------- playouts
def playouts() -> None:
    """Compare our Connect Four playouts with a hand-wired numba module and with OpenSpiel's C++ rollouts."""
    import numpy as np

    from hand_wired import play_connect_four
    from mdplay import make
    from mdplay import playouts as play

    game, games, few = make("connect-four"), 200_000, 5_000
    compare(
        "Connect Four, random games from the empty board",
        games,
        "games",
        {
            "hand-wired numba": lambda: play_connect_four(games, np.uint64(1)),
            "mdplay": lambda: run_here(play, game, games),
        },
    )
    print(
        f"  (mean result: hand-wired {play_connect_four(games, np.uint64(1)) / games:+.4f}, mdplay {play(game, games=games).mean:+.4f})"
    )
    compare(
        f"Connect Four against OpenSpiel {version('open_spiel')} (RandomRolloutEvaluator, C++)",
        few,
        "games",
        {
            "OpenSpiel": lambda: spiel_rollouts(few),
            "mdplay": lambda: run_here(play, game, few),
        },
    )
    print(f"  (mean result by OpenSpiel {spiel_rollouts(100_000):+.4f})")


def spiel_rollouts(games: int) -> float:
    """Return the mean of OpenSpiel's random games: one simulation of its MCTS makes that many from the root's child."""
    import pyspiel

    game = pyspiel.load_game("connect_four")
    evaluator = pyspiel.RandomRolloutEvaluator(games, 1)
    root = pyspiel.MCTSBot(game, evaluator, 2.0, 1, 100, False, 1, False).mcts_search(game.new_initial_state())
    return float(root.total_reward)


def run_here(play: Callable[..., object], game: object, games: int) -> object:
    """Play in this thread, so that its CPU time counts."""
    import numpy as np

    from mdplay.compiling import native, word, words
    from mdplay.runtime.threads import TaskGroup
    from mdplay.searching.playouts import CHUNK, COLUMNS, MAX_MOVES, play_chunks

    rows = np.zeros((-(-games // CHUNK), COLUMNS))
    play_chunks(native(game), words(game.initial()), word(1), games, MAX_MOVES, TaskGroup().worker(), rows)
    return rows


# ---------------------------------------------------------------- start-up
def children_seconds() -> float:
    """Return the processor seconds of all processes that were started and have ended."""
    found = os.times()
    return found.children_user + found.children_system


def startup() -> None:
    """Compare a process up to its first compiled answer with ``import numba`` alone."""
    answer = "from mdplay import make, playouts; playouts(make('connect-four'), games=1)"
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "MDPLAY_CACHE": folder, "MDPLAY_PLAIN_SECONDS": "0"}
        run = lambda code: subprocess.run([sys.executable, "-c", code], env=env, check=True)  # noqa: E731
        run(answer)
        times: dict[str, list[float]] = {"import numba": [], answer: []}
        for _ in range(ROUNDS):
            for code, taken in times.items():
                began = children_seconds()
                run(code)
                taken.append(children_seconds() - began)
    base, ours = times.values()
    ratio = statistics.median(o / b for o, b in zip(ours, base, strict=True))
    print("A fresh process, kernel in the cache")
    print(
        f"  import numba {statistics.median(base):.2f} s, first compiled answer {statistics.median(ours):.2f} s: {ratio:.2f}x"
    )


# ---------------------------------------------------------------- learning
def learning() -> None:
    """Compare the 2048 learner with a plain scalar kernel, and with TDL2048 where it is built."""
    from learning import learn_2048

    learn_2048()


def main() -> None:
    """Run the parts asked for."""
    print(
        f"Python {platform.python_version()}, numba {version('numba')}, {platform.machine()}, {os.cpu_count()} cores"
    )
    parts = {"playouts": playouts, "startup": startup, "2048": learning}
    for name in sys.argv[1:] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
