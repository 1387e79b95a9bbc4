#!/usr/bin/env python3
"""Checks with ONNX Runtime the files of `tunec show MODEL --onnx OUT`.

Usage: check.py --tunec PROGRAM [--cases FILE] [MODEL...]

Each MODEL (.onnx, with its inputs and expected outputs in the .npz of the same name) is optimised,
written as ONNX, and run by ONNX Runtime on these inputs. Its outputs must equal the expected ones
within --tolerance of the largest magnitude. --cases FILE is tests/graph/core/reference_cases.graph.
Each of its graphs is written without passes, so that every operator of the table reaches ONNX
Runtime, and run. Its first output must equal its second. Graphs without an ONNX Runtime kernel for
CPUs are counted separately, as are resizes whose coordinates ONNX Runtime rounds.

Needs the packages onnxruntime and numpy. Ends with `N equal`, `N wrong`, `N rounded elsewhere`, `N
without a kernel`, `N without a form`. The exit code is 1 if anything is wrong.
"""
import argparse
import collections
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime

# ONNX Runtime may round such coordinates otherwise: it uses float32, where 4 / 1.6 is a tie.
ROUNDS_ELSEWHERE = 'nearest_mode="round_prefer_ceil", coordinate="asymmetric"'
NO_KERNEL = re.compile(r"NOT_IMPLEMENTED|Could not find an implementation|not supported|"
                       r"is invalid|INVALID_GRAPH")


def write(tunec, model, out, passes):
    """Writes the model to `out`. Returns tunec's error message, or "" if the exit code is 0."""
    if passes:
        command = [tunec, "show", model, "--no-db", "--onnx", out]
    else:
        command = [tunec, "opt", model, "--passes", "eliminate_dead_nodes", "--onnx", out]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else ""


def run(path, inputs):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    feed = {value.name: inputs[value.name] for value in session.get_inputs()}
    return dict(zip(names, session.run(names, feed)))


def error(have, expected):
    """Returns the largest difference divided by the largest finite magnitude, or infinity if types,
    shapes or non-finite elements differ."""
    if have.dtype != expected.dtype or have.shape != expected.shape:
        return float("inf")
    have, expected = have.astype(np.float64), expected.astype(np.float64)
    same = (have == expected) | (np.isnan(have) & np.isnan(expected))
    if same.all():
        return 0.0
    difference = np.where(same, 0, np.abs(np.where(same, 0, have) - np.where(same, 0, expected))).max()
    finite = np.abs(expected[np.isfinite(expected)])
    scale = finite.max() if finite.size else 0
    return difference / scale if scale and np.isfinite(difference) else float("inf")


def check_model(args, model, folder):
    out = Path(folder, "out.onnx")
    message = write(args.tunec, model, out, passes=True)
    if message:
        return "without a form", message
    arrays = np.load(Path(model).with_suffix(".npz"))
    outputs = run(out, arrays)
    worst = max(error(value, arrays[name]) for name, value in outputs.items())
    out.unlink()
    Path(f"{out}.data").unlink(missing_ok=True)
    return ("equal" if worst <= args.tolerance else "wrong"), f"error {worst:.2g}"


def check_case(args, text, folder):
    source, out = Path(folder, "case.graph"), Path(folder, "case.onnx")
    source.write_text(text)
    message = write(args.tunec, source, out, passes=False)
    if message:
        return "without a form", message
    try:
        outputs = list(run(out, {}).values())
    except Exception as failure:  # ONNX Runtime's exceptions have no common base class
        kind = "without a kernel" if NO_KERNEL.search(str(failure)) else "wrong"
        return kind, str(failure).splitlines()[0][:160]
    worst = error(outputs[0], outputs[1])
    if worst > 0.01 and ROUNDS_ELSEWHERE in text:
        return "rounded elsewhere", f"error {worst:.2g}"
    limit = 2e-3 if outputs[1].dtype.itemsize == 2 else 2e-5
    return ("equal" if worst <= limit else "wrong"), f"error {worst:.2g}"


def cases(path):
    return ["graph " + text for text in re.split(r"(?m)^graph ", path.read_text())[1:]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tunec", required=True, type=Path, help="the program to run")
    parser.add_argument("--cases", type=Path, help="a file of graphs")
    parser.add_argument("--tolerance", type=float, default=1e-4, help="of models (default 1e-4)")
    parser.add_argument("--verbose", action="store_true", help="name the cases that are equal too")
    parser.add_argument("models", nargs="*", type=Path)
    args = parser.parse_args()
    counts = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="onnx-export-") as folder:
        jobs = [(path.stem, check_model, path) for path in args.models]
        if args.cases:
            jobs += [(text.split()[1], check_case, text) for text in cases(args.cases)]
        for name, check, what in jobs:
            verdict, detail = check(args, what, folder)
            counts[verdict] += 1
            if args.verbose or verdict != "equal" or check is check_model:
                print(f"{name}: {verdict}: {detail}", flush=True)
    for verdict in ("equal", "wrong", "rounded elsewhere", "without a kernel", "without a form"):
        print(f"{counts[verdict]} {verdict}")
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
