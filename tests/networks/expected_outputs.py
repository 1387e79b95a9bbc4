#!/usr/bin/env python3
"""Computes with PyTorch the expected outputs of the networks of tests/networks/.

    python3 expected_outputs.py          # rewrites NAME.npz for each NAME.graph

Each .npz has the network's inputs and outputs by name. Weights come from seed SEED, by the rule of
support/random.h and graph/text/weights.h, repeated here in numpy bit for bit. Every operator is
torch's, in float64, so the expected values have no rounding except the final one to float32. Needs
numpy and torch. The tests need neither.
"""
import os

import numpy as np
import torch
import torch.nn.functional as F

from make_networks import HERE, small

SEED = 7
GAMMA, MASK = 0x9E3779B97F4A7C15, (1 << 64) - 1


def mix(z):
    z = np.atleast_1d(np.asarray(z, np.uint64))  # arrays wrap around silently, scalars warn
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def stream(seed, name, count):
    """Returns the first `count` numbers of the random stream of seed and name, as uint64."""
    state = 0xCBF29CE484222325
    for byte in name.encode():
        state = (state ^ byte) * 0x100000001B3 & MASK
    start = mix(np.uint64(state) ^ mix(seed))
    return mix(start + np.uint64(GAMMA) * np.arange(1, count + 1, dtype=np.uint64))


def uniform(seed, name, shape, low, high):
    unit = (stream(seed, name, int(np.prod(shape))) >> np.uint64(40)).astype(np.float64) * 2.0 ** -24
    return (low + (high - low) * unit).astype(np.float32).reshape(shape)


TYPES = {"f32": torch.float64, "i64": torch.int64}


def normalize(x, mean, variance, scale, bias, epsilon):
    view = (1, -1) + (1,) * (x.dim() - 2)
    mean, variance, scale, bias = (t.view(view) for t in (mean, variance, scale, bias))
    return (x - mean) / torch.sqrt(variance + epsilon) * scale + bias


def begins(pads):
    """Returns the pads at the beginning. torch pads both ends equally, as the networks do."""
    half = len(pads) // 2
    assert pads[:half] == pads[half:]
    return pads[:half]


OPS = {
    "conv": lambda x, w, b=None, strides=1, pads=(), group=1: F.conv2d(x, w, b, strides, begins(pads), 1, group),
    "conv_transpose": lambda x, w, b, strides: F.conv_transpose2d(x, w, b, strides),
    "max_pool": lambda x, kernel, strides, pads=(0, 0, 0, 0): F.max_pool2d(x, kernel, strides, begins(pads)),
    "batch_norm": lambda x, s, b, m, v, epsilon: normalize(x, m, v, s, b, epsilon),
    "layer_norm": lambda x, s, b, axis, epsilon: F.layer_norm(x, x.shape[-1:], s, b, epsilon),
    "matmul": lambda a, b, transpose_b=0: a @ (b.transpose(-1, -2) if transpose_b else b),
    "relu": torch.relu, "tanh": torch.tanh, "add": torch.add, "sub": torch.sub, "mul": torch.mul, "ge": torch.ge,
    "where": torch.where,
    "clip": lambda x, min, max: x.clamp(min, max),
    "gelu": lambda x, approximate: F.gelu(x, approximate=approximate),
    "softmax": lambda x, axis: torch.softmax(x, axis),
    "reduce_mean": lambda x, axes, keepdims: x.mean(axes, keepdim=bool(keepdims)),
    "reshape": lambda x, shape: x.reshape(shape),
    "transpose": lambda x, perm: x.permute(perm),
    "concat": lambda *xs, axis: torch.cat(xs, axis),
    "gather": lambda table, ids, axis: torch.embedding(table, ids),
    "slice": lambda x, starts, ends: x[tuple(map(slice, starts, ends))],
    "range": lambda start, limit, delta, to: torch.arange(start, limit, delta),
}


def make_input(network, name, kind, shape):
    if kind == "f32":
        return uniform(SEED, "input " + name, shape, -1.5, 1.5)
    rows = {"ids": "word_table", "token_types": "kind_table"}[name]
    limit = next(line[3][0] for line in network.lines if line[1] == rows)
    bits = stream(SEED, "input " + name, int(np.prod(shape)))
    return (bits >> np.uint64(33)).astype(np.int64).reshape(shape) % limit


def run(network):
    """Runs the network with random inputs. Returns inputs and outputs by name, as numpy arrays."""
    values, arrays = {}, {}
    for kind, name, *rest in network.lines:
        if kind == "input":
            arrays[name] = make_input(network, name, *rest)
            values[name] = torch.from_numpy(arrays[name]).to(TYPES[rest[0]])
        elif kind == "weight":
            values[name] = torch.from_numpy(uniform(SEED, name, rest[1], *rest[2])).double()
        elif kind == "constant":
            values[name] = torch.tensor(np.float32(rest[2]), dtype=TYPES[rest[0]]).reshape(rest[1])
        elif kind == "op":
            op, operands, attributes = rest
            values[name] = OPS[op](*(values[operand] for operand in operands), **attributes)
        else:
            arrays[name] = values[rest[0]].float().numpy()
    return arrays


def main():
    for network in small():
        arrays = run(network)
        path = os.path.join(HERE, network.name + ".npz")
        np.savez(path, **arrays)
        print(f"{network.name:18} {os.path.getsize(path):7} bytes", *(
            f"{name}: {list(a.shape)} {a.min():.3g}..{a.max():.3g}" for name, a in arrays.items()))


if __name__ == "__main__":
    main()
