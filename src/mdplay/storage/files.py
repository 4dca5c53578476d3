"""Files: written atomically, and read with limits.

mdplay writes every file by ``replacing``: to ``NAME.PID.N.mdplay-part`` beside the target, which is flushed to
the disk and then renamed.  If the process is killed in between or the disk is full, the old file is unchanged; the
next writer removes the part files of dead processes (a running one holds a lock on its part file).

    a symbolic link          is kept; its target is replaced, or created if it does not exist
    a file                   keeps its mode, and its owner if that is permitted; a read-only file is refused
    a device, a FIFO         is written directly; a FIFO needs a process that reads from it
    /dev/stdout, /dev/fd/N   is the open descriptor itself, so that other output of the process stays in order
    a folder                 is refused
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import os
import re
import select
import stat
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from glob import escape
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO

from mdplay.errors import FormatError

MAX_READ = 1 << 30
MAX_LINE = 1 << 20  # bytes of a line of text
FIFO_SECONDS = 60.0  # how long a FIFO may stay silent, or without a process at its other end
MAX_LINKS = 40  # the limit of Linux
SUFFIX = ".mdplay-part"


@contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """Open a new file that replaces ``path`` if the block ends without an exception."""
    with _in_words(path):
        found = _target(path)
        if isinstance(found, int) or not _replaceable(found):
            with _straight(found) as file:
                yield file
            return
        with _part(found) as (part, file):
            yield file
            _finish(file)
            part.replace(found)
        _flush_folder(found.parent)


@contextmanager
def creating(path: str | Path) -> Iterator[BinaryIO]:
    """Open a new file that gets the name ``path`` if the block ends without an exception.

    Raise FormatError if ``path`` exists.
    """
    target = Path(path)
    with _in_words(path):
        if os.path.lexists(target):
            raise FormatError(f"{path} exists already; it was left alone")
        with _part(target) as (part, file):
            yield file
            _finish(file)
            try:
                os.link(part, target)  # unlike a rename, it fails if another process has created the file
            except FileExistsError:
                raise FormatError(f"{path} exists already; it was left alone") from None
            except OSError:  # a file system without hard links
                part.replace(target)
        _flush_folder(target.parent)


def write(path: str | Path, content: str | bytes) -> None:
    """Write a text (as UTF-8) or bytes to a file, by ``replacing``."""
    with replacing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def make_folder(path: str | Path) -> Path:
    """Create a folder and its parents if they do not exist; raise FormatError if that fails."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise FormatError(f"cannot make the folder {path}: {getattr(error, 'strerror', None) or error}") from None
    return Path(path)


@contextmanager
def _in_words(path: str | Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FormatError(f"cannot write {path}: {error.strerror or error}") from error


def _target(path: str | Path) -> Path | int:
    """Return the file that a path leads to through symbolic links, or a descriptor of this process."""
    target = Path(path)
    if "\0" in str(path):
        raise FormatError(f"cannot write {str(path)!r}: a name of a file has no NUL")
    for _ in range(MAX_LINKS):
        folder = os.path.realpath(target.parent)
        if folder == f"/proc/{os.getpid()}/fd" and target.name.isdigit():
            return int(target.name)
        if not target.is_symlink():
            return target
        target = Path(folder) / target.readlink()
    raise FormatError(f"cannot write {path}: its symbolic links lead in a circle")


def _replaceable(target: Path) -> bool:
    """Return whether a path is a regular file or does not exist; raise FormatError if it cannot be written."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return True
    if stat.S_ISDIR(mode):
        raise FormatError(f"cannot write {target}: it is a folder")
    if not os.access(target, os.W_OK):
        raise FormatError(f"cannot write {target}: it may only be read")
    return stat.S_ISREG(mode)


@contextmanager
def _straight(target: Path | int) -> Iterator[BinaryIO]:
    """Open a device, a FIFO or a descriptor of this process for writing."""
    if isinstance(target, int):
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
        target = os.dup(target)
    elif target.is_fifo():
        target = _fifo_to_write(target)
    with open(target, "wb") as file:  # noqa: PTH123
        yield file


def _fifo_to_write(path: Path) -> int:
    """Return a descriptor of a FIFO; raise FormatError if no process opens it for reading."""
    until = time.monotonic() + FIFO_SECONDS
    while True:
        try:
            number = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            if time.monotonic() > until:
                raise FormatError(f"cannot write {path}: it is a FIFO, and no process reads from it") from None
            time.sleep(0.01)
        else:
            os.set_blocking(number, True)
            return number


@contextmanager
def _part(target: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """Yield a new file beside the target, with its mode and owner; it is removed at the end of the block."""
    _sweep(target)
    part, number = _new_part(target)
    try:
        with os.fdopen(number, "wb") as file:
            _lend_rights(number, target)
            yield part, file
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _new_part(target: Path) -> tuple[Path, int]:
    """Create a locked file with a new name: a part file without a lock belongs to a dead writer."""
    flags, mode = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600
    for k in count():
        part = target.with_name(f"{_stem(target)}.{os.getpid()}.{k}{SUFFIX}")
        with suppress(FileExistsError):
            number = os.open(part, flags, mode if target.exists() else 0o666)
            if _locked(number) and part.exists():  # otherwise another process removed it before it was locked
                return part, number
            os.close(number)
    raise AssertionError("there is always a number that is not taken")


def _stem(target: Path) -> str:
    """Return the beginning of the names of the part files; names have at most 255 bytes."""
    name = target.name
    return name if len(os.fsencode(name)) <= 200 else hashlib.sha256(os.fsencode(name)).hexdigest()


def _lend_rights(number: int, target: Path) -> None:
    """Give a new file the owner and mode of the file that it replaces, as far as permitted."""
    try:
        old = target.stat()
    except FileNotFoundError:
        return
    if hasattr(os, "fchown"):
        with suppress(OSError):
            os.fchown(number, old.st_uid, old.st_gid)
        with suppress(OSError):
            os.fchmod(number, stat.S_IMODE(old.st_mode))


def _finish(file: BinaryIO) -> None:
    """Flush a file to the disk."""
    file.flush()
    os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    """Flush a rename to the disk, on systems that can open folders."""
    if not hasattr(os, "fchown"):
        return  # Windows opens no folders
    with suppress(OSError):  # a folder without read permission: the file is there nevertheless
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _sweep(target: Path) -> None:
    """Remove the unfinished files of writers that were killed."""
    wanted = re.compile(re.escape(_stem(target)) + r"\.\d+\.\d+" + re.escape(SUFFIX))
    for part in target.parent.glob(f"{escape(_stem(target))}.*{SUFFIX}"):
        if wanted.fullmatch(part.name):
            with suppress(OSError):  # it belongs to another user, or no longer exists
                _remove_dead(part)


def _remove_dead(part: Path) -> None:
    number = os.open(part, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    try:
        _lock(number)
        part.unlink(missing_ok=True)
    finally:
        os.close(number)


def _locked(number: int) -> bool:
    """Lock an open file if the file system has locks; return False if another process holds the lock."""
    try:
        _lock(number)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


def _lock(number: int) -> None:
    """Lock an open file until it is closed, or raise OSError."""
    try:
        import fcntl
    except ImportError:
        return  # Windows needs no lock: it does not remove an open file
    fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)


# ---------------------------------------------------------------- reading
def size_of(path: str | Path) -> int:
    """Return the size of a regular file; raise FormatError for anything else: a device or a pipe may never end."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    if stat.S_ISDIR(found.st_mode):
        raise FormatError(f"{str(path) or repr('')} is a folder; name a file")
    if not stat.S_ISREG(found.st_mode):
        raise FormatError(f"{path} is not a regular file; save the text in one and name that")
    return found.st_size


def unreadable(path: str | Path, error: OSError | ValueError) -> FormatError:
    """Return the error for a file that cannot be read."""
    if "\0" in str(path):
        return FormatError(f"cannot read {str(path)!r}: a name of a file has no NUL")
    if isinstance(error, UnicodeError):
        return FormatError(f"cannot read {str(path)!r}: the name of the file has characters that are not text")
    return FormatError(f"cannot read {str(path) or repr('')}: {getattr(error, 'strerror', None) or error}")


class _Fifo(io.RawIOBase):
    """A FIFO for reading; FormatError is raised after FIFO_SECONDS without data."""

    def __init__(self, path: str | Path) -> None:
        self._path, self._number = path, os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self._poll = select.poll()
        self._poll.register(self._number, select.POLLIN)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._poll.poll(FIFO_SECONDS * 1000):
            silent = f"it is a FIFO, and nothing was written to it for {FIFO_SECONDS:g} seconds"
            raise FormatError(f"cannot read {self._path}: {silent}; save the text in a file and name that")
        return os.readv(self._number, [buffer])

    def close(self) -> None:
        if not self.closed:
            os.close(self._number)
        super().close()


@contextmanager
def opened(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file for reading; raise FormatError if it cannot be read, or is a FIFO that stays silent."""
    try:
        if stat.S_ISFIFO(Path(path).stat().st_mode) and hasattr(select, "poll"):
            with io.BufferedReader(_Fifo(path)) as file:
                yield file
        else:
            with Path(path).open("rb") as file:
                yield file
    except FormatError:
        raise
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None


def read(path: str | Path, *, most: int = MAX_READ) -> bytes:
    """Return the bytes of a file (or a FIFO); raise FormatError if it cannot be read or has more than ``most``."""
    with opened(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise FormatError(f"{path} is longer than {most:,} bytes; that is more than a file of this kind may be")
    return content


def read_lines(path: str | Path, *, most: int = MAX_LINE) -> Iterator[str]:
    """Yield the lines of a text in UTF-8, ``-`` for the standard input; a line has at most ``most`` bytes."""
    standard = str(path) == "-"
    with nullcontext(sys.stdin.buffer) if standard else opened(path) as file:
        for number in count(1):
            line = file.readline(most + 1)
            if len(line) > most:
                raise FormatError(f"{path}, line {number} is longer than {most:,} bytes; is this a text?")
            if not line:
                return
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                raise FormatError(f"{path}, line {number} is not text in UTF-8") from None


def read_text(path: str | Path, *, most: int = MAX_READ) -> str:
    """Return the text of a file in UTF-8, or raise FormatError."""
    try:
        return read(path, most=most).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FormatError(f"{path} is not text") from None


def unzip(data: bytes, path: str | Path, *, most: int = MAX_READ) -> bytes:
    """Return what gzip compressed; raise FormatError if it is damaged or has more than ``most`` bytes."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            content = file.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise FormatError(f"cannot read {path}: it is damaged ({error})") from None
    if len(content) > most:
        raise FormatError(f"{path} holds more than {most:,} bytes; that is more than a file of this kind may have")
    return content
