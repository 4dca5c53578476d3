from enum import IntEnum
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from mdplay import mcts, solve
from mdplay.compiling.digest import Digest, Unhashable, asked_of_self, in_toolchain
from mdplay.compiling.identity import feed_source
from tests.nim import Nim


class Colour(IntEnum):
    RED = 1


def hashed(value):
    digest = Digest(feed_source, in_toolchain)
    digest.feed(value)
    return digest.text()


def test_different_values_have_different_hashes():
    values = [
        0,
        1,
        True,
        1.0,
        "1",
        b"1",
        None,
        (),
        [],
        (1,),
        [1],
        (True,),
        (1.0,),
        ((1,),),
        (1, 1),
        {1},
        {1: 1},
        1 << 70,
    ]
    values += [(1 << 70,), -0.0, 0.0, ("a", "b"), ("ab",), np.int8(1), np.zeros(1), np.zeros((1, 1)), Colour.RED]
    values += [range(1), min, max, partial(min, 1), np.add, int, float]
    assert len({hashed(value) for value in values}) == len(values)


def test_the_order_of_sets_and_dicts_does_not_count():
    assert hashed({"a": 1, "b": 2}) == hashed({"b": 2, "a": 1})
    assert hashed({str(i) for i in range(99)}) == hashed({str(i) for i in reversed(range(99))})


@pytest.mark.parametrize("value", [object(), np.array([object()]), iter(()), (1, object()), {1: object()}])
def test_what_has_no_content_to_hash_is_refused(value):
    with pytest.raises(Unhashable, match="no hash"):
        hashed(value)


def test_what_a_method_asks_of_itself():
    class Asking:
        def some(self, s):
            return self.a + self.b(s) + s.c

        def with_texts(self, s):
            print((), ("x", "self"), "self", s.self)
            return self.c

        def handed_on(self, s):
            return min(self, s)

        def inside(self, s):
            return [self.a for _ in s]

    assert asked_of_self(Asking.some) == {"a", "b"}
    assert asked_of_self(Asking.with_texts) == {"c"}
    assert asked_of_self(Asking.handed_on) is None
    assert asked_of_self(Asking.inside) in (None, {"a"})


def test_what_is_asked_after_a_store_in_one_instruction_counts(monkeypatch):
    """Python 3.13 stores the variable of a loop and loads self in one instruction."""

    def asks(self, s):
        return s

    def stores(self, s):
        return s

    told = [("STORE_FAST_LOAD_FAST", ("_", "self")), ("LOAD_ATTR", "a"), ("RETURN_VALUE", None)]
    code = [SimpleNamespace(opname=name, argval=value) for name, value in told]
    monkeypatch.setattr("dis.get_instructions", lambda _: code)
    assert asked_of_self(asks) == {"a"}
    code[0].argval = ("self", "_")
    assert asked_of_self(stores) is None


def watched(value):
    digest = Digest(feed_source, lambda module: False)
    digest.feed(value)
    return digest.watch


def test_what_changes_inside_is_noticed_without_hashing_it_again():
    """A list, a mapping, an array or an object in it: compared with a copy, however deep it lies."""
    table, inner = np.arange(4), [1, 2]
    thing = {"table": table, "rows": (inner, [3.5])}
    watch = watched(thing)
    assert not watch.has_changed()
    for change, undo in (
        (lambda: table.__setitem__(2, 7), lambda: table.__setitem__(2, 2)),
        (lambda: inner.append(3), inner.pop),
        (lambda: thing.__setitem__("more", 1), lambda: thing.pop("more")),
    ):
        change()
        assert watch.has_changed()
        undo()
        assert not watch.has_changed()


def test_a_state_is_looked_up_without_a_look_at_the_rules(monkeypatch, needs_compiler):
    """Only verbs look whether rules have changed: a value of a solution costs as much as ever."""
    solution = solve(Nim(5))
    monkeypatch.setattr(
        "mdplay.compiling.digest.Watch.has_changed", lambda self: pytest.fail("the rules were looked at")
    )
    assert solution.value(solution.game.step(solution.game.initial(), 0)) in (-1.0, 1.0)
    with pytest.raises(pytest.fail.Exception):
        mcts(solution.game, simulations=2)
