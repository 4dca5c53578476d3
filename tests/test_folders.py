from mdplay import folders


def test_the_cache_folder_can_be_named(monkeypatch, tmp_path):
    folders.cache_folder.cache_clear()
    monkeypatch.setenv("MDPLAY_CACHE", str(tmp_path / "there"))
    assert folders.cache_folder() == tmp_path / "there"
    folders.cache_folder.cache_clear()


def test_a_folder_that_cannot_be_made_is_replaced(monkeypatch, tmp_path):
    blocked = tmp_path / "a-file"
    blocked.write_text("")
    folders.cache_folder.cache_clear()
    monkeypatch.delenv("MDPLAY_CACHE", raising=False)
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: blocked / name)
    assert blocked not in folders.cache_folder().parents
    folders.cache_folder.cache_clear()
