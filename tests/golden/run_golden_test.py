#!/usr/bin/env python3
"""Tests run_golden.py with a small shell script in place of tunec."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RUNNER = Path(__file__).with_name("run_golden.py")

# This script replaces tunec. `upper FILE` prints FILE in capitals. `fail FILE` reports an error and
# exits with 2. `keep FILE` copies FILE to `kept`, and `crash` ends by a signal.
FAKE_TUNEC = """#!/bin/sh
case $1 in
upper) tr a-z A-Z < "$2" ;;
fail) echo "$2:1:3: error: unknown operator" >&2; exit 2 ;;
keep) cp "$2" kept; echo kept ;;
crash) kill -SEGV $$ ;;
esac
"""


class GoldenTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.tunec = Path(self.directory.name, "tunec")
        self.tunec.write_text(FAKE_TUNEC)
        self.tunec.chmod(0o755)
        self.file = Path(self.directory.name, "case.txt")

    def run_golden(self, text, bless=False, tunec=None):
        self.file.write_text(text)
        environment = {k: v for k, v in os.environ.items() if k != "TUNEC_BLESS"}
        if bless:
            environment["TUNEC_BLESS"] = "1"
        done = subprocess.run([sys.executable, "-B", RUNNER, "--tunec", tunec or self.tunec, self.file],
                              cwd=self.directory.name, env=environment, text=True, capture_output=True)
        return done.returncode, done.stdout

    def test_match(self):
        self.assertEqual(self.run_golden("# a comment\n# command: upper %input\nabc\n----\nABC\n"), (0, ""))

    def test_program_of_a_relative_path(self):
        self.assertEqual(self.run_golden("# command: upper %input\nabc\n----\nABC\n", tunec="./tunec"), (0, ""))

    def test_difference_is_shown(self):
        code, out = self.run_golden("# command: upper %input\nabc\n----\nABD\n")
        self.assertEqual(code, 1)
        self.assertIn("-ABD\n+ABC", out)

    def test_expected_failure(self):
        text = "# command: fail %input\n# exit: 2\nabc\n----\n---- stderr\n%input:1:3: error: unknown operator\n"
        self.assertEqual(self.run_golden(text), (0, ""))

    def test_unexpected_exit_code(self):
        code, out = self.run_golden("# command: fail %input\nabc\n----\n")
        self.assertEqual(code, 1)
        self.assertIn("exit code 2, expected exit code 0", out)

    def test_crash_cannot_be_blessed(self):
        code, out = self.run_golden("# command: crash\n----\n", bless=True)
        self.assertEqual(code, 1)
        self.assertIn("killed by signal 11", out)

    def test_commands_share_a_folder(self):
        text = "# command: keep %input\n# command: upper %dir/kept\nabc\n----\nkept\nABC\n"
        self.assertEqual(self.run_golden(text), (0, ""))

    def test_bless(self):
        head = "# command: fail %input\n# exit: 2\nabc\n----\n"
        self.assertEqual(self.run_golden(head + "old\n", bless=True)[0], 0)
        self.assertEqual(self.file.read_text(), head + "---- stderr\n%input:1:3: error: unknown operator\n")
        self.assertEqual(self.run_golden(self.file.read_text()), (0, ""))

    def test_malformed(self):
        for text, message in (("# command: upper %input\nabc\n", "expected a line '----'"),
                              ("abc\n----\n", "expected a line '# command: ...'"),
                              ("# comand: upper\n----\n", "unknown key or bad value 'comand: upper'"),
                              ("# command: x\n# exit: two\n----\n", "unknown key or bad value 'exit: two'")):
            code, out = self.run_golden(text)
            self.assertEqual(code, 2)
            self.assertIn(message, out)


if __name__ == "__main__":
    unittest.main()
