#!/usr/bin/env python3
"""Measures a CPU with many cores and AMX: results of instructions, networks in tunec and its peers,
and numbers of threads.

    cpu16.py [--out FOLDER] [--seconds N] [--only WORD,...] [--threads N] [--dry-run]

Steps, in this order: `facts`, `vectors TYPE` (the golden vectors of AMX, also written to FOLDER),
`class MODEL` (tunec in its accuracy modes beside ONNX Runtime and PyTorch), `threads MODEL N`,
`inductor MODEL`. Each step writes a line of JSON to FOLDER/cpu16.jsonl (README.md). With --dry-run,
models are small, and at most two threads are used.
"""
import concurrent.futures
import json
import os
import subprocess
import sys

from day import CARRIED, ROOT, Day, Problem, host_facts, options_of, output_of, unpacked

PEERS = ROOT / "bench/peers"
VECTORS = ROOT / "tests/amx_vectors"
RECORDER = CARRIED / "amx_vectors"
NINE = ("bert_base", "resnet50", "gpt2_small", "vit_b_16", "mixer_s_16", "resnet18", "mobilenet_v2", "unet_small",
        "vgg16")
CLASS = "tunec,tunec-bf16,tunec-no-amx,ort,torch,torch-bf16"
INDUCTOR = "tunec,tunec-bf16,inductor,inductor-bf16"
SCALED = ("bert_base", "resnet50")
SCALING = "tunec,tunec-bf16,ort"
DRY = "tunec,tunec-bf16,ort,torch"
EXPORT_SECONDS = 100
CLASS_SECONDS, SCALING_SECONDS, INDUCTOR_SECONDS = 30, 15, 90  # a step begins only with this time left
NO_AMX = 2  # exit code of amx_vectors


def parse(arguments):
    parser = options_of(__doc__)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), metavar="N")
    return parser.parse_args(arguments)


# -- the instructions ----------------------------------------------------------------------------


def elements_of(text):
    """Returns, for each argument of a file of vectors, its elements as words."""
    arguments, name = {}, None
    for line in text.splitlines()[2:]:
        words = line.split()
        if len(words) == 3 and words[2].isdigit() and words[1] in ("bf16", "f32", "u8", "i8", "i32"):
            name = words[0]
            arguments[name] = []
        elif name is not None:
            arguments[name] += words
    return arguments


def is_nan(word):
    return len(word) == 8 and int(word, 16) & 0x7fffffff > 0x7f800000


def differences(stored, recorded, floats):
    """Returns the number of results, the number of those with different bits, and the first
    different pair. If `floats`, all NaNs count as equal."""
    pairs = list(zip(elements_of(stored)["D"], elements_of(recorded)["D"], strict=True))
    different = [pair for pair in pairs if pair[0] != pair[1]]
    return {"results": len(pairs),
            "different": sum(not (floats and is_nan(old) and is_nan(new)) for old, new in different),
            "first": next(iter(different), None)}


def vectors(kind, out, may_lack):
    """Runs the instruction on the stored operands, and writes its results to the folder `out`."""
    path = VECTORS / f"{kind}.vectors"
    done = subprocess.run([str(RECORDER), str(path)], capture_output=True, text=True, timeout=30, check=False)
    if done.returncode == NO_AMX and may_lack:
        return {"recorded": False, "why": done.stderr.strip()}
    if done.returncode != 0:
        raise Problem(done.stderr.strip() or f"exit code {done.returncode}")
    (out / path.name).write_text(done.stdout)
    return {"recorded": True, **differences(path.read_text(), done.stdout, floats=kind == "bf16")}


# -- networks ------------------------------------------------------------------------------------


def folder_of(model):
    """Returns the folder of an exported model. Each model has its own, so that exports can run in
    parallel."""
    return CARRIED / "onnx" / model


class Exports:
    """Models of bench/peers as ONNX. The first call of `need` exports all of them, several at a time."""

    def __init__(self, day, models):
        self.day, self.models, self.problems = day, models, None

    def need(self, model):
        """Returns the model's folder. Raises Problem with the reason if the export failed."""
        if self.problems is None:
            with concurrent.futures.ThreadPoolExecutor(max(1, (os.cpu_count() or 1) // 3)) as pool:
                self.problems = dict(zip(self.models, pool.map(self.export, self.models)))
        if self.problems[model]:
            raise Problem(f"{model} was not exported: {self.problems[model]}")
        return folder_of(model)

    def export(self, model):
        """Exports a model. Returns the error, or None."""
        if (folder_of(model) / "index.json").is_file():
            return None
        try:
            output_of([sys.executable, "-B", PEERS / "models.py", folder_of(model), "--only", model],
                      self.day.at_most(EXPORT_SECONDS), environment={"OMP_NUM_THREADS": "4"})
        except Problem as problem:
            return str(problem)
        return None


class Rounds:
    """A runner of bench/peers/peers.py, which checks the outputs and times interleaved rounds."""

    def __init__(self, day, folder, exports, rounds):
        self.day, self.exports, self.rounds = day, exports, rounds
        self.environment = {"TUNEC_LIB": str(folder / "lib/libtunec.so"), "TUNEC_DB": str(CARRIED / "cpu.db")}

    def run(self, model, peers, threads):
        models = self.exports.need(model)
        path = CARRIED / "rounds.json"
        path.unlink(missing_ok=True)
        output_of([sys.executable, "-B", PEERS / "peers.py", models, "--models", model, "--peers", peers,
                   "--threads", threads, "--rounds", self.rounds, "--trials", 0, "--retries", 1, "--json", path],
                  self.day.at_most(EXPORT_SECONDS), environment=self.environment)
        rows = json.loads(path.read_text())["models"][model]
        if all("error" in row for row in rows.values()):
            raise Problem(next(iter(rows.values()))["error"])
        return {"threads": threads, "rounds": self.rounds, "peers": rows}


def counts(most):
    """Returns 1, 2, 4, ... and the maximum."""
    found = [1]
    while 2 * found[-1] < most:
        found.append(2 * found[-1])
    return found + ([most] if most > 1 else [])


def main(arguments):
    options = parse(arguments)
    folder = unpacked()
    facts = host_facts(folder)
    day = Day("cpu16", facts["processor"]["name"], options)
    nine = ("bert_small", "unet_gn") if options.dry_run else NINE
    scaled = nine[:1] if options.dry_run else SCALED
    day.step("facts", 0, lambda: facts)
    for kind in ("bf16", "int8"):
        day.step(f"vectors {kind}", 5, lambda: vectors(kind, options.out, options.dry_run))
    peers = DRY if options.dry_run else CLASS
    timed = ([(f"class {model}", CLASS_SECONDS, model, peers, options.threads) for model in nine] +
             [(f"threads {model} {count}", SCALING_SECONDS, model, SCALING, count)
              for model in scaled for count in counts(options.threads)] +
             [(f"inductor {model}", INDUCTOR_SECONDS, model, INDUCTOR, options.threads) for model in nine])
    if options.dry_run:
        timed = [step for step in timed if step[3] != INDUCTOR]
    pending = [model for step, _, model, *_ in timed if day.is_asked(step) and not day.is_done(step)]
    rounds = Rounds(day, folder, Exports(day, list(dict.fromkeys(pending))), 2 if options.dry_run else 5)
    for step, seconds, model, peers, threads in timed:
        day.step(step, seconds, lambda: rounds.run(model, peers, threads))
    return day.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
