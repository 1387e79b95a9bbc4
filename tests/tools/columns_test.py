#!/usr/bin/env python3
"""Checks that documents have at most 100 columns, because they are read in terminals and in diffs.

    columns_test.py FOLDER

Tables, code and lines that no space could break are left out. Every wider line is printed with its
position. The exit code is 1 if there are any.
"""
import re
import sys
from pathlib import Path

WIDEST = 100
# Files of third parties, test outputs, and build outputs.
LEFT_OUT = re.compile(r"(^|/)(build[^/]*|\.git|corpus)/")


def wide_lines(text):
    """Returns the numbers and widths of lines that are too wide."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        code = fenced or line.startswith("    ")
        breaks = " " in line.strip()[:WIDEST]
        if len(line) > WIDEST and breaks and not code and not line.startswith("|"):
            yield number, len(line)


def main():
    root = Path(sys.argv[1])
    wide = 0
    for path in sorted(root.rglob("*.md")):
        name = str(path.relative_to(root))
        if LEFT_OUT.search(name):
            continue
        for number, width in wide_lines(path.read_text()):
            print(f"{name}:{number}: {width} columns, expected at most {WIDEST}")
            wide += 1
    return 1 if wide else 0


if __name__ == "__main__":
    sys.exit(main())
