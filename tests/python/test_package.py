"""Tests of the package tunec with NumPy, for accepted and rejected inputs, outputs and weights."""
import array
import ctypes
import gc
import os
import subprocess
import tempfile
import threading
import unittest
import warnings
import weakref
from pathlib import Path

import ml_dtypes
import numpy as np
import tunec

from models import PRODUCT, SCALED, identity

TYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
         "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8,
         "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "bool": np.bool_}


class OnlyDlpack:
    """A tensor of a library that supports only DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class NoStrides(OnlyDlpack):
    """A tensor that omits the strides of row-major data, which DLPack before 1.2 allows."""

    def __dlpack__(self, **options):
        capsule = self.array.__dlpack__()
        pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
        pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        strides = pointer_of(capsule, b"dltensor") + 32  # after data, device, ndim, dtype, shape
        ctypes.c_void_p.from_address(strides).value = None
        return capsule


def scaled(**options):
    weights = {"w": np.array([1, 2, 3], np.float32)}
    return tunec.compile(SCALED, weights=weights, db=None, **options)


class Weight(np.ndarray):
    """An array that may have attributes, such as a reference to a model."""


def leading_weight():
    return np.array([1, 2, 3], np.float32).view(Weight)


class Runs(unittest.TestCase):

    def setUp(self):
        self.x = np.random.default_rng(1).standard_normal((4, 3)).astype(np.float32)
        self.expected = self.x * np.array([1, 2, 3], np.float32)

    def test_inputs_by_position_and_by_name(self):
        model = scaled()
        np.testing.assert_array_equal(model(self.x), self.expected)
        np.testing.assert_array_equal(model(x=self.x), self.expected)

    def test_threads_are_those_that_can_run(self):
        self.assertEqual(scaled().report["threads"], tunec.processors())
        self.assertLessEqual(tunec.processors(), len(os.sched_getaffinity(0)))

    def test_says_what_it_takes(self):
        model = scaled()
        self.assertEqual(model.inputs, [tunec.TensorSpec("x", "float32", (4, 3))])
        self.assertEqual(model.outputs, [tunec.TensorSpec("y", "float32", (4, 3))])
        self.assertEqual(model.report["accuracy"], "f32")
        self.assertIn("x: float32[4, 3]", repr(model))
        self.assertEqual(model.outside_indices, 0)
        self.assertEqual(model.notes, "")

    def test_fills_the_output_that_is_given(self):
        model = scaled()
        out = np.zeros((4, 3), np.float32)
        self.assertIs(model(self.x, out=out), out)
        np.testing.assert_array_equal(out, self.expected)

    def test_several_outputs_are_a_tuple(self):
        model = tunec.compile(PRODUCT, db=None)
        a = np.random.default_rng(2).standard_normal((48, 96)).astype(np.float32)
        b = np.random.default_rng(3).standard_normal((96, 64)).astype(np.float32)
        d, c = model(a, b=b)
        np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-4)
        np.testing.assert_array_equal(d, np.maximum(c, 0))
        given = np.empty_like(c)
        results = model(a, b, out=[None, given])
        self.assertIs(results[1], given)
        np.testing.assert_array_equal(given, c)

    def test_every_element_type(self):
        for name, kind in TYPES.items():
            for shape in ((), (5,), (2, 3), (0, 4)):
                with self.subTest(name, shape=shape):
                    x = np.random.default_rng(4).integers(0, 2, shape).astype(kind)
                    model = tunec.compile(identity(name, shape), db=None)
                    y = model(x, np.array(True))
                    self.assertEqual((y.dtype, y.shape), (np.dtype(kind), shape))
                    np.testing.assert_array_equal(y, x)

    def test_weights_are_used_where_they_are(self):
        # A vector is not packed, so the code reads the caller's memory.
        w = np.zeros(1024 + 16, np.float32)
        start = (-w.ctypes.data % 64) // 4
        w = w[start:start + 1024]
        graph = SCALED.replace("f32[3]", "f32[1024]").replace("f32[4, 3]", "f32[4, 1024]")
        model = tunec.compile(graph, weights={"w": w}, db=None)
        w[:] = 7
        np.testing.assert_array_equal(model(np.ones((4, 1024), np.float32))[0], w)

    def test_weights_live_as_long_as_the_executable(self):
        weights = {"w": np.array([1, 2, 3], np.float32)}
        model = tunec.compile(SCALED, weights=weights, db=None)
        weights.clear()
        np.testing.assert_array_equal(model(self.x), self.expected)

    def test_memory_of_weights_stays_where_it_is(self):
        w = array.array("f", [1, 2, 3])
        model = tunec.compile(SCALED, weights={"w": w}, db=None)
        with self.assertRaises(BufferError):
            w.extend(range(100_000))
        np.testing.assert_array_equal(model(self.x), self.expected)
        model = None
        w.extend([4])  # no model reads it any more

    def test_memory_that_a_capsule_owns_stays(self):
        w = OnlyDlpack(np.array([1, 2, 3], np.float32))
        model = tunec.compile(SCALED, weights={"w": w}, db=None)
        memory = weakref.ref(w.array)
        w.array = None
        gc.collect()
        self.assertIsNotNone(memory())
        np.testing.assert_array_equal(model(self.x), self.expected)
        del model
        self.assertIsNone(memory())

    def test_weights_that_lead_to_the_executable_go_with_it(self):
        w = leading_weight()
        w.model = tunec.compile(SCALED, weights={"w": w}, db=None)
        np.testing.assert_array_equal(w.model(self.x), self.expected)
        weak_reference = weakref.ref(w)
        gc.collect()
        np.testing.assert_array_equal(weak_reference().model(self.x), self.expected)
        del w
        gc.collect()
        self.assertIsNone(weak_reference())

    def test_other_strides_are_copied_and_it_says_so_once(self):
        model = scaled()
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            for x in (np.repeat(self.x, 2, axis=1)[:, ::2], np.repeat(self.x, 2, axis=0)[::2]):
                np.testing.assert_array_equal(model(x), self.expected)
        self.assertEqual([warning.category for warning in seen], [tunec.CopyWarning])
        self.assertIn("input 'x' has strides (6, 2)", str(seen[0].message))

    def test_takes_what_has_dlpack_alone(self):
        np.testing.assert_array_equal(scaled()(OnlyDlpack(self.x)), self.expected)

    def test_copies_what_has_dlpack_alone(self):
        wide = np.repeat(self.x, 2, axis=1)[:, ::2]
        with self.assertWarns(tunec.CopyWarning):
            np.testing.assert_array_equal(scaled()(OnlyDlpack(wide)), self.expected)

    def test_copies_what_has_no_strides(self):
        model = tunec.compile(SCALED.replace("4, 3", "rows, 3"), db=None, dims={"rows": [4, 8]},
                              weights={"w": np.array([1, 2, 3], np.float32)}, layouts={"x": (1, 0)})
        with self.assertWarnsRegex(tunec.CopyWarning, r"strides \(3, 1\) and is copied into the order 1,0"):
            np.testing.assert_array_equal(model(NoStrides(self.x)), self.expected)

    def test_takes_buffers(self):
        x = memoryview(self.x)
        np.testing.assert_array_equal(scaled()(x), self.expected)

    def test_takes_arrays_of_ctypes(self):
        rows, columns = self.x.shape
        x = ((ctypes.c_float * columns) * rows)()  # its buffer has no strides
        ctypes.memmove(x, self.x.ctypes.data, self.x.nbytes)
        np.testing.assert_array_equal(scaled()(x), self.expected)

    def test_a_name_that_is_not_text_is_a_type_error(self):
        with self.assertRaisesRegex(TypeError, "cannot convert"):
            scaled()(**{"\udcff": self.x})

    def test_profile_names_the_steps(self):
        result, steps = scaled().profile(self.x)
        np.testing.assert_array_equal(result, self.expected)
        self.assertTrue(steps)
        for name, seconds in steps:
            self.assertIsInstance(name, str)
            self.assertGreaterEqual(seconds, 0)

    def test_runs_in_several_threads(self):
        model = scaled(threads=1)
        wrong = []

        def run(seed):
            x = np.random.default_rng(seed).standard_normal((4, 3)).astype(np.float32)
            for _ in range(200):
                if not np.array_equal(model(x), x * np.array([1, 2, 3], np.float32)):
                    wrong.append(seed)

        threads = [threading.Thread(target=run, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class Bundles(unittest.TestCase):

    def test_a_bundle_gives_the_same(self):
        tunec_command = Path(tunec.__path__[0]) / "bin/tunec"
        with tempfile.TemporaryDirectory() as folder:
            graph, bundle = Path(folder) / "product.graph", Path(folder) / "product.tnc"
            graph.write_text(PRODUCT)
            subprocess.run([tunec_command, "build", graph, "-o", bundle, "--no-db"], check=True,
                           capture_output=True)
            a = np.random.default_rng(5).standard_normal((48, 96)).astype(np.float32)
            b = np.random.default_rng(6).standard_normal((96, 64)).astype(np.float32)
            loaded, compiled = tunec.load(bundle), tunec.compile(graph, db=None)
            self.assertEqual(loaded.inputs, compiled.inputs)
            for one, other in zip(loaded(a, b), compiled(a, b)):
                np.testing.assert_array_equal(one, other)
            bundle.write_bytes(bundle.read_bytes()[:-1])
            with self.assertRaises(tunec.ParseError):
                tunec.load(bundle)


class DynamicTexts(unittest.TestCase):
    TEXT = SCALED.replace("4, 3", "rows, 3")

    def setUp(self):
        self.x = np.random.default_rng(5).standard_normal((11, 3)).astype(np.float32)

    def test_memory_of_weights_stays_where_it_is(self):
        w = array.array("f", [1, 2, 3])
        model = tunec.compile(self.TEXT, weights={"w": w}, db=None)
        np.testing.assert_array_equal(model(self.x), self.x * np.array([1, 2, 3], np.float32))
        with self.assertRaises(BufferError):
            w.extend(range(100_000))
        np.testing.assert_array_equal(model(self.x[:2]), self.x[:2] * np.array([1, 2, 3], np.float32))

    def test_sizes_of_a_dimension_that_it_has_not(self):
        weights = {"w": np.array([1, 2, 3], np.float32)}
        with self.assertRaisesRegex(tunec.InvalidArgument, "dimension row"):
            tunec.compile(self.TEXT, weights=weights, db=None, dims={"row": [4, 8]})
        model = tunec.compile(self.TEXT, weights=weights, db=None, dims={"rows": [4, 8]})
        np.testing.assert_array_equal(model(self.x), self.x * weights["w"])

    def test_weights_that_lead_to_the_executable_go_with_it(self):
        w = leading_weight()
        w.model = tunec.compile(self.TEXT, weights={"w": w}, db=None)
        np.testing.assert_array_equal(w.model(self.x), self.x * np.array([1, 2, 3], np.float32))
        weak_reference = weakref.ref(w)
        del w
        gc.collect()
        self.assertIsNone(weak_reference())


class Rejects(unittest.TestCase):

    def reject(self, kind, part, call, *arguments, **named):
        with self.assertRaises(kind) as raised:
            call(*arguments, **named)
        self.assertIsInstance(raised.exception, tunec.Error)
        self.assertIn(part, str(raised.exception))

    def test_wrong_inputs(self):
        model = scaled()
        x = np.zeros((4, 3), np.float32)
        wrong = tunec.InvalidArgument
        self.reject(wrong, "got 0 inputs, expected 1: input 'x'", model)
        self.reject(wrong, "got 2 inputs, expected 1", model, x, x)
        self.reject(wrong, "no input 'z'", model, z=x)
        self.reject(wrong, "by position and by name", model, x, x=x)
        self.reject(wrong, "input 'x' is of type int, expected a tensor", model, 3)
        self.reject(wrong, "input 'x' has type f64, expected f32", model, x.astype(np.float64))
        self.reject(wrong, "input 'x' has shape [3x4], expected [4x3]", model, x.T.copy())
        self.reject(wrong, "which is not supported", model, x.astype(np.complex64))
        self.reject(ValueError, "input 'x'", model, None)

    def test_wrong_outputs(self):
        model = scaled()
        x = np.zeros((4, 3), np.float32)
        fixed = np.zeros((4, 3), np.float32)
        fixed.flags.writeable = False
        wrong = tunec.InvalidArgument
        self.reject(wrong, "output 'y' is read-only", model, x, out=fixed)
        self.reject(wrong, "output 'y' has shape", model, x, out=np.zeros((3, 4), np.float32))
        self.reject(wrong, "strides", model, x, out=np.zeros((3, 4), np.float32).T)
        self.reject(wrong, "got 2 outputs, expected 1", model, x, out=[x, x])

    def test_wrong_models(self):
        compile_ = tunec.compile
        self.reject(tunec.NotFound, "nowhere.onnx", compile_, "nowhere.onnx")
        self.reject(FileNotFoundError, "nowhere.onnx", compile_, "nowhere.onnx")
        self.reject(tunec.ParseError, "<memory>", compile_, b"\xff\xff")
        self.reject(tunec.ParseError, "<memory>:3:", compile_, "graph g {\n  input\n}\n", db=None)
        self.reject(tunec.NotFound, "weight 'w' is not among those given", compile_, SCALED,
                    weights={}, db=None)
        self.reject(tunec.InvalidArgument, "unknown option 'trails'", compile_, SCALED, trails=1)
        self.reject(tunec.InvalidArgument, "example inputs", compile_, SCALED, (1,))
        self.reject(tunec.InvalidArgument, "weights are for", compile_, "a.onnx", weights={})


if __name__ == "__main__":
    unittest.main()
