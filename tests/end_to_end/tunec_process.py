"""The base class of tests of the command tunec. Each test has a separate folder and database."""
import contextlib
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

NETWORKS = Path(__file__).resolve().parent.parent / "networks"
TUNEC = None  # path of the program under test, set by main

# A product with bias and relu. CHAIN has the same group under other names, and one more group.
PRODUCT = """graph product {
  input a: f32[24, 40]
  weight w: f32[40, 56]
  weight b: f32[56]
  p = matmul(a, w)
  s = add(p, b)
  r = relu(s)
  output y = r
}
"""
CHAIN = """graph chain {
  input x: f32[24, 40]
  weight first: f32[40, 56]
  weight offset: f32[56]
  weight second: f32[56, 8]
  m = matmul(x, first)
  n = add(m, offset)
  o = relu(n)
  q = matmul(o, second)
  output hidden = o
  output result = q
}
"""


class TunecTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tunec-e2e-")
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)
        self.db = self.dir / "t.db"
        self.environment = {**os.environ, "HOME": str(self.dir), "XDG_CACHE_HOME": str(self.dir / "cache")}

    def file(self, name, text):
        path = self.dir / name
        path.write_text(text)
        return str(path)

    def tunec(self, *arguments, **how):
        return subprocess.run([TUNEC, *map(str, arguments)], capture_output=True, text=True, cwd=self.dir,
                              env=self.environment, timeout=300, **how)

    def good(self, *arguments):
        done = self.tunec(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return done.stdout

    def bad(self, code, message, *arguments, **how):
        done = self.tunec(*arguments, **how)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        self.assertIn(message, done.stderr)
        return done

    def compile(self, graph, *arguments):
        return self.good(graph, "--random-weights", 7, "--threads", 1, "--db", self.db, *arguments)

    def verify(self, graph, *arguments):
        return self.good("verify", graph, "--random-weights", 7, "--threads", 1, "--db", self.db, *arguments)

    def assert_sound(self):
        """Expects that the database is sound, by tunec's check and by SQLite's."""
        self.assertIn("sound", self.good("db", "check", "--db", self.db))
        self.assertEqual(self.query("pragma integrity_check"), [("ok",)])

    def query(self, statement, *values):
        with contextlib.closing(sqlite3.connect(self.db)) as connection, connection:
            return connection.execute(statement, values).fetchall()


def main():
    global TUNEC
    position = sys.argv.index("--tunec")
    TUNEC = os.path.abspath(sys.argv[position + 1])
    del sys.argv[position:position + 2]
    unittest.main(module="__main__", verbosity=2)
