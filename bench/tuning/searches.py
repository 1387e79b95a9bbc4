"""Compares the schedules that searches of one kernel find.

    python searches.py FOLDER [FAMILY ...] [--seeds 5] [--trials 64] [--loads quiet,busy,random]

Searches each family, a graph with one kernel, with several seeds, into databases
FOLDER/FAMILY.LOAD.SEED.db. The same number of random candidates is measured into
FOLDER/FAMILY.draws.SEED.db. Then the schedules run in turns on a quiet machine (bench_searches
compare). The pool is that of all databases of the family.

Loads: `quiet`, no other process; `busy`, a busy loop in the second half of the search; `random`,
busy loops that begin and end at random.

Prints three numbers for each family and load. The exploration error is the time of the best tried
schedule over the best of the pool. The selection error is the time of the chosen schedule over the
best tried one. Both are medians over the seeds, with the least and the greatest. The last number is
the time of the chosen schedules over that of the quiet ones, a geometric mean.

Environment: TUNEC (the program) and BENCH_SEARCHES (bench_searches).
"""
import argparse
import json
import math
import os
import random
import re
import statistics
import subprocess
import sys
import threading
import time

import tuner

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir))
import write_results  # noqa: E402 (needs the path above)

FOLDERS = [os.path.join(HERE, os.pardir, os.pardir, "tests", "tuning"), os.path.join(HERE, "families")]
DRAWS = "draws"
LOOP = [sys.executable, "-c", "while True: pass"]


def graph_of(family):
    return next(p for p in (os.path.join(f, family + ".graph") for f in FOLDERS) if os.path.exists(p))


def all_families():
    return sorted(f[:-6] for folder in FOLDERS for f in os.listdir(folder) if f.endswith(".graph"))


class RandomLoad:
    """A thread that starts and ends busy loops at random, until it is closed."""

    def __init__(self, seed):
        self.random, self.ended = random.Random(seed), threading.Event()
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def work(self):
        while not self.ended.wait(self.random.expovariate(1 / 1.0)):
            with subprocess.Popen(LOOP) as loop:
                self.ended.wait(self.random.expovariate(1 / 0.7))
                loop.kill()

    def close(self):
        self.ended.set()
        self.thread.join()


def tune(family, database, trials, seed):
    tuner.tune(graph_of(family), database, trials, seed, "--random-weights", "1")


def search(family, load, seed, trials, database):
    """Searches one family under a load."""
    if load == "quiet":
        tune(family, database, trials, seed)
    elif load == "busy":
        tune(family, database, trials // 2, seed)
        with subprocess.Popen(LOOP) as loop:
            try:
                tune(family, database, trials, seed)
            finally:
                loop.kill()
    else:
        background = RandomLoad(seed)
        try:
            tune(family, database, trials, seed)
        finally:
            background.close()


def group_of(family):
    """Returns the group with the most operations of the family's graph."""
    run = subprocess.run([os.environ["TUNEC"], "show", graph_of(family), "--groups", "--json",
                          "--random-weights", "1"], capture_output=True, text=True, check=True)
    groups = json.loads(run.stdout)["groups"]
    return str(max(groups, key=lambda g: (g["flops"], g["bytes"]))["group"])


def compare(family, group, files, rounds, top):
    run = subprocess.run([os.environ["BENCH_SEARCHES"], "compare", graph_of(family), group, str(rounds),
                          str(top), *files], capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(f"{family}: {run.stderr.strip()}")
    return json.loads(run.stdout)


def spread(values):
    return f"{100 * statistics.median(values):.1f} ({100 * min(values):.1f}-{100 * max(values):.1f})"


def report(family, found, loads):
    """Prints the rows of one family. Returns the logarithms of the chosen schedules' times to the
    quiet searches' ones, by load."""
    medians = {}
    for row in found["databases"]:
        load, seed = re.fullmatch(r".*\.(\w+)\.(\d+)\.db", row["db"]).groups()
        medians.setdefault(load, {})[seed] = (row["chosen"][0], row["tried"][0])
    logs = {}
    for load in [*loads, DRAWS]:
        pairs = list(medians.get(load, {}).values())
        if not pairs:
            continue
        exploration = [tried - 1 for _, tried in pairs]
        selection = [chosen / tried - 1 for chosen, tried in pairs]
        against = "-"
        if "quiet" in medians:
            logs[load] = [math.log(medians[load][s][0] / medians["quiet"][s][0]) for s in medians[load]
                          if s in medians["quiet"]]
            against = f"{math.exp(statistics.fmean(logs[load])):.3f}"
        print(f"| {family} | {load} | {found['best_us']:.1f} | {found['analytic'][0]:.3f} | "
              f"{spread(exploration)} | {spread(selection)} | {against} |", flush=True)
    return logs


def mean_interval(logs):
    """Returns the geometric mean and its 90 % interval, from resampling families, then seeds. `logs`
    has a list for each family."""
    source = random.Random(0)

    def resampled():
        chosen = source.choices(logs, k=len(logs))
        return statistics.fmean(x for seeds in chosen for x in source.choices(seeds, k=len(seeds)))
    means = sorted(resampled() for _ in range(2000))
    mean = statistics.fmean(x for seeds in logs for x in seeds)
    return [math.exp(x) for x in (mean, means[100], means[1899])]


def search_and_compare(args):
    """Fills the missing databases, compares all schedules, and prints the table."""
    loads = args.loads.split(",")
    families = args.families or all_families()
    os.makedirs(args.folder, exist_ok=True)
    groups = {family: group_of(family) for family in families}
    for seed in range(args.seeds):
        for family in [] if args.only_report else families:
            for load in [*loads, DRAWS]:
                database = os.path.join(args.folder, f"{family}.{load}.{seed}.db")
                if os.path.exists(database):
                    continue
                began = time.monotonic()
                with tuner.unfinished(database) as part:
                    if load == DRAWS:
                        subprocess.run([os.environ["BENCH_SEARCHES"], "draw", graph_of(family),
                                        groups[family], part, str(args.trials), str(seed)], check=True)
                    else:
                        search(family, load, seed, args.trials, part)
                print(f"{os.path.basename(database)} {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
    print("| family | search | best us | analytic | exploration error % | selection error % | chosen / quiet |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    logs = {}
    for family in families:
        files = [os.path.join(args.folder, f) for f in sorted(os.listdir(args.folder))
                 if f.startswith(family + ".") and f.endswith(".db")]
        found = compare(family, groups[family], files, args.rounds, args.top)
        with open(os.path.join(args.folder, family + ".json"), "w") as f:
            json.dump(found, f, indent=1)
        for load, values in report(family, found, loads).items():
            logs.setdefault(load, []).append(values)
    for load, values in logs.items():
        if load != "quiet":
            mean, low, high = mean_interval(values)
            print(f"{load}: chosen schedules take {mean:.3f} ({low:.3f}-{high:.3f}) of the time of the quiet ones, "
                  f"geometric mean of {sum(map(len, values))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder")
    parser.add_argument("families", nargs="*", default=[])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--loads", default="quiet")
    parser.add_argument("--rounds", type=int, default=41, help="of the comparison")
    parser.add_argument("--top", type=int, default=3, help="fastest schedules of each database in the pool")
    parser.add_argument("--only-report", action="store_true", help="search nothing, compare what was found")
    write_results.add_option(parser)
    args = parser.parse_args()
    with write_results.recorded(args):
        search_and_compare(args)


if __name__ == "__main__":
    sys.exit(main())
