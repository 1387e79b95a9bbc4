#!/usr/bin/env python3
"""Runs the commands that documents show, and compares what they print and draw.

    run_documented.py --tunec PROGRAM --source ROOT FILE...

In FILE, a Markdown page, an indented line `$ tunec ARGS` is a command, run in ROOT; the indented lines
after it, up to the next command or a line without indent, are what it prints. `--svg PATH` must leave what
is in PATH. With TUNEC_BLESS=1 in the environment pages and drawings are rewritten instead.
"""
import argparse
import difflib
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

PROMPT = "    $ tunec "
INDENT = "    "


def blocks(lines):
    """(kind, lines): `command` blocks begin with a prompt, `text` is all else."""
    found, i = [], 0
    while i < len(lines):
        if not lines[i].startswith(PROMPT):
            found.append(("text", [lines[i]]))
            i += 1
            continue
        end = i + 1
        while end < len(lines) and lines[end].startswith(INDENT) and not lines[end].startswith(PROMPT):
            end += 1
        found.append(("command", lines[i:end]))
        i = end
    return found


class Runner:

    def __init__(self, tunec, source):
        self.tunec, self.source, self.problems = tunec, source, []
        self.bless = os.environ.get("TUNEC_BLESS") == "1"

    def run(self, command, where):
        """The lines that the command prints; compares or rewrites its drawing."""
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
        if result == lines:
            return
        if self.bless:
            page.write_text("\n".join(result) + "\n")
            print(f"blessed {page}")
        else:
            self.problems += difflib.unified_diff(lines, result, str(page), "as run", lineterm="")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tunec", required=True)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("pages", nargs="+", type=Path)
    args = parser.parse_args()
    runner = Runner(args.tunec, args.source)
    for page in args.pages:
        runner.check(page)
    print("\n".join(runner.problems))
    return 1 if runner.problems else 0


if __name__ == "__main__":
    sys.exit(main())
