"""The time steps of stacked LSTMs in Triton: matrix product and cell in one kernel per step, forward and backward.

A program handles some texts of one model and some of its hidden features, with all four gates. Backward, it first completes
the gradient that the following step sends to its states, then goes through its own cell.
"""
# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"

from __future__ import annotations

import triton  # type: ignore[import-not-found,import-untyped,unused-ignore]
import triton.language as tl  # type: ignore[import-not-found,import-untyped,unused-ignore]
from torch import Tensor

from regard.kernels.stacking import precision


@triton.jit
def tanh(x):
    return 2.0 * tl.sigmoid(2.0 * x) - 1.0


@triton.jit(do_not_specialize=["t", "rows", "length"])
def forward_kernel(
    gates, u, states, cells, t, rows, length, H: tl.constexpr,
    ROWS: tl.constexpr, FEATURES: tl.constexpr, PART: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    model = tl.program_id(0).to(tl.int64)
    d = tl.program_id(1) * FEATURES + tl.arange(0, FEATURES)
    n = tl.program_id(2) * ROWS + tl.arange(0, ROWS)
    valid = (n < rows)[:, None] & (d < H)[None, :]
    step = (model * rows + n.to(tl.int64)) * length + t  # (ROWS,)
    offsets = step[:, None] * H + d[None, :]
    gate = gates + step[:, None] * (4 * H) + d[None, :]
    i = tl.load(gate, mask=valid, other=0.0)
    f = tl.load(gate + H, mask=valid, other=0.0)
    g = tl.load(gate + 2 * H, mask=valid, other=0.0)
    o = tl.load(gate + 3 * H, mask=valid, other=0.0)
    c = tl.zeros([ROWS, FEATURES], tl.float32)
    if t > 0:
        c = tl.load(cells + offsets - H, mask=valid, other=0.0)
        weights = u + model * (4 * H * H)
        for start in range(0, H, PART):
            k = start + tl.arange(0, PART)
            h = tl.load(
                states + (step[:, None] - 1) * H + k[None, :], mask=(n < rows)[:, None] & (k < H)[None, :], other=0.0
            )
            weight_pointers = weights + d[None, :] * H + k[:, None]  # (PART, FEATURES) of Uᵀ
            weight_mask = (d < H)[None, :] & (k < H)[:, None]
            i += tl.dot(h, tl.load(weight_pointers, mask=weight_mask, other=0.0), input_precision=PRECISION)
            f += tl.dot(h, tl.load(weight_pointers + H * H, mask=weight_mask, other=0.0), input_precision=PRECISION)
            g += tl.dot(h, tl.load(weight_pointers + 2 * H * H, mask=weight_mask, other=0.0), input_precision=PRECISION)
            o += tl.dot(h, tl.load(weight_pointers + 3 * H * H, mask=weight_mask, other=0.0), input_precision=PRECISION)
    i, f, g, o = tl.sigmoid(i), tl.sigmoid(f), tanh(g), tl.sigmoid(o)
    c = f * c + i * g
    tl.store(cells + offsets, c, mask=valid)
    tl.store(states + offsets, o * tanh(c), mask=valid)
    tl.store(gate, i, mask=valid)
    tl.store(gate + H, f, mask=valid)
    tl.store(gate + 2 * H, g, mask=valid)
    tl.store(gate + 3 * H, o, mask=valid)


@triton.jit(do_not_specialize=["t", "rows", "length"])
def backward_kernel(
    grad, gates, u, cells, grad_gates, grad_cells, t, rows, length, model_stride, row_stride, step_stride, H: tl.constexpr,
    ROWS: tl.constexpr, FEATURES: tl.constexpr, PART: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    model = tl.program_id(0).to(tl.int64)
    d = tl.program_id(1) * FEATURES + tl.arange(0, FEATURES)
    n = tl.program_id(2) * ROWS + tl.arange(0, ROWS)
    valid = (n < rows)[:, None] & (d < H)[None, :]
    row = model * rows + n.to(tl.int64)
    step = row * length + t  # (ROWS,)
    offsets = step[:, None] * H + d[None, :]
    cell_pointers = grad_cells + row[:, None] * H + d[None, :]
    grad_pointers = grad + model * model_stride + n.to(tl.int64)[:, None] * row_stride + t * step_stride + d[None, :]
    grad_h = tl.load(grad_pointers, mask=valid, other=0.0)
    grad_c = tl.zeros([ROWS, FEATURES], tl.float32)
    if t < length - 1:
        grad_c = tl.load(cell_pointers, mask=valid, other=0.0)
        weights = u + model * (4 * H * H)
        for start in range(0, 4 * H, PART):
            k = start + tl.arange(0, PART)
            next_grad = tl.load(
                grad_gates + (step[:, None] + 1) * (4 * H) + k[None, :],
                mask=(n < rows)[:, None] & (k < 4 * H)[None, :],
                other=0.0,
            )
            part = tl.load(
                weights + k[:, None] * H + d[None, :], mask=(k < 4 * H)[:, None] & (d < H)[None, :], other=0.0
            )
            grad_h += tl.dot(next_grad, part, input_precision=PRECISION)
    gate = gates + step[:, None] * (4 * H) + d[None, :]
    i = tl.load(gate, mask=valid, other=0.0)
    f = tl.load(gate + H, mask=valid, other=0.0)
    g = tl.load(gate + 2 * H, mask=valid, other=0.0)
    o = tl.load(gate + 3 * H, mask=valid, other=0.0)
    c = tanh(tl.load(cells + offsets, mask=valid, other=0.0))
    previous = tl.load(cells + offsets - H, mask=valid & (t > 0), other=0.0)
    grad_c += grad_h * o * (1.0 - c * c)
    gate_pointers = grad_gates + step[:, None] * (4 * H) + d[None, :]
    tl.store(gate_pointers, grad_c * g * i * (1.0 - i), mask=valid)
    tl.store(gate_pointers + H, grad_c * previous * f * (1.0 - f), mask=valid)
    tl.store(gate_pointers + 2 * H, grad_c * i * (1.0 - g * g), mask=valid)
    tl.store(gate_pointers + 3 * H, grad_h * c * o * (1.0 - o), mask=valid)
    tl.store(cell_pointers, grad_c * f, mask=valid)


def forward_steps(gates: Tensor, u: Tensor, states: Tensor, cells: Tensor) -> None:
    """See `recurrence.forward_steps`."""
    models, rows, length, width = states.shape
    tile = forward_tile(rows)
    grid = (models, triton.cdiv(width, tile["FEATURES"]), triton.cdiv(rows, tile["ROWS"]))
    gemm_precision = precision("rnn")
    for t in range(length):
        forward_kernel[grid](gates, u, states, cells, t, rows, length, width, PRECISION=gemm_precision, **tile)


def backward_steps(grad: Tensor, gates: Tensor, u: Tensor, cells: Tensor, grad_gates: Tensor) -> None:
    models, rows, length, width = cells.shape
    grad = grad if grad.stride(-1) == 1 else grad.contiguous()
    grad_cells = cells.new_empty(models, rows, width)
    tile = backward_tile(rows)
    grid = (models, triton.cdiv(width, tile["FEATURES"]), triton.cdiv(rows, tile["ROWS"]))
    gemm_precision, strides = precision("rnn"), grad.stride()[:3]
    for t in reversed(range(length)):
        backward_kernel[grid](
            grad,
            gates,
            u,
            cells,
            grad_gates,
            grad_cells,
            t,
            rows,
            length,
            *strides,
            width,
            PRECISION=gemm_precision,
            **tile,
        )


def forward_tile(rows: int) -> dict[str, int]:
    """Tuned on an H200 with ten models of 200 features: 9 µs per step for 64 texts, 36 for 512."""
    if rows <= 128:
        return {"ROWS": 16 if rows <= 16 else 64, "FEATURES": 16, "PART": 64, "num_warps": 4, "num_stages": 4}
    return {"ROWS": 64, "FEATURES": 32, "PART": 32, "num_warps": 4, "num_stages": 3}


def backward_tile(rows: int) -> dict[str, int]:
    """Likewise: 12 µs for 64 texts, 50 for 512."""
    if rows <= 128:
        return {"ROWS": 16 if rows <= 16 else 32, "FEATURES": 16, "PART": 64, "num_warps": 2, "num_stages": 4}
    return {"ROWS": 32, "FEATURES": 32, "PART": 64, "num_warps": 4, "num_stages": 3}
