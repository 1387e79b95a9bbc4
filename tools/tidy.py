#!/usr/bin/env python3
"""Runs clang-tidy on compiled files, except files with a recorded clean result.

    tidy.py [--build DIR] [--tidy PROGRAM] [--jobs N] [--seconds N] FILE...

Run this script in the root of the checkout after `ninja -C DIR`. All files take most of an hour on
two cores, but an interrupted run can be continued. DIR/tidy has an empty file for each clean
result. Its name is a hash of the inputs: the file, included files (from ninja), the command, the
.clang-tidy files above it and the version of clang-tidy.

Prints clang-tidy's output for files with findings. The exit code is 1 if there are any. With
--seconds, checks end after that time, and one line has the number of files that were not reached.
"""
import argparse
import concurrent.futures
import functools
import hashlib
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

NOT_REACHED = ""  # result of a file for which no time was left


@functools.cache
def hash_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def read_includes(build):
    """Returns, by ninja's name of each object, the source file and all files that it includes."""
    includes, files = {}, []
    for line in output_of("ninja", "-C", str(build), "-t", "deps").splitlines():
        if line.startswith("    "):
            files.append((build / line.strip()).resolve())
        elif ": #deps" in line:
            files = includes[line.split(": #deps")[0]] = []
    return includes


def configurations(file, root):
    folders = [folder for folder in file.parents if folder == root or root in folder.parents]
    return [folder / ".clang-tidy" for folder in folders if (folder / ".clang-tidy").is_file()]


def object_of(entry):
    """Returns the path of the object relative to the build folder, which is ninja's name for it."""
    words = entry["command"].split()
    return entry.get("output") or words[words.index("-o") + 1]


def keys_of(files, build, tidy):
    """Yields (file, key) for each file. The key is None if the build did not compile the file."""
    root = Path.cwd()
    version = output_of(tidy, "--version")
    includes = read_includes(build)
    entries = {Path(entry["file"]): entry
               for entry in json.loads((build / "compile_commands.json").read_text())}
    for file in files:
        entry = entries.get(root / file)
        if entry is None or object_of(entry) not in includes:
            yield file, None
            continue
        parts = [version, entry["command"]]
        for path in sorted(includes[object_of(entry)]) + configurations(root / file, root):
            parts += [os.path.relpath(path, root), hash_of(path)]
        yield file, hashlib.sha256("\n".join(parts).encode()).hexdigest()


def check(file, key, options):
    """Returns clang-tidy's findings for a file, None for a clean file, or NOT_REACHED. Records a
    clean file."""
    left = options.end - time.monotonic()
    if left <= 0:
        return NOT_REACHED
    try:
        done = subprocess.run([options.tidy, "--quiet", "-p", str(options.build), file],
                              capture_output=True, text=True, timeout=None if math.isinf(left) else left)
    except subprocess.TimeoutExpired:
        return NOT_REACHED
    if done.returncode != 0:
        return (done.stdout + done.stderr).strip() or f"{file}: exit code {done.returncode}"
    if key is not None:
        (options.build / "tidy" / key).touch()
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=Path("build"))
    parser.add_argument("--tidy", default="clang-tidy")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    options.end = time.monotonic() + options.seconds
    remembered = options.build / "tidy"
    remembered.mkdir(exist_ok=True)
    keys = list(keys_of(options.files, options.build, options.tidy))
    to_do = [(file, key) for file, key in keys if key is None or not (remembered / key).exists()]
    print(f"{len(to_do)} of {len(keys)} files are not known to be clean", flush=True)
    findings = not_reached = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for found in pool.map(lambda each: check(*each, options), to_do):
            if found == NOT_REACHED:
                not_reached += 1
            elif found is not None:
                findings += 1
                print(found, flush=True)
    if not_reached:
        print(f"{not_reached} of {len(to_do)} files were not reached in {options.seconds:g} s", flush=True)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
