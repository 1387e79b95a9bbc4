"""Tests of tensors whose strides permute dense memory. tunec must compile code for their order
instead of copying them."""
import gc
import tempfile
import tracemalloc
import unittest
import warnings
from pathlib import Path

import numpy as np
import tunec

IMAGES = """graph images {
  input x: f32[1, 16, 24, 40]
  weight w: f32[32, 16, 3, 3]
  weight b: f32[32]
  c = conv(x, w, b) {pads=[1, 1, 1, 1]}
  y = relu(c)
  output y
}
"""
LAST = (0, 2, 3, 1)
FIRST = (0, 3, 1, 2)


def last(array):
    """Returns the same numbers with channels last in memory."""
    return np.ascontiguousarray(array.transpose(LAST)).transpose(FIRST)


def weights():
    random = np.random.default_rng(3)
    return {"w": random.standard_normal((32, 16, 3, 3)).astype(np.float32),
            "b": random.standard_normal(32).astype(np.float32)}


class NoWarnings(unittest.TestCase):

    def setUp(self):
        caught = warnings.catch_warnings()
        caught.__enter__()
        self.addCleanup(caught.__exit__, None, None, None)
        warnings.simplefilter("error")
        self.x = np.random.default_rng(4).standard_normal((1, 16, 24, 40)).astype(np.float32)

    def expect_equal(self, one, other):
        self.assertEqual(one.shape, other.shape)
        self.assertLess(np.abs(one - other).max(), 1e-5 * np.abs(other).max())


class Stated(NoWarnings):
    """Tests of layouts that the caller gives when compiling."""

    def setUp(self):
        super().setUp()
        self.expected = tunec.compile(IMAGES, weights=weights(), db=None)(self.x)

    def compile(self, layouts):
        return tunec.compile(IMAGES, weights=weights(), db=None, layouts=layouts)

    def test_inputs_and_outputs(self):
        model = self.compile({"x": "channels_last", "y": LAST})
        self.assertEqual(model.inputs, [tunec.TensorSpec("x", "float32", (1, 16, 24, 40))])
        y = model(last(self.x))
        self.assertEqual(y.transpose(LAST).flags.c_contiguous, True)
        self.expect_equal(y, self.expected)
        self.assertEqual(model.other_layouts, [])

    def test_an_output_that_is_given_is_written_where_it_lies(self):
        model = self.compile({"y": "0,2,3,1"})
        given = last(np.zeros_like(self.expected))
        address = given.ctypes.data
        self.assertIs(model(self.x, out=given), given)
        self.assertEqual(given.ctypes.data, address)
        self.expect_equal(given, self.expected)
        with self.assertRaisesRegex(tunec.InvalidArgument, "'y' has strides that are not dense with axes 0,2,3,1"):
            model(self.x, out=np.zeros_like(self.expected))

    def test_other_orders_than_the_stated_one(self):
        model = self.compile({"x": "channels_last"})
        self.expect_equal(model(self.x), self.expected)
        self.assertEqual(model.other_layouts, [{"x": "row_major"}])

    def test_any_size(self):
        graph = IMAGES.replace("24, 40", "height, 40")
        model = tunec.compile(graph, weights=weights(), db=None, dims={"height": [24, 32]},
                              layouts={"x": "channels_last", "y": "channels_last"})
        self.assertEqual(model.inputs[0].shape, (1, 16, -1, 40))
        self.expect_equal(model(last(self.x)), self.expected)
        self.assertTrue(model(last(self.x)).transpose(LAST).flags.c_contiguous)

    def test_wrong_ones(self):
        for layouts, message in (({"z": "channels_last"},
                                  "'z', expected the name of an input or output"),
                                 ({"x": "nhwc"}, "the layout of 'x' is 'nhwc', expected"),
                                 ({"x": (0, 1)}, "the layout of 'x' is '0,1', expected")):
            with self.assertRaisesRegex(tunec.InvalidArgument, message):
                self.compile(layouts)


class Brought(NoWarnings):
    """Tests of layouts of the arrays of a call."""

    def setUp(self):
        super().setUp()
        self.model = tunec.compile(IMAGES, weights=weights(), db=None)
        self.expected = self.model(self.x)

    def test_have_code_of_their_own(self):
        self.assertEqual(self.model.other_layouts, [])
        for _ in range(2):
            self.expect_equal(self.model(last(self.x)), self.expected)
            self.assertEqual(self.model.other_layouts, [{"x": "0,2,3,1"}])
        y, steps = self.model.profile(last(self.x))
        self.expect_equal(y, self.expected)
        self.assertTrue(steps)
        self.expect_equal(self.model(self.x), self.expected)

    def test_nothing_is_copied(self):
        """NumPy reports each new array to tracemalloc."""
        x, y = last(self.x), np.empty_like(self.expected)
        self.model(x, out=y)
        gc.collect()
        tracemalloc.start()
        try:
            before, address = tracemalloc.get_traced_memory()[0], y.ctypes.data
            tracemalloc.reset_peak()
            self.model(x, out=y)
            most = tracemalloc.get_traced_memory()[1] - before
        finally:
            tracemalloc.stop()
        self.assertEqual(y.ctypes.data, address)
        self.assertLess(most, x.nbytes // 20)

    def test_a_file_is_compiled_again(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "images.graph"
            path.write_text(IMAGES)
            model = tunec.compile(path, random_weights=3, db=None)
            expected = model(self.x)
            self.expect_equal(model(last(self.x)), expected)
            self.assertEqual(model.other_layouts, [{"x": "0,2,3,1"}])
            # The file is replaced before another order is compiled.
            path.write_text(IMAGES + "\n")
            order, back = (0, 3, 1, 2), (0, 2, 3, 1)
            other = np.ascontiguousarray(self.x.transpose(order)).transpose(back)
            with self.assertWarnsRegex(tunec.CopyWarning, "has changed since the model was compiled"):
                warnings.simplefilter("always")
                self.expect_equal(model(other), expected)

    def test_weights_are_there_once(self):
        """A model and its code for another layout share the weights, which have 9 MB."""
        graph = IMAGES.replace("24, 40", "8, 8").replace("16", "512").replace("[32", "[512")
        random = np.random.default_rng(5)
        w = random.standard_normal((512, 512, 3, 3)).astype(np.float32)
        model = tunec.compile(graph, weights={"w": w, "b": np.zeros(512, np.float32)}, db=None)
        x = random.standard_normal((1, 512, 8, 8)).astype(np.float32)
        expected = model(x)
        before = resident()
        self.expect_equal(model(last(x)), expected)
        self.assertLess(resident() - before, w.nbytes // 2)

    def test_what_is_not_dense_is_copied(self):
        wide = np.repeat(self.x, 2, axis=3)[:, :, :, ::2]
        with self.assertWarnsRegex(tunec.CopyWarning, "copied into row-major order"):
            warnings.simplefilter("always")
            self.expect_equal(self.model(wide), self.expected)
        self.assertEqual(self.model.other_layouts, [])

    def test_bytes_are_gone(self):
        graph = IMAGES.replace("weight", "input")
        self.assertEqual(self.other_layouts_of(tunec.compile(graph, db=None)), 1)
        model = tunec.compile(graph.encode(), db=None)
        with self.assertWarnsRegex(tunec.CopyWarning, "is not retained"):
            warnings.simplefilter("always")
            self.expect_equal(model(last(self.x), **weights()), self.expected)

    def other_layouts_of(self, model):
        self.expect_equal(model(last(self.x), **weights()), self.expected)
        return len(model.other_layouts)

    def test_there_is_an_end_to_it(self):
        """Five orders give right results, but only four have compiled code."""
        graph = "graph g {\n  input a: f32[3, 4, 5]\n  y = neg(a)\n  output y\n}\n"
        model = tunec.compile(graph, weights={}, db=None)
        a = np.random.default_rng(6).standard_normal((3, 4, 5)).astype(np.float32)
        warnings.simplefilter("ignore")
        for order in ((0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
            stored = np.ascontiguousarray(a.transpose(order)).transpose(np.argsort(order))
            np.testing.assert_array_equal(model(stored), -a)
        self.assertEqual(len(model.other_layouts), 4)


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


if __name__ == "__main__":
    unittest.main()
