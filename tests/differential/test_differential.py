"""Compares tunec with ONNX Runtime on random models of each family: up to 400 on the processor, 60
with AVX2 and 20 on an emulated GPU."""
import os
import time
import unittest
import warnings

try:
    import onnx  # noqa: F401
    import onnxruntime  # noqa: F401
except ImportError:
    if os.environ.get("TUNEC_REQUIRE_PEERS"):
        raise
    raise unittest.SkipTest("onnx and onnxruntime are not installed") from None

import differential

SECONDS = 3  # time limit of each family
TARGETS = {"the processor": ({}, 400), "AVX2": ({"cpu": "haswell"}, 60),
           "an emulated GPU": ({"target": "cuda", "arch": "sm_90a", "emulate": True}, 20)}


class Differential(unittest.TestCase):
    def run_families(self, target):
        options, most = TARGETS[target]
        for name in differential.FAMILIES:
            with self.subTest(family=name), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                counts = differential.run_family(name, 1, range(most), options, time.monotonic() + SECONDS)
                self.assertEqual(counts["differs"], 0)
                self.assertGreater(counts["same"], counts.total() // 2)

    def test_processor(self):
        self.run_families("the processor")

    def test_avx2(self):
        self.run_families("AVX2")

    def test_emulated_gpu(self):
        self.run_families("an emulated GPU")


class Comparison(unittest.TestCase):
    """Tests of the comparison of two results, and of the reproducibility of cases."""

    def test_difference(self):
        import numpy as np

        from case import difference
        right = np.array([1.0, np.inf, np.nan, 0.0], np.float32)
        self.assertEqual(difference(right, right, 1e-4), "")
        for position, number in ((0, 1.01), (1, -np.inf), (1, np.nan), (2, 1.0), (3, np.nan)):
            wrong = right.copy()
            wrong[position] = number
            self.assertIn("1 of 4 differ", difference(wrong, right, 1e-4))
        self.assertIn("expected float32", difference(right.astype(np.float64), right, 1e-4))
        self.assertIn("[3]", difference(right[:3], right, 1e-4))
        self.assertIn("differ", difference(np.array([1, 2]), np.array([1, 3]), 1e-4))

    def test_cases_follow_from_their_seed(self):
        from case import Chance
        for name, family in differential.FAMILIES.items():
            one, same = (family(Chance(3, 7)).model().SerializeToString() for _ in range(2))
            self.assertEqual(one, same, name)


if __name__ == "__main__":
    unittest.main()
