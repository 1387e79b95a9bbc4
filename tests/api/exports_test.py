#!/usr/bin/env python3
"""Checks that libtunec.so exports exactly the functions of tunec.h and graph.h. The library and all
programs must load libisl before libLLVM, which exports an older isl, and must not need libprotobuf.

    exports_test.py LIBRARY PROGRAM...
"""
import re
import subprocess
import sys
from pathlib import Path

HEADERS = Path(__file__).resolve().parents[2] / "api/include/tunec"


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def check_exports(library):
    exported = {line.split()[-1].split("@")[0] for line in output("nm", "-D", "--defined-only", library).splitlines()}
    text = "".join(path.read_text() for path in sorted(HEADERS.glob("*.h")))
    declared = set(re.findall(r"TUNEC_API [^;(]*?(tunec_\w+)\(", text))
    for name in sorted(exported - declared):
        yield f"{name} is exported, but not declared in a header"
    for name in sorted(declared - exported):
        yield f"{name} is declared in a header, but not exported"
    soname = re.search(r"SONAME.*\[(.*)\]", output("readelf", "-d", library))
    if not soname or not re.fullmatch(r"libtunec\.so\.\d+", soname[1]):
        yield f"SONAME is {soname and soname[1]}, expected libtunec.so.N"


def check_protobuf(program):
    """Checks that the program does not need libprotobuf or libonnx. A process may have only one
    copy of each message type, and the caller may have its own."""
    needed = re.findall(r"NEEDED.*\[(.*)\]", output("readelf", "-d", program))
    for name in needed:
        if re.match("lib(protobuf|onnx)", name):
            yield f"{program}: needs {name}"


def check_isl(program):
    """Checks that the loader finds our isl first, because libLLVM exports an older isl."""
    needed = re.findall(r"NEEDED.*\[(.*)\]", output("readelf", "-d", program))
    isl = [i for i, name in enumerate(needed) if name.startswith("libisl")]
    llvm = [i for i, name in enumerate(needed) if name.startswith("libLLVM")]
    if llvm and (not isl or isl[0] > llvm[0]):
        yield f"{program}: libisl must be needed before libLLVM, not as in {needed}"


def main():
    problems = [*check_exports(sys.argv[1])]
    for program in sys.argv[1:]:
        problems += [*check_isl(program), *check_protobuf(program)]
    print("\n".join(problems))
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
