"""Runs a network of graphs.py in PyTorch, with the same weights and torch's composite operators.

Eager torch gets the calls of a typical model: `F.linear` for a product and its bias,
`F.scaled_dot_product_attention` for attention. A value that depends on no input is computed once.
"""
from collections import Counter

import numpy as np
import torch
import torch.nn.functional as F

import graphs  # noqa: F401  adds tests/networks to the path
from expected_outputs import OPS, SEED, make_input, run, uniform

INTEGERS = {"i64": torch.int64}


def inputs_of(network):
    """Returns the inputs by name, in the network's order."""
    return {line[1]: make_input(network, line[1], *line[2:]) for line in network.lines if line[0] == "input"}


def write_expected(network, path):
    """Computes inputs and outputs of the network in float64, as in tests/networks. Writes them to
    `path` and returns them."""
    arrays = run(network)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **arrays)
    return arrays


class InTorch(torch.nn.Module):
    """The network as a function of its inputs."""

    def __init__(self, network, device, dtype=torch.float32):
        super().__init__()
        self.device, self.dtype = device, dtype
        self.names = [line[1] for line in network.lines if line[0] == "input"]
        self.outputs = [line[2] for line in network.lines if line[0] == "output"]
        self.known = {}  # values that depend on no input
        ops = {line[1]: line[2:] for line in network.lines if line[0] == "op"}
        for line in network.lines:
            self.add_constant(*line)
        for name, (op, operands, attributes) in ops.items():
            if all(operand in self.known for operand in operands):
                self.known[name] = OPS[op](*(self.known[x] for x in operands), **attributes).to(device)
        readers = Counter(x for _, operands, _ in ops.values() for x in operands)
        self.steps = Steps(ops, readers, self.known).joined()

    def add_constant(self, kind, name, *rest):
        if kind == "weight":
            array = torch.from_numpy(uniform(SEED, name, rest[1], *rest[2]))
            self.known[name] = array.to(self.device, self.dtype)
        elif kind == "constant":
            dtype = INTEGERS.get(rest[0], self.dtype)
            self.known[name] = torch.tensor(np.float32(rest[2]), dtype=dtype, device=self.device).reshape(rest[1])

    def forward(self, *inputs):
        values = dict(self.known)
        values.update(zip(self.names, inputs))
        for name, function, operands in self.steps:
            values[name] = function(*(values[operand] for operand in operands))
        return tuple(values[name] for name in self.outputs)


class Steps:
    """The steps of a network. Operators are joined into one step if torch has one function for
    them."""

    def __init__(self, ops, readers, known):
        self.ops = {name: op for name, op in ops.items() if name not in known}
        self.readers, self.known = readers, known

    def joined(self):
        steps, taken = [], set()
        for name in reversed(self.ops):
            if name in taken:
                continue
            step, inside = self.linear(name) or self.attention(name) or self.plain(name)
            taken |= inside
            steps.append((name, *step))
        return steps[::-1]

    def plain(self, name):
        op, operands, attributes = self.ops[name]
        return (lambda *xs: OPS[op](*xs, **attributes), operands), set()

    def only_read(self, name, kind):
        """Returns the operator that makes the value, or None if the operator has another kind or
        the value has several readers."""
        op = self.ops.get(name)
        return op if op is not None and op[0] == kind and self.readers[name] == 1 else None

    def linear(self, name):
        op, operands, _ = self.ops[name]
        product = self.only_read(operands[0], "matmul") if op == "add" else None
        if product is None or product[2] or not {operands[1], product[1][1]} <= self.known.keys():
            return None
        weight, bias = self.known[product[1][1]], self.known[operands[1]]
        if weight.dim() != 2 or bias.dim() != 1:
            return None
        return (lambda x: F.linear(x, weight.t(), bias), (product[1][0],)), {operands[0]}

    def attention(self, name):
        op, operands, _ = self.ops[name]
        softmax = self.only_read(operands[0], "softmax") if op == "matmul" else None
        if softmax is None or softmax[2]["axis"] != -1:
            return None
        inside, mask, value = {operands[0]}, None, softmax[1][0]
        if (chosen := self.only_read(value, "where")) is not None and chosen[1][0] in self.known:
            inside.add(value)
            mask, value = self.known[chosen[1][0]], chosen[1][1]
        scaled = self.only_read(value, "mul")
        scores = self.only_read(scaled[1][0], "matmul") if scaled is not None else None
        if scores is None or scores[2] or scaled[1][1] not in self.known:
            return None
        scale = float(self.known[scaled[1][1]])
        causal = mask is not None and bool(torch.equal(mask, torch.ones_like(mask).tril()))

        def attend(q, k, v):
            return F.scaled_dot_product_attention(q, k.transpose(-1, -2), v, None if causal else mask,
                                                  is_causal=causal, scale=scale)
        return (attend, (*scores[1], operands[1])), inside | {value, scaled[1][0]}
