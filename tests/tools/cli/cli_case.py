"""The base class of tests that run tunec, and check its exit codes, messages and files.

    TOPIC_test.py --tunec PROGRAM [unittest's arguments]
"""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path


class CliTest(unittest.TestCase):
    """A test in a separate folder, which is also tunec's home."""

    program_file = None  # path of tunec

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="tunec-cli-")
        self.addCleanup(self.folder.cleanup)
        self.dir = Path(self.folder.name)
        self.environment = {**os.environ, "HOME": str(self.dir), "XDG_CACHE_HOME": str(self.dir / "cache")}

    def file(self, name, content):
        path = self.dir / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def tunec(self, *arguments, program=None):
        return subprocess.run([program or self.program_file, *map(str, arguments)], capture_output=True,
                              text=True, cwd=self.dir, env=self.environment, timeout=300)

    def good(self, *arguments):
        done = self.tunec(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return done.stdout

    def bad(self, code, message, *arguments):
        """Runs tunec, and expects the exit code and an error that contains the message. The error
        must begin in lower case and end without a full stop. Returns the finished process."""
        done = self.tunec(*arguments)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        first = [line for line in done.stderr.splitlines() if "error: " in line][0]
        self.assertIn(message, done.stderr)
        text = first.split("error: ", 1)[1]
        self.assertNotRegex(text, r"^[A-Z][a-z]|\.$")
        return done


def main():
    """Runs the tests of the main module. Its argument --tunec is the path of tunec."""
    position = sys.argv.index("--tunec")
    CliTest.program_file = sys.argv[position + 1]
    del sys.argv[position:position + 2]
    unittest.main(verbosity=2)
