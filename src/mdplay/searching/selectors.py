"""Bandit rules: which arm to pull next.  One set for the bandit laboratory and for tree search.  No numba here.

A selector is a frozen dataclass with one method, ``score``: the arm of the highest score is pulled, ties go to
the lowest arm.  Rewards lie in 0 .. 1 in tree search; in the laboratory they are what the arms give.

    @dataclass(frozen=True)
    class Halving(Selector):
        def score(self, arm: Arm, total: int, coin: float, dice: float) -> float:
            return arm.mean + 0.5**arm.pulls

is a whole selector, compiled like a game.  One that keeps a number of its own for each arm, as the gradient
rule keeps preferences, also writes ``learn``.

    epsilon-greedy, optimistic, gradient   Sutton and Barto, Reinforcement Learning, 2nd edition, chapter 2
    ucb1, ucb1-tuned                       Auer, Cesa-Bianchi, Fischer, Machine Learning 47 (2002)
    kl-ucb                                 Garivier, Cappe, COLT 2011
    thompson                               Thompson, Biometrika 25 (1933)
    exp3                                   Auer, Cesa-Bianchi, Freund, Schapire, SIAM J. Computing 32 (2002)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from mdplay.bits import U64, mix, unit
from mdplay.errors import GameError, MdplayError, unknown
from mdplay.game import Compiled
from mdplay.naming.registry import load_plugin, plugin_points, source_of
from mdplay.naming.specs import COMMA, load_module, parameters, read_parameters, read_spec

TINY = 1e-300  # keeps logarithms finite
KL_STEPS = 24  # halvings of the KL-UCB interval: an error below 1e-7


class Arm(NamedTuple):
    """What is known of an arm."""

    pulls: int
    mean: float  # of its rewards; 0 before the first
    square: float  # mean of their squares; kept only if the selector says ``squares = True``
    weight: float  # the selector's own number, kept only if it has a ``learn``


class Pull(NamedTuple):
    """A pull, as each of the arms sees it."""

    chosen: bool  # this arm was pulled
    reward: float
    average: float  # of all rewards before this one
    share: float  # exp(weight) of this arm / the sum of all arms'
    arms: int


class Crowd(NamedTuple):
    """All arms together, as the probability of one of them needs them."""

    arms: int
    highest: float  # largest mean
    ties: int  # number of arms with the largest mean
    total: float  # sum of exp((mean - highest) / weight), computed if the selector says ``exponential = True``


class Selector(Compiled):
    """A bandit rule; override ``score``."""

    squares: ClassVar[bool] = False
    learns: ClassVar[bool] = False
    priors: ClassVar[bool] = False  # weights are priors, and arms are compared before all have been pulled
    has_chance: ClassVar[bool] = False  # whether ``chance`` is defined
    exponential: ClassVar[bool] = False  # ``chance`` needs ``Crowd.total``

    def score(self, arm: Arm, total: int, coin: float, dice: float) -> float:
        """Return how much the arm wants to be pulled.

        ``total``: pulls of all arms (in a tree, visits of the node they leave);
        ``coin``: uniform in [0, 1), one for all arms; ``dice``: uniform in [0, 1), one for each arm.
        """
        raise NotImplementedError

    def learn(self, arm: Arm, pull: Pull) -> float:
        """Return the arm's weight after a pull, of this arm or another."""
        return arm.weight

    def chance(self, arm: Arm, crowd: Crowd) -> float:
        """Return the probability that the arm is pulled, where it depends on the means alone.

        Expected SARSA, tree backup and the exact value of the policy that is followed need it.
        """
        raise NotImplementedError

    def initial_weight(self) -> float:
        """Return the weight of an arm before the first pull."""
        return 0.0

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Note whether the selector learns weights and knows the probabilities of arms."""
        super().__init_subclass__(**kwargs)
        if "_is_checked" not in vars(cls):  # a validating proxy overrides every method and inherits both flags
            cls.learns = cls.learn is not Selector.learn
            cls.has_chance = cls.chance is not Selector.chance


# ---------------------------------------------------------------- the mean, and chance
@dataclass(frozen=True)
class Uniform(Selector):
    """Any arm, at random."""

    def score(self, arm: Arm, total: int, coin: float, dice: float) -> float:
        """Return the dice."""
        return dice

    def chance(self, arm: Arm, crowd: Crowd) -> float:
        """Return 1 / number of arms."""
        return 1.0 / crowd.arms


@dataclass(frozen=True)
class Greedy(Selector):
    """The arm of the highest mean; an arm never pulled counts as 0."""

    def score(self, arm: Arm, total: int, coin: float, dice: float) -> float:
        """Return the mean."""
        return arm.mean

    def chance(self, arm: Arm, crowd: Crowd) -> float:
        """Return the share of the arm among those with the largest mean."""
        return 1.0 / crowd.ties if arm.mean == crowd.highest else 0.0


@dataclass(frozen=True)
class EpsilonGreedy(Selector):
    """With probability epsilon any arm, else the greedy one."""

    epsilon: float = 0.1

    def score(self, arm: Arm, total: int, coin: float, dice: float) -> float:
        """Return the dice or the mean, as the coin falls."""
        return dice if coin < self.epsilon else arm.mean

    def chance(self, arm: Arm, crowd: Crowd) -> float:
        """Return the probability of the arm."""
        greedy = 1.0 / crowd.ties if arm.mean == crowd.highest else 0.0
        return self.epsilon / crowd.arms + (1.0 - self.epsilon) * greedy


@dataclass(frozen=True)
class EpsilonDecay(Selector):
    """Epsilon-greedy with epsilon = scale / total, at most 1."""

    scale: float = 10.0

    def score(self, arm: Arm, total: int, coin: float, dice: float) -> float:
        """Return the dice or the mean, as the coin falls."""
        return dice if coin * (total + 1) < self.scale else arm.mean


@dataclass(frozen=True)
class Softmax(Selector):
    """An arm with probability proportional to exp(mean / temperature)."""

    temperature: float = 0.1

    def score(self, arm: Arm, total: int, coin: float, dice: float) -> float:
        """Return the exponent plus Gumbel noise."""
        return arm.mean / self.temperature + gumbel(dice)


@dataclass(frozen=True)
class Optimistic(Selector):
    """Greedy on estimates that start too high and move by a constant step."""

    initial: float = 5.0
    step: float = 0.1

    def score(self, arm: Arm, total: int, coin: float, dice: float) -> float:
        """Return the estimate."""
        return arm.weight

    def initial_weight(self) -> float:
        """Return the first estimate."""
        return self.initial

    def learn(self, arm: Arm, pull: Pull) -> float:
        """Move the pulled arm's estimate towards the reward."""
        return arm.weight + self.step * (pull.reward - arm.weight) if pull.chosen else arm.weight


# ---------------------------------------------------------------- upper confidence bounds
@dataclass(frozen=True)
class UCB1(Selector):
    """mean + c sqrt(ln total / pulls); c = sqrt 2 is the published rule."""

    c: float = math.sqrt(2.0)

    def score(self, arm: Arm, total: int, coin: float, dice: float) -> float:
        """Return the upper bound; infinite before the first pull."""
        if arm.pulls == 0:
            return math.inf
        return arm.mean + self.c * math.sqrt(math.log(total) / arm.pulls)


@dataclass(frozen=True)
class UCB1Tuned(Selector):
    """UCB1 whose width is the arm's own variance, at most 1/4."""

    squares = True

    def score(self, arm: Arm, total: int, coin: float, dice: float) -> float:
        """Return the upper bound; infinite before the first pull."""
        if arm.pulls == 0:
            return math.inf
        ratio = math.log(total) / arm.pulls
        variance = arm.square - arm.mean * arm.mean + math.sqrt(2.0 * ratio)
        return arm.mean + math.sqrt(ratio * min(0.25, variance))


@dataclass(frozen=True)
class KLUCB(Selector):
    """The largest q with pulls * kl(mean, q) <= ln total, kl between Bernoulli laws."""

    def score(self, arm: Arm, total: int, coin: float, dice: float) -> float:
        """Return the upper bound by halving; infinite before the first pull."""
        if arm.pulls == 0:
            return math.inf
        limit = math.log(total) / arm.pulls
        low, high = arm.mean, min(1.0, arm.mean + math.sqrt(0.5 * limit))  # Pinsker's inequality
        for _ in range(KL_STEPS):
            middle = 0.5 * (low + high)
            if bernoulli_divergence(arm.mean, middle) > limit:
                high = middle
            else:
                low = middle
        return low


# ---------------------------------------------------------------- sampling from what is believed
@dataclass(frozen=True)
class Thompson(Selector):
    """A draw from each arm's posterior: Beta, from the uniform prior, for rewards in 0 .. 1."""

    def score(self, arm: Arm, total: int, coin: float, dice: float) -> float:
        """Return a Beta variate, made of two gamma variates."""
        won = arm.mean * arm.pulls
        word = mix(int(dice * 2.0**53), 1)
        a = gamma(1.0 + won, word)
        b = gamma(1.0 + arm.pulls - won, mix(word, 2))
        return a / (a + b)


@dataclass(frozen=True)
class ThompsonGaussian(Selector):
    """A draw from each arm's posterior: normal, from the prior N(0, 1), for rewards of known deviation."""

    deviation: float = 1.0

    def score(self, arm: Arm, total: int, coin: float, dice: float) -> float:
        """Return a normal variate."""
        variance = self.deviation * self.deviation
        precision = 1.0 + arm.pulls / variance
        return arm.mean * arm.pulls / variance / precision + normal(int(dice * 2.0**53)) / math.sqrt(precision)


# ---------------------------------------------------------------- weights that are learned
@dataclass(frozen=True)
class Gradient(Selector):
    """An arm with probability proportional to exp(preference); preferences climb the gradient of the reward."""

    step: float = 0.1

    def score(self, arm: Arm, total: int, coin: float, dice: float) -> float:
        """Return the preference plus Gumbel noise."""
        return arm.weight + gumbel(dice)

    def learn(self, arm: Arm, pull: Pull) -> float:
        """Move the preference by how much better than the average the reward was."""
        wanted = 1.0 if pull.chosen else 0.0
        return arm.weight + self.step * (pull.reward - pull.average) * (wanted - pull.share)


@dataclass(frozen=True)
class EXP3(Selector):
    """Exponential weights against an adversary; a share gamma of the pulls is uniform."""

    gamma: float = 0.05

    def score(self, arm: Arm, total: int, coin: float, dice: float) -> float:
        """Return the dice, or the log weight plus Gumbel noise, as the coin falls."""
        return dice if coin < self.gamma else arm.weight + gumbel(dice)

    def learn(self, arm: Arm, pull: Pull) -> float:
        """Raise the pulled arm's log weight by its reward over its probability."""
        if not pull.chosen:
            return arm.weight
        probability = (1.0 - self.gamma) * pull.share + self.gamma / pull.arms
        return arm.weight + self.gamma * pull.reward / (probability * pull.arms)


# ---------------------------------------------------------------- random variates of a word
def gumbel(dice: float) -> float:
    """Return Gumbel noise: the highest of logits plus such noise is a draw by softmax of the logits."""
    return -math.log(-math.log(dice + TINY) + TINY)


def normal(word: U64) -> float:
    """Return a standard normal variate (Box and Muller 1958)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - unit(mix(word, 3))))
    return radius * math.cos(2.0 * math.pi * unit(mix(word, 4)))


def gamma(shape: float, word: U64) -> float:
    """Return a gamma variate of shape 1 or more (Marsaglia and Tsang 2000)."""
    d = max(shape, 1.0) - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        word = mix(word, 5)
        z = normal(word)
        t = 1.0 + c * z
        t = t * t * t
        if t > 0.0 and math.log(1.0 - unit(word)) < 0.5 * z * z + d - d * t + d * math.log(t):
            return d * t


def bernoulli_divergence(p: float, q: float) -> float:
    """Return the Kullback-Leibler divergence kl(p, q) of two Bernoulli laws."""
    return part_of_divergence(p, q) + part_of_divergence(1.0 - p, 1.0 - q)


def part_of_divergence(p: float, q: float) -> float:
    """Return p ln(p / q), 0 for p = 0."""
    return p * math.log(p / max(q, TINY)) if p > 0.0 else 0.0


SELECTORS: dict[str, type[Selector]] = {
    "uniform": Uniform,
    "greedy": Greedy,
    "epsilon-greedy": EpsilonGreedy,
    "epsilon-decay": EpsilonDecay,
    "softmax": Softmax,
    "optimistic": Optimistic,
    "ucb1": UCB1,
    "ucb1-tuned": UCB1Tuned,
    "kl-ucb": KLUCB,
    "thompson": Thompson,
    "thompson-gaussian": ThompsonGaussian,
    "gradient": Gradient,
    "exp3": EXP3,
}


# ---------------------------------------------------------------- selectors by name
def make_selector(text: str) -> Selector:
    """Return the selector that a text names: ``ucb1``, ``ucb1(c=2)``, ``ucb1:c=2``, ``file.py:Class(c=2)``.

    >>> make_selector("epsilon-greedy(epsilon=0.2)")
    EpsilonGreedy(epsilon=0.2)
    """
    spec = read_spec(text)
    cls = _selector_of_name(spec.name) if spec.file is None else _selector_of_file(spec.file, spec.name)
    try:
        made = cls(**read_parameters(parameters(cls), spec.options))
    except MdplayError as error:
        raise type(error)(f"selector {spec.name}: {error}") from None
    return _met(made) if SELECTORS.get(spec.name) is cls else made


@lru_cache(maxsize=64)
def _met(selector: Selector) -> Selector:
    """Return the first selector like this one: kernels hash every new object, which takes half a millisecond."""
    return selector


def split_selectors(text: str) -> list[str]:
    """Return the names in a list separated by commas; a comma inside parentheses does not separate."""
    if text.strip() == "all":
        return list(SELECTORS)
    return [part.strip() for part in COMMA.split(text) if part.strip()]


def _selector_of_name(name: str) -> type[Selector]:
    if name in SELECTORS:
        return SELECTORS[name]
    points = plugin_points("selector")
    if name not in points:
        raise unknown("selector", name, [*SELECTORS, *points])
    found = load_plugin("selector", points[name])
    if not (isinstance(found, type) and issubclass(found, Selector)):
        raise GameError(f"the selector {name} of {source_of(points[name])} is not a class derived from Selector")
    return found


def _selector_of_file(path: Path, class_name: str) -> type[Selector]:
    found = getattr(load_module(path), class_name, None)
    if not (isinstance(found, type) and issubclass(found, Selector)):
        raise GameError(f"{class_name} in {path.name} is not a class derived from Selector")
    return found
