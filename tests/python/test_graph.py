"""Tests of the native module's Graph, by which graphs of torch are built."""
import json
import unittest

import numpy as np
import tunec
from tunec._library import native

OPTIONS = json.dumps({"db": None, "threads": 1})


def rows():
    """Returns a graph of y = x @ w, with an open number of rows, and the number of y."""
    graph = native().Graph("rows")
    x = graph.add_input("x", "f32[n, 4]")
    w = graph.add_weight("w", "f32[4, 5]", "layer.w")
    y = graph.add_node("matmul", [x, w], "", "y")
    return graph, y


class Graphs(unittest.TestCase):
    def rejects(self, error, part, call, *arguments):
        with self.assertRaises(error) as caught:
            call(*arguments)
        self.assertIn(part, str(caught.exception))

    def test_types(self):
        graph, y = rows()
        self.assertEqual(graph.type(y), ("f32", ("n", 5)))
        padded = graph.add_node("pad", [y], "pads=[1, 0, n, 0], value=-inf", "")
        self.assertEqual(graph.type(padded), ("f32", ("2*n + 1", 5)))
        scalar = graph.add_constant("c", "i64[]", "-3")
        self.assertEqual(graph.type(scalar), ("i64", ()))
        self.rejects(tunec.InvalidArgument, "value 9 is not in the graph", graph.type, 9)

    def test_text(self):
        graph, y = rows()
        graph.add_node("neg", [y], "", "dead")
        bounded = graph.add_node("min", [y, graph.add_constant("c", "f32[]", "0.5")], "", "y")
        graph.add_output("y", bounded)
        self.assertEqual(graph.text(), """graph rows {
  input x: f32[n, 4]
  weight w: f32[4, 5] from "layer.w"
  y = matmul(x, w): f32[n, 5]
  constant c: f32[] = 0.5
  y_1 = min(y, c): f32[n, 5]
  output y = y_1
}
""")

    def test_compile(self):
        graph, y = rows()
        graph.add_output("y", y)
        w = np.arange(20, dtype=np.float32).reshape(4, 5)
        model = graph.compile({"layer.w": w}, OPTIONS, None, None)
        del graph
        for n in (1, 3, 8):
            x = np.arange(4 * n, dtype=np.float32).reshape(n, 4)
            np.testing.assert_array_equal(model(x), x @ w)

    def test_an_exception_of_a_callback_ends_the_call(self):
        graph, y = rows()
        graph.add_output("y", y)

        def stop(_):
            raise KeyError("stopped")

        options = json.dumps({"db": None, "trials": 1, "dims": {"n": 8}})
        with self.assertRaises(KeyError):
            graph.compile({"layer.w": np.ones((4, 5), np.float32)}, options, stop, None)

    def test_conditions(self):
        graph = native().Graph("g")
        both = graph.add_node("add", [graph.add_input("x", "f32[n]"), graph.add_input("y", "f32[2*m]")], "", "")
        graph.add_output("sum", both)
        self.assertEqual(graph.conditions(), ["2*m == n"])
        graph = native().Graph("g")
        graph.add_node("add", [graph.add_input("x", "f32[n]"), graph.add_input("y", "f32[m]")], "", "")
        self.assertEqual(graph.conditions(), [])  # no output depends on the sum
        self.assertTrue(native().sizes_are_equal("2*(n + 1)", "n + n + 2"))
        self.assertFalse(native().sizes_are_equal("n", "m"))

    def test_omitted_operands(self):
        graph = native().Graph("g")
        x = graph.add_input("x", "f32[1, 1, 4, 4]")
        q = graph.add_node("attention", [x, x, x, None], "", "")
        self.assertEqual(graph.type(q), ("f32", (1, 1, 4, 4)))

    def test_errors(self):
        graph, y = rows()
        self.rejects(tunec.InvalidArgument, "did you mean matmul?", graph.add_node, "matmu", [y, y], "", "")
        self.rejects(tunec.InvalidArgument, "axis is 2", graph.add_node, "reduce_sum", [y], "axes=[2]", "")
        self.rejects(tunec.InvalidArgument, "value 7", graph.add_node, "neg", [7], "", "")
        self.rejects(tunec.ParseError, "<attributes>:1:3", graph.add_node, "neg", [y], "a=", "")
        self.rejects(tunec.ParseError, "<type>", graph.add_input, "z", "f32")
        self.rejects(tunec.InvalidArgument, "already used", graph.add_input, "x", "f32[2]")
        self.rejects(tunec.InvalidArgument, "an empty key", graph.add_weight, "v", "f32[2]", "")
        self.rejects(tunec.ParseError, "expected 2", graph.add_constant, "c", "f32[2]", "[1]")
        self.rejects(tunec.InvalidArgument, "no output", graph.text)
        graph.add_output("y", y)
        self.rejects(tunec.InvalidArgument, "two outputs", graph.add_output, "y", y)
        self.rejects(tunec.NotFound, "'layer.w' is not among", graph.compile, {}, OPTIONS, None, None)
        self.rejects(tunec.ParseError, "<size>", native().sizes_are_equal, "n +", "n")
        for operands in (["x"], [1.5]):
            with self.assertRaises((TypeError, RuntimeError)):
                graph.add_node("neg", operands, "", "")


if __name__ == "__main__":
    unittest.main()
