"""The attended power mean in Triton: forward reads the states once; backward reads them once and writes their gradient once.

    log r = log(m / m_α) + (log Σ_i (x_i / m)^p − log Σ_i (a_i / m_α)^p) / p,   x = clip(α h, 0, 1) + ε,   a = α + ε

m is the largest x of a feature, updated while summing (online log-sum-exp), and m_α the largest a of a text: the
dominant terms have logarithms near 0, where they are exact, and nothing under- or overflows. The backward pass needs four
saved numbers per feature and text, among them ∂r/∂p. A second derivative raises an error.

Padding may be anywhere. If it comes last, the mask is read once, and tiles without padding are processed without it.
"""
# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"

from __future__ import annotations

from typing import Any

import torch
import triton  # type: ignore[import-not-found,import-untyped,unused-ignore]
import triton.language as tl  # type: ignore[import-not-found,import-untyped,unused-ignore]
from torch import Tensor

from regard.kernels.power_mean import EPSILON

EPS = tl.constexpr(EPSILON)
LN2 = tl.constexpr(0.6931471805599453)
BY_HARDWARE = tl.constexpr(not triton.knobs.runtime.interpret)  # the interpreter cannot run PTX


@triton.jit
def log2(x):
    """One instruction, accurate to 2⁻²² of the result or of 1; the library's polynomial would take longer than the memory."""
    asm: tl.constexpr = "lg2.approx.ftz.f32 $0, $1;"
    return tl.inline_asm_elementwise(asm, "=f,f", [x], tl.float32, True, 1) if BY_HARDWARE else tl.log2(x)


@triton.jit
def exp2(x):
    asm: tl.constexpr = "ex2.approx.ftz.f32 $0, $1;"
    return tl.inline_asm_elementwise(asm, "=f,f", [x], tl.float32, True, 1) if BY_HARDWARE else tl.exp2(x)


@triton.jit
def clipped(x):
    """Clip to [0, 1] in one instruction, which turns NaN into 0."""
    asm: tl.constexpr = "add.sat.f32 $0, $1, 0f00000000;"
    return tl.inline_asm_elementwise(asm, "=f,f", [x], tl.float32, True, 1) if BY_HARDWARE else tl.clamp(x, 0.0, 1.0)


@triton.jit
def nan_maximum(x, y):
    return tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def accumulate(
    weights, states, mask, position, end, token_stride, d, in_dim, top, p2, p3, highest, above, above_log, belows, below_logs,
    PER_FEATURE: tl.constexpr, NO_PADDING: tl.constexpr,
):  # fmt: skip
    """Add more tokens to the sums. NO_PADDING: every token is real and every feature exists."""
    pointers = states + position[:, :, None] * token_stride + d[None, None, :]
    real_token = position < end
    if NO_PADDING:
        alpha = tl.load(weights + position)
        h = tl.load(pointers).to(tl.float32)
    else:
        real_token = tl.load(mask + position, mask=real_token, other=0) != 0
        alpha = tl.load(weights + position, mask=real_token, other=0.0)
        h = tl.load(pointers, mask=real_token[:, :, None] & in_dim[None, None, :], other=0.0).to(tl.float32)
    scaled = alpha[:, :, None] * h  # (SIDE, TOKENS, FEATURES)
    # propagates NaN, which the other operations lose
    most = tl.minimum(tl.reduce(scaled, 1, nan_maximum), 1.0, propagate_nan=tl.PropagateNan.ALL) + EPS
    higher = nan_maximum(highest, most)
    inverse = 1.0 / higher
    log_shrink = log2(highest * inverse)
    shrink = exp2(p2 * log_shrink)
    x_log = log2(clipped(scaled) * inverse[:, None, :] + (inverse * EPS)[:, None, :])
    powers = exp2(p3 * x_log)
    if not NO_PADDING:
        powers = tl.where(real_token[:, :, None], powers, 0.0)
    above_log = shrink * (above_log + log_shrink * above) + tl.sum(powers * x_log, 1)
    above = shrink * above + tl.sum(powers, 1)
    if PER_FEATURE:
        a_log = tl.log2((alpha + EPS) / top)[:, :, None]
        weight_powers = tl.where(real_token[:, :, None], tl.exp2(p3 * a_log), 0.0)
        belows += tl.sum(weight_powers, 1)
        below_logs += tl.sum(weight_powers * a_log, 1)
    return higher, above, above_log, belows, below_logs


@triton.jit
def forward_kernel(
    states, weights, norm, mask, vector, saved, tops, ends,
    length, dim, size, row_stride, token_stride, norm_stride,
    TOKENS: tl.constexpr, SIDE: tl.constexpr, FEATURES: tl.constexpr, CHUNK: tl.constexpr, STAGES: tl.constexpr,
    PER_FEATURE: tl.constexpr, KEEP: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    """One text and FEATURES of its features. TOKENS × SIDE tokens at a time, in SIDE partial sums that are merged at the end."""
    row = tl.program_id(0).to(tl.int64)
    d = tl.program_id(1) * FEATURES + tl.arange(0, FEATURES)
    in_dim = d < dim
    if PER_FEATURE:
        p = tl.load(norm + d, mask=in_dim, other=1.0)
        p2, p3 = p[None, :], p[None, None, :]
    else:
        p = tl.load(norm + row * norm_stride)
        p2, p3 = p, p
    states += row * row_stride
    weights += row * length
    mask += row * length

    real, end, top = 0, 0, 0.0  # number of tokens, position after the last one, largest weight
    for start in range(0, length, CHUNK):
        position = start + tl.arange(0, CHUNK)
        real_token = tl.load(mask + position, mask=position < length, other=0) != 0
        real += tl.sum(real_token.to(tl.int32))
        end = tl.maximum(end, tl.max(tl.where(real_token, position + 1, 0)))
        top = tl.maximum(top, tl.max(tl.load(weights + position, mask=real_token, other=0.0)))
    top += EPS
    below, below_log = top * 0.0, top * 0.0  # Σ (a / m_α)^p and Σ (a / m_α)^p log2(a / m_α)
    if not PER_FEATURE:
        for start in range(0, end, CHUNK):
            position = start + tl.arange(0, CHUNK)
            real_token = tl.load(mask + position, mask=position < end, other=0) != 0
            a_log = tl.log2((tl.load(weights + position, mask=real_token, other=0.0) + EPS) / top)
            powers = tl.where(real_token, tl.exp2(p * a_log), 0.0)
            below += tl.sum(powers)
            below_log += tl.sum(powers * a_log)

    token = tl.arange(0, SIDE)[:, None] + tl.arange(0, TOKENS)[None, :] * SIDE  # (SIDE, TOKENS)
    highest = tl.full([SIDE, FEATURES], EPS, tl.float32)
    above = tl.zeros([SIDE, FEATURES], tl.float32)
    above_log = tl.zeros([SIDE, FEATURES], tl.float32)
    belows = tl.zeros([SIDE, FEATURES], tl.float32)
    below_logs = tl.zeros([SIDE, FEATURES], tl.float32)
    whole_tiles = end // (TOKENS * SIDE) * (TOKENS * SIDE) if WHOLE else 0
    whole_tiles = tl.where(real == end, whole_tiles, 0)
    for start in tl.range(0, whole_tiles, TOKENS * SIDE, num_stages=STAGES):
        highest, above, above_log, belows, below_logs = accumulate(
            weights, states, mask, start + token, end, token_stride, d, in_dim, top, p2, p3,
            highest, above, above_log, belows, below_logs, PER_FEATURE, True,
        )  # fmt: skip
    for start in range(whole_tiles, end, TOKENS * SIDE):
        highest, above, above_log, belows, below_logs = accumulate(
            weights, states, mask, start + token, end, token_stride, d, in_dim, top, p2, p3,
            highest, above, above_log, belows, below_logs, PER_FEATURE, False,
        )  # fmt: skip

    most = tl.reduce(highest, 0, nan_maximum)  # (FEATURES,)
    log_shrink = tl.log2(highest / most[None, :])
    shrink = tl.exp2(p2 * log_shrink)
    total_log = tl.sum(shrink * (above_log + log_shrink * above), 0)
    total = tl.sum(shrink * above, 0)
    if PER_FEATURE:
        under, under_log = tl.sum(belows, 0), tl.sum(below_logs, 0)
    else:
        under, under_log = below, below_log
    nonempty = in_dim & (real > 0)
    log_ratio = tl.log2(total) - tl.log2(under)
    r = most / top * tl.exp2(log_ratio / p)
    tl.store(vector + row * dim + d, tl.where(nonempty, r, 0.0), mask=in_dim)
    if KEEP:
        pointer = saved + row * dim + d
        dr_dp = r * LN2 * (total_log / total - under_log / under - log_ratio / p) / p  # ∂r/∂p
        tl.store(pointer, 1.0 / most, mask=in_dim)
        tl.store(pointer + size, tl.where(nonempty, r / (total * most), 0.0), mask=in_dim)  # ∂r/∂x = this · (x/m)^(p−1)
        tl.store(pointer + 2 * size, tl.where(nonempty, r / (under * top), 0.0), mask=in_dim)  # −∂r/∂a, likewise
        tl.store(pointer + 3 * size, tl.where(nonempty, dr_dp, 0.0), mask=in_dim)
        if tl.program_id(1) == 0:
            tl.store(tops + row, top)
            tl.store(ends + row, tl.where(real == end, end, -end))  # negative: padding occurs before the end


@triton.jit
def backward_tokens(
    grad, states, alpha, a_log, norm, p, saved, out, position, real_token, length, dim, size, token_stride,
    TOKENS: tl.constexpr, FEATURES: tl.constexpr, STAGES: tl.constexpr, PER_FEATURE: tl.constexpr, NO_PADDING: tl.constexpr,
):  # fmt: skip
    """Write the gradient of the states; return the partial sums of the gradients of the weights and of p."""
    by_token = tl.zeros([TOKENS, FEATURES], tl.float32)
    common = tl.zeros([FEATURES], tl.float32)
    dr_dp = tl.zeros([FEATURES], tl.float32)
    for start in tl.range(0, dim, FEATURES, num_stages=STAGES):
        d = start + tl.arange(0, FEATURES)
        in_dim = d < dim
        g = tl.load(grad + d, mask=in_dim, other=0.0)
        inverse = tl.load(saved + d, mask=in_dim, other=1.0)
        upper = g * tl.load(saved + size + d, mask=in_dim, other=0.0)
        lower = g * tl.load(saved + 2 * size + d, mask=in_dim, other=0.0)
        offsets = position[:, None] * token_stride + d[None, :]
        if NO_PADDING:
            h = tl.load(states + offsets).to(tl.float32)
        else:
            h = tl.load(states + offsets, mask=real_token[:, None] & in_dim[None, :], other=0.0).to(tl.float32)
        x = clipped(alpha[:, None] * h)
        power_minus_1 = (tl.load(norm + d, mask=in_dim, other=1.0) - 1.0)[None, :] if PER_FEATURE else p - 1.0
        slope = upper[None, :] * exp2(power_minus_1 * log2(x * inverse[None, :] + (inverse * EPS)[None, :]))
        slope = tl.where(x - x * x != 0.0, slope, 0.0)  # x is neither 0 nor 1
        if NO_PADDING:
            tl.store(out + position[:, None] * dim + d[None, :], slope * alpha[:, None])
        else:
            within = (position < length)[:, None] & in_dim[None, :]
            tl.store(out + position[:, None] * dim + d[None, :], slope * alpha[:, None], mask=within)
        by_token += slope * h
        if PER_FEATURE:
            by_token -= lower[None, :] * tl.exp2(power_minus_1 * a_log[:, None])
        else:
            common += lower
            if tl.program_id(1) == 0:
                dr_dp += g * tl.load(saved + 3 * size + d, mask=in_dim, other=0.0)
    return by_token, common, dr_dp


@triton.jit
def backward_kernel(
    grad, states, weights, norm, mask, saved, tops, ends, grad_states, grad_weights, grad_norm,
    length, dim, size, row_stride, token_stride, norm_stride,
    TOKENS: tl.constexpr, FEATURES: tl.constexpr, STAGES: tl.constexpr, PER_FEATURE: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    """TOKENS tokens of one text and all their features, so that one program sums the gradient of each weight."""
    row, first = tl.program_id(0).to(tl.int64), tl.program_id(1) * TOKENS
    position = first + tl.arange(0, TOKENS)
    end = tl.load(ends + row)
    gaps = end < 0
    end = tl.abs(end)
    grad, saved, out = grad + row * dim, saved + row * dim, grad_states + row * length * dim
    grad_weights += row * length
    if (first < end) | (first == 0):
        real_token = position < end
        if gaps:
            real_token = tl.load(mask + row * length + position, mask=real_token, other=0) != 0
        alpha = tl.load(weights + row * length + position, mask=real_token, other=0.0)
        a_log = tl.log2((alpha + EPS) / tl.load(tops + row))
        p = 1.0 if PER_FEATURE else tl.load(norm + row * norm_stride)
        if WHOLE and (first + TOKENS <= end) & (gaps == 0):
            by_token, common, dr_dp = backward_tokens(
                grad, states + row * row_stride, alpha, a_log, norm, p, saved, out, position, real_token, length, dim, size,
                token_stride, TOKENS, FEATURES, STAGES, PER_FEATURE, True,
            )  # fmt: skip
        else:
            by_token, common, dr_dp = backward_tokens(
                grad, states + row * row_stride, alpha, a_log, norm, p, saved, out, position, real_token, length, dim, size,
                token_stride, TOKENS, FEATURES, STAGES, PER_FEATURE, False,
            )  # fmt: skip
        grad_alpha = tl.sum(by_token, 1)
        if not PER_FEATURE:
            grad_alpha -= tl.sum(common) * tl.exp2((p - 1.0) * a_log)
            if first == 0:
                tl.store(grad_norm + row, tl.sum(dr_dp))
        tl.store(grad_weights + position, tl.where(real_token, grad_alpha, 0.0), mask=position < length)
    else:  # padding only: nothing to read
        for start in range(0, dim, FEATURES):
            d = start + tl.arange(0, FEATURES)
            within = (position < length)[:, None] & (d < dim)[None, :]
            tl.store(out + position[:, None] * dim + d[None, :], tl.zeros([TOKENS, FEATURES], tl.float32), mask=within)
        tl.store(grad_weights + position, tl.zeros([TOKENS], tl.float32), mask=position < length)


class FusedPowerMean(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, states: Tensor, weights: Tensor, norm: Tensor, mask: Tensor) -> Tensor:
        rows, length, dim = states.shape
        states = states if states.stride(2) == 1 or dim == 1 else states.contiguous()
        weights, norm, mask = weights.contiguous(), norm.contiguous(), mask.contiguous().view(torch.uint8)
        keep = any(ctx.needs_input_grad)
        vector = torch.empty(rows, dim, device=states.device)  # (N, D)
        saved = torch.empty(4 if keep else 0, rows, dim, device=states.device)  # (4, N, D)
        tops = torch.empty(rows, device=states.device)  # (N,)
        ends = torch.empty(rows, device=states.device, dtype=torch.int32)  # (N,)
        tile = forward_tile(states)
        forward_kernel[rows, triton.cdiv(dim, tile["FEATURES"])](
            states, weights, norm, mask, vector, saved, tops, ends,
            length, dim, rows * dim, states.stride(0), states.stride(1), int(norm.ndim == 2),
            PER_FEATURE=norm.ndim == 1, KEEP=keep, WHOLE=dim % tile["FEATURES"] == 0, **tile,
        )  # fmt: skip
        ctx.save_for_backward(states, weights, norm, mask, saved, tops, ends)
        return vector

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        states, weights, norm, mask, saved, tops, ends = ctx.saved_tensors
        rows, length, dim = states.shape
        grad = grad.detach().contiguous()
        grad_states = torch.empty(rows, length, dim, device=states.device, dtype=states.dtype)  # (N, L, D)
        grad_weights = torch.empty_like(weights)  # (N, L)
        grad_norm = torch.empty(rows, device=states.device)  # (N,)
        tile = backward_tile(states)
        backward_kernel[rows, triton.cdiv(length, tile["TOKENS"])](
            grad, states, weights, norm, mask, saved, tops, ends, grad_states, grad_weights, grad_norm,
            length, dim, rows * dim, states.stride(0), states.stride(1), int(norm.ndim == 2),
            PER_FEATURE=norm.ndim == 1, WHOLE=dim % tile["FEATURES"] == 0, **tile,
        )  # fmt: skip
        if norm.ndim == 1:
            grad_norm = (grad * saved[3]).sum(0)  # (D,)
        elif norm.ndim == 2:
            grad_norm = grad_norm.unsqueeze(1)  # (N, 1)
        else:
            grad_norm = grad_norm.sum()  # ()
        gradients = (grad_states, grad_weights, grad_norm)
        if torch.is_grad_enabled():  # create_graph=True
            gradients = tuple(OnceDifferentiable.apply(part, states, weights, norm) for part in gradients)
        return *gradients, None


class OnceDifferentiable(torch.autograd.Function):
    """Pass a gradient on, but refuse to differentiate it: treated as a constant, it would be silently wrong."""

    @staticmethod
    def forward(ctx: Any, gradient: Tensor, *sources: Tensor) -> Tensor:
        return gradient.view_as(gradient)

    @staticmethod
    def backward(ctx: Any, *_: Tensor) -> tuple[None, ...]:
        raise RuntimeError(
            "the fused power mean can be differentiated only once; use float64, which takes the plain implementation"
        )


def fused_power_mean(states: Tensor, weights: Tensor, norm: Tensor, mask: Tensor) -> Tensor:
    """(N, L, D), (N, L), p, (N, L) -> (N, D) in float32; `attended_power_mean` decides when to use it."""
    vector: Tensor = FusedPowerMean.apply(states, weights, norm, mask)
    return vector


FEW_PROGRAMS = 264  # two per multiprocessor of a large GPU


def forward_tile(states: Tensor) -> dict[str, int]:
    """Tuned on an H200. Each thread holds 16 bytes of neighbouring features of TOKENS tokens, shared with no other thread."""
    rows, _, dim = states.shape
    warps, features = (4 if states.element_size() == 4 else 2), 128
    if rows * triton.cdiv(dim, features) < FEW_PROGRAMS:  # few, long texts: use more of the GPU for each
        warps, features = 4, 64
    side = warps * 32 * (16 // states.element_size()) // features
    return {"TOKENS": 8, "SIDE": side, "FEATURES": features, "CHUNK": 512, "STAGES": 3, "num_warps": warps}


def backward_tile(states: Tensor) -> dict[str, int]:
    return {"TOKENS": 8, "FEATURES": 128, "STAGES": 3, "num_warps": 4 if states.element_size() == 4 else 2}
