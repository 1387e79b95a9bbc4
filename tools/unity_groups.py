#!/usr/bin/env python3
"""Groups source files that can be compiled as one file.

usage: unity_groups.py FILE...

Prints a line `GROUP FILE` for each file. A group has at most MOST_FILES files and MOST_LINES lines.
In a group, no file changes the meaning of another file. `Source.hides` has the rules.
"""

import functools
import pathlib
import re
import sys

MOST_FILES = 12
MOST_LINES = 2500
ROOT = pathlib.Path(__file__).resolve().parent.parent

TYPE = re.compile(r"(?:template <.*> )?"
                  r"(?:(?:struct|class|enum class|enum) (\w+)\b(?!::|;)|using (\w+) =)")
# A function or a variable: words of a type, a name, and what follows the name.
VALUE = re.compile(r"(?!return|using|TEST|INSTANTIATE|namespace)"
                   r"[A-Za-z_][\w:<>,&*\s\[\]]*?[\s*&](\w+)\s*[(={\[;]")
MACRO = re.compile(r"#define (\w+)")
INCLUDE = re.compile(r'#include "([^"]+)"')
INNER_NAMESPACE = re.compile(r"\bnamespace \w+::(\w+)")
# A name that cannot be overloaded: of a type or of a constant.
FIXED = re.compile(r"\b(?:(?<=struct )|(?<=class )|(?<=enum )|(?<=using )|(?=k[A-Z]))(\w+)")
# An identifier that unqualified lookup may find in a namespace.
WORD = re.compile(r"(?<![\w.])(?<!->)(?<!::)[A-Za-z_]\w*")


class Names:
    """Names in the code of files: all words, types and constants, inner namespaces."""

    def __init__(self, code: str = "") -> None:
        self.words = set(WORD.findall(code))
        self.fixed = set(FIXED.findall(code))
        self.namespaces = set(INNER_NAMESPACE.findall(code))

    def add(self, other: "Names") -> None:
        self.words |= other.words
        self.fixed |= other.fixed
        self.namespaces |= other.namespaces


@functools.cache
def read(file: pathlib.Path) -> tuple[Names, list[pathlib.Path]]:
    """Returns the names of a file outside of comments, and the project's headers it includes."""
    code = re.sub(r"//[^\n]*", "", file.read_text(encoding="utf-8"))
    headers = [ROOT / name for name in INCLUDE.findall(code)]
    return Names(code), [header for header in headers if header.is_file()]


def names_of_headers(file: pathlib.Path) -> Names:
    """Returns the names of all headers that the file includes, directly or indirectly."""
    names = Names()
    seen: set[pathlib.Path] = set()
    waiting = list(read(file)[1])
    while waiting:
        header = waiting.pop()
        if header not in seen:
            seen.add(header)
            names.add(read(header)[0])
            waiting += read(header)[1]
    return names


class Source:
    """A file, or several that are compiled as one."""

    def __init__(self, file: pathlib.Path) -> None:
        text = file.read_text(encoding="utf-8")
        self.files = 1
        self.lines = text.count("\n")
        self.names = Names()
        self.names.add(read(file)[0])
        self.headers = names_of_headers(file)
        self.types: set[str] = set()
        # Macros, and the functions and variables of unnamed namespaces.
        self.values = set(MACRO.findall(text))
        unnamed = False
        for line in text.splitlines():
            if line == "namespace {":
                unnamed = True
            elif line == "}  // namespace":
                unnamed = False
            elif found := TYPE.match(line):
                self.types.add(found[1] or found[2])
            elif unnamed or line.startswith("static "):
                if found := VALUE.match(line):
                    self.values.add(found[1])

    def fits(self, other: "Source") -> bool:
        """Returns whether both can be compiled as one file."""
        return (self.files + other.files <= MOST_FILES and self.lines + other.lines <= MOST_LINES
                and not self.hides(other) and not other.hides(self))

    def hides(self, other: "Source") -> bool:
        """Returns whether a name of this source may change the meaning of the other one."""
        namespaces = self.names.namespaces | self.headers.namespaces
        unknown = namespaces - other.names.namespaces - other.headers.namespaces
        return bool(unknown & other.names.words
                    or (self.values | self.types) & other.names.words
                    or self.types & other.headers.words
                    or self.values & other.headers.fixed)

    def add(self, other: "Source") -> None:
        self.files += other.files
        self.lines += other.lines
        self.names.add(other.names)
        self.headers.add(other.headers)
        self.types |= other.types
        self.values |= other.values


def main() -> None:
    groups: list[Source] = []
    for file in sys.argv[1:]:
        source = Source(pathlib.Path(file))
        number = next((n for n, group in enumerate(groups) if group.fits(source)), len(groups))
        if number == len(groups):
            groups.append(source)
        else:
            groups[number].add(source)
        print(number, file)


if __name__ == "__main__":
    main()
