#!/usr/bin/env python3
"""Tests tunec-kernels on kernel files, with a scripted driver whose kernels do nothing.

    kernels_test.py --kernels PROGRAM --tunec PROGRAM --driver LIBRARY [unittest's arguments]
"""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

KERNELS = TUNEC = DRIVER = None
VECTORS_FOLDER = Path(__file__).resolve().parent.parent / "cuda_vectors"
# With TUNEC_REQUIRE_PTXAS a missing ptxas is a failure.
PTXAS = any(os.environ.get(name) for name in ("TUNEC_PTXAS", "TUNEC_REQUIRE_PTXAS")) or shutil.which("ptxas")
GRAPH = """graph g {
  input a: f32[24, 40]
  input b: f32[40, 56]
  p = matmul(a, b)
  r = relu(p)
  output y = r
}
"""
# The smallest accepted cubin is a 64-bit ELF header with the machine EM_CUDA.
CUBIN = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HH", 1, 190) + bytes(44)
KERNEL = (b"tunec-kernel 1\nargument A f32 8 in\nargument C f32 8 out\nimage\n"
          b"tunec-object 4 cubin 0 0 1 64\n2 1 1 4 1 1 1 0 16 0 0 double\n" + CUBIN)
VECTORS = "tunec-vectors 1\nfrom a machine\nA f32 8\n" + "3f800000\n" * 8 + "C f32 8\n" + "40000000\n" * 8


class Kernels(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.environment = {**os.environ, "TUNEC_LIBCUDA": str(DRIVER), "TUNEC_CUDA_SCRIPT": "",
                            "XDG_CACHE_HOME": str(self.folder)}
        self.kernel = self.file("double.kernel", KERNEL)

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def run_it(self, *arguments, program=None):
        return subprocess.run([program or KERNELS, *map(str, arguments)], env=self.environment, capture_output=True,
                              text=True, timeout=120)

    def good(self, *arguments, program=None):
        done = self.run_it(*arguments, program=program)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def bad(self, code, message, *arguments):
        done = self.run_it(*arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(message, done.stderr)
        return done.stdout

    def test_kernels_are_timed(self):
        rows = [json.loads(line) for line in self.good("time", self.kernel, self.kernel).splitlines()]
        self.assertEqual(len(rows), 2)
        self.assertEqual(rows[0]["gpu"], "NVIDIA S1, driver of CUDA 13.0")
        for name in ("median_us", "min_us", "max_us"):
            self.assertAlmostEqual(rows[0][name], 1000, places=3)
        # A scripted run takes a millisecond. A sample has as many runs as take 10 ms.
        self.assertEqual((rows[0]["copies"], rows[0]["runs_of_a_sample"]), (10, 10))
        self.assertEqual(rows[0]["functions"], [{"function": "double", "blocks": 2, "threads": 4, "registers": 16,
                                                 "shared_bytes": 0}])

    def test_a_file_that_is_none_keeps_no_other_from_its_time(self):
        damaged = self.file("damaged.kernel", KERNEL[:-1])
        done = self.run_it("time", damaged, self.kernel)
        self.assertEqual(done.returncode, 1)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(rows[0]["error"], f"{damaged}: damaged object code")
        self.assertIn("median_us", rows[1])

    def test_outputs_are_compared(self):
        vectors = self.file("v.vectors", VECTORS)
        done = self.run_it("check", self.kernel, vectors)
        self.assertEqual(done.returncode, 1)
        self.assertIn("C 8 of 8 elements differ, the first at 0: ffffffff, not 40000000", done.stdout)

    def test_outputs_are_recorded(self):
        vectors = self.file("v.vectors", VECTORS)
        self.good("record", self.kernel, vectors)
        text = vectors.read_text()
        self.assertIn("from NVIDIA S1, driver of CUDA 13.0\n", text)
        self.assertIn("3f800000 3f800000", text)
        self.assertIn("C f32 8\nffffffff ffffffff", text)
        self.assertIn("C is that of NVIDIA S1, driver of CUDA 13.0", self.good("check", self.kernel, vectors))

    def test_without_vectors_inputs_are_random(self):
        vectors = self.folder / "new.vectors"
        self.good("record", self.kernel, vectors)
        self.assertIn("A f32 8\n", vectors.read_text())
        self.good("check", self.kernel, vectors)

    def test_what_is_wrong_is_said(self):
        self.bad(2, "usage: tunec-kernels")
        self.bad(2, "usage: tunec-kernels", "time")
        self.bad(2, "usage: tunec-kernels", "check", self.kernel)
        self.bad(1, "this machine has no GPU '3'", "--device", "3", "time", self.kernel)
        self.bad(1, "nowhere.vectors", "check", self.kernel, self.folder / "nowhere.vectors")
        wrong = self.file("wrong.vectors", VECTORS.replace("A f32", "B f32"))
        self.bad(1, "there is no vector for A", "check", self.kernel, wrong)
        self.environment["TUNEC_CUDA_SCRIPT"] = "fault 700"
        self.bad(1, "NVIDIA S1 (device 0) is lost: CUDA_ERROR_ILLEGAL_ADDRESS (700)", "time", self.kernel)
        self.environment["TUNEC_LIBCUDA"] = "/nowhere/libcuda.so.1"
        self.bad(1, "no NVIDIA driver: /nowhere/libcuda.so.1", "time", self.kernel)

    def test_the_chosen_gpu_is_taken(self):
        self.environment["TUNEC_CUDA_SCRIPT"] = "gpus 2 fault 700"
        self.bad(1, "NVIDIA S1 (device 1) is lost", "--device", "1", "time", self.kernel)

    def test_it_needs_no_compiler(self):
        libraries = subprocess.run(["ldd", KERNELS], capture_output=True, text=True, check=True).stdout
        for unwanted in ("LLVM", "isl", "sqlite", "cuda"):
            self.assertNotIn(unwanted, libraries)

    @unittest.skipUnless(PTXAS, "no ptxas")
    def test_tunec_writes_such_files(self):
        model = self.file("g.graph", GRAPH)
        dump = self.folder / "dump"
        self.good("show", model, "--no-db", "--target", "cuda", "--arch", "sm_90a", "--dump", dump, program=TUNEC)
        kernels = sorted(dump.glob("*.kernel"))
        self.assertEqual(len(kernels), 1)
        row = json.loads(self.good("time", *kernels))
        self.assertGreater(row["functions"][0]["registers"], 0)

    @unittest.skipUnless(PTXAS, "no ptxas")
    def test_loops_by_hand_become_such_files(self):
        computes = sorted(VECTORS_FOLDER.glob("*.compute"))
        self.assertGreater(len(computes), 0)
        for compute in computes:
            dump = self.folder / compute.stem
            self.good("schedule", compute, "--steps", compute.with_suffix(".sched"), "--target", "cuda", "--arch",
                      "sm_80", "--accuracy", "tf32", "--dump", dump, program=TUNEC)
            kernel, = dump.glob("*.kernel")
            vectors = self.folder / f"{compute.stem}.vectors"
            self.good("record", kernel, vectors)
            self.good("check", kernel, vectors)
        done = self.run_it("schedule", computes[0], "--target", "cuda", "--arch", "sm_80", "--time", program=TUNEC)
        self.assertEqual(done.returncode, 2)
        self.assertIn("is timed by tunec-kernels", done.stderr)


if __name__ == "__main__":
    options = {name: sys.argv.pop(sys.argv.index(name) + 1) for name in ("--kernels", "--tunec", "--driver")}
    for name in options:
        sys.argv.remove(name)
    KERNELS, TUNEC, DRIVER = (options[name] for name in ("--kernels", "--tunec", "--driver"))
    unittest.main()
