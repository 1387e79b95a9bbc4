#!/usr/bin/env python3
"""Runs the examples of library.md and bundles.md, the pages for C and C++, as a reader would.

    documented_test.py --tunec PROGRAM --library FOLDER [--flags FLAGS]

Commands run on small models with the file names of the page. Blocks of C and C++ are compiled
inside a frame with the declarations that a page assumes. They run without calls that need a GPU.
Blocks of CMake are skipped, because package_test.py tests such a build. A block of C that begins
with a header uses a library that `tunec build --shared` made before. Any other block is an error.
"""
import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/python"))
from documented import blocks_of  # noqa: E402

PAGES = ("library.md", "bundles.md")

GIVEN = r"""
#include <stdint.h>
#include <stdio.h>
#include <tunec/graph.h>
#include <tunec/tunec.h>
static float pixels_in[150528], pixels_out[150528];
static int64_t sizes[4] = {1, 3, 224, 224};
static DLTensor image_in = {pixels_in, {kDLCPU, 0}, 4, {kDLFloat, 32, 1}, sizes, NULL, 0};
static DLTensor image_out = {pixels_out, {kDLCPU, 0}, 4, {kDLFloat, 32, 1}, sizes, NULL, 0};
static DLTensor *inputs[1] = {&image_in}, *outputs[1] = {&image_out};
static void* stream;
static void launch_what_reads_the_outputs(void* of) { (void)of; }
"""
C99 = ("cc", "-std=c99", "-Wall", "-Wno-unused")
CHECK = "  return pixels_out[0] == 3.0f && pixels_out[1] == 0.0f ? 0 : 1;\n"
C = GIVEN + "int main(void) {\n  pixels_in[0] = 3.0f; pixels_in[1] = -3.0f;\n%s\n  return 0;\n}\n"
COMPILED = 'tunec_executable* model = NULL;\nif (tunec_compile("resnet50.onnx", NULL, &model)) return 2;\n'
SHARED = ("%s\n" + re.sub("#include <tunec/.*>", "", GIVEN) +
          "int main(void) {\n  pixels_in[0] = 3.0f;\n%s\n" + CHECK + "}\n")
CPP = ("#include <tunec/tunec.hpp>\n#include <vector>\n" + GIVEN +
       "int main() {\n  std::vector<float> pixels(150528);\n%s\n  return 0;\n}\n")


def varint(number):
    more = [number & 127]
    while number := number >> 7:
        more[-1] |= 128
        more.append(number & 127)
    return bytes(more)


def message(tag, content):
    return bytes([tag]) + varint(len(content)) + content


def relu(dims=(1, 3, 224, 224)):
    """Returns y = relu(x) as an ONNX model, by default of an image. Dynamic dimensions are given as
    names."""
    shape = b"".join(message(0x0a, message(0x12, dim.encode()) if isinstance(dim, str) else b"\x08" + varint(dim))
                     for dim in dims)
    tensor = message(0x0a, b"\x08\x01" + message(0x12, shape))
    node = message(0x0a, b"x") + message(0x12, b"y") + message(0x22, b"Relu")
    graph = (message(0x0a, node) + message(0x12, b"g") + message(0x5a, message(0x0a, b"x") + message(0x12, tensor)) +
             message(0x62, message(0x0a, b"y") + message(0x12, tensor)))
    return b"\x08\x08" + message(0x3a, graph) + message(0x42, b"\x10\x0d")


def kind_of(block):
    if block.startswith(("tunec ", "$ tunec ")):
        return "command"
    if block.startswith('#include "'):
        return "shared"
    if "target_link_libraries" in block:
        return "cmake"
    if "tunec::" in block or "std::" in block:
        return "c++"
    return "c" if "tunec_" in block and ";" in block else None


class Runner:
    """A runner of the blocks of one page, in a folder."""

    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.environment = dict(os.environ, XDG_CACHE_HOME=str(folder / "cache"),
                                LD_LIBRARY_PATH=str(arguments.library.resolve()))

    def call(self, *command):
        subprocess.run(command, cwd=self.folder, env=self.environment, check=True, stdout=subprocess.DEVNULL)

    def command(self, block):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True)
            if words:
                # Other tests cover tuning, so two trials are enough here.
                words = [re.sub(r"^\d+$", "2", word) if before == "--trials" else word
                         for before, word in zip(["", *words], words)]
                open_dims = [word.split("=")[0] for before, word in zip(words, words[1:]) if before == "--dim"]
                (self.folder / "model.onnx").write_bytes(relu(open_dims) if open_dims else relu())
                self.call(self.arguments.tunec.resolve(), *words[1:])

    def program(self, block, compiler, suffix, frame):
        body = block
        if re.search(r"\bmodel\b", block) and not re.search(r"\bmodel\b *=", block):
            body = COMPILED + block
        ran = "tunec_run(" in block
        library = "-ltunec_runtime" if "tunec_load" in block else "-ltunec"
        body = body.replace("if (tunec_run_with_options", "if (stream != NULL && tunec_run_with_options")
        self.compile(compiler, suffix, frame % (body + (CHECK if ran else "")), "-I", ROOT / "api/include",
                     "-L", self.arguments.library.resolve(), library)

    def shared(self, block):
        """Compiles a block that includes a model's generated header. Only the folder's library is
        linked."""
        header, body = block.split("\n", 1)
        name = re.search(r'"(\w+)\.h"', header)[1]
        self.compile(C99, "c", SHARED % (header, body), "-L", ".", f"-l{name}", "-Wl,-rpath,$ORIGIN")

    def compile(self, compiler, suffix, text, *arguments):
        source = self.folder / f"program.{suffix}"
        source.write_text(text)
        self.call(*compiler, *shlex.split(self.arguments.flags), source, "-o", "program", *arguments)
        self.call(self.folder / "program")

    def run(self, block):
        kind = kind_of(block)
        if kind == "command":
            self.command(block)
        elif kind == "c":
            self.program(block, C99, "c", C)
        elif kind == "shared":
            self.shared(block)
        elif kind == "c++":
            self.program(block, ["c++", "-std=c++23", "-Wall", "-Wno-unused"], "cc", CPP)
        elif kind != "cmake":
            raise SystemExit(f"documented_test.py: nobody runs this block:\n{block}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tunec", type=Path, required=True)
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--flags", default="")
    arguments = parser.parse_args()
    for page in PAGES:
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            (folder / "resnet50.onnx").write_bytes(relu())
            runner = Runner(arguments, folder)
            for block in blocks_of((ROOT / "docs/reference" / page).read_text()):
                print(f"{page}: {kind_of(block)}: {block.splitlines()[0]}", flush=True)
                runner.run(block)


if __name__ == "__main__":
    main()
