#!/usr/bin/env python3
"""Kills tunec with SIGKILL at random moments while it tunes, and looks at what is left.

    kill_test.py --tunec PROGRAM [--times N] [--seed N]

All rounds share one database: each starts from what the kills before it left.
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
LONGEST = 6.0  # seconds before a kill
MODEL = NETWORKS / "mobilenet_v2_64.graph"  # so many groups that no round ends by itself


def workers_of(pid):
    """The processes that `pid` started, with their start times: a number may be used again."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [(child, start_time(child)) for child in file.read().split()]
    except OSError:
        return []


def start_time(pid):
    """None when the process is gone or only waits to be collected."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]


class Kill(TunecTest):
    def killed_after(self, seconds):
        """Starts a tuning and kills it. The lines it printed, whole ones only."""
        process = subprocess.Popen(
            [tunec_process.TUNEC, MODEL, "--random-weights", "7", "--trials", "100000", "--db", self.db],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.dir, env=self.environment)
        time.sleep(seconds)
        workers = workers_of(process.pid)
        process.kill()
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGKILL, "it ended by itself: " + out + err)
        self.assert_gone(workers)
        return out[:out.rfind("\n") + 1]

    def assert_gone(self, workers):
        """A worker without its tunec ends."""
        deadline = time.monotonic() + 30
        for pid, started in workers:
            while started is not None and start_time(pid) == started:
                self.assertLess(time.monotonic(), deadline, f"worker {pid} lives on")
                time.sleep(0.05)

    def trials(self):
        return set(self.query("select id, schedule from trials"))

    def test_kills_lose_nothing_that_was_printed(self):
        moments = random.Random(SEED)
        before, promised = set(), 0
        for round_number in range(TIMES):
            seconds = moments.uniform(0, LONGEST)
            printed = re.findall(r"^trials (\d+)/", self.killed_after(seconds), re.MULTILINE)
            promised = max([promised, *map(int, printed)])
            kept = set()
            if self.db.exists():
                self.assert_sound()
                kept = self.trials()
            print(f"kill {round_number + 1} after {seconds:.2f} s: {len(printed)} lines, {promised} trials "
                  f"printed, {len(kept)} in the database", flush=True)
            self.assertGreaterEqual(len(kept), promised)
            self.assertLessEqual(before, kept, "an earlier trial is gone")
            before = kept
        # What is left is of use: as many trials as there are need no new one.
        if before:
            self.assertIn("\n0 new trials", self.good(MODEL, "--random-weights", 7, "--trials", len(before),
                                                    "--db", self.db))
        self.good("verify", MODEL, "--random-weights", 7, "--db", self.db)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=TIMES)
    parser.add_argument("--seed", type=int, default=SEED)
    options, rest = parser.parse_known_args()
    TIMES, SEED = options.times, options.seed
    sys.argv[1:] = rest
    tunec_process.main()
