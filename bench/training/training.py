#!/usr/bin/env python3
"""Times training steps of models in tunec, Inductor and eager torch, and compares gradients.

    training.py [NAME...] [--rounds N] [--json FILE] [--backends eager,tunec,inductor] [--profile] [--no-warm]

A step is forward, cross-entropy, backward and SGD with momentum. Each model runs in a separate
process, twice: cold, with empty caches, and warm, with the caches of the first run. In a process,
the backends take turns, each with its own copy of the model. The first step's loss, gradients and
buffers are compared with those of float64.
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
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import write_results  # noqa: E402

HERE = Path(__file__).resolve().parent


class Step:
    """A model in training: each call is one step. Model and loss are compiled together."""

    def __init__(self, model, arguments, classes, backend):
        import torch
        self.model, self._arguments, self._classes = copy.deepcopy(model), arguments, classes
        self._loss_of = self._forward if backend == "eager" else torch.compile(self._forward, backend=backend)
        self._optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-4, momentum=0.9)

    def _forward(self, arguments, classes):
        import torch
        scores = self.model(**arguments)
        scores = scores.logits if hasattr(scores, "logits") else scores
        return torch.nn.functional.cross_entropy(scores.flatten(0, -2), classes.flatten())

    def __call__(self):
        self._optimizer.zero_grad()
        loss = self._loss_of(self._arguments, self._classes)
        loss.backward()
        self._optimizer.step()
        return loss

    def learned(self):
        """Returns gradients of the latest step, and the buffers after it."""
        gradients = {name: p.grad.detach().clone() for name, p in self.model.named_parameters()}
        return gradients, {name: b.detach().clone() for name, b in self.model.named_buffers()}


def reference(model, arguments, classes):
    """Returns the loss, gradients and buffers of a step in float64."""
    wide = {k: v.double() if v.is_floating_point() else v for k, v in arguments.items()}
    step = Step(copy.deepcopy(model).double(), wide, classes, "eager")
    loss = step()
    return loss.item(), *step.learned()


def errors(found, expected):
    """Returns, for each tensor, its largest difference over its largest element. If a tensor is
    zero except for rounding (the bias of attention's keys), the difference is divided by the
    largest element of all tensors."""
    import torch
    largest = max((w.abs().max().item() for w in expected.values() if w.is_floating_point()), default=0.0)
    result = {}
    for name, expected_value in expected.items():
        have = found[name]
        if not expected_value.is_floating_point():
            result[name] = 0.0 if torch.equal(have, expected_value) else float("inf")
            continue
        scale = expected_value.abs().max().item()
        scale = scale if scale > 1e-9 * largest else largest
        result[name] = (have.double() - expected_value).abs().max().item() / scale
    return result


def summary(found):
    """Returns the largest and the median error, and the name of the tensor with the largest
    error."""
    if not found:
        return {"most": 0.0, "median": 0.0, "of": ""}
    return {"most": max(found.values()), "median": statistics.median(found.values()), "of": max(found, key=found.get)}


def measure(steps, rounds):
    """Runs the backends alternately. Returns the milliseconds per step of each. A round has two
    steps. The first is not counted, because another backend has filled the caches."""
    times = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            step()
            started = time.perf_counter()
            step()
            times[name].append((time.perf_counter() - started) * 1e3)
    return {name: spread(values) for name, values in times.items()}


def spread(values):
    quarters = statistics.quantiles(values, n=4)
    return {"median": statistics.median(values), "least": min(values), "low": quarters[0], "high": quarters[2]}


def what_became(reports):
    """Returns kind, number of compiled parts and remaining torch nodes of each received graph."""
    return [{"kind": r.kind, "parts": r.compiled, "left": [f"{n.operator}: {n.reason}" for n in r.left]}
            for r in reports]


def profiles(step):
    """Returns, for each part, its graph's kind and its kernels with microseconds, the slowest
    first."""
    from tunec.torch.reports import latest
    found = []
    for report in latest():
        for name in report.partitions.compiled:
            found.append({"kind": report.kind, "part": name, "kernels": _profile(report, name, step)})
    return found


def _profile(report, name, step):
    """Returns the kernels of a part with their median times over a few runs, on the arguments that a
    step passes to the part."""
    part = report.partitions.module.get_submodule(name)
    seen = []
    hook = part.register_forward_pre_hook(lambda module, given: seen.append(given))
    step()
    hook.remove()
    graph, executable = part.graph.compiled(seen[-1])
    from tunec.torch.sized import as_stored
    positions = {placeholder: i for i, placeholder in enumerate(part.graph.placeholders)}
    inputs = [as_stored(seen[-1][positions[port.source]].detach(), port.order) for port in graph.inputs]
    runs = [executable.profile(*inputs)[1] for _ in range(7)]
    kernels = [{"us": statistics.median(run[i][1] for run in runs) * 1e6, "name": name}
               for i, (name, _) in enumerate(runs[0])]
    return sorted(kernels, key=lambda kernel: -kernel["us"])


def run_one(name, arguments):
    """Runs all measurements of one process. Returns the results as a dictionary."""
    import torch
    sys.path.insert(0, str(HERE))
    from models import MODELS
    torch.set_num_threads(arguments.threads)
    model, given, classes = MODELS[name]()
    loss, gradients, buffers = reference(model, given, classes)
    result = {"model": name, "first": {}, "errors": {}, "failed": {}}
    steps = {}
    for backend in arguments.backends.split(","):
        try:
            steps[backend] = step = Step(model, given, classes, backend)
            started = time.perf_counter()
            found_loss = step()
            result["first"][backend] = time.perf_counter() - started
            found = step.learned()
            result["errors"][backend] = {"loss": abs(found_loss.item() - loss) / abs(loss),
                                         "gradients": errors(found[0], gradients),
                                         "buffers": errors(found[1], buffers)}
            if backend == "tunec":
                from tunec.torch.reports import latest
                result["tunec"] = what_became(latest())
        except Exception as failure:  # any of three compilers may fail
            result["failed"][backend] = f"{type(failure).__name__}: {str(failure)[:500]}"
            steps.pop(backend, None)
    if arguments.rounds:
        result["ms"] = measure(steps, arguments.rounds)
    if arguments.profile and "tunec" in steps:
        result["profiles"] = profiles(steps["tunec"])
    return result


def run_process(name, arguments, caches):
    """Runs one process. Returns its results, or its exit status."""
    environment = dict(os.environ, XDG_CACHE_HOME=f"{caches}/cache", TORCHINDUCTOR_CACHE_DIR=f"{caches}/inductor",
                       OMP_NUM_THREADS=str(arguments.threads))
    command = [sys.executable, "-B", __file__, *sys.argv[1:], "--one", name]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=3600)
    for line in ran.stdout.splitlines():
        if line.startswith("{"):
            return json.loads(line)
    return {"model": name, "failed": {"process": f"exit code {ran.returncode}: {ran.stderr[-1000:]}"}}


def show(cold, warm):
    """Prints a line for each backend."""
    print(cold["model"])
    for graph in cold.get("tunec", []):
        print(f"  {graph['kind']}: {graph['parts']} part(s), {len(graph['left'])} node(s) left", *graph["left"],
              sep="\n    ")
    for backend, why in cold["failed"].items():
        print(f"  {backend} FAILED {why}")
    for backend, first in cold.get("first", {}).items():
        if backend not in cold["errors"]:
            continue
        line = [f"  {backend:9} first {first:.1f}"]
        if backend in warm.get("first", {}):
            line.append(f"/{warm['first'][backend]:.1f}")
        error = cold["errors"][backend]
        of = summary(error["gradients"])
        line.append(f" s, gradients' error {of['most']:.1e} ({of['of']}), median {of['median']:.1e}, "
                    f"loss {error['loss']:.1e}, buffers {summary(error['buffers'])['most']:.1e}")
        if backend in cold.get("ms", {}):
            t = cold["ms"][backend]
            line.append(f", {t['median']:.1f} ms ({t['low']:.1f} to {t['high']:.1f}, least {t['least']:.1f})")
        print("".join(line), flush=True)
    for part in cold.get("profiles", []):
        total = sum(kernel["us"] for kernel in part["kernels"])
        print(f"  {part['kind']} {part['part']}: {total / 1e3:.2f} ms, {len(part['kernels'])} kernels")
        for kernel in part["kernels"][:25]:
            print(f"    {kernel['us']:9.1f} us {kernel['name']}"[:150])


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--backends", default="eager,tunec,inductor")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--profile", action="store_true", help="tunec's kernels, the slowest first")
    parser.add_argument("--no-warm", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    write_results.add_option(parser)
    return parser.parse_args()


def main():
    arguments = parsed()
    if arguments.one:
        print(json.dumps(run_one(arguments.one, arguments)))
        return
    with write_results.recorded(arguments, packages=("tunec", "torch", "torchvision", "transformers")):
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
        show(cold, warm)
        if arguments.json:
            arguments.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
