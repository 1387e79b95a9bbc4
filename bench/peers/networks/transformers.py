"""Transformers for text (BERT, GPT-2) and images (ViT, a block of Swin)."""
import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    """Multi-head self-attention with one packed QKV projection, or three."""

    def __init__(self, dim, heads, packed=True, causal=False):
        super().__init__()
        self.heads, self.packed, self.causal = heads, packed, causal
        if packed:
            self.qkv = nn.Linear(dim, 3 * dim)
        else:
            self.q, self.k, self.v = (nn.Linear(dim, dim) for _ in range(3))
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        b, s, d = x.shape
        parts = self.qkv(x).split(d, 2) if self.packed else (self.q(x), self.k(x), self.v(x))
        q, k, v = (t.view(b, s, self.heads, d // self.heads).transpose(1, 2) for t in parts)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(y.transpose(1, 2).reshape(b, s, d))


class Block(nn.Module):
    """Transformer block, layer norm before (GPT, ViT) or after (BERT) each half."""

    def __init__(self, dim, heads, pre=True, eps=1e-5, gelu="none", **attention):
        super().__init__()
        self.pre = pre
        self.ln1, self.ln2 = nn.LayerNorm(dim, eps), nn.LayerNorm(dim, eps)
        self.attn = Attention(dim, heads, **attention)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(gelu), nn.Linear(4 * dim, dim))

    def forward(self, x):
        if self.pre:
            x = x + self.attn(self.ln1(x))
            return x + self.mlp(self.ln2(x))
        x = self.ln1(x + self.attn(x))
        return self.ln2(x + self.mlp(x))


class BertBase(nn.Module):
    """BERT encoder with pooler, BERT-base by default; returns the sequence and the pooled output."""

    def __init__(self, vocab=30522, positions=512, dim=768, layers=12, heads=12):
        super().__init__()
        self.word, self.pos, self.kind = (nn.Embedding(n, dim) for n in (vocab, positions, 2))
        self.ln = nn.LayerNorm(dim, 1e-12)
        self.blocks = nn.Sequential(*(Block(dim, heads, pre=False, eps=1e-12, packed=False)
                                      for _ in range(layers)))
        self.pooler = nn.Linear(dim, dim)

    def forward(self, ids, token_type):
        x = self.word(ids) + self.pos.weight[:ids.shape[1]] + self.kind(token_type)
        x = self.blocks(self.ln(x))
        return x, torch.tanh(self.pooler(x[:, 0]))


class GPT2Small(nn.Module):
    """GPT-2 (124M), prefill without a key-value cache; logits for every position."""

    def __init__(self, vocab=50257, positions=1024, dim=768, layers=12, heads=12):
        super().__init__()
        self.word, self.pos = nn.Embedding(vocab, dim), nn.Embedding(positions, dim)
        self.blocks = nn.Sequential(*(Block(dim, heads, gelu="tanh", causal=True)
                                      for _ in range(layers)))
        self.ln = nn.LayerNorm(dim)

    def forward(self, ids):
        x = self.word(ids) + self.pos.weight[:ids.shape[1]]
        return F.linear(self.ln(self.blocks(x)), self.word.weight)


class ViTB16(nn.Module):
    def __init__(self, dim=768, layers=12, heads=12, classes=1000, size=224, patch=16):
        super().__init__()
        self.patch = nn.Conv2d(3, dim, patch, patch)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos = nn.Parameter(torch.zeros(1, (size // patch) ** 2 + 1, dim))
        self.blocks = nn.Sequential(*(Block(dim, heads, eps=1e-6) for _ in range(layers)))
        self.ln, self.head = nn.LayerNorm(dim, 1e-6), nn.Linear(dim, classes)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = self.blocks(torch.cat([self.cls, x], 1) + self.pos)
        return self.head(self.ln(x)[:, 0])


class SwinBlock(nn.Module):
    """A block of a Swin transformer with shifted windows (torchvision's formulation)."""

    def __init__(self, dim=96, heads=3, window=7, shift=3, size=56):
        super().__init__()
        self.heads, self.window, self.shift = heads, window, shift
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
        self.bias = nn.Parameter(torch.zeros((2 * window - 1) ** 2, heads))
        at = torch.stack(torch.meshgrid(*[torch.arange(window)] * 2, indexing="ij")).flatten(1)
        apart = (at[:, :, None] - at[:, None, :]).permute(1, 2, 0) + window - 1
        self.register_buffer("place", (apart[..., 0] * (2 * window - 1) + apart[..., 1]).flatten())

    def windows(self, x):
        b, h, w, c = x.shape
        n = self.window
        return x.view(b, h // n, n, w // n, n, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, n * n, c)

    def hidden(self, x):
        """Returns the mask: -100 between parts of a window that are adjacent only due to the
        shift."""
        region, n = x.new_zeros(1, *x.shape[1:3], 1), 0
        for rows in ((0, -self.window), (-self.window, -self.shift), (-self.shift, None)):
            for columns in ((0, -self.window), (-self.window, -self.shift), (-self.shift, None)):
                region[:, slice(*rows), slice(*columns)], n = n, n + 1
        region = self.windows(region)[..., 0]
        apart = region.unsqueeze(1) - region.unsqueeze(2)
        return apart.masked_fill(apart != 0, -100.0).unsqueeze(1).unsqueeze(0)

    def attend(self, x):
        b, h, w, c = x.shape
        n = self.window
        mask = self.hidden(x)
        x = self.windows(torch.roll(x, (-self.shift, -self.shift), (1, 2)))
        qkv = self.qkv(x).reshape(*x.shape[:2], 3, self.heads, c // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        s = (q * (c // self.heads) ** -0.5) @ k.transpose(-2, -1)
        s = s + self.bias[self.place].view(n * n, n * n, -1).permute(2, 0, 1).unsqueeze(0)
        s = (s.view(b, -1, *s.shape[1:]) + mask).view(s.shape)
        y = self.proj((torch.softmax(s, -1) @ v).transpose(1, 2).reshape(x.shape))
        y = y.view(b, h // n, w // n, n, n, c).permute(0, 1, 3, 2, 4, 5).reshape(b, h, w, c)
        return torch.roll(y, (self.shift, self.shift), (1, 2))

    def forward(self, x):
        x = x + self.attend(self.ln1(x))
        return x + self.mlp(self.ln2(x))
