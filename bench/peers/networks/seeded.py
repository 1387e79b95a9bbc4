"""Builds a model by name, with the same weights and inputs on every call."""
import zlib

import torch
from torch import nn

from .computed import Computed
from .operators import LinearGelu
from .table import MODELS, QUANTISED
from .transformers import ViTB16


def build(name):
    """Returns (module in eval mode, tuple of inputs), the same on every call."""
    if name in QUANTISED:
        raise NotImplementedError("a quantised model is no PyTorch module")
    make, inputs, _ = MODELS[name]
    torch.manual_seed(zlib.crc32(name.encode()))
    module, xs = make(), inputs()
    with torch.no_grad():
        for m in module.modules():
            if isinstance(m, (nn.Conv2d, nn.ConvTranspose2d, nn.Linear)):
                fan_in = m.weight[0].numel() if not isinstance(m, nn.ConvTranspose2d) else m.in_channels
                m.weight.normal_(0, fan_in ** -0.5)
                if m.bias is not None:
                    m.bias.normal_(0, 0.02)
            elif isinstance(m, nn.Embedding):
                m.weight.normal_(0, 0.5)
            elif isinstance(m, (nn.BatchNorm2d, nn.LayerNorm, nn.GroupNorm)):
                m.weight.uniform_(0.5, 1.5)
                m.bias.normal_(0, 0.1)
            elif isinstance(m, LinearGelu):
                m.w.normal_(0, m.w.shape[0] ** -0.5)
                m.b.normal_(0, 0.1)
            elif isinstance(m, ViTB16):
                m.cls.normal_(0, 0.5)
                m.pos.normal_(0, 0.5)
        norms = [m for m in module.modules() if isinstance(m, nn.BatchNorm2d)]
        if norms:
            for m in norms:
                m.momentum = 1.0  # use the statistics of this one batch
            module.train()
            module(*(torch.randn(4, *x.shape[1:]) for x in xs))
    if isinstance(module, Computed):
        module.body.to(module.dtype)
    for p in module.parameters():
        p.requires_grad_(False)
    return module.eval(), xs


def flops(name, module, xs):
    """Returns the number of floating-point operations of the matrix products and convolutions."""
    if MODELS[name][2] is not None:
        return MODELS[name][2]
    from torch.utils.flop_counter import FlopCounterMode
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        module(*xs)
    return counter.get_total_flops()


def is_float32(name):
    return name not in QUANTISED and not isinstance(MODELS[name][0](), Computed)
