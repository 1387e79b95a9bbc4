"""Compares bytes moved and peak memory of models with predictions, before and after fusion.

    python memory.py TUNEC MODEL.onnx ... [--cache BYTES] [--skip-traffic]

Predictions come from `tunec opt --count`. Peak memory is the growth of the process's resident
memory in the first run (`tunec run --memory`). Callgrind's cache model counts bytes moved, because
virtual machines often hide the processor's counters. The count is the misses and write-backs of a
cache of --cache bytes, times the line size, within one run of the model on one thread with AVX2
code. The prediction assumes that every kernel reads each operand once and writes each result once.
A cache that retains a result for its reader moves fewer bytes. A kernel that reads a large operand
several times moves more bytes.

Needs valgrind for the traffic.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import write_results  # noqa: E402

LINE = 64
# Processors that Valgrind supports; the first one with which Valgrind does not crash is used. Valgrind
# crashes if code ends at the end of a page. With another processor, the code has another size.
PROCESSORS = ("haswell", "skylake", "znver2", "broadwell", "znver1")
# Callgrind's columns: last-level misses of reads and writes, and lines written back.
EVENTS = ("DLmr", "DLmw", "DLdmr", "DLdmw")


def predicted(tunec, model):
    command = [tunec, "opt", model, "--count", "--json"]
    counts = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return [pass_["name"] for pass_ in counts["passes"]], counts["as_read"], counts["fused"]


def run_options(passes, fused):
    """Returns the options with which a run has the counts of `tunec opt --count`: after all passes
    if `fused`, else before all passes with one kernel per node."""
    if fused:
        return []
    return ["--unfused"] + [f"--disable-pass={name}" for name in dict.fromkeys(passes)]


def peak_memory(tunec, model, options):
    # Large blocks come directly from the system, so that only pages that are touched are resident.
    environment = dict(os.environ, MALLOC_MMAP_THRESHOLD_="65536")
    command = [tunec, "run", model, "--no-db", "--memory"] + options
    text = subprocess.run(command, check=True, capture_output=True, text=True,
                          env=environment).stdout
    return int(re.search(r"touched by the run: (\d+) bytes", text).group(1))


def traffic(tunec, model, options, cache):
    for processor in PROCESSORS:
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "callgrind.out")
            database = os.path.join(folder, "tunec.db")
            run = [tunec, "run", model, "--db", database, "--cpu", processor, "--threads", "1"]
            run += options
            subprocess.run(run, check=True, capture_output=True)  # compiles into the database
            valgrind = ["valgrind", "--tool=callgrind", "--cache-sim=yes", "--simulate-wb=yes",
                        "--smc-check=all-non-file", f"--LL={cache},16,{LINE}",
                        "--toggle-collect=*Executable::Run(*", f"--callgrind-out-file={out}"]
            done = subprocess.run(valgrind + run, capture_output=True, text=True)
            if done.returncode == 0:
                return sum_of_events(out)
    raise RuntimeError(done.stderr)


def sum_of_events(path):
    events, totals = [], []
    with open(path) as lines:
        for line in lines:
            if line.startswith("events:"):
                events = line.split()[1:]
            if line.startswith(("summary:", "totals:")):
                totals = [int(count) for count in line.split()[1:]]
    counts = dict(zip(events, totals))
    return LINE * sum(counts[event] for event in EVENTS)


def mib(count):
    return f"{count / 2**20:.1f}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tunec")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--cache", type=int, default=1 << 20)
    parser.add_argument("--skip-traffic", action="store_true")
    write_results.add_option(parser)
    arguments = parser.parse_args()
    with write_results.recorded(arguments):
        compare(arguments)


def compare(arguments):
    """Prints the table of the models."""
    print("MiB: as read, a kernel for each node -> after the passes, fused\n")
    print("| model | bytes moved, predicted | measured | peak memory, predicted | measured |")
    print("|---|---|---|---|---|")
    for model in arguments.models:
        passes, before, after = predicted(arguments.tunec, model)
        moved, peak = [], []
        for fused in (False, True):
            options = run_options(passes, fused)
            peak.append(peak_memory(arguments.tunec, model, options))
            if not arguments.skip_traffic:
                moved.append(traffic(arguments.tunec, model, options, arguments.cache))
        name = os.path.splitext(os.path.basename(model))[0]
        measured = " -> ".join(mib(count) for count in moved) or "-"
        print(f"| {name} | {mib(before['bytes'])} -> {mib(after['bytes'])} | {measured} "
              f"| {mib(before['arena_bytes'])} -> {mib(after['arena_bytes'])} "
              f"| {' -> '.join(mib(count) for count in peak)} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
