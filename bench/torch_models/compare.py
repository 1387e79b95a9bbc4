#!/usr/bin/env python3
"""Times models of torch compiled by tunec beside eager and Inductor, and reports what was compiled.

    compare.py [NAME...] [--rounds N] [--json FILE] [--trials N] [--backends eager,tunec,inductor] [--device cuda]

Without names, all models of models.py are run. Each model runs in a separate process, twice: cold,
with empty caches, and warm, with the caches of the first run. In a process, the backends take
turns. Outputs are compared with the model in float64. The output has a line per model; a warm first
result also has its time without Dynamo's own tracing. `tunec` uses trials, `tunec-untuned` uses no
trials and no database. `tunec-frozen` compiles weights in (`freeze=True`), also as
`tunec-frozen-untuned`. With `--device cuda`, models and tensors are on a GPU.
"""
import argparse
import copy
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import write_results  # noqa: E402

HERE = Path(__file__).resolve().parent
THREADS = 2


def tensors_of(result):
    """Returns the tensors of a result, in any container."""
    import torch
    from torch.utils import _pytree as pytree
    if hasattr(result, "to_tuple"):
        result = result.to_tuple()
    return [leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]


def relative_error(found, expected):
    """Returns the largest error of any output. The error of an output is its largest difference,
    divided by its largest element. Outputs that are not floats are skipped."""
    worst = 0.0
    for one, other in zip(found, expected, strict=True):
        if not other.is_floating_point() or other.numel() == 0:
            continue
        scale = other.abs().max().item() or 1.0
        worst = max(worst, ((one.double() - other.double()).abs().max().item()) / scale)
    return worst


def reference(model, arguments):
    """Returns the outputs in float64, or in the model's own type if an operator has no float64."""
    import torch
    wide = {k: v.double() if isinstance(v, torch.Tensor) and v.is_floating_point() else v
            for k, v in arguments.items()}
    try:
        return tensors_of(copy.deepcopy(model).double()(**wide))
    except RuntimeError:
        return [tensor.clone() for tensor in tensors_of(model(**arguments))]


def call_of(model, backend, trials):
    """Returns the function to time: the model, compiled by the backend."""
    import torch
    if backend == "eager":
        return lambda arguments: model(**arguments)
    name, *words = backend.split("-")
    options = {}
    if "untuned" in words:
        options["db"] = None
    elif trials and name == "tunec":
        options["trials"] = trials
    if "frozen" in words:
        options["freeze"] = True
    compiled = torch.compile(model, backend=name, options=options or None)
    return lambda arguments: compiled(**arguments)


def to_device(value, device):
    """Returns the model's arguments, with tensors on the device."""
    from torch.utils import _pytree as pytree
    return pytree.tree_map(lambda leaf: leaf.to(device) if hasattr(leaf, "to") else leaf, value)


def finished(call, arguments):
    """Returns the result of a call after it is complete, on a GPU too."""
    import torch
    result = call(arguments)
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return result


def measure(calls, arguments, rounds):
    """Runs the backends alternately. Returns the milliseconds of each: the median over the rounds
    of the least of five runs."""
    times = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            best = float("inf")
            for _ in range(5):
                started = time.perf_counter()
                finished(call, arguments)
                best = min(best, time.perf_counter() - started)
            times[name].append(best * 1e3)
    return {name: statistics.median(values) for name, values in times.items()}


def what_became(reports):
    """Returns the numbers of received graphs and compiled parts, and the nodes that torch runs."""
    left = {}
    for report in reports:
        for node in report.left:
            left[f"{node.operator}: {node.reason}"] = left.get(f"{node.operator}: {node.reason}", 0) + 1
    return {"graphs": len(reports), "parts": sum(report.compiled for report in reports), "left": left}


def dynamos_seconds():
    """Returns the time of Dynamo's own tracing since the last call, without its backends."""
    from torch._dynamo.utils import compilation_time_metrics as metrics
    seconds = sum(metrics.get("_compile.compile_inner", [])) - sum(metrics.get("OutputGraph.call_user_compiler", []))
    metrics.clear()
    return seconds


def run_one(name, options):
    """Runs all measurements of one process. Returns the results as a dictionary."""
    import torch
    sys.path.insert(0, str(HERE))
    from models import MODELS
    torch.set_num_threads(THREADS)
    result = {"model": name, "first": {}, "dynamo": {}, "errors": {}, "failed": {}}
    model, arguments = MODELS[name]()
    model, arguments = model.to(options.device), to_device(arguments, options.device)
    calls = {}
    with torch.no_grad():
        expected = reference(model, arguments)
        for backend in options.backends.split(","):
            torch._dynamo.reset()
            dynamos_seconds()
            try:
                call = call_of(model, backend, options.trials)
                started = time.perf_counter()
                found = tensors_of(finished(call, arguments))
                result["first"][backend] = time.perf_counter() - started
                result["dynamo"][backend] = dynamos_seconds()
                result["errors"][backend] = relative_error(found, expected)
                calls[backend] = call
                if backend.startswith("tunec"):
                    from tunec.torch.reports import latest
                    result["tunec"] = what_became(latest())
            except Exception as failure:  # any of three compilers may fail
                result["failed"][backend] = f"{type(failure).__name__}: {str(failure)[:300]}"
                result.setdefault("trace", {})[backend] = traceback.format_exc()[-2000:]
        # The first calls were timed after a reset of dynamo, so all functions but the last compile once
        # more in `measure`, from filled caches and the database.
        result["ms"] = measure(calls, arguments, options.rounds) if options.rounds else {}
    return result


def run_process(name, arguments, caches):
    """Runs one process. Returns its results, or its exit status."""
    environment = dict(os.environ, XDG_CACHE_HOME=f"{caches}/cache", TORCHINDUCTOR_CACHE_DIR=f"{caches}/inductor",
                       OMP_NUM_THREADS=str(THREADS))
    command = [sys.executable, "-B", __file__, name, "--one", "--rounds", str(arguments.rounds), "--trials",
               str(arguments.trials), "--backends", arguments.backends, "--device", arguments.device]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1800)
    for line in ran.stdout.splitlines():
        if line.startswith("{"):
            return json.loads(line)
    return {"model": name, "failed": {"process": f"exit code {ran.returncode}: {ran.stderr[-300:]}"}}


def show_warm(warm, backend):
    first = warm.get("first", {}).get(backend)
    return "" if first is None else f"/{first:.1f} ({first - warm['dynamo'][backend]:.2f} beyond Dynamo)"


def show(cold, warm):
    """Returns the line of a model."""
    if "process" in cold.get("failed", {}):
        return f"{cold['model']:20} {cold['failed']['process']}"
    of = cold.get("tunec", {})
    parts = [f"{cold['model']:20} graphs {of.get('graphs', '-')} parts {of.get('parts', '-')} "
             f"left {sum(of.get('left', {}).values()) if of else '-'}"]
    for backend in cold["first"]:
        parts.append(f"{backend} {cold['ms'].get(backend, float('nan')):.2f} ms, first {cold['first'][backend]:.1f}"
                     f"{show_warm(warm, backend)} s, error {cold['errors'][backend]:.1e}")
    parts += [f"{backend} FAILED {why[:160]}" for backend, why in cold["failed"].items()]
    return " | ".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--trials", type=int, default=0)
    parser.add_argument("--backends", default="eager,tunec,inductor")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--no-warm", action="store_true")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    write_results.add_option(parser)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(run_one(arguments.names[0], arguments)))
        return
    with write_results.recorded(arguments, packages=("tunec", "torch", "torchvision", "transformers", "timm")):
        compare(arguments)


def compare(arguments):
    """Runs the models in sequence. Prints and stores the results of each."""
    sys.path.insert(0, str(HERE))
    from models import MODELS
    results = []
    for name in arguments.names or MODELS:
        with tempfile.TemporaryDirectory() as caches:
            cold = run_process(name, arguments, caches)
            warm = {} if arguments.no_warm else run_process(name, arguments, caches)
        results.append({"cold": cold, "warm": warm})
        print(show(cold, warm), flush=True)
        if arguments.json:
            arguments.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
