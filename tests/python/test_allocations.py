"""Tests that a call with given outputs allocates nearly nothing, and uses the caller's memory.

A preloaded library counts the process's calls of malloc. Without a C compiler the test is skipped.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

COUNTER = Path(__file__).with_name("count_malloc.c")
# Limits of the number of a call's allocations, of all their bytes, and of the bytes of the largest.
MOST_CALLS, MOST_BYTES, LARGEST = 24, 4096, 1024

PROGRAM = textwrap.dedent("""
    import ctypes
    import json
    import sys
    import numpy as np
    import tunec
    counter = ctypes.CDLL(sys.argv[1])
    counts = (ctypes.c_ulong * 3)()

    def per_call(call, times=200):
        for _ in range(20):
            call()
        counter.take_counts(counts)
        for _ in range(times):
            call()
        counter.take_counts(counts)
        return counts[0] / times, counts[1] / times, counts[2]

    random = np.random.default_rng(1)
    w = random.standard_normal((256, 256, 1, 1)).astype(np.float32)
    graph = '''graph g {
      input x: f32[64, 256, 4, 4]
      weight w: f32[256, 256, 1, 1]
      c = conv(x, w)
      y = relu(c)
      output y
    }'''
    x = random.standard_normal((64, 256, 4, 4)).astype(np.float32)
    last = np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    y = np.empty_like(x, order="C")
    results = {}
    for threads in (1, 2):
        model = tunec.compile(graph, weights={"w": w}, db=None, threads=threads)
        address = y.ctypes.data
        for name, given in (("row-major", x), ("channels last", last)):
            results[f"{name}, {threads}"] = per_call(lambda: model(given, out=y))
            assert np.allclose(y, np.maximum(np.einsum("nchw,oc->nohw", x, w[:, :, 0, 0]), 0), atol=1e-3)
            assert model(given, out=y) is y and y.ctypes.data == address
        results[f"new outputs, {threads}"] = per_call(lambda: model(x))
    results["bytes of an input"] = x.nbytes
    print(json.dumps(results))
""")


class Allocations(unittest.TestCase):

    def test_a_call_allocates_next_to_nothing(self):
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            self.skipTest("no C compiler")
        with tempfile.TemporaryDirectory() as folder:
            library = Path(folder) / "count_malloc.so"
            subprocess.run([compiler, "-O1", "-shared", "-fPIC", COUNTER, "-o", library], check=True)
            environment = dict(os.environ, LD_PRELOAD=str(library), PYTHONPATH=os.pathsep.join(sys.path))
            ran = subprocess.run([sys.executable, "-c", PROGRAM, library], env=environment, check=True,
                                 stdout=subprocess.PIPE, text=True, timeout=300)
        results = json.loads(ran.stdout)
        tensor = results.pop("bytes of an input")
        for name, (calls, number, largest) in results.items():
            with self.subTest(name):
                if name.startswith("new outputs"):
                    # A call allocates one array of the output's size, and no other large memory.
                    self.assertGreater(number, tensor)
                    self.assertLess(number, tensor + MOST_BYTES)
                    continue
                self.assertLess(calls, MOST_CALLS)
                self.assertLess(number, MOST_BYTES)
                self.assertLess(largest, LARGEST)


if __name__ == "__main__":
    unittest.main()
