#!/usr/bin/env python3
"""Makes models, runs each in several threads, drops them, and prints the process's resources.

Usage: growth.py COUNT [--every N] [--threads N] [--layouts] [--db FILE]

Prints a line for each N models (default: a tenth of all): MiB of resident memory, threads, open
files, mappings, and the number of executable mappings. The exit code is 1 if one of these numbers
grew from each line after the first to the next, and in all by more than the limit: 2 % of the memory
(at least 1 MiB), or 2 for the other numbers.
Memory that the C library caches (heaps of threads that ran together, stacks of ended threads) grows
occasionally. A leak of a model grows with each model.
"""
import argparse
import gc
import os
import sys
import threading
from pathlib import Path

import numpy as np
import tunec

GRAPH = """graph g {
  input x: f32[4, 8, 8]
  weight w: f32[8, 8]
  p = matmul(x, w)
  y = relu(p)
  output y
}
"""
COLUMNS = ("MiB", "threads", "files", "mappings", "executable")


def figures():
    """Returns the process's resources, in the order of COLUMNS."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return (pages * os.sysconf("SC_PAGE_SIZE") / 2**20, len(os.listdir("/proc/self/task")),
            len(os.listdir("/proc/self/fd")), len(maps), sum("x" in line.split()[1] for line in maps))


def run(model, x, expected, wrong):
    for _ in range(3):
        if not np.allclose(model(x), expected, rtol=1e-5, atol=1e-6):
            wrong.append(model)


def one_model(number, threads, options, layouts):
    """Makes, runs and drops one model. Returns the number of wrong results."""
    random = np.random.default_rng(number)
    w = random.standard_normal((8, 8)).astype(np.float32)
    x = random.standard_normal((4, 8, 8)).astype(np.float32)
    model = tunec.compile(GRAPH, weights={"w": w}, **options)
    wrong = []
    runners = [threading.Thread(target=run, args=(model, x, np.maximum(x @ w, 0), wrong))
               for _ in range(threads)]
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.join()
    if layouts:
        run(model, np.ascontiguousarray(x.transpose(0, 2, 1)).transpose(0, 2, 1), np.maximum(x @ w, 0), wrong)
    return len(wrong)


def grown(rows):
    """Returns the names of the resources that grow from each row to the next, and in all by more
    than the limit."""
    allowed = [max(1, 0.02 * rows[0][0])] + [2] * (len(COLUMNS) - 1)
    return [name for name, column, more in zip(COLUMNS, zip(*rows), allowed)
            if column[-1] - column[0] > more and all(a < b for a, b in zip(column, column[1:]))]


def measure(count, every, threads, options, layouts=False, say=print):
    """Makes `count` models and prints the resources after each `every` of them. Returns the
    resources in the order of the lines. Raises SystemExit if results are wrong."""
    rows, wrong = [], 0
    say("models  " + "  ".join(f"{name:>10}" for name in COLUMNS))
    for number in range(1, count + 1):
        wrong += one_model(number, threads, options, layouts)
        if number % every == 0:
            gc.collect()
            rows.append(figures())
            say(f"{number:6}  " + "  ".join(f"{value:10.1f}" if i == 0 else f"{value:10}"
                                            for i, value in enumerate(rows[-1])))
    if wrong:
        raise SystemExit(f"growth.py: {wrong} results were wrong")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("count", type=int)
    parser.add_argument("--every", type=int)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--pool", type=int, default=2, help="threads of each model")
    parser.add_argument("--layouts", action="store_true", help="run each on inputs that lie otherwise, too")
    parser.add_argument("--db", default=None)
    arguments = parser.parse_args()
    options = {"db": arguments.db, "threads": arguments.pool}
    rows = measure(arguments.count, arguments.every or max(1, arguments.count // 10), arguments.threads, options,
                   arguments.layouts)
    more = grown(rows[1:])
    if more:
        print(f"growth.py: grew: {', '.join(more)}")
    return 1 if more else 0


if __name__ == "__main__":
    sys.exit(main())
