#!/usr/bin/env python3
"""Tests bench/write_results.py, and that the bench scripts accept its option."""
import argparse
import contextlib
import io
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import write_results  # noqa: E402

# Scripts that print tables. Before parsing options, these import only the standard library.
SCRIPTS = ("cuda/gpu_peers.py", "decode/decode.py", "memory/memory.py", "polybench/polybench.py",
           "shapes/bert_requests.py", "stencils/stencils.py", "torch_models/compare.py", "training/training.py")
TABLE = "| model | ms |\n|---|---|\n| a | 1 |"


class Recording(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.parser = argparse.ArgumentParser()
        write_results.add_option(self.parser)

    def record(self, words, *printed):
        """Returns the text on standard output and the files that a run writes."""
        options = self.parser.parse_args(words)
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(io.StringIO()):
            with write_results.recorded(options, packages=("no-such-package",), folder=self.folder):
                for text in printed:
                    print(text)
        return shown.getvalue(), list(self.folder.iterdir())

    def test_without_the_option_nothing_is_written(self):
        self.assertEqual(self.record([], "a"), ("a\n", []))

    def test_a_section_names_its_facts(self):
        shown, files = self.record(["--write-results", "zen4"], "two threads", TABLE)
        self.assertEqual(shown, f"two threads\n{TABLE}\n")
        self.assertRegex(files[0].name, r"^\d{4}-\d\d-\d\d-zen4\.md$")
        text = files[0].read_text()
        self.assertTrue(text.startswith(f"# {files[0].stem}\n\n## "))
        self.assertRegex(text, r"\n    \S*write_results_test.py")
        for fact in ("commit: ", "date: ", "machine: ", "versions: Python "):
            self.assertIn(f"\n- {fact}", text)
        self.assertNotIn("no-such-package", text)
        self.assertTrue(text.endswith(f"```\ntwo threads\n```\n\n{TABLE}\n"))

    def test_a_failed_run_writes_nothing(self):
        with self.assertRaises(RuntimeError), contextlib.redirect_stdout(io.StringIO()):
            with write_results.recorded(self.parser.parse_args(["--write-results", "zen4"]), folder=self.folder):
                raise RuntimeError("a peer")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_machine_is_one_word(self):
        for word in ("Zen 4", "../zen4", ""):
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
                self.parser.parse_args(["--write-results", word])


class Sections(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "2026-11-28-zen4.md"

    def add(self, command, text):
        write_results.add_section(self.path, "peers", command, {"commit": "abc"}, text)
        return self.path.read_text()

    def test_other_commands_are_added_and_the_same_one_is_replaced(self):
        self.add("peers.py a", "first")
        self.add("peers.py b", "second")
        text = self.add("peers.py a", "third")
        self.assertEqual(text, "# 2026-11-28-zen4\n\n"
                               "## peers\n\n    peers.py a\n\n- commit: abc\n\n```\nthird\n```\n\n"
                               "## peers\n\n    peers.py b\n\n- commit: abc\n\n```\nsecond\n```\n")

    def test_facts_are_wrapped(self):
        write_results.add_section(self.path, "peers", "peers.py", {"versions": ", ".join(["package 1.0"] * 20)}, "")
        self.assertLessEqual(max(map(len, self.path.read_text().splitlines())), write_results.WIDTH)

    def test_tables_are_not_fenced(self):
        self.assertEqual(write_results.as_markdown(f"a\n\n{TABLE}\n\nb\n"), f"```\na\n```\n\n{TABLE}\n\n```\nb\n```\n")


class Scripts(unittest.TestCase):
    def test_scripts_have_the_option(self):
        for script in SCRIPTS:
            with self.subTest(script=script):
                done = subprocess.run([sys.executable, "-B", str(ROOT / "bench" / script), "--help"],
                                      capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("--write-results MACHINE", done.stdout)


if __name__ == "__main__":
    unittest.main()
