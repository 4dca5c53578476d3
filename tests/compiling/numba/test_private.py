"""The private attributes of numba that mdplay uses: the list is complete, and numba has them all."""

import ast
import inspect
from importlib import import_module
from pathlib import Path

import pytest

from mdplay.compiling import numba as bridge
from mdplay.compiling.numba import PRIVATE

FOLDER = Path(bridge.__file__).parent
OF_PYTHON = {"_fields", "_field_defaults"}  # of named tuples


def names_of(node):
    """Return the private names that a syntax tree defines itself or reads from an object."""
    defined, read = set(), set()
    for one in ast.walk(node):
        if isinstance(one, (ast.FunctionDef, ast.ClassDef)):
            defined.add(one.name)
        elif isinstance(one, ast.Attribute) and one.attr.startswith("_") and not one.attr.startswith("__"):
            read.add(one.attr)
            if isinstance(one.ctx, ast.Store) and ast.unparse(one.value) == "self":
                defined.add(one.attr)
        elif isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            defined.add(one.target.id)
    return defined, read


def has(path):
    """Return whether numba has an attribute: on the class, or assigned by one of its methods."""
    owner, _, name = path.rpartition(".")
    module, _, last = owner.rpartition(".")
    if not last[:1].isupper() and not last.startswith("_"):
        return f'"{name}"' in inspect.getsource(import_module(f"numba.core.{owner}"))
    found = getattr(import_module(f"numba.core.{module}"), last)
    sources = (inspect.getsource(one) for one in found.__mro__ if one.__module__.startswith("numba"))
    return hasattr(found, name) or any(f"self.{name} = " in source for source in sources)


def test_numba_has_every_attribute():
    assert [path for path in PRIVATE if not has(path)] == []


@pytest.mark.parametrize("path", ["codegen.JITCodeLibrary._no_such", "typing.typeof._no_such"])
def test_an_attribute_that_is_gone_is_found(path):
    assert not has(path)


def test_the_list_is_complete():
    listed = {path.rpartition(".")[2] for path in PRIVATE}
    used = set()
    for file in FOLDER.glob("*.py"):
        defined, read = names_of(ast.parse(file.read_text()))
        used |= {name for name in read if name in listed or name not in defined}
    assert used - OF_PYTHON == listed
