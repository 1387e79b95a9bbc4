#!/usr/bin/env python3
"""Runs the commands that documents show, and compares their output and drawings.

    run_documented.py --tunec PROGRAM --source ROOT [--samples] FILE...

In FILE, a Markdown page, an indented line `$ tunec ARGS` is a command, run in ROOT. The indented
lines after it, up to the next command or a line without indent, are its output. `--svg PATH` must
reproduce the file at PATH. With TUNEC_BLESS=1 in the environment pages and drawings are rewritten
instead.

With --samples, a page shows times and properties of one machine. Its commands may have any name.
They run one after the other in a shell, in a separate folder with an empty cache. `$ cat FILE`
writes the following lines to FILE. A line `...` stands for any number of lines, and text that
differs from run to run (VARIES) is not compared.
"""
import argparse
import difflib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

PROMPT = "    $ tunec "
SHELL_PROMPT = "    $ "
INDENT = "    "

# The beginnings of lines that are printed only on a busy machine, or without known ceilings.
REMARKS = ("note: ", "(no roofline: ")
NUMBER = r"\d+(?:\.\d+)?"
VARIES = [
    # Only processors with AMX test whether weights are finite.
    (r"\bconstant finite$", "constant"),
    # Kernels with AMX have a phase that splits operands.
    (r"\blaunch of \d+ phases?", "launch of # phases"),
    # The comparison covers whether trials were measured, but not where the search ended, and why.
    (r"\b0 new trials; stopped after \d+ of (\d+): [^;]*", r"no new trials of \1"),
    (r"\b\d+ new trials?; stopped after \d+ of (\d+): [^;]*", r"new trials of \1"),
    (r"\btrials \d+/(\d+)", r"trials #/\1"),
    (r"\(compile \d+, check \d+, measure \d+\)", "(compile #, check #, measure #)"),
    (r"\b\d+ runs?, \d+ threads?", "# runs, # threads"),
    (r"(?:\d+ %|-) (?:arithmetic|L[123]|memory|-) (tuned|analytic|naive)$", r"# # \1"),
    (r"\broofline (?:\d+ %|-)", "roofline #"),
    (rf"\b{NUMBER} (?:s|ms|us|ns)\b", "#"),
    (rf"\b{NUMBER} %", "#"),
    (r"\b\d+(?:\.\d+(?:e[-+]\d+)?|e[-+]\d+)", "#"),
]


def blocks(lines, prompt=PROMPT):
    """Returns the blocks of a page as pairs (kind, lines). A `command` block begins with a prompt,
    and all other blocks are `text`. A blank line before an indented one belongs to the output."""
    found, i = [], 0
    while i < len(lines):
        if not lines[i].startswith(prompt):
            found.append(("text", [lines[i]]))
            i += 1
            continue
        end = i + 1
        while end < len(lines) and not lines[end].startswith(prompt):
            blank = not lines[end] and end + 1 < len(lines)
            if not lines[end + 1 if blank else end].startswith(INDENT):
                break
            end += 1
        found.append(("command", lines[i:end]))
        i = end
    return found


def without_what_varies(lines):
    """Returns the lines without the parts that vary between runs and machines."""
    remaining = []
    for line in lines:
        line = " ".join(line.split())
        if line.startswith(REMARKS):
            continue
        for pattern, replacement in VARIES:
            line = re.sub(pattern, replacement, line)
        remaining.append(line)
    return remaining


def agree(shown, printed):
    """Returns whether the shown lines of a sample match the printed lines."""
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line + "\n")
                      for line in without_what_varies(shown))
    return re.fullmatch(pattern, "".join(line + "\n" for line in without_what_varies(printed))) is not None


class Runner:
    """A runner for pages that show the exact output and drawings."""

    def __init__(self, tunec, source):
        self.tunec, self.source, self.problems = tunec, source, []
        self.bless = os.environ.get("TUNEC_BLESS") == "1"

    def run(self, command, where):
        """Runs tunec with the arguments in `command`. Returns the printed lines, indented as in a
        page. Compares or rewrites the drawing of --svg."""
        arguments = shlex.split(command)
        with tempfile.TemporaryDirectory() as directory:
            drawn, drawing = Path(directory, "drawing.svg"), None
            if "--svg" in arguments:
                at = arguments.index("--svg") + 1
                drawing = self.source / arguments[at]
                arguments[at] = str(drawn)
            done = subprocess.run([self.tunec, *arguments], cwd=self.source, text=True, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=100)
            if drawing is not None:
                self.compare_drawing(drawn, drawing, where)
        return [(INDENT + line).rstrip() for line in done.stdout.rstrip("\n").splitlines()]

    def compare_drawing(self, drawn, drawing, where):
        if not drawn.exists():
            self.problems.append(f"{where}: nothing was drawn")
        elif not drawing.exists() or drawn.read_bytes() != drawing.read_bytes():
            if self.bless:
                drawing.write_bytes(drawn.read_bytes())
                print(f"blessed {drawing}")
            else:
                self.problems.append(f"{where}: {drawing} is not what the command draws")

    def check(self, page):
        lines = page.read_text().splitlines()
        result = []
        for kind, block in blocks(lines):
            if kind == "text":
                result += block
                continue
            result += [block[0], *self.run(block[0][len(PROMPT):], f"{page}:{len(result) + 1}")]
        if not any(line.startswith(PROMPT) for line in lines):
            self.problems.append(f"{page}: shows no command")
        self.compare(page, lines, result)

    def compare(self, page, lines, result):
        if result == lines:
            return
        if self.bless:
            page.write_text("\n".join(result) + "\n")
            print(f"blessed {page}")
        else:
            self.problems += difflib.unified_diff(lines, result, str(page), "as run", lineterm="")


class SampleRunner(Runner):
    """A runner for pages that show samples."""

    def __init__(self, tunec, source, folder):
        super().__init__(tunec, source)
        self.folder = Path(folder)
        programs = str(Path(tunec).resolve().parent)
        self.environment = {**os.environ, "XDG_CACHE_HOME": folder,
                            "PATH": programs + os.pathsep + os.environ.get("PATH", "")}

    def run_sample(self, block):
        """Runs the command of a block. Returns the block if the output matches, otherwise the block
        with the printed output. `cat FILE` writes the file instead."""
        command, shown = block[0][len(SHELL_PROMPT):], [line[len(INDENT):] for line in block[1:]]
        words = shlex.split(command)
        if words[0] == "cat" and len(words) == 2:
            (self.folder / words[1]).write_text("\n".join(shown) + "\n")
            return block
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              timeout=400)
        printed = done.stdout.rstrip("\n").splitlines()
        return block if agree(shown, printed) else [block[0], *((INDENT + line).rstrip() for line in printed)]

    def check(self, page):
        lines = page.read_text().splitlines()
        found = blocks(lines, SHELL_PROMPT)
        if not any(kind == "command" for kind, _ in found):
            self.problems.append(f"{page}: shows no command")
        self.compare(page, lines, [line for kind, block in found
                                   for line in (block if kind == "text" else self.run_sample(block))])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tunec", required=True)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--samples", action="store_true")
    parser.add_argument("pages", nargs="+", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tunec-samples-") as folder:
        runner = SampleRunner(args.tunec, args.source, folder) if args.samples else Runner(args.tunec, args.source)
        for page in args.pages:
            runner.check(page)
    print("\n".join(runner.problems))
    return 1 if runner.problems else 0


if __name__ == "__main__":
    sys.exit(main())
