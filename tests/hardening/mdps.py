"""Random MDPs against exact fractions: bounds must enclose the optimum, actions must attain it.

A try makes an MDP out of numbers that are hard for doubles: rows whose sum is off by rounding, rewards that cancel
or are huge or tiny, probabilities down to the smallest double, discounts up to 1 - 2^-53 and 1, with and without
cycles, rewards and costs.  The MDP is read from a file or from nested lists, planned by some method on either
machine, evaluated for a policy, or used to verify given values.

    python -m tests.hardening.mdps SEED NUMBER        shows one try
"""

from __future__ import annotations

import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from mdplay.errors import MdplayError
from mdplay.planning import MDP, Plan, backends, evaluate_policy, methods, plan, verify
from mdplay.states import graph_search as walks
from tests.hardening.campaign import Tally
from tests.planning.exact import Model, encloses, mixture, model_of, optimum, policy_value, q_value

SECONDS = 30  # of the processor, for one try; the longest takes a few
DISCOUNTS = [0.0, 0.5, 0.9, 0.999, 1 - 1e-6, 1 - 1e-9, 1 - 1e-12, 1 - 2.0**-52, 1 - 2.0**-53]
NAMED = ["vi", "jacobi", "topological", "mpi", "mixed", "hpi", "ipi", "lp"]
SWEEPING = 0.9999  # beyond this discount sweeps alone take too long for a campaign
TIE = Fraction(1, 10**9)

Line = tuple[int, int, int, float, float]  # state, action, target, reward, probability


class TooLong(BaseException):
    """A try did not end in time."""


@dataclass(frozen=True)
class Case:
    """An MDP as lines, and what is asked of it."""

    lines: list[Line]
    num_states: int
    discount: float
    minimise: bool
    question: str
    method: str
    compiled: bool
    seed: tuple[int, int]

    @property
    def ends(self) -> list[int]:
        """The states without lines."""
        return sorted(set(range(self.num_states)) - {line[0] for line in self.lines})

    def text(self) -> str:
        """Return the MDP as a file of the course."""
        width = max([line[1] for line in self.lines], default=0) + 1
        head = f"numStates {self.num_states}\nnumActions {width}\nend {' '.join(map(str, self.ends)) or -1}\n"
        body = "".join(f"transition {s} {a} {t} {r!r} {p!r}\n" for s, a, t, r, p in self.lines)
        return f"{head}{body}mdptype {'episodic' if self.ends else 'continuing'}\ndiscount {self.discount!r}\n"

    def model(self) -> Model:
        """Return what the lines mean, in fractions."""
        found: Model = model_of(self.num_states, self.lines, self.discount, minimise=self.minimise)
        return found


def run(tally: Tally, count: int, seed: int) -> None:
    """Try so many MDPs."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            _try(tally, make_case(seed, number), Path(folder) / "mdp.txt")


def _try(tally: Tally, case: Case, path: Path) -> None:
    """Ask one question and judge the answer."""
    try:
        with _in_time(), _machine(case.compiled):
            tally.ended(ask(case, path))
    except (AssertionError, TooLong) as error:
        seed, number = case.seed
        where = f"python -m tests.hardening.mdps {seed} {number}"
        tally.found(f"{case.question} by {case.method}: {error or type(error).__name__}: {where}")
    except Exception as error:  # whatever it is, a user would see a traceback
        seed, number = case.seed
        tally.found(f"{type(error).__name__}: {error}: python -m tests.hardening.mdps {seed} {number}")


@contextmanager
def _in_time() -> Iterator[None]:
    """Raise `TooLong` in what takes longer than a try may."""

    def ring(*_: Any) -> None:
        raise TooLong("no end in sight")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def _machine(compiled: bool) -> Iterator[None]:
    """Let even a small MDP take the way of the large ones."""
    if not compiled:
        yield
        return
    with (
        patch.object(backends, "PLAIN_TRANSITIONS", 0),
        patch.object(walks, "PLAIN_WORK", -1),
        patch.object(methods, "COARSE_STATES", 0),
    ):
        yield


# ---- making MDPs


def make_case(seed: int, number: int) -> Case:
    """Return a case that depends on both numbers alone."""
    rng = np.random.default_rng([seed, number])
    discount = 1.0 if rng.random() < 0.4 else float(rng.choice(DISCOUNTS))
    num_states = int(rng.integers(1, 5 if discount == 1.0 else 7))
    acyclic, ends = bool(rng.random() < 0.15), discount == 1.0 or bool(rng.random() < 0.6)
    kinds = rng.choice(len(REWARDS)), rng.choice(len(WEIGHTS))
    lines: list[Line] = []
    for state in range(num_states - (ends or acyclic)):
        if not (ends and rng.random() < 0.1):
            scoring_sets = np.arange(state + 1, num_states) if acyclic else np.arange(num_states)
            for action in range(int(rng.integers(1, 3 if discount == 1.0 else 4))):
                lines += _row(rng, state, action, scoring_sets, *kinds)
    compiled = bool(rng.random() < 0.3)
    slow = discount > SWEEPING
    usual = "auto" if not compiled else str(rng.choice(["mixed", "ipi", "hpi"] if not slow else ["hpi", "ipi"]))
    named = str(rng.choice([name for name in NAMED if not slow or name in ("hpi", "lp", "topological")]))
    method = usual if rng.random() < 0.5 else named
    question = str(
        rng.choice(["file", "nested", "policy", "mixed policy", "verify"], p=[0.4, 0.25, 0.1, 0.15, 0.1])
    )
    minimise = question != "file" and bool(rng.random() < 0.3)
    return Case(lines, num_states, discount, minimise, question, method, compiled, (seed, number))


def _row(rng: Any, state: int, action: int, scoring_sets: Any, reward_kind: int, weight_kind: int) -> list[Line]:
    """Return the lines of one state and action; a target may come twice."""
    size = int(rng.integers(1, 5))
    chosen = rng.choice(scoring_sets, size=size)
    weights = WEIGHTS[weight_kind](rng, size)
    rewards = REWARDS[reward_kind](rng, size)
    return [
        (state, action, int(t), float(r), float(p)) for t, r, p in zip(chosen, rewards, weights, strict=True) if p
    ]


def _counted(rng: Any, size: int) -> Any:
    weights = rng.integers(1, 5, size)
    return weights / weights.sum()


def _printed(rng: Any, size: int) -> Any:
    """Return probabilities of six decimals, as a file would have them."""
    return np.maximum(np.round(_counted(rng, size), 6), 1e-6)


def _off(rng: Any, size: int) -> Any:
    """Return probabilities whose sum misses 1 by up to what is allowed."""
    return np.minimum(rng.dirichlet(np.ones(size)) * (1 + rng.uniform(-9e-6, 9e-6)), 1.0)


def _tiny(rng: Any, size: int) -> Any:
    """Return one probability of about 1 and some that hardly count."""
    weights = 10.0 ** rng.uniform(-rng.choice([6, 12, 20, 323]), -5.5, size)
    weights[int(rng.integers(size))] = 1.0 if rng.random() < 0.5 else 1.0 - 2.0**-53
    return weights


WEIGHTS = [_counted, _printed, _off, _tiny]


def _small(rng: Any, size: int) -> Any:
    return rng.integers(-4, 5, size) / 4


def _paid(rng: Any, size: int) -> Any:
    """Return rewards of which none is positive."""
    return rng.choice([0.0, -1.0], size)


def _cancelling(rng: Any, size: int) -> Any:
    """Return rewards that nearly cancel, some of them exactly."""
    large = 10.0 ** rng.uniform(3, 18)
    return rng.choice([large, -large, large, -large, 1.0, 0.0], size)


def _spread(rng: Any, size: int) -> Any:
    return rng.choice([-1.0, 1.0], size) * 10.0 ** rng.uniform(-12, 12, size)


def _huge(rng: Any, size: int) -> Any:
    return rng.choice([-1.0, 1.0, 1.0], size) * 10.0 ** rng.uniform(200, 308, size)


def _minute(rng: Any, size: int) -> Any:
    return rng.choice([-1.0, 0.0, 1.0], size) * 10.0 ** rng.uniform(-323, -290, size)


def _mostly_nothing(rng: Any, size: int) -> Any:
    return rng.choice([0.0, 0.0, 0.0, 1.0, -1.0], size)


REWARDS = [_small, _small, _paid, _cancelling, _cancelling, _spread, _huge, _minute, _mostly_nothing]


# ---- asking and judging


def ask(case: Case, path: Path) -> str:
    """Ask the question of a case; return how it ended, raise `AssertionError` if it must not end so."""
    model = case.model()
    try:
        mdp = _read(case, path)
        if case.question == "verify":
            return _judge_bounds(verify(mdp, _guess(case, model)), model)
        if case.question in ("policy", "mixed policy"):
            return _judge_policy(case, mdp, model)
        found = plan(mdp, case.method)
    except MdplayError as error:
        return _judge_refusal(case, model, str(error))
    return _judge_plan(found, model)


def _read(case: Case, path: Path) -> MDP:
    if case.question == "file":
        path.write_text(case.text(), encoding="ascii")
        return MDP.from_cs747(path)
    width = max([line[1] for line in case.lines], default=0) + 1
    nested: list[Any] = [[[] for _ in range(width)] for _ in range(case.num_states)]
    for s, a, t, r, p in case.lines:
        nested[s][a].append([t, r, p])
    return MDP.from_nested(nested, discount=case.discount, minimise=case.minimise)


def _guess(case: Case, model: Model) -> Any:
    """Return values to verify: good ones, or any."""
    rng = np.random.default_rng(case.seed)
    exact = optimum(model) if rng.random() < 0.5 else None
    values = [0.0] * case.num_states if exact is None else [float(v) if abs(v) < 1e300 else 0.0 for v in exact]
    return np.array(values) * (1 + rng.choice([0.0, 1e-15, 1e-3]) * rng.normal(size=case.num_states))


def _judge_refusal(case: Case, model: Model, sentence: str) -> str:
    """Say why an MDP was refused; raise if there was no reason."""
    most = max([abs(line[3]) for line in case.lines], default=0.0)
    if "divide all rewards" in sentence or "must not be larger" in sentence:
        assert most > 1e100 or case.discount == 1.0, sentence
        return "refused: too large"
    if "average to zero" in sentence:
        assert case.discount == 1.0, sentence
        return "refused: average of about zero"
    if "sweeps: use the method" in sentence:
        assert case.method not in ("auto", "hpi"), sentence
        return "refused: too many sweeps"
    if "linear program" in sentence:
        return "refused: no linear program"
    assert "sum to" in sentence, sentence
    assert any(abs(total - 1) > 0.99e-5 for total in _sums(case.lines)), sentence
    return "refused: row sum"


def _sums(lines: list[Line]) -> list[Fraction]:
    sums: dict[tuple[int, int], Fraction] = {}
    for s, a, _, _, p in lines:
        sums[s, a] = sums.get((s, a), Fraction(0)) + Fraction(p)
    return list(sums.values())


def _judge_bounds(found: Any, model: Model) -> str:
    """Assert that bounds enclose the optimum."""
    exact = optimum(model)
    if exact is None:
        return "answered, total not defined"
    assert encloses(found.lower, exact, found.upper), f"[{found.lower}, {found.upper}] misses {_shown(exact)}"
    return "enclosed"


def _judge_plan(found: Plan, model: Model) -> str:
    """Assert that a plan is proven, and its actions right."""
    exact = optimum(model)
    ended = _judge_bounds(found, model)
    if exact is None:
        return ended
    assert [v for v in found.value.tolist() if abs(v) == inf] == [v for v in exact if abs(v) == inf], "infinities"
    sign = -1 if model.minimise else 1
    signed = [sign * value for value in exact]
    undecided = set(found.undecided.tolist())
    for state, some in enumerate(model.choices):
        if some and abs(exact[state]) < inf:
            gap = Fraction(0) if state not in undecided else 4 * _widest(found)
            _judge_action(model, state, int(found.action[state]), signed, sign, gap, model.discount < 1)
    _judge_policy_of(found, model, signed, sign)
    return ended if found.closed else f"{ended}, not closed"


def _widest(found: Plan) -> Any:
    finite = np.isfinite(found.value)
    most = float((found.upper[finite] - found.lower[finite]).max(initial=0.0))
    return Fraction(most) if most < inf else inf


def _judge_action(model: Model, state: int, action: int, signed: Any, sign: int, gap: Any, strict: bool) -> None:
    """Assert that an action is the first that is tied with the best, or near it where that is undecided."""
    margin = TIE * max(1, abs(signed[state]))
    worths = {choice.action: q_value(model, choice, signed, sign) for choice in model.choices[state]}
    assert action in worths, f"state {state} has no action {action}"
    loss = signed[state] - worths[action]
    assert loss <= margin + gap, f"action {action} of state {state} loses {_shown([loss])}"
    if not gap and strict:
        first = min(a for a, value in worths.items() if signed[state] - value <= margin)
        assert action == first, f"state {state} has action {action}; {first} is tied with it"


def _judge_policy_of(found: Plan, model: Model, signed: Any, sign: int) -> None:
    """Assert that the actions, taken for ever, are worth infinity where the state is, and nowhere else."""
    if model.discount < 1:
        return
    taken = [
        next((choice for choice in some if choice.action == action), None)
        for some, action in zip(model.choices, found.action.tolist(), strict=True)
    ]
    values = policy_value(model, taken, sign)
    assert values is not None, "the plan's total is not defined"
    wrong = [s for s, v in enumerate(values) if (abs(v) == inf or abs(signed[s]) == inf) and v != signed[s]]
    assert not wrong, f"by these actions state {wrong[0]} is worth {values[wrong[0]]}, not {signed[wrong[0]]}"


def _judge_policy(case: Case, mdp: MDP, model: Model) -> str:
    """Assert that the bounds of a policy's value enclose it."""
    rng = np.random.default_rng(case.seed)
    weights = np.zeros((case.num_states, max(1, mdp.num_actions)))
    for state, some in enumerate(model.choices):
        given = np.zeros(len(some))
        if some:
            given = _printed(rng, len(some)) if rng.random() < 0.5 else rng.dirichlet(np.ones(len(some)))
            if case.question == "policy" or abs(given.sum() - 1) > 9e-7:
                given = np.eye(len(some))[int(rng.integers(len(some)))]
        weights[state, [choice.action for choice in some]] = given
    policy = weights.argmax(axis=1) if case.question == "policy" else weights
    return _judge_bounds(evaluate_policy(mdp, policy), mixture(model, weights))


def _shown(values: Any) -> str:
    return str([float(value) if abs(value) < 1e300 else f"{value:.3e}" for value in values])


if __name__ == "__main__":
    shown = make_case(int(sys.argv[1]), int(sys.argv[2]))
    print(shown.text(), shown, sep="\n")
    with _machine(shown.compiled):
        print(ask(shown, Path(tempfile.mkdtemp()) / "mdp.txt"))
