"""Asking for memory before it is needed.

The rows of a batch lie at random positions of tables that are much larger than a cache, and waiting for them was a fifth of
the time of a training step. A prefetch changes no result: it only says which row will be needed soon.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import extending, types
from numba.core import cgutils as code

AHEAD = 8  # rows
WRITE, SOON, DATA = 1, 3, 1  # arguments of LLVM's function: for writing, keep it in all caches, not instructions

_types: Any = types  # numba has no types, or not for this
intrinsic: Any = extending.intrinsic
cgutils: Any = code


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(typing_context: Any, table: Any, row: Any) -> Any:
    """The beginning of a row, or an element of an array. It must exist. Processors fetch what follows by themselves."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        array = context.make_array(kind)(context, builder, arguments[0])
        stride = cgutils.unpack_tuple(builder, array.strides, kind.ndim)[0]
        start = builder.ptrtoint(array.data, context.get_value_type(_types.intp))
        address = builder.add(start, builder.mul(arguments[1], stride))
        pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        function = builder.module.declare_intrinsic(
            "llvm.prefetch", (pointer,), ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        )
        builder.call(function, [builder.inttoptr(address, pointer), number(WRITE), number(SOON), number(DATA)])
        return context.get_dummy_value()

    return _types.void(table, _types.intp), generate
