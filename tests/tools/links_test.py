#!/usr/bin/env python3
"""Checks that the links of the documents lead to files of the checkout, and to headings in them.

    links_test.py FOLDER

Links to other machines are left out. Every broken link is printed with its file. The exit code is 1
if there are any.
"""
import re
import sys

from documents import print_findings

CODE = re.compile(r"^```.*?^```|^    .*?$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
ELSEWHERE = ("http://", "https://", "mailto:")


def anchors(text):
    """Returns the anchors of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(path):
    """Yields a message for each link of the document whose file or heading does not exist."""
    for link in LINK.findall(CODE.sub("", path.read_text(encoding="utf-8"))):
        if link.startswith(ELSEWHERE):
            continue
        name, _, anchor = link.partition("#")
        target = path.parent / name if name else path
        is_heading = anchor and target.suffix == ".md"
        if not target.exists() or is_heading and anchor not in anchors(target.read_text(encoding="utf-8")):
            yield f": nothing is at {link}"


if __name__ == "__main__":
    sys.exit(print_findings(sys.argv[1], broken_links))
