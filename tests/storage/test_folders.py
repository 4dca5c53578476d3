import os
import stat

import pytest

from mdplay.storage import folders

POSIX = pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")


@pytest.fixture(autouse=True)
def fresh():
    folders.cache_folder.cache_clear()
    yield
    folders.cache_folder.cache_clear()


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_the_cache_folder_can_be_named(monkeypatch, tmp_path):
    monkeypatch.setenv("MDPLAY_CACHE", str(tmp_path / "there"))
    assert folders.cache_folder() == tmp_path / "there"


def test_there_is_no_folder_in_a_shared_temporary_one(monkeypatch, tmp_path):
    blocked = tmp_path / "a-file"
    blocked.write_text("")
    monkeypatch.delenv("MDPLAY_CACHE", raising=False)
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: blocked / name)
    assert folders.cache_folder() == blocked / "mdplay"
    assert folders.private_folder(folders.cache_folder() / "kernels", "kernels") is None


@POSIX
def test_a_new_folder_is_the_users_alone(tmp_path, capsys):
    before = os.umask(0o002)
    try:
        assert folders.private_folder(tmp_path / "cache" / "kernels", "kernels") == tmp_path / "cache" / "kernels"
    finally:
        os.umask(before)
    assert mode(tmp_path / "cache") == mode(tmp_path / "cache" / "kernels") == 0o700
    assert capsys.readouterr().err == ""


@POSIX
def test_a_folder_that_others_can_only_read_is_closed(tmp_path, capsys):
    folder = tmp_path / "cache" / "kernels"
    folder.mkdir(parents=True)
    (tmp_path / "cache").chmod(0o755)
    folder.chmod(0o755)
    assert folders.private_folder(folder, "kernels") == folder
    assert mode(folder) == 0o700
    assert capsys.readouterr().err == ""


@POSIX
@pytest.mark.parametrize("level", ["cache", "cache/kernels"])
@pytest.mark.parametrize("bits", [0o770, 0o707, 0o777, 0o720])
def test_a_folder_that_others_can_write_to_is_not_used(tmp_path, capsys, level, bits):
    folder = tmp_path / "cache" / "kernels"
    folder.mkdir(parents=True)
    (tmp_path / "cache").chmod(0o700)
    (tmp_path / level).chmod(bits)
    assert folders.private_folder(folder, "kernels") is None
    assert mode(tmp_path / level) == bits
    warning = capsys.readouterr().err
    assert warning.count("\n") == 1 and "is not used for kernels" in warning and "mode 700" in warning


@POSIX
def test_a_folder_of_another_user_is_not_used(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert folders.private_folder(tmp_path / "cache" / "kernels", "kernels") is None
    assert "others own it" in capsys.readouterr().err
