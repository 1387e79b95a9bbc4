#!/usr/bin/env python3
"""Tests CUDA without a GPU, in runs that take too long for every commit (tools/dev test-cuda).

    test_cuda.py models  --tunec PROGRAM --models FOLDER... [--networks FOLDER] [--arch NAME]
    test_cuda.py kernels --bench PROGRAM --tunec PROGRAM --models FOLDER... [--archs NAME,...]

FOLDER is an output folder of bench/peers/models.py: NAME.onnx, NAME.npz, index.json.

models: runs `tunec verify --emulate` for every model of at most --most-gflop and for every network
of tests/networks, against PyTorch's outputs. A model that takes over --limit seconds is listed, but
does not count as a failure.

kernels: compiles each model's kernels for each architecture and assembles them by ptxas. Prints
registers, shared memory, spills, and seconds with the shares of loops, LLVM and ptxas. Then does the
same for --candidates schedules of --product, drawn as in a search. Also lists the products whose
machine code has HMMA instructions under bf16. A kernel that spills or does not compile is a failure;
candidates may fail. Times are those of one core.

The exit code is 1 if anything failed.
"""
import argparse
import collections
import json
import subprocess
import sys
import time
from pathlib import Path

STAGES = ("loops_ms", "llvm_ms", "ptxas_ms")
# The seed of the weights for which tests/networks has outputs (see its README).
NETWORK_SEED = "7"


# -- models --------------------------------------------------------------------------------------


def read_index(folders):
    """Returns (name, folder, GFLOP or None) for every model in the folders, the least work
    first."""
    models = []
    for folder in folders:
        path = folder / "index.json"
        work = json.loads(path.read_text()) if path.is_file() else {}
        for model in sorted(folder.glob("*.onnx")):
            models.append((model.stem, folder, work.get(model.stem, {}).get("gflop")))
    return sorted(models, key=lambda model: (model[2] or 0, model[0]))


def verify_commands(options):
    """Returns (name, arguments of tunec) for models to verify, and the names of too large
    models."""
    commands, left_out = [], []
    for graph in sorted(options.networks.glob("*.graph")):
        commands.append((graph.stem, [graph, "--random-weights", NETWORK_SEED, "--expected",
                                      graph.with_suffix(".npz")]))
    for name, folder, gflop in read_index(options.models):
        if gflop is not None and gflop > options.most_gflop:
            left_out.append(name)
        else:
            commands.append((name, [folder / f"{name}.onnx", "--expected", folder / f"{name}.npz"]))
    return commands, left_out


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else "no message"


def verdict(done):
    """Returns (is right, description) from the output of `tunec verify --json`."""
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return False, f"exit code {done.returncode}: {last_line(done.stderr)}"
    if not report["outputs"]:
        return False, "no outputs"
    worst = max(report["outputs"], key=lambda row: float("inf") if row["relative"] is None else row["relative"])
    error = "not finite" if worst["relative"] is None else f"{worst['relative']:.1e}"
    return report["ok"] and done.returncode == 0, f"error {error}, at most {worst['threshold']:.1e}"


def verify(options, name, arguments, *more):
    """Verifies a model for CUDA. Returns the result (right, wrong, too long), and a line of
    text."""
    command = [options.tunec, "verify", *arguments, "--json", "--no-db", "--target", "cuda", *more]
    began = time.monotonic()
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=options.limit)
        right, words = verdict(done)
        end = "right" if right else "wrong"
    except subprocess.TimeoutExpired:
        end, words = "too long", f"no end within {options.limit:.0f} s"
    return end, f"{name:<20} {time.monotonic() - began:7.1f} s  {end}: {words}"


def test_models(options):
    commands, left_out = verify_commands(options)
    ended = collections.Counter()
    for name, arguments in commands:
        end, line = verify(options, name, [*arguments, "--skip-reference"], "--arch", options.arch, "--emulate")
        ended[end] += 1
        print(line, flush=True)
    for name in left_out:
        print(f"{name:<20} left out: over {options.most_gflop:g} GFLOP")
    print(f"models: {ended['right']} right, {ended['wrong']} wrong, {ended['too long']} too long, "
          f"{len(left_out)} left out")
    return ended["wrong"] == 0 and ended["right"] > 0


# -- kernels -------------------------------------------------------------------------------------


def rows_of(text):
    """Returns the objects that bench_cuda_compile printed, one per line."""
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def counted(number, what):
    return f"{number} {what}{'' if number == 1 else 's'}"


def time_text(rows):
    """Returns the time of all compiled rows, such as '2.1 s: loops 12 %, LLVM 40 %, ptxas 48 %'."""
    sums = [sum(row[stage] for row in rows if "error" not in row) for stage in STAGES]
    total = sum(sums)
    if total <= 0:
        return "0 s"
    loops, llvm, ptxas = (f"{100 * part / total:.0f} %" for part in sums)
    return f"{total / 1e3:.1f} s: loops {loops}, LLVM {llvm}, ptxas {ptxas}"


def summary(rows):
    """Returns a line about a model's kernels, and a line for each problem."""
    problems, functions = [], []
    for row in rows:
        place = f"group {row['group']} ({row['kernel']})"
        if "error" in row:
            problems.append(f"{place}: not compiled: {row['error']}")
            continue
        functions += row["functions"]
        for function in row["functions"]:
            if function["spilled_bytes"]:
                problems.append(f"{place}: {function['symbol']} spills {function['spilled_bytes']} bytes at "
                                f"{function['registers']} registers ({row['sketch'] or 'naive'})")
    most = {key: max((function[key] for function in functions), default=0)
            for key in ("registers", "shared_bytes", "local_bytes")}
    rejected = sum(row["refused"] for row in rows)
    line = (f"{counted(len(rows), 'kernel')}, {counted(len(functions), 'function')}, "
            f"at most {most['registers']} registers, {most['shared_bytes']} B shared, "
            f"{most['local_bytes']} B local; {rejected} schedules rejected; "
            f"{time_text(rows)}")
    return line, problems


def bench_rows(options, model, arch, candidates=None):
    """Returns the rows that bench_cuda_compile prints. A failure adds a row with an error. After a
    timeout, this is the only row."""
    command = [options.bench, model, arch] + ([] if candidates is None else [candidates])
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=options.limit)
    except subprocess.TimeoutExpired:
        return [{"group": "-", "kernel": "all", "error": f"no end within {options.limit:.0f} s", "refused": 0}]
    rows = rows_of(done.stdout)
    if done.returncode != 0:
        rows.append({"group": "-", "kernel": "all", "error": last_line(done.stderr), "refused": 0})
    return rows


def candidate_summary(rows):
    """Returns a line about candidates, and the five most frequent reasons for errors."""
    made = [row for row in rows if "error" not in row]
    spilling = sum(any(f["spilled_bytes"] for f in row["functions"]) for row in made)
    each = sum(row[stage] for row in made for stage in STAGES) / max(1, len(made))
    line = (f"{counted(len(rows), 'candidate')}, {len(rows) - len(made)} not compiled, {spilling} with spills; "
            f"{each:.0f} ms each, {time_text(rows)}")
    reasons = collections.Counter(row["error"] for row in rows if "error" in row)
    return line, [f"{count} x {reason}" for reason, count in reasons.most_common(5)]


def hmma_archs(options, model):
    """Returns the architectures whose machine code of the model under bf16 has HMMA instructions,
    and "". If a command fails, returns None and the message."""
    found = []
    for arch in options.archs:
        command = [options.tunec, "show", model, "--sass", "--no-db", "--accuracy", "bf16", "--target", "cuda",
                   "--arch", arch]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=options.limit)
        if done.returncode != 0:
            return None, last_line(done.stderr)
        if "HMMA" in done.stdout:
            found.append(arch)
    return found, ""


def report_products(options, models):
    for name, folder, _ in models:
        if not name.startswith("matmul_"):
            continue
        found, problem = hmma_archs(options, folder / f"{name}.onnx")
        words = problem if found is None else f"HMMA on {', '.join(found) or 'none'} of {', '.join(options.archs)}"
        print(f"{name} under bf16: {words}", flush=True)


def report_candidates(options, models):
    for name, folder, _ in models:
        if name != options.product or options.candidates == 0:
            continue
        for arch in options.archs:
            line, reasons = candidate_summary(
                bench_rows(options, folder / f"{name}.onnx", arch, options.candidates))
            print(f"{name} {arch}: {line}", flush=True)
            for reason in reasons:
                print(f"    {reason}")


def test_kernels(options):
    models = read_index(options.models)
    wrong = 0
    for name, folder, _ in models:
        for arch in options.archs:
            line, problems = summary(bench_rows(options, folder / f"{name}.onnx", arch))
            wrong += len(problems)
            print(f"{name} {arch}: {line}", flush=True)
            for problem in problems:
                print(f"    {problem}")
    report_candidates(options, models)
    report_products(options, models)
    print(f"kernels: {len(models)} models for {len(options.archs)} architectures, {wrong} problems")
    return wrong == 0 and len(models) > 0


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("models", "kernels"))
    parser.add_argument("--tunec", default="build/bin/tunec", metavar="PROGRAM")
    parser.add_argument("--bench", default="build/bin/bench_cuda_compile", metavar="PROGRAM")
    parser.add_argument("--models", nargs="+", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--networks", type=Path, default=Path("tests/networks"), metavar="FOLDER")
    parser.add_argument("--arch", default="sm_90a", metavar="NAME", help="that is emulated")
    parser.add_argument("--archs", default="sm_80,sm_86,sm_90a,sm_100", metavar="NAME,...",
                        help="that are compiled for", type=lambda text: text.split(","))
    parser.add_argument("--limit", type=float, default=600, metavar="SECONDS", help="of one command")
    parser.add_argument("--most-gflop", type=float, default=4, metavar="N", help="of an emulated model")
    parser.add_argument("--product", default="matmul_512", metavar="MODEL", help="whose candidates are compiled")
    parser.add_argument("--candidates", type=int, default=500, metavar="N")
    options = parser.parse_args(arguments)
    return 0 if {"models": test_models, "kernels": test_kernels}[options.part](options) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
