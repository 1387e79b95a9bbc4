"""A wrapper that computes a network in a float type other than float32."""
from torch import nn


class Computed(nn.Module):
    """A network computed in another float type, with float32 inputs and outputs."""

    def __init__(self, body, dtype):
        super().__init__()
        self.body, self.dtype = body, dtype

    def forward(self, x):
        return self.body(x.to(self.dtype)).float()
