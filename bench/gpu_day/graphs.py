"""Makes the models that first.py runs: real networks, single operators, and the small networks of
tests/networks, which have stored outputs of PyTorch.

All models are graphs of tests/networks/make_networks.py with seeded weights, so that only their
description must be transferred.
"""
import sys

from day import CARRIED, ROOT

NETWORKS = ROOT / "tests/networks"
sys.path.insert(0, str(NETWORKS))
from make_networks import Network, bert, conv, gpt, layer_norm, mixer, mobilenet_v2, resnet, small, unet  # noqa: E402

SEED = 7  # seed of weights, as in tests/networks


def product(name, size):
    n = Network(name)
    n.output(n.op("matmul", n.input("a", [size, size]), n.input("b", [size, size]), name="c"), "y")
    return n


def gelu_layer(name, rows, k, columns):
    n = Network(name)
    x = n.op("matmul", n.input("x", [rows, k]), n.weight("w", [k, columns], -0.06, 0.06), name="product")
    x = n.op("add", x, n.weight("b", [columns], -0.1, 0.1), name="sum")
    n.output(n.op("gelu", x, name="gelu", approximate="none"), "y")
    return n


def heads(name, count, length, dim):
    """Returns attention without projections."""
    n = Network(name)
    q, k, v = (n.input(x, [count, length, dim]) for x in "qkv")
    scores = n.op("matmul", q, n.op("transpose", k, name="k_t", perm=[0, 2, 1]), name="scores")
    scores = n.op("mul", scores, n.constant("scale", "f32", [], dim ** -0.5), name="scaled")
    n.output(n.op("matmul", n.op("softmax", scores, name="softmax", axis=-1), v, name="mix"), "y")
    return n


def softmax_rows(name, rows, length):
    n = Network(name)
    n.output(n.op("softmax", n.input("x", [rows, length]), name="softmax", axis=-1), "y")
    return n


def norm_rows(name, rows, length):
    n = Network(name)
    n.output(layer_norm(n, n.input("x", [rows, length]), "norm", length), "y")
    return n


def chain(name, rows, length):
    """Returns five operators over two inputs."""
    n = Network(name)
    x, y = n.input("x", [rows, length]), n.input("y", [rows, length])
    x = n.op("relu", n.op("add", n.op("mul", x, y, name="xy"), x, name="sum"), name="relu")
    n.output(n.op("sub", n.op("mul", x, n.constant("half", "f32", [], 0.5), name="halved"), y, name="rest"), "out")
    return n


def convolution(name, channels, size):
    n = Network(name)
    n.output(conv(n, n.input("x", [1, channels, size, size]), "conv", channels, channels, 3), "y")
    return n


def operators():
    """Returns networks in the sizes of bench/peers/networks/table.py, with the same names."""
    return [product("matmul_512", 512), product("matmul_2048", 2048), gelu_layer("matmul_bias_gelu", 128, 768, 3072),
            heads("attention", 12, 512, 64), softmax_rows("softmax_4096", 4096, 4096),
            norm_rows("layernorm_4096", 4096, 4096), chain("elementwise5", 4096, 4096),
            convolution("conv3x3", 64, 56)]


def networks():
    return [bert("bert_base", 12, 768, 12, 128, 30522), gpt("gpt2_small", 12, 768, 12, 128, 50257),
            resnet("resnet50", 224, (3, 4, 6, 3), True), resnet("resnet18", 224, (2, 2, 2, 2), False),
            mobilenet_v2("mobilenet_v2", 224), unet("unet_small", 256),
            mixer("mixer_s_16", 224, 16, 512, 8, 256, 2048, 1000)]


def small_operators():
    """Returns small networks for a dry run."""
    return [product("matmul_64", 64), heads("attention_64", 2, 64, 32), norm_rows("layernorm_64", 64, 64)]


def small_networks():
    """Returns the networks of tests/networks."""
    return small()


def file_of(network):
    """Returns the path of the network's .graph, and writes the file if missing."""
    known = NETWORKS / f"{network.name}.graph"
    path = CARRIED / "models" / f"{network.name}.graph"
    if known.is_file():
        return known
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(network.text())
    return path


def stored_outputs(network):
    """Returns the file of outputs in the repository, or None."""
    path = NETWORKS / f"{network.name}.npz"
    return path if path.is_file() else None
