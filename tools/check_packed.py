#!/usr/bin/env python3
"""Checks a folder made by `tools/dev pack`: it needs only libc, exports only the API, and works.

    check_packed.py FOLDER

The programs run in place, without environment variables. Every problem is printed; the exit code is 1 if
there are any.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from check_binaries import hardening_problems, path_problems, readelf

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = ("bin/tunec", "bin/tunec-worker")
LIBRARY = "lib/libtunec.so"
PTXAS = "bin/ptxas"
FILES = (*PROGRAMS, LIBRARY, PTXAS, "include/tunec/tunec.h", "include/tunec/tunec.hpp",
         "lib/cmake/tunec/tunecConfig.cmake", "share/doc/tunec/LICENSE")
LIBC = re.compile(r"(libc|libm|libdl|libpthread|librt|ld-linux-x86-64)\.so\.\d+")
# NVIDIA's ptxas also needs libgcc_s, on which Debian's libc6 depends.
BESIDE_LIBC = {PTXAS: {"libgcc_s.so.1"}}
NEWEST_GLIBC = (2, 35)
NETWORK = ROOT / "tests/networks/mixer_48"


def output(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout


def check_needs(file, needed):
    """Yields a message for each needed library that does not belong to libc. `needed` is the output
    of `readelf -d` for the file."""
    for name in re.findall(r"NEEDED.*\[(.*)\]", needed):
        if not LIBC.fullmatch(name) and name not in BESIDE_LIBC.get(file, ()):
            yield f"{file} needs {name}"


def check_glibc(file, symbols):
    """Yields a message for each symbol of a glibc that is too new. `symbols` is the output of
    `objdump -T` for the file."""
    for line in symbols.splitlines():
        version = re.search(r"\(?GLIBC_(\d+)\.(\d+)[.\d]*\)?\s+(\S+)$", line)
        if version and (int(version[1]), int(version[2])) > NEWEST_GLIBC:
            yield f"{file} needs {version[3]} of glibc {version[1]}.{version[2]}"


def check_exports(file, symbols):
    """Yields a message for each unexpected export. `symbols` is the output of `nm -D
    --defined-only`. Copies of libc's variables, which a program may have, are allowed."""
    for name in (line.split()[-1] for line in symbols.splitlines()):
        if "@GLIBC_" not in name and not (file == LIBRARY and name.startswith("tunec_")):
            yield f"{file} shows {name}"


def check_files(folder):
    for file in FILES:
        if not (folder / file).exists():
            yield f"there is no {file}"
    for file in (*PROGRAMS, LIBRARY, PTXAS):
        if (folder / file).exists():
            yield from check_needs(file, output("readelf", "-d", folder / file))
            yield from path_problems(file, readelf("-d", folder / file))
            yield from check_glibc(file, output("objdump", "-T", folder / file))
    for file in (*PROGRAMS, LIBRARY):
        if (folder / file).exists():
            yield from check_exports(file, output("nm", "-D", "--defined-only", folder / file))


def check_hardening(folder):
    for file in (*PROGRAMS, LIBRARY):
        if (folder / file).exists():
            yield from hardening_problems(file, readelf("-d", folder / file), readelf("-l", folder / file))


def check_run(name, *command):
    print("$", *command, flush=True)
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env={})
    if done.returncode:
        yield f"{name}: exit code {done.returncode}\n{done.stdout}{done.stderr}"


def check_runs(folder):
    """Verifies and tunes a network on the CPU and on an emulated GPU, with the included assembler
    and worker. Loads the library together with another LLVM. Yields a message for each failure."""
    tunec, expected = folder / PROGRAMS[0], ("--expected", NETWORK.with_suffix(".npz"), "--skip-reference")
    model = (NETWORK.with_suffix(".graph"), "--random-weights", "7")
    cuda = ("--target", "cuda", "--arch", "sm_90a")
    yield from check_run("verify", tunec, "verify", *model, "--no-db", *expected)
    yield from check_run("emulate", tunec, "verify", *model, "--no-db", *expected, *cuda, "--emulate")
    yield from check_run("cuda", tunec, *model, "--no-db", *cuda)
    with tempfile.TemporaryDirectory(prefix="tunec-packed-") as scratch:
        trials = ("--db", Path(scratch, "trials.db"), "--trials", "3")
        yield from check_run("tune", tunec, *model, *trials)
        yield from check_run("tune emulated", tunec, *model, *trials, *cuda, "--emulate")
    for order in ("llvm-first", "tunec-first"):
        yield from check_run(f"two LLVMs, {order}", sys.executable, "-B", ROOT / "tools/two_llvms.py",
                             folder / LIBRARY, order)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder.resolve()
    problems = [*check_files(folder), *check_hardening(folder)] or [*check_runs(folder)]
    if problems:
        print("\n".join(problems), file=sys.stderr)
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
