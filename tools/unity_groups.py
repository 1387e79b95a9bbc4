#!/usr/bin/env python3
"""Groups source files that can be compiled as one file.

usage: unity_groups.py FILE...

Prints a line `GROUP FILE` for each file. A group has at most MOST_FILES files and MOST_LINES lines.
In a group, no file changes the meaning of another one.

- A type of one file, or another name of its unnamed namespaces, does not occur in another file.
- Such a type does not occur in the headers of another file.
- Such another name is no type or constant of these headers.
- Each file sees the same inner namespaces as alone.
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
# A name that cannot be overloaded: of a type or of a constant.
FIXED = re.compile(r"\b(?:(?<=struct )|(?<=class )|(?<=enum )|(?<=using )|(?=k[A-Z]))(\w+)")
# An identifier that unqualified lookup may find in a namespace.
WORD = re.compile(r"(?<![\w.])(?<!->)(?<!::)[A-Za-z_]\w*")


@functools.cache
def read(file: pathlib.Path) -> tuple[frozenset[str], tuple[pathlib.Path, ...]]:
    """Returns the words of a file outside of comments, and the project's headers it includes.

    A type or a constant that the file defines is also a word with the prefix "fixed ", and an inner
    namespace is one with the prefix "namespace ".
    """
    code = re.sub(r"//[^\n]*", "", file.read_text(encoding="utf-8"))
    headers = (ROOT / name for name in INCLUDE.findall(code))
    fixed = (f"fixed {name}" for name in FIXED.findall(code))
    inner = (f"namespace {name}" for name in re.findall(r"\bnamespace \w+::(\w+)", code))
    return frozenset([*WORD.findall(code), *fixed, *inner]), tuple(h for h in headers if h.is_file())


def words_of_headers(file: pathlib.Path) -> set[str]:
    """Returns the words of all headers that the file includes, directly or indirectly."""
    words: set[str] = set()
    seen: set[pathlib.Path] = set()
    waiting = list(read(file)[1])
    while waiting:
        header = waiting.pop()
        if header not in seen:
            seen.add(header)
            words |= read(header)[0]
            waiting += read(header)[1]
    return words


class Source:
    """A file, or several that are compiled as one."""

    def __init__(self, file: pathlib.Path | None = None) -> None:
        self.files = 0
        self.lines = 0
        self.values: set[str] = set()
        self.types: set[str] = set()
        self.words: set[str] = set()
        self.header_words: set[str] = set()
        if file is None:
            return
        text = file.read_text(encoding="utf-8")
        self.files = 1
        self.lines = text.count("\n")
        self.values = set(MACRO.findall(text))
        self.words = set(read(file)[0])
        self.header_words = words_of_headers(file)
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
        visible = self.words | self.header_words
        unknown = (w for w in visible - other.words - other.header_words if w.startswith("namespace "))
        if any(word.removeprefix("namespace ") in other.words for word in unknown):
            return True
        return bool((self.values | self.types) & other.words or self.types & other.header_words
                    or {f"fixed {name}" for name in self.values} & other.header_words)

    def add(self, other: "Source") -> None:
        self.files += other.files
        self.lines += other.lines
        for of_all, of_one in ((self.values, other.values), (self.types, other.types),
                               (self.words, other.words), (self.header_words, other.header_words)):
            of_all |= of_one


def main() -> None:
    groups: list[Source] = []
    for file in sys.argv[1:]:
        source = Source(pathlib.Path(file))
        number = next((n for n, group in enumerate(groups) if group.fits(source)), len(groups))
        if number == len(groups):
            groups.append(Source())
        groups[number].add(source)
        print(number, file)


if __name__ == "__main__":
    main()
