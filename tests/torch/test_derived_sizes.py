"""Tests of sizes of computed tensors. Parts do not depend on these sizes."""
import unittest

import torch
import torch._dynamo
from torch.nn import functional
from tunec.torch.reports import latest


def setUpModule():
    torch.set_grad_enabled(False)


def tearDownModule():
    torch.set_grad_enabled(True)


WEIGHT = torch.randn(4, 3, 3, 3)


def pooled(x):
    y = functional.conv2d(x, WEIGHT, stride=2, padding=1)
    flat = y.flatten(2)
    return torch.softmax(flat, 2).reshape(y.shape) * y.shape[2] + y.shape[3]


def resized(x):
    y = functional.conv2d(x, WEIGHT, stride=2, padding=1)
    z = functional.interpolate(y, (x.shape[2], x.shape[3]), mode="bilinear")
    return functional.interpolate(z, y.shape[2:], mode="nearest") - y / y.shape[2]


def with_inverse(x):
    """Leaves an inverse to torch. The second part's inputs have no size of x, but quotients and
    products."""
    y = functional.conv2d(x, WEIGHT, stride=2, padding=1)
    flat = y.flatten(2)
    square = flat @ flat.transpose(1, 2) + 100 * torch.eye(4)
    inverse = torch.linalg.inv_ex(square)[0]
    return (inverse @ torch.relu(flat)).reshape(y.shape) * y.shape[3], y.flatten(2).sum(2)


def of_inverse(x):
    """Leaves the first node to torch. The part has only the product of two sizes."""
    flat = torch.linalg.inv_ex(x.flatten(2)[:, :, :3] + 9 * torch.eye(3))[0].sum() + x.flatten(2)
    left = torch.linalg.inv_ex(flat @ flat.transpose(1, 2) + 9 * torch.eye(3))[0] @ flat
    return torch.relu(left).reshape(x.shape).sum(3) * x.shape[2]


SIZES = ((24, 40), (25, 33), (40, 24), (31, 64), (24, 40), (64, 31), (16, 16))


class DerivedSizes(unittest.TestCase):

    def reports_of(self, function):
        """Compares with eager torch. Returns the numbers of parts and of nodes left to torch of each
        graph."""
        torch._dynamo.reset()
        compiled = torch.compile(function, backend="tunec", dynamic=True, options={"db": None})
        earlier = len(latest())
        for height, width in SIZES:
            x = torch.randn(2, 3, height, width)
            torch.testing.assert_close(compiled(x), function(x), rtol=1e-4, atol=1e-4)
        return [(report.compiled, sorted({node.operator for node in report.left})) for report in latest()[earlier:]]

    def test_do_not_cut_a_graph(self):
        for function in (pooled, resized):
            for parts, left in self.reports_of(function):
                self.assertEqual((parts, left), (1, []), function.__name__)

    def test_are_known_in_each_part(self):
        for function in (with_inverse, of_inverse):
            for parts, left in self.reports_of(function):
                self.assertGreaterEqual(parts, 1)
                self.assertEqual(left, ["aten.linalg_inv_ex.default"], function.__name__)
