"""Tests of torch tensors as weights of a .graph text: the executable keeps their memory alive."""
import gc
import unittest

import torch
import tunec

SCALED = """graph scaled {
  input x: f32[4, 256]
  weight w: f32[256]
  y = mul(x, w)
  output y
}
"""


class Weights(unittest.TestCase):

    def setUp(self):
        torch.manual_seed(6)
        self.w, self.x = torch.randn(256), torch.randn(4, 256)
        self.expected = self.x * self.w
        self.model = tunec.compile(SCALED, weights={"w": self.w}, db=None)

    def check(self):
        gc.collect()
        others = [torch.full((256,), 7e7) for _ in range(200)]  # would overwrite freed memory
        torch.testing.assert_close(self.model(self.x), self.expected)
        del others

    def test_a_tensor_that_takes_other_memory(self):
        self.w.data = torch.randn(256)
        self.check()
        self.w.set_(torch.randn(256))
        self.check()

    def test_a_tensor_that_goes(self):
        self.w = None
        self.check()

    def test_a_storage_that_would_be_resized(self):
        with self.assertRaisesRegex(RuntimeError, "not resizable"):
            self.w.resize_(100_000)
        with self.assertRaisesRegex(RuntimeError, "not resizable"):
            self.w.untyped_storage().resize_(0)
        self.check()

    def test_weights_of_every_kind(self):
        for w in (self.w.requires_grad_(), torch.nn.Parameter(torch.randn(256)),
                  torch.randn(512)[::2].contiguous(), torch.randn(300)[20:276]):
            model = tunec.compile(SCALED, weights={"w": w}, db=None)
            torch.testing.assert_close(model(self.x), (self.x * w).detach())
        with torch.inference_mode():
            w = torch.randn(256)
        model = tunec.compile(SCALED, weights={"w": w}, db=None)
        torch.testing.assert_close(model(self.x), self.x * w)


if __name__ == "__main__":
    unittest.main()
