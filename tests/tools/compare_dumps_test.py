#!/usr/bin/env python3
"""Tests the output of tools/compare_dumps.py for two made-up dumps.

    compare_dumps_test.py
"""
import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import compare_dumps  # noqa: E402

HASH_A, HASH_B = "a" * 16, "b" * 16


class CompareDumps(unittest.TestCase):

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.old, self.new = Path(directory.name, "old"), Path(directory.name, "new")
        self.old.mkdir()
        self.new.mkdir()

    def write(self, side, program, kernel, nest="for i\n", code=b"code", schedule="lower direct\n"):
        folder = side / program
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{kernel}.nest").write_text(nest)
        (folder / f"{kernel}.sched").write_text(schedule)
        (folder / f"{kernel}.0.o").write_bytes(code)

    def run_it(self, *options):
        out, err = io.StringIO(), io.StringIO()
        argv = ["compare_dumps.py", str(self.old), str(self.new), *options]
        with mock.patch.object(sys, "argv", argv), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = compare_dumps.main()
        return code, out.getvalue(), err.getvalue()

    def test_equal(self):
        for side in (self.old, self.new):
            self.write(side, "mlp", f"000-{HASH_A}")
            self.write(side, "mlp", f"003-{HASH_B}")
        self.assertEqual(self.run_it(), (0, "kernels: 2 same\n", ""))

    def test_moved_places_are_the_same_kernel(self):
        self.write(self.old, "mlp", f"000-{HASH_A}")
        self.write(self.old, "mlp", f"001-{HASH_B}", nest="for j\n")
        self.write(self.new, "mlp", f"000-{HASH_B}", nest="for j\n")
        self.write(self.new, "mlp", f"001-{HASH_A}")
        self.assertEqual(self.run_it(), (0, "kernels: 2 same\n", ""))

    def test_nest_differs(self):
        self.write(self.old, "mlp", f"000-{HASH_A}", nest="for i < 4\n  a\n", code=b"four")
        self.write(self.new, "mlp", f"000-{HASH_A}", nest="for i < 5\n  a\n", code=b"fives",
                   schedule="lower direct\nsplit a.i 5\n")
        with mock.patch.object(compare_dumps, "disassembled", lambda path: path.read_bytes()):
            code, out, _ = self.run_it()
        self.assertEqual(code, 1)
        self.assertIn(f"mlp/000-{HASH_A}: nest differs, code 4 -> 5 bytes, 4 -> 5 instructions\n", out)
        self.assertIn("    -for i < 4\n    +for i < 5\n", out)
        self.assertIn("    +split a.i 5\n", out)
        self.assertIn("kernels: 1 nest differs\n", out)

    def test_code_differs(self):
        self.write(self.old, "mlp", f"000-{HASH_A}", code=b"four")
        self.write(self.new, "mlp", f"000-{HASH_A}", code=b"five")
        with mock.patch.object(compare_dumps, "disassembled", lambda path: None):
            code, out, _ = self.run_it()
        self.assertEqual((code, out), (1, f"mlp/000-{HASH_A}: code differs, 4 -> 4 bytes\nkernels: 1 code differs\n"))

    def test_an_object_more_differs(self):
        for side in (self.old, self.new):
            self.write(side, "mlp", f"000-{HASH_A}")
        (self.new / "mlp" / f"000-{HASH_A}.1.o").write_bytes(b"packing")
        code, out, _ = self.run_it()
        self.assertEqual(code, 1)
        self.assertIn("code differs, 4 -> 11 bytes", out)

    def test_statements_differ(self):
        self.write(self.old, "mlp", f"002-{HASH_A}")
        self.write(self.new, "mlp", f"002-{HASH_B}", nest="for j\n")
        code, out, _ = self.run_it()
        self.assertEqual(code, 1)
        self.assertIn(f"mlp/002-{HASH_B}: statements differ, code 4 -> 4 bytes", out)

    def test_other_statements_that_become_the_same_loops(self):
        self.write(self.old, "mlp", f"002-{HASH_A}")
        self.write(self.new, "mlp", f"002-{HASH_B}")
        self.assertEqual(self.run_it(), (0, "kernels: 1 same\n", ""))

    def test_new_and_gone(self):
        self.write(self.old, "mlp", f"001-{HASH_A}")
        self.write(self.new, "mlp", f"002-{HASH_B}")
        self.write(self.new, "unet", f"001-{HASH_A}")
        code, out, _ = self.run_it()
        self.assertEqual(code, 1)
        self.assertEqual(out, f"mlp/001-{HASH_A}: gone\nmlp/002-{HASH_B}: new\nunet/001-{HASH_A}: new\n"
                              "kernels: 1 gone, 2 new\n")

    def test_differences_are_bounded_unless_full(self):
        self.write(self.old, "mlp", f"000-{HASH_A}", nest="".join(f"a {i}\n" for i in range(50)))
        self.write(self.new, "mlp", f"000-{HASH_A}", nest="".join(f"b {i}\n" for i in range(50)))
        _, short, _ = self.run_it()
        self.assertIn("more lines (--full)", short)
        self.assertNotIn("+b 49", short)
        _, full, _ = self.run_it("--full")
        self.assertIn("+b 49", full)

    def test_failures(self):
        self.write(self.old, "mlp", f"000-{HASH_A}")
        self.write(self.new, "mlp", f"000-{HASH_A}")
        (self.new / "unet").mkdir()
        (self.new / "unet" / "failed").write_text("error: no such operator\n")
        code, out, _ = self.run_it()
        self.assertEqual(code, 1)
        self.assertIn("unet: before: works\nunet: after: error: no such operator\n", out)
        (self.old / "unet").mkdir()
        (self.old / "unet" / "failed").write_text("error: no such operator\n")
        code, out, _ = self.run_it()
        self.assertEqual((code, out), (0, "kernels: 1 same\nprograms that fail: unet\n"))

    def test_a_kernel_that_compiles_no_more(self):
        self.write(self.old, "mlp", f"000-{HASH_A}")
        self.write(self.new, "mlp", f"000-{HASH_A}")
        (self.new / "mlp" / f"000-{HASH_A}.error").write_text("error: too long\n")
        code, out, _ = self.run_it()
        self.assertEqual(code, 1)
        self.assertIn(f"mlp/000-{HASH_A}: result differs\n", out)
        self.assertIn("    +error: too long\n", out)

    def test_strange_folders(self):
        (self.new / "mlp").mkdir()
        (self.new / "mlp" / "notes.txt").write_text("")
        self.assertEqual(self.run_it()[0], 2)
        self.new = self.new / "missing"
        code, _, err = self.run_it()
        self.assertEqual(code, 2)
        self.assertIn("not a folder", err)


if __name__ == "__main__":
    unittest.main()
