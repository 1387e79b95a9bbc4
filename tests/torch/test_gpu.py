"""Tests of tensors on an NVIDIA GPU: their graphs are compiled for the GPU, and run in torch's
stream. Without a GPU in torch, only the tests that inspect graphs run."""
import copy
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import torch
import tunec
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from tunec.torch.devices import device_of, device_options, is_on, on_host
from tunec.torch.importer import unsupported
from tunec.torch.reports import latest

from small_models import Counter, MixtureOfExperts, ResidualBlock, RmsNorm, SelectiveScan, TinyModel
from test_static_caches import step

TOLERANCE = 1e-4
HAS_GPU = torch.cuda.is_available()
OPTIONS = {"db": None}


def compiled(function, **options):
    return torch.compile(function, backend="tunec", options={**OPTIONS, **options})


def relative_error(found, expected):
    expected = expected.double()
    return ((found.double() - expected).abs().max() / expected.abs().max().clamp_min(1e-30)).item()


class Graphs(unittest.TestCase):
    """Tests of the device of a graph, its nodes and weights, and of supported attention. They need no
    GPU."""

    def setUp(self):
        with FakeTensorMode():
            x = torch.empty(2, 3, device="cuda")
            self.graph = make_fx(lambda x, one: (x.relu() * one).cpu().exp())(x, torch.empty(()))

    def test_the_device_is_that_of_most_results(self):
        device = device_of(self.graph)
        self.assertEqual((device.type, device.index), ("cuda", 0))
        self.assertEqual(device_options(device), {"target": "cuda", "device": "0"})
        self.assertEqual(device_options(torch.device("cpu")), {})

    def test_what_lies_elsewhere_is_told(self):
        device = device_of(self.graph)
        there = [is_on(node, device) for node in self.graph.graph.nodes if node.op == "call_function"]
        self.assertEqual(there, [True, True, False, False])  # relu, mul by a number of the CPU, _to_copy, exp

    def test_attention_in_all_forms_that_gpus_have(self):
        aten = torch.ops.aten
        forms = {"flash": lambda q: aten._scaled_dot_product_flash_attention(q, q, q, scale=0.5)[0],
                 "efficient": lambda q: aten._scaled_dot_product_efficient_attention(q, q, q, None, False)[0],
                 "cudnn": lambda q: aten._scaled_dot_product_cudnn_attention(q, q, q, None, False, is_causal=True)[0]}
        for name, form in forms.items():
            with self.subTest(name), FakeTensorMode():
                graph = make_fx(form)(torch.empty(1, 2, 16, 64, device="cuda", dtype=torch.float16))
                self.assertEqual(unsupported(graph), [])

    def test_weights_of_the_host_stay_what_they_are(self):
        weight = torch.rand(3)
        kept = on_host({"a": weight, "b": ("key", weight)})
        self.assertIs(kept["a"], weight)
        self.assertIs(kept["b"][1], weight)


@unittest.skipUnless(HAS_GPU, "no GPU")
class Models(unittest.TestCase):

    def setUp(self):
        torch.manual_seed(3)
        torch._dynamo.reset()

    def same_as_eager(self, module, *inputs, wider=torch.Tensor.double):
        """Compares with eager mode. `wider` converts weights and inputs for the reference, by
        default to float64. Some models support only float32."""
        module = module.cuda().eval()
        inputs = [x.cuda() for x in inputs]
        with torch.no_grad():
            exact = copy.deepcopy(module)._apply(lambda x: wider(x) if x.is_floating_point() else x)
            expected = exact(*(wider(x) if x.is_floating_point() else x for x in inputs))
            found = compiled(module)(*inputs)
        self.assertEqual(found.device.type, "cuda")
        self.assertLess(relative_error(found, expected), TOLERANCE)

    def test_small_models(self):
        models = {"tiny": (TinyModel(), torch.rand(5, 4)), "residual": (ResidualBlock(), torch.rand(2, 16, 14, 14)),
                  "norm": (RmsNorm(64), torch.randn(3, 64)), "scan": (SelectiveScan(), torch.randn(2, 6, 16))}
        for name, (module, x) in models.items():
            with self.subTest(name):
                self.same_as_eager(module, x)
        self.same_as_eager(MixtureOfExperts(), torch.randn(2, 5, 32), wider=torch.Tensor.float)

    def test_nothing_is_left_to_torch(self):
        self.same_as_eager(torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.GELU(), torch.nn.Linear(128, 8)),
                           torch.randn(33, 64))
        self.assertEqual((latest()[-1].compiled, list(latest()[-1].left)), (1, []))

    def test_modules_ahead_of_time(self):
        module = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU()).cuda()
        x = torch.randn(7, 64, device="cuda")
        model = tunec.compile(module, (x,), db=None)
        with torch.no_grad():
            self.assertLess(relative_error(model(x), copy.deepcopy(module).double()(x.double())), TOLERANCE)

    def test_layouts_and_strides(self):
        module = torch.nn.Conv2d(8, 16, 3, padding=1)
        self.same_as_eager(module, torch.randn(2, 8, 20, 20).to(memory_format=torch.channels_last))
        self.same_as_eager(torch.nn.Linear(16, 4), torch.randn(16, 9).T)

    def test_sizes_that_change(self):
        module = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.Softmax(1), torch.nn.Linear(64, 4)).cuda()
        model = torch.compile(module, backend="tunec", options=OPTIONS, dynamic=True)
        exact = copy.deepcopy(module).double()
        with torch.no_grad():
            for batch in (3, 9, 17, 33, 64):
                x = torch.randn(batch, 12, 32, device="cuda")
                self.assertLess(relative_error(model(x), exact(x.double())), TOLERANCE, batch)
        self.assertFalse(latest()[-1].left)

    def test_gradients(self):
        module = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.Tanh(), torch.nn.Linear(64, 4)).cuda()
        exact = copy.deepcopy(module).double()
        x = torch.randn(16, 32, device="cuda")
        compiled(module)(x).square().sum().backward()
        exact(x.double()).square().sum().backward()
        for found, expected in zip(module.parameters(), exact.parameters()):
            self.assertLess(relative_error(found.grad, expected.grad), TOLERANCE)

    def test_buffers_are_written_where_they_lie(self):
        module = Counter().cuda()
        same = copy.deepcopy(module)
        run = compiled(module)
        for _ in range(3):
            x, total = torch.randn(5, 3, device="cuda"), torch.zeros((), device="cuda")
            other = total.clone()
            with torch.no_grad():
                found, expected = run(x, total), same(x, other)
            torch.testing.assert_close(found, expected)
            torch.testing.assert_close(total, other)
        self.assertEqual(module.calls.item(), 3)
        torch.testing.assert_close(module.mean, same.mean)

    def test_caches_are_written_where_they_lie(self):
        heads, group, length, depth = 4, 2, 96, 32
        run = compiled(step)
        caches = [torch.randn(1, heads, length, depth, device="cuda") for _ in range(2)]
        others = [cache.clone() for cache in caches]
        addresses = [cache.data_ptr() for cache in caches]
        for position in range(3):
            queries = torch.randn(1, heads * group, 1, depth, device="cuda")
            rows = [torch.randn(1, heads, 1, depth, device="cuda") for _ in range(2)]
            at = torch.tensor([position + 40], device="cuda")
            with torch.no_grad():
                found = run(queries, *caches, *rows, at)
                expected = step(queries, *others, *rows, at)
            torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
            torch.testing.assert_close(caches, others, rtol=0, atol=0)
        self.assertEqual([cache.data_ptr() for cache in caches], addresses)

    def test_parts_on_the_cpu_stay_in_torch(self):
        def mixed(x):
            return torch.tanh(x @ x.T).cpu().sin().sum() + 1

        x = torch.randn(8, 4, device="cuda")
        found = compiled(mixed)(x)
        torch.testing.assert_close(found, mixed(x))
        self.assertEqual(found.device.type, "cpu")
        self.assertTrue(latest()[-1].left)


@unittest.skipUnless(HAS_GPU, "no GPU")
class Streams(unittest.TestCase):

    TEXT = """graph g {
      input x: f32[1024, 1024]
      y = relu(x)
      output y
    }"""

    def test_runs_come_after_what_is_in_the_stream(self):
        model = tunec.compile(self.TEXT, target="cuda", db=None)
        large = torch.randn(4096, 4096, device="cuda")
        x = torch.zeros(1024, 1024, device="cuda")
        for stream in (torch.cuda.default_stream(), torch.cuda.Stream()):
            with torch.cuda.stream(stream):
                for value in (1.0, 2.0, 3.0):
                    for _ in range(20):
                        large = torch.nn.functional.normalize(large @ large)
                    x.fill_(value)
                    y = model(x)
                    x.fill_(-7.0)  # queued behind the run that reads x
                    self.assertEqual((y.min().item(), y.max().item()), (value, value))
            torch.cuda.synchronize()

    def test_tensors_are_used_where_they_lie(self):
        model = tunec.compile(self.TEXT, target="cuda", db=None)
        x, y = torch.randn(1024, 1024, device="cuda"), torch.empty(1024, 1024, device="cuda")
        before = torch.cuda.memory_allocated()
        result = model(x, out=y)
        torch.cuda.synchronize()
        self.assertEqual(result.data_ptr(), y.data_ptr())
        self.assertEqual(torch.cuda.memory_allocated(), before)
        torch.testing.assert_close(y, x.relu(), rtol=0, atol=0)

    def test_tensors_of_the_cpu_are_copied(self):
        model = tunec.compile(self.TEXT, target="cuda", db=None)
        x = torch.randn(1024, 1024)
        torch.testing.assert_close(model(x), x.relu(), rtol=0, atol=0)
        torch.testing.assert_close(torch.from_numpy(model(x.numpy())), x.relu(), rtol=0, atol=0)
        there = torch.empty(1024, 1024, device="cuda")
        model(x, out=there)
        torch.testing.assert_close(there.cpu(), x.relu(), rtol=0, atol=0)


class AttentionBlock(torch.nn.Module):
    """An attention block. Elements of a batch are independent, but not positions."""

    def __init__(self):
        super().__init__()
        self.mixed, self.out = torch.nn.Linear(64, 192), torch.nn.Linear(64, 64)

    def forward(self, x):
        heads = self.mixed(x).unflatten(-1, (3, 4, 16)).permute(2, 0, 3, 1, 4)
        mixed = torch.nn.functional.scaled_dot_product_attention(*heads)
        return x + torch.nn.functional.gelu(self.out(mixed.transpose(1, 2).flatten(-2)))


SIZED = """graph sized {
  input x: f32[n, 40]
  weight w: f32[40, 56]
  m = matmul(x, w)
  s = softmax(m) {axis=0}
  output s
}
"""


@unittest.skipUnless(HAS_GPU, "no GPU")
class SeveralSizes(unittest.TestCase):

    def test_sizes_are_rounded_up_on_the_gpu(self):
        weights = {"w": torch.randn(40, 56).numpy()}
        model = tunec.compile(SIZED, weights=weights, dims={"n": [8, 24]}, target="cuda", db=None)
        for n in (1, 5, 8, 9, 23, 24):
            x = torch.randn(n, 40)
            expected = torch.softmax(x.double() @ torch.from_numpy(weights["w"]).double(), 0)
            found = model(x)
            self.assertEqual(tuple(found.shape), (n, 56))
            self.assertLess(relative_error(found, expected), TOLERANCE, n)

    def test_tensors_of_the_gpu_stay_there(self):
        weights = {"w": torch.randn(40, 56).numpy()}
        model = tunec.compile(SIZED, weights=weights, dims={"n": [8, 24]}, target="cuda", db=None)
        w = torch.from_numpy(weights["w"]).double().cuda()
        inputs = [torch.randn(n, 40, device="cuda") for n in (1, 5, 8, 9, 23, 24, 5, 17)]
        found = [model(x) for x in inputs]  # without waiting
        for x, y in zip(inputs, found, strict=True):
            self.assertEqual((y.device.type, tuple(y.shape)), ("cuda", (len(x), 56)))
            self.assertLess(relative_error(y, torch.softmax(x.double() @ w, 0)), TOLERANCE, len(x))
        out = torch.full((7, 56), -1.0, device="cuda")
        model(inputs[1], out=out[1:6])
        self.assertLess(relative_error(out[1:6], found[1]), 1e-6)
        self.assertTrue((out[[0, 6]] == -1).all())

    def test_boxes_of_odd_rows(self):
        """Copies slices whose rows have odd numbers of bytes."""
        text = """graph odd {
          input x: i8[n, length, 3]
          mask = cast(x) {to="f32"}
          s = softmax(mask) {axis=1}
          output s
        }
        """
        model = tunec.compile(text, dims={"n": [2, 3], "length": [5, 33]}, target="cuda", db=None)
        for n, length in ((2, 3), (3, 5), (1, 31), (3, 33), (2, 29)):
            x = torch.randint(-3, 4, (n, length, 3), dtype=torch.int8, device="cuda")
            self.assertLess(relative_error(model(x), torch.softmax(x.double(), 1)), TOLERANCE, (n, length))

    def test_dynamo_compiles_once_for_many_sizes(self):
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        layer = AttentionBlock().cuda()
        exact = copy.deepcopy(layer).double()
        model = torch.compile(layer, backend="tunec", options=OPTIONS, dynamic=True)
        with torch.no_grad():
            for batch, length in ((2, 16), (3, 21), (5, 30), (8, 9), (3, 18), (7, 31)):
                x = torch.randn(batch, length, 64, device="cuda")
                self.assertLess(relative_error(model(x), exact(x.double())), TOLERANCE, (batch, length))
        self.assertFalse(latest()[-1].left)
        self.assertEqual(torch._dynamo.utils.counters["stats"]["unique_graphs"], 1)


@unittest.skipUnless(HAS_GPU, "no GPU")
class Bundles(unittest.TestCase):

    def test_the_gpu_runs_what_was_built_for_it(self):
        major, minor = torch.cuda.get_device_capability()
        arch = f"sm_{major}{minor}" + ("a" if major >= 9 else "")
        with tempfile.TemporaryDirectory() as folder:
            model, bundle = Path(folder) / "m.graph", Path(folder) / "m.tnc"
            model.write_text("graph m {\n  input x: f32[64, 96]\n  weight w: f32[96, 80]\n  y = matmul(x, w)\n"
                             "  z = gelu(y)\n  output z\n}\n")
            command = [sys.executable, "-m", "tunec", "build", model, "--random-weights", "1", "--target", "cuda",
                       "--arch", arch, "--cpu", "x86-64-v3", "--no-db", "-o", bundle]
            subprocess.run([str(word) for word in command], check=True, env=os.environ, stdout=subprocess.DEVNULL)
            there, here = tunec.load(str(bundle)), tunec.load(str(bundle), device="cpu")
            x = torch.randn(64, 96)
            found = there(x.cuda())
            self.assertEqual(found.device.type, "cuda")
            self.assertLess(relative_error(found.cpu(), here(x)), TOLERANCE)


if __name__ == "__main__":
    unittest.main()
