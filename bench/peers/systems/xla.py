"""The peer that runs single operators in XLA, through jax."""
import os
import re

import numpy as np

from .peer import Peer


def jax_function(name, params):
    """Returns the model `name` as a jax function of its inputs, or None if the model is not written
    here. `params` are the parameters of the torch module."""
    import jax
    import jax.numpy as jnp
    p = [jnp.asarray(t.detach().numpy()) for t in params]

    def conv(x, w, groups=1):
        pad = [(k // 2, k // 2) for k in w.shape[2:]]
        return jax.lax.conv_general_dilated(x, w, (1, 1), pad, feature_group_count=groups)

    def layernorm(x):
        mean = x.mean(-1, keepdims=True)
        var = ((x - mean) ** 2).mean(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(var + 1e-5) * p[0] + p[1]

    def attention(q, k, v):
        s = q @ jnp.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5
        return jax.nn.softmax(s, -1) @ v

    if re.fullmatch(r"matmul_\d+", name):
        return jnp.matmul
    return {
        "matmul_bias_gelu": lambda x: jax.nn.gelu(x @ p[0] + p[1], approximate=False),
        "mlp3": lambda x: jax.nn.relu(jax.nn.relu(x @ p[0].T + p[1]) @ p[2].T + p[3]) @ p[4].T + p[5],
        "conv3x3": lambda x: conv(x, p[0]),
        "conv1x1": lambda x: conv(x, p[0]),
        "depthwise3x3": lambda x: conv(x, p[0], x.shape[1]),
        "softmax_heads": lambda x: jax.nn.softmax(x, -1),
        "softmax_4096": lambda x: jax.nn.softmax(x, -1),
        "layernorm_768": layernorm,
        "layernorm_4096": layernorm,
        "elementwise5": lambda x, y: jax.nn.relu(x * y + x) * 0.5 - y,
        "gelu_tanh": lambda x: 0.5 * x * (1 + jnp.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * (x * x * x)))),
        "attention": attention,
        "nchw_to_nhwc": lambda x: jnp.transpose(x, (0, 2, 3, 1)),
    }.get(name)


class Jax(Peer):
    """XLA's CPU compiler through jax.jit, for the models of jax_function()."""

    def load(self, path, inputs, outputs):
        os.environ["JAX_PLATFORMS"] = "cpu"
        import jax

        from networks.seeded import build
        name = os.path.splitext(os.path.basename(path))[0]
        fn = jax_function(name, build(name)[0].parameters())
        if fn is None:
            raise NotImplementedError("not written as a jax function")
        self.xs = [jax.device_put(x) for x in inputs.values()]
        self.fn = jax.jit(fn).lower(*self.xs).compile()

    def run(self):
        self.y = self.fn(*self.xs)
        self.y.block_until_ready()

    def results(self):
        return [np.asarray(self.y)]

    def version(self):
        return __import__("jax").__version__
