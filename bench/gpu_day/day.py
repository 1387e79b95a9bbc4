"""Runs steps once, for the scripts that run on a lent machine.

A result is a line of JSON. It is written immediately, to the folder of results and to
`build-gpu-day`. The next call looks for results in both folders. A step that failed, or that did
not fit into the time, is repeated.
"""
import argparse
import contextlib
import hashlib
import importlib.metadata
import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# A folder that git ignores. It has carried files, unpacked and built files, and earlier results.
CARRIED = ROOT / "build-gpu-day"
ARCHIVE = CARRIED / "tunec.tar.xz"
SECONDS = 285  # a call ends after this time
LEFT_OUT = "no time left"
PACKAGES = ("torch", "triton", "numpy", "onnx", "onnxruntime", "openvino")


class Problem(Exception):
    """The reason why a step has no result, in one line."""


def options_of(description):
    """Returns a parser with the options of all scripts."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(os.environ.get("OUT", CARRIED / "out")), metavar="FOLDER",
                        help="where results are written (default: $OUT)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"of the whole call (default: {SECONDS})")
    parser.add_argument("--only", default="", metavar="WORD,...", help="steps whose names begin with one of these")
    parser.add_argument("--dry-run", action="store_true", help="small models, and nothing that this machine lacks")
    return parser


def unpacked():
    """Returns the folder of the packed command, and unpacks the command if necessary."""
    folder = CARRIED / f"tunec-{digest(ARCHIVE)}"
    if not folder.is_dir():
        aside = CARRIED / f"unpacking-{os.getpid()}"
        with tarfile.open(ARCHIVE) as archive:
            # Older Pythons have no data_filter.
            archive.extraction_filter = getattr(tarfile, "data_filter", None)
            archive.extractall(aside)
        [made] = aside.iterdir()
        made.rename(folder)
        aside.rmdir()
    return folder


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def output_of(command, seconds=None, check=True, environment=None):
    """Returns the output of a program. Raises Problem if the program cannot be started, does not
    end within `seconds`, or (if `check`) fails; then the message has the last line of its standard
    error."""
    words = [str(word) for word in command]
    name = Path(words[0]).name
    try:
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   start_new_session=True, env={**os.environ, **(environment or {})})
    except OSError as error:
        raise Problem(f"{words[0]}: {error.strerror}") from None
    try:
        output, messages = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        # The program's child processes would disturb the next step, so the whole group is killed.
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise Problem(f"{name}: no end within {seconds:.0f} s") from None
    if check and process.returncode != 0:
        lines = messages.strip().splitlines() or ["no message"]
        raise Problem(f"{name}: exit code {process.returncode}: {lines[-1]}")
    return output


def processor():
    """Returns the name of the first processor, its AVX and AMX features, and the number of
    processors."""
    text = Path("/proc/cpuinfo").read_text()
    first = dict(tuple(part.strip() for part in line.split(":", 1))
                 for line in text.split("\n\n")[0].splitlines() if ":" in line)
    flags = first.get("flags", "").split()
    return {"name": first.get("model name", "unknown"), "processors": text.count("processor\t"),
            "flags": [flag for flag in flags if flag.startswith(("amx", "avx"))]}


def host_facts(folder):
    """Returns the processor, and the versions of Python, the compared packages and tunec."""
    versions = {}
    for package in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    return {"processor": processor(), "python": sys.version.split()[0], **versions,
            "tunec": output_of([folder / "bin/tunec", "--version"]).strip()}


class Day:
    """The steps of one script. A stored result is valid only for the same build and the same
    `machine`."""

    def __init__(self, name, machine, options):
        self.began, self.dry = time.monotonic(), options.dry_run
        self.seconds, self.only = options.seconds, [word for word in options.only.split(",") if word]
        self.identity = {"build": digest(ARCHIVE), "machine": machine}
        self.paths = [options.out / f"{name}.jsonl", CARRIED / f"{name}.jsonl"]
        self.rows = []
        self.failed, self.left_out = 0, 0
        for path in self.paths:
            path.parent.mkdir(parents=True, exist_ok=True)
            self.rows += [row for row in read_rows(path) if row not in self.rows]
        for path in self.paths:
            path.write_text("".join(json.dumps(row) + "\n" for row in self.rows))

    def left(self):
        """Returns the remaining seconds."""
        return self.seconds - (time.monotonic() - self.began)

    def at_most(self, seconds):
        """Returns a time limit in seconds for one program: the lesser of `seconds` and the
        remaining time, but at least 5. A dry run uses the remaining time."""
        return max(5.0, self.left() if self.dry else min(seconds, self.left()))

    def is_done(self, step):
        return any(row["step"] == step and "result" in row and row.items() >= self.identity.items()
                   for row in self.rows)

    def is_asked(self, step):
        """Returns true if --only includes the step."""
        return not self.only or step.startswith(tuple(self.only))

    def step(self, step, seconds, work):
        """Runs `work()` and stores its result, or the problem if it fails. Does nothing if the
        result is known, and leaves the step to another call if it needs more than the remaining
        time."""
        if self.is_done(step) or not self.is_asked(step):
            return
        if self.left() < seconds:
            self.left_out += 1
            print(f"{step}: {LEFT_OUT}", flush=True)
            return
        began = time.monotonic()
        try:
            row = {"result": work()}
        except Exception as error:  # the next step may succeed
            self.failed += 1
            lines = str(error).splitlines() or [""]
            row = {"problem": lines[0] if isinstance(error, Problem) else f"{type(error).__name__}: {lines[0]}"}
        self.add_row({"step": step, **self.identity, "seconds": round(time.monotonic() - began, 1), **row})

    def add_row(self, row):
        self.rows.append(row)
        for path in self.paths:
            with path.open("a") as file:
                file.write(json.dumps(row) + "\n")
        print(f"{row['step']}: {row['seconds']} s  {row.get('problem', 'done')}", flush=True)

    def end(self):
        """Prints a summary. Returns the exit code: 1 if a step failed."""
        print(f"{len(self.rows)} rows in {self.paths[0]}; {self.failed} failed, {self.left_out} left for another "
              f"call; {self.seconds - self.left():.0f} s", flush=True)
        return int(self.failed > 0)


def read_rows(path):
    """Returns the rows of an earlier call, without a truncated last row."""
    rows = []
    for line in path.read_text().splitlines() if path.is_file() else []:
        with contextlib.suppress(ValueError):
            rows.append(json.loads(line))
    return rows
