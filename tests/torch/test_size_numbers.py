"""Tests of numbers that graphs of torch compute from sizes, compared with eager torch at many
sizes, and of the sizes that exported programs accept."""
import math
import random
import unittest

import torch
import torch._dynamo
import tunec
from torch.export import Dim, export
from tunec.torch.errors import Rejected, UnsupportedOperator
from tunec.torch.importer import import_graph
from tunec.torch.program import importable, weights_of
from tunec.torch.reports import latest
from tunec.torch.sizes import Check, Conditions, NeedsNumber, are_same, broadcast, is_same, symbol


def setUpModule():
    torch.set_grad_enabled(False)


def tearDownModule():
    torch.set_grad_enabled(True)


TOLERANCE = 1e-4
SIZES = (130, 110, 120, 113, 127, 128, 61, 230)


def _padded(x):
    return torch.nn.functional.pad(x, (0, 0, 0, (-x.shape[1]) % 10)).sum(1)


# Functions of a tensor of shape [batch, n, 8].
NUMBERS = {
    "times_n": lambda x: x * x.shape[1],
    "times_whole_remainder": lambda x: x * (1 + x.shape[1] % 10),
    "times_remainder_as_float": lambda x: x * (1.0 + x.shape[1] % 10),
    "times_float": lambda x: x * torch.sym_float(x.shape[1]) * 0.1,
    "over_power": lambda x: x / (x.shape[1] ** 0.5),
    "over_root": lambda x: x / math.sqrt(x.shape[1]),
    "times_bool": lambda x: x * (x.shape[1] % 2 == 0),
    "tensor_of_fraction": lambda x: x * torch.tensor(x.shape[1] / 7.0),
    "row": lambda x: x[:, x.shape[1] % 7],
    "half": lambda x: x[:, x.shape[1] // 2:],
    "first": lambda x: x[:, :min(x.shape[1], 100)] * 2,
    "square": lambda x: x + x.shape[1] * x.shape[1] % 7,
    "padded": _padded,
    "range": lambda x: x + torch.arange(x.shape[1], dtype=torch.float32)[None, :, None] % 10,
}


class NumbersOfSizes(unittest.TestCase):

    def near(self, found, expected, message):
        self.assertEqual(found.shape, expected.shape, message)
        self.assertLessEqual((found - expected).abs().max().item(),
                             TOLERANCE * max(1.0, expected.abs().max().item()), message)

    def test_are_those_of_each_size(self):
        linear = torch.nn.Linear(8, 8).eval()
        for name, function in NUMBERS.items():
            torch._dynamo.reset()
            compiled = torch.compile(lambda x, f=function: f(linear(x)), backend="tunec", dynamic=True,
                                     options={"db": None})
            for n in SIZES:
                x = torch.randn(2, n, 8)
                self.near(compiled(x), function(linear(x)), f"{name} at {n}")

    def test_fractions_are_computed_in_the_part(self):
        functions = [lambda x: x.exp() * (1.0 + x.shape[1] % 10),
                     lambda x: x.exp() / x.shape[1] ** 0.5,
                     lambda x: torch.nn.functional.interpolate(x[None], (37, x.shape[2]), mode="bilinear")]
        for function in functions:
            torch._dynamo.reset()
            compiled = torch.compile(function, backend="tunec", dynamic=True, options={"db": None})
            earlier = len(latest())
            for n in SIZES:
                x = torch.randn(2, n, 8)
                self.near(compiled(x), function(x), f"{n}")
            self.assertEqual({(report.compiled, *report.left) for report in latest()[earlier:]}, {(1,)})

    def test_a_fraction_without_its_size_stays_in_torch(self):
        def function(x, scale):  # `scale` is the size of no tensor
            return x.exp() * (torch.sym_float(scale) / 3)
        torch._dynamo.reset()
        compiled = torch.compile(function, backend="tunec", dynamic=True, options={"db": None})
        for scale in (7, 11, 300):
            x = torch.randn(2, 30)
            self.near(compiled(x, scale), function(x, scale), f"{scale}")

    def test_numbers_as_arguments_follow(self):
        torch._dynamo.reset()
        compiled = torch.compile(lambda x, k: x.exp() * k + k % 3, backend="tunec", dynamic=True,
                                 options={"db": None})
        for n, k in ((20, 3), (21, 4), (40, 5), (41, 9), (20, 11), (33, 3)):
            x = torch.randn(2, n)
            self.near(compiled(x, k), x.exp() * k + k % 3, f"{n} and {k}")

    def test_of_an_exported_program(self):
        for name in ("times_whole_remainder", "times_remainder_as_float", "row", "half", "padded"):
            function = NUMBERS[name]

            class Module(torch.nn.Module):
                def forward(self, x, function=function):
                    return function(x.exp())

            program = export(Module(), (torch.randn(2, 33, 4),), dynamic_shapes={"x": {1: Dim.DYNAMIC}})
            compiled = tunec.compile(program, db=None)
            for n in (33, 40, 41, 47, 52, 60, 61):
                x = torch.randn(2, n, 4)
                self.near(compiled(x), function(x.exp()), f"{name} at {n}")

    def test_numbers_that_an_exported_program_returns(self):
        class Module(torch.nn.Module):
            def forward(self, x):
                return x * 2, x.shape[1] % 10, x.shape[1] / 4, x.shape[1] > 41

        program = export(Module(), (torch.randn(2, 33),), dynamic_shapes={"x": {1: Dim.DYNAMIC}})
        compiled = tunec.compile(program, db=None)
        for n in (33, 40, 47, 61):
            self.assertEqual(compiled(torch.randn(2, n))[1:], (n % 10, n / 4, n > 41))

    # The graph of a batch of one must not be taken for another module's graph that agrees at some
    # sizes.
    def test_a_remainder_is_not_anothers(self):
        linear = torch.nn.Linear(8, 8).eval()
        one = torch.compile(lambda x: linear(x) * (x.shape[1] % 8), backend="tunec", dynamic=True,
                            options={"db": None})
        other = torch.compile(lambda x: linear(x) * 5, backend="tunec", dynamic=True,
                              options={"db": None})
        for batch, n in ((2, 13), (2, 21), (1, 13), (1, 14), (1, 29)):
            x = torch.randn(batch, n, 8)
            self.near(one(x), linear(x) * (n % 8), f"{batch} x {n}")
            self.near(other(x), linear(x) * 5, f"{batch} x {n}")


class NamedSizes(unittest.TestCase):
    """Texts of exported programs with named sizes."""

    def imported(self, function, example=(6, 34)):
        class Module(torch.nn.Module):
            def forward(self, x):
                return function(x)

        program = export(Module(), (torch.randn(example),),
                         dynamic_shapes={"x": {0: Dim.DYNAMIC, 1: Dim.DYNAMIC}})
        placeholder = next(iter(program.graph.find_nodes(op="placeholder")))
        symbols = [str(size.node.expr) for size in placeholder.meta["val"].shape]
        names = ("batch", "length")
        program = importable(program, dict(zip(symbols, example)))
        return import_graph(program.graph_module, weights=weights_of(program),
                            sizes=dict(zip(symbols, names)), example=dict(zip(names, example)))

    def test_expressions(self):
        for function, expected in ((lambda x: x[:, :x.shape[1] // 2] * 2, "length/2"),
                                   (lambda x: x.reshape(x.shape[0] * x.shape[1]), "[batch*length]"),
                                   (lambda x: x + x.shape[1] % 7, "length mod 7"),
                                   (lambda x: x[:, :min(x.shape[1], 99)] * 2, "min(0, length - 99) + 99"),
                                   (lambda x: torch.nn.functional.pad(x, (0, x.shape[1] + 3)),
                                    "length + 3")):
            self.assertIn(expected, self.imported(function).text)

    def test_numbers_are_not_left_in_the_text(self):
        text = self.imported(lambda x: (x + 1).softmax(1)).text
        self.assertNotIn("34", text)
        self.assertNotIn("[6", text)

    def test_what_needs_numbers(self):
        with self.assertRaisesRegex(UnsupportedOperator, "expected a fixed size"):
            self.imported(lambda x: torch.nn.functional.adaptive_avg_pool1d(x, 7))
        with self.assertRaisesRegex(UnsupportedOperator, "number that is made of sizes"):
            self.imported(lambda x: x * (x.shape[1] ** 1.5))

    def test_fractions_are_computed(self):
        self.assertIn("div", self.imported(lambda x: x * (x.shape[1] / 7)).text)


def random_size(random, n, depth):
    """Returns a random expression of a size, which torch traces, and which is an int for an int."""
    if depth == 0:
        return n if random.random() < 0.7 else random.randint(1, 9)
    a = random_size(random, n, depth - 1)
    kind = random.randrange(6)
    if kind == 0:
        return a + random_size(random, n, depth - 1)
    if kind == 1:
        return a * random.randint(2, 5)
    if kind == 2:
        return a // random.randint(2, 9)
    if kind == 3:
        return a % random.randint(2, 9)
    other = random_size(random, n, depth - 1)
    return torch.sym_min(a, other) if kind == 4 else torch.sym_max(a, other)


class RandomFormulas(unittest.TestCase):
    """A random number of a size is added to elements, and is the extent of an output."""

    def test_formulas(self):
        for seed in range(40):
            class Module(torch.nn.Module):
                def forward(self, x, seed=seed):
                    size = random_size(random.Random(seed), x.shape[1], 3)
                    return x.exp() + size, x.new_zeros((size + 1,)) + 1

            torch._dynamo.reset()
            program = export(Module(), (torch.randn(2, 33),), dynamic_shapes={"x": {1: Dim.DYNAMIC}})
            compiled = tunec.compile(program, db=None)
            for n in (2, 3, 7, 8, 16, 31, 32, 33, 61, 64, 97, 128, 200, 255, 300):
                x = torch.randn(2, n)
                try:
                    results = compiled(x)
                except tunec.InvalidArgument:  # torch has exported the program for other sizes
                    continue
                for found, expected in zip(results, Module()(x), strict=True):
                    self.assertEqual(found.shape, expected.shape, f"seed {seed} at {n}")
                    self.assertTrue(torch.allclose(found, expected, rtol=1e-4, atol=1e-4),
                                    f"seed {seed} at {n}")


class SizeArithmetic(unittest.TestCase):

    def sizes(self, **example):
        conditions = Conditions(example)
        return conditions, *(conditions.size(symbol(name)) for name in example)

    def test_random_expressions(self):
        """Compares the text of expressions, evaluated by Python, with the arithmetic of ints."""
        for seed in range(300):
            def value(n, m, seed=seed):
                chance = random.Random(seed)

                def expression(depth):
                    if depth == 0:
                        return chance.choice([n, m, chance.randint(-3, 12)])
                    a, b = expression(depth - 1), expression(depth - 1)
                    number = chance.randint(1, 7)
                    return chance.choice([lambda: a + b, lambda: a - b, lambda: a * number, lambda: -a,
                                          lambda: a // number, lambda: a % number])()
                return expression(4)

            conditions, n, m = self.sizes(n=12, m=7)
            found = value(n, m)
            self.assertEqual(conditions.texts(), [])
            for numbers in ((12, 7), (1, 1), (30, 4), (5, 41), (64, 64)):
                at = eval(str(found).replace("/", "//").replace("mod", "%"),
                          dict(zip(("n", "m"), numbers)))
                self.assertEqual(at, value(*numbers), f"{seed}: {found} at {numbers}")

    def test_comparisons_are_conditions(self):
        conditions, n, m = self.sizes(n=12, m=7)
        self.assertTrue(n > m)
        self.assertFalse(n + 1 == 5)
        self.assertTrue(n + 1 > 0)  # true for all sizes
        self.assertTrue(2 * n == n + n)
        check = Check(conditions.texts())
        self.assertEqual(len(check.conditions), 2)
        self.assertTrue(check({"n": 9, "m": 8}))
        self.assertFalse(check({"n": 8, "m": 8}))
        self.assertFalse(check({"n": 4, "m": 2}))

    def test_sizes_of_the_compiler(self):
        conditions, n, m = self.sizes(n=12, m=7)
        self.assertEqual(conditions.parsed(5), 5)
        for text, expected in (("n", n), ("2*n + 1", 2 * n + 1), ("(n + 1)/2 + 2", (n + 5) // 2),
                               ("n - (n mod 5)", n // 5 * 5), ("-n/3 + m", m + -n // 3)):
            found = conditions.parsed(text)
            self.assertIs(found, conditions.parsed(text))
            self.assertTrue(is_same(found, expected), text)
            self.assertTrue(found == expected)
            self.assertEqual(found.number, expected.number)
        self.assertEqual(conditions.parsed("min(0, n - 99) + 99").number, 12)
        self.assertEqual(conditions.parsed("max(n, m, 30)").number, 30)
        self.assertEqual(conditions.texts(), [])  # proofs are no conditions
        self.assertFalse(is_same(n, m))
        odd, size = self.sizes(**{"a b": 3})
        self.assertTrue(is_same(odd.parsed('2*"a b"'), 2 * size))

    def test_conditions_of_the_compiler(self):
        conditions, _, _ = self.sizes(n=12, m=7)
        for condition in ("n mod 4 == 0", "3 <= n + m", "m is 1 or 7", "1 <= n"):
            conditions.assume(condition)
        check = Check(conditions.texts())
        self.assertTrue(check({"n": 8, "m": 7}))
        for wrong in ({"n": 9, "m": 7}, {"n": 8, "m": 6}):
            self.assertFalse(check(wrong))
        with self.assertRaisesRegex(Rejected, "needs n == m"):
            conditions.assume("n == m")
        with self.assertRaisesRegex(Rejected, "needs m is 1 or n"):
            conditions.assume("m is 1 or n")

    def test_broadcast(self):
        conditions, n, m = self.sizes(n=12, m=12)
        self.assertEqual(broadcast((3, 1), (4,), ()), (3, 4))
        self.assertTrue(are_same(broadcast((n, 1), (1, 5)), (n, 5)))
        self.assertEqual(conditions.texts(), [])
        self.assertTrue(are_same(broadcast((n,), (m,)), (m,)))
        self.assertEqual(conditions.ties(), {"n": "m"})
        with self.assertRaisesRegex(ValueError, "do not broadcast"):
            broadcast((3,), (4,))

    def test_equal_symbols_are_tied(self):
        conditions, n, m = self.sizes(n=12, m=12)
        self.assertTrue(n == m)
        self.assertEqual(conditions.ties(), {"n": "m"})

    def test_numbers_are_not_given(self):
        _, n, _ = self.sizes(n=12, m=7)
        for use in (int, float, range, lambda size: [0] * size, lambda size: size / 2, torch.zeros):
            with self.assertRaises((NeedsNumber, TypeError)):
                use(n)


class ExportedBounds(unittest.TestCase):

    def compiled(self, function, inputs, shapes):
        class Module(torch.nn.Module):
            def forward(self, *args):
                return function(*args)

        return tunec.compile(export(Module(), inputs, dynamic_shapes=(shapes,)), db=None)

    def rejects(self, compiled, inputs, *words):
        with self.assertRaises(tunec.InvalidArgument) as caught:
            compiled(*inputs)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_ranges(self):
        compiled = self.compiled(lambda x: x * 2, (torch.randn(4, 6),), ({0: Dim("n", min=2, max=8)},))
        for n in (2, 5, 8):
            x = torch.randn(n, 6)
            self.assertTrue(torch.equal(compiled(x), x * 2))
        self.rejects(compiled, (torch.randn(9, 6),), "axis 0", "is 9", "2 to 8")
        self.rejects(compiled, (torch.randn(4, 7),), "axis 1", "is 7", "expected 6")

    def test_least(self):
        compiled = self.compiled(lambda x: x * 2, (torch.randn(4, 6),), ({0: Dim("n", min=3, max=8)},))
        self.rejects(compiled, (torch.randn(2, 6),), "is 2", "3 to 8")

    def test_relations(self):
        n = Dim("n", min=2, max=64)
        compiled = self.compiled(lambda x, y: x + y[::2], (torch.randn(8, 6), torch.randn(16, 6)),
                                 ({0: n}, {0: 2 * n}))
        x, y = torch.randn(11, 6), torch.randn(22, 6)
        self.assertTrue(torch.allclose(compiled(x, y), x + y[::2]))
        self.rejects(compiled, (x, torch.randn(21, 6)), "axis 0", "is 21", "22")

    def test_guards(self):
        def function(x):
            return x[:, :x.shape[1] // 2] if x.shape[1] % 2 == 0 else x

        compiled = self.compiled(function, (torch.randn(3, 12),), ({1: Dim.AUTO},))
        x = torch.randn(3, 16)
        self.assertTrue(torch.equal(compiled(x), x[:, :8]))
        self.rejects(compiled, (torch.randn(3, 15),), "% 2 == 0")

    def test_constants(self):
        compiled = self.compiled(lambda x, k: x * k, (torch.randn(3), 2), (None, None))
        x = torch.randn(3)
        self.assertTrue(torch.equal(compiled(x, 2), x * 2))
        self.rejects(compiled, (x, 3), "is 3", "expected 2")


if __name__ == "__main__":
    unittest.main()
