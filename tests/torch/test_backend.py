"""Tests of torch.compile(backend="tunec") against eager mode, with other code between the operators
as in real programs."""
import copy
import os
import subprocess
import sys
import threading
import time
import unittest
import unittest.mock

import torch
from torch import nn
from tunec.torch import ImportedGraph
from tunec.torch.reports import explain, latest
from tunec.torch.sized import SizedGraph

OPTIONS = {"db": None}


class Block(nn.Module):
    """A block with a product, a norm, an activation and a residual."""

    def __init__(self, width=64):
        super().__init__()
        self.first = nn.Linear(width, 2 * width)
        self.norm = nn.LayerNorm(2 * width)
        self.second = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.second(nn.functional.gelu(self.norm(self.first(x))))


class Counter(nn.Module):
    """A module that changes a buffer and its input tensor."""

    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(4))

    def forward(self, x):
        self.total += x
        x.mul_(2)
        return self.total.sum() + x


class Cache(nn.Module):
    """Attention over a static cache. Each step writes a row of the cache."""

    def __init__(self, length=16, width=8):
        super().__init__()
        self.register_buffer("keys", torch.zeros(length, width))
        self.product = nn.Linear(width, width)

    def forward(self, x, position):
        self.keys.index_copy_(0, position, self.product(x))
        scores = x @ self.keys.T
        return torch.softmax(scores, dim=-1) @ self.keys


def compiled(function, **options):
    return torch.compile(function, backend="tunec", options={**OPTIONS, **options})


class Inference(unittest.TestCase):

    def setUp(self):
        torch.manual_seed(1)
        torch._dynamo.reset()

    def close(self, found, reference, tolerance=1e-4):
        torch.testing.assert_close(found, reference, rtol=tolerance, atol=tolerance)

    def test_is_found_without_importing_tunec(self):
        program = ("import sys, torch; assert 'tunec' not in sys.modules\n"
                   "f = torch.compile(lambda x: torch.relu(x) + 1, backend='tunec')\n"
                   "print(f(torch.tensor([-1.0, 2.0])).tolist())")
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p))
        ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True,
                             text=True, check=False)
        self.assertEqual(ran.stdout.strip(), "[1.0, 3.0]", ran.stderr)

    def test_module(self):
        model = Block().eval()
        fast = compiled(model)
        with torch.no_grad():
            for _ in range(3):
                x = torch.randn(5, 64)
                self.close(fast(x), model(x))

    def test_weights_that_change_are_seen(self):
        model = Block().eval()
        fast = compiled(model)
        x = torch.randn(5, 64)
        with torch.no_grad():
            for change in range(5):
                self.close(fast(x), model(x))
                if change % 2:
                    model.first.weight.mul_(1.5)
                else:
                    model.second.weight.data = torch.randn(64, 128)

    def test_sizes_that_change_are_one_graph(self):
        model = Block().eval()
        torch._dynamo.utils.counters.clear()
        fast = compiled(model)
        with torch.no_grad():
            for rows in (2, 3, 7, 4, 3, 9, 2, 31):
                x = torch.randn(rows, 64)
                self.close(fast(x), model(x))
        self.assertLessEqual(torch._dynamo.utils.counters["stats"]["unique_graphs"], 2)

    def test_buffers_and_inputs_that_are_written(self):
        model, reference = Counter(), Counter()
        fast = compiled(model)
        with torch.no_grad():
            for _ in range(3):
                x = torch.randn(4)
                y = x.clone()
                self.close(fast(x), reference(y))
                self.close(x, y)
                self.close(model.total, reference.total)

    def test_static_cache(self):
        model, reference = Cache(), Cache()
        reference.load_state_dict(model.state_dict())
        fast = compiled(model)
        with torch.no_grad():
            for step in range(6):
                x, position = torch.randn(1, 8), torch.tensor([step])
                self.close(fast(x, position), reference(x, position))
                self.close(model.keys, reference.keys)

    def test_a_cache_is_written_where_it_lies(self):
        model, reference = Cache(), Cache()
        reference.load_state_dict(model.state_dict())
        fast = compiled(model)
        with torch.no_grad(), unittest.mock.patch.object(SizedGraph, "_given", autospec=True,
                                                         side_effect=SizedGraph._given) as given:
            for step in range(4):
                x, position = torch.randn(1, 8), torch.tensor([step])
                self.close(fast(x, position), reference(x, position))
                self.close(model.keys, reference.keys)
        # Each run received the buffer as memory for an output.
        self.assertEqual(given.call_count, 4)
        for call in given.call_args_list:
            tensors = SizedGraph._given(*call.args)
            self.assertEqual([t.data_ptr() for t in tensors.values()], [model.keys.data_ptr()])

    def test_caches_are_written_in_every_spelling(self):
        def put(cache, at, new):
            cache[:, :, at] = new

        def copy(cache, at, new):
            cache.index_copy_(2, at, new)

        def by_batch(cache, at, new):
            cache[torch.arange(2)[:, None], :, at] = new.transpose(1, 2)

        def cut(cache, at, new):
            cache[:2, :, at] = new

        def add(cache, at, new):
            cache.index_add_(2, at, new)

        def fixed(cache, at, new):
            cache[:, :, 3:5] = new

        def step(write):
            def function(cache, at, new):
                write(cache, at, new)
                return cache.sum(-2)
            return function

        for write in (put, copy, by_batch, cut, add, fixed):
            with self.subTest(write.__name__):
                torch._dynamo.reset()
                fast = compiled(step(write))
                cache = torch.randn(3 if write is cut else 2, 3, 9, 20)
                reference = cache.clone()
                for rows in ([0, 1], [8, 2], [-1, 4]):
                    at, new = torch.tensor(rows), torch.randn(2, 3, 2, 20)
                    if write in (copy, add):
                        at = at % 9
                    with torch.no_grad():
                        self.close(fast(cache, at, new), step(write)(reference, at, new))
                    self.assertTrue(torch.equal(cache, reference))

    def test_a_buffer_that_is_read_later_is_copied(self):
        def function(x, kept):
            y = torch.linalg.inv(x + torch.eye(4))  # stays in torch, between two parts
            updated = torch.relu(kept) + y
            result = kept * 2 + updated
            kept.copy_(updated)
            return result

        for _ in range(2):
            x, kept = torch.rand(4, 4), torch.randn(4, 4)
            other = kept.clone()
            with torch.no_grad():
                self.close(compiled(function)(x, kept), function(x, other), 1e-3)
            self.close(kept, other, 1e-3)

    def test_what_tunec_cannot_do_stays_in_torch(self):
        def function(x):
            y = torch.relu(x) * 2
            z = torch.linalg.inv(y @ y.T + torch.eye(4))
            return z @ x, y.sum()

        x = torch.randn(4, 6)
        for found, reference in zip(compiled(function)(x), function(x)):
            self.close(found, reference, 1e-3)
        explanation = explain(function, x, options=OPTIONS)
        self.assertEqual(len(explanation.graphs), 1)
        self.assertGreaterEqual(explanation.graphs[0].compiled, 1)
        self.assertIn("linalg_inv", str(explanation))

    def test_graph_breaks_are_told(self):
        def function(x):
            y = torch.relu(x)
            if y.sum() > 0:
                return y + 1
            return y - 1

        explanation = explain(function, torch.ones(3), options=OPTIONS)
        self.assertEqual(len(explanation.breaks), 1)
        self.assertEqual(len(explanation.graphs), 2)

    def test_outputs_that_are_inputs_views_and_numbers(self):
        def function(x, n):
            return x, x[1:], x.T, x + 1, n * 2, x.shape[0], None

        x = torch.randn(3, 4)
        found, reference = compiled(function)(x, 3), function(x, 3)
        for one, other in zip(found, reference):
            if isinstance(other, torch.Tensor):
                self.close(one, other)
                self.assertEqual(one.stride(), other.stride())
            else:
                self.assertEqual(one, other)
        self.assertIs(found[0], x)
        self.assertEqual(found[1].data_ptr(), x[1:].data_ptr())

    def test_channels_last_goes_in_and_out(self):
        model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU()).eval()
        model = model.to(memory_format=torch.channels_last)
        x = torch.randn(2, 3, 10, 12).to(memory_format=torch.channels_last)
        with torch.no_grad():
            found, reference = compiled(model)(x), model(x)
        self.close(found, reference)
        self.assertEqual(found.stride(), reference.stride())

    def test_background_runs_eagerly_first(self):
        model = Block().eval()
        fast = compiled(model, background=True)
        x = torch.randn(5, 64)
        may_go_on = threading.Event()
        runs = []

        real = ImportedGraph.compile

        def slowly(graph, **options):
            may_go_on.wait(60)
            executable = real(graph, **options)
            return lambda *inputs, **more: runs.append(1) or executable(*inputs, **more)

        with torch.no_grad(), unittest.mock.patch.object(ImportedGraph, "compile", slowly):
            reference = model(x)
            self.close(fast(x), reference)  # does not wait for the compilation
            self.assertEqual(runs, [])
            may_go_on.set()
            deadline = time.monotonic() + 60
            while len(runs) < 2 and time.monotonic() < deadline:  # one by the other thread
                self.close(fast(x), reference)
                time.sleep(0.02)
            self.assertGreaterEqual(len(runs), 2)

    def test_a_wrong_option_is_an_error(self):
        with self.assertRaisesRegex(Exception, "unknown option 'trails'"):
            torch.compile(lambda x: x * 2, backend="tunec", options={"trails": 1})(torch.ones(3))


class Training(unittest.TestCase):

    def setUp(self):
        torch.manual_seed(2)
        torch._dynamo.reset()

    def test_gradients(self):
        model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                              nn.Linear(8 * 16, 10))
        reference = copy.deepcopy(model)
        fast = compiled(model)
        x, labels = torch.randn(4, 3, 8, 8), torch.randint(10, (4,))
        for run in (fast, reference):
            nn.functional.cross_entropy(run(x), labels).backward()
        for one, other in zip(model.parameters(), reference.parameters()):
            torch.testing.assert_close(one.grad, other.grad, rtol=1e-4, atol=1e-5)

    def test_steps_of_an_optimizer(self):
        model = Block(16)
        reference = copy.deepcopy(model)
        fast = compiled(model)
        for network, run in ((model, fast), (reference, reference)):
            optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
            torch.manual_seed(3)
            for _ in range(4):
                optimizer.zero_grad()
                run(torch.randn(8, 16)).square().mean().backward()
                optimizer.step()
        for one, other in zip(model.parameters(), reference.parameters()):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)

    def test_batch_norm_keeps_its_statistics(self):
        model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
        reference = copy.deepcopy(model)
        fast = compiled(model)
        for _ in range(2):
            x = torch.randn(4, 3, 8, 8)
            fast(x).sum().backward()
            reference(x).sum().backward()
        torch.testing.assert_close(model[1].running_mean, reference[1].running_mean)
        torch.testing.assert_close(model[1].running_var, reference[1].running_var)

    def check_step(self, model, inputs, loss_of):
        """Compares one step with eager. Each graph must be one compiled part."""
        reference = copy.deepcopy(model)
        losses = []
        for run in (compiled(model), reference):
            losses.append(loss_of(run(*inputs)))
            losses[-1].backward()
        for report in latest()[-2:]:
            self.assertEqual((report.compiled, report.left), (1, []))
        torch.testing.assert_close(*losses, rtol=1e-4, atol=1e-5)
        for (name, one), other in zip(model.named_parameters(), reference.parameters()):
            torch.testing.assert_close(one.grad, other.grad, rtol=1e-4, atol=1e-4, msg=name)
        for one, other in zip(model.buffers(), reference.buffers()):
            torch.testing.assert_close(one, other)

    def test_a_residual_network_is_two_parts(self):
        self.check_step(Residual(), (torch.randn(4, 3, 17, 16),), cross_entropy_of)

    def test_a_residual_network_with_channels_last(self):
        model = Residual().to(memory_format=torch.channels_last)
        x = torch.randn(4, 3, 17, 16).contiguous(memory_format=torch.channels_last)
        self.check_step(model, (x,), cross_entropy_of)

    def test_gradients_of_an_image_that_is_given(self):
        x = torch.randn(2, 3, 9, 9, requires_grad=True)
        other = x.detach().clone().requires_grad_()
        model = Residual()
        reference = copy.deepcopy(model)
        compiled(model)(x).sum().backward()
        reference(other).sum().backward()
        self.assertEqual(x.grad.stride(), other.grad.stride())
        torch.testing.assert_close(x.grad, other.grad, rtol=1e-4, atol=1e-4)

    def test_images_are_saved_with_channels_last(self):
        model = Residual()
        loss = compiled(model)(torch.randn(4, 3, 16, 16)).sum()
        node = loss.grad_fn
        while not hasattr(node, "saved_tensors"):
            node = node.next_functions[0][0]
        images = [t for t in node.saved_tensors if t.dim() == 4 and t.shape[2] > 1
                  and t.shape[1] > 3 and t.shape[0] == 4]
        self.assertGreater(len(images), 3)
        for image in images:
            self.assertTrue(image.is_contiguous(memory_format=torch.channels_last))

    def test_what_goes_out_as_well_lies_as_torch_says(self):
        class Seen(nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 8, 3)

            def forward(self, x):
                y = self.a(x).relu()
                return y, self.b(y)

        model = Seen()
        y, z = compiled(model)(torch.randn(2, 3, 9, 9))
        self.assertTrue(y.is_contiguous() and z.is_contiguous())
        (y.sum() + z.square().sum()).backward()
        self.assertTrue(all(p.grad is not None for p in model.parameters()))

    def test_results_that_repeat_elements_are_saved(self):
        class Masked(nn.Module):
            def __init__(self):
                super().__init__()
                self.product = nn.Linear(8, 8)

            def forward(self, x, mask):
                return self.product(x) * (mask + 1).expand_as(x)

        self.check_step(Masked(), (torch.randn(4, 5, 8), torch.ones(4, 1, 1)),
                        lambda y: y.square().mean())

    def test_dropout_is_random_and_the_rest_one_part(self):
        model = nn.Sequential(nn.Linear(64, 64), nn.Dropout(0.25), nn.Linear(64, 64))
        fast, x = compiled(model), torch.randn(400, 64)
        model[2].weight.data.copy_(torch.eye(64))
        model[2].bias.data.zero_()
        y = fast(x)
        whole = model[0](x)
        kept = y != 0
        self.assertAlmostEqual(kept.float().mean().item(), 0.75, delta=0.02)
        torch.testing.assert_close(y[kept], (whole / 0.75)[kept], rtol=1e-4, atol=1e-4)
        self.assertFalse(torch.equal(kept, fast(x) != 0))
        y.sum().backward()  # only retained elements have gradients
        torch.testing.assert_close(model[0].bias.grad, kept.sum(0) / 0.75)
        left = [node.operator for report in latest()[-2:] for node in report.left]
        self.assertEqual(left, ["aten.rand.default"])
        self.assertEqual([report.compiled for report in latest()[-2:]], [1, 1])

    def test_attention_of_grouped_queries(self):
        class Attention(nn.Module):
            def __init__(self):
                super().__init__()
                self.q, self.kv = nn.Linear(32, 32), nn.Linear(32, 32)

            def forward(self, x):
                q = self.q(x).view(2, 7, 4, 8).transpose(1, 2)
                k, v = self.kv(x).view(2, 7, 2, 2, 8).permute(2, 0, 3, 1, 4)
                y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True,
                                                               enable_gqa=True)
                return y.transpose(1, 2).reshape(2, 7, 32)

        self.check_step(Attention(), (torch.randn(2, 7, 32),), lambda y: y.square().mean())

    def test_gradients_of_what_torch_runs(self):
        class Determinant(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv2d(2, 4, 3, padding=1)

            def forward(self, x):
                y = torch.linalg.inv(self.conv(x).relu() + 3 * torch.eye(4))
                return torch.relu(y)

        model = Determinant()
        reference = copy.deepcopy(model)
        x = torch.rand(2, 2, 4, 4)
        compiled(model)(x).sum().backward()
        reference(x).sum().backward()
        for one, other in zip(model.parameters(), reference.parameters()):
            torch.testing.assert_close(one.grad, other.grad, rtol=1e-3, atol=1e-4)


def cross_entropy_of(scores):
    labels = torch.arange(scores.shape[0]) % scores.shape[1]
    return nn.functional.cross_entropy(scores, labels)


class Residual(nn.Module):
    """The parts of a ResNet: the first layers, a block that halves the image, and the head."""

    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 16, 7, 2, 3, bias=False), nn.BatchNorm2d(16),
                                   nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        self.long = nn.Sequential(nn.Conv2d(16, 24, 3, 2, 1, bias=False), nn.BatchNorm2d(24),
                                  nn.ReLU(), nn.Conv2d(24, 24, 3, 1, 1), nn.BatchNorm2d(24))
        self.short = nn.Sequential(nn.Conv2d(16, 24, 1, 2, bias=False), nn.BatchNorm2d(24))
        self.head = nn.Linear(24, 5)

    def forward(self, x):
        x = self.first(x)
        x = torch.relu(self.long(x) + self.short(x))
        return self.head(nn.functional.adaptive_avg_pool2d(x, 1).flatten(1))


if __name__ == "__main__":
    unittest.main()
