"""Python code as its syntax tree: the same for every version of Python, without comments, docstrings and layout.

A function's tree is taken from its file only if compiling that file gives the function's very code: a file that
was edited after it was imported does not say what runs.  Where there is no such file the byte code stands in, with
the version of Python.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mdplay.digest import Digest

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
NOT_MEANING = ("ctx", "kind", "type_comment")


def feed_source(digest: Digest, function: FunctionType) -> None:
    """Add the code of a function to a digest, by its syntax tree if that is known."""
    tree = tree_of(function.__code__)
    if tree is None:
        digest.tag("byte code", f"{sys.version_info[:2]}")
        feed_code(digest, function.__code__, function.__doc__)
    else:
        digest.tag("tree", tree_text(tree))


def feed_code(digest: Digest, code: CodeType, docstring: str | None = None) -> None:
    """Add byte code and constants to a digest, as if there were no docstring."""
    consts = code.co_consts
    if docstring is not None and consts and consts[0] == docstring:
        consts = (None, *consts[1:])
    digest.tag(code.co_code, code.co_exceptiontable)
    digest.tag(repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)))
    digest.tag(repr((code.co_argcount, code.co_kwonlyargcount, code.co_flags, len(consts))))
    for const in consts:
        if isinstance(const, CodeType):
            feed_code(digest, const)
        else:
            digest.feed(const)


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
    """Return a Python file and the files beside it that it imports, anywhere in its code, and these in turn."""
    found, waiting = [], [path.resolve()]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.append(file)
            waiting += _imported(file, path.resolve().parent)
    return sorted(found)


def _imported(file: Path, folder: Path) -> list[Path]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {node.module or "", *(f"{node.module or ''}.{alias.name}".strip(".") for alias in node.names)}
    places = [base.joinpath(*name.split(".")) for name in names if name for base in {folder, file.parent}]
    files = [file for place in places for file in (place.with_suffix(".py"), place / "__init__.py")]
    return [file.resolve() for file in files if file.is_file()]


def file_text(path: Path) -> str:
    """Return what a Python file means, as the text of its syntax tree."""
    return tree_text(ast.parse(path.read_bytes()))
