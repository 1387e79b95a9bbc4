#!/usr/bin/env python3
"""Compiles nine networks through ONNX and FX, and checks that both have equal workloads and
schedules.

    entry_points.py [NAME...] [--trials N]

torch exports each network of bench/peers to ONNX. It is compiled from ONNX with N trials (default
32) and an empty database, and then from the module without trials. Prints a line per network: the
number of common workloads, of workloads on one side only, and of the module's workloads with a
tuned schedule; also the errors of both beside eager torch. The exit code is 1 if a workload occurs
on one side only.
"""
import argparse
import sys
import tempfile
import warnings
from pathlib import Path

from compare import relative_error, tensors_of

PEERS = Path(__file__).resolve().parent.parent / "peers"
NAMES = ("resnet18", "resnet50", "mobilenet_v2", "vgg16", "unet_small", "bert_base", "gpt2_small", "vit_b_16",
         "mixer_s_16")


def export_onnx(module, inputs, path):
    """Exports by torch's exporter that needs no other package."""
    import torch
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(module, inputs, str(path), dynamo=False, opset_version=17)


def schedules(executable):
    """Returns the schedule of each workload, as named in the report."""
    return {kernel["workload"]: kernel["schedule"] for kernel in executable.report["kernels"]}


def through_both(name, trials):
    """Returns the line of a network, and True if both sides have the same workloads."""
    import torch
    import tunec
    sys.path.append(str(PEERS))
    from networks.seeded import build
    module, inputs = build(name)
    inputs = tuple(inputs)
    with tempfile.TemporaryDirectory() as folder:
        path, database = Path(folder) / "model.onnx", Path(folder) / "tunec.db"
        export_onnx(module, inputs, path)
        tuned = tunec.compile(path, trials=trials, db=database)
        known = tunec.compile(module, inputs, db=database)
        with torch.no_grad():
            expected = tensors_of(module(*inputs))
            errors = [relative_error(tensors_of(model(*inputs)), expected) for model in (tuned, known)]
    by_onnx, by_fx = schedules(tuned), schedules(known.executable)
    same = set(by_onnx) & set(by_fx)
    reused = sum(by_fx[workload] == by_onnx[workload] == "tuned" for workload in same)
    line = (f"{name:13} {len(same)} workloads of both, {len(set(by_onnx) - same)} of ONNX alone, "
            f"{len(set(by_fx) - same)} of FX alone; {reused} tuned by ONNX and known to FX; "
            f"errors {errors[0]:.1e}, {errors[1]:.1e}")
    return line, set(by_onnx) == set(by_fx)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--trials", type=int, default=32)
    options = parser.parse_args()
    all_equal = True
    for name in options.names or NAMES:
        line, equal = through_both(name, options.trials)
        print(line, flush=True)
        all_equal = all_equal and equal
    return int(not all_equal)


if __name__ == "__main__":
    sys.exit(main())
