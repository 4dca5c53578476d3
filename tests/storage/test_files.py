import errno
import gzip
import os
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from mdplay.errors import FormatError
from mdplay.storage import files
from mdplay.storage.files import SUFFIX, creating, make_folder, read, read_text, replacing, unzip, write
from tests.helpers import python


def modes(path):
    return stat.S_IMODE(path.stat().st_mode)


# ---------------------------------------------------------------- what is replaced, and what is not
def test_a_failure_leaves_the_old_file_and_no_part(tmp_path):
    path = tmp_path / "x"
    path.write_text("old")
    with pytest.raises(RuntimeError), replacing(path) as file:
        file.write(b"new")
        raise RuntimeError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("old")
    (tmp_path / "middle").symlink_to("folder/file")
    (tmp_path / "link").symlink_to(tmp_path / "middle")
    write(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "middle").is_symlink()
    assert (tmp_path / "folder" / "file").read_text() == "new"
    assert not (tmp_path / "folder" / "file").is_symlink()


def test_a_link_to_nothing_makes_what_it_leads_to(tmp_path):
    (tmp_path / "link").symlink_to("file")
    write(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"


def test_links_in_a_circle_are_told(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(FormatError, match="circle"):
        write(tmp_path / "a", "new")
    with pytest.raises(FormatError, match="cannot write"):
        write(tmp_path / "a" / "x", "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_the_mode_of_a_file_is_kept(tmp_path, mode):
    path = tmp_path / "x"
    path.touch()
    path.chmod(mode)
    write(path, "new")
    assert modes(path) == mode


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_a_new_file_gets_the_mode_of_the_umask(tmp_path, umask):
    before = os.umask(umask)
    try:
        write(tmp_path / "x", "new")
        with creating(tmp_path / "y") as file:
            file.write(b"new")
    finally:
        os.umask(before)
    assert modes(tmp_path / "x") == modes(tmp_path / "y") == 0o666 & ~umask


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_the_owner_of_a_file_is_kept(tmp_path):
    path = tmp_path / "x"
    path.touch()
    os.chown(path, 12345, 23456)
    write(path, "new")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 23456)


def test_a_file_that_may_only_be_read_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "x"
    path.write_text("old")
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)  # as it is for anybody but root
    with pytest.raises(FormatError, match="may only be read"):
        write(path, "new")
    assert path.read_text() == "old"


def test_a_fifo_is_written_straight_and_stays_one(tmp_path):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    got = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()))
    reader.start()
    write(path, "through")
    reader.join()
    assert got == [b"through"]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_device_is_written_straight_and_stays_one(tmp_path):
    if os.getuid() != 0:
        pytest.skip("only root makes devices")
    null = tmp_path / "null"
    try:
        os.mknod(null, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        null.write_text("")
    except OSError:
        pytest.skip("no devices here")
    (tmp_path / "link").symlink_to("null")
    write(null, "gone")
    write(tmp_path / "link", "gone")
    assert stat.S_ISCHR(null.stat().st_mode)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "null"]


def test_a_full_device_is_a_sentence():
    with pytest.raises(FormatError, match="cannot write /dev/full: No space left"):
        write("/dev/full", "x")


def test_the_standard_output_keeps_its_order_and_its_file(tmp_path):
    program = "from mdplay.storage.files import write; print('a'); write('/dev/stdout', 'b\\n'); print('c')"
    assert python("-c", program) == "a\nb\nc\n"
    with (tmp_path / "out").open("wb") as out:
        subprocess.run([sys.executable, "-c", program], stdout=out, check=True)
    assert (tmp_path / "out").read_text() == "a\nb\nc\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("path", [".", "folder", "", "no/x", "x\0y", "x" * 300, "/proc/version/x"])
def test_paths_that_cannot_be_written_are_a_sentence(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(FormatError, match="cannot write"):
        write(path, "x")
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]
    assert list((tmp_path / "folder").iterdir()) == []


def test_a_name_may_be_as_long_as_names_are(tmp_path):
    write(tmp_path / ("x" * 255), "new")
    assert [path.name for path in tmp_path.iterdir()] == ["x" * 255]


def test_a_full_disk_leaves_the_old_file_and_a_sentence(tmp_path, monkeypatch):
    path = tmp_path / "x"
    path.write_text("old")

    def full(number):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FormatError, match="cannot write .*x: No space left on device"):
        write(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


# ---------------------------------------------------------------- several writers
def test_two_writers_at_once_leave_one_of_their_files_whole(tmp_path):
    path = tmp_path / "x"
    with replacing(path) as one, replacing(path) as two:
        one.write(b"1" * 100_000)
        two.write(b"2" * 100_000)
    assert path.read_bytes() == b"1" * 100_000  # its block ended last
    assert list(tmp_path.iterdir()) == [path]


def test_a_living_writer_keeps_its_part_and_a_dead_ones_is_swept(tmp_path):
    path = tmp_path / "x"
    (tmp_path / f"x.999999999.0{SUFFIX}").write_text("dead")
    (tmp_path / f"x.notes{SUFFIX}").write_text("somebody's own")
    with replacing(path) as slow:
        slow.write(b"slow")
        write(path, "quick")
        assert path.read_bytes() == b"quick"
    assert path.read_bytes() == b"slow"
    assert sorted(found.name for found in tmp_path.iterdir()) == ["x", f"x.notes{SUFFIX}"]


def test_a_file_is_made_only_where_there_is_none(tmp_path):
    path = tmp_path / "x"
    with creating(path) as file:
        file.write(b"first")
    with pytest.raises(FormatError, match="exists already"), creating(path) as file:
        file.write(b"second")
    with pytest.raises(FormatError, match="exists already"), creating(tmp_path / "y") as file:
        (tmp_path / "y").write_text("quicker")
    assert (path.read_text(), (tmp_path / "y").read_text()) == ("first", "quicker")
    assert len(list(tmp_path.iterdir())) == 2


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    assert make_folder(tmp_path / "a" / "b").is_dir()
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "x"):
        with pytest.raises(FormatError, match="cannot make the folder"):
            make_folder(path)


# ---------------------------------------------------------------- reading
def test_what_is_read_has_bounds(tmp_path):
    (tmp_path / "x").write_bytes(b"abc")
    assert read(tmp_path / "x", most=3) == b"abc"
    with pytest.raises(FormatError, match="longer than 2 bytes"):
        read(tmp_path / "x", most=2)
    with pytest.raises(FormatError, match="longer than"):
        read("/dev/zero", most=1000)
    for path in (tmp_path, tmp_path / "no", "a\0b"):
        with pytest.raises(FormatError, match="cannot read"):
            read(path)


def test_what_is_not_text_is_told(tmp_path):
    (tmp_path / "x").write_bytes(b"\xff\xfe")
    with pytest.raises(FormatError, match="is not text"):
        read_text(tmp_path / "x")


def test_damaged_and_exploding_archives_are_refused():
    packed = gzip.compress(b"0" * 1_000_000)
    assert len(unzip(packed, "x")) == 1_000_000
    with pytest.raises(FormatError, match="holds more than 1,000 bytes"):
        unzip(packed, "x", most=1000)
    for at in range(len(packed)):
        broken = bytearray(packed)
        broken[at] ^= 0xFF
        try:
            assert unzip(bytes(broken), "x") == b"0" * 1_000_000  # a name or a date of the header
        except FormatError:
            continue
    for end in range(len(packed)):
        with pytest.raises(FormatError):
            unzip(packed[:end] or b"\0", "x")


def test_lines_are_read_within_bounds(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"\xef\xbb\xbfone\ntwo\n\nthree")
    assert list(files.read_lines(path)) == ["one\n", "two\n", "\n", "three"]
    path.write_bytes(b"one\n" + b"x" * 100)
    with pytest.raises(FormatError, match="text, line 2 is longer than 50 bytes"):
        list(files.read_lines(path, most=50))
    path.write_bytes(b"one\n\xff\n")
    with pytest.raises(FormatError, match="text, line 2 is not text in UTF-8"):
        list(files.read_lines(path))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
def test_a_fifo_is_read_and_one_that_is_silent_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(path.write_text, "one\ntwo\n")
        assert list(files.read_lines(path)) == ["one\n", "two\n"]
        writing.result()
    monkeypatch.setattr(files, "FIFO_SECONDS", 0.05)
    with pytest.raises(FormatError, match="it is a FIFO, and nothing was written to it for 0.05 seconds"):
        files.read(path)
    with pytest.raises(FormatError, match="it is a FIFO, and no process reads from it"):
        files.write(path, "one")


@pytest.mark.parametrize("path", ["a\0b", "a\udcff\ud800"])
def test_a_name_that_no_file_can_have_is_told(path):
    with pytest.raises(FormatError, match="cannot read .*(has no NUL|characters that are not text)"):
        files.read(path)
