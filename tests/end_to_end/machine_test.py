#!/usr/bin/env python3
"""Tests tunec on machines with faults, for example with a full disk, unreadable files or no worker.

    machine_test.py --tunec PROGRAM [unittest's arguments]

A test that needs root, or an ordinary user, is skipped for another user with a line [SKIP].
"""
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import tunec_process
from tunec_process import NETWORKS, PRODUCT, TunecTest

NOBODY = 65534


class Machine(TunecTest):
    def setUp(self):
        super().setUp()
        self.product = self.file("product.graph", PRODUCT)
        self.model = (self.product, "--random-weights", 7, "--threads", 1)

    def skip(self, why):
        print("[SKIP]", why, flush=True)
        self.skipTest(why)

    def as_nobody(self):
        """Returns arguments of subprocess.run that run tunec as a user to whom file modes apply.
        Skips the test if root cannot run tunec as nobody."""
        if os.getuid() != 0:
            return {}
        how = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        self.dir.chmod(0o777)
        try:
            subprocess.run([tunec_process.TUNEC, "--version"], check=True, capture_output=True, **how)
        except (OSError, subprocess.CalledProcessError):
            self.skip("nobody may not run the program under test")
        return how

    def test_full_disk(self):
        disk = self.dir / "disk"
        disk.mkdir()
        program = shlex.quote(tunec_process.TUNEC)
        model = shlex.quote(str(NETWORKS / "mobilenet_v2_64.graph"))
        script = f"""
            mount -t tmpfs -o size=160k none {disk} || exit 77
            {program} {model} --random-weights 7 --trials 40 --threads 1 --db {disk}/t.db
            echo "exit $?"
            {program} db check --db {disk}/t.db
            echo "check $?"
            cp {disk}/t.db* {self.dir}/"""
        done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", script], text=True,
                              capture_output=True, env=self.environment, timeout=300)
        if "exit " not in done.stdout:  # a mount namespace needs root rights and a mounted "/"
            self.skip("no tmpfs can be mounted here: " + done.stderr.strip())
        self.assertIn("exit 0\n", done.stdout, done.stderr)
        self.assertEqual(done.stderr.count("disk full"), 1, done.stderr)
        self.assertIn("check 0\n", done.stdout, done.stderr)
        self.assert_sound()  # checks the copy, which has disk space
        self.compile(self.product)

    def test_unreadable_database(self):
        how = self.as_nobody()
        self.compile(self.product)
        before = self.db.read_bytes()
        self.db.chmod(0)
        self.addCleanup(self.db.chmod, 0o600)
        self.bad(2, str(self.db), *self.model, "--db", self.db, **how)
        self.bad(2, str(self.db), "db", "stats", "--db", self.db, **how)
        self.db.chmod(0o600)
        self.assertEqual(self.db.read_bytes(), before)

    def test_unreadable_model(self):
        how = self.as_nobody()
        Path(self.product).chmod(0)
        self.bad(2, self.product, *self.model, "--db", self.db, **how)

    def test_a_database_that_may_not_be_written_can_be_looked_at(self):
        how = self.as_nobody()
        self.compile(self.product)
        self.query("pragma wal_checkpoint(truncate)")
        self.db.chmod(0o444)
        self.dir.chmod(0o555)
        self.addCleanup(self.dir.chmod, 0o777)
        done = self.tunec("db", "stats", "--db", self.db, **how)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.bad(2, str(self.db), *self.model, "--trials", 2, "--db", self.db, **how)

    def test_impossible_places_for_a_database(self):
        for path, blamed in (("/proc/nowhere/t.db", "/proc/nowhere"), (self.product + "/t.db", self.product),
                             ("/dev/full", "/dev/full")):
            self.bad(2, blamed, *self.model, "--db", path)

    def test_missing_worker(self):
        alone = shutil.copy(tunec_process.TUNEC, self.dir / "tunec")
        done = subprocess.run([alone, self.product, "--random-weights", "7", "--trials", "2", "--db", self.db],
                              capture_output=True, text=True, env=self.environment, timeout=300)
        self.assertEqual(done.returncode, 2, done.stderr + done.stdout)
        self.assertIn("tunec-worker", done.stderr)

    def test_no_avx2(self):
        self.bad(2, "avx2", *self.model, "--cpu", "x86-64", "--db", self.db)


if __name__ == "__main__":
    tunec_process.main()
