#!/usr/bin/env python3
"""Tests how tools/test_cuda.py interprets the output of programs. Scripts replace the programs."""
import contextlib
import io
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import test_cuda  # noqa: E402


def row(spilled=0, **changes):
    function = {"symbol": "k_phase0", "registers": 64, "spilled_bytes": spilled, "local_bytes": 0, "shared_bytes": 512}
    return {"group": 0, "kernel": "matmul", "sketch": "tile/j", "refused": 1, "loops_ms": 10.0, "llvm_ms": 30.0,
            "ptxas_ms": 60.0, "functions": [function], **changes}


def done(stdout="", stderr="", code=0):
    return subprocess.CompletedProcess([], code, stdout, stderr)


def verified(relative, ok=True):
    return json.dumps({"outputs": [{"relative": 1e-9, "threshold": 1e-4}, {"relative": relative, "threshold": 1e-4}],
                       "ok": ok, "threshold_from": ""})


class Summaries(unittest.TestCase):
    def test_a_model_s_kernels(self):
        line, problems = test_cuda.summary([row(), row(group=3)])
        self.assertEqual(line, "2 kernels, 2 functions, at most 64 registers, 512 B shared, 0 B local; 2 schedules "
                               "rejected; 0.2 s: loops 10 %, LLVM 30 %, ptxas 60 %")
        self.assertEqual(problems, [])

    def test_spills_and_kernels_that_are_not_there_are_problems(self):
        missing = {"group": 2, "kernel": "sort", "sketch": "", "refused": 2, "error": "too large"}
        line, problems = test_cuda.summary([row(spilled=48), missing])
        self.assertEqual(problems, ["group 0 (matmul): k_phase0 spills 48 bytes at 64 registers (tile/j)",
                                    "group 2 (sort): not compiled: too large"])
        self.assertIn("2 kernels, 1 function,", line)
        self.assertIn("0 kernels, 0 functions", test_cuda.summary([])[0])

    def test_candidates_may_fail(self):
        rejected = [dict(row(), error="too many threads") for _ in range(3)]
        line, reasons = test_cuda.candidate_summary([row(), row(spilled=8), *rejected])
        self.assertEqual(line, "5 candidates, 3 not compiled, 1 with spills; 100 ms each, 0.2 s: loops 10 %, "
                               "LLVM 30 %, ptxas 60 %")
        self.assertEqual(reasons, ["3 x too many threads"])
        self.assertIn("0 candidates", test_cuda.candidate_summary([])[0])

    def test_a_verdict(self):
        self.assertEqual(test_cuda.verdict(done(verified(2e-5))), (True, "error 2.0e-05, at most 1.0e-04"))
        self.assertEqual(test_cuda.verdict(done(verified(1.0, ok=False), code=1))[0], False)
        self.assertEqual(test_cuda.verdict(done(verified(None, ok=False), code=1)),
                         (False, "error not finite, at most 1.0e-04"))
        self.assertEqual(test_cuda.verdict(done("", "note: x\nerror: no ptxas\n", 2)),
                         (False, "exit code 2: error: no ptxas"))
        self.assertEqual(test_cuda.verdict(done(json.dumps({"outputs": [], "ok": True})))[0], False)


class Commands(unittest.TestCase):
    """Tests of the parts of test_cuda.py as a whole, with scripts in place of the programs."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tunec-test-cuda-")
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)
        for name in ("models", "networks"):
            (self.dir / name).mkdir()
        index = {"small": {"gflop": 0.1}, "matmul_512": {"gflop": 0.2}, "large": {"gflop": 30}}
        (self.dir / "models/index.json").write_text(json.dumps(index))
        for name in (*index, "unlisted"):
            (self.dir / f"models/{name}.onnx").touch()
        (self.dir / "networks/net.graph").touch()

    def program(self, name, script):
        path = self.dir / name
        path.write_text(f"#!/bin/sh\necho \"$@\" >> {self.dir}/calls\n{script}\n")
        path.chmod(0o755)
        return str(path)

    def run_part(self, part, *options):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            code = test_cuda.main([part, "--models", f"{self.dir}/models", "--networks", f"{self.dir}/networks",
                                   *options])
        return code, printed.getvalue()

    def test_models_are_verified_but_for_large_ones(self):
        tunec = self.program("tunec", f"cat <<'E'\n{verified(1e-6)}\nE")
        code, printed = self.run_part("models", "--tunec", tunec, "--arch", "sm_80")
        self.assertEqual(code, 0, printed)
        self.assertIn("models: 4 right, 0 wrong, 0 too long, 1 left out", printed)
        self.assertRegex(printed, r"(?m)^large +left out: over 4 GFLOP$")
        calls = (self.dir / "calls").read_text()
        self.assertIn(f"verify {self.dir}/networks/net.graph --random-weights 7 --expected {self.dir}/networks/net.npz",
                      calls)
        self.assertEqual(calls.count("--target cuda --arch sm_80 --emulate"), 4)

    def test_a_wrong_model_and_a_slow_one(self):
        wrong = self.program("wrong", f"cat <<'E'\n{verified(1.0, ok=False)}\nE\nexit 1")
        code, printed = self.run_part("models", "--tunec", wrong)
        self.assertEqual(code, 1)
        self.assertIn("0 right, 4 wrong", printed)
        slow = self.program("slow", f"case $2 in *net*) exec sleep 9;; esac\ncat <<'E'\n{verified(1e-6)}\nE")
        code, printed = self.run_part("models", "--tunec", slow, "--limit", "0.3")
        self.assertEqual(code, 0, printed)
        self.assertIn("3 right, 0 wrong, 1 too long", printed)

    def test_kernels_for_each_architecture(self):
        bench = self.program("bench", f"cat <<'E'\n{json.dumps(row())}\nE")
        tunec = self.program("tunec", "case \"$*\" in *sm_80) ;; *) echo HMMA.16816;; esac")
        code, printed = self.run_part("kernels", "--bench", bench, "--tunec", tunec, "--archs", "sm_80,sm_90a",
                                      "--candidates", "7")
        self.assertEqual(code, 0, printed)
        self.assertIn("kernels: 4 models for 2 architectures, 0 problems", printed)
        self.assertIn("matmul_512 under bf16: HMMA on sm_90a of sm_80, sm_90a", printed)
        self.assertIn("matmul_512 sm_80: 1 candidate,", printed)
        self.assertIn(f"{self.dir}/models/matmul_512.onnx sm_90a 7\n", (self.dir / "calls").read_text())

    def test_a_program_that_stops_is_a_problem(self):
        bench = self.program("bench", "echo 'check failed: no ptxas' >&2; exit 134")
        tunec = self.program("tunec", "echo 'error: no nvdisasm' >&2; exit 2")
        code, printed = self.run_part("kernels", "--bench", bench, "--tunec", tunec, "--archs", "sm_80")
        self.assertEqual(code, 1)
        self.assertIn("group - (all): not compiled: check failed: no ptxas", printed)
        self.assertIn("matmul_512 under bf16: error: no nvdisasm", printed)


if __name__ == "__main__":
    unittest.main()
