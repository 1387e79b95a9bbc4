#!/usr/bin/env python3
"""Runs models from bundles in a chroot with only the runtime and the C and C++ libraries.

    check_bundle.py MODEL... [--tunec PROGRAM] [--runtime LIBRARY] [--loads N] [-- OPTIONS of tunec build]

Each MODEL is NAME.onnx, with its inputs in NAME.npz, as bench/peers/models.py writes them. The model is
compiled in place and also built as a bundle. Both run on these inputs, and their outputs must be
bitwise equal. Prints the median, least and greatest time of `tunec_load` in N processes, and the size of
the stripped runtime and its libraries. Requires root (for chroot), a C compiler and numpy.
"""
import argparse
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent

# Usage: run BUNDLE INPUTS OUTPUTS. The files contain the bytes of all inputs or outputs,
# concatenated.
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <tunec/tunec.h>
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}
static DLTensor tensors[64];
static DLTensor* inputs[32];
static DLTensor* outputs[32];
static DLTensor* make(int place, DLDataType type, int ndim, const int64_t* shape, size_t bytes) {
  DLTensor* t = &tensors[place];
  t->device.device_type = kDLCPU;
  t->dtype = type;
  t->ndim = ndim;
  t->shape = (int64_t*)shape;
  t->data = calloc(bytes + 1, 1);
  return t;
}
int main(int argc, char** argv) {
  tunec_executable* m = NULL;
  const double begin = now();
  if (argc != 4 || tunec_load(argv[1], NULL, &m) != TUNEC_OK) return fprintf(stderr, "%s\n", tunec_error_message()), 1;
  const double ready = now() - begin;
  FILE* in = fopen(argv[2], "rb");
  FILE* out = fopen(argv[3], "wb");
  for (size_t i = 0; i < tunec_num_inputs(m); ++i) {
    const size_t bytes = tunec_input_bytes(m, i);
    inputs[i] = make((int)i, tunec_input_type(m, i), tunec_input_ndim(m, i), tunec_input_shape(m, i), bytes);
    if (fread(inputs[i]->data, 1, bytes, in) != bytes) return 3;
  }
  for (size_t i = 0; i < tunec_num_outputs(m); ++i)
    outputs[i] = make(32 + (int)i, tunec_output_type(m, i), tunec_output_ndim(m, i), tunec_output_shape(m, i),
                      tunec_output_bytes(m, i));
  if (tunec_run(m, inputs, outputs) != TUNEC_OK) return fprintf(stderr, "%s\n", tunec_error_message()), 1;
  for (size_t i = 0; i < tunec_num_outputs(m); ++i) fwrite(outputs[i]->data, 1, tunec_output_bytes(m, i), out);
  fclose(out);
  printf("%.3f\n", ready);
  tunec_release(m);
  return 0;
}
"""


def called(*command):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True).stdout


def needed(file):
    """Returns the paths of the libraries that a file needs."""
    return [Path(path) for path in re.findall(r"(/\S+) \(0x", called("ldd", file))]


def make_room(folder, runtime):
    """Fills the folder with the program and its dependencies. Returns the stripped runtime's
    path."""
    (folder / "program.c").write_text(PROGRAM)
    called("cc", "-O1", "-I", ROOT / "api/include", folder / "program.c", "-o", folder / "run", runtime.resolve(),
           "-Wl,-rpath,/lib")
    (folder / "program.c").unlink()
    (folder / "lib").mkdir()
    stripped = folder / "lib" / re.search(r"SONAME.*\[(.*)\]", called("readelf", "-d", runtime))[1]
    called("strip", "-o", stripped, runtime)
    for path in {*needed(runtime), *needed(folder / "run")}:
        where = folder / path.relative_to("/")
        if path.name == stripped.name:
            continue
        where.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path.resolve(), where)
    return stripped


def check(model, folder, options):
    """Returns the loading times in milliseconds. Raises if an output bit differs."""
    arrays, reference = model.with_suffix(".npz"), folder / "wanted.npz"
    build = [*options.options, "--no-db"]
    called(options.tunec, "build", model, *build, "-o", folder / "model.tnc")
    called(options.tunec, "run", model, *build, "--inputs", arrays, "--outputs", reference)
    with np.load(arrays) as given:
        (folder / "in").write_bytes(b"".join(given[name].tobytes() for name in given.files if name.startswith("x")))
    times = [float(called("chroot", folder, "/run", "/model.tnc", "/in", "/out")) for _ in range(options.loads)]
    with np.load(reference) as right:
        if (folder / "out").read_bytes() != b"".join(right[name].tobytes() for name in right.files):
            raise SystemExit(f"check_bundle.py: {model}: the outputs differ")
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL")
    parser.add_argument("--tunec", type=Path, default=ROOT / "build/bin/tunec")
    parser.add_argument("--runtime", type=Path, default=ROOT / "build/lib/libtunec_runtime.so")
    parser.add_argument("--loads", type=int, default=10)
    words = sys.argv[1:]
    own = words[:words.index("--")] if "--" in words else words
    options = parser.parse_args(own)
    options.options = words[len(own) + 1:]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        stripped = make_room(folder, options.runtime)
        print(f"{stripped.name}: {stripped.stat().st_size} bytes stripped; needs "
              f"{', '.join(sorted(path.name for path in needed(options.runtime)))}")
        for model in options.models:
            times = check(model, folder, options)
            print(f"{model.stem}: equal to the bit; ready after {statistics.median(times):.2f} ms, at least "
                  f"{min(times):.2f}, at most {max(times):.2f}; bundle of "
                  f"{(folder / 'model.tnc').stat().st_size} bytes")


if __name__ == "__main__":
    main()
