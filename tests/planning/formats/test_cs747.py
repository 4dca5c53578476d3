import errno
import os
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdplay.errors import FormatError
from mdplay.planning import MDP, plan
from mdplay.planning.formats import cs747
from tests.helpers import write

GOOD = """numStates 4
numActions 2
start 0
end 3
transition 0 0 1 0.5 0.25
transition 0 0 2 -1.5 0.75
transition 0 1 3 1e-1 1

transition 1 0 3 2 0.5
transition 1 0 1 0 0.5
transition 2 1 0 1.0 1.0
mdptype episodic
discount  0.9
"""


def read(folder, text):
    return MDP.from_cs747(write(folder, "mdp.txt", text))


def same(one, two):
    arrays = ("first_choice", "action", "first_transition", "target", "probability")
    return all((getattr(one, name) == getattr(two, name)).all() for name in arrays) and np.allclose(
        one.reward, two.reward, rtol=1e-14, atol=0
    )


def test_the_file_is_read_as_it_says(tmp_path):
    mdp = read(tmp_path, GOOD)
    assert (mdp.num_states, mdp.num_actions, mdp.discount) == (4, 2, 0.9)
    assert mdp.to_nested()[0][0] == [[1, -1.0, 0.25], [2, -1.0, 0.75]]  # the expected reward of the choice
    assert mdp.actions(2) == [1]
    assert mdp.terminal.tolist() == [False, False, False, True]


def test_writing_and_reading_gives_the_same_mdp(tmp_path):
    mdp = read(tmp_path, GOOD)
    mdp.to_cs747(tmp_path / "again.txt")
    assert same(MDP.from_cs747(tmp_path / "again.txt"), mdp)


def test_repeated_lines_are_added_up_and_lines_out_of_an_end_ignored(tmp_path):
    twice = GOOD.replace("transition 0 1 3 1e-1 1\n", "transition 0 1 3 0.3 0.5\ntransition 0 1 3 0.7 0.5\n")
    mdp = read(tmp_path, twice + "transition 3 0 3 5 1\n")
    assert mdp.action_values(0, np.zeros(4))[1] == pytest.approx(0.5)
    assert mdp.terminal[3]


@pytest.mark.parametrize(
    "old, new, line, what",
    [
        ("0.75", "0.7", 6, "sum to 0.95, not to 1"),
        ("transition 0 0 1 0.5", "transition 0 2 1 0.5", 5, "action 2 is too large"),
        ("transition 0 0 1 0.5", "transition 4 0 1 0.5", 5, "state 4 is too large"),
        ("transition 0 0 1 0.5", "transition 0 0 -1 0.5", 5, "target '-1' is not a whole number"),
        ("-1.5", "nan", 6, "reward 'nan' is not a finite number"),
        ("-1.5", "", 6, "4 numbers"),
        ("0.25", "1.25", 5, "probability 1.25 is not between 0 and 1"),
        ("discount  0.9", "discount 1.9", 13, "discount 1.9 is not between"),
        ("discount  0.9", "", 14, "ends without a line 'discount g'"),
        ("end 3", "end -1", 14, "state 3 has no transition"),
        ("episodic", "epic", 12, "neither episodic nor continuing"),
        ("numActions 2", "numActions 2 2", 2, "write 'numActions A'"),
        ("start 0", "begin 0", 3, "'begin' is unknown"),
        ("numStates 4", "numStates 4000000000", 14, "has no transition"),
    ],
)
def test_faults_are_named_with_their_line(tmp_path, old, new, line, what):
    assert old in GOOD
    with pytest.raises(FormatError) as error:
        read(tmp_path, GOOD.replace(old, new, 1))
    assert f"mdp.txt, line {line}: " in str(error.value)
    assert what in str(error.value)


def test_a_discount_of_1_needs_an_end(tmp_path):
    text = "numStates 1\nnumActions 1\nend -1\ntransition 0 0 0 1 1\nmdptype continuing\ndiscount 1\n"
    with pytest.raises(FormatError, match="nothing ever ends"):
        read(tmp_path, text)


def mutated(text, rng):
    """Return the text with one to three small accidents."""
    data = bytearray(text.encode())
    for _ in range(int(rng.integers(1, 4))):
        data = data or bytearray(b"\n")
        at, kind = int(rng.integers(len(data))), int(rng.integers(6))
        if kind == 0:
            data[at] = int(rng.integers(256))
        elif kind == 1:
            del data[at : at + int(rng.integers(1, 12))]
        elif kind == 2:
            data[at:at] = bytes(rng.choice(list(b"0123456789.-e \n\tnaif_+"), size=3).tolist())
        elif kind == 3:
            lines = data.split(b"\n")
            del lines[int(rng.integers(len(lines)))]
            data = bytearray(b"\n".join(lines))
        elif kind == 4:
            words = bytes(data).split(b" ")
            words[int(rng.integers(len(words)))] = [b"-1", b"99999999999999999999", b"1e999", b"x", b""][
                int(rng.integers(5))
            ]
            data = bytearray(b" ".join(words))
        else:
            del data[at:]
    return bytes(data)


def test_two_thousand_damaged_files_are_read_or_refused_in_one_sentence(tmp_path):
    rng = np.random.default_rng(5)
    path = tmp_path / "mdp.txt"
    refused = 0
    for _ in range(2000):
        path.write_bytes(mutated(GOOD, rng))
        try:
            plan(MDP.from_cs747(path), "hpi")
        except FormatError as error:
            refused += 1
            assert re.search(r"mdp\.txt, line \d+: \S", str(error))
            assert "\n" not in str(error)
    assert refused > 1000


def test_the_compiled_scanner_reads_what_the_python_reader_reads(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    odd = ["1e-3", "+0.5", "-.25", "7.", "0.1234567890123456789", "-0", "123456789012345678901234", "  0.5\t"]
    odd += ["9223372036854775808", "-9999999999999999999", "0.9223372036854775809"]  # beyond 63 bits
    lines = []
    for state in range(300):
        p = float(rng.random())
        reward = odd[state % 16] if state % 16 < len(odd) else repr(float(rng.normal()))
        lines.append(f"transition {state} 0 {int(rng.integers(300))} {reward} {p!r}\r\n")
        lines.append(f" transition  {state}\t0 300 1 {1 - p!r} \n")
    text = f"numStates 301\nnumActions 1\nend 300\n{''.join(lines)}\n\nmdptype episodic\ndiscount 0.5"
    plain = read(tmp_path, text)
    monkeypatch.setattr(cs747, "PLAIN_BYTES", 0)
    assert same(read(tmp_path, text), plain)
    with pytest.raises(FormatError, match=r"line 101: .*'bad' is not a whole number"):
        broken = text.split("\n")
        broken[100] = "transition 1 0 bad 1 1"
        read(tmp_path, "\n".join(broken))


@given(st.integers(0, 10**18 - 1), st.integers(0, 22), st.sampled_from(["", "-", "+"]))
def test_decimals_become_doubles_as_python_makes_them(digits, places, sign):
    from mdplay.planning.formats.reader import read_decimal

    text = str(digits).rjust(places + 1, "0")
    text = sign + (text if not places else f"{text[:-places]}.{text[-places:]}")
    value, at = read_decimal(np.frombuffer(text.encode() + b" ", dtype=np.uint8), 0)
    assert at in (len(text), -1)
    if at >= 0:
        assert value == float(text)


def test_policies_are_read_and_checked(tmp_path):
    mdp = read(tmp_path, GOOD)
    good = write(tmp_path, "policy.txt", "1\n0\n1\n0\n")
    assert cs747.read_policy(good, mdp).tolist() == [1, 0, 1, 0]
    for text, line in (("1\n0\n0\n0\n", 3), ("1\n0\n", 2), ("1\n0\n1 1\n0\n", 3), ("1\nx\n1\n0\n", 2)):
        with pytest.raises(FormatError, match=f"bad.txt, line {line}: "):
            cs747.read_policy(write(tmp_path, "bad.txt", text), mdp)


def test_a_policy_may_hold_minus_1_in_terminal_states(tmp_path):
    mdp = read(tmp_path, GOOD)
    plan_file = write(tmp_path, "plan.txt", "".join(f"{action}\n" for action in plan(mdp).action))
    assert "-1" in plan_file.read_text().split()
    assert cs747.read_policy(plan_file, mdp).tolist() == np.maximum(plan(mdp).action, 0).tolist()
    with pytest.raises(FormatError, match="line 1: write one integer, the action of state 0"):
        cs747.read_policy(write(tmp_path, "bad.txt", "-1\n0\n1\n0\n"), mdp)


def test_what_is_written_can_be_read(tmp_path):
    only_ends = MDP.from_nested([[], []], discount=0.9)
    only_ends.to_cs747(tmp_path / "ends.txt")
    assert MDP.from_cs747(tmp_path / "ends.txt").num_states == 2
    with pytest.raises(FormatError, match="needs a terminal state or a discount below 1"):
        MDP.from_nested([[[[0, 1.0, 1.0]]]], discount=1.0).to_cs747(tmp_path / "endless.txt")


def test_what_is_no_regular_file_is_refused_before_it_is_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path, what in (
        ("/dev/zero", "not a regular file"),
        (tmp_path / "pipe", "not a regular"),
        (tmp_path, "folder"),
    ):
        with pytest.raises(FormatError, match=what):
            MDP.from_cs747(path)
        with pytest.raises(FormatError, match=what):
            cs747.read_policy(path, read(tmp_path, GOOD))


@pytest.mark.parametrize("path", ["", "missing.txt", "a" * 5000, "nul\0byte"])
def test_what_cannot_be_read_is_a_sentence(path):
    with pytest.raises(FormatError, match="cannot read|folder"):
        MDP.from_cs747(path)


def test_a_file_without_line_breaks_is_refused_before_it_is_all_read(tmp_path, needs_compiler):
    with (tmp_path / "zeros").open("wb") as out:
        out.truncate(1 << 40)
    with pytest.raises(FormatError, match="zeros, line 1: a line of more than"):
        MDP.from_cs747(tmp_path / "zeros")
    with pytest.raises(FormatError, match="zeros is longer than 64,256 bytes"):
        cs747.read_policy(tmp_path / "zeros", read(tmp_path, GOOD))


def test_a_message_does_not_repeat_a_long_word(tmp_path):
    for text in (GOOD.replace("0.25", "9" * 5000), GOOD.replace("mdptype", "x" * 5000), "y" * 100_000):
        with pytest.raises(FormatError) as caught:
            read(tmp_path, text)
        assert len(str(caught.value)) < 400


def test_an_mdp_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "mdp.txt"
    path.write_text(GOOD)

    def full(number):
        raise OSError(errno.ENOSPC, "No space left on device")

    mdp = MDP.from_cs747(path)
    path.write_text("old")
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(FormatError, match="No space left"):
        mdp.to_cs747(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_text_is_read_as_its_file_and_its_size_may_be_limited(tmp_path):
    text = b"numStates 2\nnumActions 1\nend 1\ntransition 0 0 1 1 1\nmdptype episodic\ndiscount 0.5\n"
    (tmp_path / "mdp.txt").write_bytes(text)
    ours, theirs = cs747.parse_mdp(text), cs747.read_mdp(tmp_path / "mdp.txt")
    assert list(cs747.lines(ours)) == list(cs747.lines(theirs))
    with pytest.raises(FormatError, match="the text, line 1: at most 1 states"):
        cs747.parse_mdp(text, max_states=1)
