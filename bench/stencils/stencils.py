#!/usr/bin/env python3
"""Times stencils with many time steps in several forms.

tunec runs the loops as written, vectorized, with time tiling in wavefronts, and by isl's schedule.
clang and Polly compile the same loops in C. The runs of the forms alternate, in one process, on the
same arrays. Every result is compared with that of the first form."""

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import write_results  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NAMES = ["jacobi_1d", "jacobi_2d", "heat_3d", "gauss_seidel_2d"]
PLAIN = ["-O3", "-march=native", "-shared", "-fPIC"]
POLLY = ["-mllvm", "-polly"]
# Each form in C is a tuple of the name, further flags and the number of threads.
C_FORMS = [
    ("clang -O3", [], 1),
    ("clang, Polly", POLLY, 1),
    ("clang, Polly in vectors", POLLY + ["-mllvm", "-polly-vectorizer=stripmine"], 1),
    ("clang, Polly, 2 threads",
     POLLY + ["-mllvm", "-polly-parallel", "-mllvm", "-polly-vectorizer=stripmine", "-lgomp"], 2),
    ("clang, Polly untiled, 2 threads",
     POLLY + ["-mllvm", "-polly-tiling=false", "-mllvm", "-polly-parallel", "-lgomp"], 2),
]
# The tolerance allows other roundings, since a compiler may contract a product and a sum.
TOLERANCE = 1e-5


def gomp_folder() -> list[str]:
    library = subprocess.run(["gcc", "-print-file-name=libgomp.so"], capture_output=True, text=True,
                             check=True).stdout.strip()
    return ["-L" + os.path.dirname(library)]


def compile_c(compiler: str, name: str, folder: pathlib.Path) -> list[tuple[str, str, int]]:
    """Compiles NAME.c in each form. Returns tuples of label, path of the shared object and threads.
    A form that does not compile is reported and omitted."""
    forms = []
    for number, (label, flags, threads) in enumerate(C_FORMS):
        target = folder / f"{name}.{number}.so"
        command = [compiler, *PLAIN, str(HERE / f"{name}.c"), "-o", str(target), *gomp_folder(), *flags]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0:
            forms.append((label, str(target), threads))
        else:
            print(f"{label}: {done.stderr.strip().splitlines()[0]}", file=sys.stderr)
    return forms


def tunec_forms(name: str) -> list[tuple[str, str, int]]:
    forms = [("tunec, as written", "naive", 1)]
    for label, part, threads in [("tunec, vectors", "vectors", 1), ("tunec, tiles in waves", "tiles", 2)]:
        file = HERE / f"{name}.{part}.sched"
        if file.exists():
            forms.append((label, str(file), threads))
    return forms + [("tunec, isl's schedule", "automatic", 2)]


def measure(program: str, name: str, forms, rounds: int) -> list[dict]:
    arguments = [f"{label}={file}" for label, file, _ in forms]
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "GOMP_SPINCOUNT": "10000"}
    done = subprocess.run([program, str(rounds), str(HERE / f"{name}.compute"), *arguments],
                          capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"{name}: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def report(name: str, forms, results: list[dict]) -> bool:
    reference = min(next(r for r in results if r["name"] == "clang -O3")["milliseconds"])
    print(f"\n{name}\n{'':34}threads   median    least     most   clang -O3 / least   difference")
    right = True
    for (label, _, threads), result in zip(forms, results):
        times = result["milliseconds"]
        wrong = not result["difference"] <= TOLERANCE
        right &= not wrong
        print(f"{label:34}{threads:7} {statistics.median(times):8.1f} {min(times):8.1f} {max(times):8.1f}"
              f" {reference / min(times):19.2f} {result['difference']:12.2g}{'  WRONG' if wrong else ''}")
    return right


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(NAMES)} (default: all)")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--compiler", default="clang-22")
    parser.add_argument("--program", default=str(ROOT / "build/bin/bench_stencils"))
    write_results.add_option(parser)
    arguments = parser.parse_args()
    with write_results.recorded(arguments):
        return compare(arguments)


def compare(arguments) -> int:
    """Measures the stencils and prints their tables. Returns the exit code."""
    version = subprocess.run([arguments.compiler, "--version"], capture_output=True, text=True,
                             check=True).stdout.splitlines()[0]
    print(f"{platform.machine()}, {os.cpu_count()} processors; {version}, {' '.join(PLAIN[:2])}; milliseconds")
    right = True
    for name in arguments.names or NAMES:
        with tempfile.TemporaryDirectory() as folder:
            forms = tunec_forms(name) + compile_c(arguments.compiler, name, pathlib.Path(folder))
            right &= report(name, forms, measure(arguments.program, name, forms, arguments.rounds))
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
