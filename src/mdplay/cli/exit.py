"""How the command line ends: by an exit code, by one sentence, or by a signal; never by a traceback.

0    the answer was given                  2    the input or the system is at fault: one sentence says how
1    the answer is no, or output is closed 70   mdplay is at fault: the traceback is in a file
130  stopped by Ctrl-C                     143  stopped by SIGTERM
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from contextlib import suppress
from typing import Any, NoReturn

from mdplay.runtime.signals import SignalWatcher, own_process

SAY_SECONDS = 0.2  # for the last words of a process that is stopped; its terminal may be stopped too
STREAMS = ("stdin", "stdout", "stderr")


def program() -> NoReturn:
    """Run the command line and end the process."""
    own_process()
    _fill_streams()
    _keep_terminal()
    sys.unraisablehook = _unraisable
    warnings.showwarning = _warned
    watchman = SignalWatcher(_leave_now, _say)
    code = run_watched(watchman)
    watchman.close(restore=False)
    _flush()
    if watchman.number:
        _end(code)  # threads may still compile, or run rules that never end: do not wait for them
    sys.exit(code)


def run_watched(watchman: SignalWatcher | None = None) -> int:
    """Run the command line of ``sys.argv``, stoppable at any moment, and return the exit code."""
    own = watchman is None
    watchman = watchman or SignalWatcher(_leave_now, _say)
    try:
        watchman.__enter__()
        return _run()
    except BaseException as error:
        if not watchman.number:
            return report_error(error)
        print_error("stopped")  # whatever it is came of the signal
        if not own:
            _end(128 + watchman.number)  # here, where the error still holds what a compiler was at
        return 128 + watchman.number
    finally:
        if own:
            watchman.close(restore=True)


def _run() -> int:
    from mdplay.cli.commands import group

    code = group.main(prog_name="mdplay", standalone_mode=False)
    if sys.stdout is not None:
        sys.stdout.flush()
    return code if isinstance(code, int) else 0


# ---------------------------------------------------------------- words for what went wrong
def report_error(error: BaseException) -> int:
    """Print an error on stderr as one sentence and return the exit code."""
    import click

    from mdplay.cli.commands import Stopped

    if isinstance(error, (SystemExit, click.exceptions.Exit)):
        code = getattr(error, "exit_code", getattr(error, "code", 0))
        return code if isinstance(code, int) else int(code is not None)
    if isinstance(error, (KeyboardInterrupt, Stopped, click.Abort)):
        print_error("stopped")
        return 130
    if isinstance(error, BrokenPipeError):
        _give_up("stdout")  # the reader has left: say no more
        return 1
    words = _words(error)
    if words is None:
        print_error(_report(error))
        return 70
    if isinstance(error, OSError) and error.filename is None:  # it came of writing to a stream
        _give_up("stdout")
        words = f"the output cannot be written: {words}"
    print_error(words)
    return 2


def _words(error: BaseException) -> str | None:
    """Return the sentence for a fault of the input or the system, or None for one of ours."""
    import click

    from mdplay import MdplayError
    from mdplay.compiling.contract import rule_error

    if isinstance(error, MdplayError):
        return str(error)
    if isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx else "mdplay"
        return f"{error.format_message()} Try '{command} --help'."
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, OSError):
        where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, (str, bytes)) else ""
        return f"{where}{error.strerror or error}"
    if isinstance(error, MemoryError):
        return f"the memory is not enough for this{f' ({error})' if str(error) else ''}"
    if isinstance(error, RuntimeError) and "new thread" in str(error):
        return "the system allows no more threads; ask for fewer"
    if isinstance(error, RuntimeError) and "home directory" in str(error):
        return "a path begins with ~, and there is no such home folder"
    rule = rule_error(error)
    return None if rule is None else str(rule)


def _report(error: BaseException) -> str:
    """Write the traceback into a file and return the sentence that names it."""
    import traceback

    text = f"mdplay {sys.argv[1:]!r}\n\n{''.join(traceback.format_exception(error))}"
    kind = type(error).__name__
    try:
        place = _write_report(text.encode(errors="backslashreplace"))
    except OSError as trouble:
        return f"internal error ({kind}: {error}); the report could not be written ({trouble.strerror})"
    return f"internal error ({kind}); please report it and attach {place}"


def _write_report(data: bytes) -> str:
    """Write a new file, into the cache folder if that can be, and return its name."""
    import tempfile

    from mdplay.storage.folders import cache_folder

    folder: str | None = None
    with suppress(OSError):
        place = cache_folder() / "faults"
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder = str(place) if os.access(place, os.W_OK) else None
    number, name = tempfile.mkstemp(prefix="fault-", suffix=".txt", dir=folder)
    with os.fdopen(number, "wb") as file:
        file.write(data)
    return name


def print_error(message: str) -> None:
    """Write a sentence on stderr; ignore a closed stderr."""
    from mdplay.errors import sentence

    if sys.stderr is None:
        return
    try:
        sys.stderr.write(f"{_clear()}mdplay: {sentence(message)}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        _give_up("stderr")


# ---------------------------------------------------------------- streams
def _fill_streams() -> None:
    """Open what the shell has closed: the next file would take the place of stdout, and get its words."""
    for number, name in enumerate(STREAMS):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number: this one
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False))
    for stream in (sys.stdout, sys.stderr):  # a file name may hold bytes that are no text
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _flush() -> bool:
    """Write out what is left; tell whether it could be written."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):
        _give_up("stdout")
        return False
    return True


def _give_up(name: str) -> None:
    """Let a stream that cannot be written go nowhere, so that the end of the process does not complain again."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), getattr(sys, name).fileno())


# ---------------------------------------------------------------- the end of the process
_terminal: Any = None


def _keep_terminal() -> None:
    """Remember how the terminal is set: a line editor changes it while it waits for a line."""
    global _terminal
    with suppress(ImportError, OSError, ValueError):
        if os.isatty(0):
            import termios

            _terminal = termios.tcgetattr(0)


def _restore_terminal() -> None:
    if _terminal is not None:
        import termios

        with suppress(termios.error, OSError):
            termios.tcsetattr(0, termios.TCSANOW, _terminal)


def _warned(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning as one sentence."""
    print_error(str(message))


def _unraisable(problem: Any) -> None:
    """Do not print a KeyboardInterrupt that no code could catch; the SignalWatcher handles the signal too."""
    if not isinstance(problem.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(problem)


def _leave_now(number: int) -> None:
    """End the process from whatever thread, whatever the main thread is at."""
    _restore_terminal()
    words = threading.Thread(target=_say, args=("stopped",), daemon=True)
    words.start()
    words.join(SAY_SECONDS)
    _end(128 + number)


def _say(message: str) -> None:
    """Write a sentence past Python's streams, which another thread may hold."""
    with suppress(OSError):
        os.write(2, f"{_clear()}mdplay: {message}\n".encode())


def _clear() -> str:
    """Return what empties a terminal's line, where ^C or a line of progress may stand."""
    return "\r\x1b[K" if os.isatty(2) else ""


def _end(code: int) -> NoReturn:
    """End the process without waiting for its threads; what was printed is written if it can be soon."""
    last = threading.Thread(target=_flush, daemon=True)
    last.start()
    last.join(SAY_SECONDS)
    os._exit(code)
