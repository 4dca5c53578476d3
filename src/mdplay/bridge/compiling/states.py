"""States as tuples of 64-bit words, compiled: how they cross the border and how tables keep them.

A state's NamedTuple class never appears in a kernel's signature (a class of ``__main__`` would spoil the cache
key); kernels take ``words`` and begin with ``unpack(game, words)``.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.extending import overload

from mdplay.bridge.compiling.emitting import emitted
from mdplay.bridge.compiling.instances import recast
from mdplay.bridge.compiling.linking import PART
from mdplay.bridge.compiling.methods import compiled_method
from mdplay.bridge.plain import as_mask, first_word, get, load, pack, unpack, viewed, width
from mdplay.contract import mask_size
from mdplay.game import ProofView


@emitted(pack)
def _pack(typingctx: Any, game: Any, s: Any) -> Any:
    target = types.UniTuple(types.uint64, len(s))

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return recast(context, builder, sig.args[1], target, args[1])

    return target(game, s), emit


@emitted(unpack)
def _unpack(typingctx: Any, game: Any, packed: Any) -> Any:
    target = compiled_method(game.identity, "initial")[1].return_type

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return recast(context, builder, sig.args[1], target, args[1])

    return target(game, packed), emit


@overload(load, strict=False, jit_options=PART)
def _load(game: Any, table: Any, i: Any) -> Any:
    state = compiled_method(game.identity, "initial")[1].return_type
    element = "table[i, {}]" if table.ndim == 2 else "get(table, i + {})"
    row = ", ".join(element.format(j) for j in range(len(state)))
    return eval(f"lambda game, table, i: unpack(game, ({row},))", {"get": get, "unpack": unpack})


@overload(viewed, strict=False, jit_options=PART)
def _entered(proof_view: Any, s: Any) -> Any:
    return (
        (lambda proof_view, s: proof_view.convert(s))
        if isinstance(proof_view.instance, ProofView)
        else (lambda proof_view, s: s)
    )


def _number(game: Any, value: int) -> Any:
    """Return the signature and the instructions of a number that a game has."""
    return types.int64(game), lambda context, builder, sig, args: context.get_constant(types.int64, value)


@emitted(width)
def _width(typingctx: Any, game: Any) -> Any:
    return _number(game, len(compiled_method(game.identity, "initial")[1].return_type))


@emitted(as_mask)
def _as_mask(typingctx: Any, game: Any, moves: Any) -> Any:
    target = compiled_method(game.identity, "legal")[1].return_type

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return recast(context, builder, sig.args[1], target, args[1])

    return target(game, types.unliteral(moves)), emit


@emitted(first_word)
def _first_word(typingctx: Any, mask: Any) -> Any:
    several = isinstance(mask, types.BaseTuple)

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.extract_value(args[0], 0) if several else args[0]

    return (mask[0] if several else types.unliteral(mask))(mask), emit


@emitted(mask_size)
def _mask_size(typingctx: Any, game: Any) -> Any:
    return _number(game, mask_size(game.instance))
