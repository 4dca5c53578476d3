"""UMB files as the format's own library (umbi) writes them, with exact values of Storm 2.0 on the same files."""

import io
import json
import tarfile
from fractions import Fraction

import pytest
import umbi.ats
from umbi.ats.explicit_ats import TimeType

from mdplay.errors import FormatError
from mdplay.planning import MDP, plan

BRANCHES = {  # of each state, by choice: target and probability
    0: [[(0, "1")]],
    1: [[(0, "7/10"), (2, "3/10")], [(0, "3/10"), (1, "1/10"), (2, "6/10")]],
    2: [[(1, "7/10"), (3, "3/10")], [(1, "3/10"), (2, "1/10"), (3, "6/10")]],
    3: [[(3, "1")]],
}
COST = {"states": (0, 1, 1, 0), "choices": ("0", "0", "1/2", "0", "1/2", "0")}
PRIZE = {"branches": (0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 0)}


def write_umb(path, number=float, players=1):
    """Write a walk between two ends: a cost of states and choices, a prize of branches."""
    model = umbi.ats.ExplicitAts(time=TimeType.DISCRETE, num_players=players)
    for _ in BRANCHES:
        model.add_state()
    model.set_initial_states([1])
    for state, choices in BRANCHES.items():
        for branches in choices:
            choice = model.add_state_choice(state=state)
            for target, probability in branches:
                choice.add_branch(target=target, prob=number(Fraction(probability)))
    for name, earned in (("cost", COST), ("prize", PRIZE)):
        rewards = model.add_reward_annotation(name=name)
        for things, values in earned.items():
            write = {"states": rewards.set_state_values, "choices": rewards.set_choice_values}
            write.get(things, rewards.set_branch_values)([number(Fraction(value)) for value in values])
    umbi.ats.write(model, path)
    return path


@pytest.mark.parametrize("number", [float, Fraction])
@pytest.mark.parametrize(
    "reward, minimise, value",
    [
        ("cost", True, [0, 130 / 79, 170 / 79, 0]),
        ("cost", False, [0, 35 / 8, 65 / 16, 0]),
        ("prize", False, [0, 40 / 21, 20 / 7, 0]),
    ],
)
def test_values_are_those_of_storm(tmp_path, number, reward, minimise, value):
    model = MDP.from_umb(write_umb(tmp_path / "walk.umb", number), reward=reward, minimise=minimise)
    assert plan(model).value == pytest.approx(value, abs=1e-6)


def packed(path, files, mode="w:xz"):
    with tarfile.open(path, mode) as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def unpacked(path):
    with tarfile.open(path) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}


@pytest.mark.parametrize("mode", ["w", "w:xz", "w:bz2"])
def test_any_compression_will_do(tmp_path, mode):
    files = unpacked(write_umb(tmp_path / "walk.umb"))
    again = packed(tmp_path / "again.umb", files, mode)
    assert plan(MDP.from_umb(again, reward="cost", minimise=True)).value[1] == pytest.approx(130 / 79, abs=1e-6)


def changed(files, **system):
    """Return the files with another transition system in the index."""
    index = json.loads(files["index.json"])
    index["transition-system"] |= {key.replace("_", "#", 1): value for key, value in system.items()}
    return files | {"index.json": json.dumps(index).encode()}


@pytest.mark.parametrize(
    "damage, words",
    [
        (lambda files: {}, "there is no index.json; is it a UMB file"),
        (lambda files: files | {"index.json": b"{"}, "index.json is not JSON"),
        (lambda files: files | {"index.json": b"[]"}, "index.json is not an object"),
        (lambda files: files | {"branch-to-target.bin": bytes(9)}, "has 9 bytes where 96 are needed"),
        (lambda files: files | {"state-to-choices.bin": bytes(40)}, "does not rise from 0 to 6"),
        (lambda files: files | {"branch-to-probability.bin": b"\xff" * 96}, "has what is not a number"),
        (lambda files: files | {"branch-to-target.bin": b"\xff" * 96}, "a target is -1"),
        (lambda files: changed(files, _players=2), "is not an MDP or a chain"),
        (lambda files: changed(files, _observations=1), "observed in part only"),
        (lambda files: changed(files, _states=-1), "does not say how many states"),
        (lambda files: changed(files, _states=1 << 30, _choices=1 << 30), "has 56 bytes where"),
        (lambda files: changed(files, _branches=1 << 30), "has 96 bytes where"),
    ],
)
def test_what_is_wrong_is_a_sentence(tmp_path, damage, words):
    files = damage(unpacked(write_umb(tmp_path / "walk.umb")))
    with pytest.raises(FormatError, match=words):
        MDP.from_umb(packed(tmp_path / "bad.umb", files), reward="cost")


def test_another_file_is_a_sentence(tmp_path):
    path = tmp_path / "text.umb"
    path.write_text("@type: MDP\n" * 100)
    with pytest.raises(FormatError, match="is not a UMB file"):
        MDP.from_umb(path)
    with pytest.raises(FormatError, match="there are several reward models; give reward= one of cost, prize"):
        MDP.from_umb(write_umb(tmp_path / "walk.umb"))
