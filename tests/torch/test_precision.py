"""Tests of functions and types whose last digits matter, against eager PyTorch."""
import unittest

try:
    import torch
except ImportError:
    raise unittest.SkipTest("torch is not installed")

import torch.nn.functional as F


def compiled(function, *inputs):
    torch._dynamo.reset()
    return torch.compile(function, backend="tunec", fullgraph=True)(*inputs)


class Functions(unittest.TestCase):

    def test_logarithms_of_exact_powers_are_whole(self):
        for dtype, most in ((torch.float32, 10), (torch.float64, 22)):
            twos = torch.pow(2.0, torch.arange(-100, 100, dtype=torch.float64)).to(dtype)
            tens = torch.tensor([float(10**k) for k in range(most + 1)], dtype=dtype)
            y2, y10 = compiled(lambda a, b: (torch.log2(a), torch.log10(b)), twos, tens)
            self.assertEqual(y2.tolist(), list(range(-100, 100)))
            self.assertEqual(y10.tolist(), list(range(most + 1)))

    def test_powers_that_are_roots(self):
        x = torch.tensor([float("-inf"), float("inf"), -0.0, 0.0, 4.0, -4.0, float("nan")])
        found = compiled(lambda v: (v**0.5, v**-0.5), x)
        for y, expected in zip(found, (x**0.5, x**-0.5)):
            torch.testing.assert_close(y, expected, equal_nan=True)
            self.assertEqual(torch.signbit(y)[1:5].tolist(), torch.signbit(expected)[1:5].tolist())

    def test_tails(self):
        x = torch.tensor([-30.0, -12.0, -5.0, -1e-9, 1e-9])
        for function in (F.softplus, F.elu, F.selu, F.celu, F.mish, F.silu, torch.expm1,
                         F.logsigmoid, lambda v: torch.log1p(v.exp())):
            y, expected = compiled(function, x), function(x.double())
            torch.testing.assert_close(y.double(), expected, rtol=1e-6, atol=0)


class MixedTypes(unittest.TestCase):

    def test_parameters_of_float32_beside_data_of_bfloat16(self):
        x = (torch.randn(2, 3, 8) * 8 + 100).bfloat16()
        mean = torch.full((3,), 100.3)
        variance = torch.full((3,), 63.0)
        scale, bias = torch.rand(3) + 0.5, torch.rand(3)
        y = compiled(lambda *v: F.batch_norm(v[0], v[1], v[2], v[3], v[4]),
                     x, mean, variance, scale, bias)
        expected = F.batch_norm(x.double(), mean.double(), variance.double(), scale.double(),
                              bias.double())
        self.assertEqual(y.dtype, torch.bfloat16)
        torch.testing.assert_close(y.double(), expected, rtol=0.005, atol=1e-4)

    def test_casts_keep_low_bits(self):
        x = torch.tensor([300.0, -1.5, 70000.0, float("nan"), 3e9])
        for dtype in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64):
            self.assertEqual(compiled(lambda v: v.to(dtype), x).tolist(), x.to(dtype).tolist())


if __name__ == "__main__":
    unittest.main()
