"""MDPs in the unified Markov binary format (UMB), which model checkers such as Storm share.

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
import tarfile
import zlib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.errors import FormatError
from mdplay.files import MAX_READ, read
from mdplay.mdp.assembly import Transitions
from mdplay.mdp.formats.explicit import assembled, chosen_reward
from mdplay.mdp.model import Model
from mdplay.states.walks import Floats, Integers

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
