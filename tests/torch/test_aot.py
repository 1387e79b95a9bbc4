"""Tests of the graphs that AOTAutograd passes to a backend of torch.compile."""
import copy
import unittest

try:
    import torch
except ImportError:
    raise unittest.SkipTest("torch is not installed")

from torch import nn
from torch._dynamo.backends.common import aot_autograd
from tunec.torch import aot_decompositions, import_graph, unsupported

import small_models
from run_graph import CompiledGraph


class _Backend:
    """A backend that compiles graphs with tunec, or runs them eagerly if a node is unsupported."""

    def __init__(self):
        self.unsupported = []
        self.graphs = 0
        self.compile = aot_autograd(fw_compiler=self._graph, bw_compiler=self._graph,
                                    decompositions=aot_decompositions())

    def _graph(self, module, _inputs):
        missing = unsupported(module)
        self.unsupported += missing
        if missing:
            return module
        self.graphs += 1
        graph = import_graph(module)
        run = CompiledGraph(graph) if graph.outputs else None
        names = [node.name for node in module.graph.find_nodes(op="placeholder")]
        used = [names.index(port.source) for port in graph.inputs]

        def call(*arguments):
            found = run(*(arguments[i] for i in used)) if run else []
            return [found[r] if is_tensor else r.value
                    for r, is_tensor in zip(graph.results, tensors, strict=True)]

        outputs = module.graph.output_node().args[0]
        tensors = [isinstance(n, torch.fx.Node) and isinstance(n.meta["val"], torch.Tensor)
                   for n in outputs]
        call._boxed_call = False
        return call


class Transformer(nn.Module):
    def __init__(self, vocab=50, dim=32):
        super().__init__()
        self.words = nn.Embedding(vocab, dim)
        self.layer = nn.TransformerEncoderLayer(dim, 4, 64, dropout=0.0, batch_first=True,
                                                activation="gelu", norm_first=True)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        return self.head(self.layer(self.words(ids)))


class Convolutions(nn.Module):
    """The first and the last layers of a ResNet."""

    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 8, 3, 2, 1, bias=False)
        self.n = nn.BatchNorm2d(8)
        self.b = nn.Conv2d(8, 8, 3, 1, 1, groups=2)
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        x = torch.relu(self.n(self.a(x)))
        x = nn.functional.max_pool2d(x, 3, 2, 1)
        x = x + torch.nn.functional.silu(self.b(x))
        return self.head(nn.functional.adaptive_avg_pool2d(x, 1).flatten(1))


class Aot(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        torch._dynamo.reset()
        # Disables the fast path: one operator for a whole layer, for inference without compilers.
        fast = torch.backends.mha.get_fastpath_enabled()
        torch.backends.mha.set_fastpath_enabled(False)
        self.addCleanup(torch.backends.mha.set_fastpath_enabled, fast)

    def assert_close(self, found, expected):
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)

    def check_inference(self, module, *inputs):
        module = module.eval()
        backend = _Backend()
        with torch.no_grad():
            compiled = torch.compile(module, backend=backend.compile, dynamic=False)
            self.assert_close(compiled(*inputs), module(*inputs))
        self.assertEqual(backend.unsupported, [])
        self.assertEqual(backend.graphs, 1)

    def test_transformer(self):
        self.check_inference(Transformer(), torch.randint(0, 50, (2, 7)))

    def test_convolutions(self):
        self.check_inference(Convolutions(), torch.randn(2, 3, 16, 16))

    def test_mixture_of_experts(self):
        self.check_inference(small_models.MixtureOfExperts(), torch.randn(2, 5, 32))

    def test_decoder(self):
        module = small_models.Decoder().eval()
        backend = _Backend()
        ours = copy.deepcopy(module)
        with torch.no_grad():
            compiled = torch.compile(ours, backend=backend.compile, dynamic=False)
            for ids, at in small_models.decode_steps():
                self.assert_close(compiled(ids, at), module(ids, at))
        self.assertEqual(backend.unsupported, [])

    def check_training(self, module, inputs, classes):
        labels = torch.randint(0, classes, module(*inputs).shape[:-1])

        def step(run):
            module.zero_grad()
            loss = nn.functional.cross_entropy(run(*inputs).flatten(0, -2), labels.flatten())
            loss.backward()
            return loss, [p.grad.clone() for p in module.parameters()]

        loss, gradients = step(module)
        backend = _Backend()
        found_loss, found = step(torch.compile(module, backend=backend.compile, dynamic=False))
        self.assertEqual(backend.unsupported, [])
        self.assertEqual(backend.graphs, 2)
        self.assert_close(found_loss, loss)
        for f, w in zip(found, gradients, strict=True):
            self.assert_close(f, w)

    def test_training_of_a_transformer(self):
        self.check_training(Transformer(), (torch.randint(0, 50, (2, 7)),), 50)

    def test_training_of_convolutions(self):
        self.check_training(Convolutions(), (torch.randn(4, 3, 16, 16),), 5)


if __name__ == "__main__":
    unittest.main()
