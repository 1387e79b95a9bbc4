#!/usr/bin/env python3
"""Tests models as shared libraries (`tunec build --shared`) in a program that has two of them and
nothing else of tunec.

    shared_library_test.py --tunec PROGRAM --cc PROGRAM --cxx PROGRAM [--flags=FLAGS]
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent / "shared_test.c"
NEEDED = r"lib(c|m|stdc\+\+|gcc_s)\.so\.\d+|ld-linux-x86-64\.so\.2"
FIRST = """graph first {
  input x: f32[2, 3]
  input row: i64[1, 1]
  input cache: f32[4, 3]
  constant w: f32[3, 2] = [1, 2, 3, 4, 5, 6]
  constant one: f32[2] = [1, 1]
  m = matmul(x, w)
  y = add(m, one)
  r = slice(x) {starts=[0, 0], ends=[1, 3]}
  updated = scatter(cache, row, r)
  output y
  output updated
}
"""
SECOND = """graph second {
  input x: f32[n]
  y = relu(x)
  output y
}
"""
SIZES = ("--dim", "n=2,8")
FUNCTIONS = ("create", "error", "output_shapes", "release", "run")


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **options).stdout


def build(tunec, folder, text, name, *options):
    model = folder / "model.graph"
    model.write_text(text)
    run(tunec, "build", model, "--no-db", "--threads", 2, *options, "--shared", "-o",
        folder / "libraries" / name)


def check_library(library, model, with_needs):
    """Yields errors in the library's soname, dependencies (`with_needs`), exports and sections."""
    words = run("readelf", "-W", "-d", library)
    if f"soname: [{library.name}]" not in words:
        yield f"{library.name} has another name"
    needs = re.findall(r"NEEDED.*\[(.*)\]", words)
    if with_needs:
        yield from (f"it needs {name}" for name in needs if not re.fullmatch(NEEDED, name))
    shown = sorted(line.split()[-1] for line in run("nm", "-D", "--defined-only", library).splitlines())
    if shown != [f"{model}_{function}" for function in FUNCTIONS]:
        yield f"it shows {shown}"
    sections = run("readelf", "-W", "-l", "-S", library)
    if "arning" in sections or "rror" in sections.replace("_error", ""):
        yield sections


def program(arguments, folder, compiler, *language):
    """Compiles the program, links both libraries, and runs it with an empty environment."""
    made = folder / "program"
    libraries = folder / "libraries"
    run(compiler, *language, "-Wall", "-Wextra", "-Werror", *arguments.flags.split(), f"-I{folder}", SOURCE,
        "-o", made, f"-L{libraries}", "-lfirst", "-l:second-one.so", "-Wl,-rpath," + str(libraries))
    run("env", "-i", made)


def rejections(tunec, folder):
    model = folder / "model.graph"
    for options, words in ((("-o", folder / "model.tnc"), "a library's name is model.so"),
                           (("-o", folder / ("x" * 200 + ".so")), "expected at most"),
                           (("-o", folder / "none" / "model.so"), "none")):
        command = (tunec, "build", model, "--no-db", *SIZES, "--shared", *options)
        answer = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if answer.returncode == 0 or words not in answer.stderr:
            yield f"{options}: {answer.stderr}"


def main():
    parser = argparse.ArgumentParser()
    for name in ("tunec", "cc", "cxx"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--flags", default="")
    arguments = parser.parse_args()
    problems = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        libraries = folder / "libraries"
        libraries.mkdir()
        build(arguments.tunec, folder, FIRST, "libfirst.so")
        build(arguments.tunec, folder, SECOND, "second-one.so", *SIZES)
        for library, model in (("libfirst.so", "first"), ("second-one.so", "second_one")):
            problems += check_library(libraries / library, model, not arguments.flags)
        program(arguments, folder, arguments.cc, "-std=c99", "-pedantic", "-D_GNU_SOURCE")
        program(arguments, folder, arguments.cxx, "-x", "c++")
        # Package tools strip libraries, so the program must also run with stripped ones.
        for library in libraries.glob("*.so"):
            run("strip", "--strip-unneeded", library)
            problems += check_library(library, {"libfirst.so": "first"}.get(library.name, "second_one"), False)
        run("env", "-i", folder / "program")
        problems += rejections(arguments.tunec, folder)
    print("\n".join(problems))
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
