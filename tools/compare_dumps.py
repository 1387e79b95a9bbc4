#!/usr/bin/env python3
"""Compares the kernels that two versions of the compiler generate for the same programs.

    compare_dumps.py OLD NEW [--full]

OLD and NEW are folders with a folder per program, which has the files of tools/dump_kernel.h for
each kernel. Kernels are matched by program and hash of the statements. The others are matched by
program and index in the program. Prints the counts, and a line for each kernel that differs. The
exit code is 1 if anything differs, 2 if a folder cannot be read.
"""
import argparse
import difflib
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

FILE = re.compile(r"(\d+)-([0-9a-f]+)\.(nest|sched|error|(\d+)\.o)")
SHOWN_LINES = 24
LONGEST_LINE = 160


@dataclass
class Kernel:
    """A kernel of one of the two folders. `place` is its index in the program. `files` has paths by
    the ending of the file's name."""
    program: str
    place: int
    hash: str
    files: dict = field(default_factory=dict)

    @property
    def name(self):
        return f"{self.program}/{self.place:03}-{self.hash}"

    def text(self, ending):
        path = self.files.get(ending)
        return path.read_text(errors="replace") if path else ""

    def objects(self):
        return [path for ending, path in sorted(self.files.items()) if ending.endswith(".o")]

    def code(self):
        return [path.read_bytes() for path in self.objects()]


def read_side(folder):
    """Returns the kernels of a folder by (program, place, hash), and the failed programs with
    reasons. Raises ValueError for a file that is not part of a dump."""
    kernels, failures = {}, {}
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        program = path.parent.relative_to(folder).as_posix()
        if path.name == "failed":
            failures[program] = path.read_text(errors="replace").strip()
            continue
        match = FILE.fullmatch(path.name)
        if not match:
            raise ValueError(f"{path}: not a file of a dump")
        key = (program, int(match[1]), match[2])
        kernels.setdefault(key, Kernel(*key)).files[match[3]] = path
    return kernels, failures


def pair(old, new):
    """Returns pairs (old or None, new or None). Kernels are paired by program and hash, the rest by
    program and place."""
    pairs = []
    old, new = dict(old), dict(new)
    for identity in (lambda k: (k.program, k.hash), lambda k: (k.program, k.place)):
        known = {}
        for kernel in old.values():
            known.setdefault(identity(kernel), kernel)
        for key, kernel in list(new.items()):
            before = known.pop(identity(kernel), None)
            if before is not None:
                pairs.append((before, kernel))
                del new[key], old[(before.program, before.place, before.hash)]
    pairs += [(kernel, None) for kernel in old.values()] + [(None, kernel) for kernel in new.values()]
    return sorted(pairs, key=lambda p: (p[1] or p[0]).name)


def difference(old, new, ending, full):
    lines = list(difflib.unified_diff(old.text(ending).splitlines(), new.text(ending).splitlines(),
                                      f"before .{ending}", f"after .{ending}", n=1, lineterm=""))
    if full:
        return lines
    shown = [line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + " ..." for line in lines[:SHOWN_LINES]]
    if len(lines) > SHOWN_LINES:
        shown.append(f"... {len(lines) - SHOWN_LINES} more lines (--full)")
    return shown


def disassembled(path):
    """Returns the instructions of an object file, or None if objdump is missing or fails."""
    if not shutil.which("objdump"):
        return None
    done = subprocess.run(["objdump", "-d", "--no-show-raw-insn", str(path)], text=True, errors="replace",
                          capture_output=True, check=False)
    if done.returncode != 0:
        return None
    return [line.split("\t", 1)[1] for line in done.stdout.splitlines() if re.match(r"\s*[0-9a-f]+:\t", line)]


def measure(kernel):
    """Returns the number of bytes of a kernel's code, and the number of instructions or None."""
    size = sum(len(code) for code in kernel.code())
    listings = [disassembled(path) for path in kernel.objects()]
    if any(listing is None for listing in listings):
        return size, None
    return size, sum(len(listing) for listing in listings)


def describe_code(old, new):
    """Returns a text such as `4096 -> 4112 bytes, 210 -> 214 instructions`."""
    (size_old, count_old), (size_new, count_new) = measure(old), measure(new)
    text = f"{size_old} -> {size_new} bytes"
    if count_old is not None and count_new is not None:
        text += f", {count_old} -> {count_new} instructions"
    return text


def compare(old, new, full):
    """Returns the verdict on two kernels, and lines that show the difference."""
    if old is None:
        return "new", []
    if new is None:
        return "gone", []
    if old.text("error") != new.text("error"):
        return "result differs", difference(old, new, "error", full)
    if old.text("nest") != new.text("nest"):
        lines = difference(old, new, "sched", full) + difference(old, new, "nest", full)
        verdict = "statements differ" if old.hash != new.hash else "nest differs"
        return f"{verdict}, code {describe_code(old, new)}", lines
    if old.code() != new.code():
        return f"code differs, {describe_code(old, new)}", []
    return "same", []


def compare_failures(old, new):
    """Returns lines for programs that failed in one folder only, or for different reasons."""
    lines = []
    for program in sorted({*old, *new}):
        if old.get(program) != new.get(program):
            for side, failures in (("before", old), ("after", new)):
                lines.append(f"{program}: {side}: {failures.get(program, 'works')}")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--full", action="store_true", help="print whole differences")
    args = parser.parse_args()
    try:
        for folder in (args.old, args.new):
            if not folder.is_dir():
                raise ValueError(f"{folder}: not a folder")
        (old, failed_old), (new, failed_new) = read_side(args.old), read_side(args.new)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    failures = compare_failures(failed_old, failed_new)
    for line in failures:
        print(line)
    counts = {}
    for before, after in pair(old, new):
        verdict, lines = compare(before, after, args.full)
        kind = verdict.split(",")[0]
        counts[kind] = counts.get(kind, 0) + 1
        if kind != "same":
            print(f"{(after or before).name}: {verdict}")
            for line in lines:
                print(f"    {line}")
    counted = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())) or "none"
    print(f"kernels: {counted}")
    if failed_new:
        print(f"programs that fail: {', '.join(sorted(failed_new))}")
    return 0 if not failures and set(counts) <= {"same"} else 1


if __name__ == "__main__":
    sys.exit(main())
