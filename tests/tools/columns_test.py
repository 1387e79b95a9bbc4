#!/usr/bin/env python3
"""Checks that documents have at most 100 columns, because they are read in terminals and in diffs.

    columns_test.py FOLDER

Tables, code and lines that no space could break are left out. Every wider line is printed with its
position. The exit code is 1 if there are any.
"""
import sys

from documents import print_findings

WIDEST = 100


def wide_lines(path):
    """Yields a message for each line that is too wide. It begins with the line's number."""
    fenced = False
    for number, line in enumerate(path.read_text().split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        code = fenced or line.startswith("    ")
        breaks = " " in line.strip()[:WIDEST]
        if len(line) > WIDEST and breaks and not code and not line.startswith("|"):
            yield f":{number}: {len(line)} columns, expected at most {WIDEST}"


if __name__ == "__main__":
    sys.exit(print_findings(sys.argv[1], wide_lines))
