#!/usr/bin/env python3
"""Checks that the folders of tunec depend on each other in one direction only.

Usage: layering.py --source ROOT --layers FILE

FILE is written by tests/layering/CMakeLists.txt from the CMake targets, one fact a line:

    folder NAME DEPENDS...            a folder's DEPENDS, as given to tunec_library()
    target FOLDER NAME LIBRARIES...   the libraries that a target of that folder links
    interface FOLDER NAME LIBRARIES...  the libraries that are passed on to targets that link it

The rules:
  1. a folder's DEPENDS stand before it in ORDER and are not FORBIDDEN to it, even indirectly;
  2. a target links only its own folder's libraries and those of its folder's DEPENDS;
  3. a file includes only its own folder and, transitively, its folder's DEPENDS;
  4. a project header is included by its path from the root, and exists;
  5. a THIRD_PARTY header is included only in the folders that own it, and never by a header, except
     for WRAPPERS; nothing outside the owner reaches a wrapper, even indirectly;
  6. the link libraries of a third party are PRIVATE;
  7. a file in a folder of KINDS, for one kind of target, is included only by files of KINDS, jit
     and device, and by those of EXCEPTIONS.

Every violation is printed with its position. The exit code is 1 if there are any.
"""
import argparse
import re
import sys
from pathlib import Path

# A folder may depend only on earlier folders.
ORDER = ["support", "ir", "graph", "polyhedral", "schedule", "runtime", "numpy", "jit",
         "device", "db", "kernel", "autotune", "compiler", "api", "tools"]

# Folders that a folder must not depend on, although they are earlier. Code generation does not use
# integer sets, a deployed program does not contain the compiler, and the database only stores text.
FORBIDDEN = {
    "polyhedral": {"graph"},
    "runtime": {"graph", "polyhedral", "schedule"},
    "numpy": {"graph", "polyhedral", "schedule"},
    "jit": {"graph", "polyhedral", "schedule"},
    "device": {"graph", "polyhedral", "schedule"},
    "db": {"ir", "graph", "polyhedral", "schedule", "runtime", "jit", "device"},
}

# For each third party: a pattern of the paths of headers, the folders that may include the headers,
# and a pattern of the link targets.
THIRD_PARTY = {
    "isl": (r"isl/", {"polyhedral"}, r"tunec_isl|isl"),
    "BLAKE3": (r"llvm-c/blake3\.h", {"db"}, r"tunec_blake3"),
    "LLVM": (r"llvm/|llvm-c/|clang/|lld/", {"jit"}, r"tunec_llvm|LLVM\S*"),
    "CUDA": (r"cuda|nvrtc|nvml|cudnn|cublas|nvJitLink|nvPTXCompiler", {"jit", "runtime"}, r"CUDA::\S+"),
    "SQLite": (r"sqlite3|SQLiteCpp/", {"db"}, r"SQLiteCpp|SQLite::SQLite3"),
    "ONNX": (r"onnx/|google/protobuf/", set(), r"tunec_onnx_proto|protobuf::\S+"),
}

# The only header that may include a third party's headers.
WRAPPERS = {"polyhedral/isl_handles.h": "isl"}

# Folders of one kind of target. The rest of `jit`, and `device`, choose among them. No other folder
# may depend on the kinds.
KINDS = ("jit/cpu/", "jit/cuda/", "runtime/cuda/")

# The files that depend on a kind as exceptions, with the reason. A file without such a dependence
# must be removed from this list.
EXCEPTIONS = {
    "compiler/bundle/compile_variant.cc": "says what the host's code asks of a processor, writes a device's",
    "compiler/bundle/compile_sizes.cc": "says what the host's code asks of a processor",
    "compiler/bundle/plan_writer.h": "links the host's code",
    "compiler/options/settings.cc": "reads which processor or device is meant",
    "tools/commands/doctor.cc": "looks at this machine's processor",
    "tools/kernels_main.cc": "runs files of kernels where there is a driver and no compiler",
    "runtime/bundle/choose_variant.cc": "finds the GPU that runs a bundle's code",
    "tools/commands/doctor_cuda.cc": "looks at this machine's GPUs and at what NVIDIA has for them",
    "autotune/measure/measure_arithmetic.cc": "calls a kernel on each thread by itself",
}

SUFFIXES = {".h", ".hpp", ".inc", ".cc", ".cpp", ".c"}
HEADER_SUFFIXES = {".h", ".hpp", ".inc"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


class Layers:
    """The facts of FILE about folders and targets."""

    def __init__(self, text):
        self.depends, self.targets, self.interfaces = {}, [], []
        declared = set()
        for line in text.splitlines():
            kind, *words = line.split() or [""]
            if kind == "folder":
                self.depends[words[0]] = set(words[1:])
                declared.add(words[0])
            elif kind == "target":
                self.targets.append((words[0], words[1], words[2:]))
            elif kind == "interface":
                self.interfaces.append((words[0], words[1], words[2:]))
            elif kind:
                raise ValueError(f"unknown fact '{line}'")
        # A folder built without tunec_library() depends on the libraries of its targets.
        for folder, _, libraries in self.targets:
            if folder not in declared:
                linked = {folder_of(library) for library in libraries} - {None, folder}
                self.depends.setdefault(folder, set()).update(linked)

    def closure(self, folder):
        """Returns the folders that `folder` may include: itself and all its dependences."""
        seen, queue = set(), [folder]
        while queue:
            here = queue.pop()
            if here not in seen:
                seen.add(here)
                queue += self.depends.get(here, ())
        return seen


def folder_of(library):
    """Returns the folder of a tunec_FOLDER library, or None."""
    match = re.fullmatch(r"(?:\$<LINK_ONLY:)?(?:tunec_|tunec::)(\w+)>?", library)
    return match[1] if match and match[1] in ORDER else None


def third_party_of(path):
    """Returns the third party of a header, or None."""
    for name, (headers, _, _) in THIRD_PARTY.items():
        if re.match(headers, path):
            return name
    return None


def check_depends(layers):
    for folder, depends in layers.depends.items():
        if folder not in ORDER:
            yield f"{folder}/CMakeLists.txt: folder '{folder}' has no place in the order of layers"
            continue
        for depend in sorted(depends):
            if depend not in ORDER or ORDER.index(depend) >= ORDER.index(folder):
                yield f"{folder}/CMakeLists.txt: DEPENDS {depend}: it does not stand below {folder}"
        for forbidden in sorted(FORBIDDEN.get(folder, set()) & layers.closure(folder)):
            yield f"{folder}/CMakeLists.txt: {folder} must not depend on {forbidden}, even indirectly"


def check_links(layers):
    for folder, target, libraries in layers.targets:
        for library in libraries:
            linked = folder_of(library)
            if linked and linked != folder and linked not in layers.depends[folder]:
                yield f"{folder}/CMakeLists.txt: {target} links {library}, but DEPENDS lacks {linked}"
            for name, (_, owners, pattern) in THIRD_PARTY.items():
                if re.fullmatch(pattern, library) and folder not in owners:
                    yield f"{folder}/CMakeLists.txt: {target} links {library}; {name} belongs to {owner_names(owners)}"
    for folder, target, libraries in layers.interfaces:
        for library in libraries:
            for name, (_, _, pattern) in THIRD_PARTY.items():
                if re.fullmatch(pattern, library):
                    yield f"{folder}/CMakeLists.txt: {target} hands on {library}: {name} must be PRIVATE"


def owner_names(owners):
    return " and ".join(sorted(owners)) or "the tests alone"


def read_includes(root):
    """Returns {path from the root: [(line, quote, included path)]} of every source file in the
    folders."""
    includes = {}
    for folder in ORDER:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SUFFIXES or not path.is_file():
                continue
            found = []
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                if match := INCLUDE.match(line):
                    found.append((number, match[1], match[2]))
            includes[str(path.relative_to(root))] = found
    return includes


def resolve(root, included):
    """Returns the path from the root of an included project header, or None."""
    for base in ("", "api/include/"):
        if (root / (base + included)).is_file():
            return base + included
    return None


def check_includes(root, layers, includes):
    for path, lines in includes.items():
        folder = path.split("/")[0]
        allowed = layers.closure(folder)
        is_header = Path(path).suffix in HEADER_SUFFIXES
        for number, quote, included in lines:
            place = f"{path}:{number}"
            if party := third_party_of(included):
                owners = THIRD_PARTY[party][1]
                if folder not in owners:
                    yield f"{place}: {included}: {party} belongs to {owner_names(owners)}"
                elif is_header and WRAPPERS.get(path) != party:
                    yield f"{place}: {included}: a header must not include {party}"
                continue
            first = included.split("/")[0]
            target = resolve(root, included)
            if target is None and (first in ORDER or quote == '"' and "/" not in included):
                yield f"{place}: {included} does not exist; project headers are included by their path from the root"
            elif target is not None and target.split("/")[0] not in allowed:
                yield f"{place}: {included}: {folder} does not depend on {target.split('/')[0]}"


def check_kinds(root, includes):
    """Yields includes of a kind's files outside of jit, device and KINDS, and stale exceptions."""
    used = set()
    for path, lines in includes.items():
        if path.startswith(("jit/", "device/", *KINDS)):
            continue
        for number, _, included in lines:
            if not included.startswith(KINDS):
                continue
            used.add(path)
            if path not in EXCEPTIONS:
                yield (f"{path}:{number}: {included} belongs to one kind of target; "
                       "ask jit/code_generator.h or device/open_device.h")
    for path in sorted(set(EXCEPTIONS) - used):
        if (root / path).is_file():
            yield f"{path}: includes nothing of {' or '.join(KINDS)} any more: remove it from EXCEPTIONS"


def check_wrappers(root, includes):
    """Yields headers through which files outside of a wrapper's folder reach the wrapper."""
    graph = {path: [(number, resolve(root, included)) for number, _, included in lines]
             for path, lines in includes.items()}
    for path, lines in graph.items():
        for number, first in lines:
            seen, queue = set(), [first]
            while queue:
                here = queue.pop()
                if here is None or here in seen:
                    continue
                seen.add(here)
                queue += [included for _, included in graph.get(here, ())]
            for wrapper in sorted(seen & set(WRAPPERS)):
                if wrapper.split("/")[0] != path.split("/")[0]:
                    yield f"{path}:{number}: {first} leads to {wrapper}, which is private to its folder"


def check(root, layers):
    """Returns all violations, each a line of text."""
    includes = read_includes(root)
    return [*check_depends(layers), *check_links(layers), *check_includes(root, layers, includes),
            *check_kinds(root, includes), *check_wrappers(root, includes)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, required=True, help="the root of the repository")
    parser.add_argument("--layers", type=Path, required=True, help="the facts that CMake wrote")
    args = parser.parse_args()
    violations = check(args.source, Layers(args.layers.read_text()))
    for violation in violations:
        print(violation)
    print(f"{len(violations)} violations of the layering" if violations else "the layers hold")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
