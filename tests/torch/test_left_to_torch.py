"""Tests that nodes which the importer or the compiler does not support stay in torch. The results
agree with eager mode, and the report has one line for each node."""
import functools
import unittest
import unittest.mock
import warnings

import torch
import tunec
from torch import nn
from tunec.torch import ImportedGraph, handler_table
from tunec.torch.reports import latest

F = nn.functional


def compiled(function, **options):
    torch._dynamo.reset()
    return torch.compile(function, backend="tunec", options={"db": None, **options})


class AgainstEager(unittest.TestCase):

    def setUp(self):
        torch.manual_seed(3)

    def check(self, function, *inputs, reason=None, tolerance=1e-4, **options):
        """Compares with eager mode. `reason` is a part of one of the report's lines, or None if
        nothing may stay in torch."""
        given = [x.clone() if isinstance(x, torch.Tensor) else x for x in inputs]
        with torch.no_grad():
            expected = function(*inputs)
            found = compiled(function, **options)(*given)
        torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
        lines = [str(node) for node in latest()[-1].left]
        if reason is None:
            self.assertEqual(lines, [])
            return
        self.assertTrue(any(reason in line for line in lines), lines)
        self.assertTrue(all("\n" not in line for line in lines), lines)


class LeftToTorch(AgainstEager):

    def test_a_fault_of_a_handler(self):
        def broken(call, x):
            raise IndexError("beyond\nthe end")
        with unittest.mock.patch.dict(handler_table._HANDLERS, {"tanh.default": broken}):
            self.check(lambda x: torch.tanh(x * 2) + 1, torch.randn(4), reason="IndexError: beyond")

    def test_a_result_of_a_wrong_shape(self):
        def broken(call, x):
            return x.reshape((x.count,))
        with unittest.mock.patch.dict(handler_table._HANDLERS, {"tanh.default": broken}):
            self.check(lambda x: torch.tanh(x * 2) + 1, torch.randn(4, 2), reason="expected ('f32', (4, 2))")

    def test_dynamic_floats_stay_in_tunec(self):
        """Dynamo makes scalar tensors of Python's floats, and converts them by operators of prims."""
        def norm(x, epsilon):
            return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + epsilon)
        torch._dynamo.reset()
        function = torch.compile(norm, backend="tunec", dynamic=True, options={"db": None})
        for rows, epsilon in ((3, 0.5), (5, 0.25), (7, 2.0)):
            x = torch.randn(rows, 8)
            torch.testing.assert_close(function(x, epsilon), norm(x, epsilon), rtol=1e-5, atol=1e-5)
        self.assertEqual([str(node) for node in latest()[-1].left], [])

    def test_parts_whose_inputs_have_quotients_of_a_size(self):
        first, second = nn.Conv1d(2, 3, 3, stride=2, padding=1), nn.Conv1d(3, 3, 3, stride=2)

        def model(x):
            return second(torch.special.airy_ai(first(x))).relu()
        torch._dynamo.reset()
        function = torch.compile(model, backend="tunec", dynamic=True, options={"db": None})
        with torch.no_grad():
            for size in (21, 22, 40, 9):
                x = torch.randn(2, 2, size)
                torch.testing.assert_close(function(x), model(x), rtol=1e-4, atol=1e-4)
        self.assertTrue(any("airy_ai" in str(node) for node in latest()[-1].left))

    def test_ahead_of_time_a_fault_names_its_node(self):
        class Model(nn.Module):
            def forward(self, x):
                return torch.tanh(x * 2) + 1

        def broken(call, x):
            raise IndexError("beyond the end")
        with unittest.mock.patch.dict(handler_table._HANDLERS, {"tanh.default": broken}):
            with self.assertRaisesRegex(tunec.Unsupported, "tanh: aten.tanh.default: .*IndexError"):
                tunec.compile(Model(), (torch.randn(4),), db=None)

    def test_a_fault_outside_of_the_nodes(self):
        with unittest.mock.patch("tunec.torch.partitions.hinted_sizes", side_effect=KeyError("s0")):
            self.check(lambda x: torch.tanh(x), torch.randn(4), reason="KeyError")

    def test_a_part_that_the_compiler_rejects(self):
        real = ImportedGraph.compile

        def rejecting(graph, **options):
            if "tanh" in graph.text:
                raise tunec.InvalidArgument("tanh operand 0 is wrong")
            return real(graph, **options)
        with unittest.mock.patch.object(ImportedGraph, "compile", rejecting), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.check(lambda x: torch.tanh(x).t().reshape(-1), torch.randn(4, 3),
                       reason="the compiler rejected it: InvalidArgument: tanh operand 0")

    def test_a_wrong_option_is_no_rejection_of_a_part(self):
        with self.assertRaisesRegex(Exception, "unknown option 'trails'"):
            self.check(torch.tanh, torch.randn(4), trails=3)

    def test_absolute_values_of_complex_numbers(self):
        self.check(lambda x: torch.fft.rfft(x).abs() + 1, torch.randn(4, 8), reason="complex64")

    def test_a_negative_epsilon(self):
        x = torch.randn(2, 4, 3)
        self.check(lambda x: F.layer_norm(x, (3,), eps=-1e-5), x, reason="a negative epsilon")
        self.check(lambda x: F.group_norm(x, 2, eps=-1e-5), x, reason="a negative epsilon")
        self.check(lambda x: F.rms_norm(x, (3,), eps=-1e-5), x)

    def test_a_divisor_that_may_be_zero(self):
        a, b = torch.tensor([7, -7, 5]), torch.tensor([2, 2, 0])
        for divide in (lambda a, b: a // b, lambda a, b: a % b, torch.fmod,
                       lambda a, b: torch.div(a, b, rounding_mode="trunc")):
            self.check(divide, a, b.clamp(min=1).clone(), reason="whose divisor may be 0")
            with self.assertRaisesRegex(RuntimeError, "ZeroDivisionError"):
                compiled(divide)(a, b)
        self.check(lambda a: (a // 2, a % 3, torch.fmod(a, -2)), a)
        self.check(lambda a, b: a // b.clamp(min=1), a, b)
        self.check(lambda a, b: a // b, a.float(), b.float())

    def test_places_in_memory_of_what_lies_otherwise(self):
        x = torch.arange(100.).reshape(2, 5, 2, 5).to(memory_format=torch.channels_last)

        def strided(x):
            return torch.as_strided(torch.roll(x * 2, -1, 0), (5, 10), (4, 1), 0) + 1
        self.check(strided, x, reason="by their offsets")
        self.check(strided, x.contiguous())
        self.check(lambda x, w: torch.as_strided(x @ w.t(), (3, 2), (2, 2)), x[0, 0], torch.randn(4, 5))

    def test_places_in_memory_that_are_known(self):
        x = torch.randn(2, 6, 4, 5).to(memory_format=torch.channels_last)

        def strided(x, divide):
            return torch.as_strided(divide(x, x.abs().amax(1, keepdim=True) + 1), (5, 10), (4, 1), 0)
        self.check(lambda x: strided(x, torch.div), x, reason="by their offsets")  # not row-major strides
        floor = functools.partial(torch.div, rounding_mode="floor")

        def pooled(x, w):
            rows = floor(x, x.abs().amax(1, keepdim=True) + 1).permute(0, 2, 3, 1).flatten(1, 2)
            images = (rows @ w).unflatten(1, (4, 5)).permute(0, 3, 1, 2)
            return F.adaptive_avg_pool2d(images, 1).flatten(1)  # torch decomposes it to as_strided
        self.check(pooled, x, torch.randn(6, 3))


class Imported(AgainstEager):
    """Tests of uncommon types and shapes that are compiled, with nothing left to torch."""

    def test_statistics_in_bfloat16(self):
        x = torch.randn(2, 3, 4, 4).bfloat16()
        for dtype in (torch.bfloat16, torch.float32):
            moments = torch.zeros(3, dtype=dtype), torch.ones(3, dtype=dtype)

            def train(x, mean, variance):
                mean, variance = mean.clone(), variance.clone()
                return F.batch_norm(x, mean, variance, training=True), mean, variance
            self.check(train, x, *moments, tolerance=2e-2)
            self.check(lambda x, m, v: F.instance_norm(x, m.clone(), v.clone()), x, *moments,
                       tolerance=2e-2)

    def test_results_without_elements(self):
        x = torch.randn(5)
        for dtype in (torch.float32, torch.bool):
            given = x.to(dtype)
            self.check(lambda x, i: torch.gather(x, 0, i), given, torch.zeros(0, dtype=torch.int64))
            self.check(lambda x, i: torch.gather(x, 0, i), given, torch.zeros(2, 0, dtype=torch.int64))
        self.check(lambda x: (x[:0].softmax(0), x[:0].view(0, 3).amax(1)), x)

    def test_no_rows_at_all(self):
        def model(x):
            return (x.softmax(0), x.sum(0), x.mean(1), x.cumsum(0), x.argmax(1), x.reshape(-1), x.std(1),
                    x.flip(0), torch.cat([x, x]), x.shape[0] * x)
        torch._dynamo.reset()
        fast = torch.compile(model, backend="tunec", options={"db": None}, dynamic=True)
        for rows in (5, 0, 3, 0, 33):
            x = torch.randn(rows, 4)
            with torch.no_grad():
                torch.testing.assert_close(fast(x), model(x), rtol=1e-4, atol=1e-4)


if __name__ == "__main__":
    unittest.main()
