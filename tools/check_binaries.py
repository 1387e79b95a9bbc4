#!/usr/bin/env python3
"""Checks where programs and libraries search for other libraries, and whether they are hardened.

    check_binaries.py [--hardened] PATH...

Checks all ELF files of a folder that have a dynamic section. No element of a RUNPATH may be empty or
relative, because such an element depends on the current folder; it may begin with $ORIGIN, the file's
folder. With --hardened, each file must also be relocated before it runs, with read-only relocations.
Every problem is printed. The exit code is 1 if there are problems or no files.
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

FIXED = re.compile(r"/.*|\$(ORIGIN|\{ORIGIN\})(/.*)?")


def readelf(option, file):
    return subprocess.run(["readelf", "-W", option, str(file)], capture_output=True, text=True, check=True).stdout


def is_elf(file):
    if file.is_symlink() or not file.is_file():
        return False
    with open(file, "rb") as opened:
        return opened.read(4) == b"\x7fELF"


def files_of(path):
    """Returns the files that have a dynamic section, which the dynamic linker reads. Object files
    have none."""
    found = sorted(path.rglob("*")) if path.is_dir() else [path]
    return [file for file in found if is_elf(file) and "There is no dynamic section" not in readelf("-d", file)]


def path_problems(file, dynamic):
    """Yields a message for each bad search path. `dynamic` is the file's output of `readelf -d`."""
    for path in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", dynamic):
        for element in path.split(":"):
            if not FIXED.fullmatch(element):
                yield f"{file} looks for libraries in '{element}', which depends on the current folder: {path}"


def hardening_problems(file, dynamic, segments):
    """Yields a message for each missing kind of hardening. `dynamic` and `segments` are the outputs
    of `readelf -d` and `readelf -l` for the file."""
    if not re.search(r"\(BIND_NOW\)|\(FLAGS\).*BIND_NOW|\(FLAGS_1\).*\bNOW\b", dynamic):
        yield f"{file} binds functions while it runs (no -z now)"
    if "GNU_RELRO" not in segments:
        yield f"{file} keeps its relocations writable (no -z relro)"


def problems(file, hardened):
    dynamic = readelf("-d", file)
    yield from path_problems(file, dynamic)
    if hardened:
        yield from hardening_problems(file, dynamic, readelf("-l", file))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hardened", action="store_true")
    parser.add_argument("paths", nargs="+", type=Path)
    args = parser.parse_args()
    files = [file for path in args.paths if path.exists() for file in files_of(path)]
    found = [problem for file in files for problem in problems(file, args.hardened)]
    print("\n".join(found) if found else f"{len(files)} files are as they should be")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
