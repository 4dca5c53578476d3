import json
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save_file

from mdplay.errors import FormatError
from mdplay.storage.arrays import load, save

ARRAYS = {
    "weights": np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 3, 4),
    "moves": np.arange(5, dtype=np.uint8),
    "words": np.array([0, 2**64 - 1], np.uint64),
    "nothing": np.zeros((0, 3), np.int16),
    "one": np.array(7, np.int64),
    "turned": np.arange(6, dtype=np.float64).reshape(2, 3).T,
    "flags": np.array([True, False]),
    "big-endian": np.arange(3, dtype=">i4"),
}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.safetensors"
    save(path, ARRAYS, kind="test", meta={"seed": 1, "names": ["ä", "b"]})
    return path


def test_what_was_saved_is_loaded(file):
    stored = load(file, kind="test")
    assert stored.meta == {"seed": 1, "names": ["ä", "b"]}
    assert set(stored.arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert np.array_equal(stored.arrays[name], array)
        assert stored.arrays[name].shape == array.shape
        assert not stored.arrays[name].flags.writeable


def test_the_safetensors_library_reads_it(file):
    with safe_open(file, framework="numpy") as reader:
        assert reader.metadata()["kind"] == "test"
        for name, array in ARRAYS.items():
            assert np.array_equal(reader.get_tensor(name), array)


def test_the_same_content_gives_the_same_bytes(file, tmp_path):
    save(tmp_path / "b", dict(reversed(ARRAYS.items())), kind="test", meta={"names": ["ä", "b"], "seed": 1})
    assert (tmp_path / "b").read_bytes() == file.read_bytes()


def test_every_truncation_is_refused(file, tmp_path):
    content = file.read_bytes()
    for length in range(len(content)):
        (tmp_path / "cut").write_bytes(content[:length])
        with pytest.raises(FormatError, match="cut"):
            load(tmp_path / "cut", kind="test")


def test_every_flipped_bit_is_refused_or_harmless(file, tmp_path):
    content = file.read_bytes()
    for position in range(len(content)):
        changed = bytearray(content)
        changed[position] ^= 1 << position % 8
        (tmp_path / "flipped").write_bytes(changed)
        try:
            stored = load(tmp_path / "flipped", kind="test")
        except FormatError:
            continue
        assert stored.meta == {"seed": 1, "names": ["ä", "b"]}  # a blank of the header, or a digit written anew
        assert all(np.array_equal(stored.arrays[name], array) for name, array in ARRAYS.items())


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_noise_is_refused(tmp_path_factory, noise):
    path = tmp_path_factory.getbasetemp() / "noise"
    path.write_bytes(noise)
    with pytest.raises(FormatError):
        load(path, kind="test")


HEADERS = [
    b'{"a":{"dtype":"F32","shape":[99999999999],"data_offsets":[0,399999999996]}}',
    b'{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,-4]}}',
    b'{"a":{"dtype":"F32","shape":["x"],"data_offsets":[0,4]}}',
    b'{"a":{"dtype":"F99","shape":[1],"data_offsets":[0,4]}}',
    b'{"a":[],"b":{}}',
    b'{"__metadata__":7}',
    b'{"__metadata__":{"format":"mdplay","kind":"test","meta":"{","sha256":"0"}}',
    b"{" + b'"a":{' * 100_000,
]


@pytest.mark.parametrize("header", HEADERS)
def test_a_forged_header_is_refused(tmp_path, header):
    header = header.replace(b'{"a"', b'{"__metadata__":{"format":"mdplay","kind":"test","sha256":"0"},"a"')
    (tmp_path / "forged").write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
    with pytest.raises(FormatError):
        load(tmp_path / "forged", kind="test")


@pytest.mark.parametrize("words", ["", "[1]", "{", "7", "[" * 100_000])
def test_words_that_are_not_a_document_are_refused(tmp_path, monkeypatch, words):
    monkeypatch.setattr("mdplay.storage.arrays.json.dumps", _with_words(words))
    save(tmp_path / "x", {}, kind="test", meta={})  # with a checksum that fits
    monkeypatch.undo()
    with pytest.raises(FormatError, match="its words are not JSON"):
        load(tmp_path / "x", kind="test")


def _with_words(words):
    plain = json.dumps
    return lambda document, **options: words if document == {} and options else plain(document, **options)


@pytest.mark.parametrize("path", ["/dev/null", "/dev/zero"])
def test_a_device_is_refused(path):
    with pytest.raises(FormatError, match="it is not a file"):
        load(path, kind="test")


def test_a_file_with_more_at_its_end_is_refused(file):
    file.write_bytes(file.read_bytes() + b"\0")
    with pytest.raises(FormatError, match="too long"):
        load(file, kind="test")


def test_a_foreign_file_is_refused(tmp_path):
    save_file({"a": np.zeros(3)}, tmp_path / "foreign")
    with pytest.raises(FormatError, match="not one that mdplay wrote"):
        load(tmp_path / "foreign", kind="test")


def test_another_kind_is_refused(file):
    with pytest.raises(FormatError, match="holds a test; a network is needed"):
        load(file, kind="network")


@pytest.mark.parametrize("path", ["missing", ".", "empty"])
def test_a_path_without_content_is_refused(tmp_path, path):
    (tmp_path / "empty").touch()
    with pytest.raises(FormatError):
        load(tmp_path / path, kind="test")


def test_an_array_of_objects_is_refused(tmp_path):
    with pytest.raises(FormatError, match="'a' of type object"):
        save(tmp_path / "x", {"a": np.array([None])}, kind="test")


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(FormatError, match="cannot write"):
        save(tmp_path / "no" / "x", ARRAYS, kind="test")


WRITER = """
import sys, numpy as np
from mdplay.storage.arrays import save
for i in range(10_000):
    save(sys.argv[1], {"a": np.full(300_000, i)}, kind="test", meta={"i": i})
    print(i, flush=True)
"""


def test_killed_writers_leave_a_whole_file(tmp_path):
    path = tmp_path / "x"
    for round_ in range(5):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE)
        writer.stdout.readline()
        time.sleep(0.003 * round_)
        writer.kill()
        writer.communicate()
        stored = load(path, kind="test")
        assert (stored.arrays["a"] == stored.meta["i"]).all()
    save(path, {}, kind="test")
    assert list(tmp_path.iterdir()) == [path]
