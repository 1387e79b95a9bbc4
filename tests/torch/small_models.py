"""Small hand-written models, each with the features of real models of its kind."""
import torch
from torch import nn
from torch.nn import functional as F


class TinyModel(nn.Module):
    """A linear layer and a relu."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x):
        return torch.relu(self.linear(x))


class ResidualBlock(nn.Module):
    """A convolution and its normalisation, with the input added."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(16, 16, 3, padding=1)
        self.bn = nn.BatchNorm2d(16)

    def forward(self, x):
        return torch.relu(self.bn(self.conv(x)) + x)


class RmsNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(dim) + 0.5)

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


def rotated(x, cos, sin):
    """Returns x with rotary position embeddings of the two halves of the last axis."""
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin


class CachedAttention(nn.Module):
    """Grouped-query attention over a static cache that is written in place."""

    def __init__(self, dim, heads, groups, length, put):
        super().__init__()
        self.heads, self.groups, self.size, self.put = heads, groups, dim // heads, put
        self.q = nn.Linear(dim, dim, bias=False)
        self.k = nn.Linear(dim, groups * self.size, bias=False)
        self.v = nn.Linear(dim, groups * self.size, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)
        self.register_buffer("keys", torch.zeros(1, groups, length, self.size))
        self.register_buffer("values", torch.zeros(1, groups, length, self.size))

    def store(self, cache, at, new):
        if self.put == "index_copy":
            cache.index_copy_(2, at, new)
        else:
            cache[:, :, at] = new
        return cache

    def forward(self, x, at, cos, sin):
        b, s, d = x.shape
        q = rotated(self.q(x).view(b, s, self.heads, self.size).transpose(1, 2), cos, sin)
        k = rotated(self.k(x).view(b, s, self.groups, self.size).transpose(1, 2), cos, sin)
        v = self.v(x).view(b, s, self.groups, self.size).transpose(1, 2)
        k, v = self.store(self.keys, at, k), self.store(self.values, at, v)
        positions = torch.arange(k.shape[2])
        mask = positions[None, :] <= at[:, None]
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
        return self.out(y.transpose(1, 2).reshape(b, s, d))


class Decoder(nn.Module):
    """A decoder like Llama: RMS norms, rotary embeddings, grouped queries, SwiGLU, a static cache.
    """

    def __init__(self, vocab=97, dim=64, heads=4, groups=2, layers=2, length=24,
                 put="index_copy"):
        super().__init__()
        self.words = nn.Embedding(vocab, dim)
        self.norms = nn.ModuleList(RmsNorm(dim) for _ in range(2 * layers + 1))
        self.attention = nn.ModuleList(CachedAttention(dim, heads, groups, length, put)
                                       for _ in range(layers))
        self.gate = nn.ModuleList(nn.Linear(dim, 2 * dim, bias=False) for _ in range(layers))
        self.up = nn.ModuleList(nn.Linear(dim, 2 * dim, bias=False) for _ in range(layers))
        self.down = nn.ModuleList(nn.Linear(2 * dim, dim, bias=False) for _ in range(layers))
        half = dim // heads // 2
        self.register_buffer("frequencies", 10000.0 ** (-torch.arange(half) / half))

    def forward(self, ids, at):
        angles = at.float()[:, None] * self.frequencies
        angles = torch.cat([angles, angles], -1)
        x = self.words(ids)
        for i, attention in enumerate(self.attention):
            x = x + attention(self.norms[2 * i](x), at, angles.cos(), angles.sin())
            y = self.norms[2 * i + 1](x)
            x = x + self.down[i](F.silu(self.gate[i](y)) * self.up[i](y))
        return F.linear(self.norms[-1](x), self.words.weight)


class MixtureOfExperts(nn.Module):
    """A mixture of experts. Each token goes to the two best experts of a router; all experts are
    computed."""

    def __init__(self, dim=32, experts=4):
        super().__init__()
        self.router = nn.Linear(dim, experts, bias=False)
        self.up = nn.Parameter(torch.randn(experts, dim, 2 * dim) / dim ** 0.5)
        self.down = nn.Parameter(torch.randn(experts, 2 * dim, dim) / dim ** 0.5)

    def forward(self, x):
        weights, chosen = torch.topk(self.router(x).softmax(-1), 2)
        weights = weights / weights.sum(-1, keepdim=True)
        share = torch.zeros(*x.shape[:-1], self.up.shape[0], device=x.device).scatter(-1, chosen, weights)
        hidden = F.gelu(torch.einsum("bsd,edh->besh", x, self.up))
        y = torch.einsum("besh,ehd->besd", hidden, self.down)
        return (y * share.permute(0, 2, 1).unsqueeze(-1)).sum(1)


class SelectiveScan(nn.Module):
    """A state space model with coefficients from the input, step by step as in Mamba."""

    def __init__(self, dim=16, state=4):
        super().__init__()
        self.inner = nn.Linear(dim, 2 * dim)
        self.conv = nn.Conv1d(dim, dim, 3, padding=2, groups=dim)
        self.coefficients = nn.Linear(dim, 2 * state + 1)
        self.decay = nn.Parameter(torch.rand(dim, state))
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        length = x.shape[1]
        x, gate = self.inner(x).chunk(2, -1)
        x = F.silu(self.conv(x.transpose(1, 2))[..., :length].transpose(1, 2))
        b, c, step = self.coefficients(x).split([4, 4, 1], -1)
        step = F.softplus(step)
        state = torch.zeros(x.shape[0], x.shape[2], 4, device=x.device)
        outputs = []
        for i in range(length):
            decay = torch.exp(-step[:, i, :, None] * self.decay)
            state = state * decay + (step[:, i] * x[:, i])[..., None] * b[:, i, None]
            outputs.append((state * c[:, i, None]).sum(-1))
        return self.out(torch.stack(outputs, 1) * F.silu(gate))


class Counter(nn.Module):
    """A module that writes buffers, a counter and a running mean, and its input `total`."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x, total):
        self.calls.add_(1)
        self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
        total += x.sum()
        return x - self.mean, total * 2


class Views(nn.Module):
    """A module whose outputs are inputs, views, constants, repeated tensors and non-tensors."""

    def forward(self, x):
        y = x.exp()
        return x, x.view(-1), y, y, torch.arange(3), 7, None


def decode_steps(length=5, vocab=97):
    """Yields the arguments of a Decoder: a prompt of `length` tokens, then three single tokens."""
    ids = torch.randint(0, vocab, (1, length + 3))
    yield ids[:, :length], torch.arange(length)
    for i in range(length, length + 3):
        yield ids[:, i:i + 1], torch.tensor([i])
