"""Where mdplay keeps files of its own, one cache folder of the user's; and which files are not the user's.

Kernel files are executed when they are loaded, so no other user may be able to put one there: ``private_folder``
hands out a folder only if it is the user's own and closed to others.
"""

from __future__ import annotations

import os
import stat
import sys
import sysconfig
from contextlib import suppress
from functools import cache
from pathlib import Path

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
PRIVATE = 0o700
STANDARD = tuple({str(Path(path).resolve()) for path in map(sysconfig.get_path, ("stdlib", "platstdlib"))})
INSTALLED = ("site-packages", "dist-packages")
PACKAGE = Path(__file__).resolve().parents[1]


@cache
def cache_folder() -> Path:
    """Return the folder for whatever can be made again; ``MDPLAY_CACHE`` names another one."""
    if given := os.environ.get("MDPLAY_CACHE"):
        return Path(given)
    from platformdirs import user_cache_path

    return user_cache_path("mdplay")


def private_folder(folder: Path, what: str) -> Path | None:
    """Return a folder, made if need be, that only the user can write to, with mode 700; else None.

    One that others own or can write to, or whose parent is such, is not used, and a warning says so.  One that
    cannot be made is not used either: a read-only disk is not an error.
    """
    try:
        for level in (folder.parent, folder):
            level.mkdir(parents=True, exist_ok=True, mode=PRIVATE)
            if not is_own(level.stat()):
                _warn(level, what)
                return None
        if hasattr(os, "geteuid") and stat.S_IMODE(folder.stat().st_mode) != PRIVATE:
            folder.chmod(PRIVATE)
    except OSError:
        return None
    return folder


def is_own(status: os.stat_result) -> bool:
    """Return whether a file or folder belongs to the user and no other user can write to it."""
    if not hasattr(os, "geteuid"):
        return True  # Windows protects the folders of a user by access control lists
    return status.st_uid == os.geteuid() and not status.st_mode & OTHERS_WRITE


def _warn(folder: Path, what: str) -> None:
    sentence = f"mdplay: {folder} is not used for {what}: others own it or can write to it; give it mode 700"
    with suppress(OSError, ValueError, AttributeError):
        print(sentence, file=sys.stderr)


def is_installed(file: Path) -> bool:
    """Return whether a file belongs to an installed package or to the standard library."""
    path = file.resolve()
    return (
        any(part in INSTALLED for part in path.parts) or str(path).startswith(STANDARD) or PACKAGE in path.parents
    )
