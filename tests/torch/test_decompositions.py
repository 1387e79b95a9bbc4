"""Tests of operators that torch's decompositions compute differently from torch's kernels."""
import unittest

import torch
from torch import nn

F = nn.functional
NAN, INF = float("nan"), float("inf")


class Decompositions(unittest.TestCase):

    def setUp(self):
        torch.manual_seed(4)

    def run_compiled(self, function, *inputs):
        torch._dynamo.reset()
        with torch.no_grad():
            return torch.compile(function, backend="tunec", options={"db": None})(*inputs)

    def check(self, function, *inputs, tolerance=0.0):
        torch.testing.assert_close(self.run_compiled(function, *inputs), function(*inputs),
                                   rtol=tolerance, atol=tolerance, equal_nan=True)

    def test_steps_between_integers_are_truncated(self):
        for dtype in (torch.int32, torch.uint8, torch.int64):
            for start, end, steps in ((4.3, 0, 50), (0, 100, 7), (3, 3, 1), (96, 4, 13)):
                self.check(lambda x: torch.linspace(start, end, steps, dtype=dtype) + x,
                           torch.zeros(1, dtype=dtype))
        self.check(lambda x: torch.linspace(4.3, x, 50, dtype=torch.uint8), torch.tensor(1.0))
        self.check(lambda x: torch.linspace(4.3, 0, 50) * x, torch.ones(1), tolerance=1e-6)

    def test_a_margin_of_what_is_no_number(self):
        scores = torch.randn(5, 4)
        scores[0, 1], scores[2, 0], scores[3, 3] = NAN, INF, -INF
        target = torch.tensor([0, 1, 2, 3, 1])
        for p in (1, 2):
            for reduction in ("none", "mean", "sum"):
                for weight in (None, torch.rand(4)):
                    self.check(lambda s, t: F.multi_margin_loss(s, t, p=p, weight=weight, reduction=reduction),
                               scores, target, tolerance=1e-5)
        self.check(lambda s, t: F.multi_margin_loss(s, t), torch.randn(4), torch.tensor([2]),
                   tolerance=1e-6)

    def test_gradients_of_a_margin(self):
        scores, target = torch.randn(5, 4), torch.tensor([0, 1, 2, 3, 1])

        def gradient(function):
            given = scores.clone().requires_grad_()
            function(given, target).backward()
            return given.grad
        torch.testing.assert_close(gradient(torch.compile(F.multi_margin_loss, backend="tunec")),
                                   gradient(F.multi_margin_loss))

    def test_pixels_between_others(self):
        images = torch.randint(0, 256, (2, 3, 4, 5), dtype=torch.uint8)
        for size in ((6, 7), (2, 2), (9, 3)):
            self.check(lambda x: F.interpolate(x, size=size, mode="bilinear"), images)
        floats = torch.randn(2, 3, 4, 5)
        for align in (False, True):
            self.check(lambda x: F.interpolate(x, size=(6, 7), mode="bilinear", align_corners=align),
                       floats, tolerance=1e-5)
        self.check(lambda x: F.interpolate(x, scale_factor=1.7, mode="linear"), floats[0], tolerance=1e-5)
        self.check(lambda x: F.interpolate(x[None], scale_factor=1.7, mode="trilinear"), floats,
                   tolerance=1e-5)

    def test_gradients_of_pixels_between_others(self):
        images = torch.randn(2, 3, 4, 5)

        def gradient(function):
            given = images.clone().requires_grad_()
            function(given).sin().sum().backward()
            return given.grad

        def enlarged(x):
            return F.interpolate(x, size=(6, 7), mode="bilinear")
        torch.testing.assert_close(gradient(torch.compile(enlarged, backend="tunec")), gradient(enlarged))

    def test_places_in_bfloat16_are_those_of_float32(self):
        images, grid = torch.randn(2, 3, 5, 20).bfloat16(), (torch.rand(2, 13, 10, 2) * 2.4 - 1.2).bfloat16()
        for padding in ("zeros", "border", "reflection"):
            def sampled(x, g):
                return F.grid_sample(x, g, padding_mode=padding, align_corners=False)
            found = self.run_compiled(sampled, images, grid)
            torch.testing.assert_close(found.double(), sampled(images.double(), grid.double()),
                                       rtol=1e-2, atol=1e-2)

    def test_quotients_are_rounded_before_they_are_truncated(self):
        for dtype in (torch.bfloat16, torch.float16, torch.float32):
            a, b = (torch.randn(1000) * 100).to(dtype), torch.randn(1000).to(dtype)
            self.check(lambda a, b: torch.div(a, b, rounding_mode="trunc"), a, b)
            self.check(lambda a: torch.div(a, 2.5, rounding_mode="trunc"), a)

    def test_a_factor_comes_before_a_product_that_overflows(self):
        column, row = torch.tensor([3e38, 1.0, INF]), torch.tensor([5.0, -2.0, 0.0, 3.0])
        self.check(lambda m, c, r: torch.addr(m, c, r, beta=0.6, alpha=0.2), torch.randn(3, 4), column, row,
                   tolerance=1e-6)
        self.check(lambda m, c, r: torch.addr(m, c, r, beta=0), torch.full((3, 4), NAN), column, row,
                   tolerance=1e-6)

    def test_gradients_of_softmax_near_overflow(self):
        y = torch.softmax(torch.randn(4, 6) * 5, 1)
        gradient = torch.randn(4, 6)
        gradient[0, 1], gradient[1, 2], gradient[2, 3], gradient[3, 0] = 3e38, INF, -INF, NAN
        self.check(lambda g, y: torch.ops.aten._softmax_backward_data(g, y, 1, torch.float32), gradient, y,
                   tolerance=1e-5)


if __name__ == "__main__":
    unittest.main()
