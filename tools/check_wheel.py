#!/usr/bin/env python3
"""Checks that a wheel is small, needs only libc, and works after installation.

    check_wheel.py WHEEL [--python FILE]

Makes a virtual environment with the interpreter (default: this one). Installs the wheel with NumPy
and its CUDA dependencies, and runs tests/python there. Every problem is printed; the exit code is 1
if there are any.
"""
import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from check_binaries import path_problems
from check_packed import check_glibc, check_needs, output

ROOT = Path(__file__).resolve().parents[1]
MOST_WHEEL_MEBIBYTES = 35
MOST_INSTALLED_MEBIBYTES = 100
MOST_IMPORT_SECONDS = 0.2  # limit for the fastest of ten imports
BESIDE_LIBC = {"libtunec_python.so"}
MEBIBYTE = 1 << 20

IMPORT = """
import time
started = time.perf_counter()
import tunec
print(time.perf_counter() - started)
"""


def check_sizes(wheel, package):
    """Yields a message if the wheel or the installed package is too large."""
    installed = sum(file.stat().st_size for file in package.rglob("*")
                    if file.is_file() and "__pycache__" not in file.parts)
    for what, size, most in (("the wheel", wheel.stat().st_size, MOST_WHEEL_MEBIBYTES),
                             ("the package", installed, MOST_INSTALLED_MEBIBYTES)):
        print(f"{what}: {size / MEBIBYTE:.1f} MiB")
        if size > most * MEBIBYTE:
            yield f"{what} has {size / MEBIBYTE:.1f} MiB, at most {most}"


def check_binaries(package):
    """Yields a message for each binary that needs more than libc and the other binaries."""
    for file in [*package.glob("*.so"), *package.glob("lib/*.so"), *package.glob("bin/*")]:
        name = str(file.relative_to(package))
        needed = output("readelf", "-d", file)
        yield from path_problems(name, needed)
        for library in BESIDE_LIBC:
            needed = "\n".join(line for line in needed.splitlines() if library not in line)
        yield from check_needs(name, needed)
        yield from check_glibc(name, output("objdump", "-T", file))


def check_import(python):
    """Yields a message if the fastest of ten imports is slow. The first also reads from the
    disk."""
    seconds = min(float(output(python, "-c", IMPORT)) for _ in range(10))
    print(f"import tunec: {seconds:.3f} s")
    if seconds > MOST_IMPORT_SECONDS:
        yield f"import tunec takes {seconds:.3f} s, at most {MOST_IMPORT_SECONDS}"


def check_tests(python, folder):
    """Runs tests/python on the installed package. Yields a message if a test fails."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment["XDG_CACHE_HOME"] = str(folder / "cache")
    ran = subprocess.run([python, "-B", "-m", "unittest"], cwd=ROOT / "tests/python", env=environment)
    if ran.returncode != 0:
        yield "tests/python failed"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--python", default=sys.executable)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        subprocess.run([arguments.python, "-m", "venv", folder / "venv"], check=True)
        python = folder / "venv/bin/python"
        install = [python, "-m", "pip", "install", "--quiet"]
        subprocess.run([*install, "--require-hashes", "-r", ROOT / "tools/python_packages/wheel.txt"], check=True)
        # The wheel's dependencies are already installed.
        subprocess.run([*install, "--no-index", f"{arguments.wheel.resolve()}[cuda]"], check=True)
        package = Path(output(python, "-c", "import tunec; print(tunec.__path__[0])").strip())
        problems = [*check_sizes(arguments.wheel, package), *check_binaries(package),
                    *check_import(python), *check_tests(python, folder)]
        print(output(folder / "venv/bin/tunec", "--version").strip())
    for problem in problems:
        print(f"check_wheel.py: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
