"""Tests of the assignment of nodes to parts, which must equal that of torch's partitioner."""
import unittest
from unittest import mock

import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from tunec.torch import aot_decompositions, partitions


def left_alone(x):
    """Returns the inverse of x. The operator stays in torch."""
    return torch.linalg.inv_ex(x)[0]


def before(x, y):
    return torch.relu(left_alone(x) @ y) + 1


def after(x, y):
    return left_alone(torch.relu(x @ y)) * 2  # the multiplication by 2 is in another part


def beside(x, y):
    return torch.relu(x @ y), left_alone(y)


def ended(x, y):
    return left_alone(torch.relu(x @ y))


def apart(x, y):
    return torch.relu(x) * 2, torch.tanh(y) * 3


def of_several(x, y):
    values, indices = torch.topk(x @ y, 2)
    return values * 2, indices, left_alone(y)


def between(x, y):
    first = torch.relu(x @ y)
    return left_alone(first) + first, torch.tanh(y)


class Partitions(unittest.TestCase):

    def trace(self, function):
        x, y = torch.rand(4, 4) + torch.eye(4), torch.rand(4, 4) + torch.eye(4)
        graph = make_fx(function, decomposition_table=aot_decompositions(), tracing_mode="fake")(x, y)
        return graph, (x, y)

    def check(self, function, parts):
        """Expects equal results with this many parts, and with the parts of torch's partitioner."""
        graph, inputs = self.trace(function)
        expected = function(*inputs)
        found = partitions.partition(graph)
        torch.testing.assert_close(found.module(*inputs), expected)
        self.assertEqual(len(found.compiled), parts)

        other, _ = self.trace(function)
        with mock.patch.object(partitions, "_is_one_part", return_value=False):
            by_torch = partitions.partition(other)
        self.assertEqual(found.module.graph.python_code("self").src, by_torch.module.graph.python_code("self").src)
        for name in found.compiled:
            self.assertEqual(*(p.module.get_submodule(name).graph.python_code("self").src for p in (found, by_torch)))

    def test_one_part(self):
        for function in (before, beside, ended, apart, of_several):
            with self.subTest(function.__name__):
                self.check(function, 1)

    def test_two_parts(self):
        for function in (after, between):
            with self.subTest(function.__name__):
                self.check(function, 2)

    def test_a_whole_graph_needs_no_partitioner(self):
        with mock.patch.object(CapabilityBasedPartitioner, "propose_partitions", side_effect=AssertionError):
            for function in (before, ended, apart):
                self.assertEqual(len(partitions.partition(self.trace(function)[0]).compiled), 1)


if __name__ == "__main__":
    unittest.main()
