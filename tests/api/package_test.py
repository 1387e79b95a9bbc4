#!/usr/bin/env python3
"""Installs the build, builds examples/c and examples/cpp against the package outside the tree, and
runs them.

    package_test.py --cmake CMAKE --build DIR --source DIR --generator NAME --make-program PROGRAM
                    --build-type TYPE [--flags FLAGS] [--hardened]

The examples are compiled with FLAGS, because a library with a sanitizer requires the sanitizer in
the program, too. With --hardened, check_binaries.py also checks the hardening of installed files.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CHECK_BINARIES = Path(__file__).parents[2] / "tools/check_binaries.py"


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode:
        raise SystemExit(f"{command[0]}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check_programs(prefix, build_type, hardened):
    for program in ("tunec", "tunec-worker"):
        if not os.access(prefix / "bin" / program, os.X_OK):
            raise SystemExit(f"bin/{program} was not installed")
    installed = [path for folder in ("bin", "lib") for path in sorted((prefix / folder).rglob("*"))]
    for path in installed:
        binary = path.is_file() and not path.is_symlink() and path.suffix != ".cmake"
        if build_type == "Release" and binary and ".debug_info" in run("readelf", "-SW", path):
            raise SystemExit(f"{path.relative_to(prefix)} holds debug information")
    run(sys.executable, CHECK_BINARIES, *hardened, prefix)


def check_pages(prefix):
    for page, part in (("share/man/man1/tunec.1", ".SS tunec bench"),
                       ("share/bash-completion/completions/tunec", "complete -o filenames -F _tunec tunec")):
        if part not in (prefix / page).read_text():
            raise SystemExit(f"{page} does not hold '{part}'")


def check_printed(output):
    for line in ("input a: 32-bit type 2, shape [24, 40]", "output y: 32-bit type 2, shape [24, 56]"):
        if line not in output:
            raise SystemExit(f"expected a line '{line}' in\n{output}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("cmake", "build", "source"):
        parser.add_argument("--" + name, type=Path, required=True)
    for name in ("generator", "make-program", "build-type"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--flags", default="")
    parser.add_argument("--hardened", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tunec-package-") as folder:
        prefix = Path(folder, "prefix")
        run(args.cmake, "--install", args.build, "--prefix", prefix)
        check_programs(prefix, args.build_type, ["--hardened"] if args.hardened else [])
        check_pages(prefix)
        # The generator of this build exists. The default generator may be missing.
        for example in ("c", "cpp"):
            run(args.cmake, "-S", args.source / "examples" / example, "-B", Path(folder, example),
                f"-DCMAKE_PREFIX_PATH={prefix}", "-G", args.generator, f"-DCMAKE_MAKE_PROGRAM={args.make_program}",
                f"-DCMAKE_{'C' if example == 'c' else 'CXX'}_FLAGS={args.flags}")
            run(args.cmake, "--build", Path(folder, example))
        environment = {**os.environ, "XDG_CACHE_HOME": folder}
        model = args.source / "tests/api/matmul.graph"
        # A trial needs the worker. The installed library must find the worker in ../bin.
        options = '{"trials": 1, "threads": 1}'
        check_printed(run(Path(folder, "c/run_model"), model, options, env=environment))
        for words in ((model, options), ("--bytes", model, options)):
            output = run(Path(folder, "cpp/run_session"), *words, env=environment)
            check_printed(output)
            report = json.loads(output.splitlines()[-1].removeprefix("report "))
            if report["threads"] != 1 or report["kernels"][0]["kind"] != "matmul":
                raise SystemExit(f"an unexpected report:\n{output}")
        run(prefix / "bin/tunec", model, "--trials", "1", "--threads", "1", env=environment)
    return 0


if __name__ == "__main__":
    sys.exit(main())
