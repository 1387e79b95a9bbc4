#!/usr/bin/env python3
"""Times models on a GPU in tunec, PyTorch (cuBLAS, cuDNN), torch.compile and Triton, in one run.

    gpu_peers.py MODELDIR [--peers tunec,torch,...] [--models NAME,...]
                 [--accuracy f32,bf16] [--rounds N] [--runs N] [--db FILE] [--trials N] [--json OUT]
                 [--dry-run]

MODELDIR is an output folder of bench/peers/models.py. Without --models, DEFAULT_MODELS are timed:
products, attention, rows, elementwise operators and networks. --dry-run prints the plan without a
GPU, torch or Triton.

For each accuracy and model, every peer prepares itself, and its outputs are compared with those of
MODELDIR. A peer with wrong outputs is not timed. In each round, every peer runs a block in turn, so
that changes of the GPU's clock affect all alike; the first peer changes from round to round. A
block's time is the median of its runs. The report has the median and the least of the blocks, their
spread (interquartile range over the median), and the ratio of medians to tunec's.

accuracy  tunec's contract   the others
f32       f32                float32, TF32 off
tf32      tf32               float32, TF32 on
bf16      bf16               torch.autocast to bfloat16, and its casts

All tensors are in GPU memory. A run is measured between two events, after an array at least as
large as L2 is overwritten. The Python package of tunec runs in torch's stream and launches a
captured graph. For the other peers, this script captures graphs. `tunec bench` times runs with CPU
tensors, which are copied. Triton has kernels for single operators only (triton_kernels.py).
Requires torch and triton for CUDA, numpy, and the package tunec.
"""
import argparse
import json
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import write_results  # noqa: E402

HERE = Path(__file__).resolve().parent
PEERS = ("tunec", "torch", "inductor", "triton")
DEFAULT_MODELS = ("matmul_512", "matmul_1024", "matmul_2048", "matmul_bias_gelu", "attention", "softmax_heads",
                  "softmax_4096", "layernorm_768", "layernorm_4096", "elementwise5", "gelu_tanh", "resnet50",
                  "bert_base", "gpt2_small", "vit_b_16")
# Limits of the error, relative to the largest magnitude of the expected float32 outputs.
TOLERANCES = {"f32": 1e-4, "tf32": 1e-2, "bf16": 6e-2}
FLUSHED_BYTES = 256 << 20


# -- numbers -------------------------------------------------------------------------------------


def quartiles(times):
    """Returns the lower and the upper quartile."""
    if len(times) < 2:
        return times[0], times[0]
    lower, _, upper = statistics.quantiles(times, n=4, method="inclusive")
    return lower, upper


def summarise(blocks):
    """Returns the median, least and spread of the times of blocks, which are in milliseconds."""
    median = statistics.median(blocks)
    lower, upper = quartiles(blocks)
    return {"median_ms": median, "least_ms": min(blocks), "spread": (upper - lower) / median if median else 0.0,
            "blocks_ms": [round(block, 6) for block in blocks]}


def order_of(peers, turn):
    """Returns the order of the peers in round `turn`. Each round begins with another peer."""
    first = turn % len(peers) if peers else 0
    return peers[first:] + peers[:first]


def relative_error(got, reference):
    """Returns the greatest difference over the greatest magnitude; infinite for NaN or other
    shapes."""
    import numpy as np
    if got.shape != reference.shape:
        return float("inf")
    got, reference = got.astype(np.float64), reference.astype(np.float64)
    if reference.size == 0:
        return 0.0
    error = np.abs(got - reference).max() / max(np.abs(reference).max(), 1e-30)
    return float("inf") if np.isnan(error) else float(error)


def table(rows):
    """Returns the lines of a model: each peer with its time, or with the reason why it has none."""
    base = rows.get("tunec", {}).get("median_ms")
    lines = []
    for peer, row in rows.items():
        if "problem" in row:
            lines.append(f"  {peer:10} {row['problem']}")
            continue
        ratio = f"{row['median_ms'] / base:5.2f} x tunec" if base else ""
        lines.append(f"  {peer:10} median {row['median_ms']:9.4f}  least {row['least_ms']:9.4f} ms  "
                     f"spread {100 * row['spread']:3.0f} %  error {row['error']:.1e}  {ratio}".rstrip())
    return lines


# -- peers ---------------------------------------------------------------------------------------


class Problem(Exception):
    """The reason why a peer cannot run a model."""


class Case:
    """A model with its inputs and outputs, in the order of its signature."""

    def __init__(self, folder, name, accuracy):
        import numpy as np
        self.name, self.accuracy = name, accuracy
        self.model, self.arrays = folder / f"{name}.onnx", folder / f"{name}.npz"
        with np.load(self.arrays) as stored:
            self.inputs = [stored[key] for key in stored.files if key.startswith("x")]
            self.outputs = {key: stored[key] for key in stored.files if key.startswith("y")}

    def module(self):
        """Returns the model in PyTorch, on the GPU."""
        sys.path.insert(0, str(HERE.parent / "peers"))
        import models
        return models.build(self.name)[0].cuda()


def tunec_options(options, accuracy):
    """Returns the options of tunec.compile."""
    return {"target": "cuda", "accuracy": accuracy, "db": str(options.db) if options.db else None,
            **({"trials": options.trials} if options.trials else {})}


class Timed:
    """A peer whose `run` enqueues one run into torch's stream."""

    def __init__(self, options):
        self.options = options

    def begin(self):
        import torch
        self.torch = torch
        self.flushed = torch.empty(FLUSHED_BYTES, dtype=torch.uint8, device="cuda")

    def block(self):
        torch, times = self.torch, []
        for _ in range(self.options.runs):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            self.flushed.zero_()
            begin.record()
            self.run()
            end.record()
            times.append((begin, end))
        torch.cuda.synchronize()
        return statistics.median(begin.elapsed_time(end) for begin, end in times)


def on_gpu(torch, arrays):
    return [torch.from_numpy(array.copy()).cuda() for array in arrays]


class Tunec(Timed):
    def prepare(self, case):
        import tunec
        self.begin()
        model = tunec.compile(str(case.model), **tunec_options(self.options, case.accuracy))
        inputs = on_gpu(self.torch, case.inputs)
        outputs = model(*inputs)
        outputs = list(outputs) if isinstance(outputs, tuple) else [outputs]
        self.run = lambda: model(*inputs, out=outputs)
        self.run()
        self.torch.cuda.synchronize()
        return [output.float().cpu().numpy() for output in outputs]


class Torch(Timed):
    """Eager PyTorch: products use cuBLAS, convolutions cuDNN."""

    def function(self, case, module):
        """Returns the function to time. Subclasses compile the module or replace it."""
        return module

    def prepare(self, case):
        self.begin()
        torch = self.torch
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = case.accuracy == "tf32"
        inputs = on_gpu(torch, case.inputs)
        function = self.function(case, case.module())
        captured, outputs = self.capture(lambda: self.compute(case, function, inputs))
        self.run = captured.replay
        self.run()
        torch.cuda.synchronize()
        outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        return [output.float().cpu().numpy() for output in outputs]

    def compute(self, case, function, inputs):
        torch = self.torch
        with torch.no_grad(), torch.autocast("cuda", torch.bfloat16, enabled=case.accuracy == "bf16"):
            return function(*inputs)

    def capture(self, call):
        """Captures a graph of one call. Returns the graph with its outputs. Earlier calls compile and
        tune."""
        torch = self.torch
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                call()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            outputs = call()
        return graph, outputs


class Inductor(Torch):
    """torch.compile with its search over kernels."""

    def function(self, case, module):
        import torch
        return torch.compile(module, mode="max-autotune-no-cudagraphs", dynamic=False)


class Triton(Torch):
    """Hand-written kernels for single operators."""

    def function(self, case, module):
        import torch

        import triton_kernels
        found = triton_kernels.find(case.name, module, torch.bfloat16 if case.accuracy == "bf16" else torch.float32)
        if found is None or case.accuracy == "tf32":
            raise Problem("no kernel in triton_kernels.py")
        return found


CLASSES = dict(zip(PEERS, (Tunec, Torch, Inductor, Triton)))


def prepare(peer, case):
    """Returns the error of the peer's outputs. Raises Problem if the peer fails or the error is too
    large."""
    try:
        outputs = peer.prepare(case)
    except Problem:
        raise
    except Exception as error:  # peers raise exceptions of many kinds
        raise Problem(f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}") from error
    expected = list(case.outputs.values())
    if len(outputs) != len(expected):
        raise Problem(f"{len(outputs)} outputs, expected {len(expected)}")
    error = max(relative_error(got, reference) for got, reference in zip(outputs, expected))
    if error > TOLERANCES[case.accuracy]:
        raise Problem(f"wrong: error {error:.1e}, at most {TOLERANCES[case.accuracy]:.0e}")
    return error


def measure(case, peers, rounds):
    """Prepares and times the peers, a dictionary of names and peers. Returns a dictionary of names
    and rows in the same order. A row of a peer that fails has "problem"."""
    rows, blocks = {name: {} for name in peers}, {}
    for name, peer in peers.items():
        began = time.monotonic()
        try:
            rows[name]["error"] = prepare(peer, case)
            blocks[name] = []
        except Problem as problem:
            rows[name]["problem"] = str(problem)
        rows[name]["prepared_seconds"] = round(time.monotonic() - began, 3)
    for turn in range(rounds):
        for name in order_of(list(blocks), turn):
            try:
                blocks[name].append(peers[name].block())
            except Exception as error:  # peers raise exceptions of many kinds
                rows[name]["problem"] = f"while it was timed: {error}"
                del blocks[name]
    for name, times in blocks.items():
        rows[name].update(summarise(times))
    return rows


# -- the command ---------------------------------------------------------------------------------


def models_of(options):
    """Returns the requested models that MODELDIR has, and the missing ones. MODELDIR must have all
    models of --models."""
    requested = options.models.split(",") if options.models else list(DEFAULT_MODELS)
    missing = [name for name in requested if not (options.modeldir / f"{name}.onnx").is_file()]
    if missing and options.models:
        raise SystemExit(f"gpu_peers.py: {options.modeldir} lacks {', '.join(missing)}")
    return [name for name in requested if name not in missing], missing


def say_plan(options, models, missing):
    for accuracy in options.accuracy:
        for name in models:
            print(f"{name} under {accuracy}: {', '.join(options.peers)}; {options.rounds} rounds of {options.runs} "
                  f"runs; outputs within {TOLERANCES[accuracy]:.0e} of {name}.npz")
            if "tunec" in options.peers:
                print(f"    tunec.compile({options.modeldir / name}.onnx, {tunec_options(options, accuracy)})")
    for name in missing:
        print(f"{name}: not in {options.modeldir}, left out")


def main(arguments):
    def words(known):
        def split(text):
            found = text.split(",")
            if unknown := set(found) - set(known):
                raise argparse.ArgumentTypeError(f"unknown {', '.join(sorted(unknown))}, expected {', '.join(known)}")
            return found
        return split

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modeldir", type=Path)
    parser.add_argument("--peers", type=words(PEERS), default=list(PEERS), help="default: " + ",".join(PEERS))
    parser.add_argument("--models", metavar="NAME,...")
    parser.add_argument("--accuracy", type=words(TOLERANCES), default=["f32", "bf16"], help="default: f32,bf16")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--runs", type=int, default=30, help="of a block")
    parser.add_argument("--db", type=Path, metavar="FILE", help="tunec's database (default: none)")
    parser.add_argument("--trials", type=int, default=0, metavar="N", help="tunec tunes each model before; needs --db")
    parser.add_argument("--json", type=Path, metavar="OUT")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
    write_results.add_option(parser)
    options = parser.parse_args(arguments)
    if options.trials and not options.db:
        parser.error("--trials needs --db")
    models, missing = models_of(options)
    if options.dry_run:
        say_plan(options, models, missing)
        return 0
    with write_results.recorded(options, packages=("tunec", "torch", "triton")):
        compare(options, models)
    return 0


def compare(options, models):
    """Runs the models in sequence. Prints and stores the results of each."""
    results = []
    for accuracy in options.accuracy:
        for name in models:
            case = Case(options.modeldir, name, accuracy)
            rows = measure(case, {peer: CLASSES[peer](options) for peer in options.peers}, options.rounds)
            results.append({"model": name, "accuracy": accuracy, "peers": rows})
            print("\n".join([f"{name} {accuracy}", *table(rows)]), flush=True)
            if options.json:
                options.json.write_text(json.dumps({"rounds": options.rounds, "runs": options.runs,
                                                    "results": results}, indent=1))


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    sys.exit(main(sys.argv[1:]))
