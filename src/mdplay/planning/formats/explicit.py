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

MDPs in the unified Markov binary format (UMB), which model checkers such as Storm share.

A file is a tar archive, compressed or not.  `index.json` has the counts and types; each array is a file of its
own, little-endian:

    state-to-choices.bin          uint64, #states + 1: choices of state s are those from entry s up to entry s + 1
    choice-to-branches.bin        uint64, #choices + 1: the same for the branches of a choice
    branch-to-target.bin          uint64
    branch-to-probability.bin     as the index says: doubles, or fractions of two 64-bit numbers
    annotations/rewards/NAME/states/values.bin      rewards; of choices and branches likewise

One of the first two may be left out where each state has one choice, or each choice one branch.  A value is the
total expected reward, so models are undiscounted unless said otherwise.
"""

from __future__ import annotations

import io
import json
import lzma
import math
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.errors import FormatError, short
from mdplay.planning.arrays import Transitions, assemble
from mdplay.planning.model import Model
from mdplay.states.graph_search import Floats, Integers
from mdplay.storage.files import MAX_READ, read, read_text

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


COUNTED = {"states": "#states", "choices": "#choices", "branches": "#branches"}
DAMAGED = (tarfile.TarError, OSError, EOFError, zlib.error, lzma.LZMAError, ValueError, RecursionError)
WORDS = {"double": "<f8", "int": "<i8", "uint": "<u8"}


def read_umb(
    path: str | Path, *, reward: str | None = None, discount: float = 1.0, minimise: bool = False
) -> Model:
    """Return the MDP of a UMB file, with the rewards of one of its models; one needs no name."""
    file = _Umb(path)
    # From the branches on: no array is made before the file has shown that it holds as much as its index claims.
    targets = file.targets
    choice = _owners(file.first_branch)
    state = _owners(file.first_choice)[choice]
    earned = file.rewards(reward)
    rewards = earned["states"][state] + earned["choices"][choice] + earned["branches"]
    action = choice - file.first_choice[:-1][state]
    columns = Transitions(state, action, targets, rewards, file.probabilities)
    return assembled(columns, file.count("states"), discount, minimise)


def _owners(first: Integers) -> Integers:
    """Return for each part whose it is, given where the parts of each thing begin."""
    return np.repeat(np.arange(len(first) - 1), np.diff(first))


class _Umb:
    """What a UMB file holds, each array checked against the counts of the index."""

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self._files = _unpacked(path)
        self._index = self._read_index()
        self._system = self._part(self._index, "transition-system")
        self._check_kind()

    def _fault(self, what: str) -> FormatError:
        return FormatError(f"{self.path}: {what}")

    def _read_index(self) -> Mapping[str, Any]:
        try:
            index = json.loads(self._files["index.json"])
        except KeyError:
            raise self._fault("there is no index.json; is it a UMB file?") from None
        except (ValueError, RecursionError):
            raise self._fault("index.json is not JSON") from None
        if not isinstance(index, dict):
            raise self._fault("index.json is not an object")
        return index

    def _part(self, data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        """Return an object inside another; one that is not there is empty."""
        found = data.get(name, {})
        if not isinstance(found, dict):
            raise self._fault(f"{name} in index.json is not an object")
        return found

    def _check_kind(self) -> None:
        """Only MDPs and chains are taken."""
        if self._system.get("time") != "discrete" or self._system.get("#players") not in (0, 1):
            raise self._fault("the model is not an MDP or a chain in discrete time, and cannot be planned in")
        if self._system.get("#observations"):
            raise self._fault("the states of the model are observed in part only, and cannot be planned in")

    def count(self, things: str) -> int:
        """Return how many states, choices or branches there are."""
        number = self._system.get(COUNTED[things])
        if type(number) is not int or not 0 <= number <= MAX_READ:
            raise self._fault(f"index.json does not say how many {things} there are")
        return number

    @cached_property
    def first_choice(self) -> Integers:
        """The first choice of each state, and the end."""
        return self._ranges("state-to-choices.bin", "states", "choices")

    @cached_property
    def first_branch(self) -> Integers:
        """The first branch of each choice, and the end."""
        return self._ranges("choice-to-branches.bin", "choices", "branches")

    @property
    def targets(self) -> Integers:
        """Where each branch leads."""
        return self._values("branch-to-target.bin", "uint", self.count("branches")).astype(np.int64)

    @property
    def probabilities(self) -> Floats:
        """The probability of each branch; all are certain where there are none."""
        if "branch-probability-type" not in self._system:
            return np.ones(self.count("branches"))
        return self._numbers("branch-to-probability.bin", self._system["branch-probability-type"], "branches")

    def rewards(self, name: str | None) -> dict[str, Floats]:
        """Return the rewards of a model for states, choices and branches; zeros where it has none, or all do."""
        models = self._part(self._part(self._index, "annotations"), "rewards")
        known = {str(self._part(models, key).get("alias", key)): key for key in models}
        earned = {things: np.zeros(self.count(things)) for things in COUNTED}
        if known:
            key = known[chosen_reward(name, list(known), self._fault)]
            about = self._part(models, key)
            for things in about.get("applies-to", ()):
                if things in earned:
                    place = f"annotations/rewards/{key}/{things}/values.bin"
                    earned[things] = self._numbers(place, about.get("type"), things)
        return earned

    def _ranges(self, name: str, things: str, parts: str) -> Integers:
        """Return where the parts of each thing begin, and where the last ones end."""
        if name not in self._files and self.count(things) == self.count(parts):
            return np.arange(self.count(things) + 1)
        found = self._values(name, "uint", self.count(things) + 1).astype(np.int64)
        if found[0] != 0 or found[-1] != self.count(parts) or (np.diff(found) < 0).any():
            raise self._fault(f"{name} does not rise from 0 to {self.count(parts):,}")
        return found

    def _numbers(self, name: str, kind: Any, things: str) -> Floats:
        """Return numbers of the type that the index names."""
        word, size = (kind.get("type"), kind.get("size")) if isinstance(kind, dict) else (None, None)
        if word == "rational" and size in (None, 128):
            pairs = self._values(name, "int", 2 * self.count(things)).reshape(-1, 2)
            with np.errstate(divide="ignore", invalid="ignore"):
                found = pairs[:, 0] / pairs[:, 1].astype(np.uint64)
        elif word in WORDS and size in (None, 64):
            found = self._values(name, word, self.count(things)).astype(np.float64)
        else:
            raise self._fault(f"{name} has numbers of the type {word} of {size} bits; doubles can be read")
        if not np.isfinite(found).all():
            raise self._fault(f"{name} has what is not a number")
        return found

    def _values(self, name: str, word: str, number: int) -> NDArray[Any]:
        data = self._files.get(name)
        if data is None:
            raise self._fault(f"there is no {name}")
        if len(data) != 8 * number:
            raise self._fault(f"{name} has {len(data):,} bytes where {8 * number:,} are needed")
        return np.frombuffer(data, WORDS[word])


def _unpacked(path: str | Path) -> dict[str, bytes]:
    """Return the files of an archive by their names; nothing is written to the disk."""
    content, left, found = read(path), MAX_READ, {}
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:*") as archive:
            for member in archive:
                left -= member.size
                if left < 0:
                    raise ValueError(f"it holds more than {MAX_READ:,} bytes")
                if (file := archive.extractfile(member)) is not None:
                    found[member.name.removeprefix("./")] = file.read()
    except DAMAGED as error:
        raise FormatError(f"{path} is not a UMB file: {error}") from None
    return found
