"""The network MLP-Mixer, in which layers over tokens alternate with layers over channels."""
from torch import nn


class MixerBlock(nn.Module):
    def __init__(self, tokens, dim, token_hidden, channel_hidden):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(dim, 1e-6), nn.LayerNorm(dim, 1e-6)
        self.token = nn.Sequential(nn.Linear(tokens, token_hidden), nn.GELU(),
                                   nn.Linear(token_hidden, tokens))
        self.channel = nn.Sequential(nn.Linear(dim, channel_hidden), nn.GELU(),
                                     nn.Linear(channel_hidden, dim))

    def forward(self, x):
        x = x + self.token(self.ln1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channel(self.ln2(x))


class MixerS16(nn.Module):
    """MLP-Mixer S/16."""

    def __init__(self, dim=512, layers=8, classes=1000):
        super().__init__()
        self.patch = nn.Conv2d(3, dim, 16, 16)
        self.blocks = nn.Sequential(*(MixerBlock(196, dim, 256, 2048) for _ in range(layers)))
        self.ln, self.head = nn.LayerNorm(dim, 1e-6), nn.Linear(dim, classes)

    def forward(self, x):
        x = self.blocks(self.patch(x).flatten(2).transpose(1, 2))
        return self.head(self.ln(x).mean(1))
