#!/usr/bin/env python3
"""Serves requests of varying batch and length with bert_base in tunec, Inductor, ONNX Runtime and
eager torch.

    bert_requests.py [--requests N] [--seed S] [--backends tunec,inductor,onnxruntime,eager] [--exact N]
                     [--layers N] [--trials N] [--threads N] [--device cuda] [--json FILE]

A request is a batch of 1 to 8 sequences of 16 to 512 tokens, with a mask of the valid tokens. All
backends receive the same requests in the same order, each in a separate process: once in sequence,
including compilation, and a third of them again. With `--exact N`, runs of tunec's dynamic model
also alternate with those of a model compiled for the exact sizes, for N of the sizes. ONNX
Runtime's model is exported before timing starts. With `--device cuda`, model and requests are on a
GPU, and ONNX Runtime is not compared.
"""
import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import write_results  # noqa: E402

import systems  # noqa: E402

MOST_BATCH, LEAST_LENGTH, MOST_LENGTH = 8, 16, 512
STALL = 0.1  # seconds by which a stalled request exceeds its repetition
SENT_TWICE = 3  # a third of the requests are sent again, and those that may have stalled


def draw_requests(count, seed):
    """Returns (batch, length) of each request."""
    stream = random.Random(seed)
    return [(stream.randint(1, MOST_BATCH), stream.randint(LEAST_LENGTH, MOST_LENGTH)) for _ in range(count)]


def bert(options):
    """Returns bert_base with random weights, and the size of its vocabulary."""
    import torch
    from transformers import BertConfig, BertModel
    torch.manual_seed(0)
    config = BertConfig(num_hidden_layers=options.layers, attn_implementation="sdpa")
    return BertModel(config, add_pooling_layer=False).eval().to(options.device), config.vocab_size


def arguments_of(number, sizes, tokens, device="cpu"):
    """Returns the arguments of the request with this number. Some sequences are shorter than the
    length."""
    import torch
    stream = torch.Generator().manual_seed(number)
    batch, length = sizes
    ids = torch.randint(0, tokens, (batch, length), generator=stream)
    lengths = torch.randint((length + 1) // 2, length + 1, (batch, 1), generator=stream)
    lengths[0] = length
    mask = (torch.arange(length)[None, :] < lengths).long()
    return {"input_ids": ids.to(device), "attention_mask": mask.to(device)}


def export_onnx(model, tokens, path):
    """Exports the model with dynamic batch and length."""
    import torch
    example = arguments_of(0, (2, 32), tokens)
    axes = {0: torch.export.Dim("batch", min=1, max=MOST_BATCH),
            1: torch.export.Dim("length", min=2, max=MOST_LENGTH)}
    torch.onnx.export(model, (), str(path), kwargs=example, dynamo=True,
                      dynamic_shapes={name: axes for name in example})


def call_of(backend, model, tokens, options):
    """Returns a function that computes the last hidden states, and a counter of executables."""
    import torch
    if backend == "onnxruntime":
        run, _ = systems.onnxruntime_call(lambda path: export_onnx(model, tokens, path), options.threads)
        return lambda **arguments: run(arguments)[0], None
    if backend == "eager":
        return lambda **arguments: model(**arguments).last_hidden_state, None
    own = {"trials": options.trials} if backend == "tunec" and options.trials else None
    compiles = systems.Compiles() if backend == "tunec" else None
    compiled = torch.compile(model, backend=backend, dynamic=True, options=own)
    return lambda **arguments: compiled(**arguments).last_hidden_state, compiles


def timed(call, arguments):
    import torch
    on_gpu = any(tensor.is_cuda for tensor in arguments.values())
    if on_gpu:
        torch.cuda.synchronize()
    started = time.perf_counter()
    result = call(**arguments)
    if on_gpu:
        torch.cuda.synchronize()
    return time.perf_counter() - started, result


def error_of(found, expected):
    return ((found.double() - expected.double()).abs().max() / expected.double().abs().max()).item()


def resident():
    """Returns the resident memory of this process in MB, without mapped files."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon:")) / 1024


def may_have_stalled(number, requests, seconds):
    """Returns true if a request took longer than expected from the median time per token."""
    tokens = [batch * length for batch, length in requests]
    usual = statistics.median(time / count for time, count in zip(seconds, tokens, strict=True))
    return seconds[number] > 1.3 * usual * tokens[number] + STALL / 2


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def serve(backend, options):
    """Runs both passes of one backend, within one process. Returns the results as a dictionary."""
    import torch
    from torch._dynamo.utils import counters
    torch.set_num_threads(options.threads)
    model, tokens = bert(options)
    requests = draw_requests(options.requests, options.seed)
    with torch.no_grad():
        call, compiles = call_of(backend, model, tokens, options)
        memory = [resident()]
        first, again, errors = [], [], []
        for number, sizes in enumerate(requests):
            first.append(timed(call, arguments_of(number, sizes, tokens, options.device))[0])
            if number == 0:
                memory.append(resident())
        memory.append(resident())
        for number, sizes in enumerate(requests):
            if number % SENT_TWICE and not may_have_stalled(number, requests, first):
                again.append(first[number])
                continue
            arguments = arguments_of(number, sizes, tokens, options.device)
            seconds, found = timed(call, arguments)
            again.append(seconds)
            if number % (4 * SENT_TWICE) == 0:
                errors.append(error_of(found, model(**arguments).last_hidden_state))
    stalls = [one - other for one, other in zip(first, again, strict=True) if one - other > STALL]
    return {"backend": backend, "total": sum(first), "again": sum(again), "p50": statistics.median(again),
            "p99": percentile(again, 0.99), "first_p99": percentile(first, 0.99), "stalls": len(stalls),
            "stalled": sum(stalls), "worst": max(stalls, default=0.0), "error": max(errors),
            "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "memory": memory,
            "executables": compiles.total() if compiles else None,
            "dynamo": counters["stats"].get("unique_graphs", 0), "seconds": again}


def best_of_turns(timers, rounds):
    """Calls functions that return seconds alternately. Returns, for each function, the median over
    rounds of the least of three times."""
    times = [[] for _ in timers]
    for _ in range(rounds):
        for own, timer in zip(times, timers, strict=True):
            own.append(min(timer() for _ in range(3)))
    return [statistics.median(own) for own in times]


def compare_exact(options):
    """Times tunec's dynamic model beside a model for the exact sizes. Returns the times in
    seconds."""
    import torch
    import tunec
    torch.set_num_threads(options.threads)
    model, tokens = bert(options)
    requests = draw_requests(options.requests, options.seed)
    step = max(len(requests) // options.exact, 1)
    rows = []
    with torch.no_grad():
        dynamic, _ = call_of("tunec", model, tokens, options)
        for number, (_, length) in enumerate(requests):
            # Runs many lengths first, as in the service.
            dynamic(**arguments_of(number, (1, length), tokens, options.device))
        own = {"trials": options.trials} if options.trials else {}
        for number in range(0, step * options.exact, step):
            arguments = arguments_of(number, requests[number], tokens, options.device)
            exact = tunec.compile(model, tuple(arguments.values()), threads=options.threads, **own)
            calls = [dynamic, lambda **given: exact(*given.values())]
            timers = [lambda call=call, arguments=arguments: timed(call, arguments)[0] for call in calls]
            times = best_of_turns(timers, rounds=5)
            rows.append({"sizes": requests[number], "dynamic": times[0], "exact": times[1]})
    return {"backend": "exact", "rows": rows}


def run_process(backend, options):
    command = [sys.executable, "-B", __file__, "--one", backend] + [
        text for name in ("requests", "seed", "exact", "layers", "trials", "threads", "device")
        for text in (f"--{name}", str(getattr(options, name)))]
    with tempfile.TemporaryDirectory() as caches:
        environment = dict(os.environ, XDG_CACHE_HOME=f"{caches}/cache", TORCHINDUCTOR_CACHE_DIR=f"{caches}/inductor",
                           OMP_NUM_THREADS=str(options.threads))
        ran = subprocess.run(command, env=environment, capture_output=True, text=True)
    for line in ran.stdout.splitlines():
        if line.startswith("{"):
            return json.loads(line)
    return {"backend": backend, "failed": f"exit code {ran.returncode}: {ran.stderr[-600:]}"}


def show(result):
    if "failed" in result:
        return f"{result['backend']:12} {result['failed']}"
    if result["backend"] == "exact":
        ratios = [row["dynamic"] / row["exact"] for row in result["rows"]]
        lines = [f"{row['sizes'][0]} x {row['sizes'][1]:3}: {row['dynamic'] * 1e3:8.2f} ms, exact "
                 f"{row['exact'] * 1e3:8.2f} ms, ratio {row['dynamic'] / row['exact']:.3f}" for row in result["rows"]]
        return "\n".join(lines + [f"ratio: median {statistics.median(ratios):.3f}, worst {max(ratios):.3f}"])
    counted = f", {result['executables']} executables" if result["executables"] is not None else ""
    return (f"{result['backend']:12} total {result['total']:7.1f} s, again {result['again']:7.1f} s; p50 "
            f"{result['p50'] * 1e3:7.1f} ms, p99 {result['p99'] * 1e3:7.1f} (at first "
            f"{result['first_p99'] * 1e3:8.1f}); {result['stalls']} stalls of {result['stalled']:.1f} s, worst "
            f"{result['worst']:.1f}; memory "
            f"{'/'.join(f'{mb:.0f}' for mb in result['memory'])} MB, peak {result['peak']:.0f}; "
            f"error {result['error']:.1e}; {result['dynamo']} Dynamo graphs{counted}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--backends", default="tunec,inductor,onnxruntime,eager")
    parser.add_argument("--exact", type=int, default=0)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--trials", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    write_results.add_option(parser)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(compare_exact(options) if options.one == "exact" else serve(options.one, options)))
        return
    with write_results.recorded(options, packages=("tunec", "torch", "transformers", "onnxruntime")):
        compare(options)


def compare(options):
    """Serves the requests with each backend. Prints and stores the results of each."""
    results = []
    for backend in options.backends.split(",") + (["exact"] if options.exact else []):
        results.append(run_process(backend, options))
        print(show(results[-1]), flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
