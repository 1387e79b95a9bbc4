#!/usr/bin/env python3
"""Times a model in a control group with a quota of one processor, on a machine of several
processors.

Usage: quota.py [--rounds N] [--torch]

Alternates between tunec's default number of threads, one thread, and two threads. Prints medians in
milliseconds. Creates a control group, which requires root and a hierarchy of version 1 or 2 with
the controller cpu. With --torch torch.compile(backend="tunec") is timed, too. The exit code is 1 if
the default takes more than 1.1 times one thread's time.
"""
import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

PERIOD = 100000  # in microseconds
GRAPH = """graph g {
  input x: f32[256, 1024]
  weight w: f32[1024, 1024]
  p = matmul(x, w)
  y = relu(p)
  output y
}
"""


def hierarchies():
    """Yields (folder, version) of each hierarchy with the controller cpu, from mountinfo."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        words = line.split()
        folder, kind, options = Path(words[4]), words[words.index("-") + 1], words[-1]
        if kind == "cgroup" and "cpu" in options.split(","):
            yield folder, 1
        if kind == "cgroup2" and "cpu" in (folder / "cgroup.subtree_control").read_text().split():
            yield folder, 2


@contextlib.contextmanager
def one_processor():
    """Makes a group with a quota of one processor, gives its folder, and removes the group at the
    end. Raises OSError if no group can be made."""
    for folder, version in hierarchies():
        group = folder / f"tunec-test-{os.getpid()}"
        group.mkdir()
        try:
            if version == 1:
                (group / "cpu.cfs_period_us").write_text(str(PERIOD))
                (group / "cpu.cfs_quota_us").write_text(str(PERIOD))
            else:
                (group / "cpu.max").write_text(f"{PERIOD} {PERIOD}")
            yield group
        finally:
            group.rmdir()
        return
    raise OSError("no hierarchy of control groups has the controller cpu")


def run_in(group, *command, **variables):
    """Runs a program in the group. Returns its output, or raises CalledProcessError."""
    enter = ["sh", "-c", f'echo $$ > "{group}/cgroup.procs" && exec "$@"', "sh"]
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path), **variables)
    return subprocess.run([*enter, *command], env=environment, stdout=subprocess.PIPE, text=True, check=True,
                          timeout=600).stdout


def pool_threads():
    """Returns the number of this process's threads in tunec's pools."""
    names = (task / "comm" for task in Path("/proc/self/task").iterdir())
    return sum(name.read_text().strip() == "tunec-worker" for name in names)


def calls(with_torch):
    """Returns functions that run the model once, by name: `chosen` with the default number of
    threads, `one`, `two` and, if `with_torch` is true, `torch.compile`."""
    import numpy as np
    import tunec
    random = np.random.default_rng(1)
    w = random.standard_normal((1024, 1024)).astype(np.float32)
    x = random.standard_normal((256, 1024)).astype(np.float32)
    y = np.empty((256, 1024), np.float32)
    made = {}
    for name, threads in (("chosen", 0), ("one", 1), ("two", 2)):
        model = tunec.compile(GRAPH, weights={"w": w}, db=None, threads=threads)
        made[name] = lambda model=model: model(x, out=y)
    if with_torch:
        import torch
        layer = torch.nn.Sequential(torch.nn.Linear(1024, 1024, bias=False), torch.nn.ReLU())
        compiled, tensor = torch.compile(layer, backend="tunec", options={"db": None}), torch.from_numpy(x)

        def call():
            with torch.no_grad():
                compiled(tensor)
        made["torch.compile"] = call
    return made


def measure(rounds, with_torch):
    """Returns the median milliseconds of each call. The calls alternate."""
    made = calls(with_torch)
    times = {name: [] for name in made}
    for call in made.values():
        call()
    for _ in range(rounds):
        for name, call in made.items():
            started = time.perf_counter()
            for _ in range(5):
                call()
            times[name].append((time.perf_counter() - started) / 5 * 1e3)
    return {name: statistics.median(each) for name, each in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--torch", action="store_true")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        print(json.dumps(measure(arguments.rounds, arguments.torch)))
        return 0
    with one_processor() as group:
        printed = run_in(group, sys.executable, __file__, "--inside", "--rounds", str(arguments.rounds),
                         *(["--torch"] if arguments.torch else []))
    medians = json.loads(printed.splitlines()[-1])
    for name, milliseconds in medians.items():
        print(f"{name:14} {milliseconds:8.3f} ms  {milliseconds / medians['one']:.2f} of one thread's")
    slow = [name for name in medians if name != "two" and medians[name] > 1.1 * medians["one"]]
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
