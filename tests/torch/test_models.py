"""Tests of whole models through FX against eager PyTorch.

TUNEC_TEST_NETWORKS=1 runs the nine networks of bench/peers/models.py. By default the small networks
run.
"""
import copy
import os
import pathlib
import sys
import unittest

try:
    import torch
except ImportError:
    raise unittest.SkipTest("torch is not installed")

from tunec.torch import UnsupportedOperator, import_program

import small_models
from run_graph import CompiledGraph

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "peers"))

_NINE = ("resnet50", "resnet18", "mobilenet_v2", "vgg16", "unet_small", "bert_base", "gpt2_small",
         "vit_b_16", "mixer_s_16")
_SMALL = ("mlp3", "bert_small", "unet_gn", "unet_gn_f16", "mlp3_bf16", "lstm_20", "gru_64",
          "swin_block", "conv3x3", "attention", "gelu_tanh", "topk_50")


class Session:
    """A compiled exported program with its buffers. A call writes into buffers and inputs."""

    def __init__(self, program, **options):
        self.graph = import_program(program)
        self._run = CompiledGraph(self.graph)
        kept = dict(program.named_buffers())
        self.state = {spec.arg.name: kept[spec.target].clone()
                      for spec in program.graph_signature.input_specs if spec.target in kept}

    def __call__(self, *inputs):
        given = iter(inputs)
        values = {port.name: self.state[port.source] if port.source in self.state else next(given)
                  for port in self.graph.inputs}
        found = self._run(*values.values())
        for port, value in zip(self.graph.outputs, found):
            if port.name in self.graph.mutations:
                values[self.graph.mutations[port.name]].copy_(value)
        kept = [i for i, port in enumerate(self.graph.outputs)
                if port.name not in self.graph.mutations]
        results = self.graph.results[-len(kept):] if kept else []
        return [found[i] if isinstance(i, int) else i for i in results]


class ModelTest(unittest.TestCase):
    def assert_close(self, found, expected, bound=3e-5):
        self.assertEqual((found.dtype, found.shape), (expected.dtype, expected.shape))
        found, expected = found.double(), expected.double()
        error = (found - expected).abs().max() / expected.abs().max().clamp(min=1e-6)
        self.assertLess(float(error), bound)

    def check(self, module, inputs, bound=3e-5):
        with torch.no_grad():
            expected = module(*inputs)
            found = Session(torch.export.export(module, inputs))(*inputs)
        expected = expected if isinstance(expected, tuple) else (expected,)
        for f, w in zip(found, expected, strict=True):
            self.assert_close(f, w, bound)


class Networks(ModelTest):
    """Tests of the networks of the benchmarks."""


def _add_networks():
    names = _NINE if os.environ.get("TUNEC_TEST_NETWORKS") else _SMALL
    for name in names:
        def test(self, name=name):
            from networks.seeded import build
            module, inputs = build(name)
            bound = 5e-2 if name.endswith("bf16") else 1e-2 if name.endswith("f16") else 3e-5
            self.check(module, inputs, bound)
        setattr(Networks, f"test_{name}", test)


_add_networks()


class SmallModels(ModelTest):
    def setUp(self):
        torch.manual_seed(0)

    def test_tiny_model(self):
        self.check(small_models.TinyModel(), (torch.randn(1, 4),))

    def test_residual_block(self):
        module = small_models.ResidualBlock()
        module(torch.randn(4, 16, 8, 8))  # changes the running moments from 0 and 1
        self.check(module.eval(), (torch.randn(1, 16, 8, 8),))

    def test_mixture_of_experts(self):
        self.check(small_models.MixtureOfExperts(), (torch.randn(2, 5, 32),))

    def test_selective_scan(self):
        self.check(small_models.SelectiveScan(), (torch.randn(2, 7, 16),))

    def check_decoder(self, put):
        module = small_models.Decoder(put=put).eval()
        ours = copy.deepcopy(module)
        sessions = {}
        state = {}
        with torch.no_grad():
            for ids, at in small_models.decode_steps():
                length = ids.shape[1]
                if length not in sessions:
                    session = Session(torch.export.export(ours, (ids, at)))
                    sessions[length] = session
                session = sessions[length]
                state = {k: state.get(k, v) for k, v in session.state.items()}
                session.state = state
                self.assert_close(session(ids, at)[0], module(ids, at))
        for name, cache in module.named_buffers():
            found = [v for k, v in state.items() if k.endswith(name.replace(".", "_"))]
            self.assert_close(found[0], cache)

    def test_decoder_with_index_copy(self):
        self.check_decoder("index_copy")

    def test_decoder_with_index_put(self):
        self.check_decoder("index_put")


class Ports(ModelTest):
    """Tests of a graph's descriptions of its inputs and outputs."""

    def test_buffers_and_inputs_that_change(self):
        module = small_models.Counter()
        x, total = torch.randn(4, 3), torch.zeros(())
        session = Session(torch.export.export(copy.deepcopy(module), (x, total.clone())))
        self.assertEqual(len(session.graph.mutations), 3)
        ours = total.clone()
        for _ in range(3):
            expected = module(x, total)
            for f, w in zip(session(x, ours), expected, strict=True):
                self.assert_close(f, w)
        self.assert_close(ours, total)
        state = dict(session.state)
        self.assertEqual(int(next(v for k, v in state.items() if "calls" in k)), 3)

    def test_outputs_that_are_no_results(self):
        x = torch.randn(2, 3)
        program = torch.export.export(small_models.Views(), (x,))
        graph = import_program(program)
        found = CompiledGraph(graph)(x)
        whole = [found[r] if i < 5 else r for i, r in enumerate(graph.results)]
        self.assertEqual([entry.value for entry in whole[5:]], [7, None])
        for f, w in zip(whole, (x, x.view(-1), x.exp(), x.exp(), torch.arange(3))):
            self.assert_close(f, w)
        aliased = [port.name in graph.aliases for port in graph.outputs]
        self.assertEqual(aliased, [True, True, False, False, False])

    def test_names_every_node_that_it_cannot_do(self):
        class Bad(torch.nn.Module):
            def forward(self, x):
                y = torch.fft.fft(x)
                return y.real + torch.bernoulli(x.abs().clamp(max=1)), x.relu()

        program = torch.export.export(Bad(), (torch.rand(4),))
        with self.assertRaises(UnsupportedOperator) as caught:
            import_program(program)
        reasons = {node.reason for node in caught.exception.nodes}
        self.assertIn("random numbers", reasons)
        self.assertGreaterEqual(len(caught.exception.nodes), 2)
        self.assertTrue(any("test_models.py" in node.location for node in caught.exception.nodes))

    def test_weights_share_memory(self):
        module = small_models.TinyModel()
        graph = import_program(torch.export.export(module, (torch.randn(1, 4),)))
        weight = graph.weights["linear.weight"]
        self.assertEqual(weight.data_ptr(), module.linear.weight.data_ptr())


if __name__ == "__main__":
    unittest.main()
