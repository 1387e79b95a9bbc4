#!/usr/bin/env python3
"""Runs models on random sizes in tunec, Inductor, ONNX Runtime and eager torch.

    dynamic_models.py [--models a,b] [--sizes N] [--seed S] [--systems tunec,inductor,onnxruntime,eager]
                      [--exact K] [--threads N] [--json FILE]

The models and the ranges of their dimensions are in dynamic_models_list.py. All systems receive the
same arguments in the same order, each in a separate process with empty caches:

1. All sizes in sequence, including compilation. Each call is repeated at once; the difference of a
   slow call is time of compiling. Outputs are compared with eager torch.
2. A third of the sizes again, several runs of each. The time of a size is the median.
3. In tunec, runs of the dynamic model alternate with those of a model compiled for the exact size
   (`dynamic=False`), for K of the sizes.

A ratio is the time of another system over tunec's, so above 1 tunec's dynamic model is faster. The
line of a ratio has the geometric mean over sizes, then the least and the largest. ONNX Runtime's
model is exported before timing starts.
"""
import argparse
import collections
import json
import math
import os
import random
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

SYSTEMS = ("tunec", "inductor", "onnxruntime", "eager")
STALL = 0.02  # seconds by which a call with compilation exceeds its repetition
MOST_ERROR = 1e-3  # over the largest magnitude of eager torch's output
MOST_FAILURES = 5  # sizes that may fail until the run of a system ends
MOST_SECONDS = 7200  # for one process
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
    return torch.compile(model, backend=system, dynamic=True)


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


def median_of_runs(call, arguments):
    """Runs the function for a tenth of a second, 5 to 50 times. Returns the median in seconds."""
    seconds = timed(call, arguments)[0]
    count = min(max(int(0.1 / max(seconds, 1e-6)), 5), 50)
    return statistics.median(timed(call, arguments)[0] for _ in range(count))


def compare_exact(model, dynamic, case, all_sizes, numbers):
    """Times tunec's dynamic model beside a model for the exact sizes. Returns rows of a number and
    two times in seconds."""
    import torch
    rows = []
    torch._dynamo.config.recompile_limit = len(numbers) + 16  # each size is one more graph of Dynamo
    exact = torch.compile(model, backend="tunec", dynamic=False)
    for number in numbers:
        arguments = case.arguments(number, all_sizes[number])
        dynamic(*arguments)
        exact(*arguments)
        timers = [lambda call=call, arguments=arguments: timed(call, arguments)[0] for call in (dynamic, exact)]
        rows.append([number, *systems.best_of_turns(timers, rounds=7)])
    return rows


def evenly(numbers, count):
    """Returns `count` of the numbers, evenly spaced."""
    count = min(count, len(numbers))
    return [numbers[i * len(numbers) // count] for i in range(count)]


def run_system(system, name, options):
    """Runs all passes of one system, within one process. Returns the results as a dictionary."""
    import torch
    from torch._dynamo.utils import counters

    from dynamic_models_list import CASES
    warnings.simplefilter("ignore")
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    case = CASES[name]
    model = case.make().eval()
    all_sizes = case.draw(options.sizes, options.seed)
    again = sorted(random.Random(options.seed + 1).sample(range(options.sizes), -(-options.sizes // 3)))
    compiles = systems.Compiles() if system == "tunec" else None
    with torch.no_grad():
        try:
            call = call_of(system, model, case, options.threads)
        except Exception as failure:
            return {"failed_all": first_line(failure)}
        result = run_all(call, model, case, all_sizes)
        result.update(graphs=counters["stats"]["unique_graphs"], **(report_of(compiles) if compiles else {}))
        result["limited"] = any("recompile limit" in reason for reason in counters["unimplemented"])
        if len(result["failed"]) >= MOST_FAILURES:
            return result
        again = [number for number in again if number not in result["failed"]]
        result["again"] = [[number, median_of_runs(call, case.arguments(number, all_sizes[number]))]
                           for number in again]
        if compiles and options.exact:
            try:
                result["exact"] = compare_exact(model, call, case, all_sizes, evenly(again, options.exact))
            except Exception as failure:
                result["exact_failed"] = first_line(failure)
    return result


def run_process(system, name, options):
    command = [sys.executable, "-B", __file__, "--one", system, "--models", name]
    command += [f"--{key}={getattr(options, key)}" for key in ("sizes", "seed", "exact", "threads")]
    with tempfile.TemporaryDirectory() as caches:
        environment = dict(os.environ, XDG_CACHE_HOME=f"{caches}/cache",
                           TORCHINDUCTOR_CACHE_DIR=f"{caches}/inductor", OMP_NUM_THREADS=str(options.threads))
        try:
            ran = subprocess.run(command, env=environment, capture_output=True, text=True,
                                 timeout=MOST_SECONDS)
        except subprocess.TimeoutExpired:
            return {"failed_all": f"more than {MOST_SECONDS} s"}
    for line in ran.stdout.splitlines():
        if line.startswith("{"):
            return json.loads(line)
    return {"failed_all": f"exit code {ran.returncode}: {ran.stderr.strip()[-300:]}"}


# -- the report -----------------------------------------------------------------------------------


def mean_of(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios)))


def ratios_of(results):
    """Returns the ratios of each system to tunec for one model, by system."""
    found = {}
    own = dict(results.get("tunec", {}).get("again", ()))
    for system, result in results.items():
        ratios = [seconds / own[number] for number, seconds in result.get("again", ()) if number in own]
        if system != "tunec" and ratios:
            found[system] = ratios
    if results.get("tunec", {}).get("exact"):
        found["exact"] = [exact / dynamic for _, dynamic, exact in results["tunec"]["exact"]]
    return found


def show_sizes(sizes):
    return " x ".join(map(str, sizes.values()))


def show_system(system, result, all_sizes):
    """Returns the lines of one system."""
    if "failed_all" in result:
        return [f"  {system:11} FAILED: {result['failed_all']}"]
    parts = [f"all sizes {result['total']:.1f} s"]
    if system in ("tunec", "inductor"):
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
    if "exact_failed" in result:
        lines.append(f"exact FAILED: {result['exact_failed']}")
    return [f"  {system:11} {line}" for line in lines]


def show_model(name, case, all_sizes, results):
    lines = [f"{name}: " + ", ".join(f"{key} {least}..{most}" for key, (least, most) in case.ranges.items())]
    for system, result in results.items():
        lines += show_system(system, result, all_sizes)
    for system, ratios in ratios_of(results).items():
        if system == "exact":
            numbers = [row[0] for row in results["tunec"]["exact"]]
            worst = numbers[ratios.index(min(ratios))]
            lines.append(f"  exact/tunec {statistics.median(ratios):.3f} median, worst {min(ratios):.3f} "
                         f"({show_sizes(all_sizes[worst])})")
        else:
            lines.append(f"  {system}/tunec {mean_of(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
    return "\n".join(lines)


def show_means(all_results):
    """Returns lines of the geometric means over models."""
    found = collections.defaultdict(list)
    for results in all_results:
        for system, ratios in ratios_of(results).items():
            found[system].append(statistics.median(ratios) if system == "exact" else mean_of(ratios))
    return "".join(f"{len(means)} models: {system}/tunec {mean_of(means):.3f} ({min(means):.3f} to "
                   f"{max(means):.3f})\n" for system, means in found.items())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", help="names of dynamic_models_list.py, with commas (default: all)")
    parser.add_argument("--sizes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    parser.add_argument("--exact", type=int, default=12)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    write_results.add_option(parser)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(run_system(options.one, options.models, options)))
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
        results = {system: run_process(system, name, options) for system in options.systems.split(",")}
        stored.append({"model": name, "sizes": all_sizes, "systems": results})
        print(show_model(name, CASES[name], all_sizes, results), flush=True)
        if options.json:
            options.json.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    print(show_means([each["systems"] for each in stored]), end="")


if __name__ == "__main__":
    main()
