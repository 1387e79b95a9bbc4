#!/usr/bin/env python3
"""Tests of the data that one tunec process stores for the next, and of damage to that data.

    memory_test.py --tunec PROGRAM [unittest's arguments]
"""
import random
import re
import subprocess

import tunec_process
from tunec_process import CHAIN, NETWORKS, PRODUCT, TunecTest

TRIALS = 6


class Memory(TunecTest):
    def setUp(self):
        super().setUp()
        self.product = self.file("product.graph", PRODUCT)

    def tune(self):
        """Tunes the product. Returns the number of trials in the database."""
        self.assertRegex(self.compile(self.product, "--trials", TRIALS), r"\n[1-9]\d* new trials?")
        return self.query("select count(*) from trials")[0][0]

    def test_another_model_finds_the_group_it_shares(self):
        self.tune()
        chain = self.file("chain.graph", CHAIN)
        second = self.compile(chain)
        self.assertIn("groups tuned: 1 of 2", second)
        self.assertIn("1 object compiled, 1 reused", second)
        # The shared group has used its share of the budget. The share of the other group remains.
        self.assertRegex(self.compile(chain, "--trials", TRIALS), rf"\n[1-{TRIALS // 2}] new trials?")
        third = self.compile(chain, "--trials", TRIALS)
        self.assertIn("\n0 new trials", third)
        self.assertIn("0 objects compiled, 2 reused", third)
        self.verify(chain)

    def test_an_export_carries_what_was_tuned(self):
        trials = self.tune()
        self.good("db", "export", "all.jsonl", "--db", self.db)
        self.db = self.dir / "other.db"
        self.good("db", "import", "all.jsonl", "--db", self.db, "--trust-times")
        second = self.compile(self.product, "--trials", trials)
        self.assertIn("\n0 new trials", second)
        self.assertIn("1 object compiled", second)

    def test_two_processes_tune_at_once(self):
        command = [tunec_process.TUNEC, self.product, "--random-weights", "7", "--threads", "1", "--trials", "8",
                   "--db", self.db]
        both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 env=self.environment) for _ in range(2)]
        for process in both:
            out, _ = process.communicate(timeout=300)
            self.assertEqual(process.returncode, 0, out)
        self.assert_sound()
        self.assertIn("\n0 new trials", self.compile(self.product, "--trials", 8))

    def test_a_network_tunes_and_stays_right(self):
        model = NETWORKS / "mixer_48.graph"
        arrays = model.with_suffix(".npz")
        first = self.compile(model, "--trials", 16)
        measured = int(re.search(r"\n(\d+) new trials?", first).group(1))
        self.assertGreater(measured, 0)
        self.assertIn("\n0 new trials", self.compile(model, "--trials", measured))
        self.assertIn("ok", self.verify(model, "--inputs", arrays, "--expected", arrays))
        self.assert_sound()

    def test_damaged_objects_are_compiled_again(self):
        trials = self.tune()
        damages = ("object = zeroblob(10)", "object = substr(object, 1, length(object) / 2)",
                   "metadata = '[]'", "metadata = '{}'", "metadata = '{\"format\": 1}'", "metadata = ''")
        for damage in damages:
            with self.subTest(damage):
                self.query("update artifacts set " + damage)
                self.assertIn("1 object compiled, 0 reused", self.compile(self.product, "--trials", trials))
                self.assertIn("0 objects compiled, 1 reused", self.compile(self.product, "--trials", trials))
                self.verify(self.product)

    def test_one_flipped_bit_is_a_miss_that_is_told(self):
        """Expects a note about a damaged object, which is then compiled again. One wrong bit in the
        metadata could give wrong results."""
        self.tune()
        whole, columns = {}, ("key_text", "object", "metadata")
        for column in columns:
            (whole[column],), = self.query(f"select cast({column} as blob) from artifacts")
        positions = [("metadata", whole["metadata"].index(b'"in0"') + 3)]
        chance = random.Random(1)
        positions += [(column, chance.randrange(len(whole[column]))) for column in columns for _ in range(4)]
        kind = {"object": "blob"}
        for column, position in positions:
            damaged = bytearray(whole[column])
            damaged[position] ^= 1
            with self.subTest(column=column, position=position):
                self.query(f"update artifacts set {column} = cast(? as {kind.get(column, 'text')})", bytes(damaged))
                self.bad(2, "damaged", "db", "check", "--db", self.db)
                done = self.tunec("verify", self.product, "--random-weights", 7, "--threads", 1, "--db", self.db)
                self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
                self.assertIn("artifact", done.stderr)
                self.assertIn("passed over", done.stderr)
                self.assert_sound()  # it was compiled and stored again

    def test_damaged_trials_are_passed_over(self):
        self.tune()
        for damage in ("schedule = 'rubbish ' || id", "schedule = 'lower nowhere' || char(10) || id",
                       "status = 99"):
            with self.subTest(damage):
                self.query("update trials set " + damage)
                self.compile(self.product)
                self.verify(self.product)

    def test_a_damaged_file_is_an_error_at_most(self):
        self.tune()
        self.query("pragma wal_checkpoint(truncate)")
        whole = self.db.read_bytes()
        chance = random.Random(1)
        for _ in range(12):
            damaged = bytearray(whole)
            start = chance.randrange(0, len(whole) - 4096)
            damaged[start:start + 4096] = chance.randbytes(4096)
            self.db.write_bytes(damaged)
            for arguments in (("db", "check"), ("db", "list"), (self.product, "--random-weights", 7)):
                done = self.tunec(*arguments, "--db", self.db)
                self.assertIn(done.returncode, (0, 2), f"{arguments} at {start}: {done.stderr}{done.stdout}")
                self.assertEqual(done.returncode == 2, "error: " in done.stderr, done.stderr)

    def test_a_newer_database_is_left_alone(self):
        self.tune()
        self.query("pragma user_version = 999")
        self.query("pragma wal_checkpoint(truncate)")
        before = self.db.read_bytes()
        for arguments in ((self.product, "--random-weights", 7), ("db", "stats"), ("db", "check")):
            self.bad(2, "999", *arguments, "--db", self.db)
        self.assertEqual(self.db.read_bytes(), before)


if __name__ == "__main__":
    tunec_process.main()
