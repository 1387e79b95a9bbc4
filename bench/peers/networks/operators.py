"""Modules and functions for single operators and for fusion patterns, such as attention."""
import math

import torch
import torch.nn.functional as F
from torch import nn


class Fn(nn.Module):
    """A parameterless function as a module."""

    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, *xs):
        return self.fn(*xs)


class LinearGelu(nn.Module):
    """x @ w + b, then exact GELU, the weight stored [in, out]."""

    def __init__(self, k, n):
        super().__init__()
        self.w, self.b = nn.Parameter(torch.zeros(k, n)), nn.Parameter(torch.zeros(n))

    def forward(self, x):
        return F.gelu(x @ self.w + self.b)


def chain5(x, y):
    """Five elementwise operators over two inputs: mul, add, relu, mul, sub."""
    return torch.relu(x * y + x) * 0.5 - y


def gelu_tanh(x):
    """Tanh GELU written out as primitive operators."""
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * (x * x * x))))


def attention(q, k, v):
    """Scaled dot-product attention written out, of operands [heads, seq, dim]."""
    return torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]), -1) @ v


def causal_attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)
