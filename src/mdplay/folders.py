"""Where mdplay keeps files of its own: one cache folder of the user's."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path


@cache
def cache_folder() -> Path:
    """Return the folder for whatever can be made again; ``MDPLAY_CACHE`` names another one.

    Where the user's cache folder cannot be written, a temporary one is used for this user.
    """
    if given := os.environ.get("MDPLAY_CACHE"):
        return Path(given)
    from platformdirs import user_cache_path

    for folder in (user_cache_path("mdplay"), Path(tempfile.gettempdir()) / f"mdplay-{_user()}"):
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return folder


def _user() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
