"""Methods of reinforcement learning by name: ``q``, ``sarsa(n=4)``, ``dyna-q(plans=50)``, ``mine.py:MyRule``.

A method is a frozen dataclass of annotated options; specs, options of the command line and the reference are
derived from it.  A step size or epsilon is a number or a schedule (see `read_schedule`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, ClassVar

from mdplay.errors import ArgumentError, FormatError, GameError, MdplayError, unknown
from mdplay.game import Between
from mdplay.learning.reinforcement.rules import (
    VISITS,
    Boltzmann,
    DoubleQ,
    ExpectedSarsa,
    Q,
    Rule,
    Sarsa,
    Schedule,
    Scheduled,
    TreeBackup,
    read_schedule,
)
from mdplay.naming.specs import COMMA, Parameter, load_module, parameters, read_parameters, read_spec
from mdplay.searching.selectors import Greedy, Selector, make_selector

TRACES = ("accumulating", "replacing", "true-online")


@dataclass(frozen=True)
class Method:
    """The options that every method has."""

    alpha: Annotated[float | str, "Step size: a number or a schedule, such as 1/n."] = 0.1
    initial: Annotated[float, "Initial value of every action."] = 0.0
    name: str = field(default="", kw_only=True)

    kind: ClassVar[str] = "method"
    predicts: ClassVar[bool] = False
    learns: ClassVar[str] = "action values"

    @property
    def advice(self) -> str:
        """What to do if a run diverges."""
        return "use a smaller alpha"

    @property
    def step_size(self) -> Schedule:
        """The schedule of the step size."""
        return read_schedule(self.alpha, "alpha")


@dataclass(frozen=True)
class Exploring(Method):
    """A method that chooses its actions by a selector."""

    epsilon: Annotated[
        float | str, "Probability of a random action, or the temperature of softmax; a number or a schedule."
    ] = 0.1
    selector: Annotated[str | Selector, "epsilon-greedy, softmax, ucb1(c=20) or another selector."] = (
        "epsilon-greedy"
    )

    def __post_init__(self) -> None:
        schedule, softmax = self.exploration, isinstance(self.rule_of_choice, Boltzmann)
        if schedule.clock == VISITS:
            raise ArgumentError(f"epsilon={self.epsilon} counts visits of pairs; use 1/episode or 1/step")
        if softmax and schedule.first <= 0.0:
            raise ArgumentError("the temperature of softmax (epsilon) must be positive; use greedy instead of 0")
        if not softmax and schedule.first > 1.0:
            raise ArgumentError(f"epsilon={self.epsilon} is a probability; it must not exceed 1")

    @property
    def exploration(self) -> Schedule:
        """The schedule of epsilon."""
        return read_schedule(self.epsilon, "epsilon")

    @property
    def rule_of_choice(self) -> Selector:
        """The selector that chooses actions."""
        if isinstance(self.selector, Selector):
            return self.selector
        scheduled = {"epsilon-greedy": Scheduled(), "softmax": Boltzmann(), "greedy": Greedy()}
        return scheduled.get(self.selector) or make_selector(self.selector)

    @property
    def counts(self) -> bool:
        """Whether the method counts visits: for a schedule by visits, or a selector that needs pulls."""
        return self.step_size.clock == VISITS or not isinstance(
            self.rule_of_choice, (Scheduled, Boltzmann, Greedy)
        )


@dataclass(frozen=True)
class Online(Exploring):
    """Temporal differences: an update after every step, by a rule."""

    rule: Any = field(default=Q(), kw_only=True)
    n: Annotated[int, Between(1, 10_000), "Steps of the return."] = 1
    lambda_: Annotated[float, Between(0.0, 1.0), "Decay of the eligibility traces; 0: none."] = 0.0
    traces: Annotated[str, "accumulating, replacing or true-online."] = "accumulating"
    plans: Annotated[int, Between(0, 1_000_000), "Planning steps after each step (Dyna)."] = 0
    kappa: Annotated[float, Between(0.0, 1e9), "Bonus for pairs that were not tried for long (Dyna-Q+)."] = 0.0
    beta: Annotated[float, Between(0.0, 1.0), "Step size of the average reward; 0: rewards are totals."] = 0.0

    kind = "online"

    def __post_init__(self) -> None:
        super().__post_init__()
        traced = self.lambda_ > 0.0
        if self.traces not in TRACES:
            raise FormatError(f"traces={self.traces!r} is unknown; use {', '.join(TRACES)}")
        if traced and self.n > 1:
            raise ArgumentError("n and lambda exclude each other; give one of them")
        if self.rule.double and (traced or self.n > 1 or self.plans or self.beta):
            raise ArgumentError("double-q updates one step; omit n, lambda, plans and beta")
        if self.plans and (traced or self.n > 1):
            raise ArgumentError("planning steps need one-step updates; omit n and lambda")
        if traced and isinstance(self.rule, TreeBackup):
            raise ArgumentError("tree-backup has no traces; use n")
        if self.rule.needs_mean and not self.rule_of_choice.has_chance:
            raise ArgumentError(
                f"{self.name or 'the rule'} needs the probabilities of actions, which {self.selector} has not; "
                "use epsilon-greedy or softmax"
            )


@dataclass(frozen=True)
class Prediction(Online):
    """Temporal differences for the value of a given policy: TD(0), n-step TD and TD(lambda)."""

    rule: Any = field(default=Sarsa(), kw_only=True)
    predicts = True
    learns = "state values"


@dataclass(frozen=True)
class MonteCarlo(Exploring):
    """Monte Carlo: updates after whole episodes."""

    alpha: Annotated[float | str, "Step size: a number or a schedule, such as 1/n."] = "1/n"
    every_visit: Annotated[bool, "Update at every visit of a pair instead of the first of an episode."] = False
    exploring_starts: Annotated[bool, "Start each episode with a random pair of state and action."] = False

    kind = "episodes"


@dataclass(frozen=True)
class MonteCarloPrediction(MonteCarlo):
    """Monte Carlo for the value of a given policy, from its own episodes or from those of another policy."""

    off_policy: Annotated[str, "Importance sampling: none, ordinary or weighted."] = "none"
    predicts = True
    learns = "state values"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.off_policy != "none" and self.exploring_starts:
            raise ArgumentError("exploring starts and importance sampling exclude each other; give one of them")
        if self.off_policy == "weighted" and self.alpha != "1/n":
            raise ArgumentError("weighted importance sampling has no step size; omit alpha, or use ordinary")
        if self.off_policy not in ("none", "ordinary", "weighted"):
            raise FormatError(f"off_policy={self.off_policy!r} is unknown; use none, ordinary or weighted")


@dataclass(frozen=True)
class OffPolicyPrediction(Method):
    """Linear values of a policy from the steps of another: semi-gradient TD, and TD with gradient correction."""

    corrected: Annotated[bool, "Follow the gradient of the projected error (TDC)."] = False
    beta: Annotated[float, Between(0.0, 1.0), "Step size of the correction."] = 0.05

    kind = "off-policy"
    predicts = True
    learns = "state values"
    counts: ClassVar[bool] = False

    @property
    def advice(self) -> str:
        """What to do if a run diverges."""
        return "use a smaller alpha" if self.corrected else "off policy, every alpha may diverge; use tdc"

    def __post_init__(self) -> None:
        if self.step_size.clock == VISITS:
            raise ArgumentError(f"alpha={self.alpha} counts visits, and linear values have none; use 1/episode")


@dataclass(frozen=True)
class Sweeping(Exploring):
    """Prioritised sweeping (Moore and Atkeson 1993): the largest changes are planned first."""

    alpha: Annotated[float | str, "Step size: a number or a schedule."] = 1.0
    plans: Annotated[int, Between(0, 1_000_000), "Planning steps after each step."] = 5
    threshold: Annotated[float, Between(0.0, 1e9), "Smallest change that is planned."] = 1e-4

    kind = "sweeping"


@dataclass(frozen=True)
class PolicyGradient(Method):
    """REINFORCE (Williams 1992), with or without a baseline, and one-step actor-critic."""

    alpha: Annotated[float, Between(0.0, 1e9), "Step size of the policy."] = 2.0**-9
    alpha_w: Annotated[float, Between(0.0, 1e9), "Step size of the baseline or critic."] = 2.0**-6
    baseline: Annotated[bool, "Subtract a learned state value from the return."] = False
    critic: Annotated[bool, "Update after each step with a learned critic."] = False
    lead: Annotated[float, "Initial preference of action 0 over each other action."] = 0.0

    kind = "gradient"
    learns = "preferences"
    exploration: ClassVar[Schedule] = Schedule(1.0)
    rule_of_choice: ClassVar[Selector] = Boltzmann()


METHODS: dict[str, Callable[..., Method]] = {
    "q": partial(Online, rule=Q()),
    "double-q": partial(Online, rule=DoubleQ()),
    "sarsa": partial(Online, rule=Sarsa()),
    "expected-sarsa": partial(Online, rule=ExpectedSarsa()),
    "tree-backup": partial(Online, rule=TreeBackup()),
    "dyna-q": partial(Online, rule=Q(), plans=10),
    "dyna-q-plus": partial(Online, rule=Q(), plans=10, kappa=1e-3),
    "differential-sarsa": partial(Online, rule=Sarsa(), beta=0.01),
    "td": Prediction,
    "mc": MonteCarlo,
    "mc-es": partial(MonteCarlo, exploring_starts=True),
    "mc-prediction": MonteCarloPrediction,
    "off-policy-mc": partial(MonteCarloPrediction, off_policy="weighted"),
    "off-policy-td": OffPolicyPrediction,
    "tdc": partial(OffPolicyPrediction, corrected=True),
    "sweeping": Sweeping,
    "reinforce": PolicyGradient,
    "actor-critic": partial(PolicyGradient, critic=True),
}


def options_of_method(maker: Callable[..., Method]) -> list[Parameter]:
    """Return the options of a method."""
    cls = maker.func if isinstance(maker, partial) else maker
    given = maker.keywords if isinstance(maker, partial) else {}
    hidden = {"name", "rule"}
    found = [option for option in parameters(cls) if option.name not in hidden]
    return [replace(option, default=given.get(option.name, option.default)) for option in found]


def make_method(text: str | Method, **options: Any) -> Method:
    """Return the method that a text names; ``options`` are those that the text does not give.

    A class of a file, ``mine.py:MyRule``, is an update rule of your own.

    >>> make_method("sarsa(n=4)").n
    4
    """
    if isinstance(text, Method):
        return replace(text, **options) if options else text
    spec = read_spec(text)
    maker = _maker(spec.name) if spec.file is None else partial(Online, rule=_rule_of(spec.file, spec.name))
    known = options_of_method(maker)
    names = [option.name for option in known]
    for name in options:
        if name not in names:
            raise _no_option(spec.name, name, names)
    written = [replace(option, name=option.name.rstrip("_")) for option in known]
    try:
        given = read_parameters(written, spec.options)
        found = {name + "_" if name + "_" in names else name: value for name, value in given.items()}
        return maker(**{**options, **found}, name=text.replace(" ", ""))
    except MdplayError as error:
        raise type(error)(f"method {spec.name}: {error}") from None


def split_methods(text: str) -> list[str]:
    """Return the methods in a list separated by commas; a comma inside parentheses does not separate."""
    return [part.strip() for part in COMMA.split(text) if part.strip()]


def is_method(text: object) -> bool:
    """Return whether a text names methods of reinforcement learning."""
    if isinstance(text, Method):
        return True
    if not isinstance(text, str) or not (names := split_methods(text)):
        return False
    spec = read_spec(names[0])
    return spec.name in METHODS if spec.file is None else True


def _maker(name: str) -> Callable[..., Method]:
    if name not in METHODS:
        raise unknown("method", name, METHODS)
    return METHODS[name]


def _no_option(method: str, name: str, names: list[str]) -> MdplayError:
    others = [other for other, maker in METHODS.items() if name in [o.name for o in options_of_method(maker)]]
    said = name.rstrip("_")
    if others:
        return ArgumentError(f"the method {method} has no option {said!r}; {', '.join(others[:4])} have it")
    return unknown("option", said, [option.rstrip("_") for option in names])


def _rule_of(path: Any, name: str) -> Rule:
    module = load_module(path)
    classes = [
        found
        for found in vars(module).values()
        if isinstance(found, type) and issubclass(found, Rule) and found.__module__ == module.__name__
    ]
    chosen = [found for found in classes if not name or found.__name__ == name]
    if len(chosen) != 1:
        listed = ", ".join(found.__name__ for found in classes) or "none"
        raise GameError(f"{path.name} has no single update rule {name}; its classes derived from Rule: {listed}")
    return chosen[0]()
