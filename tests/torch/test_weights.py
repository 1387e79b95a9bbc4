"""Tests of weights that change between calls in all ways of torch, against eager mode."""
import copy
import gc
import threading
import time
import unittest
import unittest.mock

import torch
import tunec
from torch import nn
from tunec.torch import ImportedGraph
from tunec.torch.sized import SizedGraph

OPTIONS = {"db": None}
X = torch.linspace(-1, 1, 64).reshape(4, 16)


class Net(nn.Module):
    """Products, a normalisation by given moments, a table, a short buffer and a long one."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 32)
        self.norm = nn.BatchNorm1d(32)
        self.square = nn.Linear(32, 32)
        self.last = nn.Linear(32, 8)
        self.table = nn.Embedding(5, 8)
        self.register_buffer("short", torch.ones(8))
        self.register_buffer("long", torch.ones(32))
        with torch.no_grad():
            self.norm.running_mean.uniform_(-1, 1)
            self.norm.running_var.uniform_(0.5, 2)

    def forward(self, x):
        y = torch.relu(self.norm(self.first(x))) * self.long
        return self.last(torch.tanh(self.square(y))) * self.short + self.table.weight[2]


class Layer(nn.Module):
    """One of many equal layers."""

    def __init__(self):
        super().__init__()
        self.product = nn.Linear(24, 24)

    def forward(self, x):
        return x + nn.functional.gelu(self.product(x))


def counted_compilations():
    """Returns a patch that counts the compilations of graphs."""
    return unittest.mock.patch.object(ImportedGraph, "compile", autospec=True,
                                      side_effect=ImportedGraph.compile)


def net():
    torch.manual_seed(0)
    return Net().eval()


def train(model):
    with torch.enable_grad():
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
        model(X).square().mean().backward()
        optimizer.step()


def write_in_inference_mode(model):
    with torch.inference_mode():
        model.first.weight.mul_(1.25)
        model.short.add_(0.5)


def new_parameter(model):
    model.first.weight = nn.Parameter(torch.randn(32, 16))
    gc.collect()


def new_state(model):
    model.load_state_dict({name: torch.rand_like(value) + 0.1 if value.is_floating_point() else value
                           for name, value in model.state_dict().items()})


# Changes that increase a tensor's version counter, or that give a tensor other memory.
COUNTED = {
    "in place": lambda m: m.first.weight.mul_(1.5),
    "detach": lambda m: m.first.weight.detach().mul_(0.5),
    "detach, copied": lambda m: m.square.bias.detach().copy_(torch.randn(32)),
    "a part": lambda m: m.square.weight[3:9].mul_(-1),
    "set data": lambda m: setattr(m.last.weight, "data", torch.randn(8, 32)),
    "set data, turned": lambda m: setattr(m.square.weight, "data", torch.randn(32, 32).t()),
    "parameter": new_parameter,
    "load_state_dict": new_state,
    "optimizer": train,
    "buffer": lambda m: m.short.mul_(2),
    "buffer set": lambda m: setattr(m, "long", torch.rand(32)),
    "moments": lambda m: m.norm.running_var.mul_(1.5),
    "table": lambda m: m.table.weight[2].add_(1),
    "all as views of one": lambda m: nn.utils.vector_to_parameters(
        torch.randn(sum(p.numel() for p in m.parameters())) / 4, m.parameters()),
}

# Changes that leave version counters and memory as they were.
HIDDEN = {
    "data": lambda m: m.first.weight.data.mul_(-1),
    "data of a bias": lambda m: m.last.bias.data.add_(1),
    "NumPy": lambda m: m.square.weight.detach().numpy().__imul__(1.5),
    "NumPy, a row": lambda m: m.table.weight.detach().numpy()[2].fill(0.75),
    "buffer's data": lambda m: m.short.data.add_(1),
    "buffer by NumPy": lambda m: m.long.numpy().__imul__(3),
    "moments by NumPy": lambda m: m.norm.running_mean.numpy().__iadd__(0.25),
    "inference mode": write_in_inference_mode,
    "turned in its memory": lambda m: setattr(m.square.weight, "data", m.square.weight.data.t()),
}


def without_turned(changes):
    """Returns the changes that preserve all strides. Other strides give another graph of Dynamo."""
    return {name: change for name, change in changes.items() if "turned" not in name}


def compiled(module, dynamic=None, **options):
    return torch.compile(module, backend="tunec", dynamic=dynamic, options={**OPTIONS, **options})


class Weights(unittest.TestCase):

    def setUp(self):
        torch._dynamo.reset()
        torch.manual_seed(1)

    def near(self, found, reference):
        scale = max(1.0, reference.abs().max().item())
        torch.testing.assert_close(found, reference, rtol=0, atol=1e-4 * scale)

    def follow(self, model, fast, changes, inputs=(X,), times=2):
        """Makes each change `times` times. The compiled model must use the new weights each time.
        """
        with torch.no_grad():
            for name, change in list(changes.items()) * times:
                with self.subTest(name):
                    change(model)
                    for x in inputs:
                        self.near(fast(x), model(x))


class Read(Weights):
    """Tests of the default mode, in which each call reads the current weights."""

    def test_every_change(self):
        model = net()
        fast = compiled(model)
        fast(X)
        with torch.no_grad():
            fast(X)
        self.follow(model, fast, {**COUNTED, **HIDDEN})

    def test_every_change_at_open_sizes(self):
        model = net()
        fast = compiled(model, dynamic=True)
        inputs = [torch.randn(n, 16) for n in (3, 9)]
        self.follow(model, fast, without_turned({**COUNTED, **HIDDEN}), inputs, times=1)

    def test_every_change_beside_a_thread_that_compiles(self):
        model = net()
        fast = compiled(model, background=True)
        here, runs = threading.get_ident(), []
        run = SizedGraph.__call__

        def noted(graph, *arguments):
            if threading.get_ident() == here:
                runs.append(1)
            return run(graph, *arguments)

        changes = {**COUNTED, **HIDDEN}
        with unittest.mock.patch.object(SizedGraph, "__call__", noted):
            self.follow(model, fast, {"data": HIDDEN["data"]})
            deadline = time.monotonic() + 60
            while not runs and time.monotonic() < deadline:
                with torch.no_grad():
                    self.near(fast(X), model(X))
                time.sleep(0.02)
            self.assertTrue(runs)
            self.follow(model, fast, changes)

    def test_a_model_of_inference_mode(self):
        with torch.inference_mode():
            model = net()
            fast = compiled(model)
            for name in ("in place", "buffer", "data", "NumPy"):
                {**COUNTED, **HIDDEN}[name](model)
                self.near(fast(X), model(X))

    def test_tensors_of_the_surroundings(self):
        short, long = torch.ones(16), torch.ones(4, 16)
        function = lambda x: x * short + long  # noqa: E731
        fast = compiled(function)
        with torch.no_grad():
            for change in (short.mul_, long.add_, short.data.mul_, long.data.mul_,
                           short.numpy().__imul__, long.numpy().__iadd__):
                change(3)
                self.near(fast(X), function(X))

    def test_nothing_is_compiled_again(self):
        model = net()
        fast = compiled(model)
        with torch.no_grad():
            fast(X)
            with unittest.mock.patch.object(ImportedGraph, "compile", side_effect=AssertionError):
                self.follow(model, fast, without_turned({**COUNTED, **HIDDEN}))

    def test_equal_layers_are_one_executable(self):
        layers = [Layer().eval() for _ in range(8)]
        for layer in layers:
            layer.compile(backend="tunec", options=OPTIONS)
        with torch.no_grad(), counted_compilations() as compile_graph:
            found = reference = torch.randn(3, 24)
            for layer in layers:
                found, reference = layer(found), layer.forward(reference)
            self.near(found, reference)
        self.assertEqual(compile_graph.call_count, 1)

    def test_equal_models_of_open_sizes_are_one_executable(self):
        models = [net() for _ in range(2)]
        models[1].first.weight.data.mul_(2)
        with torch.no_grad(), counted_compilations() as compile_graph:
            for model in models:
                fast = compiled(model, dynamic=True)
                for rows in (3, 9):
                    x = torch.randn(rows, 16)
                    self.near(fast(x), model(x))
        self.assertLessEqual(compile_graph.call_count, 1)

    def test_threads_that_call_one_model(self):
        model = net()
        fast = compiled(model)
        wrong = []
        with torch.no_grad():
            model.first.bias.zero_()

        def call(number):
            with torch.no_grad():
                for i in range(40):
                    x = X * (number + 1) + i
                    if not torch.allclose(fast(x), model(x), atol=1e-3, rtol=1e-3):
                        wrong.append((number, i))

        threads = [threading.Thread(target=call, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class Writer(nn.Module):
    """A module that reads buffers in one graph and writes them in another."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.ones(16))
        self.register_buffer("sums", torch.zeros(4, 16))

    def forward(self, x):
        y = x * self.count + self.sums
        torch._dynamo.graph_break()
        self.count.add_(1)
        self.sums.copy_(self.sums * 0.5 + x)
        return y


class Overlapping(nn.Module):
    """A module that writes a part of a buffer as a separate buffer, and reads the whole."""

    def __init__(self):
        super().__init__()
        self.register_buffer("whole", torch.ones(32))
        self.register_buffer("part", self.whole[8:24])
        self.layer = nn.Linear(16, 32)

    def forward(self, x):
        y = self.layer(x) * self.whole
        self.part.add_(x.sum(0))
        return y + self.whole


class WrittenByTheModel(Weights):

    def check(self, kind, **options):
        model = kind()
        reference = copy.deepcopy(model)
        if kind is Overlapping:
            reference.part = reference.whole[8:24]
        fast = compiled(model, **options)
        with torch.no_grad():
            for step in range(6):
                x = torch.randn(4, 16)
                self.near(fast(x), reference(x))
                for one, other in zip(model.buffers(), reference.buffers()):
                    self.near(one, other)
                if step % 2:
                    for network in (model, reference):
                        next(network.buffers()).mul_(1.5)

    def test_buffers(self):
        for options in ({}, {"dynamic": True}, {"background": True}, {"freeze": True},
                        {"freeze": True, "background": True}):
            for kind in (Writer, Overlapping):
                with self.subTest(kind=kind.__name__, **options):
                    torch._dynamo.reset()
                    self.check(kind, **options)


class Frozen(Weights):
    """Tests of frozen weights. A change takes effect if it increases a version counter or gives a
    tensor other memory."""

    def test_each_counted_change(self):
        few = {name: COUNTED[name] for name in ("in place", "set data", "buffer")}
        for options, changes in (({}, COUNTED), ({"dynamic": True}, few), ({"background": True}, few)):
            for name, change in changes.items():
                torch._dynamo.reset()
                with self.subTest(name, **options):
                    model = net()
                    fast = compiled(model, freeze=True, **options)
                    with torch.no_grad():
                        self.near(fast(X), model(X))
                    self.follow(model, fast, {name: change})

    def test_weights_that_change_often_are_read(self):
        model = net()
        fast = compiled(model, freeze=True)
        with torch.no_grad():
            fast(X)
        self.follow(model, fast, {"in place": COUNTED["in place"], "buffer": COUNTED["buffer"]})
        self.follow(model, fast, {**COUNTED, **HIDDEN})

    def test_what_is_compiled_in_keeps_its_address(self):
        for number in range(4):
            torch._dynamo.reset()
            model = net()
            fast = compiled(model, freeze=True)
            with torch.no_grad():
                self.near(fast(X), model(X))
                for value in (2.0, 3.0 + number):
                    model.short = torch.full((8,), value)
                self.near(fast(X), model(X))

    def test_equal_weights_of_two_models_are_two(self):
        one = net()
        other = copy.deepcopy(one)
        fast = compiled(one, dynamic=True, freeze=True)
        slow = compiled(other, dynamic=True, freeze=True)
        with torch.no_grad():
            for rows in (3, 9):
                fast(torch.randn(rows, 16))
            self.near(slow(X[:1]), other(X[:1]))
            train(one)
            one.table.weight.add_(1)
            for x in (X[:1], X):
                self.near(slow(x), other(x))
                self.near(fast(x), one(x))

    def test_threads_see_a_change(self):
        model = net()
        fast = compiled(model, freeze=True)
        with torch.no_grad():
            fast(X)
            model.first.weight.mul_(2)
            reference, found = model(X), []

            def call():
                with torch.no_grad():
                    found.append(fast(X))

            threads = [threading.Thread(target=call) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(len(found), 8)
            for result in found:
                self.near(result, reference)


class AheadOfTime(Weights):
    """Tests that tunec.compile keeps its original weights."""

    def test_no_change_is_seen(self):
        for rows in (1, 4):
            model, x = net(), X[:rows]
            fast = tunec.compile(model, (x,), **OPTIONS)
            with torch.no_grad():
                before = model(x)
                for name, change in {**HIDDEN, **COUNTED}.items():
                    with self.subTest(name, rows=rows):
                        change(model)
                        self.near(fast(x), before)


if __name__ == "__main__":
    unittest.main()
