import struct

import numpy as np
import pytest

from mdplay.errors import FormatError
from mdplay.games.twenty48.files import (
    board_for,
    load_network,
    parse_patterns,
    patterns_text,
    read_network,
    save_network,
    write_network,
)
from mdplay.games.twenty48.rules import State
from mdplay.learning.network import Network
from mdplay.storage.arrays import save


@pytest.fixture
def network():
    made = Network.create(board_for(4, 4), parse_patterns("0123,0124,45"))
    made.weights[:] = np.random.default_rng(1).normal(size=len(made.weights))
    return made


@pytest.mark.parametrize("name", ["a.safetensors", "a.w", "a.bin", "a"])
def test_networks_survive_a_round_trip(tmp_path, network, name):
    write_network(tmp_path / name, network)
    again = read_network(tmp_path / name)
    assert (again.tuples, again.board) == (network.tuples, network.board)
    assert (again.weights == network.weights).all()


def test_what_the_values_are_of_is_kept(tmp_path, network):
    save_network(tmp_path / "x", Network.of(network.board, network.tuples, network.weights, before=True))
    assert load_network(tmp_path / "x")[0].before


def test_the_layout_of_tdl2048(tmp_path, network):
    """The bytes as written by hand: the first cell of a pattern is the lowest nibble."""
    write_network(tmp_path / "a.w", network)
    content = (tmp_path / "a.w").read_bytes()
    assert content[:5] == b"\0\3\0\0\0"
    assert content[5:24] == b"\4" + struct.pack("<IHHHQ", 0x0123, 4, 0, 4, 16**4)
    weights = np.frombuffer(content, "<f4", 16**4, offset=24)
    board = State(0x3210, 0)  # cell 0 is empty, cell 1 has exponent 1, ...
    assert weights[0x3210] == network.weights[network.weight_indices(board)[0]]


def test_sums_of_coherence_in_a_file_of_tdl2048_are_passed_over(tmp_path):
    table = np.arange(256, dtype="<f4")
    sums = struct.pack("<HQ", 4, 512) + bytes(4 * 512)
    content = struct.pack("<BI", 0, 1) + b"\4" + struct.pack("<IHHHQ", 0x45, 2, 0, 4, 256) + table.tobytes()
    (tmp_path / "a.w").write_bytes(content + sums + struct.pack("<H", 0))
    network = read_network(tmp_path / "a.w")
    assert patterns_text(network.tuples) == "45"
    assert (network.table(0) == table).all()


@pytest.mark.parametrize("name", ["a.safetensors", "a.w", "a.bin"])
def test_damaged_files_are_refused(tmp_path, network, name):
    """Cut anywhere, lengthened, or with any byte of the first kilobyte changed: a sentence or a network."""
    path = tmp_path / name
    write_network(path, network)
    content = path.read_bytes()
    for length in [*range(100), len(content) // 2, len(content) - 1]:
        path.write_bytes(content[:length])
        with pytest.raises(FormatError):
            read_network(path)
    path.write_bytes(content + b"\0")
    with pytest.raises(FormatError):
        read_network(path)
    for position in range(80):
        path.write_bytes(content[:position] + bytes([content[position] ^ 0xFF]) + content[position + 1 :])
        try:
            read_network(path)
        except FormatError:
            continue
        assert name != "a.safetensors"  # only ours is checked to the last bit


@pytest.mark.parametrize("name", ["a.safetensors", "a.w", "a.bin"])
def test_missing_and_empty_files_are_refused(tmp_path, name):
    with pytest.raises(FormatError):
        read_network(tmp_path / name)
    (tmp_path / name).touch()
    with pytest.raises(FormatError):
        read_network(tmp_path / name)


@pytest.mark.parametrize(
    "words",
    [
        {},
        {"layout": 2, "rows": 4, "cols": 4, "patterns": "01"},
        {"layout": 1, "rows": 4, "cols": 4, "patterns": "012"},
        {"layout": 1, "rows": 4, "cols": 4, "patterns": 7},
        {"layout": 1, "rows": 2, "cols": 2, "patterns": "89"},
        {"layout": 1, "rows": "x", "cols": 4, "patterns": "01"},
    ],
)
def test_sound_files_with_wrong_words_are_refused(tmp_path, words):
    save(tmp_path / "x", {"weights": np.zeros(256, np.float32)}, kind="network", meta=words)
    with pytest.raises(FormatError):
        load_network(tmp_path / "x")


def test_other_boards_have_no_place_in_the_formats_of_others(tmp_path):
    with pytest.raises(FormatError, match="4 x 4"):
        write_network(tmp_path / "a.w", Network.create(board_for(2, 2), parse_patterns("01", 2, 2)))
