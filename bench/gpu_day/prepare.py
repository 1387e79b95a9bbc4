#!/usr/bin/env python3
"""Collects the files for a machine with a GPU, prints how to run them there, and tests them here.

    prepare.py [--archive FILE] [--dry-run] [--python PROGRAM]

If there is neither an archive of the command nor FILE, `tools/dev pack` makes an archive. The
checkout is transferred, and some files of `build-gpu-day`, which git ignores. --dry-run copies
exactly these files to a temporary folder. There it runs first.sh and cpu16.sh in an empty
environment. A GPU is emulated. PROGRAM is a Python with torch, onnx and onnxruntime.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from day import ARCHIVE, CARRIED, ROOT

MOST_MEBIBYTES = 60
RECORDER = "amx_vectors"
SCRIPTS = ("first", "cpu16")
DRY_SECONDS = 1800  # emulated kernels are slow on a busy machine


def pack(given):
    """Copies the archive of the command to ARCHIVE. Makes the archive if `given` is None and there is
    no archive."""
    if given is None:
        made = sorted((ROOT / "build-packed").glob("tunec-*.tar.xz"))
        if not made:
            subprocess.run([ROOT / "tools/dev", "pack"], check=True)
            made = sorted((ROOT / "build-packed").glob("tunec-*.tar.xz"))
        given = made[-1]
    CARRIED.mkdir(exist_ok=True)
    shutil.copyfile(given, ARCHIVE)


def build_recorder():
    """Builds the recorder statically, because the other machine may have another libc."""
    subprocess.run(["gcc", "-O1", "-static", "-s", "-o", CARRIED / RECORDER, ROOT / f"bench/gpu_day/{RECORDER}.c"],
                   check=True)


def carried_files():
    """Returns paths in `build-gpu-day` to carry: files made here, and results of earlier calls."""
    return [path for path in (ARCHIVE, CARRIED / RECORDER, *(CARRIED / f"{name}.jsonl" for name in SCRIPTS))
            if path.is_file()]


def checkout_files():
    """Returns the files of the checkout to transfer: tracked files, and new files that are not
    ignored."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
                            capture_output=True, text=True, check=True).stdout
    return [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]


def mebibytes(files):
    return sum(path.stat().st_size for path in files) / 2**20


def say(files, carried):
    names = [str(path.relative_to(ROOT)) for path in carried]
    print(f"checkout {mebibytes(files):.1f} MiB, carried {mebibytes(carried):.1f} MiB, "
          f"at most {MOST_MEBIBYTES} MiB together")
    print("carry:", " ".join(names))
    for name in SCRIPTS:
        print(f"command: bench/gpu_day/{name}.sh        (at most 300 s; again until nothing is left)")
    print("afterwards: copy NAME.jsonl from the results to build-gpu-day, and commit what it says")


def copy_to(folder, files):
    for path in files:
        target = folder / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)


def dry_run(files, carried, python):
    """Returns the exit code: 1 if a step of a script failed."""
    code = 0
    with tempfile.TemporaryDirectory(prefix="tunec-gpu-day-") as name:
        there = Path(name) / "checkout"
        copy_to(there, files)
        # With results of earlier calls, no step would run.
        copy_to(there, [path for path in carried if path.suffix != ".jsonl"])
        for script in SCRIPTS:
            out = Path(name) / f"out-{script}"
            environment = {"PATH": "/usr/bin:/bin", "HOME": name, "OUT": str(out), "PYTHON": python}
            done = subprocess.run([there / f"bench/gpu_day/{script}.sh", "--dry-run", f"--seconds={DRY_SECONDS}"],
                                  cwd=there, env=environment, check=False)
            sizes = ", ".join(f"{path.name} {path.stat().st_size} bytes" for path in sorted(out.iterdir()))
            print(f"{script}.sh: exit code {done.returncode}; {sizes}", flush=True)
            code = max(code, done.returncode)
    return code


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--archive", type=Path, metavar="FILE", help="of `tools/dev pack`")
    parser.add_argument("--dry-run", action="store_true", help="try both scripts here")
    parser.add_argument("--python", default=os.environ.get("PYTHON", sys.executable), metavar="PROGRAM")
    options = parser.parse_args(arguments)
    pack(options.archive)
    build_recorder()
    files, carried = checkout_files(), carried_files()
    say(files, carried)
    if mebibytes(files + carried) > MOST_MEBIBYTES:
        print(f"prepare.py: error: more than {MOST_MEBIBYTES} MiB would travel", file=sys.stderr)
        return 1
    return dry_run(files, carried, options.python) if options.dry_run else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
