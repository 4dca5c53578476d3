"""States as tuples of 64-bit words, compiled: how they cross the border and how tables keep them.

A state's NamedTuple class never appears in a kernel's signature (a class of ``__main__`` would spoil the cache
key); kernels take ``words`` and begin with ``unpack(game, words)``.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.extending import intrinsic, overload

from mdplay.bridge.instances import recast
from mdplay.bridge.methods import compiled_method
from mdplay.bridge.plain import as_mask, first_word, get, load, pack, unpack, viewed, width
from mdplay.contract import mask_size
from mdplay.game import ProofView


@intrinsic
def _to_words(typingctx: Any, s: Any) -> Any:
    target = types.UniTuple(types.uint64, len(s))

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return recast(context, builder, sig.args[0], target, args[0])

    return target(s), emit


@intrinsic
def _to_state(typingctx: Any, game: Any, packed: Any) -> Any:
    target = compiled_method(game.identity, "initial")[1].return_type

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return recast(context, builder, sig.args[1], target, args[1])

    return target(game, packed), emit


@overload(pack, strict=False)
def _pack(game: Any, s: Any) -> Any:
    return lambda game, s: _to_words(s)


@overload(unpack, strict=False)
def _unpack(game: Any, packed: Any) -> Any:
    return lambda game, packed: _to_state(game, packed)


@overload(load, strict=False)
def _load(game: Any, table: Any, i: Any) -> Any:
    state = compiled_method(game.identity, "initial")[1].return_type
    element = "table[i, {}]" if table.ndim == 2 else "get(table, i + {})"
    row = ", ".join(element.format(j) for j in range(len(state)))
    return eval(f"lambda game, table, i: unpack(game, ({row},))", {"get": get, "unpack": unpack})


@overload(viewed, strict=False)
def _entered(proof_view: Any, s: Any) -> Any:
    return (
        (lambda proof_view, s: proof_view.convert(s))
        if isinstance(proof_view.instance, ProofView)
        else (lambda proof_view, s: s)
    )


@overload(width, strict=False)
def _width(game: Any) -> Any:
    count = len(compiled_method(game.identity, "initial")[1].return_type)
    return lambda game: count


@intrinsic
def _to_mask(typingctx: Any, game: Any, moves: Any) -> Any:
    target = compiled_method(game.identity, "legal")[1].return_type

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return recast(context, builder, sig.args[1], target, args[1])

    return target(game, types.unliteral(moves)), emit


@overload(as_mask, strict=False)
def _as_mask(game: Any, moves: Any) -> Any:
    return lambda game, moves: _to_mask(game, moves)


@overload(first_word, strict=False)
def _first_word(mask: Any) -> Any:
    return (lambda mask: mask[0]) if isinstance(mask, types.BaseTuple) else (lambda mask: mask)


@overload(mask_size, strict=False)
def _mask_size(game: Any) -> Any:
    size = mask_size(game.instance)
    return lambda game: size
