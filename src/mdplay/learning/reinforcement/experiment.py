"""Experiments: methods learn a task many times; tables, plots and files of their curves."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any, overload

import numpy as np

from mdplay.errors import ArgumentError, GameError, short
from mdplay.learning.reinforcement.library import is_task
from mdplay.learning.reinforcement.methods import (
    Method,
    MonteCarlo,
    OffPolicyPrediction,
    Online,
    PolicyGradient,
    Sweeping,
    make_method,
    split_methods,
)
from mdplay.learning.reinforcement.results import (
    Curve,
    ExperimentOptions,
    Floats,
    Results,
    num_checkpoints,
    state_values,
)
from mdplay.learning.reinforcement.tasks import FloatTask, Policy, Task, task_of
from mdplay.runtime.run import Run, run_of
from mdplay.runtime.signals import Terminated, mark_interrupt_handled
from mdplay.storage.files import write

BAND = 1.96  # standard errors of a 95 % interval
SETTINGS = ("threads", "progress")
NO_LIMIT = 1 << 60


@dataclass(frozen=True, eq=False)
class Experiment(Sequence[Curve]):
    """The curves of methods on one task; a notebook shows them in one picture.

    ``unfinished`` are the names of the methods that Ctrl-C left out.
    """

    task: Any
    curves: tuple[Curve, ...]
    unfinished: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.curves)

    @overload
    def __getitem__(self, index: int) -> Curve: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Curve]: ...
    def __getitem__(self, index: int | slice) -> Curve | Sequence[Curve]:
        return self.curves[index]

    @property
    def optimum(self) -> float | None:
        """The exact optimal value of the start, where it is known."""
        return self.curves[0].optimum

    def document(self) -> dict[str, Any]:
        """Return the results at the end for JSON."""
        found = {"optimum": self.optimum, "methods": [curve.document() for curve in self.curves]}
        return found | ({"unfinished": list(self.unfinished)} if self.unfinished else {})

    def text(self) -> str:
        """Return the results at the end as a table."""
        header = ("method", "reward", "steps", "error", "greedy", "followed", "never ends")
        rows = [_row(curve) for curve in self.curves]
        widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in (header, *rows)
        ]
        if self.optimum is not None:
            lines.append(f"exact optimum from the start: {self.optimum:.6g}")
        if self.unfinished:
            lines.append(f"interrupted: {', '.join(self.unfinished)} did not finish")
        return "\n".join([*lines, *(note for curve in self.curves for note in curve.notes())])

    def write_curves(self, path: str | Path) -> None:
        """Write a CSV file with a row for each method and point."""
        columns = ("reward", "reward_error", "length", "length_error", "error", "error_error")
        text = StringIO()
        writer = csv.writer(text)
        writer.writerow(["method", "at", *columns])
        for curve in self.curves:
            table = zip(curve.at, *(getattr(curve, column) for column in columns), strict=True)
            writer.writerows([curve.name, int(at), *map(float, row)] for at, *row in table)
        write(path, text.getvalue())

    def plot(self, path: str | Path) -> None:
        """Plot the curves into a file: png, svg or pdf."""
        from mdplay.views.charts import save_plot

        save_plot(self.paint, path, (11, 4.8))

    def paint(self, figure: Any) -> None:
        """Paint the rewards, and the exact values or the errors, on a matplotlib figure."""
        predicts = any(np.isfinite(curve.error).any() and curve.error.any() for curve in self.curves)
        left, right = figure.subplots(1, 2)
        for i, curve in enumerate(self.curves):
            color = f"C{i}"
            _band(left, curve.at, curve.reward, curve.reward_error, curve.name, color)
            if predicts:
                _band(right, curve.at, curve.error, curve.error_error, curve.name, color)
            elif len(curve.checkpoints):
                _band(right, curve.checkpoints, curve.greedy, curve.greedy_error, f"{curve.name}, greedy", color)
                right.plot(curve.checkpoints, curve.followed, color=color, linestyle=":")
            else:
                _band(right, curve.at, curve.length, curve.length_error, curve.name, color)
        if self.optimum is not None and not predicts:
            for panel in (left, right) if len(self.curves[0].checkpoints) else (left,):
                panel.axhline(self.optimum, linestyle="--", color="gray", linewidth=1, label="exact optimum")
        unit = "step" if self.curves[0].by_steps else "episode"
        exact = "exact value: greedy policy; dotted: policy followed"
        names = ("reward", "error" if predicts else exact if len(self.curves[0].checkpoints) else "steps")
        for panel, name in zip((left, right), names, strict=True):
            panel.set_xlabel(unit)
            panel.set_ylabel(name)
            panel.grid(True)
        _focus(left, [curve.reward for curve in self.curves], self.optimum)
        if not predicts and len(self.curves[0].checkpoints):
            _focus(right, [c.greedy for c in self.curves] + [c.followed for c in self.curves], self.optimum)
        figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4)

    def _repr_html_(self) -> str:
        from mdplay.views.charts import Series, chart
        from mdplay.views.html import shown, table

        def series(curve: Curve, mean: Floats, error: Floats) -> Series:
            kept = np.isfinite(mean) & np.isfinite(error)
            x, y, band = curve.at[kept], mean[kept], BAND * error[kept]
            return Series(curve.name, x.tolist(), y.tolist(), (y - band).tolist(), (y + band).tolist())

        header = ("method", "reward", "steps", "error", "greedy", "followed", "never ends")
        rewards = chart([series(c, c.reward, c.reward_error) for c in self.curves], "episode", "reward")
        return shown(rewards, table(header, [_row(curve) for curve in self.curves], things="methods"))


def _row(curve: Curve) -> tuple[str, ...]:
    found = curve.document()

    def shown(name: str, error: str = "") -> str:
        if found[name] is None:
            return "-"
        half = found.get(error)
        return f"{found[name]:.5g}" + (f" ± {BAND * half:.2g}" if half else "")

    never = "-" if found["never_ends"] is None else f"{found['never_ends']:.1%}"
    error = shown("error", "error_error") if found["error"] else "-"
    return (
        curve.name,
        shown("reward", "reward_error"),
        shown("steps"),
        error,
        shown("greedy", "greedy_error"),
        shown("followed"),
        never,
    )


def _band(axes: Any, x: Any, mean: Floats, error: Floats, name: str, color: str) -> None:
    axes.plot(x, mean, label=name, color=color, linewidth=1.6)
    axes.fill_between(x, mean - BAND * error, mean + BAND * error, alpha=0.2, color=color)


def _focus(axes: Any, curves: Sequence[Floats], optimum: float | None) -> None:
    """Show the range of the curves after their first tenth: the first episodes may be a hundred times as long."""
    later = np.concatenate([curve[len(curve) // 10 :] for curve in curves])
    shown = [*np.percentile(later[np.isfinite(later)], [2.0, 98.0])] if np.isfinite(later).any() else []
    shown += [] if optimum is None else [optimum]
    if shown and max(shown) > min(shown):
        margin = 0.15 * (max(shown) - min(shown))
        axes.set_ylim(min(shown) - margin, max(shown) + margin)


def learn_task(
    task: Any,
    method: str | Method | Sequence[str | Method] = "q",
    *,
    policy: Policy | None = None,
    behaviour: Policy | None = None,
    start: Any = None,
    opponent: Any = None,
    player: int = 0,
    seed: int = 0,
    size: ExperimentOptions | None = None,
    run: Run | None = None,
    **options: Any,
) -> Experiment:
    """Learn a task by one or more methods, many times, and return the curves.

    ``task`` is a Task, an MDP, a FloatTask, or a game: a single-player one, or one against a fixed ``opponent``.
    ``method`` is a text such as "q,sarsa(n=4)", or a list.  Prediction methods (td, mc-prediction) estimate the
    values of ``policy`` ("uniform", actions or probabilities); ``behaviour`` is the policy that generates the
    episodes of off-policy-mc.  Other options are those of the methods, of `ExperimentOptions` and of a Run
    (threads, progress); a list of step sizes (``alpha=[0.1, 0.5]``) gives a curve for each.
    """
    made = _methods(method, options)
    limits = {name: options[name] for name in SETTINGS if name in options}
    chosen = run_of("learn", SETTINGS, run, limits)
    given = {name: value for name, value in options.items() if name in ExperimentOptions.__dataclass_fields__}
    size = ExperimentOptions(**given) if size is None else size
    if isinstance(task, str) and is_task(task):
        raise GameError(f"{short(task)!r} is not a task: mdplay.make_task({short(task)!r}) makes one by its name")
    if not isinstance(task, FloatTask):
        task = task_of(task, start=start, opponent=opponent, player=player)
    curves: list[Curve] = []
    try:
        for one in made:
            curves.append(_learned(task, one, size, policy, behaviour, seed, chosen))
    except KeyboardInterrupt as interrupt:
        if not curves or isinstance(interrupt, Terminated):
            raise
        mark_interrupt_handled()
    return Experiment(task, tuple(curves), tuple(one.name for one in made[len(curves) :]))


def _methods(method: str | Method | Sequence[str | Method], options: dict[str, Any]) -> list[Method]:
    """Return the methods; each of a list of step sizes makes a method of its own."""
    names: list[str | Method] = (
        list(split_methods(method))
        if isinstance(method, str)
        else [method]
        if isinstance(method, Method)
        else [*method]
    )
    if not names:
        raise ArgumentError("no method is named; write for example q or sarsa(n=4)")
    other = {*SETTINGS, *ExperimentOptions.__dataclass_fields__}
    given = {name: value for name, value in options.items() if name not in other and value is not None}
    alphas = given.pop("alpha", None)
    several = isinstance(alphas, (list, tuple, np.ndarray))
    found = []
    for name in names:
        for alpha in alphas if several else [alphas]:
            made = make_method(name, **given, **({} if alpha is None else {"alpha": alpha}))
            label = made.name or (name if isinstance(name, str) else type(made).__name__)
            found.append(replace(made, name=f"{label}, alpha {alpha}" if several else label))
    return found


def _learned(
    task: Any, method: Method, size: ExperimentOptions, policy: Any, behaviour: Any, seed: int, run: Run
) -> Curve:
    """Return the curve of one method."""
    if method.predicts and policy is None:
        raise ArgumentError(
            f"{method.name} estimates the value of a policy; name it with policy=, such as uniform"
        )
    if not method.predicts and policy is not None:
        raise ArgumentError(f"{method.name} learns a policy of its own; omit policy=, or use td or mc-prediction")
    off_policy = isinstance(method, OffPolicyPrediction) or getattr(method, "off_policy", "none") != "none"
    if behaviour is not None and not off_policy:
        raise ArgumentError(f"behaviour has no effect in {method.name}; use off-policy-mc, off-policy-td or tdc")
    if method.kind != "online" and isinstance(task, FloatTask):
        raise ArgumentError(f"{method.name} needs a finite task; use an online method, such as sarsa")
    if isinstance(method, Online):
        return _online(task, method, size, policy, seed, run)
    if isinstance(method, PolicyGradient):
        from mdplay.learning.reinforcement.gradient import learn_gradient

        return learn_gradient(task, method, size, seed, run)
    if isinstance(method, Sweeping):
        from mdplay.learning.reinforcement.sweeping import learn_sweeping

        return learn_sweeping(task, method, size, seed, run)
    if isinstance(method, OffPolicyPrediction):
        from mdplay.learning.reinforcement.off_policy import learn_off_policy

        return learn_off_policy(task, method, size, policy, behaviour, seed, run)
    from mdplay.learning.reinforcement.episodes import learn_monte_carlo

    assert isinstance(method, MonteCarlo)

    return learn_monte_carlo(task, method, size, policy, behaviour, seed, run)


def _online(task: Any, method: Online, size: ExperimentOptions, policy: Any, seed: int, run: Run) -> Curve:
    from mdplay.compiling import native, word
    from mdplay.learning.reinforcement import online, recording

    is_model = isinstance(task, Task)
    truth = None
    if method.predicts:
        if not is_model:
            raise ArgumentError(
                f"{method.name} needs a finite task; real-valued tasks are learned by control, as sarsa"
            )
        truth = state_values(task, policy)
        task = task.chain(policy)
    world = task.world if is_model else task
    if method.counts and world.active:
        raise ArgumentError("values that are linear in features count no visits; give alpha as a number")
    if method.plans and (not is_model or world.active):
        raise ArgumentError("planning steps need a table; use a finite task without features")
    if method.beta and (task.mdp.discount if is_model else task.discount) != 1.0:
        raise ArgumentError(f"{method.name} maximises the average reward, which has no discount; use discount 1")
    by_steps = size.steps is not None
    every = max(1, -(-(size.steps or size.episodes) // size.points))
    update = online.Update(
        counts=method.counts,
        n_step=method.n > 1,
        traces=method.lambda_ > 0.0,
        replacing=method.traces == "replacing",
        dutch=method.traces == "true-online",
        cuts=method.lambda_ > 0.0 and type(method.rule).__name__ == "Q",
        planning=method.plans > 0,
        curious=method.kappa > 0.0,
        differential=method.beta > 0.0,
        measured=truth is not None,
        by_steps=by_steps,
    )
    weights = _num_weights(task, world) * (2 if method.rule.double else 1)
    numbers = online.Numbers(
        method.step_size,
        method.exploration,
        float(method.initial),
        float(method.lambda_),
        method.n,
        method.plans,
        float(method.kappa),
        float(method.beta),
    )
    judged = is_model and not method.predicts and task.later is None and not by_steps
    checkpoints = num_checkpoints(task, size) if judged else 0
    length = recording.Length(
        size.episodes if not by_steps else NO_LIMIT, size.steps or NO_LIMIT, size.max_steps, every, checkpoints
    )
    arrays = task.arrays() if is_model else _no_arrays(float(task.discount))
    pairs = task.mdp.num_choices if is_model else 0
    points = -(-(size.steps or size.episodes) // every)
    results = Results(task, method, size, points, pairs, checkpoints)
    given = np.zeros(1) if truth is None else truth[task.mdp.owners()]
    share = np.zeros(1) if truth is None else np.full(pairs, 1.0 / max(1, pairs))
    job = partial(
        online.learn_online,
        native(world),
        native(method.rule),
        native(method.rule_of_choice),
        native(update),
        arrays,
        numbers,
        length,
        word(seed),
    )
    return results.collect(
        run, job, lambda: online.new_memory(weights, world, update, method.n), every, given, share, by_steps
    )


def _num_weights(task: Any, world: Any) -> int:
    if not isinstance(task, Task):
        return int(task.features) * int(task.width)
    if task.features is None:
        return task.mdp.num_choices
    return (int(task.features.max()) + 1) * int(world.width)


def _no_arrays(discount: float) -> Any:
    """Return the arrays of a task that has no model."""
    from mdplay.learning.reinforcement.tasks import NO_CHANGE, OUTCOME, ROW, TaskArrays

    empty = np.zeros(1, np.int32)
    return TaskArrays(
        empty,
        np.zeros(1, ROW),
        np.zeros(1, OUTCOME),
        np.zeros(1, OUTCOME),
        np.zeros((1, 1), np.int32),
        discount,
        NO_CHANGE,
    )
