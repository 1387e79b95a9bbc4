"""Tests that ONNX and FX give equal workloads, so that a model tuned through one entry point is
found through the other."""
import sys
import tempfile
import unittest
from pathlib import Path

import torch
import tunec
from torch import nn

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench" / "torch_models"))
from entry_points import export_onnx, schedules


class TinyModel(nn.Module):
    """A linear layer and a relu."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x):
        return torch.relu(self.linear(x))


class ResidualBlock(nn.Module):
    """Two layers with a residual connection."""

    def __init__(self, dim=64):
        super().__init__()
        self.linear1 = nn.Linear(dim, dim)
        self.linear2 = nn.Linear(dim, dim)

    def forward(self, x):
        return x + self.linear2(torch.relu(self.linear1(x)))


class ResidualConvolution(nn.Module):
    """A residual convolution, into which the batch normalisation is folded."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(16, 16, 3, padding=1)
        self.bn = nn.BatchNorm2d(16)

    def forward(self, x):
        return torch.relu(self.bn(self.conv(x)) + x)


class EntryPoints(unittest.TestCase):

    def check(self, module, x):
        module = module.eval()
        with tempfile.TemporaryDirectory() as folder:
            path, database = Path(folder) / "model.onnx", Path(folder) / "tunec.db"
            export_onnx(module, (x,), path)
            tuned = tunec.compile(path, trials=4, threads=2, db=database)
            known = tunec.compile(module, (x,), threads=2, db=database)
            self.assertEqual(schedules(known.executable), schedules(tuned))
            self.assertEqual(set(schedules(tuned).values()), {"tuned"})
            with torch.no_grad():
                expected = module(x)
            torch.testing.assert_close(known(x), expected, rtol=1e-4, atol=1e-5)
            torch.testing.assert_close(tuned(x), expected, rtol=1e-4, atol=1e-5)

    def test_tiny_model(self):
        self.check(TinyModel(), torch.randn(2, 4))

    def test_residual_block(self):
        self.check(ResidualBlock(), torch.randn(1, 64))

    def test_residual_convolution(self):
        self.check(ResidualConvolution(), torch.randn(1, 16, 8, 8))


if __name__ == "__main__":
    unittest.main()
