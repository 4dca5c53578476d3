"""Models from files of any form that the library reads, recognised by their content, and written in another form.

read_model("maze.txt")                      a CS747 text, a drawn grid
read_model("model.drn"), .umb, .tra         Storm and PRISM; rewards of a .tra beside it: .srew, .trew
read_model("model.json")                    nested lists, or Gymnasium's table {"0": {"0": [[p, s, r, end]]}}
read_model("model.npz")                     arrays P[action, state, target], R, and discount
read_model("gymnasium:FrozenLake-v1")       the table P of an environment; options as ID:name=value,...
"""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mdplay.errors import FormatError, unknown
from mdplay.planning.formats import cs747, explicit, tables
from mdplay.planning.grids import Grid, is_grid, read_grid
from mdplay.planning.model import Model
from mdplay.storage.files import read, size_of, write

GYMNASIUM = "gymnasium:"
ARCHIVES = (b"PK\x03\x04", b"\xfd7zXZ", b"BZh", b"\x1f\x8b")  # how .npz and compressed .umb files begin
FORMATS = ("cs747", "nested", "gymnasium", "npz", "umb")
BINARY = ("npz", "umb")


@dataclass(frozen=True)
class Options:
    """What a file may leave open: the reward model, the discount, and whether rewards are costs."""

    reward: str | None = None
    discount: float | None = None
    minimise: bool = False

    @property
    def rest(self) -> dict[str, Any]:
        """The discount, by default 1, and the sense."""
        return {"discount": 1.0 if self.discount is None else self.discount, "minimise": self.minimise}


def read_model(name: str, options: Options | None = None) -> tuple[Model, Grid | None]:
    """Return the model of a file or of a Gymnasium environment, and the grid if it is a drawing.

    A discount given in the options replaces that of the file.
    """
    options = options or Options()
    if name.startswith(GYMNASIUM):
        return _of_gymnasium(name.removeprefix(GYMNASIUM), options), None
    suffix = Path(name).suffix.lower()
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix](name, options), None
    content = b"" if size_of(name) > cs747.PLAIN_BYTES else read(name)
    if content[:4] == ARCHIVES[0]:
        return _of_npz(name, options), None
    if content.startswith(ARCHIVES[1:]) or content[257:262] == b"ustar":
        return explicit.read_umb(name, reward=options.reward, **options.rest), None
    text = content.decode("utf-8", "replace")
    if text.lstrip().startswith(("[", "{")):
        return _of_json(name, options), None
    if text.lstrip().startswith(("@", "// Exported by storm")):
        return explicit.read_drn(name, reward=options.reward, **options.rest), None
    if is_grid(text):
        try:
            grid = read_grid(text)
        except FormatError as error:
            raise FormatError(f"{name}: {error}") from None
        return _discounted(grid.mdp, options), grid
    return _discounted(cs747.read_mdp(name, keep_rewards=True), options), None


def _discounted(model: Model, options: Options) -> Model:
    """Return a model of a file that has its own discount, changed as the options say."""
    if options.discount is not None:
        model = replace(model, discount=options.discount)
    return replace(model, minimise=True) if options.minimise else model


def _of_drn(name: str, options: Options) -> Model:
    return explicit.read_drn(name, reward=options.reward, **options.rest)


def _of_umb(name: str, options: Options) -> Model:
    return explicit.read_umb(name, reward=options.reward, **options.rest)


def _of_tra(name: str, options: Options) -> Model:
    """Return the model of a .tra file with the rewards of the files of the same name."""
    beside = {
        key: next((path for suffix in suffixes if (path := Path(name).with_suffix(suffix)).exists()), None)
        for key, suffixes in (("state_rewards", (".srew", ".rew")), ("transition_rewards", (".trew",)))
    }
    return explicit.read_explicit(name, **beside, **options.rest)  # type: ignore[arg-type]


def _of_json(name: str, options: Options) -> Model:
    """Return the model of nested lists, alone or as ``{"nested": ..., "discount": ...}``, or of a table."""
    try:
        found = json.loads(read(name))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{name} is not JSON: {error}") from None
    given = options.rest
    if isinstance(found, dict) and "discount" in found and options.discount is None:
        given["discount"] = found["discount"]
    if isinstance(found, dict):
        table = found.get("table", None if "nested" in found else found)
        given["minimise"] |= bool(found.get("minimise"))
    else:
        found, table = {"nested": found}, None
    try:
        if table is None:
            return tables.from_nested(found["nested"], **given)
        rows = {int(s): {int(a): entries for a, entries in actions.items()} for s, actions in table.items()}
        model = tables.from_gymnasium(rows, discount=given["discount"])
        return replace(model, minimise=True) if given["minimise"] else model
    except (TypeError, ValueError, AttributeError) as error:
        if isinstance(error, FormatError):
            raise
        what = "nested lists [state][action] of [target, reward, probability]"
        raise FormatError(f"{name} has neither {what} nor a table of Gymnasium") from None


def _of_npz(name: str, options: Options) -> Model:
    """Return the model of the arrays P and R of an .npz file; nothing in the file is executed."""
    try:
        with np.load(io.BytesIO(read(name)), allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise FormatError(f"{name} is not an .npz file of arrays: {error}") from None
    if not {"P", "R"} <= set(arrays):
        raise FormatError(f"{name} has the arrays {', '.join(arrays) or 'none'}; it needs P and R")
    given = options.rest
    if options.discount is None and "discount" in arrays:
        given["discount"] = float(arrays["discount"])
    given["minimise"] |= bool(arrays.get("minimise", False))
    return tables.from_dense(arrays["P"], arrays["R"], **given)


def _of_gymnasium(spec: str, options: Options) -> Model:
    """Return the model of an environment that has a table ``P``."""
    try:
        import gymnasium
    except ImportError:
        raise FormatError("gymnasium is not installed; install it with pip install gymnasium") from None
    name, _, words = spec.partition(":")
    try:
        given = {key: json.loads(value) for key, _, value in (w.partition("=") for w in words.split(",") if w)}
        table = gymnasium.make(name, **given).unwrapped.P
    except AttributeError:
        raise FormatError(f"the environment {name} has no table P of its transitions") from None
    except Exception as error:
        raise FormatError(f"gymnasium cannot make {spec}: {error}".splitlines()[0]) from None
    model = tables.from_gymnasium(table, discount=options.rest["discount"])
    return replace(model, minimise=True) if options.minimise else model


_BY_SUFFIX: dict[str, Callable[[str, Options], Model]] = {
    ".drn": _of_drn,
    ".umb": _of_umb,
    ".tra": _of_tra,
    ".npz": _of_npz,
    ".json": _of_json,
}


def game_model(game: Any, opponent: str, player: int = 0) -> Model:
    """Return the MDP of a player against "uniform" or a policy file, which names its own player."""
    from mdplay.planning.mdp import MDP, mdp_of
    from mdplay.states.graph import explore

    if opponent == "uniform":
        return MDP.from_game(game, player=player)
    graph = explore(game)
    theirs, weights = cs747.read_weights(graph, opponent)
    return mdp_of(graph, 1 - theirs, weights)


# ---------------------------------------------------------------- writing
def converted(model: Model, form: str) -> bytes:
    """Return the content of a file of one of the FORMATS."""
    if form not in _WRITERS:
        raise unknown("format", form, list(FORMATS))
    return _WRITERS[form](model)


def write_model(model: Model, path: str | Path, form: str) -> None:
    """Write a model as one of the FORMATS, atomically."""
    write(path, converted(model, form))


def _to_cs747(model: Model) -> bytes:
    return "".join(cs747.lines(model)).encode("ascii")


def _to_nested(model: Model) -> bytes:
    facts = {"discount": model.discount, "minimise": model.minimise, "nested": tables.to_nested(model)}
    return json.dumps(facts).encode() + b"\n"


def _to_gymnasium(model: Model) -> bytes:
    return json.dumps({"discount": model.discount, "table": to_gymnasium(model)}).encode() + b"\n"


def to_gymnasium(model: Model) -> dict[int, dict[int, list[tuple[float, int, float, bool]]]]:
    """Return ``P[s][a] = [(probability, target, reward, terminated), ...]``; costs become negative rewards.

    A terminal state has one action, which leads to itself and ends, as in Gymnasium's own tables.
    """
    sign, ends = (-1.0 if model.minimise else 1.0), model.terminal.tolist()
    return {
        state: {
            action: [(p, int(t), 0.0 + sign * r, ends[int(t)]) for t, r, p in entries]
            for action, entries in enumerate(actions)
            if entries
        }
        or {0: [(1.0, state, 0.0, True)]}
        for state, actions in enumerate(tables.to_nested(model))
    }


def _to_npz(model: Model) -> bytes:
    probability, reward = tables.to_dense(model)
    file = io.BytesIO()
    np.savez_compressed(file, P=probability, R=reward, discount=model.discount, minimise=model.minimise)
    return file.getvalue()


def _to_umb(model: Model) -> bytes:
    """Return a UMB file with one reward model, ``reward``; state 0 is the initial one.

    The actions of a state are numbered from 0 there, whatever their numbers are here.
    """
    kind = {"type": "double", "size": 64}
    counts = {
        "time": "discrete", "#players": 1, "#states": model.num_states, "#initial-states": 1,
        "#choices": model.num_choices, "#choice-actions": 0, "#branches": model.num_transitions,
        "#branch-actions": 0, "#observations": 0, "branch-probability-type": kind,
    }  # fmt: skip
    index = {
        "format-version": 0,
        "format-revision": 1,
        "file-data": {"tool": "mdplay", "tool-version": "", "creation-date": 0},
        "transition-system": counts,
        "annotations": {"rewards": {"reward": {"applies-to": ["choices"], "type": kind}}},
    }
    initial = np.zeros(-(-model.num_states // 64), "<u8")
    initial[0] = 1
    arrays = {
        "state-is-initial.bin": initial,
        "state-to-choices.bin": model.first_choice.astype("<u8"),
        "choice-to-branches.bin": model.first_transition.astype("<u8"),
        "branch-to-target.bin": model.target.astype("<u8"),
        "branch-to-probability.bin": model.probability.astype("<f8"),
        "annotations/rewards/reward/choices/values.bin": model.reward.astype("<f8"),
    }
    files = {"index.json": json.dumps(index).encode(), **{name: array.tobytes() for name, array in arrays.items()}}
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return content.getvalue()


_WRITERS: dict[str, Callable[[Model], bytes]] = {
    "cs747": _to_cs747,
    "nested": _to_nested,
    "gymnasium": _to_gymnasium,
    "npz": _to_npz,
    "umb": _to_umb,
}
