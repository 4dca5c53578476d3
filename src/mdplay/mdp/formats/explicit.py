"""MDPs in the text forms of probabilistic model checkers: Storm's DRN, and the explicit files of PRISM and Storm.

DRN, one file; rewards of a state are earned with every action that leaves it:

    @type: MDP
    @reward_models
    cost
    @nr_states
    3
    @model
    state 0 [1] init                 number, rewards in the order of the models, labels
        action left [0.5]            name, rewards
            0 : 0.3                  target : probability
            1 : 0.7

Explicit files, `.tra` and rewards beside it.  PRISM begins each with a line of counts, Storm has none, or the word
`mdp` before the transitions; what the transitions have, the rewards have:

    3 4 6                            states, choices, transitions
    0 0 1 0.7 left                   state, choice, target, probability, and perhaps an action
    0 1                              a line of state rewards: state, reward
    0 0 1 0.5                        a line of transition rewards: state, choice, target, reward

A value is the total expected reward, so models are undiscounted unless said otherwise.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from mdplay.errors import FormatError, short
from mdplay.files import read_text
from mdplay.mdp.assembly import Transitions, assemble
from mdplay.mdp.model import Model

STATE = re.compile(r"state\s+(\d+)\s*(?:\[([^\]]*)\])?")
ACTION = re.compile(r"action\s+\S+\s*(?:\[([^\]]*)\])?")
TARGET = re.compile(r"(\d+)\s*:\s*(\S+)")
DIGITS = 18  # of a whole number


class Lines:
    """The lines of a text file that say something, with what is needed to blame one."""

    def __init__(self, path: str | Path) -> None:
        self.path, self.number = path, 0
        self._lines = read_text(path).splitlines()

    def __iter__(self) -> Iterator[str]:
        for number, line in enumerate(self._lines, 1):
            self.number = number
            if (words := line.strip()) and not words.startswith(("//", "#")):
                yield words

    def fault(self, what: str) -> FormatError:
        """Return the error of the line that was read last."""
        return FormatError(f"{self.path}, line {self.number}: {what}")

    def whole(self, word: str) -> int:
        """Return a number of a state or a choice."""
        if not word.isdecimal() or len(word) > DIGITS:
            raise self.fault(f"{short(word)!r} is not a whole number, or too large")
        return int(word)

    def real(self, word: str) -> float:
        """Return a probability or a reward; fractions like 1/3 are numbers too."""
        above, _, below = word.partition("/")
        try:
            number = float(above) / float(below or 1)
        except (ValueError, ZeroDivisionError):
            number = math.nan
        if not math.isfinite(number):
            raise self.fault(f"{short(word)!r} is not a number")
        return number


# ---------------------------------------------------------------- DRN
def read_drn(
    path: str | Path, *, reward: str | None = None, discount: float = 1.0, minimise: bool = False
) -> Model:
    """Return the MDP of a DRN file, with the rewards of one of its models; one needs no name."""
    found = _Drn(path, reward)
    return _assembled(found.rows, found.num_states, discount, minimise)


class _Drn:
    """What a DRN file says."""

    def __init__(self, path: str | Path, reward: str | None) -> None:
        self.lines, self.reward = Lines(path), reward
        self.num_states = 0
        self.rows: list[tuple[int, int, int, float, float]] = []
        self._state, self._action, self._column = -1, -1, -1
        self._of_state = self._of_action = 0.0
        section = ""
        for line in self.lines:
            if line.startswith("@"):
                section = self._begin(line)
            elif section == "@model":
                self._read(line)
            elif section == "@reward_models":
                names = line.split()
                self._column = names.index(chosen_reward(self.reward, names, self.lines.fault))
            elif section == "@nr_states":
                self.num_states = self.lines.whole(line)
        if section != "@model" or not self.num_states:
            raise FormatError(f"{path} has no @nr_states or no @model; is it a DRN file?")

    def _begin(self, line: str) -> str:
        """Begin a section; only MDPs and chains are taken."""
        section, _, value = line.partition(":")
        if section == "@type" and value.strip() not in ("MDP", "DTMC"):
            raise self.lines.fault(f"the model is of the type {value.strip()}; MDP and DTMC can be planned in")
        return section.strip()

    def _read(self, line: str) -> None:
        """Read a line of the model."""
        if found := STATE.match(line):
            self._state, self._action, self._of_action = self.lines.whole(found[1]), -1, 0.0
            self._of_state = self._earned(found[2])
        elif found := ACTION.match(line):
            self._action, self._of_action = self._action + 1, self._earned(found[1])
        elif (found := TARGET.fullmatch(line)) and self._state >= 0:
            choice = max(self._action, 0)
            earned = self._of_state + self._of_action
            target = self.lines.whole(found[1])
            self.rows.append((self._state, choice, target, earned, self.lines.real(found[2])))
        else:
            raise self.lines.fault(f"{line[:60]!r} is no state, action or target")

    def _earned(self, listed: str | None) -> float:
        """Return the reward that is meant out of a list in brackets."""
        words = [word.strip() for word in (listed or "").split(",") if word.strip()]
        if not words or self._column < 0:
            return 0.0
        if self._column >= len(words):
            raise self.lines.fault(f"there are {len(words)} rewards; number {self._column + 1} is meant")
        return self.lines.real(words[self._column])


# ---------------------------------------------------------------- explicit files
def read_explicit(
    transitions: str | Path,
    *,
    state_rewards: str | Path | None = None,
    transition_rewards: str | Path | None = None,
    discount: float = 1.0,
    minimise: bool = False,
) -> Model:
    """Return the MDP of a `.tra` file, with the rewards of states and of transitions where they are given."""
    lines = Lines(transitions)
    rows = [line.split() for line in lines]
    if rows and rows[0] == ["mdp"]:
        rows = rows[1:]
    counted = bool(rows) and len(rows[0]) == 3
    named: dict[tuple[int, int, int], float] = {}
    for words in rows[counted:]:
        if len(words) not in (4, 5):
            raise FormatError(f"{transitions}: {' '.join(words)[:60]!r} is not: state choice target probability")
        state, choice, target = (lines.whole(word) for word in words[:3])
        named[state, choice, target] = named.get((state, choice, target), 0.0) + lines.real(words[3])
    num_states = lines.whole(rows[0][0]) if counted else 1 + max((max(s, t) for s, _, t in named), default=0)
    by_state = _rewards(state_rewards, 1, counted)
    by_transition = _rewards(transition_rewards, 3, counted)
    found = [
        (*key, by_state.get(key[:1], 0.0) + by_transition.get(key, 0.0), probability)
        for key, probability in named.items()
    ]
    return _assembled(found, num_states, discount, minimise)


def _rewards(path: str | Path | None, width: int, counted: bool) -> dict[tuple[int, ...], float]:
    """Return the rewards of a file whose lines are ``width`` whole numbers and a reward."""
    if path is None:
        return {}
    lines = Lines(path)
    found: dict[tuple[int, ...], float] = {}
    for i, line in enumerate(lines):
        words = line.split()
        if counted and i == 0:
            continue
        if len(words) != width + 1:
            raise lines.fault(f"{line[:60]!r} is not {width} whole numbers and a reward")
        found[tuple(lines.whole(word) for word in words[:-1])] = lines.real(words[-1])
    return found


def _assembled(
    rows: list[tuple[int, int, int, float, float]], num_states: int, discount: float, minimise: bool
) -> Model:
    # Compared before anything of that size is made: a file may claim four billion states.
    if num_states > (named := len({row[0] for row in rows} | {row[2] for row in rows})):
        raise FormatError(f"of {num_states:,} states the transitions name {named:,}; every state needs one")
    columns = [np.array(column) for column in zip(*rows, strict=True)] or [np.zeros(0, np.int64)] * 5
    return assembled(Transitions(*columns), num_states, discount, minimise)


def assembled(transitions: Transitions, num_states: int, discount: float, minimise: bool) -> Model:
    """Return the model; a state that only stays where it is, and earns nothing, is an end."""
    state, _, target, reward, _ = map(np.asarray, transitions)
    kept = np.isin(state, state[(target != state) | (reward != 0)])
    going = Transitions(*(np.asarray(column)[kept] for column in transitions))
    return assemble(going, num_states=num_states, discount=discount, minimise=minimise)


def chosen_reward(asked: str | None, names: list[str], fault: Callable[[str], FormatError]) -> str:
    """Return which of the reward models of a file is meant."""
    if asked is None and len(names) == 1:
        return names[0]
    if asked not in names:
        what = "there are several reward models" if asked is None else f"there is no {asked!r}"
        raise fault(f"{what}; give reward= one of {', '.join(names)}")
    return asked
