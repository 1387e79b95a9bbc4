#!/usr/bin/env python3
"""What of CUDA needs a GPU, run on a machine that has one: `tunec verify` of models on it.

    test_gpu.py --tunec PROGRAM [--models FOLDER...] [--networks FOLDER] [--accuracy f32,tf32,bf16] [--jobs N]

FOLDER is what bench/peers/models.py wrote: NAME.onnx, NAME.npz, index.json. Each model and each network of
tests/networks is compiled for the GPU and its outputs are compared with PyTorch's, under each contract. Compiling is
the most of it, so --jobs of them go on at a time. tools/test_cuda.py does the same in the emulation, and
`tests/torch/test_gpu.py` what Python and torch do with a GPU's tensors.

The exit code is 1 when anything failed.
"""
import argparse
import collections
import concurrent.futures
import os
import sys
from pathlib import Path

from test_cuda import verify, verify_commands


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = Path(__file__).resolve().parent.parent
    parser.add_argument("--tunec", required=True, metavar="PROGRAM")
    parser.add_argument("--models", type=Path, nargs="*", default=[], metavar="FOLDER")
    parser.add_argument("--networks", type=Path, default=root / "tests/networks", metavar="FOLDER")
    parser.add_argument("--accuracy", default="f32,tf32,bf16")
    parser.add_argument("--most-gflop", type=float, default=1e6)
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 1) // 2))
    parser.add_argument("--limit", type=float, default=120, metavar="SECONDS", help="of one model")
    options = parser.parse_args()
    commands, _ = verify_commands(options)
    ended = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = [pool.submit(verify, options, f"{name} {accuracy}", arguments, "--accuracy", accuracy)
                for name, arguments in commands for accuracy in options.accuracy.split(",")]
        for run in concurrent.futures.as_completed(runs):
            end, line = run.result()
            ended[end] += 1
            print(line, flush=True)
    print(f"{ended['right']} right, {ended['wrong']} wrong, {ended['too long']} too long")
    return int(not ended["right"] or len(ended) > 1)


if __name__ == "__main__":
    sys.exit(main())
