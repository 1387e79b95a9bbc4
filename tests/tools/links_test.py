#!/usr/bin/env python3
"""Checks that the links of the documents lead to files of the checkout, and to headings in them.

    links_test.py FOLDER

Links to other machines are left out. Every broken link is printed with its file. The exit code is 1
if there are any.
"""
import re
import sys
from pathlib import Path

# Files of third parties, test outputs, and build outputs.
LEFT_OUT = re.compile(r"(^|/)(build[^/]*|\.git|corpus)/")
CODE = re.compile(r"^```.*?^```|^    .*?$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
ELSEWHERE = ("http://", "https://", "mailto:")


def anchors(text):
    """Returns the anchors of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(path):
    """Yields the links of a document that lead nowhere."""
    for link in LINK.findall(CODE.sub("", path.read_text(encoding="utf-8"))):
        if link.startswith(ELSEWHERE):
            continue
        name, _, anchor = link.partition("#")
        target = path.parent / name if name else path
        if not target.exists():
            yield link
        elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text(encoding="utf-8")):
            yield link


def main():
    root = Path(sys.argv[1])
    broken = 0
    for path in sorted(root.rglob("*.md")):
        name = str(path.relative_to(root))
        if LEFT_OUT.search(name):
            continue
        for link in broken_links(path):
            print(f"{name}: nothing is at {link}")
            broken += 1
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
