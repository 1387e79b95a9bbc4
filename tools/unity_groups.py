#!/usr/bin/env python3
"""Groups source files that can be compiled as one file.

usage: unity_groups.py FILE...

Prints a line `GROUP FILE` for each file. In a group, a name of one file's unnamed namespaces does
not occur in another file. A group has at most MOST_FILES files and MOST_LINES lines.
"""

import pathlib
import re
import sys

MOST_FILES = 12
MOST_LINES = 2500

TYPE = re.compile(r"(?:template <.*> )?"
                  r"(?:(?:struct|class|enum class|enum) (\w+)|using (\w+) =)")
# A function or a variable: words of a type, a name, and what follows the name.
VALUE = re.compile(r"(?!return|using|TEST|INSTANTIATE|namespace)"
                   r"[A-Za-z_][\w:<>,&*\s\[\]]*?[\s*&](\w+)\s*[(={\[]")
MACRO = re.compile(r"#define (\w+)")
# An identifier that unqualified lookup may find in a namespace.
WORD = re.compile(r"(?<![\w.])(?<!->)(?<!::)[A-Za-z_]\w*")


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
                names.add(found[found.lastindex or 0])
    return names


class Group:
    """Files that are compiled as one."""

    def __init__(self) -> None:
        self.files = 0
        self.lines = 0
        self.defined: set[str] = set()
        self.words: set[str] = set()

    def takes(self, lines: int, defined: set[str], words: set[str]) -> bool:
        """Returns whether a file with these names and words can join the group."""
        return (self.files < MOST_FILES and self.lines + lines <= MOST_LINES
                and not defined & self.words and not self.defined & words)

    def add(self, lines: int, defined: set[str], words: set[str]) -> None:
        self.files += 1
        self.lines += lines
        self.defined |= defined
        self.words |= words


def main() -> None:
    groups: list[Group] = []
    for file in sys.argv[1:]:
        text = pathlib.Path(file).read_text(encoding="utf-8")
        code = re.sub(r"//[^\n]*", "", text)
        facts = text.count("\n"), defined_names(text), set(WORD.findall(code))
        free = [number for number, group in enumerate(groups) if group.takes(*facts)]
        if not free:
            free = [len(groups)]
            groups.append(Group())
        groups[free[0]].add(*facts)
        print(free[0], file)


if __name__ == "__main__":
    main()
