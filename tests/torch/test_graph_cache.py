"""Tests of the cache of graphs that another process traced. A graph is found again only for the
same model, and gives the right results."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))

# The program of each process. It runs `model` on fixed inputs, compares with eager mode, and prints
# errors and cache counters as JSON.
PROGRAM = """
import json, sys
import torch
from torch import nn
from torch._dynamo.utils import counters
seed, scale = int(sys.argv[1]), float(sys.argv[2])
torch.manual_seed(seed)
{model}
compiled = torch.compile(model, backend="tunec", dynamic={dynamic}, options={options})
results = []
with torch.set_grad_enabled({grad}):
    for _ in range({runs}):
        arguments = [x.clone() for x in inputs]
        found, expected = compiled(*arguments), plain(*(x.clone() for x in inputs))
        found, expected = (x if isinstance(x, tuple) else (x,) for x in (found, expected))
        results.append(max((f - w).abs().max().item() for f, w in zip(found, expected)))
counts = counters["aot_autograd"]
print(json.dumps({{"errors": results, "hits": counts["autograd_cache_hit"],
                  "saved": counts["autograd_cache_saved"], "inductor": "torch._inductor.lowering" in sys.modules}}))
"""

LAYERS = """
import copy
model = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 8)).eval()
model[0].weight.data *= scale
plain, inputs = copy.deepcopy(model), [torch.randn(4, 16)]
"""

COUNTER = """
import copy
class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(4))
    def forward(self, x):
        self.total += x
        return self.total * scale, x.view(2, 2)
model = Counter().eval()
plain, inputs = copy.deepcopy(model), [torch.arange(4.0)]
"""

CONSTANT = """
def plain(x):
    return torch.sort(x * torch.tensor([1.0, 2.0, scale]))[0] + scale
model, inputs = plain, [torch.randn(5, 3)]
"""

ATTENTION = """
def plain(q, k):
    return nn.functional.scaled_dot_product_attention(q, k, k, scale=scale)
model, inputs = plain, [torch.randn(1, 2, 8, 4), torch.randn(1, 2, 8, 4)]
"""

EFFECTS = """
def plain(x):
    return torch.linalg.inv(x + torch.eye(4)) * scale
model, inputs = plain, [torch.rand(4, 4)]
"""


class GraphCache(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_process(self, model, seed=0, scale=1.0, dynamic=None, grad=False, options=None, runs=2):
        program = PROGRAM.format(model=model, dynamic=dynamic, grad=grad, runs=runs,
                                 options={"db": None, **(options or {})})
        environment = dict(os.environ, TORCHINDUCTOR_CACHE_DIR=self.folder, PYTHONPATH=os.pathsep.join(sys.path))
        ran = subprocess.run([sys.executable, "-c", program, str(seed), str(scale)], env=environment,
                             capture_output=True, text=True, cwd=HERE)
        self.assertEqual(ran.returncode, 0, ran.stderr[-2000:])
        seen = json.loads(ran.stdout.splitlines()[-1])
        self.assertLess(max(seen["errors"]), 1e-4)
        return seen

    def test_a_second_process_finds_what_the_first_one_traced(self):
        first, second = self.run_process(LAYERS), self.run_process(LAYERS)
        self.assertEqual((first["hits"], first["saved"]), (0, 1))
        self.assertEqual((second["hits"], second["saved"]), (1, 0))
        # Inductor must not be loaded, because this takes longer than tracing.
        self.assertFalse(first["inductor"] or second["inductor"])

    def test_weights_are_those_of_the_process(self):
        self.run_process(LAYERS, seed=0)
        self.assertEqual(self.run_process(LAYERS, seed=1, scale=3.0)["hits"], 1)

    def test_buffers_that_change_and_views_of_inputs(self):
        self.run_process(COUNTER, scale=2.0)
        self.assertEqual(self.run_process(COUNTER, scale=2.0, runs=3)["hits"], 1)

    def test_numbers_in_the_graph_are_part_of_it(self):
        for model in (CONSTANT, ATTENTION):
            self.run_process(model, scale=2.0)
            self.assertEqual(self.run_process(model, scale=0.5)["hits"], 0)
            self.assertEqual(self.run_process(model, scale=0.5)["hits"], 1)

    def test_another_type_or_shape_is_another_graph(self):
        self.run_process(LAYERS)
        longer = LAYERS.replace("torch.randn(4, 16)", "torch.randn(5, 16)")
        self.assertEqual(self.run_process(longer)["hits"], 0)
        wide = LAYERS.replace("plain, inputs", "model = model.double()\nplain, inputs").replace(
            "torch.randn(4, 16)", "torch.randn(4, 16).double()")
        self.assertEqual(self.run_process(wide)["hits"], 0)

    def test_code_that_is_made_ready_in_the_background(self):
        self.run_process(LAYERS)
        self.assertEqual(self.run_process(LAYERS, options={"background": True})["hits"], 1)

    def test_gradients_and_open_sizes_are_traced_each_time(self):
        for given in ({"grad": True}, {"dynamic": True}):
            for _ in range(2):
                seen = self.run_process(LAYERS, **given)
                self.assertEqual((seen["hits"], seen["saved"]), (0, 0))

    def test_graphs_with_effects_are_traced_each_time(self):
        for _ in range(2):
            seen = self.run_process(EFFECTS)
            self.assertEqual((seen["hits"], seen["saved"]), (0, 0))

    def test_what_was_damaged_is_traced_anew(self):
        self.run_process(LAYERS)
        damaged = 0
        for folder, _, names in os.walk(os.path.join(self.folder, "tunec")):
            for name in names:
                damaged += 1
                with open(os.path.join(folder, name), "r+b") as file:
                    file.truncate(100)
        self.assertGreater(damaged, 0)
        self.assertEqual(self.run_process(LAYERS)["hits"], 0)


if __name__ == "__main__":
    unittest.main()
