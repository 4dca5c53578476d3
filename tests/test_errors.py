import inspect

from mdplay import errors


def test_the_tree_in_the_docstring_names_every_error():
    named = {
        name for name, value in vars(errors).items() if inspect.isclass(value) and issubclass(value, Exception)
    }
    assert named == {line.split()[1] for line in errors.__doc__.splitlines() if "──" in line} | {"MdplayError"}


def test_near_names_are_suggested():
    assert (
        str(errors.unknown("agent", "randm", ["random", "perfect"])) == "no agent 'randm'; did you mean 'random'?"
    )
    assert str(errors.unknown("agent", "xyz", ["b", "a"])) == "no agent 'xyz'; choose from a, b"
