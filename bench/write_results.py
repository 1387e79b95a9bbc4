"""Writes the output of a bench script to a file of bench/results (bench/results/README.md).

    parser = argparse.ArgumentParser(...)
    write_results.add_option(parser)
    with write_results.recorded(parser.parse_args(), packages=("numpy", "torch")):
        print(...)

Without `--write-results`, `recorded` does nothing.
"""
import argparse
import contextlib
import datetime
import importlib.metadata
import io
import os
import platform
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "bench/results"
WIDTH = 100  # columns of documents


def add_option(parser):
    """Adds `--write-results MACHINE` to the parser."""
    parser.add_argument("--write-results", type=machine_word, metavar="MACHINE",
                        help="also write the output to bench/results/DATE-MACHINE.md; MACHINE is one word: zen4")


def machine_word(text):
    """Returns the word if it fits a file name. Raises ArgumentTypeError otherwise."""
    if not re.fullmatch(r"[a-z0-9_]+", text):
        raise argparse.ArgumentTypeError(f"expected one word of lower-case letters, digits and '_', found '{text}'")
    return text


@contextlib.contextmanager
def recorded(options, packages=(), folder=FOLDER):
    """Copies what the block prints to a section of the results file. The file is written only if the
    block ends without an exception. `packages` are the Python packages whose versions matter."""
    machine = getattr(options, "write_results", None)
    if not machine:
        yield
        return
    now = datetime.datetime.now(datetime.timezone.utc)
    copy = Copy(sys.stdout)
    with contextlib.redirect_stdout(copy):
        yield
    path = Path(folder) / f"{now:%Y-%m-%d}-{machine}.md"
    facts = {"commit": commit(), "date": f"{now:%Y-%m-%d %H:%M} UTC",
             "machine": describe_machine(), "versions": versions(packages)}
    add_section(path, Path(sys.argv[0]).stem, command(), facts, copy.text())
    print(f"written to {path}", file=sys.stderr)


class Copy(io.TextIOBase):
    """A stream that stores all written text and forwards the text to another stream."""

    def __init__(self, stream):
        super().__init__()
        self.stream, self.parts = stream, []

    def write(self, text):
        self.parts.append(text)
        return self.stream.write(text)

    def flush(self):
        self.stream.flush()

    def text(self):
        return "".join(self.parts)


# -- facts of a run ------------------------------------------------------------------------------


def command():
    """Returns the command line, with the script's path from the root of the repository."""
    script = Path(sys.argv[0]).resolve()
    name = script.relative_to(ROOT) if script.is_relative_to(ROOT) else script.name
    return shlex.join([str(name), *sys.argv[1:]])


def commit():
    """Returns the commit of the checkout, followed by "with changes" if tracked files differ from
    it. Returns "unknown" without a git checkout."""
    try:
        short = output_of("git", "-C", str(ROOT), "rev-parse", "--short", "HEAD")
        changed = output_of("git", "-C", str(ROOT), "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{short} with changes" if changed else short


def describe_machine():
    """Returns the processor, the number of usable cores, and the GPU if there is one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    parts = [processor_name(), f"{cores} cores", platform.platform()]
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        parts.insert(2, output_of("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"))
    return "; ".join(parts)


def processor_name():
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def versions(packages):
    """Returns the versions of Python and of those packages that are installed."""
    found = [f"Python {platform.python_version()}"]
    for package in packages:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found.append(f"{package} {importlib.metadata.version(package)}")
    return ", ".join(found)


def output_of(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


# -- the file ------------------------------------------------------------------------------------


def add_section(path, title, command_line, facts, text):
    """Adds a section to the file, or replaces the section with the same command."""
    before = path.read_text(encoding="utf-8") if path.exists() else f"# {path.stem}\n"
    head, *sections = re.split(r"(?m)^(?=## )", before)
    lines = [textwrap.fill(f"- {name}: {value}", width=WIDTH, subsequent_indent="  ", break_long_words=False,
                           break_on_hyphens=False) for name, value in facts.items()]
    section = f"## {title}\n\n    {command_line}\n\n" + "\n".join(lines) + f"\n\n{as_markdown(text)}"
    same = [i for i, one in enumerate(sections) if f"\n    {command_line}\n" in one]
    if same:
        sections[same[0]] = section
    else:
        sections.append(section)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(part.strip() + "\n" for part in (head, *sections)), encoding="utf-8")


def as_markdown(text):
    """Returns the printed text with its Markdown tables, and all other lines in fences."""
    parts = []
    for line in text.strip("\n").splitlines():
        is_table = line.startswith("|")
        if not parts or parts[-1][0] != is_table:
            parts.append((is_table, []))
        parts[-1][1].append(line.rstrip())
    texts = []
    for is_table, lines in parts:
        body = "\n".join(lines).strip("\n")
        if body:
            texts.append(body if is_table else f"```\n{body}\n```")
    return "\n\n".join(texts) + "\n"
