"""Tests of graphs with dynamic sizes. Dynamo makes one graph, executables have rounded sizes, and
results agree with eager mode."""
import gc
import unittest
import unittest.mock

import torch
import torch._dynamo
import tunec
from tunec.torch import same_model
from tunec.torch.sized import SizedGraph


def setUpModule():
    torch.set_grad_enabled(False)


def tearDownModule():
    torch.set_grad_enabled(True)


TOLERANCE = 2e-5


class Block(torch.nn.Module):
    """Attention with a mask and embeddings of positions. Further outputs are a mean over the
    length, the last position and a number."""

    def __init__(self, width=32):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.qkv = torch.nn.Linear(width, 3 * width)
        self.out = torch.nn.Linear(width, width)
        self.positions = torch.nn.Embedding(600, width)

    def forward(self, x, keep):
        batch, length, width = x.shape
        x = x + self.positions(torch.arange(length))
        q, k, v = (t.reshape(batch, length, 4, width // 4).transpose(1, 2)
                   for t in self.qkv(self.norm(x)).chunk(3, -1))
        a = torch.nn.functional.scaled_dot_product_attention(q, k, v, keep[:, None, None, :])
        y = x + self.out(a.transpose(1, 2).reshape(batch, length, width))
        return y, y.mean(1), y[:, -1], length * 2


class Images(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.b = torch.nn.Conv2d(8, 8, 3, padding=1)

    def forward(self, x):
        return self.b(torch.relu(self.a(x))).amax((2, 3))


class Normalised(torch.nn.Module):
    """A mean over the batch, so requests may not be split."""

    def forward(self, x):
        return (x - x.mean(0)) / (x.std(0) + 1)


def graphs_of(module, requests, check, options=None):
    """Returns the number of Dynamo's compilations. Passes the results of each request and those of
    eager mode to `check`.
    """
    torch._dynamo.reset()
    gc.collect()  # equal models of other tests would otherwise share executables
    torch._dynamo.utils.counters.clear()
    compiled = torch.compile(module, backend="tunec", dynamic=True, options=options)
    for request in requests:
        check(compiled(*request), module(*request))
    return torch._dynamo.utils.counters["stats"]["unique_graphs"]


class AnySize(unittest.TestCase):

    def near(self, found, expected):
        if not isinstance(expected, (tuple, list)):
            found, expected = [found], [expected]
        for one, other in zip(found, expected, strict=True):
            if not isinstance(other, torch.Tensor):
                self.assertEqual(one, other)
                continue
            self.assertEqual(one.shape, other.shape)
            scale = other.abs().max().item() or 1.0
            self.assertLessEqual((one - other).abs().max().item(), TOLERANCE * scale)

    def request(self, batch, length):
        keep = torch.rand(batch, length) < 0.7
        keep[:, 0] = True
        return torch.randn(batch, length, 32), keep

    def test_attention(self):
        sizes = [(3, 12), (2, 9), (5, 40), (4, 17), (2, 33), (3, 64), (7, 100), (2, 11), (6, 97)]
        graphs = graphs_of(Block().eval(), [self.request(*s) for s in sizes], self.near)
        self.assertLessEqual(graphs, 1)

    def test_images_of_any_height(self):
        sizes = [(2, 3, 17, 20), (3, 3, 30, 20), (2, 3, 16, 41), (4, 3, 33, 33)]
        graphs_of(Images().eval(), [(torch.randn(s),) for s in sizes], self.near)

    def test_over_the_batch(self):
        graphs_of(Normalised(), [(torch.randn(n, 12),) for n in (4, 9, 10, 17, 40)], self.near)

    def test_exported_with_dynamic_shapes(self):
        module = Block().eval()
        dims = {"x": {0: torch.export.Dim("batch", min=2, max=16), 1: torch.export.Dim("length", min=2, max=512)},
                "keep": {0: torch.export.Dim("batch", min=2, max=16), 1: torch.export.Dim("length", min=2, max=512)}}
        program = torch.export.export(module, self.request(3, 12), dynamic_shapes=dims)
        compiled = tunec.compile(program)
        for sizes in [(3, 12), (2, 30), (9, 31), (4, 55)]:
            request = self.request(*sizes)
            self.near(compiled(*request), module(*request))

    def executables_of(self, module, requests, options=None):
        """Returns the executable that each request ran on, and the number of Dynamo's graphs."""
        made = []
        original = SizedGraph._compiled_for_any

        def note(graph, arguments):
            found = original(graph, arguments)
            made.append(found[1])
            return found

        with unittest.mock.patch.object(SizedGraph, "_compiled_for_any", note):
            graphs = graphs_of(module, requests, self.near, options)
        return made, graphs

    # Dynamo makes a separate graph if a size is 1.
    def test_a_batch_of_one_runs_on_the_executables_of_all(self):
        for batches in ([2, 5, 1, 3], [1, 2, 1, 3]):
            made, graphs = self.executables_of(
                Block().eval(), [self.request(b, 40 + 2 * b) for b in batches])
            self.assertEqual(graphs, 2)
            self.assertIs(made[-2], made[-1], batches)
            self.assertNotIn("refusal", made[-1].report)

    # The models' weights differ. Only frozen weights are part of an executable.
    def test_models_of_one_form_are_apart(self):
        for options in ({"freeze": True}, {}):
            one, other = Block().eval(), Block().eval()
            made, _ = self.executables_of(one, [self.request(3, 40)], options)
            last, _ = self.executables_of(other, [self.request(2, 41)], options)
            if options:
                self.assertIsNot(made[-1], last[-1])

    # The numbers of rows and columns are equal in the first calls and differ later. tunec must not
    # treat their symbols as one size.
    def test_sizes_that_may_differ_are_compiled_for(self):
        class Both(torch.nn.Module):
            def forward(self, x, y):
                return (x @ y).relu()

        torch._dynamo.reset()
        compiled = torch.compile(Both(), backend="tunec", dynamic=True)
        for rows, inner, columns in [(1, 4, 1), (5, 4, 5), (6, 4, 5), (5, 8, 9), (7, 3, 7)]:
            x, y = torch.randn(rows, inner), torch.randn(inner, columns)
            self.near((compiled(x, y),), (Both()(x, y),))

    def test_few_executables(self):
        made, _ = self.executables_of(
            Block().eval(), [self.request(b, n) for b in (2, 3, 5) for n in range(33, 64)])
        report = made[-1].report
        self.assertNotIn("refusal", report)
        lengths = {e["sizes"][report["dimensions"].index("s27")] if "s27" in report["dimensions"]
                   else max(e["sizes"]) for e in report["executables"]}
        self.assertLessEqual(lengths, {38, 46, 54, 64})

    def test_caches_are_written_once(self):
        class Counter(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("calls", torch.zeros(4))

            def forward(self, x):
                self.calls += 1
                return x * 2 + self.calls

        module = Counter()
        compiled = torch.compile(module, backend="tunec", dynamic=True)
        for n, length in enumerate((3, 9, 30), start=1):
            x = torch.randn(length, 4)
            self.near(compiled(x), x * 2 + n)
            self.assertEqual(module.calls.tolist(), [n] * 4)

    def test_what_is_dropped_is_gone(self):
        """A dynamic-shape executable and its graph function refer to each other, so only the
        garbage collector releases them."""
        torch._dynamo.reset()
        gc.collect()
        before = len(same_model._MODELS)
        for _ in range(2):
            compiled = torch.compile(Block().eval(), backend="tunec", dynamic=True, options={"db": None})
            for request in (self.request(2, 33), self.request(3, 40)):
                compiled(*request)
            self.assertGreater(len(same_model._MODELS), before)
            del compiled
            torch._dynamo.reset()
            gc.collect()
            self.assertEqual(len(same_model._MODELS), before)


if __name__ == "__main__":
    unittest.main()
