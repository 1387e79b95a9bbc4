"""What does tuning gain in whole models?

    python models.py tune FOLDER MODEL.onnx ... [--databases 3] [--trials 500]
    python models.py compare FOLDER MODEL.onnx ... [--before LIB] [--seconds 30] [--json FILE]

`tune` tunes each model into fresh databases FOLDER/MODEL.SEED.db. The output of the tuner is in the
text file of the same name. `compare` runs each model in one process, in turns: untuned, tuned by
each database, and untuned in an earlier library (--before). Before that, each output is compared
with the output of ONNX Runtime. The order of the versions is random.

The first table has the ratios of whole runs with intervals (90 %). `predicted` is the ratio that the
tuner measured at the end of its search. The second table lists the groups that tuning made more
than 1.1 times as fast: there the analytic schedule is not good enough.

Environment: TUNEC (the program) and TUNEC_LIB (libtunec.so).
"""
import argparse
import collections
import ctypes
import json
import os
import random
import re
import statistics
import sys
import tempfile
import time

import numpy as np

import tuner
from intervals import median_interval

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)
sys.path[:0] = [BENCH, os.path.join(BENCH, "peers")]
import write_results  # noqa: E402 (needs the path above)

from systems.tunec_library import Tunec  # noqa: E402

IN_MODEL = re.compile(r"in the model: .* ms before, ([0-9.]+) of it tuned \(([0-9.]+) to ([0-9.]+)\)")
# Equal code may differ by 3 % because of the addresses of its buffers. So each version is loaded
# several times, and the median of each instance is one sample.
INSTANCES = 7


def name_of(model):
    return os.path.splitext(os.path.basename(model))[0]


def database_of(folder, model, seed):
    return os.path.join(folder, f"{name_of(model)}.{seed}.db")


def tune(folder, models, databases, trials):
    """Tunes each model once per database, the databases in turns."""
    os.makedirs(folder, exist_ok=True)
    for seed in range(databases):
        for model in models:
            database = database_of(folder, model, seed)
            if os.path.exists(database):
                continue
            began = time.monotonic()
            with tuner.unfinished(database) as part:
                text = tuner.tune(model, part, trials, seed)
            with open(database[:-3] + ".txt", "w") as f:
                f.write(text)
            gain = IN_MODEL.search(text)
            print(f"{os.path.basename(database)}: {time.monotonic() - began:.1f} s, "
                  f"{gain.group(0) if gain else 'no comparison'}", flush=True)


class Version(Tunec):
    """One library with one database. Times are kept when the model is unloaded."""

    def __init__(self, library, database):
        super().__init__(tuner.THREADS, 0)
        self.library, self.database = library, database
        self.times, self.steps = [], []  # times of the loaded instance; steps of all
        self.medians = []  # seconds, one per instance
        self.runs = 0

    def unload(self):
        self.medians.append(statistics.median(self.times))
        self.runs += len(self.times)
        kept = {name: getattr(self, name)
                for name in ("library", "database", "steps", "medians", "runs", "names")}
        super().unload()
        self.times = []
        self.__dict__.update(kept)

    def load(self, path, inputs, outputs):
        os.environ[self.lib_variable], os.environ[self.db_variable] = self.library, self.database
        super().load(path, inputs, outputs)
        self.lib.tunec_num_steps.restype = ctypes.c_size_t
        self.lib.tunec_num_steps.argtypes = [ctypes.c_void_p]
        self.lib.tunec_step_name.restype = ctypes.c_char_p
        self.lib.tunec_step_name.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        count = self.lib.tunec_num_steps(self.exe)
        self.names = [self.lib.tunec_step_name(self.exe, i).decode() for i in range(count)]
        self.seconds = (ctypes.c_double * max(count, 1))()

    def time_run(self):
        began = time.perf_counter()
        self.run()
        self.times.append(time.perf_counter() - began)

    def time_steps(self):
        self.check(self.lib.tunec_profile(self.exe, self.xs, self.out, self.seconds))
        self.steps.append(list(self.seconds)[:len(self.names)])


def reference_of(model):
    """Returns seeded inputs, and the outputs of ONNX Runtime without optimisation."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    generator = np.random.default_rng(0)
    inputs = {}
    for value in session.get_inputs():
        if "int" in value.type:
            kind = np.int32 if "32" in value.type else np.int64
            inputs[value.name] = generator.integers(0, 2, value.shape).astype(kind)
        else:
            inputs[value.name] = generator.standard_normal(value.shape).astype(np.float32)
    names = [value.name for value in session.get_outputs()]
    return inputs, dict(zip(names, session.run(names, inputs)))


def check_outputs(version, outputs):
    """Raises unless all outputs are near the reference."""
    version.run()
    for (name, expected), actual in zip(outputs.items(), version.ys.values()):
        limit = 1e-3 * max(float(np.abs(expected).max(initial=0)), 1e-6)
        error = float(np.abs(actual.astype(np.float64) - expected).max(initial=0))
        if not error <= limit:
            raise RuntimeError(f"{name} is off by {error:.2g} of {limit:.2g}")


def ratio_text(version, other):
    """Returns the median ratio of two versions' instances, with its interval."""
    ratios = [a / b for a, b in zip(version.medians, other.medians)]
    low, high = median_interval(ratios)
    return f"{statistics.median(ratios):.3f} ({low:.3f}-{high:.3f})"


def take_turns(versions, seconds):
    """Times the versions in turns, in random order. A run of the same version precedes each timed run,
    so that no version finds more of its data in the caches than another one."""
    began, turn, order = time.monotonic(), 0, random.Random(0)
    while turn < 14 or time.monotonic() - began < seconds:
        for version in order.sample(versions, len(versions)):
            version.run()
            version.time_steps() if turn % 4 == 3 else version.time_run()
        turn += 1


def improved_groups(untuned, tuned):
    """Returns the names of steps that tuning made more than 1.1 times as fast, with the factors and
    the untuned seconds."""
    if untuned.names != tuned.names:
        raise RuntimeError("the tuned and the untuned model have different steps")
    found = []
    for i, name in enumerate(untuned.names):
        ratios = [a[i] / b[i] for a, b in zip(untuned.steps, tuned.steps) if b[i] > 0]
        if ratios and statistics.median(ratios) > 1.1:
            found.append((name, statistics.median(ratios),
                          statistics.median(run[i] for run in untuned.steps)))
    return found


def compare_model(folder, model, library, before, seconds):
    """Returns the row of one model."""
    inputs, outputs = reference_of(model)
    databases = [database_of(folder, model, seed) for seed in range(100)]
    databases = [d for d in databases if os.path.exists(d)]
    with tempfile.TemporaryDirectory() as empty:
        versions = collections.OrderedDict(untuned=Version(library, os.path.join(empty, "now.db")))
        if before:
            versions["before"] = Version(before, os.path.join(empty, "before.db"))
        for database in databases:
            versions[os.path.basename(database)] = Version(library, database)
        for _ in range(INSTANCES):
            for version in versions.values():
                version.load(model, inputs, outputs)
                check_outputs(version, outputs)
            take_turns(list(versions.values()), seconds / INSTANCES)
            for version in versions.values():
                version.unload()
    untuned = versions["untuned"]
    row = {"model": name_of(model), "untuned_ms": 1e3 * statistics.median(untuned.medians),
           "runs": untuned.runs, "tuned": [], "groups": []}
    if before:
        row["now_over_before"] = ratio_text(untuned, versions["before"])
    groups = collections.defaultdict(list)
    for database in databases:
        tuned = versions[os.path.basename(database)]
        with open(database[:-3] + ".txt") as f:
            predicted = IN_MODEL.search(f.read())
        row["tuned"].append({"measured": ratio_text(tuned, untuned),
                             "predicted": predicted.group(1) if predicted else "-"})
        for name, factor, seconds_untuned in improved_groups(untuned, tuned):
            groups[name].append((factor, seconds_untuned))
    row["groups"] = [{"group": name, "factor": statistics.median(f for f, _ in found),
                      "databases": len(found), "untuned_us": 1e6 * found[0][1]}
                     for name, found in groups.items()]
    return row


def print_row(row):
    tuned = ", ".join(f"{t['measured']}" for t in row["tuned"])
    predicted = ", ".join(t["predicted"] for t in row["tuned"])
    print(f"| {row['model']} | {row['untuned_ms']:.2f} | {row.get('now_over_before', '-')} | {tuned} | "
          f"{predicted} | {row['runs']} |", flush=True)


def compare(args):
    """Compares all models, and prints both tables."""
    library = os.environ["TUNEC_LIB"]  # loading a version changes the variable
    print("| model | untuned ms | untuned / before | tuned / untuned, per database | predicted | runs |")
    print("| --- | --- | --- | --- | --- | --- |")
    rows = []
    for model in args.models:
        rows.append(compare_model(args.folder, model, library, args.before, args.seconds))
        print_row(rows[-1])
    print("\n| model | group | untuned us | untuned / tuned | databases |\n| --- | --- | --- | --- | --- |")
    for row in rows:
        for group in sorted(row["groups"], key=lambda g: -g["untuned_us"]):
            print(f"| {row['model']} | {group['group']} | {group['untuned_us']:.0f} | "
                  f"{group['factor']:.2f} | {group['databases']} |")
    if args.json:
        with open(args.json, "w") as f:
            json.dump(rows, f, indent=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("command", choices=["tune", "compare"])
    parser.add_argument("folder")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--databases", type=int, default=3)
    parser.add_argument("--trials", type=int, default=500)
    parser.add_argument("--before", help="libtunec.so of an earlier version")
    parser.add_argument("--seconds", type=float, default=30, help="per model")
    parser.add_argument("--json", help="file for the rows")
    write_results.add_option(parser)
    args = parser.parse_args()
    if args.command == "tune":
        return tune(args.folder, args.models, args.databases, args.trials)
    with write_results.recorded(args, packages=("numpy", "onnxruntime")):
        compare(args)


if __name__ == "__main__":
    sys.exit(main())
