#!/usr/bin/env python3
"""Runs the first measurements on a GPU: kernel times and predictions, model outputs, tunec beside
PyTorch.

    first.py [--out FOLDER] [--seconds N] [--only WORD,...] [--models FOLDER...] [--dry-run]

Steps, in this order: `facts`, `kernels MODEL CONTRACT`, `answers MODEL CONTRACT`, `table MODEL
CONTRACT`, `inductor MODEL CONTRACT`. Each step writes a line of JSON to FOLDER/first.jsonl
(README.md). --models names folders of bench/peers/models.py, whose outputs are also compared. With
--dry-run, an H200 is emulated, PyTorch runs on the CPU, and models are small.
"""
import collections
import concurrent.futures
import json
import os
import shutil
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import graphs
from day import CARRIED, ROOT, Day, Problem, host_facts, options_of, output_of, unpacked
from gpu import ClockWatch, Gpu

sys.path.insert(0, str(ROOT / "tools"))
import test_cuda  # noqa: E402

CONTRACTS = ("f32", "tf32", "bf16")
TIMED = ("bf16", "f32")  # accuracy modes
COMPILE_SECONDS = 60  # limit per model
VERIFY_SECONDS = 45  # per model; a step begins only with this time left
TABLE_SECONDS = 20
INDUCTOR_SECONDS = 75


def parse(arguments):
    parser = options_of(__doc__)
    parser.add_argument("--models", type=Path, nargs="*", default=[], metavar="FOLDER")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--runs", type=int, default=20, help="of a block")
    return parser.parse_args(arguments)


# -- kernels -------------------------------------------------------------------------------------


def predicted_groups(report):
    """Returns, by group, fields of the report of `tunec MODEL --json`. The predicted times of a
    group's phases are added up."""
    phases = collections.defaultdict(list)
    for phase in report["predicted"] or []:
        phases[phase["group"]].append(phase)
    groups = {}
    for kernel in report["kernels"]:
        if "group" not in kernel:  # a copy
            continue
        own = phases[kernel["group"]]
        slowest = max(own, key=lambda phase: phase["predicted_ms"] or 0, default={})
        groups[kernel["group"]] = {
            **{key: kernel[key] for key in ("group", "name", "kind", "count", "flops", "bytes", "arithmetic")},
            "predicted_us": 1e3 * sum(phase["predicted_ms"] or 0 for phase in own),
            "bound": slowest.get("predicted_bound"), "in_run_ms": kernel.get("each_ms"),
            "phases": [{key: phase[key] for key in ("blocks", "threads", "registers", "shared_bytes")}
                       for phase in own]}
    return groups


def group_of(path):
    """Returns the group's number in the name of a file of `tunec show --dump`, such as
    007-933977174ec50378.kernel."""
    return int(Path(path).name.split("-")[0])


def measured_groups(lines):
    """Returns, by group, the output of `tunec-kernels time`."""
    rows = [json.loads(line) for line in lines.splitlines() if line.strip()]
    return {group_of(row["kernel"]): row for row in rows}


def joined(groups, measured):
    """Adds the measured times to the predictions. Returns the groups, the costliest of the model
    first."""
    for number, group in groups.items():
        row = measured.get(number, {})
        group["measured_us"] = row.get("median_us")
        if "error" in row:
            group["problem"] = row["error"]
    return sorted(groups.values(), key=lambda g: -(g["measured_us"] or g["predicted_us"]) * g["count"])


def total(kernels, key):
    """Returns the sum of the time `key` over a run of the model, or None if a kernel lacks it."""
    if any(kernel[key] is None for kernel in kernels):
        return None
    return sum(kernel[key] * kernel["count"] for kernel in kernels)


class Kernels:
    """A measurement of every kernel of a model, beside the prediction of the kernel's time."""

    def __init__(self, day, programs, gpu):
        self.day, self.programs, self.gpu = day, programs, gpu

    def run(self, program, *arguments, check=True):
        return output_of([self.programs / program, *arguments], self.day.at_most(COMPILE_SECONDS), check)

    def of(self, network, contract):
        folder = CARRIED / "kernels" / f"{network.name}-{contract}"
        shutil.rmtree(folder, ignore_errors=True)
        arguments = [graphs.file_of(network), "--random-weights", graphs.SEED, "--no-db", "--accuracy", contract,
                     "--target", "cuda", "--arch", self.gpu.arch, "--gpu", self.gpu.part]
        report = json.loads(self.run("tunec", *arguments, "--json"))
        groups, clocks = predicted_groups(report), None
        measured = {}
        if not self.gpu.emulated:
            self.run("tunec", "show", *arguments, "--dump", folder)
            with ClockWatch(self.gpu) as watch:
                measured = measured_groups(
                    self.run("tunec-kernels", "time", *sorted(folder.glob("*.kernel")), check=False))
            clocks = watch.summary()
        kernels = joined(groups, measured)
        return {"launches": report["launches"], "phases": report["phases"], "latency": report.get("latency"),
                "predicted_us": total(kernels, "predicted_us"), "measured_us": total(kernels, "measured_us"),
                "clocks": clocks, "kernels": kernels}


# -- answers -------------------------------------------------------------------------------------


def expected_of(network):
    """Returns a file with the network's float64 outputs: the repository's, or computed by
    PyTorch."""
    path = graphs.stored_outputs(network)
    if path is not None:
        return path
    path = CARRIED / "models" / f"{network.name}.npz"
    if not path.is_file():
        import in_torch
        in_torch.write_expected(network, path)
    return path


class Answers:
    """A verification of several models in parallel, because most of the time is compilation."""

    def __init__(self, day, programs, gpu):
        self.day, self.tunec, self.gpu = day, programs / "tunec", gpu

    def target(self):
        return ["--arch", self.gpu.arch, *(["--emulate"] if self.gpu.emulated else [])]

    def verify(self, name, arguments, contract):
        began = time.monotonic()
        options = SimpleNamespace(tunec=self.tunec, limit=self.day.at_most(VERIFY_SECONDS * 3))
        end, line = test_cuda.verify(options, name, [*arguments, "--skip-reference"], "--accuracy", contract,
                                     *self.target())
        words = line.split(": ", 1)[-1]
        if end != "right":
            raise Problem(f"{end}: {words}")
        return {"words": words, "seconds": round(time.monotonic() - began, 1)}

    def run(self, models):
        """Stores a result for each model and accuracy mode. `models`: pairs of a name and the
        arguments of `tunec verify`, or a function that returns them."""
        pending = [(name, arguments, contract) for name, arguments in models for contract in CONTRACTS
                   if not self.day.is_done(f"answers {name} {contract}")]
        with concurrent.futures.ThreadPoolExecutor(max(1, (os.cpu_count() or 1) // 2)) as pool:
            running = {}
            for name, arguments, contract in pending:
                if self.day.left() > VERIFY_SECONDS and self.day.is_asked(f"answers {name} {contract}"):
                    given = arguments() if callable(arguments) else arguments
                    running[name, contract] = pool.submit(self.verify, name, given, contract)
            for (name, contract), run in running.items():
                self.day.step(f"answers {name} {contract}", 0, run.result)
        for name, _, contract in pending:
            if (name, contract) not in running:
                self.day.step(f"answers {name} {contract}", float("inf"), None)


def models_of(networks, folders):
    """Returns names and arguments of all verified models, the small ones first."""
    def arguments_of(network):
        return lambda: [graphs.file_of(network), "--random-weights", graphs.SEED, "--expected", expected_of(network)]
    models = [(network.name, arguments_of(network)) for network in networks]
    for name, folder, _ in test_cuda.read_index(folders):
        models.append((f"onnx {name}", [folder / f"{name}.onnx", "--expected", folder / f"{name}.npz"]))
    return models


# -- the table -----------------------------------------------------------------------------------


def table_row(network, contract, names, options, gpu, folder):
    """Returns the times of tunec and PyTorch in rounds. Outputs of both are checked against
    float64."""
    import numpy as np

    import peers_of_graphs
    with np.load(expected_of(network)) as stored:
        arrays = dict(stored)
    case = peers_of_graphs.GraphCase(network, contract, arrays, "cpu" if gpu.emulated else "cuda")
    settings = SimpleNamespace(library=folder / "lib/libtunec.so", target=gpu.settings(), rounds=options.rounds,
                               runs=options.runs)
    with ClockWatch(gpu) as watch:
        rows = peers_of_graphs.compare(case, settings, names)
    return {"rounds": options.rounds, "runs": options.runs, "clocks": watch.summary(), "peers": rows}


def facts(gpu, folder):
    return {"gpu": gpu.facts, **host_facts(folder)}


def main(arguments):
    options = parse(arguments)
    gpu, folder = Gpu(emulated=options.dry_run), unpacked()
    day = Day("first", gpu.name, options)
    large = graphs.small_networks() if options.dry_run else graphs.networks()
    timed = large[3:5] if options.dry_run else large[:3]  # BERT, GPT-2, and a ResNet
    operators = graphs.small_operators() if options.dry_run else graphs.operators()
    if options.dry_run:
        options.rounds, options.runs = 2, 2
    day.step("facts", 0, lambda: facts(gpu, folder))
    for contract in TIMED:
        for network in timed:
            day.step(f"kernels {network.name} {contract}", 20,
                     lambda: Kernels(day, folder / "bin", gpu).of(network, contract))
    tested = graphs.small_networks() + operators + ([] if options.dry_run else large)
    Answers(day, folder / "bin", gpu).run(models_of(tested, options.models))
    steps = [(word, names, seconds, network, contract)
             for word, names, seconds, chosen in (("table", ("tunec", "torch"), TABLE_SECONDS, timed + operators),
                                                  ("inductor", ("tunec", "inductor"), INDUCTOR_SECONDS, timed))
             for contract in TIMED for network in chosen]
    for word, names, seconds, network, contract in steps:
        if word == "table" or not gpu.emulated:
            day.step(f"{word} {network.name} {contract}", seconds,
                     lambda: table_row(network, contract, names, options, gpu, folder))
    return day.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
