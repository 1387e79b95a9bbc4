#!/usr/bin/env python3
"""libtunec.so shows the functions of tunec.h and nothing else: exports_test.py LIBRARY"""
import re
import subprocess
import sys
from pathlib import Path

HEADER = Path(__file__).resolve().parents[2] / "api/include/tunec/tunec.h"


def main():
    lines = subprocess.run(["nm", "-D", "--defined-only", sys.argv[1]], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    exported = {line.split()[-1].split("@")[0] for line in lines}
    declared = set(re.findall(r"TUNEC_API [^;(]*?(tunec_\w+)\(", HEADER.read_text()))
    for name in sorted(exported - declared):
        print(f"{name} is exported, but not declared in tunec.h")
    for name in sorted(declared - exported):
        print(f"{name} is declared in tunec.h, but not exported")
    dynamic = subprocess.run(["readelf", "-d", sys.argv[1]], capture_output=True, text=True, check=True).stdout
    soname = re.search(r"SONAME.*\[(.*)\]", dynamic)
    if not soname or not re.fullmatch(r"libtunec\.so\.\d+", soname[1]):
        print(f"SONAME is {soname and soname[1]}, expected libtunec.so.N")
        return 1
    # libLLVM has an isl of its own: ours must be asked first.
    needed = re.findall(r"NEEDED.*\[(.*)\]", dynamic)
    isl = [i for i, name in enumerate(needed) if name.startswith("libisl")]
    llvm = [i for i, name in enumerate(needed) if name.startswith("libLLVM")]
    if not isl or not llvm or isl[0] > llvm[0]:
        print(f"libisl must be needed before libLLVM, not as in {needed}")
        return 1
    return int(exported != declared)


if __name__ == "__main__":
    sys.exit(main())
