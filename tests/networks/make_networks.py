#!/usr/bin/env python3
"""Writes the networks of examples/ and tests/networks/ as .graph text.

    python3 make_networks.py            # rewrites all files, which are in the repository
    python3 make_networks.py --check    # exit code 1 if a file differs from the script's output

The architectures are real. The weights are distributions (`init=`), drawn from the seed of
`--random-weights SEED` (docs/reference/graph_format.md), so that the files stay small. The scales
keep activations at a normal magnitude through the depth of the network. Huge or vanished values
would hide a wrong result. The folder examples/ has full sizes. The folder tests/networks/ has
smaller sizes, because the reference execution is slow. The script expected_outputs.py makes the
expected outputs. Needs only the standard library.
"""
import argparse
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "examples")


def text_of(value):
    """Returns an attribute or element in the form of .graph text."""
    if isinstance(value, str):
        return '"' + value + '"'
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(text_of, value)) + "]"
    return repr(value)


class Network:
    """A graph as a list of lines ("input" | "weight" | "constant" | "op" | "output", name, ...)."""

    def __init__(self, name):
        self.name, self.lines, self.shapes, self.used = name, [], {}, set()

    def unique(self, name):
        candidate, count = name, 0
        while candidate in self.used:
            count += 1
            candidate = f"{name}_{count}"
        self.used.add(candidate)
        return candidate

    def input(self, name, shape, kind="f32"):
        self.lines.append(("input", self.unique(name), kind, shape))
        return name

    def weight(self, name, shape, low, high):
        name = self.unique(name)
        self.lines.append(("weight", name, "f32", shape, (low, high)))
        return name

    def constant(self, name, kind, shape, values):
        name = self.unique(name)
        self.lines.append(("constant", name, kind, shape, values))
        return name

    def op(self, op, *operands, name=None, **attributes):
        name = self.unique(name or op)
        self.lines.append(("op", name, op, operands, attributes))
        return name

    def output(self, value, name):
        self.lines.append(("output", name, value))

    def text(self):
        out = [f"graph {self.name} {{"]
        for kind, name, *rest in self.lines:
            if kind == "output":
                out.append(f"  output {name}" + ("" if rest[0] == name else f" = {rest[0]}"))
                continue
            if kind == "op":
                op, operands, attributes = rest
                listed = ", ".join(f"{k}={text_of(v)}" for k, v in sorted(attributes.items()))
                out.append(f"  {name} = {op}({', '.join(operands)})" + (f" {{{listed}}}" if listed else ""))
                continue
            typed = f"  {kind} {name}: {rest[0]}[{', '.join(map(str, rest[1]))}]"
            if kind == "weight":
                typed += f" init=uniform({rest[2][0]!r}, {rest[2][1]!r})"
            if kind == "constant":
                typed += " = " + text_of(rest[2])
            out.append(typed)
        return "\n".join(out + ["}"]) + "\n"


# --------------------------------------------------------------------------
# Layers


def bound(fan_in, gain):
    """Returns half the width of the uniform distribution with variance gain / fan_in, rounded to
    six digits."""
    return float(f"{math.sqrt(3 * gain / fan_in):.6g}")


def conv(n, x, name, cin, cout, k, stride=1, groups=1, bias=False, gain=2):
    a = bound(cin // groups * k * k, gain)
    operands = [x, n.weight(name + "_w", [cout, cin // groups, k, k], -a, a)]
    if bias:
        operands.append(n.weight(name + "_b", [cout], -0.1, 0.1))
    pads = k // 2 if stride < k else 0
    return n.op("conv", *operands, name=name, strides=[stride, stride], pads=[pads] * 4, group=groups)


def norm(n, x, name, channels, scale=1.0):
    parameters = [(scale * 0.8, scale * 1.2), (-0.1, 0.1), (-0.1, 0.1), (0.8, 1.2)]
    names = [n.weight(f"{name}_{part}", [channels], round(low, 6), round(high, 6))
             for part, (low, high) in zip(("scale", "bias", "mean", "variance"), parameters)]
    return n.op("batch_norm", x, *names, name=name, epsilon=1e-5)


def conv_norm(n, x, name, cin, cout, k, stride=1, groups=1, act="relu", scale=1.0):
    x = norm(n, conv(n, x, name, cin, cout, k, stride, groups), name + "_bn", cout, scale)
    if act == "relu":
        return n.op("relu", x, name=name + "_relu")
    if act == "relu6":
        return n.op("clip", x, name=name + "_relu6", min=0, max=6)
    return x


def linear(n, x, name, k, m, gain=1):
    a = bound(k, gain)
    y = n.op("matmul", x, n.weight(name + "_w", [k, m], -a, a), name=name + "_matmul")
    return n.op("add", y, n.weight(name + "_b", [m], -0.1, 0.1), name=name)


def layer_norm(n, x, name, dim, epsilon=1e-5):
    return n.op("layer_norm", x, n.weight(name + "_scale", [dim], 0.8, 1.2),
                n.weight(name + "_bias", [dim], -0.1, 0.1), name=name, axis=-1, epsilon=epsilon)


def classifier(n, x, channels, classes):
    x = n.op("reduce_mean", x, name="pool", axes=[2, 3], keepdims=1)
    x = n.op("reshape", x, name="flat", shape=[1, channels])
    n.output(linear(n, x, "logits", channels, classes), "y")


# --------------------------------------------------------------------------
# Convolutional networks


def resnet(name, size, depths, bottleneck, classes=1000):
    n = Network(name)
    x = conv_norm(n, n.input("x", [1, 3, size, size]), "stem", 3, 64, 7, 2)
    x = n.op("max_pool", x, name="stem_pool", kernel=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    cin = 64
    for i, depth in enumerate(depths):
        for j in range(depth):
            width, stride, p = 64 << i, 2 if i and j == 0 else 1, f"s{i}b{j}"
            cout = width * (4 if bottleneck else 1)
            if bottleneck:
                y = conv_norm(n, x, p + "_a", cin, width, 1)
                y = conv_norm(n, y, p + "_b", width, width, 3, stride)
                y = conv_norm(n, y, p + "_c", width, cout, 1, act=None, scale=0.3)
            else:
                y = conv_norm(n, x, p + "_a", cin, width, 3, stride)
                y = conv_norm(n, y, p + "_b", width, cout, 3, act=None, scale=0.3)
            if stride != 1 or cin != cout:
                x = conv_norm(n, x, p + "_skip", cin, cout, 1, stride, act=None, scale=0.7)
            x = n.op("relu", n.op("add", y, x, name=p + "_sum"), name=p + "_relu")
            cin = cout
    classifier(n, x, cin, classes)
    return n


def mobilenet_v2(name, size, classes=1000):
    n = Network(name)
    x, cin, block = conv_norm(n, n.input("x", [1, 3, size, size]), "stem", 3, 32, 3, 2, act="relu6"), 32, 0
    for expand, cout, repeats, first_stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                                (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for i in range(repeats):
            stride, hidden, p = first_stride if i == 0 else 1, cin * expand, f"b{block}"
            y = x if expand == 1 else conv_norm(n, x, p + "_expand", cin, hidden, 1, act="relu6")
            y = conv_norm(n, y, p + "_depthwise", hidden, hidden, 3, stride, groups=hidden, act="relu6")
            residual = stride == 1 and cin == cout
            y = conv_norm(n, y, p + "_project", hidden, cout, 1, act=None, scale=0.4 if residual else 1.0)
            x = n.op("add", x, y, name=p + "_sum") if residual else y
            cin, block = cout, block + 1
    classifier(n, conv_norm(n, x, "head", cin, 1280, 1, act="relu6"), 1280, classes)
    return n


def unet(name, size, widths=(16, 32, 64, 128), classes=2):
    n = Network(name)

    def double(x, p, cin, cout):
        return conv_norm(n, conv_norm(n, x, p + "_a", cin, cout, 3), p + "_b", cout, cout, 3)
    x, cin, skips = n.input("x", [1, 3, size, size]), 3, []
    for i, width in enumerate(widths):
        if i:
            x = n.op("max_pool", x, name=f"down{i}_pool", kernel=[2, 2], strides=[2, 2])
        x = double(x, f"down{i}", cin, width)
        skips.append(x)
        cin = width
    for i, (wide, narrow) in enumerate(zip(widths[::-1], widths[-2::-1])):
        a = bound(wide, 1)
        x = n.op("conv_transpose", x, n.weight(f"up{i}_w", [wide, narrow, 2, 2], -a, a),
                 n.weight(f"up{i}_b", [narrow], -0.1, 0.1), name=f"up{i}", strides=[2, 2])
        x = n.op("concat", skips[-2 - i], x, name=f"up{i}_concat", axis=1)
        x = double(x, f"merge{i}", 2 * narrow, narrow)
    n.output(conv(n, x, "head", widths[0], classes, 1, bias=True, gain=1), "y")
    return n


# --------------------------------------------------------------------------
# Transformers and perceptrons


def attention(n, x, p, seq, dim, heads, mask=None):
    def split(part, perm):
        y = n.op("reshape", linear(n, x, f"{p}_{part}", dim, dim), name=f"{p}_{part}_heads",
                 shape=[1, seq, heads, dim // heads])
        return n.op("transpose", y, name=f"{p}_{part}_t", perm=perm)
    q, k, v = split("q", [0, 2, 1, 3]), split("k", [0, 2, 3, 1]), split("v", [0, 2, 1, 3])
    scale = n.constant(p + "_scale", "f32", [], float(f"{(dim // heads) ** -0.5:.8g}"))
    scores = n.op("mul", n.op("matmul", q, k, name=p + "_scores"), scale, name=p + "_scaled")
    if mask:
        scores = n.op("where", mask[0], scores, mask[1], name=p + "_masked")
    y = n.op("matmul", n.op("softmax", scores, name=p + "_softmax", axis=-1), v, name=p + "_mix")
    y = n.op("transpose", y, name=p + "_mix_t", perm=[0, 2, 1, 3])
    y = n.op("reshape", y, name=p + "_merged", shape=[1, seq, dim])
    return linear(n, y, p + "_out", dim, dim)


def feed_forward(n, x, p, dim, hidden, approximate="none"):
    y = linear(n, x, p + "_up", dim, hidden, gain=2)
    return linear(n, n.op("gelu", y, name=p + "_gelu", approximate=approximate), p + "_down", hidden, dim)


def embed(n, ids, name, rows, dim):
    return n.op("gather", n.weight(name + "_table", [rows, dim], -0.9, 0.9), ids, name=name, axis=0)


def bert(name, layers, dim, heads, seq, vocab):
    n = Network(name)
    ids, kinds = n.input("ids", [1, seq], "i64"), n.input("token_types", [1, seq], "i64")
    x = n.op("add", embed(n, ids, "word", vocab, dim), n.weight("position", [seq, dim], -0.9, 0.9),
             name="placed")
    x = n.op("add", x, embed(n, kinds, "kind", 2, dim), name="embedded")
    x = layer_norm(n, x, "embedded_ln", dim, 1e-12)
    for i in range(layers):
        y = n.op("add", x, attention(n, x, f"l{i}", seq, dim, heads), name=f"l{i}_sum1")
        x = layer_norm(n, y, f"l{i}_ln1", dim, 1e-12)
        y = n.op("add", x, feed_forward(n, x, f"l{i}", dim, 4 * dim), name=f"l{i}_sum2")
        x = layer_norm(n, y, f"l{i}_ln2", dim, 1e-12)
    n.output(x, "sequence")
    first = n.op("slice", x, name="first", starts=[0, 0, 0], ends=[1, 1, dim])
    pooled = linear(n, n.op("reshape", first, name="first_row", shape=[1, dim]), "pooler", dim, dim)
    n.output(n.op("tanh", pooled, name="pooled_tanh"), "pooled")
    return n


def causal_mask(n, seq):
    """Returns a mask that is true for row >= column, and the score of hidden elements. The mask is
    made of two ranges and folded during compilation."""
    row = n.op("range", name="row", start=0, limit=seq, delta=1, to="i64")
    column = n.op("reshape", row, name="column", shape=[seq, 1])
    mask = n.op("ge", column, row, name="causal")
    return mask, n.constant("masked_score", "f32", [], -1e30)


def gpt(name, layers, dim, heads, seq, vocab):
    n = Network(name)
    ids = n.input("ids", [1, seq], "i64")
    x = embed(n, ids, "word", vocab, dim)
    x = n.op("add", x, n.weight("position", [seq, dim], -0.5, 0.5), name="embedded")
    mask = causal_mask(n, seq)
    for i in range(layers):
        y = attention(n, layer_norm(n, x, f"l{i}_ln1", dim), f"l{i}", seq, dim, heads, mask)
        x = n.op("add", x, y, name=f"l{i}_sum1")
        y = feed_forward(n, layer_norm(n, x, f"l{i}_ln2", dim), f"l{i}", dim, 4 * dim, "tanh")
        x = n.op("add", x, y, name=f"l{i}_sum2")
    x = layer_norm(n, x, "final_ln", dim)
    n.output(n.op("matmul", x, "word_table", name="tied", transpose_b=1), "logits")
    return n


def mixer(name, size, patch, dim, layers, token_hidden, channel_hidden, classes):
    n, tokens = Network(name), (size // patch) ** 2
    x = conv(n, n.input("x", [1, 3, size, size]), "patch", 3, dim, patch, patch, bias=True, gain=1)
    x = n.op("reshape", x, name="patches", shape=[1, dim, tokens])
    x = n.op("transpose", x, name="tokens", perm=[0, 2, 1])
    for i in range(layers):
        y = n.op("transpose", layer_norm(n, x, f"l{i}_ln1", dim), name=f"l{i}_t", perm=[0, 2, 1])
        y = feed_forward(n, y, f"l{i}_token", tokens, token_hidden)
        x = n.op("add", x, n.op("transpose", y, name=f"l{i}_tt", perm=[0, 2, 1]), name=f"l{i}_sum1")
        y = feed_forward(n, layer_norm(n, x, f"l{i}_ln2", dim), f"l{i}_channel", dim, channel_hidden)
        x = n.op("add", x, y, name=f"l{i}_sum2")
    x = n.op("reduce_mean", layer_norm(n, x, "final_ln", dim), name="mean", axes=[1], keepdims=0)
    n.output(linear(n, x, "logits", dim, classes), "y")
    return n


def mlp(name, batch, sizes):
    n = Network(name)
    x = n.input("x", [batch, sizes[0]])
    for i, (k, m) in enumerate(zip(sizes, sizes[1:])):
        last = i + 2 == len(sizes)
        x = linear(n, x, f"fc{i}", k, m, gain=1 if last else 2)
        x = x if last else n.op("relu", x, name=f"fc{i}_relu")
    n.output(x, "y")
    return n


def examples():
    return [resnet("resnet50", 224, (3, 4, 6, 3), True), resnet("resnet18", 224, (2, 2, 2, 2), False),
            mobilenet_v2("mobilenet_v2", 224), unet("unet_small", 256),
            bert("transformer_encoder", 4, 256, 4, 128, 4000), mlp("mlp", 64, (1024, 4096, 4096, 1024))]


def small():
    """Returns the test networks. They have all operators of the large networks. The reference runs
    them in seconds."""
    return [resnet("resnet18_64", 64, (2, 2, 2, 2), False), mobilenet_v2("mobilenet_v2_64", 64),
            unet("unet_48", 48, (8, 16, 32)), bert("bert_2x32", 2, 128, 4, 32, 500),
            gpt("gpt_2x32", 2, 128, 4, 32, 400), mixer("mixer_48", 48, 16, 64, 2, 32, 128, 100)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    args = parser.parse_args()
    stale = []
    for folder, networks in ((EXAMPLES, examples()), (HERE, small())):
        for network in networks:
            path = os.path.join(folder, network.name + ".graph")
            if args.check:
                with open(path) as file:
                    stale += [path] if file.read() != network.text() else []
            else:
                with open(path, "w") as file:
                    file.write(network.text())
    for path in stale:
        print(f"{path} is not what make_networks.py writes", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
