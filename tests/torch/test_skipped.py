"""Tests that one warning names the code that torch.compile leaves to torch, with the reason and a
remedy."""
import os
import subprocess
import sys
import unittest
import warnings

try:
    import torch
except ImportError:
    raise unittest.SkipTest("torch is not installed")

import tunec
from torch import nn
from tunec.torch.reports import explain, latest


class Loop(nn.Module):
    """A loop whose number of steps depends on values."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        for _ in range(3):
            x = self.layer(x)
            if x.sum().item() > 1e6:
                break
        return x


class Sparse(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("matrix", torch.eye(4).to_sparse())

    def forward(self, x):
        return torch.sparse.mm(self.matrix, x)


class Fourier(nn.Module):
    def forward(self, x):
        return torch.fft.irfft(torch.fft.rfft(x) * 2).relu() + 1


def broken_behind_a_graph(x):
    y = x.exp() + 1
    torch._dynamo.graph_break()
    for _ in range(2):
        y = y + y.sum().item()
    return y


def only_facts(x):
    for size in x.shape:
        print(size, end="")
    return len(x.shape)


def warnings_of(function, *inputs, **options):
    """Calls the compiled function twice, and expects eager mode's results. Returns the texts of all
    NotCompiledWarnings."""
    torch._dynamo.reset()
    fast = torch.compile(function, backend="tunec", **options)
    with warnings.catch_warnings(record=True) as caught, torch.no_grad():
        warnings.simplefilter("always")
        for _ in range(2):
            torch.testing.assert_close(fast(*inputs), function(*inputs))
    return [str(w.message) for w in caught if issubclass(w.category, tunec.NotCompiledWarning)]


class Skipped(unittest.TestCase):

    def only_warning(self, function, *inputs):
        messages = warnings_of(function, *inputs)
        self.assertEqual(len(messages), 1, messages)
        self.assertNotIn("\n", messages[0])
        return messages[0]

    def test_a_loop_that_depends_on_values(self):
        messages = self.only_warning(Loop(), torch.randn(2, 4))
        self.assertIn("compiles nothing of Loop.forward (test_skipped.py:", messages)
        self.assertRegex(messages, r"Tensor\.item\(\).*if x\.sum\(\)\.item\(\) > 1e6.*"
                               "Remedy: .*capture_scalar_outputs")

    def test_a_sparse_tensor(self):
        messages = self.only_warning(Sparse(), torch.randn(4, 3))
        self.assertRegex(messages, "Sparse.forward.*sparse Tensor.*Remedy: ")

    def test_the_rest_of_a_function_behind_a_graph(self):
        messages = self.only_warning(broken_behind_a_graph, torch.randn(4))
        self.assertIn("compiles nothing of broken_behind_a_graph", messages)
        self.assertEqual(latest()[-1].compiled, 1)

    def test_nodes_that_stay_in_torch(self):
        messages = self.only_warning(Fourier(), torch.randn(3, 8))
        self.assertRegex(messages, "torch runs [0-9]+ node.*_fft_r2c.*complex64")

    def test_functions_without_operations_on_tensors(self):
        self.assertEqual(warnings_of(lambda x: x.shape[0], torch.ones(3)), [])
        self.assertEqual(warnings_of(only_facts, torch.ones(3, 2)), [])
        self.assertEqual(warnings_of(lambda x: x, torch.ones(3)), [])

    def test_what_is_compiled_gives_no_warning(self):
        self.assertEqual(warnings_of(nn.Sequential(nn.Linear(4, 4), nn.ReLU()), torch.randn(2, 4)), [])
        self.assertEqual(warnings_of(nn.Dropout(), torch.zeros(2, 4)), [])

    def test_another_backend_gives_no_warning_and_traces_no_recurrent_layers(self):
        torch._dynamo.reset()
        fast = torch.compile(Loop(), backend="eager")
        layer = torch.compile(nn.LSTM(3, 3), backend="eager")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fast(torch.randn(2, 4))
            layer(torch.randn(2, 1, 3))
        self.assertEqual([w for w in caught if issubclass(w.category, tunec.NotCompiledWarning)], [])
        self.assertFalse(torch._dynamo.config.allow_rnn)

    def test_a_filter_that_makes_errors_of_warnings(self):
        program = ("import torch, test_skipped, warnings; warnings.simplefilter('error', UserWarning)\n"
                   "fast = torch.compile(test_skipped.Loop(), backend='tunec')\n"
                   "with torch.no_grad(): fast(torch.ones(1, 4)); fast(torch.ones(1, 4))\n"
                   "print(torch.compile(lambda x: x + 1, backend='tunec')(torch.ones(1)).item())")
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p))
        ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True,
                             cwd=os.path.dirname(os.path.abspath(__file__)))
        self.assertEqual((ran.returncode, ran.stdout.strip()), (0, "2.0"), ran.stderr)
        self.assertEqual(ran.stderr.count("NotCompiledWarning: tunec compiles nothing of Loop.forward"), 1)

    def test_gradients_within_a_compiled_function(self):
        """The backward graph is compiled while Dynamo traces all functions, including its
        callbacks."""
        program = ("import torch\n"
                   "def f(x): return torch.autograd.grad((x.relu() ** 2).sum(), x)[0]\n"
                   "x = torch.randn(3, 3).requires_grad_()\n"
                   "found = torch.compile(f, backend='tunec', options={'db': None})(x)\n"
                   "print(torch.allclose(found, f(x)))")
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p))
        ran = subprocess.run([sys.executable, "-W", "ignore", "-c", program], env=environment,
                             capture_output=True, text=True, timeout=300)
        self.assertEqual(ran.stdout.strip(), "True", ran.stderr)

    def test_explain_has_the_reason(self):
        found = explain(Loop(), torch.randn(2, 4), options={"db": None})
        self.assertEqual((found.graphs, len(found.skipped)), ([], 1))
        self.assertRegex(str(found), r"(?s)1 skipped function.*Tensor\.item\(\)")

    def test_explain_of_a_recurrent_layer(self):
        with torch.no_grad():
            found = explain(nn.LSTM(3, 4), torch.randn(5, 1, 3), options={"db": None})
        self.assertEqual((len(found.graphs), found.skipped, found.breaks), (1, [], []))


class Modes(unittest.TestCase):

    def options_of(self, mode, options=None):
        from tunec.torch.backend import _options_of
        return _options_of(options, mode)

    def test_max_autotune_has_trials(self):
        self.assertEqual(self.options_of("max-autotune")["trials"], 200)
        self.assertEqual(self.options_of("max-autotune", {"trials": 3})["trials"], 3)
        self.assertNotIn("trials", self.options_of("reduce-overhead"))

    def test_an_unknown_mode_is_an_error(self):
        with self.assertRaisesRegex(Exception, "the mode 'fastest', expected one of default"):
            torch.compile(lambda x: x + 1, backend="tunec", mode="fastest")(torch.ones(2))


if __name__ == "__main__":
    unittest.main()
