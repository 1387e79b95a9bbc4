#!/usr/bin/env python3
"""Tests which compiled objects tunec trusts if users share a database, if a database comes from
another user, and if the key file is missing.

    trust_test.py --tunec PROGRAM [unittest's arguments]
"""
import os
import shutil
import stat

import tunec_process
from tunec_process import PRODUCT, TunecTest

REUSED = "0 objects compiled, 1 reused"
COMPILED = "1 object compiled, 0 reused"
NOBODY = 54321  # a user without an entry in the user list


class Trust(TunecTest):
    def setUp(self):
        super().setUp()
        self.product = self.file("product.graph", PRODUCT)

    def become(self, user):
        self.environment["HOME"] = str(self.dir / user)
        self.environment["XDG_CACHE_HOME"] = str(self.dir / user / ".cache")

    def key(self, user):
        return self.dir / user / ".cache/tunec/object_key"

    def compiled(self, expected, *arguments, **how):
        """Compiles and expects `expected` in the output. Returns the lines of standard error."""
        done = self.tunec(self.product, "--random-weights", 7, "--threads", 1, "--db", self.db, *arguments, **how)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertIn(expected, done.stdout)
        return done.stderr.splitlines()

    def expect_no_objects(self, why, **how):
        """Expects that no objects are stored or loaded, and that each run prints one line with the
        reason `why`."""
        for _ in range(2):
            notes = self.compiled(COMPILED, **how)
            self.assertEqual(len(notes), 1, notes)
            self.assertRegex(notes[0], f"^note: .*{why}.*; compiled objects are neither kept nor loaded$")
        self.assertEqual(self.query("select count(*) from artifacts"), [(0,)])

    def test_users_of_one_database_have_their_own_objects(self):
        for user in ("ann", "bob"):
            self.become(user)
            self.assertEqual(self.compiled(COMPILED), [])
            self.assertEqual(self.compiled(REUSED), [])
        self.become("ann")
        self.assertEqual(self.compiled(REUSED), [])
        self.assertNotEqual(self.key("ann").read_bytes(), self.key("bob").read_bytes())
        self.assert_sound()

    def test_users_of_one_database_share_trials(self):
        self.become("ann")
        self.compiled("new trials", "--trials", 4)
        self.become("bob")
        self.compiled("groups tuned: 1 of 1")
        self.compiled("0 new trials", "--trials", 4)

    def test_a_foreign_database_gives_trials_alone(self):
        self.become("bob")
        self.compiled("new trials", "--trials", 4)
        foreign = self.db
        self.become("ann")
        self.compiled(COMPILED)  # uses bob's database itself
        self.db = self.dir / "own.db"
        merged = self.good("db", "--db", self.db, "merge", foreign)
        self.assertRegex(merged, "^added [1-9]")
        self.assertEqual(self.query("select count(*) from artifacts"), [(0,)])
        self.compiled(COMPILED)
        # The times of the foreign database are not compared with own ones.
        self.compiled("4 new trials", "--trials", 4)

    def test_another_key_compiles_again(self):
        self.become("ann")
        self.compiled(COMPILED)
        self.key("ann").unlink()
        self.assertEqual(self.compiled(COMPILED), [])
        self.assertEqual(self.compiled(REUSED), [])

    def test_the_folder_and_the_key_are_for_the_user_alone(self):
        self.become("ann")
        self.tunec("run", self.product, "--random-weights", 7, preexec_fn=lambda: os.umask(0))
        for path in (self.dir / "ann", self.dir / "ann/.cache", self.dir / "ann/.cache/tunec"):
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o700, path)
        self.assertEqual(stat.S_IMODE(self.key("ann").stat().st_mode), 0o600)

    def test_a_key_that_others_may_know_is_rejected(self):
        self.become("ann")
        self.compiled(COMPILED)
        self.query("delete from artifacts")
        self.key("ann").chmod(0o644)
        self.expect_no_objects("object_key: has mode 0644, expected 0600")
        self.key("ann").chmod(0o600)
        self.compiled(COMPILED)
        self.compiled(REUSED)

    def test_a_key_that_was_cut_is_rejected(self):
        self.become("ann")
        self.compiled(COMPILED)
        self.query("delete from artifacts")
        os.truncate(self.key("ann"), 20)
        self.expect_no_objects("object_key: holds 20 bytes that are not a key")

    def test_without_a_place_for_a_key_there_are_no_objects(self):
        self.environment["XDG_CACHE_HOME"] = "/proc/nowhere"
        self.expect_no_objects("/proc/nowhere: cannot create")

    def test_without_a_home_there_are_no_objects(self):
        if os.geteuid() != 0:
            self.skipTest("[SKIP] only root becomes another user")
        self.dir.chmod(0o777)
        del self.environment["HOME"], self.environment["XDG_CACHE_HOME"]
        try:
            nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
            self.assertEqual(self.tunec("--version", **nobody).returncode, 0)
        except OSError as error:
            self.skipTest(f"[SKIP] another user cannot run tunec: {error}")
        self.expect_no_objects("set HOME or XDG_CACHE_HOME", **nobody)

    def test_a_home_that_became_read_only_keeps_its_objects(self):
        """Expects that objects stored under a key are loaded, because the key can still be read."""
        if os.geteuid() != 0:
            self.skipTest("[SKIP] only root becomes another user")
        self.become("ann")
        self.compiled(COMPILED)
        database = self.key("ann").with_name("tunec.db")
        shutil.move(self.db, database)
        self.dir.chmod(0o755)
        for path in (self.dir / "ann", self.dir / "ann/.cache", database.parent, database, self.key("ann")):
            os.chown(path, NOBODY, NOBODY)
        database.parent.chmod(0o500)
        database.chmod(0o400)
        try:
            done = self.tunec(self.product, "--random-weights", 7, "--threads", 1, user=NOBODY, group=NOBODY,
                              extra_groups=[])
        except OSError as error:
            self.skipTest(f"[SKIP] another user cannot run tunec: {error}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(REUSED, done.stdout)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


if __name__ == "__main__":
    tunec_process.main()
