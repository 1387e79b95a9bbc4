#!/usr/bin/env python3
"""Times the kernels of PolyBench in several forms. tunec compiles each without trials, on one
thread and on two, and also its loops as written; gcc, clang and Polly compile the same kernel in C.
The runs of the forms alternate, in one process, on the same arrays. Every result is compared with
gcc's, except elements in which gcc and clang differ. A C form with wrong results is omitted from
the ratios."""

import argparse
import json
import math
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import write_results  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NAMES = sorted(path.stem for path in HERE.glob("*.compute"))
FLAGS = ["-O3", "-march=native", "-ffast-math", "-shared", "-fPIC"]
POLLY = ["-mllvm", "-polly", "-mllvm", "-polly-vectorizer=stripmine"]
PARALLEL = ["-mllvm", "-polly-parallel", "-lgomp"]
GCC, CLANG = "gcc", "clang-22"
# Each form in C is a tuple of the name, the compiler, further flags and the number of threads.
C_FORMS = [
    ("gcc", GCC, [], 1),
    ("clang", CLANG, [], 1),
    ("Polly", CLANG, POLLY, 1),
    ("Polly 2", CLANG, POLLY + PARALLEL, 2),
    ("Polly untiled 2", CLANG, POLLY + PARALLEL + ["-mllvm", "-polly-tiling=false"], 2),
]
TUNEC_FORMS = [("tunec 1", 1, "auto"), ("tunec 2", 2, "auto"), ("as written", 1, "naive")]
TOLERANCE = {"f64": 1e-9, "f32": 1e-4, "i32": 0}
DECLARATION = re.compile(r"^  (?:input|output|workspace) (\w+): (\w+)\[([\d, ]+)\]", re.MULTILINE)
STATEMENT = re.compile(r"^  (\w+)\[([^\]]*)\](?: where .*)?:$", re.MULTILINE)


def sizes(text: str) -> list[str]:
    """Returns options of the C compiler that define sizes: `A_0` is the extent of dimension 0 of
    tensor A, `A_t` that of iterator t of statement A."""
    defined = []
    for name, _, shape in DECLARATION.findall(text):
        defined += [f"-D{name}_{d}={extent.strip()}" for d, extent in enumerate(shape.split(","))]
    for name, iterators in STATEMENT.findall(text):
        for iterator in iterators.split(","):
            variable, extent = iterator.split(":")
            defined.append(f"-D{name}_{variable.strip()}={extent.split()[0]}")
    return defined


def gomp_folder() -> list[str]:
    library = subprocess.run([GCC, "-print-file-name=libgomp.so"], capture_output=True, text=True,
                             check=True).stdout.strip()
    return ["-L" + os.path.dirname(library)]


def compile_c(name: str, text: str, forms, folder: pathlib.Path) -> list[tuple[str, int, str]]:
    """Compiles NAME.c in each form. Returns tuples of label, threads and path of the shared object.
    A form that does not compile is reported and omitted."""
    made = []
    for label, compiler, flags, threads in forms:
        target = folder / f"{name}.{len(made)}.so"
        libraries = gomp_folder() if "-lgomp" in flags else []
        command = [compiler, *FLAGS, *sizes(text), str(HERE / f"{name}.c"), "-o", str(target), *libraries,
                   *flags, "-lm"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0:
            made.append((label, threads, str(target)))
        else:
            print(f"{name}: {label}: {done.stderr.strip().splitlines()[0]}", file=sys.stderr)
    return made


def measure(program: str, compute: pathlib.Path, forms, rounds: int) -> list[dict]:
    arguments = [f"{label}={threads}:{file}" for label, threads, file in forms]
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "GOMP_SPINCOUNT": "10000"}
    done = subprocess.run([program, str(rounds), str(compute), *arguments], capture_output=True, text=True,
                          env=environment)
    if done.returncode != 0:
        sys.exit(f"{compute.stem}: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def is_wrong(result: dict, text: str) -> bool:
    allowed = max(TOLERANCE[element] for _, element, _ in DECLARATION.findall(text))
    return not result["difference"] <= allowed


def remarks(results: list[dict], text: str) -> list[str]:
    """Returns the forms with wrong results, and the share of undecided elements."""
    found = [f"{result['name']} is off by {result['difference']:.2g}" for result in results
             if is_wrong(result, text)]
    if results[0]["undecided"] > 0:
        found.append(f"gcc and clang differ in {results[0]['undecided']:.2%} of the elements")
    return found


class Table:
    """A table with a line per kernel: the least milliseconds of each form, and the best C over tunec."""

    def __init__(self, forms):
        self.tunec = [form[0] for form in TUNEC_FORMS]
        self.labels = self.tunec + [form[0] for form in forms]
        self.single = [form[0] for form in forms if form[3] == 1]
        self.every = [form[0] for form in forms]
        self.ratios = {1: [], 2: []}
        print("| kernel | " + " | ".join(self.labels) + " | best C / 1 | best C / 2 |")
        print("| --- |" + " ---: |" * (len(self.labels) + 2))

    def add(self, name: str, results: list[dict], text: str) -> None:
        least = {result["name"]: min(result["milliseconds"]) for result in results
                 if result["name"] not in self.every or not is_wrong(result, text)}
        cells = [f"{least[label]:.3g}" if label in least else "-" for label in self.labels]
        for threads, labels in ((1, self.single), (2, self.every)):
            best = min(least[label] for label in labels if label in least)
            self.ratios[threads].append(best / least[f"tunec {threads}"])
            cells.append(f"{self.ratios[threads][-1]:.2f}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)

    def close(self) -> None:
        for threads, ratios in self.ratios.items():
            mean = math.exp(statistics.mean(math.log(ratio) for ratio in ratios))
            print(f"\nbest C / tunec on {threads}: geometric mean {mean:.2f} of {len(ratios)}")


def compare_small(program: str, compiler: str, names: list[str]) -> int:
    """Compares every form of tunec with plain C, at small sizes, without timing. Returns the exit
    code."""
    failures = []
    for name in names:
        compute = HERE / "small" / f"{name}.compute"
        text = compute.read_text()
        with tempfile.TemporaryDirectory() as folder:
            forms = compile_c(name, text, [("C", compiler, ["-O1"], 1)], pathlib.Path(folder))
            if not forms:
                return 1
            forms += [(label, threads, schedule) for label, threads, schedule in TUNEC_FORMS]
            results = measure(program, compute, forms, 0)
            failures += [f"{name}: {what}" for what in remarks(results, text)]
    print("\n".join(failures) or f"{len(names)} kernels agree")
    return 1 if failures else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="kernels (default: all)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--program", default=str(ROOT / "build/bin/bench_polybench"))
    parser.add_argument("--small", metavar="CC", help="only compare results at small sizes, with this compiler")
    write_results.add_option(parser)
    arguments = parser.parse_args()
    names = arguments.names or NAMES
    if arguments.small:
        return compare_small(arguments.program, arguments.small, names)
    with write_results.recorded(arguments):
        return compare(arguments, names)


def compare(arguments, names: list[str]) -> int:
    """Measures the kernels and prints the table. Returns the exit code."""
    print(f"{platform.machine()}, {os.cpu_count()} processors; {' '.join(FLAGS[:3])}; least milliseconds of "
          f"{arguments.rounds} rounds\n")
    table = Table(C_FORMS)
    said = []
    failed = False
    for name in names:
        compute = HERE / f"{name}.compute"
        text = compute.read_text()
        with tempfile.TemporaryDirectory() as folder:
            forms = compile_c(name, text, C_FORMS, pathlib.Path(folder))
            forms += [(label, threads, schedule) for label, threads, schedule in TUNEC_FORMS]
            results = measure(arguments.program, compute, forms, arguments.rounds)
        said += [f"{name}: {what}" for what in remarks(results, text)]
        failed |= any(is_wrong(result, text) for result in results if result["name"] in table.tunec)
        table.add(name, results, text)
    table.close()
    print("\n".join(said))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
