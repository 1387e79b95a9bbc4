#!/usr/bin/env python3
"""Prints reference_cases.graph. It has small graphs for each operator, with the outputs of numpy,
PyTorch or onnx's reference evaluator. Run this program by hand when an operator changes. The tests
read only the file.

    /path/to/venv/bin/python make_reference_cases.py > reference_cases.graph

Needs: numpy, torch, onnx.
"""
import math

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx.reference import ReferenceEvaluator

rng = np.random.default_rng(7)
TYPES = {"float32": "f32", "float64": "f64", "float16": "f16", "int64": "i64", "int32": "i32",
         "int8": "i8", "uint8": "u8", "bool": "bool", "uint64": "u64", "uint32": "u32"}
used = set()


def literal(a):
    if a.dtype == np.bool_:
        return "1" if a else "0"
    if np.issubdtype(a.dtype, np.integer):
        return str(int(np.asarray(a).astype(np.int64)))
    if math.isnan(a) or math.isinf(a):
        return str(float(a))
    text = repr(float(a)) if a.dtype == np.float64 else np.format_float_scientific(a, unique=True, trim="0")
    return text


def constant(name, a):
    a = np.asarray(a)
    dims = ", ".join(map(str, a.shape))
    body = literal(a[()]) if a.ndim == 0 else "[" + ", ".join(literal(v) for v in a.reshape(-1)) + "]"
    return f"  constant {name}: {TYPES[str(a.dtype)]}[{dims}] = {body}"


def case(call, expected, **inputs):
    """Prints a case. `call` is text such as `relu(x) {alpha=1}` over the inputs' names."""
    op = call.split("(")[0]
    used.add(op)
    print(f"graph {op} {{")
    for name, value in inputs.items():
        print(constant(name, value))
    print(constant("expected", expected))
    print(f"  y = {call}\n  output y\n  output expected\n}}")


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def t(a):
    return torch.from_numpy(np.ascontiguousarray(a))


def onnx_run(op, inputs, opset=18, **attributes):
    names = [f"i{k}" if v is not None else "" for k, v in enumerate(inputs)]
    node = onnx.helper.make_node(op, names, ["y"], **attributes)
    infos = [onnx.helper.make_tensor_value_info(n, onnx.helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
             for n, v in zip(names, inputs) if v is not None]
    graph = onnx.helper.make_graph([node], "g", infos, [onnx.helper.make_tensor_value_info("y", 0, None)])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)])
    return ReferenceEvaluator(model).run(None, {n: v for n, v in zip(names, inputs) if v is not None})[0]


def unary():
    x = np.array([-3.5, -1, -0.5, -0.0, 0, 0.5, 1.5, 2.5, 7], np.float32)
    d = x.astype(np.float64)
    inside = np.array([-0.9, -0.25, 0, 0.3, 0.99], np.float32)
    positive = np.array([0.1, 0.5, 1, 3, 1e4], np.float32)
    special = np.array([np.nan, np.inf, -np.inf, 0, 1], np.float32)
    one = {"neg": -d, "abs": abs(d), "sign": np.sign(d), "exp": np.exp(d), "tanh": np.tanh(d), "sin": np.sin(d),
           "cos": np.cos(d), "tan": np.tan(d), "atan": np.arctan(d), "sinh": np.sinh(d), "cosh": np.cosh(d),
           "asinh": np.arcsinh(d), "floor": np.floor(d), "ceil": np.ceil(d), "round": np.rint(d), "identity": d,
           "copy": d, "relu": np.maximum(d, 0), "erf": np.vectorize(math.erf)(d), "sigmoid": 1 / (1 + np.exp(-d))}
    for op, y in one.items():
        case(f"{op}(x)", y.astype(np.float32), x=x)
    for op, fn in {"silu": F.silu, "softplus": F.softplus, "softsign": F.softsign, "hard_swish": F.hardswish,
                   "mish": F.mish, "gelu": F.gelu, "selu": F.selu, "elu": F.elu, "celu": F.celu,
                   "leaky_relu": F.leaky_relu}.items():
        case(f"{op}(x)", fn(t(d)).numpy().astype(np.float32), x=x)
    case('gelu(x) {approximate="tanh"}', F.gelu(t(d), approximate="tanh").numpy().astype(np.float32), x=x)
    case("elu(x) {alpha=2}", F.elu(t(d), 2.0).numpy().astype(np.float32), x=x)
    case("celu(x) {alpha=0.5}", F.celu(t(d), 0.5).numpy().astype(np.float32), x=x)
    case("leaky_relu(x) {alpha=0.25}", F.leaky_relu(t(d), 0.25).numpy().astype(np.float32), x=x)
    case("hard_sigmoid(x)", onnx_run("HardSigmoid", [x]), x=x)
    case("hard_sigmoid(x) {alpha=0.5, beta=0.25}", onnx_run("HardSigmoid", [x], alpha=0.5, beta=0.25), x=x)
    case("thresholded_relu(x) {alpha=1.5}", onnx_run("ThresholdedRelu", [x], alpha=1.5), x=x)
    case("clip(x) {min=-1, max=1.5}", np.clip(x, -1, 1.5), x=x)
    case("clip(x) {max=3}", np.array([-5, 3, 3], np.int32), x=np.array([-5, 3, 9], np.int32))
    for op, fn in {"asin": np.arcsin, "acos": np.arccos, "atanh": np.arctanh}.items():
        case(f"{op}(x)", fn(inside.astype(np.float64)).astype(np.float32), x=inside)
    tails = np.array([-30, -1e-6, -0.0, 1e-6, 0.4, 3], np.float32)
    case("expm1(x)", np.expm1(tails.astype(np.float64)).astype(np.float32), x=tails)
    case("log1p(x)", np.log1p(tails.astype(np.float64)[1:]).astype(np.float32), x=tails[1:])
    for op, fn in {"softplus": F.softplus, "mish": F.mish, "elu": F.elu, "celu": F.celu, "silu": F.silu}.items():
        case(f"{op}(x)", fn(t(tails.astype(np.float64))).numpy().astype(np.float32), x=tails)
    far = np.array([-12, -8, -5, -3, -1e-6], np.float64)
    normal = [v * math.erfc(-v / math.sqrt(2)) / 2 for v in far]
    case("gelu(x)", np.array(normal, np.float32), x=far.astype(np.float32))
    powers = np.array([2**-20, 0.125, 1, 8, 1000], np.float32)
    for op, fn in {"log2": np.log2, "log10": np.log10}.items():
        case(f"{op}(x)", fn(powers.astype(np.float64)).astype(np.float32), x=powers)
    for op, fn in {"log": np.log, "sqrt": np.sqrt, "rsqrt": lambda v: 1 / np.sqrt(v), "reciprocal": lambda v: 1 / v,
                   }.items():
        case(f"{op}(x)", fn(positive.astype(np.float64)).astype(np.float32), x=positive)
    case("acosh(x)", np.arccosh(positive.astype(np.float64) + 1).astype(np.float32),
         x=(positive.astype(np.float64) + 1).astype(np.float32))
    case("isnan(x)", np.isnan(special), x=special)
    case("isinf(x)", np.isinf(special), x=special)
    case("isinf(x) {detect_negative=0}", np.isposinf(special), x=special)
    case("relu(x)", np.array([np.nan, np.inf, 0, 0, 1], np.float32), x=special)
    case("not(x)", np.array([False, True]), x=np.array([True, False]))
    case("not(x)", np.array([~5, 0], np.int32), x=np.array([5, -1], np.int32))
    case("abs(x)", np.array([5, 7], np.int64), x=np.array([-5, 7], np.int64))
    case("neg(x)", np.array([-128, 3], np.int8), x=np.array([-128, -3], np.int8))
    case('to_device(x) {device="cpu"}', x, x=x)
    case('cast(x) {to="i32"}', np.array([-3, 0, 2], np.int32), x=np.array([-3.9, 0.9, 2.1], np.float32))
    case('cast(x) {to="u8"}', np.array([44, 255, 0, 0], np.uint8),
         x=np.array([300, -1.5, np.nan, 1e30], np.float32))
    case('cast(x) {to="i32"}', np.array([-2**31, -2**31, 7], np.int32), x=np.array([3e9, np.nan, 7.9], np.float64))
    case('cast(x) {to="bool"}', np.array([True, False, True]), x=np.array([-3.9, 0, 2.1], np.float32))
    case('cast(x) {to="f16"}', np.array([0.1, 70000, 1e-8], np.float16), x=np.array([0.1, 70000, 1e-8], np.float32))
    case('cast(x) {to="u8"}', np.array([255, 44], np.uint8), x=np.array([-1, 300], np.int64))
    case('cast(x) {to="f32"}', np.array([1, 0], np.float32), x=np.array([True, False]))


def binary():
    a, b = f32(2, 1, 3), f32(4, 1)
    for op, fn in {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "min": np.minimum,
                   "max": np.maximum, "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
                   "gt": np.greater, "ge": np.greater_equal}.items():
        case(f"{op}(a, b)", fn(a, b), a=a, b=b)
    case("pow(a, b)", np.power(abs(a), b), a=abs(a), b=b)
    i, j = np.array([7, -7, 7, -7], np.int32), np.array([3, 3, -3, -3], np.int32)
    case("mod(a, b)", np.mod(i, j), a=i, b=j)
    case("mod(a, b) {fmod=1}", np.fmod(i, j), a=i, b=j)
    case("mod(a, b) {fmod=1}", np.fmod(a, b), a=a, b=b)
    case("div(a, b)", np.array([2, -2, -2, 2], np.int32), a=i, b=j)
    case("pow(a, b)", np.array([[9, -27]], np.int64), a=np.array([[-3]], np.int64) * np.array([[-1, 1]]),
         b=np.array([2, 3], np.int64))
    case("max(a, b)", np.array([np.nan, np.nan], np.float32), a=np.array([np.nan, 1], np.float32),
         b=np.array([1, np.nan], np.float32))
    case("add(a, b)", np.array([-127], np.int8), a=np.array([127], np.int8), b=np.array([2], np.int8))
    case("lt(a, b)", np.array([False]), a=np.array([2**64 - 1], np.uint64), b=np.array([1], np.uint64))
    case("eq(a, b)", np.array([True, False]), a=np.array([True, False]), b=np.array(True))
    p, q = np.array([True, True, False, False]), np.array([True, False, True, False])
    case("and(a, b)", p & q, a=p, b=q)
    case("or(a, b)", p | q, a=p, b=q)
    case("xor(a, b)", p ^ q, a=p, b=q)
    case("and(a, b)", np.array([4], np.int64), a=np.array([12], np.int64), b=np.array([6], np.int64))
    case("shl(a, b)", np.array([4, 0], np.uint8), a=np.array([1, 255], np.uint8), b=np.array([2, 8], np.uint8))
    case("shr(a, b)", np.array([63, 0], np.uint8), a=np.array([255, 1], np.uint8), b=np.array([2, 8], np.uint8))
    case("shr(a, b)", np.array([-2], np.int32), a=np.array([-8], np.int32), b=np.array([2], np.int32))
    x = f32(2, 3, 2)
    slope = f32(3, 1)
    case("prelu(x, s)", np.where(x < 0, x * slope, x), x=x, s=slope)
    n = np.array([-2**63, -3, 5], np.int64)
    s = np.array([-2**63, 4, 4], np.int64)
    case("prelu(n, s)", np.where(n < 0, n * s, n), n=n, s=s)  # products wrap
    c = np.array([[True], [False]])
    case("where(c, a, b)", np.where(c, a, f := f32(3)), c=c, a=a, b=f)


def contractions():
    for sa, sb in [((3, 4), (4, 5)), ((2, 1, 3, 4), (3, 4, 5)), ((4,), (4, 5)), ((2, 3, 4), (4,)), ((4,), (4,))]:
        a, b = f32(*sa), f32(*sb)
        case("matmul(a, b)", np.matmul(a.astype(np.float64), b.astype(np.float64)).astype(np.float32), a=a, b=b)
    a, b = f32(2, 4, 3), f32(5, 4)
    y = np.matmul(a.astype(np.float64).swapaxes(1, 2), b.astype(np.float64).T).astype(np.float32)
    case("matmul(a, b) {transpose_a=1, transpose_b=1}", y, a=a, b=b)
    i, j = rng.integers(-9, 9, (3, 4)), rng.integers(-9, 9, (4, 2))
    case("matmul(a, b)", i @ j, a=i, b=j)

    def conv(x, w, bias, call, fn=None, **kw):
        fn = fn or {3: F.conv1d, 4: F.conv2d, 5: F.conv3d}[x.ndim]
        y = fn(t(x).double(), t(w).double(), None if bias is None else t(bias).double(), **kw).float().numpy()
        inputs = dict(x=x, w=w) | ({} if bias is None else dict(b=bias))
        case(call, y, **inputs)

    conv(f32(1, 2, 5), f32(3, 2, 3), f32(3), "conv(x, w, b)")
    conv(f32(2, 2, 5, 4), f32(3, 2, 3, 2), f32(3), "conv(x, w, b) {strides=[2, 1], pads=[1, 1, 1, 1]}", stride=(2, 1), padding=1)
    conv(f32(1, 4, 6, 6), f32(6, 2, 2, 2), None, "conv(x, w) {group=2, dilations=[2, 1]}", groups=2, dilation=(2, 1))
    conv(f32(1, 3, 4, 4), f32(3, 1, 3, 3), f32(3), "conv(x, w, b) {group=3, pads=[1, 1, 1, 1]}", groups=3, padding=1)
    conv(f32(1, 1, 3, 3, 3), f32(2, 1, 2, 2, 2), None, "conv(x, w)")
    x, w = f32(1, 2, 4, 4), f32(1, 2, 3, 3)
    y = F.conv2d(F.pad(t(x).double(), (0, 2, 1, 0)), t(w).double()).float().numpy()
    case("conv(x, w) {pads=[1, 0, 0, 2]}", y, x=x, w=w)
    conv(f32(1, 2, 3), f32(2, 3, 3), f32(3), "conv_transpose(x, w, b) {strides=[2], pads=[1, 1], output_padding=[1]}",
         F.conv_transpose1d, stride=2, padding=1, output_padding=1)
    conv(f32(1, 4, 3, 2), f32(4, 3, 2, 3), None, "conv_transpose(x, w) {group=2, dilations=[2, 1], strides=[1, 3]}",
         F.conv_transpose2d, groups=2, dilation=(2, 1), stride=(1, 3))
    # A non-finite weight affects only outputs to which it spreads an image element.
    x, w = np.array([[[1, 2, 3]]], np.float32), np.array([[[np.inf, 1, np.nan]]], np.float32)
    y = F.conv_transpose1d(t(x), t(w), stride=2).numpy()
    case("conv_transpose(x, w) {strides=[2]}", y, x=x, w=w)
    x = f32(1, 2, 5, 5)
    case("max_pool(x) {kernel=[3, 2], strides=[2, 2], pads=[1, 0, 1, 0]}", F.max_pool2d(t(x), (3, 2), 2, (1, 0)).numpy(), x=x)
    case("max_pool(x) {kernel=[2, 2], dilations=[2, 2]}", F.max_pool2d(t(x), 2, 1, dilation=2).numpy(), x=x)
    case("average_pool(x) {kernel=[3, 3], pads=[1, 1, 1, 1]}",
         F.avg_pool2d(t(x), 3, 1, 1, count_include_pad=False).numpy(), x=x)
    case("average_pool(x) {kernel=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1}", F.avg_pool2d(t(x), 3, 1, 1).numpy(), x=x)


def reductions():
    x = f32(2, 3, 4)
    d = x.astype(np.float64)
    ops = {"reduce_sum": np.sum, "reduce_mean": np.mean, "reduce_max": np.max, "reduce_min": np.min, "reduce_prod": np.prod,
           "reduce_l1": lambda v, **k: np.sum(abs(v), **k), "reduce_l2": lambda v, **k: np.sqrt(np.sum(v * v, **k)),
           "reduce_sum_square": lambda v, **k: np.sum(v * v, **k),
           "reduce_log_sum_exp": lambda v, **k: np.log(np.sum(np.exp(v), **k))}
    for op, fn in ops.items():
        case(f"{op}(x) {{axes=[-2]}}", fn(d, axis=1, keepdims=True).astype(np.float32), x=x)
        case(f"{op}(x) {{axes=[2, 0], keepdims=0}}", fn(d, axis=(0, 2)).astype(np.float32), x=x)
        case(f"{op}(x) {{keepdims=0}}", np.float32(fn(d)), x=x)
    case("reduce_sum(x) {axes=[0], keepdims=0}", np.array([300], np.int64), x=np.array([[100], [200]], np.int64))
    big = np.array([1000, 1001], np.float32)
    case("reduce_log_sum_exp(x) {keepdims=0}", np.float32(1001 + math.log(1 + math.exp(-1))), x=big)
    tie = np.array([[1, 3, 3], [0, -1, -1]], np.float32)
    case("argmax(x) {axis=1}", np.array([[1], [0]]), x=tie)
    case("argmax(x) {axis=-1, select_last_index=1, keepdims=0}", np.array([2, 0]), x=tie)
    case("argmin(x) {axis=1}", np.array([[0], [1]]), x=tie)
    case("argmin(x) {axis=0, keepdims=0}", np.argmin(tie, 0), x=tie)
    case("cumsum(x) {axis=1}", np.cumsum(d, 1).astype(np.float32), x=x)
    i = np.array([1, 2, 3], np.int64)
    case("cumsum(x) {axis=0, exclusive=1}", np.array([0, 1, 3]), x=i)
    case("cumsum(x) {axis=0, reverse=1}", np.array([6, 5, 3]), x=i)
    case("cumsum(x) {axis=-1, exclusive=1, reverse=1}", np.array([5, 3, 0]), x=i)
    case("softmax(x)", F.softmax(t(d), -1).float().numpy(), x=x)
    case("softmax(x) {axis=1}", F.softmax(t(d), 1).float().numpy(), x=x)
    case("log_softmax(x) {axis=0}", F.log_softmax(t(d), 0).float().numpy(), x=x)


def norms():
    x = f32(2, 4, 3)
    d = t(x).double()
    s, b, m = f32(4), f32(4), f32(4)
    v = abs(f32(4)) + np.float32(0.1)
    T = lambda a: t(a).double()
    case("batch_norm(x, s, b, m, v) {epsilon=0.001}",
         F.batch_norm(d, T(m), T(v), T(s), T(b), eps=1e-3).float().numpy(), x=x, s=s, b=b, m=m, v=v)
    case("instance_norm(x, s, b)", F.instance_norm(d, weight=T(s), bias=T(b)).float().numpy(), x=x, s=s, b=b)
    case("group_norm(x, s, b) {groups=2}", F.group_norm(d, 2, T(s), T(b)).float().numpy(), x=x, s=s, b=b)
    s, b = f32(3), f32(3)
    case("layer_norm(x, s, b)", F.layer_norm(d, (3,), T(s), T(b)).float().numpy(), x=x, s=s, b=b)
    s2 = f32(4, 3)
    case("layer_norm(x, s) {axis=1, epsilon=0.01}", F.layer_norm(d, (4, 3), T(s2), None, 0.01).float().numpy(), x=x, s=s2)
    y = d / torch.sqrt((d * d).mean(-1, keepdim=True) + 1e-5) * T(s)
    case("rms_norm(x, s)", y.float().numpy(), x=x, s=s)
    x = f32(1, 5, 2, 2)
    for size in (3, 4):  # onnx's evaluator only normalises as many channels as images
        total = np.zeros(x.shape)
        for c in range(5):
            total[:, c] = (x.astype(np.float64)[:, max(0, c - (size - 1) // 2):c + size // 2 + 1] ** 2).sum(1)
        y = x / (2 + 0.1 / size * total) ** 0.5
        case(f"lrn(x) {{size={size}, alpha=0.1, beta=0.5, bias=2}}", y.astype(np.float32), x=x)


def rotary():
    def turned(x, c, s, interleaved=False):
        x, c, s = x.astype(np.float64), c.astype(np.float64), s.astype(np.float64)
        n = x.shape[-1] if c.shape[-1] == x.shape[-1] else 2 * c.shape[-1]
        y = x.copy()
        first, second = (slice(0, n, 2), slice(1, n, 2)) if interleaved else (slice(0, n // 2), slice(n // 2, n))
        each = c.shape[-1] == x.shape[-1]
        for own, other, sign in ((first, second, -1), (second, first, 1)):
            y[..., own] = x[..., own] * (c[..., own] if each else c) + sign * x[..., other] * (s[..., own] if each else s)
        return y.astype(np.float32)

    x = f32(2, 3, 6)
    for shape in ((3, 3), (2, 1, 3), (3, 6), (1, 2)):
        c, s = f32(*shape), f32(*shape)
        case("rotary_embedding(x, c, s)", turned(x, c, s), x=x, c=c, s=s)
        case("rotary_embedding(x, c, s) {interleaved=1}", turned(x, c, s, True), x=x, c=c, s=s)


def attention():
    def plain(q, k, v, mask=None, scale=None, causal=None, cap=0.0, zero=False, hidden=-np.inf, window=0):
        q, k, v = q.astype(np.float64), k.astype(np.float64), v.astype(np.float64)
        if q.ndim > 2:
            k, v = (np.repeat(a, q.shape[-3] // a.shape[-3], -3) for a in (k, v))
        s = q @ np.swapaxes(k, -1, -2) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
        s = cap * np.tanh(s / cap) if cap else s
        if mask is not None:
            s = np.where(mask, s, hidden) if mask.dtype == np.bool_ else s + mask
        if causal is not None:
            s = np.where(np.tri(*s.shape[-2:], causal, dtype=bool), s, hidden)
        if window:
            s = np.where(np.tri(*s.shape[-2:], causal - window, dtype=bool), hidden, s)
        p = np.exp(s - s.max(-1, keepdims=True))
        y = p / p.sum(-1, keepdims=True) @ v
        return (np.where(np.isneginf(s.max(-1, keepdims=True)), 0, y) if zero else y).astype(np.float32)

    q, k, v = f32(2, 4, 3, 5), f32(2, 2, 6, 5), f32(2, 2, 6, 4)
    case("attention(q, k, v)", plain(q, k, v), q=q, k=k, v=v)
    case("attention(q, k, v)", F.scaled_dot_product_attention(t(q[:, :2]), t(k), t(v)).numpy(), q=q[:, :2], k=k, v=v)
    case("attention(q, k, v) {scale=0.75, softcap=2}", plain(q, k, v, scale=0.75, cap=2), q=q, k=k, v=v)
    case("attention(q, k, v) {causal=1}", plain(q, k, v, causal=0), q=q, k=k, v=v)
    case("attention(q, k, v) {causal=1, causal_offset=2}", plain(q, k, v, causal=2), q=q, k=k, v=v)
    case("attention(q, k, v) {causal=1, causal_offset=-2}", plain(q, k, v, causal=-2), q=q, k=k, v=v)
    case("attention(q, k, v) {causal=1, causal_offset=2, window=3}", plain(q, k, v, causal=2, window=3), q=q, k=k, v=v)
    case("attention(q, k, v) {causal=1, causal_offset=5, window=4}", plain(q, k, v, causal=5, window=4), q=q, k=k, v=v)
    case("attention(q, k, v) {causal=1, window=2, hidden=-5}", plain(q, k, v, causal=0, window=2, hidden=-5), q=q, k=k, v=v)
    for zero in [False, True]:
        allowed = np.array([[1, 0, 1, 0, 1, 1], [0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1]], bool)
        case("attention(q, k, v, m)" + (' {empty_rows="zero"}' if zero else ""), plain(q, k, v, allowed, zero=zero),
             q=q, k=k, v=v, m=allowed)
    case("attention(q, k, v, m) {hidden=-5, causal=1}", plain(q, k, v, allowed, causal=0, hidden=-5), q=q, k=k, v=v, m=allowed)
    added = f32(2, 1, 1, 6)
    added[1, 0, 0, 2] = -np.inf
    case("attention(q, k, v, m)", plain(q, k, v, added), q=q, k=k, v=v, m=added)
    case("attention(q, k, v)", plain(q[0, 0], k[0, 0], v[0, 0]), q=q[0, 0], k=k[0, 0], v=v[0, 0])


def movement():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    case("transpose(x)", x.T, x=x)
    case("transpose(x) {perm=[1, 0, 2]}", x.transpose(1, 0, 2), x=x)
    case("reshape(x) {shape=[4, 6]}", x.reshape(4, 6), x=x)
    case("reshape(x) {shape=[]}", np.float32(3), x=np.array([[3]], np.float32))
    e = np.arange(3, dtype=np.int64).reshape(3, 1)
    case("expand(x) {shape=[2, 3, 2]}", np.broadcast_to(e, (2, 3, 2)), x=e)
    case("slice(x) {starts=[0, 2, 3], ends=[2, -1, 0], steps=[1, -1, -2]}", x[:, ::-1, 3:0:-2], x=x)
    case("slice(x) {starts=[1, 0, 1], ends=[2, 3, 3]}", x[1:2, :, 1:3], x=x)
    case("concat(x, z, x) {axis=1}", np.concatenate([x, x[:, :1], x], 1), x=x, z=x[:, :1])
    flags = np.array([True, False])
    case("concat(x) {axis=-1}", flags, x=flags)
    for mode in ["constant", "reflect", "edge", "wrap"]:
        kw = {"constant_values": 9} if mode == "constant" else {}
        case(f'pad(x) {{pads=[0, 1, 2, 1, 0, 3], mode="{mode}"' + (", value=9}" if kw else "}"),
             np.pad(x, [(0, 1), (1, 0), (2, 3)], mode=mode, **kw), x=x)
    case("pad(x) {pads=[0, -1, 1, 0, 0, -2]}", np.pad(x[:, 1:, :2], [(0, 0), (0, 0), (1, 0)]), x=x)
    case("tile(x) {repeats=[2, 1, 3]}", np.tile(x, (2, 1, 3)), x=x)
    i = np.array([[0, -1], [2, 1]], np.int64)
    case("gather(x, i) {axis=1}", np.take(x, i, 1), x=x, i=i)
    case("gather(x, i)", x[1], x=x, i=np.array(1, np.int32))
    j = np.array([[2, 0], [-1, 1]], np.int64)
    y = np.arange(6, dtype=np.float32).reshape(2, 3)
    case("gather_elements(x, i) {axis=1}", np.take_along_axis(y, j % 3, 1), x=y, i=j)
    scatters()
    case('one_hot(x) {depth=3, on_value=2, off_value=-1}', np.array([[2, -1, -1], [-1, -1, 2], [-1, -1, -1]], np.float32),
         x=np.array([0, -1, 5], np.int64))
    case('one_hot(x) {depth=2, axis=0, to="i64"}', np.array([[1, 0], [0, 1]], np.int64), x=np.array([0, 1], np.int64))
    case('range() {start=1, limit=2.1, delta=0.5, to="f32"}', np.array([1, 1.5, 2], np.float32))
    case('range() {start=5, limit=0, delta=-2, to="i64"}', np.array([5, 3, 1], np.int64))
    case('alloc() {shape=[2], type="i64"}', np.zeros(2, np.int64))


def scattered(x, indices, updates, axis, depth, combine):
    """Returns the result of a scatter. Applies updates in order and ignores those out of range."""
    shape = x.shape[:axis] + (-1,) + x.shape[axis + depth:]
    y = x.copy().reshape(shape)
    positions = np.broadcast_to(indices, updates.shape)
    for at in np.ndindex(updates.shape):
        position = int(positions[at])
        if -y.shape[axis] <= position < y.shape[axis]:
            to = at[:axis] + (position,) + at[axis + 1:]
            y[to] = combine(y[to], updates[at])
    return y.reshape(x.shape)


def scatters():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    i = np.array([[[2], [0], [-1], [7]]], np.int64)
    u = -np.arange(1, 33, dtype=np.float32).reshape(2, 4, 4)
    combine = {"none": lambda a, b: b, "add": lambda a, b: a + b, "mul": lambda a, b: a * b,
               "min": min, "max": max}
    for name, function in combine.items():
        case(f'scatter(x, i, u) {{axis=1, reduction="{name}"}}', scattered(x, i, u, 1, 1, function),
             x=x, i=i, u=u)
    pairs = np.array([[3], [5], [3]], np.int32)
    rows = np.arange(100, 112, dtype=np.float32).reshape(3, 4)
    case("scatter(x, i, u) {depth=2}", scattered(x, pairs, rows, 0, 2, combine["none"]),
         x=x, i=pairs, u=rows)
    each = np.array([[2, 0], [1, 1]], np.int64)
    small = np.array([[9, 8], [7, 6]], np.int64)
    y = np.arange(9, dtype=np.int64).reshape(3, 3)
    for name in ("none", "max"):
        case(f'scatter(x, i, u) {{reduction="{name}"}}',
             scattered(y, each, small, 0, 1, combine[name]), x=y, i=each, u=small)
        case(f'scatter(x, i, u) {{axis=-1, reduction="{name}"}}',
             scattered(y, each, small, 1, 1, combine[name]), x=y, i=each, u=small)
    flags = np.array([True, False, True])
    case("scatter(x, i, u)", np.array([False, False, True]), x=flags, i=np.array([0], np.int64),
         u=np.array([False]))


def resize():
    x = f32(1, 2, 4, 3)
    for mode in ["nearest", "linear", "cubic"]:
        for coordinate in ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric"]:
            for shape in ([1, 2, 7, 5], [1, 2, 2, 1]):
                if coordinate == "pytorch_half_pixel" and shape[3] == 1:
                    continue  # the evaluator uses coordinate -0.5 where the standard uses 0
                if coordinate == "align_corners" and shape[3] == 1:
                    continue  # the evaluator divides by zero
                y = onnx_run("Resize", [x, None, None, np.array(shape, np.int64)], opset=19, mode=mode,
                             coordinate_transformation_mode=coordinate)
                case(f'resize(x) {{shape={shape}, mode="{mode}", coordinate="{coordinate}"}}', y.astype(np.float32), x=x)
    for nearest in ["floor", "ceil", "round_prefer_ceil"]:
        y = onnx_run("Resize", [x, None, np.array([1, 1, 1.7, 2.4], np.float32)], mode="nearest",
                     nearest_mode=nearest, coordinate_transformation_mode="asymmetric")
        case(f'resize(x) {{scales=[1, 1, {float(np.float32(1.7))}, {float(np.float32(2.4))}], nearest_mode="{nearest}", coordinate="asymmetric"}}', y, x=x)
    y = onnx_run("Resize", [x, None, None, np.array([1, 2, 6, 6], np.int64)], mode="cubic", exclude_outside=1, cubic_coeff_a=-0.5)
    case('resize(x) {shape=[1, 2, 6, 6], mode="cubic", exclude_outside=1, cubic_a=-0.5}', y.astype(np.float32), x=x)


print("# Written by make_reference_cases.py; every graph's first output must equal its second.")
with np.errstate(all="ignore"):
    unary(); binary(); contractions(); reductions(); norms(); movement(); resize(); attention(); rotary()
