"""Eight boards in one vector: sums over tables that the symmetric images of a 4 x 4 board select.

A board is a word of 16 nibbles, cell r * 4 + c.  Its eight images (turned and reflected) are the eight lanes of
a vector of words, made by one byte shuffle and one swap of nibbles; bit 0 of the lane's number turns the rows
over, bit 1 the columns, bit 2 transposes, in this order (as ``mdplay.boards.cell_images``).

A lane's index into the tables is put together from ``groups``: a group is a tuple of (shift, mask) and a base,

    index = base + OR over its pairs of ((lane >> shift) & mask)          a negative shift goes to the left

LLVM turns this into whatever vectors the processor has; the result is the same to the last bit everywhere,
because the order of the additions is fixed: the groups one after the other, then lanes k and k + 4, k and k + 2,
k and k + 1.  The functions in ``mdplay.compiling.plain`` are the specification; what is emitted are their bodies.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.np import arrayobj

from mdplay.compiling.numba.instances import InstanceType, WordType, emitted
from mdplay.compiling.plain import LANES, flips, gather_total, store_indices

LOW_NIBBLES = 0x0F0F_0F0F_0F0F_0F0F
BYTE, INT, WORD, FLOAT, BIT = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.FloatType(), ir.IntType(1)
WORDS, INTS, FLOATS = ir.VectorType(WORD, LANES), ir.VectorType(INT, LANES), ir.VectorType(FLOAT, LANES)
BITS, POINTERS = ir.VectorType(BIT, LANES), ir.VectorType(FLOAT.as_pointer(), LANES)


def _splat(value: int) -> Any:
    return ir.Constant(WORDS, [value & (1 << 64) - 1] * LANES)


def _emit_images(b: Any, board: Any, turned: Any) -> Any:
    pair = b.insert_element(ir.Constant(WORDS, ir.Undefined), board, INT(0))
    pair = b.insert_element(pair, turned, INT(1))
    both = b.shuffle_vector(pair, pair, ir.Constant(INTS, [half for half, _, _ in flips()]))
    octets = ir.VectorType(BYTE, 8 * LANES)
    raw = b.bitcast(both, octets)
    order = [8 * lane + byte for lane in range(LANES) for byte in _byte_order(lane)]
    v = b.bitcast(
        b.shuffle_vector(raw, raw, ir.Constant(ir.VectorType(INT, 8 * LANES), order)),
        WORDS,
    )
    low, high = b.and_(v, _splat(LOW_NIBBLES)), b.and_(b.lshr(v, _splat(4)), _splat(LOW_NIBBLES))
    swapped = b.or_(b.shl(low, _splat(4)), high)
    return b.select(ir.Constant(BITS, [int(over) for _, _, over in flips()]), swapped, v)


def _byte_order(lane: int) -> list[int]:
    """Return where the bytes of an image come from: two bytes make a row."""
    _, rows_over, columns_over = flips()[lane]
    return [2 * (3 - r if rows_over else r) + (1 - h if columns_over else h) for r in range(4) for h in range(2)]


def _emit_indices(b: Any, tables: Any, board: Any, turned: Any) -> list[Any]:
    lanes = _emit_images(b, board, turned)
    return [
        b.add(reduce(b.or_, [_emit_piece(b, lanes, *pair) for pair in pairs]), _splat(base))
        for pairs, base in tables.groups
    ]


def _emit_piece(b: Any, lanes: Any, shift: int, mask: int) -> Any:
    moved = b.lshr(lanes, _splat(shift)) if shift >= 0 else b.shl(lanes, _splat(-shift))
    return b.and_(moved, _splat(mask))


def _emit_gather(b: Any, base: Any, index: Any) -> Any:
    start = b.insert_element(ir.Constant(WORDS, ir.Undefined), b.ptrtoint(base, WORD), INT(0))
    start = b.shuffle_vector(start, start, ir.Constant(INTS, [0] * LANES))
    pointers = b.inttoptr(b.add(start, b.shl(index, _splat(2))), POINTERS)
    kind = ir.FunctionType(FLOATS, [POINTERS, INT, BITS, FLOATS])
    gather = cgutils.get_or_insert_function(b.module, kind, "llvm.masked.gather.v8f32.v8p0")
    everywhere, nothing = ir.Constant(BITS, [1] * LANES), ir.Constant(FLOATS, [0.0] * LANES)
    return b.call(gather, [pointers, INT(4), everywhere, nothing])


def _emit_total(b: Any, v: Any) -> Any:
    for half in (4, 2, 1):
        upper = [half + k if k < half else 0 for k in range(LANES)]
        v = b.fadd(v, b.shuffle_vector(v, v, ir.Constant(INTS, upper)))
    return b.extract_element(v, INT(0))


def _data(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    return arrayobj.make_array(kind)(context, builder, array).data


def _fits(tables: Any, board: Any, turned: Any, array: Any, element: Any) -> bool:
    """Return whether these are tables, two words and a contiguous array of the element's type."""
    flat = isinstance(array, types.Array) and array.ndim == 1 and array.layout == "C" and array.dtype == element
    return (
        isinstance(tables, InstanceType) and isinstance(board, WordType) and isinstance(turned, WordType) and flat
    )


@emitted(gather_total)
def _gather_total(typingctx: Any, tables: Any, weights: Any, board: Any, turned: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        base = _data(context, builder, weights, args[1])
        indices = _emit_indices(builder, tables.instance, args[2], args[3])
        return _emit_total(builder, reduce(builder.fadd, [_emit_gather(builder, base, i) for i in indices]))

    fits = _fits(tables, board, turned, weights, types.float32)
    return (types.float32(tables, weights, board, turned), emit) if fits else None


@emitted(store_indices)
def _store_indices(typingctx: Any, tables: Any, board: Any, turned: Any, out: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        base = _data(context, builder, out, args[3])
        for number, index in enumerate(_emit_indices(builder, tables.instance, args[1], args[2])):
            place = builder.gep(base, [WORD(LANES * number)])
            builder.store(builder.trunc(index, INTS), builder.bitcast(place, INTS.as_pointer()), align=4)
        return context.get_dummy_value()

    fits = _fits(tables, board, turned, out, types.uint32)
    return (types.void(tables, board, turned, out), emit) if fits else None
