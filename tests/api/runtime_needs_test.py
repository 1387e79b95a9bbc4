#!/usr/bin/env python3
"""Checks that libtunec_runtime.so is small and depends on the C and C++ libraries alone. It must
export the functions of the compiler's library except tunec_compile* and those of graph.h, and no
others.

    runtime_needs_test.py LIBRARY COMPILER_LIBRARY [--any-size]

--any-size leaves out the checks of size and dependences, for builds with a sanitizer.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HEADERS = Path(__file__).resolve().parents[2] / "api/include/tunec"
MOST_BYTES = 520_000
NEEDED = r"lib(c|m|stdc\+\+|gcc_s)\.so\.\d+|ld-linux-x86-64\.so\.2"


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def exports(library):
    return {line.split()[-1].split("@")[0]
            for line in output("nm", "-D", "--defined-only", library).splitlines()}


def declared(header):
    return set(re.findall(r"TUNEC_API [^;(]*?(tunec_\w+)\(", (HEADERS / header).read_text()))


def check_needs(library):
    for name in re.findall(r"NEEDED.*\[(.*)\]", output("readelf", "-d", library)):
        if not re.fullmatch(NEEDED, name):
            yield f"it needs {name}"


def check_size(library):
    with tempfile.TemporaryDirectory() as folder:
        stripped = Path(folder) / "stripped.so"
        subprocess.run(["strip", "--strip-unneeded", "-o", stripped, library], check=True)
        size = stripped.stat().st_size
    print(f"{size} bytes")
    if size > MOST_BYTES:
        yield f"it has {size} bytes, expected at most {MOST_BYTES}"


def check_exports(library, compiler):
    here, all_of_them = exports(library), exports(compiler)
    for name in sorted(all_of_them - here - declared("graph.h")):
        if not name.startswith("tunec_compile"):
            yield f"it lacks {name}"
    for name in sorted(here - all_of_them):
        yield f"{name} is its own"
    for name in sorted(here - declared("tunec.h")):
        yield f"{name} is not in tunec.h"


def main():
    library, compiler, *flags = sys.argv[1:]
    problems = [*check_exports(library, compiler)]
    if "--any-size" not in flags:  # given for sanitizer builds
        problems += [*check_needs(library), *check_size(library)]
    print("\n".join(problems))
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
