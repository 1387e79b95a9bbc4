#!/usr/bin/env python3
"""Groups source files that can be compiled as one file.

usage: unity_groups.py FILE...

Prints a line `GROUP FILE` for each file. The files of a group define different names in their
unnamed namespaces. A group has at most MOST_FILES files and MOST_LINES lines.
"""

import pathlib
import re
import sys

MOST_FILES = 12
MOST_LINES = 2500

TYPE = re.compile(r"(?:template <.*> )?(?:struct|class|enum class|enum|using) (\w+)")
# A function or a variable: words of a type, a name, and what follows the name.
VALUE = re.compile(r"(?!return|using|TEST|INSTANTIATE|namespace)"
                   r"[A-Za-z_][\w:<>,&*\s\[\]]*?[\s*&](\w+)\s*[(={\[]")
MACRO = re.compile(r"#define (\w+)")


def defined_names(text: str) -> set[str]:
    """Returns the names of a file's macros, and those that its unnamed namespaces define."""
    names = set(MACRO.findall(text))
    unnamed = False
    for line in text.splitlines():
        if line == "namespace {":
            unnamed = True
        elif line == "}  // namespace":
            unnamed = False
        elif unnamed or line.startswith("static "):
            found = TYPE.match(line) or VALUE.match(line)
            if found:
                names.add(found.group(1))
    return names


def main() -> None:
    groups: list[tuple[int, int, set[str]]] = []  # files, lines and names of each group
    for file in sys.argv[1:]:
        text = pathlib.Path(file).read_text(encoding="utf-8")
        names, lines = defined_names(text), text.count("\n")
        for number, (files, total, taken) in enumerate(groups):
            if files < MOST_FILES and total + lines <= MOST_LINES and not names & taken:
                groups[number] = (files + 1, total + lines, taken | names)
                break
        else:
            number = len(groups)
            groups.append((1, lines, names))
        print(number, file)


if __name__ == "__main__":
    main()
