#!/usr/bin/env python3
"""Finds types that two files define under one name: the linker would use only one of their
destructors.

usage: one_definition.py SOURCE
"""
import collections
import re
import sys
from pathlib import Path

FOLDERS = ("support ir graph polyhedral schedule runtime numpy jit db kernel autotune compiler api "
           "tools").split()
NAMESPACE = re.compile(r"^namespace\s*([\w:]*)\s*\{")
TYPE = re.compile(r"^(?:template <.*>\s*)?(?:struct|class)\s+(?:alignas\(\w+\)\s*)?(\w+)(?![\w:])")


def definitions(lines):
    """Yields the qualified names of types that the lines define outside of unnamed namespaces."""
    spaces = []
    for line in lines:
        if begin := NAMESPACE.match(line):
            spaces.append(begin.group(1))
        elif line.startswith("}  // namespace") and spaces:
            spaces.pop()
        elif "" not in spaces and (found := TYPE.match(line)) and ("{" in line or ";" not in line):
            yield "::".join([*spaces, found.group(1)])


def doubles(texts):
    """Returns the paths of each type that several of the texts define. `texts` maps paths to texts.
    """
    paths_of = collections.defaultdict(set)
    for path, text in texts.items():
        for name in definitions(text.splitlines()):
            paths_of[name].add(path)
    return {name: sorted(paths) for name, paths in paths_of.items() if len(paths) > 1}


def self_test():
    one = "namespace tunec {\nstruct Pair {\n};\nclass Other;  // elsewhere\n}  // namespace tunec\n"
    hidden = one.replace("struct", "namespace {\nstruct").replace("};", "};\n}  // namespace")
    assert doubles({"a.h": one, "b.h": one}) == {"tunec::Pair": ["a.h", "b.h"]}
    assert not doubles({"a.h": one, "b.cc": hidden})


def main():
    self_test()
    source = Path(sys.argv[1])
    paths = [path for folder in FOLDERS for path in (source / folder).rglob("*")
             if path.suffix in (".h", ".cc")]
    found = doubles({str(path.relative_to(source)): path.read_text() for path in paths})
    for name, where in found.items():
        print(f"{name} is defined in {' and in '.join(where)}")
    if not paths or found:
        sys.exit(1)


if __name__ == "__main__":
    main()
