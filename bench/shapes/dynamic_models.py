#!/usr/bin/env python3
"""Runs models on random sizes in tunec, Inductor, ONNX Runtime and eager torch.

    dynamic_models.py [--models a,b] [--sizes N] [--timed K] [--seed S] [--systems tunec,inductor,...]
                      [--threads N] [--json FILE]

The models and the ranges of their dimensions are in dynamic_models_list.py. Each system has a
process with empty caches, and receives the same arguments:

1. All sizes in sequence, including compilation. Each call is repeated at once; the difference of a
   slow call is time of compiling. Outputs are compared with eager torch.
2. K of the sizes again. The systems take turns: each runs the size three times in each of five
   rounds. The time of a size is the median over rounds of the least of three times.

`frozen` is tunec with weights that are compiled in, as in ONNX Runtime; the other systems of torch
read weights in place. `exact` is `frozen` with each size compiled for itself (`dynamic=False`). A
ratio is the time of another system over tunec's, so above 1 tunec's dynamic model is faster. The
line of a ratio has the geometric mean over sizes, then the least and the largest, with the sizes of
the least. ONNX Runtime's model is exported before timing starts.
"""
import argparse
import collections
import contextlib
import json
import math
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import write_results  # noqa: E402

import systems  # noqa: E402

SYSTEMS = ("tunec", "frozen", "exact", "inductor", "onnxruntime", "eager")
# Arguments of torch.compile.
OPTIONS = {"tunec": {"backend": "tunec", "dynamic": True},
           "frozen": {"backend": "tunec", "dynamic": True, "options": {"freeze": True}},
           "exact": {"backend": "tunec", "dynamic": False, "options": {"freeze": True}},
           "inductor": {"backend": "inductor", "dynamic": True}}
COMPARED_WITH = {"inductor": "tunec", "eager": "tunec", "onnxruntime": "frozen", "exact": "frozen"}
ROUNDS = 5
STALL = 0.02  # seconds by which a call with compilation exceeds its repetition
MOST_ERROR = 1e-3  # over the largest magnitude of eager torch's output
MOST_FAILURES = 5  # sizes that may fail until the run of a system ends
MOST_SECONDS = 7200  # for the processes of one model
EXAMPLE = 0.4  # ONNX is exported at this place between the least and the largest sizes


def first_line(failure):
    """Returns the kind and the first line of the exception that began a chain of exceptions."""
    while failure.__cause__ is not None:
        failure = failure.__cause__
    lines = [line for line in str(failure).splitlines() if line.strip()]
    return f"{type(failure).__name__}: {lines[0].strip()[:200] if lines else ''}"


# -- systems --------------------------------------------------------------------------------------


def export_onnx(model, case, path):
    """Exports the model with dynamic dimensions."""
    import torch
    example = {name: int(least + EXAMPLE * (most - least)) for name, (least, most) in case.ranges.items()}
    arguments = case.arguments(0, example)
    shapes = torch.export.ShapesCollection()
    for tensor, axes in zip(arguments, case.axes, strict=True):
        shapes[tensor] = {axis: torch.export.Dim.DYNAMIC(min=case.ranges[name][0], max=case.ranges[name][1])
                          for axis, name in axes.items()}
    torch.onnx.export(model, arguments, str(path), dynamo=True, verbose=False,
                      dynamic_shapes=shapes.dynamic_shapes(model, arguments))


def report_of(compiles):
    """Returns the numbers of executables and of compiled parts, the reasons why a model is not
    padded, and the numbers of nodes that torch runs, by operator and reason."""
    from tunec.torch.reports import latest
    reports = compiles.reports()
    why = {report["refusal"] for report in reports if "refusal" in report}
    why |= {each["why"] for report in reports for each in report.get("refused", ())}
    left = collections.Counter(f"{node.operator}: {node.reason}"
                               for report in latest() for node in report.left)
    return {"executables": compiles.total(),
            "parts": sum(report.compiled for report in latest()),
            "refusals": sorted(str(each).splitlines()[0] for each in why),
            "left": dict(left.most_common())}


def call_of(system, model, case, threads):
    """Returns the function that runs the model."""
    import torch
    if system == "eager":
        return model
    if system == "onnxruntime":
        run, names = systems.onnxruntime_call(lambda path: export_onnx(model, case, path), threads)
        return lambda *arguments: run(dict(zip(names, arguments, strict=True)))
    return torch.compile(model, **OPTIONS[system])


# -- one process ----------------------------------------------------------------------------------


def timed(call, arguments):
    started = time.perf_counter()
    result = call(*arguments)
    return time.perf_counter() - started, result


def tensors_of(result):
    import torch
    return [result] if isinstance(result, torch.Tensor) else list(result)


def error_of(found, expected):
    """Returns the largest error of any output over the output's largest magnitude."""
    worst = 0.0
    for one, other in zip(tensors_of(found), tensors_of(expected), strict=True):
        if one.shape != other.shape:
            return math.inf
        error = ((one - other).abs().max() / other.abs().max().clamp(min=1e-30)).item()
        worst = max(worst, math.inf if math.isnan(error) else error)
    return worst


def run_all(call, model, case, all_sizes):
    """Runs the first pass. Returns its results as a dictionary."""
    first, compiling, errors, failed = [], [], [], {}
    for number, sizes in enumerate(all_sizes):
        arguments = case.arguments(number, sizes)
        try:
            seconds, found = timed(call, arguments)
            first.append(seconds)
            excess = seconds - timed(call, arguments)[0]
        except Exception as failure:  # any of three compilers may fail
            failed[number] = first_line(failure)
            if len(failed) >= MOST_FAILURES:
                break
            continue
        compiling += [excess] if excess > STALL else []
        errors.append((error_of(found, model(*arguments)), number))
    return {"total": sum(first), "compiling": sum(compiling), "stalls": len(compiling),
            "error": max(errors, default=None), "failed": failed}


def serve(system, name, options):
    """Answers the requests on standard input, each a line, with lines of JSON: `all` runs all sizes,
    and a number runs that size three times and returns the least time in seconds."""
    import torch
    from torch._dynamo import config
    from torch._dynamo.utils import counters

    from dynamic_models_list import CASES
    warnings.simplefilter("ignore")
    signal.alarm(MOST_SECONDS)
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    case = CASES[name]
    model = case.make().eval()
    all_sizes = case.draw(options.sizes, options.seed)
    compiles = systems.Compiles() if system in ("tunec", "frozen") else None
    if system == "exact":  # each size is one more graph of Dynamo
        config.recompile_limit = config.accumulated_recompile_limit = options.sizes + 1

    def answer(request, call):
        if request == "all":
            result = run_all(call, model, case, all_sizes)
            result.update(graphs=counters["stats"]["unique_graphs"], **(report_of(compiles) if compiles else {}))
            return result | {"limited": any("recompile limit" in why for why in counters["unimplemented"])}
        arguments = case.arguments(int(request), all_sizes[int(request)])
        return {"seconds": min(timed(call, arguments)[0] for _ in range(3))}

    call = None
    with torch.no_grad():
        for line in sys.stdin:
            try:
                if call is None:
                    call = call_of(system, model, case, options.threads)
                result = answer(line.strip(), call)
            except Exception as failure:
                result = {"failed_all": first_line(failure)}
            print(json.dumps(result), flush=True)


# -- all processes of a model ---------------------------------------------------------------------


class Served:
    """A process that runs a model in one system. The process exists inside `with`."""

    def __init__(self, system, name, options):
        self._command = [sys.executable, "-B", __file__, "--one", system, "--models", name]
        self._command += [f"--{key}={getattr(options, key)}" for key in ("sizes", "seed", "threads")]
        self._threads = str(options.threads)

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory()
        caches = self._folder.name
        environment = dict(os.environ, XDG_CACHE_HOME=f"{caches}/cache",
                           TORCHINDUCTOR_CACHE_DIR=f"{caches}/inductor", OMP_NUM_THREADS=self._threads)
        self._errors = open(f"{caches}/errors", "w+", encoding="utf-8", errors="replace")
        self._process = subprocess.Popen(self._command, env=environment, text=True, stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, stderr=self._errors)
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        self._errors.close()
        self._folder.cleanup()

    def ask(self, request):
        """Returns the answer to a request as a dictionary. If the process ended, `failed_all` has the
        reason."""
        with contextlib.suppress(BrokenPipeError):
            print(request, file=self._process.stdin, flush=True)
        for line in self._process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        self._errors.seek(0)
        return {"failed_all": f"exit code {self._process.wait()}: {self._errors.read().strip()[-300:]}"}


def run_model(name, options):
    """Runs a model in all systems. Returns the results by system."""
    timed_again = sorted(random.Random(options.seed + 1).sample(range(options.sizes),
                                                                min(options.timed, options.sizes)))
    with contextlib.ExitStack() as processes:
        served = {system: processes.enter_context(Served(system, name, options))
                  for system in options.systems.split(",")}
        results = {system: {"failed": {}} if system == "exact" else process.ask("all")
                   for system, process in served.items()}
        for system, result in results.items():
            if "failed_all" in result or len(result["failed"]) >= MOST_FAILURES:
                served.pop(system)
            result["again"] = []
        for number in timed_again:
            working = {system: process for system, process in served.items()
                       if str(number) not in results[system]["failed"]}
            seconds = {system: [] for system in working}
            for _ in range(1 + ROUNDS):  # code is compiled in the first round
                for system in seconds:
                    seconds[system].append(working[system].ask(number))
            for system, answers in seconds.items():
                failures = [answer["failed_all"] for answer in answers if "failed_all" in answer]
                if failures:
                    results[system]["failed"][str(number)] = failures[0]
                else:
                    least = statistics.median(answer["seconds"] for answer in answers[1:])
                    results[system]["again"].append([number, least])
    return results


# -- the report -----------------------------------------------------------------------------------


def mean_of(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios)))


def ratios_of(results):
    """Returns the ratios of each system to tunec for one model, by pairs such as inductor/tunec, and
    in these by the number of the size."""
    found = {}
    for system, own in COMPARED_WITH.items():
        seconds = dict(results.get(own, {}).get("again", ()))
        ratios = {number: other / seconds[number]
                  for number, other in results.get(system, {}).get("again", ()) if number in seconds}
        if ratios:
            found[f"{system}/{own}"] = ratios
    return found


def show_sizes(sizes):
    return " x ".join(map(str, sizes.values()))


def show_system(system, result, all_sizes):
    """Returns the lines of one system."""
    if "failed_all" in result:
        return [f"  {system:11} FAILED: {result['failed_all']}"]
    if system == "exact":
        return [f"  exact       FAILED at {show_sizes(all_sizes[int(number)])}: {why}"
                for number, why in result["failed"].items()]
    parts = [f"all sizes {result['total']:.1f} s"]
    if system in OPTIONS:
        parts.append(f"compiling {result['compiling']:.1f} s in {result['stalls']} calls")
        parts.append(f"{result['graphs']} Dynamo graphs")
    if "executables" in result:
        parts.append(f"{result['parts']} parts, {result['executables']} executables")
    if system != "eager" and result["error"]:
        error, number = result["error"]
        parts.append(f"error {error:.1e}")
        if error > MOST_ERROR:
            parts[-1] += f" TOO LARGE at {show_sizes(all_sizes[number])}"
    lines = [", ".join(parts)]
    if result["limited"]:
        lines.append("Dynamo's limit of graphs is reached: other sizes run in eager torch")
    if result["failed"]:
        number, why = next(iter(result["failed"].items()))
        ended = ", then ended" if len(result["failed"]) >= MOST_FAILURES else ""
        lines.append(f"FAILED at {len(result['failed'])} sizes{ended}; first "
                     f"{show_sizes(all_sizes[int(number)])}: {why}")
    lines += [f"not padded: {why[:160]}" for why in result.get("refusals", ())]
    lines += [f"left to torch: {count} {what[:160]}" for what, count in result.get("left", {}).items()]
    return [f"  {system:11} {line}" for line in lines]


def show_model(name, case, all_sizes, results):
    lines = [f"{name}: " + ", ".join(f"{key} {least}..{most}" for key, (least, most) in case.ranges.items())]
    for system, result in results.items():
        lines += show_system(system, result, all_sizes)
    for pair, ratios in ratios_of(results).items():
        worst = min(ratios, key=ratios.get)
        lines.append(f"  {pair} {mean_of(ratios.values()):.2f} ({ratios[worst]:.2f} at "
                     f"{show_sizes(all_sizes[worst])}, to {max(ratios.values()):.2f})")
    return "\n".join(lines)


def show_means(all_results):
    """Returns lines of the geometric means over models."""
    found = collections.defaultdict(list)
    for results in all_results:
        for pair, ratios in ratios_of(results).items():
            found[pair].append(mean_of(ratios.values()))
    return "".join(f"{len(means)} models: {pair} {mean_of(means):.3f} ({min(means):.3f} to "
                   f"{max(means):.3f})\n" for pair, means in found.items())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", help="names of dynamic_models_list.py, with commas (default: all)")
    parser.add_argument("--sizes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    parser.add_argument("--timed", type=int, default=24)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    write_results.add_option(parser)
    options = parser.parse_args()
    if options.one:
        serve(options.one, options.models, options)
        return
    with write_results.recorded(options, packages=("tunec", "torch", "transformers", "torchvision", "timm",
                                                   "onnxruntime", "onnxscript")):
        compare(options)


def compare(options):
    """Runs the models in sequence. Prints and stores the results of each."""
    from dynamic_models_list import CASES
    names = options.models.split(",") if options.models else list(CASES)
    unknown = [name for name in names if name not in CASES]
    unknown += [system for system in options.systems.split(",") if system not in SYSTEMS]
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}; models: {', '.join(CASES)}")
    stored = []
    for name in names:
        all_sizes = CASES[name].draw(options.sizes, options.seed)
        results = run_model(name, options)
        stored.append({"model": name, "sizes": all_sizes, "systems": results})
        print(show_model(name, CASES[name], all_sizes, results), flush=True)
        if options.json:
            options.json.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    print(show_means([each["systems"] for each in stored]), end="")


if __name__ == "__main__":
    main()
