"""Kernels as in Triton's tutorials: products, attention, operators on rows, elementwise operators.

gpu_peers.py compares tunec with these kernels. Each function takes and returns GPU tensors.
`arithmetic` is the torch dtype in which products are computed; sums are float32. Other floats are
float32. TRITON_INTERPRET=1 runs the kernels on the host.
"""
import math

import torch
import triton
import triton.language as tl

PRODUCT_TILES = [triton.Config({"BM": bm, "BN": bn, "BK": bk}, num_stages=stages, num_warps=warps)
                 for bm, bn, bk, stages, warps in ((128, 256, 64, 3, 8), (128, 128, 64, 3, 8), (128, 128, 32, 4, 4),
                                                   (64, 128, 32, 4, 4), (64, 64, 32, 5, 4), (32, 64, 32, 5, 2))]


@triton.autotune(PRODUCT_TILES, key=["m", "n", "k"])
@triton.jit
def product_kernel(a, b, c, m, n, k, PRECISION: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                   GROUP: tl.constexpr = 8):
    # Blocks are ordered in groups of rows, so that concurrent blocks share data in L2.
    block = tl.program_id(0)
    columns = tl.cdiv(n, BN)
    first = block // (GROUP * columns) * GROUP
    rows = min(tl.cdiv(m, BM) - first, GROUP)
    in_group = block % (GROUP * columns)
    i = (first + in_group % rows) * BM + tl.arange(0, BM)
    j = in_group // rows * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for begin in range(0, k, BK):
        at = begin + tl.arange(0, BK)
        left = tl.load(a + i[:, None] * k + at[None, :], mask=(i[:, None] < m) & (at[None, :] < k), other=0.0)
        right = tl.load(b + at[:, None] * n + j[None, :], mask=(at[:, None] < k) & (j[None, :] < n), other=0.0)
        total = tl.dot(left, right, total, input_precision=PRECISION)
    tl.store(c + i[:, None] * n + j[None, :], total, mask=(i[:, None] < m) & (j[None, :] < n))


def precision_of(arithmetic):
    """Returns tl.dot's precision for float32 operands; other types have only one."""
    return "ieee" if arithmetic == torch.float32 else "tf32"


def product(a, b, arithmetic=torch.float32):
    """Multiplies [m, k] x [k, n]."""
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), device=a.device, dtype=torch.float32)

    def grid(tiles):
        return (triton.cdiv(m, tiles["BM"]) * triton.cdiv(n, tiles["BN"]),)

    product_kernel[grid](a.to(arithmetic), b.to(arithmetic), c, m, n, k, PRECISION=precision_of(arithmetic))
    return c


@triton.jit
def attention_kernel(q, k, v, out, length, scale, PRECISION: tl.constexpr, D: tl.constexpr, BM: tl.constexpr,
                     BN: tl.constexpr):
    head = tl.program_id(1) * length * D
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    queries = tl.load(q + head + i[:, None] * D + d[None, :], mask=i[:, None] < length, other=0.0)
    greatest = tl.full((BM,), float("-inf"), tl.float32)
    sums = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    for begin in range(0, length, BN):
        j = begin + tl.arange(0, BN)
        keys = tl.load(k + head + j[None, :] * D + d[:, None], mask=j[None, :] < length, other=0.0)
        scores = tl.dot(queries, keys, input_precision=PRECISION) * scale
        scores = tl.where(j[None, :] < length, scores, float("-inf"))
        larger = tl.maximum(greatest, tl.max(scores, 1))
        weights = tl.exp2(scores - larger[:, None])
        shrink = tl.exp2(greatest - larger)
        sums = sums * shrink + tl.sum(weights, 1)
        values = tl.load(v + head + j[:, None] * D + d[None, :], mask=j[:, None] < length, other=0.0)
        total = tl.dot(weights.to(values.dtype), values, total * shrink[:, None], input_precision=PRECISION)
        greatest = larger
    tl.store(out + head + i[:, None] * D + d[None, :], total / sums[:, None], mask=i[:, None] < length)


def attention(q, k, v, arithmetic=torch.float32):
    """Computes softmax(q k^T / sqrt(d)) v of [heads, length, d]."""
    heads, length, d = q.shape
    out = torch.empty(q.shape, device=q.device, dtype=torch.float32)
    scale = math.log2(math.e) / math.sqrt(d)
    rows = 64
    attention_kernel[(triton.cdiv(length, rows), heads)](
        *(x.to(arithmetic).contiguous() for x in (q, k, v)), out, length, scale, PRECISION=precision_of(arithmetic),
        D=d, BM=rows, BN=64, num_warps=4, num_stages=2)
    return out


@triton.jit
def softmax_kernel(x, y, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * columns
    values = tl.load(x + row + at, mask=at < columns, other=float("-inf"))
    powers = tl.exp(values - tl.max(values, 0))
    tl.store(y + row + at, powers / tl.sum(powers, 0), mask=at < columns)


def softmax(x):
    """Computes softmax over the last dimension."""
    columns, y = x.shape[-1], torch.empty_like(x)
    block = triton.next_power_of_2(columns)
    softmax_kernel[(x.numel() // columns,)](x, y, columns, BLOCK=block, num_warps=max(1, min(16, block // 256)))
    return y


@triton.jit
def layer_norm_kernel(x, weight, bias, y, columns, eps, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * columns
    values = tl.load(x + row + at, mask=at < columns, other=0.0)
    mean = tl.sum(values, 0) / columns
    apart = tl.where(at < columns, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(apart * apart, 0) / columns + eps)
    w = tl.load(weight + at, mask=at < columns, other=0.0)
    b = tl.load(bias + at, mask=at < columns, other=0.0)
    tl.store(y + row + at, apart * scale * w + b, mask=at < columns)


def layer_norm(x, weight, bias, eps):
    """Normalizes over the last dimension."""
    columns, y = x.shape[-1], torch.empty_like(x)
    block = triton.next_power_of_2(columns)
    layer_norm_kernel[(x.numel() // columns,)](x, weight, bias, y, columns, eps, BLOCK=block,
                                               num_warps=max(1, min(16, block // 256)))
    return y


@triton.jit
def chain_kernel(x, y, out, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + at, mask=at < count)
    b = tl.load(y + at, mask=at < count)
    tl.store(out + at, tl.maximum(a * b + a, 0.0) * 0.5 - b, mask=at < count)


def chain(x, y):
    """Computes relu(x * y + x) * 0.5 - y: elementwise5 of models.py."""
    out = torch.empty_like(x)
    chain_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, out, x.numel(), BLOCK=1024)
    return out


def find(name, module, arithmetic):
    """Returns the function for the model of that name, with the module's parameters bound, or
    None."""
    if name.startswith("matmul_") and name[len("matmul_"):].isdigit():
        return lambda a, b: product(a, b, arithmetic)
    if name == "attention":
        return lambda q, k, v: attention(q, k, v, arithmetic)
    if name.startswith("softmax_"):
        return softmax
    if name.startswith("layernorm_"):
        return lambda x: layer_norm(x, module.weight, module.bias, module.eps)
    return chain if name == "elementwise5" else None
