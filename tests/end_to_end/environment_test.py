#!/usr/bin/env python3
"""Tests tunec without a home, a writable database, disk space or standard output, and with signals.

    environment_test.py --tunec PROGRAM [unittest's arguments]
"""
import os
import re
import resource
import signal
import subprocess
from pathlib import Path

import tunec_process
from tunec_process import NETWORKS, TunecTest

MATVEC = Path(__file__).resolve().parents[2] / "examples/loops/matvec.compute"
# A network whose many groups take long to tune, and whose objects need much disk space.
NETWORK = [NETWORKS / "mobilenet_v2_64.graph", "--random-weights", "7", "--threads", "1"]
NOBODY = 65534
GRAPH = """graph g {
  input a: f32[24, 40]
  input b: f32[40, 56]
  p = matmul(a, b)
  r = relu(p)
  output y = r
}
"""


class Environment(TunecTest):
    def setUp(self):
        super().setUp()
        self.graph = self.file("g.graph", GRAPH)

    def tunec(self, *arguments, **options):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return subprocess.run([tunec_process.TUNEC, *map(str, arguments)], text=True, cwd=self.dir,
                              env=self.environment, timeout=300, **options)

    def expect(self, code, done):
        self.assertEqual(done.returncode, code, (done.stderr or "") + (done.stdout or ""))
        return done

    def notes(self, done, expected):
        """Expects success, and exactly one line `note: ...` that contains `expected`."""
        self.expect(0, done)
        notes = [line for line in done.stderr.splitlines() if line.startswith("note: ") and expected in line]
        self.assertEqual(len(notes), 1, done.stderr)

    def started(self, *arguments, **options):
        """Starts a long tuning, waits until it has printed a line, and returns the process."""
        process = subprocess.Popen([tunec_process.TUNEC, *NETWORK, "--trials", "100000", *arguments], text=True,
                                   cwd=self.dir, env=self.environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, **options)
        self.addCleanup(process.kill)
        process.stdout.readline()
        return process

    def ended(self, process, code):
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, code, out + err)
        return out, err

    # --- Tests of the database.

    def test_a_home_that_cannot_be_written_is_a_note(self):
        del self.environment["XDG_CACHE_HOME"]
        self.environment["HOME"] = "/proc"
        self.notes(self.tunec("run", self.graph), "/proc/.cache")
        self.notes(self.tunec(self.graph, "--trials", 2, "--threads", 1), "going on without a database")

    def test_a_cache_that_is_a_file_is_a_note(self):
        (self.dir / "cache").write_text("")
        self.notes(self.tunec("run", self.graph), "cache: cannot create")

    def test_a_database_that_was_named_is_an_error(self):
        for arguments in ((), ("--trials", 2)):
            done = self.expect(2, self.tunec("run", self.graph, "--db", "/proc/x.db", *arguments))
            self.assertIn("/proc/x.db", done.stderr)

    def test_a_database_that_can_only_be_read_is_read(self):
        (self.dir / "fixed").mkdir()
        database = self.dir / "fixed/t.db"
        self.expect(0, self.tunec(self.graph, "--trials", 2, "--threads", 1, "--db", database))
        before = database.read_bytes()
        self.dir.chmod(0o755)
        database.chmod(0o444)
        database.parent.chmod(0o555)
        self.addCleanup(database.parent.chmod, 0o755)
        nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        try:
            self.expect(0, self.tunec("--version", **nobody))
        except OSError as error:
            self.skipTest(f"[SKIP] another user cannot run tunec: {error}")
        run = ("run", self.graph, "--threads", 1, "--db", database)
        self.notes(self.tunec(*run, **nobody), "what this run finds is not kept")
        self.expect(2, self.tunec(*run, "--trials", 9, **nobody))
        self.assertEqual(database.read_bytes(), before)

    def test_a_database_removed_while_tuning_is_noticed(self):
        process = self.started("--db", "t.db")
        for path in self.dir.glob("t.db*"):
            path.unlink()
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        _, err = self.ended(process, 143)
        self.assertEqual(len(re.findall("note: .*t.db: removed or replaced", err)), 1, err)

    def test_a_file_that_may_not_grow_is_a_note(self):
        most = 120 << 10
        done = self.tunec(*NETWORK, "--trials", 4, "--db", "t.db",
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
        self.notes(done, "what this run finds is not kept")
        self.assertIn("sound", self.expect(0, self.tunec("db", "--db", "t.db", "check")).stdout)

    def test_pruning_makes_no_database(self):
        done = self.expect(2, self.tunec("db", "--db", "typo.db", "prune"))
        self.assertIn("no such database", done.stderr)
        self.assertFalse((self.dir / "typo.db").exists())

    # --- Tests of signals.

    def test_signals_keep_what_was_measured(self):
        for number, code in ((signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)):
            process = self.started()
            process.send_signal(number)
            _, err = self.ended(process, code)
            self.assertRegex(err, r"interrupted: \d+ new trials? kept, run again to continue")

    def test_an_ignored_hangup_stays_ignored(self):
        process = self.started(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.send_signal(signal.SIGHUP)
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        self.ended(process, 143)

    # --- Tests of standard output.

    def printing(self):
        yield from (["--version"], ["--help"], ["show", self.graph], ["show", self.graph, "--asm", "0"],
                    ["opt", self.graph], ["run", self.graph], ["run", self.graph, "--db", "t.db"],
                    ["verify", self.graph], ["bench", self.graph, "--runs", "2"], [self.graph], ["db", "stats"],
                    ["schedule", MATVEC], ["schedule", MATVEC, "--svg", "-"])

    def test_output_to_a_full_disk_is_a_failure(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("[SKIP] there is no /dev/full")
        self.expect(0, self.tunec("run", self.graph))
        for arguments in self.printing():
            with self.subTest(arguments), open("/dev/full", "w") as full:
                done = self.expect(2, self.tunec(*arguments, stdout=full))
                self.assertIn("error: cannot write to standard output", done.stderr)

    def test_a_closed_output_is_a_failure(self):
        self.expect(0, self.tunec("run", self.graph))
        for arguments in self.printing():
            with self.subTest(arguments):
                self.expect(2, self.tunec(*arguments, stdout=None, preexec_fn=lambda: os.close(1)))
                self.expect(2, self.tunec(*arguments, stdin=None, stdout=None, stderr=None,
                                          preexec_fn=lambda: os.closerange(0, 3)))
        self.assertIn("sound", self.expect(0, self.tunec("db", "--db", "t.db", "check")).stdout)

    def test_without_standard_error_the_exit_code_tells(self):
        closed = {"stdout": subprocess.PIPE, "stderr": None, "preexec_fn": lambda: os.close(2)}
        self.expect(2, self.tunec("run", "nowhere.graph", **closed))
        self.expect(2, self.tunec("--nosuch", **closed))
        self.environment["XDG_CACHE_HOME"] = "/proc/nowhere"  # the note about it is not printed
        self.expect(0, self.tunec("run", self.graph, **closed))

    # --- Tests of numbers.

    def test_what_is_no_number_is_rejected(self):
        for arguments in (("bench", self.graph, "--seconds"), ("verify", self.graph, "--tolerance"),
                          ("db", "prune", "--keep-best")):
            for value in ("nan", "-1", "inf"):
                done = self.expect(2, self.tunec(*arguments, value))
                self.assertIn(f"{arguments[-1]}: {value}, expected a number", done.stderr)


if __name__ == "__main__":
    tunec_process.main()
