"""The bandit laboratory: the selectors of tree search on multi-armed bandits.

Each of K arms has a mean reward; pulling arm k instead of the best costs the regret max(means) - means[k].

    bernoulli   reward 1 with probability means[k], else 0
    gaussian    reward normal around means[k]; the means are given, or drawn from N(0, 1) anew in every run (the
                testbed of Sutton and Barto), and may drift: each takes a normal step after every pull

A run is one game of many pulls; results are means over many runs with their standard errors.  Run number i of a
seed has a random stream of its own and runs are summed in fixed groups, so threads change nothing.

Lai and Robbins (1985): no rule that is good on every bandit has less regret in the long run than C ln t, with
C = sum over the worse arms of (best - mean) / kl(mean, best).
"""

from __future__ import annotations

import csv
import math
import re
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from mdplay.errors import FormatError, LimitError
from mdplay.runtime.executors import Executor, using
from mdplay.runtime.threads import Show, TaskGroup, num_threads
from mdplay.searching.selectors import Selector, bernoulli_divergence, make_selector, split_selectors
from mdplay.storage.files import write

if TYPE_CHECKING:
    from mdplay.views.charts import Series

Floats = NDArray[np.float64]
GROUPS = 16  # of runs, each summed by one thread
MAX_POINTS = 2000  # of a curve
BAND = 1.96  # standard errors: 95 %


@dataclass(frozen=True)
class Bandit:
    """Arms to choose from; without means they are drawn from N(0, 1) in every run."""

    kind: str = "gaussian"
    means: tuple[float, ...] = ()
    num_arms: int = 10
    deviation: float = 1.0
    drift: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what is no bandit."""
        if self.kind not in ("bernoulli", "gaussian"):
            raise FormatError(f"arms of kind {self.kind!r}; choose bernoulli or gaussian")
        if self.kind == "bernoulli" and (not self.means or not all(0.0 <= p <= 1.0 for p in self.means)):
            raise FormatError(f"bernoulli arms need probabilities from 0 to 1, not {self.means}")
        if self.size < 2:
            raise FormatError(f"a bandit has two arms or more, not {self.size}")
        if not all(map(math.isfinite, self.means)):
            raise FormatError(f"the means of arms are finite numbers, not {self.means}")
        if not (0.0 <= self.deviation < math.inf and 0.0 <= self.drift < math.inf):
            wrong = f"deviation={self.deviation} and drift={self.drift}"
            raise FormatError(f"{wrong} must be finite and cannot be negative")

    @property
    def size(self) -> int:
        """The number of arms."""
        return len(self.means) or self.num_arms

    def lower_bound(self) -> float | None:
        """Return the constant C of Lai and Robbins; None where the means are not fixed."""
        if not self.means or self.drift:
            return None
        best = max(self.means)
        worse = [mean for mean in self.means if mean < best]
        if self.kind == "bernoulli":
            return sum((best - mean) / bernoulli_divergence(mean, best) for mean in worse)
        return sum(2.0 * self.deviation**2 / (best - mean) for mean in worse)


def parse_bandit(text: str) -> Bandit:
    """Return the bandit that a text names.

    ``0.9,0.8`` Bernoulli arms; ``gaussian:10`` as many random ones; ``gaussian:0,0.5,drift=0.01,deviation=1``.

    >>> parse_bandit("0.9,0.8")
    Bandit(kind='bernoulli', means=(0.9, 0.8), num_arms=10, deviation=1.0, drift=0.0)
    """
    kind, colon, rest = text.strip().partition(":")
    items = [item for item in re.split(r"[,\s]+", rest if colon else kind) if item]
    options = dict(item.split("=", 1) for item in items if "=" in item)
    numbers = [item for item in items if "=" not in item]
    if unknown_options := set(options) - {"drift", "deviation"}:
        raise FormatError(f"{text!r}: {', '.join(sorted(unknown_options))} is no option; drift=, deviation=")
    try:
        deviation, drift = float(options.get("deviation", 1.0)), float(options.get("drift", 0.0))
        if colon and kind == "gaussian" and len(numbers) == 1:
            return Bandit("gaussian", (), int(numbers[0]), deviation, drift)
        means = tuple(float(number) for number in numbers)
    except ValueError:
        raise FormatError(f"{text!r} is no bandit; write 0.9,0.8 or gaussian:10 or gaussian:0,0.5,1") from None
    return Bandit(kind if colon else "bernoulli", means, deviation=deviation, drift=drift)


@dataclass(frozen=True, eq=False)
class Curve:
    """How a selector did on a bandit, over the steps: means over the runs, and their standard errors."""

    name: str
    steps: NDArray[np.int64]  # the last step of each point
    reward: Floats
    reward_error: Floats
    optimal: Floats  # share of pulls of the best arm
    optimal_error: Floats
    regret: Floats  # summed from the first step on
    regret_error: Floats
    end_reward: float  # over the last twentieth of the steps
    end_reward_error: float
    end_optimal: float
    end_optimal_error: float
    mean_reward: float  # over all steps
    runs: int
    seconds: float

    @property
    def steps_per_second(self) -> float:
        """The speed, all threads together."""
        return int(self.steps[-1]) * self.runs / self.seconds

    def document(self) -> dict[str, Any]:
        """Return the statistics at the end for JSON."""
        return {
            "policy": self.name,
            "regret": float(self.regret[-1]),
            "regret_error": float(self.regret_error[-1]),
            "end_reward": self.end_reward,
            "end_reward_error": self.end_reward_error,
            "end_optimal": self.end_optimal,
            "end_optimal_error": self.end_optimal_error,
            "mean_reward": self.mean_reward,
            "steps_per_second": self.steps_per_second,
        }

    def _repr_html_(self) -> str:
        return _picture([self])


@dataclass(frozen=True, eq=False)
class Comparison(Sequence[Curve]):
    """The curves of several selectors on one bandit, which a notebook shows in one picture."""

    bandit: Bandit
    curves: tuple[Curve, ...]

    def __len__(self) -> int:
        return len(self.curves)

    @overload
    def __getitem__(self, index: int) -> Curve: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Curve]: ...
    def __getitem__(self, index: int | slice) -> Curve | Sequence[Curve]:
        return self.curves[index]

    def document(self) -> dict[str, Any]:
        """Return the statistics at the end for JSON, with the constant of Lai and Robbins."""
        steps, runs = int(self.curves[0].steps[-1]), self.curves[0].runs
        policies = [curve.document() for curve in self.curves]
        return {"steps": steps, "runs": runs, "lai_robbins": self.bandit.lower_bound(), "policies": policies}

    def write_curves(self, path: str | Path) -> None:
        """Write a CSV file with a row for each policy and point."""
        columns = ("reward", "reward_error", "optimal", "optimal_error", "regret", "regret_error")
        text = StringIO()
        writer = csv.writer(text)
        writer.writerow(["policy", "step", *columns])
        for curve in self.curves:
            table = zip(curve.steps, *(getattr(curve, column) for column in columns), strict=True)
            writer.writerows([curve.name, int(step), *map(float, row)] for step, *row in table)
        write(path, text.getvalue())

    def _repr_html_(self) -> str:
        return _picture(self.curves)


def _picture(curves: Sequence[Curve]) -> str:
    """Return regret and share of best pulls over the steps with 95 % bands, and the statistics at the end."""
    from mdplay.views.charts import chart
    from mdplay.views.html import shown, table

    rows = [
        (one.name, f"{one.regret[-1]:.2f} ± {one.regret_error[-1]:.2f}", f"{one.end_optimal:.1%}")
        for one in curves
    ]
    ends = table(("rule", "regret", "best pulls at the end"), rows, things="rules")
    regret = [_series(one, one.regret, one.regret_error) for one in curves]
    optimal = [_series(one, one.optimal, one.optimal_error) for one in curves]
    return shown(chart(regret, "step", "regret"), chart(optimal, "step", "share of best pulls"), ends)


def _series(curve: Curve, mean: Floats, error: Floats) -> Series:
    from mdplay.views.charts import Series

    band = BAND * error
    return Series(curve.name, curve.steps.tolist(), mean.tolist(), (mean - band).tolist(), (mean + band).tolist())


def run_bandit(
    bandit: Bandit,
    selector: Selector | str,
    *,
    steps: int = 1000,
    runs: int = 2000,
    seed: int = 0,
    threads: int | None = None,
    executor: Executor | str | None = None,
    show: Show | None = None,
) -> Curve:
    """Play a selector on a bandit many times and return its curve.

    The runs go to threads, or to the workers of an ``executor`` (mdplay.runtime.executors): a group of them is a
    task.
    """
    if steps < 1 or runs < 1:
        raise LimitError(f"steps={steps} and runs={runs} must be at least 1")
    rule = make_selector(selector) if isinstance(selector, str) else selector
    trial = Trial(bandit, rule, steps, runs, seed)
    began = time.perf_counter()
    if executor is None:
        sums, ends = _new_sums(trial)
        _play(trial, sums, ends, range(min(num_threads(threads), len(sums))), show)
    else:
        sums, ends = _played_by(executor, threads, trial, show)
    seconds = time.perf_counter() - began
    name = selector if isinstance(selector, str) else repr(rule)
    return _curve(name, sums.sum(axis=0), ends, steps, trial.every, seconds)


class Trial(NamedTuple):
    """Many runs of a selector on a bandit."""

    bandit: Bandit
    selector: Selector
    steps: int
    runs: int
    seed: int

    @property
    def every(self) -> int:
        """The steps of a point of the curve."""
        return -(-self.steps // MAX_POINTS)


def _new_sums(trial: Trial) -> tuple[Floats, Floats]:
    """Return room for the sums of every group of runs, and for the ends of every run."""
    from mdplay.bandits.kernel import COLUMNS

    points = -(-trial.steps // trial.every)
    return np.zeros((min(GROUPS, trial.runs), points, COLUMNS)), np.zeros((trial.runs, 3))


def _play(
    trial: Trial, sums: Floats, ends: Floats, workers: Sequence[int], show: Show | None = None, stride: int = 0
) -> None:
    """Let each worker, in a thread, play every ``stride``-th group of runs; by default they share all groups."""
    from mdplay.bandits.kernel import Length, Problem, Totals, new_arms, play
    from mdplay.compiling import native, word

    bandit, stride = trial.bandit, stride or len(workers)
    means = np.array(bandit.means or [0.0] * bandit.size)
    problem = Problem(means, not bandit.means, bandit.kind == "gaussian", bandit.deviation, bandit.drift)
    job = partial(play, native(trial.selector), problem, Length(trial.steps, trial.every), word(trial.seed))
    watch, out = TaskGroup(stride, show), Totals(sums, ends)
    watch.run([partial(job, watch.worker(i, stride), new_arms(bandit.size), out) for i in workers])


def play_group(group: int, trial: Trial) -> dict[str, Floats]:
    """Play a group of runs: the task of an executor."""
    sums, ends = _new_sums(trial)
    _play(trial, sums, ends, [group], stride=len(sums))
    return {"sums": sums[group], "ends": ends[group :: len(sums)]}


def _played_by(
    executor: Executor | str, workers: int | None, trial: Trial, show: Show | None
) -> tuple[Floats, Floats]:
    """Let an executor play all groups."""
    sums, ends = _new_sums(trial)
    groups = len(sums)

    def tell(done: int) -> None:
        if show is not None:
            show(trial.steps * trial.runs * done // groups)

    with using(executor, workers) as chosen:
        for group, found in enumerate(chosen.map(play_group, range(groups), trial, show=tell)):
            sums[group], ends[group::groups] = found["sums"], found["ends"]
    return sums, ends


def _curve(name: str, sums: Floats, ends: Floats, steps: int, every: int, seconds: float) -> Curve:
    runs = len(ends)
    means = sums[:, 0::2] / runs
    errors = np.sqrt(np.maximum(0.0, sums[:, 1::2] / runs - means**2) / runs)
    end, end_error = ends.mean(axis=0), ends.std(axis=0) / math.sqrt(runs)
    return Curve(
        name=name,
        steps=np.minimum(np.arange(1, len(sums) + 1) * every, steps),
        reward=means[:, 0],
        reward_error=errors[:, 0],
        optimal=means[:, 1],
        optimal_error=errors[:, 1],
        regret=means[:, 2],
        regret_error=errors[:, 2],
        end_reward=float(end[0]),
        end_reward_error=float(end_error[0]),
        end_optimal=float(end[1]),
        end_optimal_error=float(end_error[1]),
        mean_reward=float(end[2]),
        runs=runs,
        seconds=seconds,
    )


def compare(
    bandit: Bandit | str,
    policies: Sequence[str] | str,
    *,
    threads: int | None = None,
    executor: Executor | str | None = None,
    **options: Any,
) -> Comparison:
    """Play several selectors on the same bandit, all from the same seed; the options are those of `run_bandit`.

    Both may be texts: ``compare("0.9,0.8", "ucb1(c=2),thompson")``.
    """
    arms, names = _arms(bandit), _names(policies)
    with nullcontext() if executor is None else using(executor, threads) as chosen:
        options |= {"threads": threads, "executor": chosen}
        return Comparison(arms, tuple(run_bandit(arms, name, **options) for name in names))


def parameter_study(
    bandit: Bandit | str, policies: Sequence[str] | str, parameter: str, values: Sequence[float], **options: Any
) -> dict[str, dict[float, float]]:
    """Return the mean reward over all steps of each selector, for each value of a parameter of it."""
    arms = _arms(bandit)

    def reward(name: str, value: float) -> float:
        return run_bandit(arms, f"{name}({parameter}={value})", **options).mean_reward

    return {name: {value: reward(name, value) for value in values} for name in _names(policies)}


def _arms(bandit: Bandit | str) -> Bandit:
    return parse_bandit(bandit) if isinstance(bandit, str) else bandit


def _names(policies: Sequence[str] | str) -> list[str]:
    """Return the names of selectors; an error in any of them is raised before the first runs."""
    names = split_selectors(policies) if isinstance(policies, str) else list(policies)
    if not names:
        raise FormatError("no policies are named; write them as in ucb1(c=2),thompson, or all")
    for name in names:
        make_selector(name)
    return names
