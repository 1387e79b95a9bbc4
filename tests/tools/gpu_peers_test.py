#!/usr/bin/env python3
"""Tests the computations and plans of bench/cuda/gpu_peers.py. Needs no GPU, torch or numpy."""
import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).parents[2] / "bench/cuda"))
import gpu_peers  # noqa: E402


class Numbers(unittest.TestCase):
    def test_median_least_and_spread(self):
        seen = gpu_peers.summarise([4.0, 1.0, 3.0, 2.0, 5.0])
        self.assertEqual((seen["median_ms"], seen["least_ms"], seen["spread"]), (3.0, 1.0, (4.0 - 2.0) / 3.0))
        self.assertEqual(seen["blocks_ms"], [4.0, 1.0, 3.0, 2.0, 5.0])
        self.assertEqual(gpu_peers.summarise([2.0])["spread"], 0.0)

    def test_each_peer_begins_a_round(self):
        self.assertEqual([gpu_peers.order_of(["a", "b", "c"], turn)[0] for turn in range(4)], ["a", "b", "c", "a"])
        self.assertEqual(gpu_peers.order_of(["a", "b", "c"], 1), ["b", "c", "a"])
        self.assertEqual(gpu_peers.order_of([], 3), [])

    def test_a_table_sets_all_beside_tunec(self):
        row = {"error": 1e-6, "spread": 0.02, "least_ms": 0.9}
        lines = gpu_peers.table({"tunec": dict(row, median_ms=2.0), "torch": dict(row, median_ms=1.0),
                                 "triton": {"problem": "no kernel"}})
        self.assertIn("1.00 x tunec", lines[0])
        self.assertIn("0.50 x tunec", lines[1])
        self.assertEqual(lines[2], "  triton     no kernel")
        self.assertNotIn("x tunec", gpu_peers.table({"torch": dict(row, median_ms=1.0)})[0])


class Peer:
    def __init__(self, outputs, times=()):
        self.outputs, self.times = outputs, list(times)

    def prepare(self, _):
        if isinstance(self.outputs, Exception):
            raise self.outputs
        return self.outputs

    def block(self):
        return self.times.pop(0)


class Measuring(unittest.TestCase):
    def setUp(self):
        before = gpu_peers.relative_error
        gpu_peers.relative_error = lambda got, reference: abs(got - reference)  # the original needs numpy
        self.addCleanup(setattr, gpu_peers, "relative_error", before)
        self.case = SimpleNamespace(outputs={"y0": 1.0}, accuracy="f32")

    def test_only_who_is_right_is_timed(self):
        peers = {"tunec": Peer([1.0], [3.0, 1.0, 2.0]), "torch": Peer([1.5]), "inductor": Peer([]),
                 "triton": Peer(gpu_peers.Problem("no kernel"))}
        rows = gpu_peers.measure(self.case, peers, rounds=3)
        self.assertEqual((rows["tunec"]["median_ms"], rows["tunec"]["error"]), (2.0, 0.0))
        self.assertEqual(rows["torch"]["problem"], "wrong: error 5.0e-01, at most 1e-04")
        self.assertEqual(rows["inductor"]["problem"], "0 outputs, expected 1")
        self.assertEqual(rows["triton"]["problem"], "no kernel")
        self.assertTrue(all("median_ms" not in rows[name] for name in ("torch", "inductor", "triton")))

    def test_a_peer_that_fails_stops_nobody(self):
        peers = {"tunec": Peer([1.0], [1.0]), "torch": Peer([1.0], [2.0, 4.0]),
                 "inductor": Peer(RuntimeError("out of memory\nmore"))}
        rows = gpu_peers.measure(self.case, peers, rounds=2)
        self.assertIn("while it was timed", rows["tunec"]["problem"])
        self.assertEqual(rows["torch"]["median_ms"], 3.0)
        self.assertEqual(rows["inductor"]["problem"], "RuntimeError: out of memory")


class Plans(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tunec-gpu-peers-")
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)
        for name in ("matmul_512", "resnet50", "own"):
            (self.dir / f"{name}.onnx").touch()

    def plan(self, *options):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            self.assertEqual(gpu_peers.main([str(self.dir), "--dry-run", *options]), 0)
        return printed.getvalue()

    def test_without_a_gpu_the_plan_is_said(self):
        plan = self.plan("--rounds", "7", "--db", "t.db", "--trials", "50")
        self.assertIn("matmul_512 under f32: tunec, torch, inductor, triton; 7 rounds of 30 runs", plan)
        self.assertIn("resnet50 under bf16: ", plan)
        self.assertNotIn("own under", plan)
        self.assertIn("attention: not in ", plan)
        self.assertIn(f"tunec.compile({self.dir}/matmul_512.onnx, {{'target': 'cuda', 'accuracy': 'bf16', "
                      "'db': 't.db', 'trials': 50})", plan)

    def test_what_is_asked_for_is_there(self):
        plan = self.plan("--models", "own", "--peers", "torch", "--accuracy", "tf32")
        self.assertEqual(len(plan.splitlines()), 1)
        self.assertIn("own under tf32: torch; ", plan)
        with self.assertRaises(SystemExit) as stopped:
            gpu_peers.main([str(self.dir), "--dry-run", "--models", "own,vgg16"])
        self.assertIn("lacks vgg16", str(stopped.exception))
        for wrong in (["--peers", "tvm"], ["--accuracy", "f16"], ["--trials", "5"]):
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
                gpu_peers.main([str(self.dir), "--dry-run", *wrong])


if __name__ == "__main__":
    unittest.main()
