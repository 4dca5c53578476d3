"""The identities of games and agents that saved files carry: solutions, books, checkpoints, results, records.

Rules are edited, files are replaced, and two files may have one name.  An identity is therefore a hash of the
content, the same under any version of Python and in any folder.

    game_identity    the rules (``mdplay.compiling.digest``): code, parameters, the values of tables; not the texts
                     for people, and of mdplay's own helpers the names only
    cells_identity   how the board is seen as cells, which is no part of the rules
    agent_identity   its text, the content of the files that its options name, and for a user's agent the code of
                     its file and of the users' files that it imports, wherever they are, with the data they read

Code is hashed as its syntax tree: without comments, docstrings and layout.  A function's tree is taken from its
file only if compiling that file gives the function's very code, since a file may be edited after it was
imported. Without such a file the byte code is hashed, with the version of Python.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import secrets
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from mdplay.compiling.digest import (
    DIGITS,
    Digest,
    Unhashable,
    feed_code,
    in_toolchain,
    reach,
    reach_and_watch,
    roots,
)
from mdplay.errors import FormatError, GameError
from mdplay.game import CELLS, Game
from mdplay.storage.folders import is_installed

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
NOT_MEANING = ("ctx", "kind", "type_comment")


def feed_source(digest: Digest, function: FunctionType) -> None:
    """Add the code of a function to a digest, by its syntax tree if that is known."""
    tree = tree_of(function.__code__)
    if tree is None:
        digest.tag("byte code", f"{sys.version_info[:2]}")
        feed_code(digest, function)
    else:
        digest.tag("tree", tree_text(tree))


# ---------------------------------------------------------------- syntax trees
def tree_of(code: CodeType) -> ast.AST | None:
    """Return the tree of a function's code, if its file still says the same."""
    try:
        status = Path(code.co_filename).stat()
        trees = _trees(code.co_filename, status.st_mtime_ns, status.st_size)
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
    found = trees.get((code.co_name, code.co_firstlineno), [])
    same = [tree for compiled, tree in found if compiled == code]
    return same[0] if len(same) == 1 else None


@lru_cache(maxsize=64)
def _trees(path: str, changed: int, size: int) -> dict[tuple[str, int], list[tuple[CodeType, ast.AST]]]:
    """Return the functions of a file by name and first line: each code with its tree, if there is but one."""
    source = Path(path).read_bytes()
    nodes: dict[tuple[str, int], list[ast.AST]] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, FUNCTIONS):
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            nodes.setdefault((getattr(node, "name", "<lambda>"), first), []).append(node)
    found: dict[tuple[str, int], list[tuple[CodeType, ast.AST]]] = {}
    for code in _codes(compile(source, path, "exec", dont_inherit=True)):
        key = (code.co_name, code.co_firstlineno)
        if len(nodes.get(key, [])) == 1:
            found.setdefault(key, []).append((code, nodes[key][0]))
    return found


def _codes(code: CodeType) -> Iterator[CodeType]:
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield const
            yield from _codes(const)


def tree_text(node: Any) -> str:
    """Return a syntax tree as text: no positions, docstrings or empty fields, which differ between versions."""
    if isinstance(node, list):
        return f"[{','.join(map(tree_text, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    parts = []
    for name, value in ast.iter_fields(node):
        if name == "body" and isinstance(value, list) and value and _is_text(value[0]):
            value = value[1:]
        if name not in NOT_MEANING and value is not None and value != []:
            parts.append(f"{name}={tree_text(value)}")
    return f"{type(node).__name__}({','.join(parts)})"


def _is_text(statement: ast.AST) -> bool:
    value = getattr(statement, "value", None)
    return isinstance(statement, ast.Expr) and isinstance(value, ast.Constant) and isinstance(value.value, str)


# ---------------------------------------------------------------- files, with what they import
def source_files(path: Path) -> list[Path]:
    """Return a Python file and the files of users that it imports, wherever they are, and these in turn.

    What an import names is looked for beside the file, and then where Python finds it; installed packages and the
    standard library are left out.
    """
    found, waiting = [], [path.resolve()]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.append(file)
            waiting += _imported(file, path.resolve().parent)
    return sorted(found)


def _imported(file: Path, folder: Path) -> list[Path]:
    names: set[str] = set()
    bases = {folder, file.parent}
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {node.module or "", *(f"{node.module or ''}.{alias.name}".strip(".") for alias in node.names)}
            bases |= {file.parents[node.level - 1]} if 0 < node.level <= len(file.parents) else set()
    files = [found for name in names if name for found in _files_of(name, bases)]
    return [file.resolve() for file in files if file.is_file() and not is_installed(file)]


def _files_of(name: str, bases: set[Path]) -> list[Path]:
    """Return the files that a dotted name of an import may mean: of a package also that of each of its parts."""
    parts = name.split(".")
    places = [base.joinpath(*parts[: i + 1]) for base in bases for i in range(len(parts))]
    files = [file for place in places for file in (place.with_suffix(".py"), place / "__init__.py")]
    found = [file for file in files if file.is_file()]
    if found or parts[0] in sys.stdlib_module_names:
        return found
    root = _root_of(parts[0])
    return (
        [] if root is None else [root, *(_files_of(name, {root.parent.parent}) if root.stem == "__init__" else [])]
    )


def _root_of(name: str) -> Path | None:
    """Return the file of a module or package that Python finds by its name."""
    try:
        present = sys.modules.get(name)
        file = getattr(present, "__file__", None) if present else getattr(find_spec(name), "origin", None)
    except (ImportError, ValueError, AttributeError):
        return None
    return Path(file) if file and file.endswith(".py") else None


def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a Python file."""
    return ast.parse(path.read_bytes())


def file_text(path: Path) -> str:
    """Return what a Python file means, as the text of its syntax tree."""
    return tree_text(parsed(path))


# ---------------------------------------------------------------- data that a file reads
READERS = {
    "open",
    "read_text",
    "read_bytes",
    "loadtxt",
    "genfromtxt",
    "fromfile",
    "memmap",
    "read_csv",
    "read_json",
}
LOADERS = ("np", "numpy", "torch", "joblib")  # whose ``load`` takes the name of a file
UNTOLD = {
    "environ", "getenv", "urlopen", "urlretrieve", "Popen", "check_output", "import_module", "__import__", "eval",
    "exec", "run_path", "exec_module", "listdir", "scandir", "iterdir", "glob", "rglob", "create_connection",
    "input",
}  # fmt: skip


class Untold(Exception):
    """Code reads something whose content is not told by its source."""


def data_files(path: Path, given: Iterable[str] = (), within: str | None = None) -> list[Path]:
    """Return the files that a Python file opens for reading, as far as its source names them.

    ``given`` are names of options, whose files are known to the caller.  ``within``: only the class of that name
    counts.  What runs only where the file is the main program does not count.  Raise Untold if the code reads what
    its source does not name: a computed path, the environment, another program, a folder.
    """
    reading = _Reading(path, parsed(path), set(given), within)
    return sorted({file.resolve() for place in reading.places() for file in _there(place, path.parent)})


def _there(place: Path, folder: Path) -> list[Path]:
    return [file for file in (place, folder / place) if file.is_file()]


class _Reading:
    """The calls of one file that read other files, and the paths that they are given."""

    def __init__(self, path: Path, tree: ast.Module, given: set[str], within: str | None) -> None:
        self.path, self.given = path, given
        self.reads = [node for node in tree.body if not _is_main(node)]
        if within is not None:
            classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
            self.reads = [node for node in classes if node.name == within]
        self.assigned: dict[str, list[ast.expr]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                self.assigned.setdefault(ast.unparse(node.targets[0]), []).append(node.value)

    def places(self) -> Iterator[Path]:
        """Yield the paths that are read."""
        for node in (inner for outer in self.reads for inner in ast.walk(outer)):
            name = _last_name(node)
            if name in UNTOLD:
                raise Untold(f"{self.path.name} uses {name}")
            if isinstance(node, ast.Call):
                yield from self._read_by(node, _last_name(node.func))

    def _read_by(self, call: ast.Call, name: str) -> list[Path]:
        if name in ("read_text", "read_bytes") or (name == "open" and isinstance(call.func, ast.Attribute)):
            if _writes(call.args[:1]):
                return []
            return self.paths(call.func.value) if isinstance(call.func, ast.Attribute) else []
        if name in READERS and not _writes(call.args[1:2]) and call.args:
            return self.paths(call.args[0])
        of = call.func.value if isinstance(call.func, ast.Attribute) else None
        if name == "load" and isinstance(of, ast.Name) and of.id in LOADERS and call.args:
            return self.paths(call.args[0])
        return []

    def paths(self, node: ast.expr, depth: int = 8) -> list[Path]:
        """Return what an expression may be as a path, or raise Untold; nothing for an option."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return [Path(node.value)]
        if isinstance(node, ast.Name) and node.id == "__file__":
            return [self.path]
        if depth and isinstance(node, ast.Name | ast.Attribute):
            return self._named(node, depth)
        if depth and isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            return [a / b for a in self.paths(node.left, depth - 1) for b in self.paths(node.right, depth - 1)]
        if depth and isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            ends = self.paths(node.right, depth - 1)
            return [Path(f"{a}{b}") for a in self.paths(node.left, depth - 1) for b in ends]
        if depth and isinstance(node, ast.Call):
            return self._called(node, depth)
        raise Untold(f"{self.path.name} reads {ast.unparse(node)}")

    def _named(self, node: ast.Name | ast.Attribute, depth: int) -> list[Path]:
        text = ast.unparse(node)
        if _last_name(node) in self.given:
            return []
        if isinstance(node, ast.Attribute) and node.attr == "parent":
            return [path.parent for path in self.paths(node.value, depth - 1)]
        values = self.assigned.get(text, [])
        if not values:
            raise Untold(f"{self.path.name} reads {text}")
        return [path for value in values for path in self.paths(value, depth - 1)]

    def _called(self, node: ast.Call, depth: int) -> list[Path]:
        name, parts = _last_name(node.func), list(node.args)
        if isinstance(node.func, ast.Attribute) and name in ("resolve", "absolute", "expanduser", "joinpath"):
            parts = [node.func.value, *parts]
        elif name == "dirname":
            return [path.parent for path in self.paths(parts[0], depth - 1)]
        elif name not in ("Path", "str", "fspath", "join", "abspath", "realpath"):
            raise Untold(f"{self.path.name} reads {ast.unparse(node)}")
        found = [Path()]
        for part in parts:
            found = [path / more for path in found for more in self.paths(part, depth - 1)]
        return found


def _last_name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _is_main(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"


def _writes(mode: list[ast.expr]) -> bool:
    text = mode[0].value if mode and isinstance(mode[0], ast.Constant) else ""
    return isinstance(text, str) and any(letter in text for letter in "wax")


OURS = "mdplay"
UNKNOWN = "?"  # an identity that begins so is like no other one


def game_identity(game: Game[Any]) -> str:
    """Return the hash of a game's rules, parameters and tables.

    Raise GameError if a rule depends on something that has no hash.
    """
    memory = vars(game)
    if "_rules" not in memory:
        try:
            memory["_rules"] = reach_and_watch(game, _begin, _own_rules(game)).text
        except Unhashable as error:
            raise GameError(
                f"nothing can be kept of {type(game).__name__}, as its rules cannot be told from others: {error}; "
                "rules use numbers and tuples of numbers"
            ) from None
    return str(memory["_rules"])


def _own_rules(game: Game[Any]) -> set[str]:
    """Return the attributes of the contract that are the game's own: a new one of the contract changes no game."""
    cls = type(game)
    own = {name for name in roots(game) if getattr(cls, name, None) is not getattr(Game, name, game)}
    return {name for name in own if not name.startswith("has_")} - set(CELLS)


def cells_identity(game: Game[Any]) -> str:
    """Return the hash of how a game's board is seen as cells: networks depend on it beside the rules."""
    try:
        return reach(game, _begin, CELLS if game.has_cell else ()).text
    except Unhashable as error:
        raise GameError(
            f"nothing can be kept of {type(game).__name__}, as its cells have no hash: {error}"
        ) from None


def check_rules(path: str | Path, kept: Any, game: Game[Any], instead: str) -> None:
    """Raise FormatError unless a file was made with a game's present rules; ``kept`` is the identity in it."""
    if kept is None:
        raise FormatError(f"{path} does not say with which rules of {type(game).__name__} it was made; {instead}")
    if kept != game_identity(game):
        since = f"have changed since {path} was made, or it is of another game"
        raise FormatError(f"the rules of {type(game).__name__} {since}; {instead}")


def agent_identity(agent: Any, maker: Any = None, options: Mapping[str, Any] | None = None) -> str:
    """Return the hash of an agent: of a text, what it names; of an object, its class and what it holds.

    ``maker`` and ``options`` are what the text stands for.  An agent that has no hash, since its code reads what
    its source does not name, is like no other one: its identity begins with ``UNKNOWN``.
    """
    digest, given = _begin(), options or {}
    try:
        if isinstance(agent, str):
            digest.tag(agent)
            _feed_code_of(digest, maker, given, None)
            _feed_files(digest, given)
        else:
            _feed_code_of(digest, type(agent), given, type(agent).__name__)
            digest.feed(vars(agent) if hasattr(agent, "__dict__") else agent)
    except (Unhashable, Untold, RecursionError):
        return f"{UNKNOWN}{secrets.token_hex(DIGITS // 2)}"
    return digest.text()


def _feed_code_of(digest: Digest, maker: Any, options: Mapping[str, Any], within: str | None) -> None:
    """Add the code of a class or function that a user wrote, and the data files that it reads.

    Ours and installed ones are known by their names.  The class of an object may stand in a program that reads
    much else: then only what the class ``within`` reads counts.
    """
    module = getattr(maker, "__module__", None) or OURS
    digest.tag(f"{getattr(maker, '__qualname__', '')}")
    if in_toolchain(module) or _is_ours(module):
        return
    try:
        own = Path(inspect.getfile(maker))
        for file in source_files(own):
            digest.tag(file_text(file))
            if within is None or file == own.resolve():
                digest.tag(*(file_hash(data) for data in data_files(file, options, within)))
    except (OSError, TypeError, SyntaxError, ValueError):  # a program typed in: it has no file
        digest.feed(maker)


def _feed_files(digest: Digest, options: Mapping[str, Any]) -> None:
    """Add the content of every file that an option names, also as a word of a command, with what it imports."""
    for name, value in sorted(options.items()):
        for word in dict.fromkeys([value, *value.split()]) if isinstance(value, str) else ():
            if (path := Path(word).expanduser()).is_file():
                digest.tag(name, file_hash(path))
                digest.tag(*(file_hash(file) for file in _beside(path)))


def _beside(path: Path) -> list[Path]:
    """Return the files of users that a Python program imports, without itself."""
    try:
        return [file for file in source_files(path) if file != path.resolve()] if path.suffix == ".py" else []
    except (OSError, SyntaxError, ValueError):
        return []


def file_hash(path: Path) -> str:
    """Return the sha256 of a file's content."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FormatError(f"cannot read {path}: {error.strerror or error}") from None


def _begin() -> Digest:
    return Digest(feed_source, lambda module: in_toolchain(module) or _is_ours(module))


def _is_ours(module: str) -> bool:
    """Return whether a module is a part of mdplay whose meaning is fixed; the games are rules like any other."""
    return module.partition(".")[0] == OURS and not module.startswith(f"{OURS}.games.")
