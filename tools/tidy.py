#!/usr/bin/env python3
"""Runs clang-tidy on compiled files, except files with a recorded clean result.

    tidy.py [--build DIR] [--tidy PROGRAM] [--jobs N] [--seconds N] FILE...

Run this script in the root of the checkout after `ninja -C DIR`. Files that are compiled together
(TUNEC_UNITY) are checked together, as one unit. clang's static analyzer checks only files that are
compiled alone. All units take about half an hour on two cores, and all files some hours, but an
interrupted run can be continued. DIR/tidy has an empty file for each clean result. Its name is a
hash of the inputs: the unit's files, included files (from ninja), the command, the .clang-tidy
files above them and the version of clang-tidy.

Prints clang-tidy's output for units with findings, in the order of the files. The exit code is 1
if there are any. With --seconds, checks end after that time, and one line has the number of units
that were not reached.
"""
import argparse
import concurrent.futures
import dataclasses
import functools
import hashlib
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

NOT_REACHED = ""  # result of a unit for which no time was left


@functools.cache
def hash_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "missing"


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
    """Returns the .clang-tidy files that apply to a file, the nearest one first."""
    folders = [folder for folder in file.parents if folder == root or root in folder.parents]
    return [folder / ".clang-tidy" for folder in folders if (folder / ".clang-tidy").is_file()]


def object_of(entry):
    """Returns the path of the object relative to the build folder, which is ninja's name for it."""
    words = entry["command"].split()
    return entry.get("output") or words[words.index("-o") + 1]


@dataclasses.dataclass
class Unit:
    """One compiled object. `sources` are its files of the checkout that are not headers."""
    file: str
    sources: list
    inputs: list  # texts and paths of everything that the result depends on

    @functools.cached_property
    def key(self):
        texts = [part if isinstance(part, str) else f"{os.path.relpath(part)} {hash_of(part)}"
                 for part in self.inputs]
        return hashlib.sha256("\n".join(texts).encode()).hexdigest()

    def command(self, options):
        """Returns the command that checks the unit. The lines of a group only include its files."""
        config = configurations(self.sources[0], Path.cwd())
        group = [] if Path(self.file) in self.sources else ["--checks=-bugprone-suspicious-include"]
        return [options.tidy, "--quiet", "-p", str(options.build), *group,
                *(f"--config-file={file}" for file in config[:1]), self.file]


def units_of(files, build, tidy):
    """Returns the units that contain any of the files, in the order of the files."""
    root = Path.cwd()
    version = output_of(tidy, "--version")
    includes = read_includes(build)
    by_source = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        used = [path for path in includes.get(object_of(entry), []) if path.suffix != ".gch"]
        sources = [path for path in used if path.suffix in (".c", ".cc") and path.is_relative_to(root)]
        if not sources:
            continue
        inputs = [version, entry["command"], *sorted(used), *configurations(sources[0], root)]
        by_source.update(dict.fromkeys(sources, Unit(entry["file"], sources, inputs)))
    found = [by_source[root / file] for file in files if root / file in by_source]
    return list({unit.file: unit for unit in found}.values())


def check(unit, options):
    """Returns clang-tidy's findings for a unit, None for a clean unit, or NOT_REACHED. Records a
    clean unit."""
    left = options.end - time.monotonic()
    if left <= 0:
        return NOT_REACHED
    try:
        done = subprocess.run(unit.command(options), capture_output=True, text=True,
                              timeout=None if math.isinf(left) else left)
    except subprocess.TimeoutExpired:
        return NOT_REACHED
    if done.returncode != 0:
        return (done.stdout + done.stderr).strip() or f"{unit.file}: exit code {done.returncode}"
    (options.build / "tidy" / unit.key).touch()
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
    units = units_of(options.files, options.build, options.tidy)
    to_do = [unit for unit in units if not (remembered / unit.key).exists()]
    print(f"{len(to_do)} of {len(units)} units are not known to be clean", flush=True)
    findings = not_reached = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for found in pool.map(lambda unit: check(unit, options), to_do):
            if found == NOT_REACHED:
                not_reached += 1
            elif found is not None:
                findings += 1
                print(found, flush=True)
    if not_reached:
        print(f"{not_reached} of {len(to_do)} units were not reached in {options.seconds:g} s", flush=True)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
