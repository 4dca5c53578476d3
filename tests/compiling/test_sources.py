import ast

from mdplay.compiling.identity import source_files, tree_of, tree_text
from tests.helpers import write


def text(source):
    return tree_text(ast.parse(source))


def test_layout_comments_and_docstrings_do_not_count():
    assert text("def f(x):\n    return x+1  # one more") == text('def f(x):\n    """Add."""\n\n    return (x + 1)')
    assert text("def f(x):\n    return x + 1") != text("def f(x):\n    return x + 2")


def test_a_function_has_the_tree_of_its_file():
    assert tree_of(text.__code__).name == "text"
    assert tree_of((lambda: 0).__code__).body.value == 0
    assert tree_of(eval("lambda: 0").__code__) is None


def test_files_are_followed_through_imports(tmp_path):
    write(tmp_path, "a.py", "import json\nfrom b import x\n\n\ndef f():\n    import p.c\n")
    write(tmp_path, "b.py", "import a\n")
    (tmp_path / "p").mkdir()
    write(tmp_path / "p", "__init__.py", "")
    write(tmp_path / "p", "c.py", "from . import d\n")
    write(tmp_path / "p", "d.py", "")
    write(tmp_path, "unused.py", "")
    assert [path.name for path in source_files(tmp_path / "a.py")] == [
        "a.py",
        "b.py",
        "__init__.py",
        "c.py",
        "d.py",
    ]
