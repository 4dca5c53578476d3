"""Results of many runs of a method: learning curves with standard errors, beside the exact values.

Run i of a seed has its own random stream, and runs are summed in fixed groups, so the results do not depend on the
number of threads.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from mdplay.errors import ArgumentError, LimitError, pluralize
from mdplay.game import Between
from mdplay.learning.reinforcement.methods import Method
from mdplay.learning.reinforcement.tasks import Policy, Task
from mdplay.planning.planner import evaluate_policy, plan
from mdplay.runtime.run import Run
from mdplay.runtime.threads import TaskGroup, num_threads

Floats = npt.NDArray[np.float64]
GROUPS = 16  # of runs; each is summed by one thread
MAX_POINTS = 500  # of a curve
MAX_SNAPSHOT_BYTES = 1 << 26  # of tables that wait for the judge
MAX_PLANNED = 4  # runs whose final policy the planner evaluates, in tasks that are too large for the judge


@dataclass(frozen=True)
class ExperimentOptions:
    """The size of an experiment."""

    episodes: Annotated[int, Between(1, 1e12), "Episodes of a run."] = 500
    runs: Annotated[int, Between(1, 1e9), "Independent runs of each method."] = 100
    steps: Annotated[int | None, Between(1, 1e15), "Steps of a run; the curve then counts steps."] = None
    max_steps: Annotated[int, Between(1, 1e12), "Truncate an episode after this many steps."] = 100_000
    checkpoints: Annotated[int, Between(0, 10_000), "Exact evaluations of a run; 0: none."] = 20
    points: Annotated[int, Between(1, 10_000), "Points of the curve."] = MAX_POINTS

    def __post_init__(self) -> None:
        for name in ("episodes", "runs", "max_steps"):
            if getattr(self, name) < 1:
                raise LimitError(f"{name}={getattr(self, name)} must be at least 1")


@dataclass(frozen=True, eq=False)
class Curve:
    """The learning curve of a method: means over the runs with standard errors, and exact values.

    ``at`` are the episodes of the points; if ``steps`` was given they are steps, and ``reward`` is the sum of all
    rewards so far.  ``greedy``, ``followed`` and ``never``
    belong to the checkpoints: the exact value of the greedy policy (mean over the runs in which it ends), that of
    the policy that is followed (median over the runs, since a few of them may take millions of steps), and the
    share of runs in which the greedy policy may never end.
    """

    name: str
    at: npt.NDArray[np.int64]  # the last episode, or step, of each point
    reward: Floats
    reward_error: Floats
    length: Floats  # steps of an episode
    length_error: Floats
    error: Floats  # root mean square error of the values, for prediction
    error_error: Floats
    time: Floats  # steps of the run so far
    checkpoints: npt.NDArray[np.int64]
    greedy: Floats
    greedy_error: Floats
    followed: Floats
    never: Floats
    optimum: float | None  # exact optimal value of the start
    runs: int
    diverged: float  # share of runs
    diverged_at: int | None  # first episode, from 1, in which a run diverged
    truncated: float  # share of episodes
    total_steps: float
    seconds: float
    task: Any
    tables: Floats  # action values, or preferences, of each run at its end
    averages: Floats  # estimates of the average reward at the end of each run, for differential methods
    updates: float  # mean number of updates of a run that were planned by prioritised sweeping
    by_steps: bool = False
    advice: str = "use a smaller alpha"  # if a run diverges
    learns: str = "action values"  # or "state values", or "preferences"

    def policy(self, run: int = 0) -> list[int]:
        """Return the greedy action of each state at the end of a run; -1 in terminal states."""
        self._check("policy", "action values", "preferences")
        return greedy_actions(self.task.mdp, self.tables[run])

    def values(self, run: int = 0) -> list[float]:
        """Return the value of each state, its largest action value, at the end of a run; 0 in terminal states."""
        self._check("values", "action values", "state values")
        first = self.task.mdp.first_choice.astype(np.int64)
        table = self.tables[run]
        return [float(table[a:b].max()) if a < b else 0.0 for a, b in pairwise(first)]

    def _check(self, name: str, *allowed: str) -> None:
        if not isinstance(self.task, Task):
            raise ArgumentError(f"{name}() serves tasks with a finite number of states")
        if self.learns not in allowed:
            raise ArgumentError(f"{self.name} learns {self.learns}; {name}() needs {' or '.join(allowed)}")
        if not len(self.tables):
            raise LimitError("the tables were not kept, because they would take too much memory; use fewer runs")

    def document(self) -> dict[str, Any]:
        """Return the results at the end for JSON."""
        tenth = max(1, len(self.reward) // 10)
        found: dict[str, Any] = {
            "method": self.name,
            "runs": self.runs,
            "reward": _number(self.reward[-tenth:].mean()),
            "reward_error": _number(np.sqrt(np.mean(self.reward_error[-tenth:] ** 2) / tenth)),
            "steps": _number(self.length[-tenth:].mean()),
            "error": _number(self.error[-1]),
            "error_error": _number(self.error_error[-1]),
            "optimum": self.optimum,
            "greedy": _number(self.greedy[-1]) if len(self.greedy) else None,
            "greedy_error": _number(self.greedy_error[-1]) if len(self.greedy) else None,
            "followed": _number(self.followed[-1]) if len(self.followed) else None,
            "never_ends": _number(self.never[-1]) if len(self.never) else None,
            "diverged": self.diverged,
            "diverged_at": self.diverged_at,
            "truncated": self.truncated,
            "steps_per_second": self.total_steps / max(self.seconds, 1e-9),
        }
        return found

    def notes(self) -> list[str]:
        """Return sentences about runs that diverged, episodes that were truncated and policies that never end."""
        found = []
        if self.diverged:
            found.append(
                f"{self.name} diverged in {self.diverged:.0%} of the runs, first at episode {self.diverged_at}; "
                f"{self.advice}"
            )
        if self.truncated == 1.0:
            found.append(
                f"{self.name}: every episode was truncated after max_steps; check that a terminal state can be "
                f"reached"
            )
        elif self.truncated:
            found.append(f"{self.name}: {self.truncated:.1%} of the episodes were truncated; see max_steps")
        if len(self.never) and self.never[-1]:
            found.append(f"{self.name}: the greedy policy may never end in {self.never[-1]:.0%} of the runs")
        return found


class Results:
    """The results of the runs of one method, collected in batches that fit into memory."""

    def __init__(
        self, task: Any, method: Method, size: ExperimentOptions, points: int, pairs: int, checkpoints: int
    ) -> None:
        from mdplay.learning.reinforcement.recording import ENDS

        self.task, self.method, self.size, self.points, self.num_checkpoints = (
            task,
            method,
            size,
            points,
            checkpoints,
        )
        self._pairs = pairs
        self._ends = np.zeros((size.runs, ENDS))
        self._tables = np.zeros((size.runs if pairs * size.runs <= MAX_SNAPSHOT_BYTES // 8 else 0, pairs))
        self._judged: list[Floats] = []
        self._threads = 1
        self.seconds = 0.0

    def collect(
        self,
        run: Run,
        job: Any,
        new_memory: Callable[[], Any],
        every: int,
        truth: Floats | None = None,
        weight: Floats | None = None,
        by_steps: bool = False,
    ) -> Curve:
        """Learn all runs by ``job(span, part, memory, output)``, batch by batch, and return the curve."""
        from mdplay.learning.reinforcement.recording import COLUMNS, Output

        none = np.zeros(1)
        given = none if truth is None else truth, none if weight is None else weight
        sums = np.zeros((min(GROUPS, self.size.runs), self.points, COLUMNS))
        for span in self.batches():
            out = Output(sums, self.snapshots(span), *given, self.ends(span), self.tables(span))
            self.work(run, lambda part, span=span, out=out: partial(job, span, part, new_memory(), out))
            self.judge(out.snapshots, self.method)
        return self.curve(sums.sum(axis=0), every, by_steps)

    def batches(self) -> list[npt.NDArray[np.int64]]:
        """Return the first and the last run, plus one, of each batch."""
        runs, batch = self.size.runs, self.size.runs
        if self.num_checkpoints:
            batch = MAX_SNAPSHOT_BYTES // (8 * self.num_checkpoints * max(1, self._pairs))
            batch = runs if batch >= runs else max(GROUPS, batch // GROUPS * GROUPS)
        return [np.array([begin, min(runs, begin + batch)]) for begin in range(0, runs, batch)]

    def snapshots(self, span: Any) -> Floats:
        """Return the array for the snapshots of a batch."""
        if not self.num_checkpoints:
            return np.zeros((1, 1, self._pairs + 1))
        return np.zeros((int(span[1] - span[0]), self.num_checkpoints, self._pairs + 1))

    def ends(self, span: Any) -> Floats:
        """Return the rows for the ends of the runs of a batch."""
        return self._ends[span[0] : span[1]]

    def tables(self, span: Any) -> Floats:
        """Return the rows for the action values of the runs of a batch at their end."""
        return self._tables[span[0] : span[1]] if isinstance(self.task, Task) else self._tables[:0]

    def work(self, run: Run, task: Any) -> None:
        """Run one task for each thread and measure the time."""
        self._threads = min(num_threads(run.threads), GROUPS, self.size.runs)
        group = TaskGroup(self._threads, run.progress)
        began = time.perf_counter()
        group.run([task(group.worker(i, self._threads)) for i in range(self._threads)])
        self.seconds += time.perf_counter() - began

    def judge(self, snapshots: Floats, method: Any) -> None:
        """Evaluate the policies of snapshots exactly."""
        if not self.num_checkpoints:
            return
        from mdplay.compiling import native
        from mdplay.learning.reinforcement import judge
        from mdplay.searching.selectors import Greedy

        exact = judge.exact_model(self.task)
        found = np.zeros((*snapshots.shape[:2], judge.COLUMNS))
        group = TaskGroup(self._threads)
        selector, greedy = native(method.rule_of_choice), native(Greedy())
        group.run(
            [
                partial(
                    judge.judge_tables,
                    selector,
                    greedy,
                    exact,
                    snapshots,
                    group.worker(i, self._threads),
                    judge.new_workspace(self.task),
                    found,
                )
                for i in range(self._threads)
            ]
        )
        self._judged.append(found)

    @property
    def checkpoints(self) -> npt.NDArray[np.int64]:
        """The episodes, from 1, after which tables are judged."""
        count = self.num_checkpoints
        return np.array([-(-(i + 1) * self.size.episodes // count) for i in range(count)], np.int64)

    def curve(self, total: Floats, every: int, by_steps: bool) -> Curve:
        """Return the curve of the sums over all runs."""
        from mdplay.learning.reinforcement import judge, recording

        runs = self.size.runs
        means = total / runs
        with np.errstate(all="ignore"):  # of runs that diverged
            errors = np.sqrt(np.maximum(0.0, means[:, 1:6:2] - means[:, 0:6:2] ** 2) / max(1, runs - 1))
        if runs == 1:
            errors = np.full_like(errors, np.nan)
        judged = np.concatenate(self._judged) if self._judged else np.zeros((runs, 0, judge.COLUMNS))
        checkpoints = self.checkpoints
        if not self._judged and self._is_large(by_steps):
            judged, checkpoints = self._judged_by_planner(), np.array([self.size.episodes])
        greedy, greedy_error = _finite_mean(judged[:, :, judge.GREEDY])
        followed = _median(judged[:, :, judge.FOLLOWED])
        diverged = self._ends[:, recording.DIVERGED]
        episodes = self.size.episodes * runs
        last = self.size.steps if by_steps else self.size.episodes
        assert last is not None
        return Curve(
            name=self.method.name,
            at=np.minimum(np.arange(1, self.points + 1) * every, last),
            reward=means[:, recording.REWARD],
            reward_error=errors[:, 0],
            length=means[:, recording.STEPS],
            length_error=errors[:, 1],
            error=means[:, recording.ERROR],
            error_error=errors[:, 2],
            time=means[:, recording.TIME],
            checkpoints=checkpoints,
            greedy=greedy,
            greedy_error=greedy_error,
            followed=followed,
            never=np.isposinf(judged[:, :, judge.GREEDY]).mean(axis=0),
            optimum=None if self.method.predicts else _optimum(self.task),
            runs=runs,
            diverged=float((diverged >= 0).mean()),
            diverged_at=int(diverged[diverged >= 0].min()) + 1 if (diverged >= 0).any() else None,
            truncated=0.0 if by_steps else float(self._ends[:, recording.TRUNCATED].sum()) / episodes,
            total_steps=float(self._ends[:, recording.TOTAL_STEPS].sum()),
            seconds=self.seconds,
            task=self.task,
            tables=self._tables,
            averages=self._ends[:, recording.AVERAGE],
            updates=float(self._ends[:, recording.UPDATES].mean()),
            learns=self.method.learns,
            advice=self.method.advice,
            by_steps=by_steps,
        )

    def _is_large(self, by_steps: bool) -> bool:
        """Return whether the planner, instead of the judge, evaluates the final policies."""
        from mdplay.learning.reinforcement.judge import MAX_STATES

        is_plain = isinstance(self.task, Task) and self.task.later is None and not self.method.predicts
        return is_plain and not by_steps and len(self._tables) > 0 and self.task.mdp.num_states > MAX_STATES

    def _judged_by_planner(self) -> Floats:
        """Return the exact values of the greedy policies at the end of the first runs."""
        from mdplay.learning.reinforcement.judge import COLUMNS, GREEDY

        found = np.full((min(MAX_PLANNED, self.size.runs), 1, COLUMNS), np.nan)
        for run in range(len(found)):
            policy = greedy_actions(self.task.mdp, self._tables[run])
            value = evaluate_policy(self.task.mdp, policy).value
            found[run, 0, GREEDY] = sum(share * float(value[s]) for s, share in self.task.starts.items())
        return found


def greedy_actions(mdp: Any, table: Floats) -> list[int]:
    """Return the greedy action of each state, the first of equal ones; -1 in terminal states."""
    first = mdp.first_choice.astype(np.int64)
    return [int(mdp.action[a + int(np.argmax(table[a:b]))]) if a < b else -1 for a, b in pairwise(first)]


def _finite_mean(values: Floats) -> tuple[Floats, Floats]:
    """Return the mean of the finite values of each column and its standard error; nan where there is none."""
    finite = np.isfinite(values)
    count = finite.sum(axis=0)
    with np.errstate(all="ignore"):
        mean = np.where(finite, values, 0.0).sum(axis=0) / count
        spread = np.where(finite, values - mean, 0.0)
        return mean, np.sqrt((spread**2).sum(axis=0) / np.maximum(1, count - 1) / count)


def _median(values: Floats) -> Floats:
    """Return the median of each column; nan where a value is missing."""
    return np.median(values, axis=0) if len(values) else np.zeros(values.shape[1])


def _optimum(task: Any) -> float | None:
    """Return the exact optimal value of the start, where it is finite."""
    if not isinstance(task, Task) or task.later is not None or task.mdp.num_states > 1_000_000:
        return None
    found = np.asarray(plan(task.mdp).value)
    value = sum(share * float(found[s]) for s, share in task.starts.items()) / sum(task.starts.values())
    return value if math.isfinite(value) else None


def state_values(task: Task, policy: Policy) -> Floats:
    """Return the exact values of the states under a policy."""
    chain = task.chain(policy)
    actions = np.where(chain.mdp.terminal, -1, 0)
    return np.asarray(evaluate_policy(chain.mdp, actions).value, float)


def num_checkpoints(task: Task, size: ExperimentOptions) -> int:
    """Return the number of exact evaluations of a run; raise LimitError if the task is too large."""
    from mdplay.learning.reinforcement.judge import MAX_STATES

    if task.mdp.num_states > MAX_STATES:
        if size.checkpoints not in (0, ExperimentOptions.checkpoints):
            states = pluralize(task.mdp.num_states, "state")
            raise LimitError(
                f"exact evaluation serves tasks of up to {MAX_STATES:,} states, not {states}; use checkpoints=0"
            )
        return 0
    return min(size.checkpoints, size.episodes)


def _number(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None
