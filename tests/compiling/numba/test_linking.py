"""Parts inside of kernels: linked wherever they are called, compiled once, and loaded without a compiler.

Here are tested besides: ``mdplay.compiling.numba.instances``.
"""

import math

import numpy as np
import pytest

from mdplay import GameError
from mdplay.compiling import inlined, kernel
from tests.helpers import python, write

pytestmark = pytest.mark.usefixtures("needs_compiler")


@inlined
def doubled(x):
    if x < 0:
        raise ValueError("less than nothing", x)
    return 2 * x


@inlined
def seldom(x, often):
    return doubled(x) if often else x


@inlined
def always(x):
    return doubled(x) + 1


@kernel
def both(x):
    """Call the part that nobody calls in the first caller, after its optimisation, and in the second one."""
    return seldom(x, False) + always(x)


@kernel
def other(x):
    return seldom(x, True)


def test_a_part_is_linked_though_its_first_caller_does_not_call_it():
    assert both(5) == 16
    assert other(6) == 12, "the same parts in another kernel"


@pytest.mark.parametrize("run", [both, other], ids=["both", "other"])
def test_what_a_part_raises_reaches_the_caller_of_each_kernel(run):
    with pytest.raises(ValueError, match="less than nothing") as caught:
        run(-3)
    assert caught.value.args == ("less than nothing", -3)


@inlined
def even(n):
    return n == 0 if n < 1 else odd(n - 1)


@inlined
def odd(n):
    if n < 1:
        return False
    return even(n - 1)


@kernel
def is_even(n):
    return even(n)


def test_parts_that_call_each_other_in_a_circle_are_refused():
    with pytest.raises(GameError, match="is_even does not compile: parts of it call each other in a circle"):
        is_even(4)


def test_a_part_is_compiled_for_an_int_and_not_for_each_number():
    from numba import njit

    from mdplay.compiling.numba.linking import KernelCompiler, part_of_kernels

    add = part_of_kernels(lambda x, y: x + y)

    def count(n):
        total, i = add(7, 0), 0
        while i < n:
            total, i = add(total, i), i + 1
        return total

    assert njit(pipeline_class=KernelCompiler)(count)(4) == 13
    assert add(20, 3) == 23, "called from Python it runs plain"
    (found,) = add.overloads.values()
    assert str(found.signature) == "(int64, int64) -> int64"
    assert found.library.get_pointer_to_function(found.fndesc.mangled_name) == 0, (
        "it has no machine code of its own"
    )


def test_what_machine_code_needs_is_looked_for_where_the_runtime_has_it_not():
    from numba.core.registry import cpu_target

    from mdplay.compiling.numba.linking import make_ready

    class Target:
        refreshed = 0

        def codegen(self):
            return cpu_target.target_context.codegen()

        def refresh(self):
            self.refreshed += 1

    target = Target()
    both(1)
    make_ready(target, ["PyErr_Occurred", "NRT_Free", "sqrt"])
    assert target.refreshed == 0
    make_ready(target, ["PyErr_Occurred", "nobody_defines_this"])
    assert target.refreshed == 1


LOADED = """
import sys
import math

import numpy as np
from mdplay.compiling import get, inlined, kernel


@inlined
def root(array, i):
    if i > 9:
        raise ValueError("too far", i)
    return np.sqrt(get(array, min(i, len(array) - 1)))


@kernel
def total(array, n):
    found = 0.0
    for i in range(n):
        found += root(array, i)
    return found


print(total(np.arange(4.0) ** 2, 5))
try:
    total(np.arange(4.0), 12)
except ValueError as error:
    print(error.args)
print("numba" in sys.modules, "numba.np.npyimpl" in sys.modules)
"""


def test_a_kernel_is_loaded_without_what_only_a_compiler_needs(tmp_path):
    file = write(tmp_path, "loaded.py", LOADED)
    compiled, loaded = (python(file, cache=tmp_path / "cache").splitlines() for _ in range(2))
    assert compiled[:2] == loaded[:2] == [str(np.float64(9.0)), "('too far', 10)"]
    assert (compiled[2], loaded[2]) == ("True True", "True False")


NAMESAKES = """
import sys

from mdplay.compiling import kernel
from mdplay.compiling.numba.linking import part_of_kernels


def leaves_of(worth):
    def leaves(n):
        if n < 1:
            return worth
        left = leaves(n - 1)
        return left + leaves(n - 2)

    leaves = part_of_kernels(leaves)

    @kernel
    def grown(n):
        return leaves(n)

    return grown


print([leaves_of(int(worth))(10) for worth in sys.argv[1:]])
"""


def test_a_part_is_not_taken_for_its_namesake_in_a_loaded_kernel(tmp_path):
    file = write(tmp_path, "namesakes.py", NAMESAKES)
    runs = [python(file, *worths, cache=tmp_path / "cache").strip() for worths in ("2", "23", "32")]
    assert runs == ["[288]", "[288, 432]", "[432, 288]"], "144 leaves: compiled, beside a loaded one, both loaded"


def test_what_is_given_to_numba_works_outside_of_kernels_too():
    from numba import njit

    both(1)
    assert njit(lambda n: math.isqrt(n) + math.comb(n, 2))(10) == 48


def test_code_of_others_may_call_a_kernel_that_is_not_compiled_yet():
    from numba import njit

    @kernel
    def next_one(n):
        return n + 1

    assert njit(lambda n: next_one(n))(4) == 5
