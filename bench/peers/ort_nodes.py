"""Compares tunec's kernel launches for models with the nodes of ONNX Runtime's optimised graphs.

    python ort_nodes.py TUNEC MODEL.onnx ...

ONNX Runtime writes its optimised graph (ORT_ENABLE_ALL) to `optimized_model_filepath`; each node is
a kernel call. For tunec, both launches and phases are counted: a kernel of several phases has
barriers between them, like separate launches.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import onnx
import onnxruntime

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import write_results  # noqa: E402


def ort_nodes(model):
    with tempfile.TemporaryDirectory() as folder:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.optimized_model_filepath = os.path.join(folder, "optimised.onnx")
        onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        graph = onnx.load(options.optimized_model_filepath, load_external_data=False).graph
        return len(graph.node)


def tunec_counts(tunec, model):
    command = [tunec, "--no-db", "--trials", "0", model]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    counts = re.search(r"(\d+) launch\w* of (\d+) phase", text)
    if counts is None:
        sys.exit(f"{model}: no counts in\n{text}")
    return int(counts.group(1)), int(counts.group(2))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tunec", metavar="TUNEC")
    parser.add_argument("models", metavar="MODEL", nargs="+")
    write_results.add_option(parser)
    arguments = parser.parse_args()
    with write_results.recorded(arguments, packages=("onnx", "onnxruntime")):
        print_counts(arguments.tunec, arguments.models)


def print_counts(tunec, models):
    """Prints the table of the models."""
    print("| model | launches | phases | nodes of ONNX Runtime |")
    print("|---|---|---|---|")
    for model in models:
        name = os.path.splitext(os.path.basename(model))[0]
        if name == "model":
            name = os.path.basename(os.path.dirname(model))
        launches, phases = tunec_counts(tunec, model)
        print(f"| {name} | {launches} | {phases} | {ort_nodes(model)} |", flush=True)


if __name__ == "__main__":
    main()
