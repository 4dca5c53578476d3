import inspect
import re

from mdplay import errors


def test_the_tree_in_the_docstring_names_every_error():
    named = {
        name for name, value in vars(errors).items() if inspect.isclass(value) and issubclass(value, Exception)
    }
    assert named == {*re.findall(r"── (\w+)", errors.__doc__), "MdplayError"}


def test_near_names_are_suggested():
    assert (
        str(errors.unknown("agent", "randm", ["random", "perfect"])) == "no agent 'randm'; did you mean 'random'?"
    )
    assert str(errors.unknown("agent", "xyz", ["b", "a"])) == "no agent 'xyz'; choose from a, b"


def test_long_names_are_not_repeated_whole():
    sentence = str(errors.unknown("game", "x" * 100_000, ["qubic"]))
    assert len(sentence) < 200 and sentence.endswith("; choose from qubic")
    assert errors.short(10**5000) == "a number of 16610 bits"


def test_a_message_fits_a_terminal():
    assert errors.sentence("no file '" + "y" * 5000 + "' here").endswith("...yy' here")
    assert len(errors.sentence("word " * 1000)) <= errors.MESSAGE
    assert errors.sentence("clear \x1b[2J") == "clear \\x1b[2J"
    path = "/" + "/".join(["folder"] * 15)
    assert errors.sentence(f"cannot write {path}") == f"cannot write {path}"
