#!/usr/bin/env python3
"""Kills tunec with SIGKILL at random moments while it tunes, and checks the files that remain.

    kill_test.py --tunec PROGRAM [--times N] [--seed N]

Each round continues with the files that earlier kills left. If a tuning ends before its kill, the
next round begins with a new database.
"""
import argparse
import random
import re
import signal
import subprocess
import sys
import time

import tunec_process
from tunec_process import NETWORKS, TunecTest

TIMES = 3
SEED = 1
LONGEST = 6.0  # maximum time before a kill, in seconds
MODEL = NETWORKS / "mobilenet_v2_64.graph"  # has many groups, which take long to converge


def workers_of(pid):
    """Returns the id and the start time of each child process of `pid`. The start time is needed,
    because an id may be used again. The list is empty if `pid` has ended."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [(child, start_time(child)) for child in file.read().split()]
    except OSError:
        return []


def start_time(pid):
    """Returns a process's start time, or None if it has ended or is a zombie."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]


class Kill(TunecTest):
    def killed_after(self, seconds):
        """Starts a tuning and kills it after `seconds`. Returns the complete lines of output, or
        None if the tuning had ended."""
        process = subprocess.Popen(
            [tunec_process.TUNEC, MODEL, "--random-weights", "7", "--trials", "100000", "--db", self.db],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.dir, env=self.environment)
        time.sleep(seconds)
        workers = workers_of(process.pid)
        process.kill()
        out, err = process.communicate(timeout=60)
        self.assert_ended(workers)
        if process.returncode == 0:
            return None
        self.assertEqual(process.returncode, -signal.SIGKILL, out + err)
        return out[:out.rfind("\n") + 1]

    def assert_ended(self, workers):
        """Expects that the workers of a killed tunec end within 30 seconds."""
        deadline = time.monotonic() + 30
        for pid, started in workers:
            while started is not None and start_time(pid) == started:
                self.assertLess(time.monotonic(), deadline, f"worker {pid} lives on")
                time.sleep(0.05)

    def test_kills_lose_nothing_that_was_printed(self):
        moments = random.Random(SEED)
        before, promised, kills = set(), 0, 0
        while kills < TIMES:
            seconds = moments.uniform(0, LONGEST)
            text = self.killed_after(seconds)
            if text is None:
                self.db = self.dir / f"after_{kills}.db"
                before, promised = set(), 0
                continue
            kills += 1
            printed = re.findall(r"^trials (\d+)/", text, re.MULTILINE)
            promised = max([promised, *map(int, printed)])
            kept = self.trials_of_a_sound_database()
            print(f"kill {kills} after {seconds:.2f} s: {len(printed)} lines, {promised} trials printed, "
                  f"{len(kept)} in the database", flush=True)
            self.assertGreaterEqual(len(kept), promised)
            self.assertLessEqual(before, kept, "an earlier trial is gone")
            before = kept
        self.check_use_of(len(before))

    def trials_of_a_sound_database(self):
        if not self.db.exists():
            return set()
        self.assert_sound()
        return set(self.query("select id, schedule from trials"))

    def check_use_of(self, trials):
        """Expects that a budget equal to the stored trials makes no new trial, and that results are
        right."""
        model = (MODEL, "--random-weights", 7, "--db", self.db)
        if trials > 0:
            self.assertIn("\n0 new trials", self.good(*model, "--trials", trials))
        self.good("verify", *model)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=TIMES)
    parser.add_argument("--seed", type=int, default=SEED)
    options, rest = parser.parse_known_args()
    TIMES, SEED = options.times, options.seed
    sys.argv[1:] = rest
    tunec_process.main()
