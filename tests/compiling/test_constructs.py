import pytest

from mdplay.compiling.constructs import fault_of, faults, source_line, tree_of, with_helpers


def helper(n):
    return n if n < 2 else helper(n - 1)


def calls_helper(n):
    return helper(n) + 1


def imports(n):
    import math

    return math.floor(n)


def tries(n):
    try:
        return n
    except ValueError:
        return 0


def walrus(n):
    return (m := n + 1) * m


def lists(n):
    found = [n]
    return len(found)


def first_of(n):
    return next(i for i in (3, 2, 1) if i <= n)


class Owner:
    SIZE = 3

    def reads(self, n):
        return Owner.SIZE + n

    def assigns(self, n):
        self.n = n
        return n

    def again(self, n):
        return self.again(n - 1) if n else 0


@pytest.mark.parametrize(
    "function, words",
    [
        (imports, "an import inside a rule; write it at the top of the file"),
        (tries, "try; rules catch no errors, ask with if before"),
        (walrus, "an assignment inside an expression (:=); give it a line of its own"),
        (first_of, "next; write a for loop"),  # on Python 3.13 the compiler names no line
        (calls_helper, "recursion, helper calls itself; write a loop"),
        (Owner.reads, "Owner.SIZE; write self.SIZE"),
        (Owner.assigns, "an assignment to self.n; what changes belongs in the state, and a new one is returned"),
        (Owner.again, "recursion, again calls itself; write a loop"),
    ],
)
def test_constructs_that_never_compile_are_found_with_what_to_write_instead(function, words):
    guilty, fault = fault_of(function)
    assert fault.words == words and fault.always
    assert source_line(guilty, fault.line)


def test_what_may_compile_counts_only_where_the_compiler_stumbled():
    (fault,) = faults(lists)
    assert not fault.always and fault_of(lists) is None
    assert fault_of(lists, fault.line) == (lists, fault)


def test_functions_are_followed_and_those_without_source_are_left_alone():
    assert with_helpers(calls_helper) == [calls_helper, helper]
    assert tree_of(eval("lambda n: n")) is None
    assert list(faults(eval("lambda n: n"))) == []
