#!/usr/bin/env python3
"""Makes a wheel from the Python package in the build folder.

    wheel.py --package FOLDER --notices FOLDER --version VERSION --out FOLDER

The package folder is build-packed/python/tunec: the sources, the library, the programs, and native modules for
some versions of Python. The wheel's tags name these versions and the glibc of this machine. The script needs the
Python package `wheel` and binutils' `strip`. Prints the path of the wheel.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STABLE_FROM = 312  # nanobind's stable-interface modules require Python 3.12


def python_tags(package):
    """Returns the wheel's tags of Python versions. cp311-none stands for a native module for 3.11
    only. cp312-abi3 stands for a stable-interface module for 3.12 and later. Modules for the
    versions directly below 3.12 lower the version in this tag, for example to cp311-abi3."""
    names = [file.name for file in package.glob("_native.*.so")]
    versions = sorted(int(found[1]) for name in names if (found := re.search(r"\.cpython-(\d+)-", name)))
    stable = any(name.endswith(".abi3.so") for name in names)
    if not names or len(versions) + stable != len(names):
        sys.exit(f"wheel.py: error: no native module in {package}, or one of no version of Python")
    if not stable:
        return [f"cp{version}-none" for version in versions]
    first = STABLE_FROM
    while first - 1 in versions:
        first -= 1
    return [f"cp{first}-abi3", *(f"cp{version}-none" for version in versions if version < first)]


def platform_tag():
    """Returns the tag of this machine's glibc, with which the binaries were linked."""
    major, minor = os.confstr("CS_GNU_LIBC_VERSION").split()[1].split(".")[:2]
    return f"manylinux_{major}_{minor}_x86_64"


def copy_package(package, into):
    """Copies all files except Python's caches, and strips the binaries."""
    shutil.copytree(package, into, ignore=shutil.ignore_patterns("__pycache__"))
    binaries = [*into.glob("_native.*.so"), *into.glob("lib/*"), *into.glob("bin/*")]
    subprocess.run(["strip", "--strip-unneeded", *binaries], check=True)


def write_facts(folder, version, tags, notices):
    """Writes the .dist-info folder without RECORD, which `wheel pack` adds."""
    folder.mkdir()
    text = (ROOT / "python/METADATA.in").read_text().replace("@PROJECT_VERSION@", version)
    (folder / "METADATA").write_text(text + "\n" + (ROOT / "python/README.md").read_text())
    lines = ["Wheel-Version: 1.0", "Generator: tunec", "Root-Is-Purelib: false"]
    lines += [f"Tag: {tag}-{platform_tag()}" for tag in tags]
    (folder / "WHEEL").write_text("\n".join(lines) + "\n")
    shutil.copy(ROOT / "python/entry_points.txt", folder)
    shutil.copytree(notices, folder / "licenses")
    shutil.copy(ROOT / "LICENSE", folder / "licenses")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("package", "notices", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--version", required=True)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        tree = Path(made) / "tree"
        copy_package(arguments.package, tree / "tunec")
        write_facts(tree / f"tunec-{arguments.version}.dist-info", arguments.version,
                    python_tags(arguments.package), arguments.notices)
        subprocess.run([sys.executable, "-m", "wheel", "pack", "--dest-dir", arguments.out, tree],
                       check=True, stdout=subprocess.DEVNULL)
    print(max(arguments.out.glob("tunec-*.whl"), key=lambda file: file.stat().st_mtime))


if __name__ == "__main__":
    main()
