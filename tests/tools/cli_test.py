#!/usr/bin/env python3
"""Runs tunec on good and bad input and looks at exit codes, messages and files.

    cli_test.py --tunec PROGRAM [unittest's arguments]

One file, long for its cases: all of them run one program by the helpers at the top.
"""
import io
import json
import os
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile
from pathlib import Path
from xml.etree import ElementTree

from onnx_bytes import model, node, tensor

TUNEC = None
# TUNEC_REQUIRE_PTXAS makes its absence a failure.
PTXAS = any(os.environ.get(name) for name in ("TUNEC_PTXAS", "TUNEC_REQUIRE_PTXAS")) or shutil.which("ptxas")
NVDISASM = os.environ.get("TUNEC_NVDISASM") or shutil.which("nvdisasm")
COMPUTE = """compute matvec {
  input M: f32[96, 64]
  input x: f32[64]
  output y: f32[96]
  workspace acc: f32[96]
  product[i: 96, j: 64 reduction]:
    acc[i] sum= M[i, j] * x[j]
  result[i: 96]:
    y[i] = acc[i]
}
"""
SIZED_GRAPH = """graph sized {
  input x: f32[batch, length, 3]
  y = reduce_mean(x) {axes=[1], keepdims=0}
  output y
}
"""
GRAPH = """graph g {
  input a: f32[24, 40]
  input b: f32[40, 56]
  p = matmul(a, b)
  r = relu(p)
  output y = r
}
"""
HALF = """graph h {
  input a: f16[8, 64]
  input b: f16[64, 48]
  p = matmul(a, b)
  s = silu(p)
  output y = s
}
"""
QUANTISED = """graph q {
  input x: f32[4, 40]
  input w: f32[40, 24]
  constant step: f32[] = 0.05
  p = matmul(x, w)
  d = div(p, step)
  r = round(d)
  c = clip(r) {min=-128, max=127}
  l = cast(c) {to="i8"}
  f = cast(l) {to="f32"}
  y = mul(f, step)
  output y = y
}
"""
DOT = """compute d {
  input a: f32[40]
  input b: f32[40, 24]
  output y: f32[24]
  y[j: 24, k: 40 reduction]:
    y[j] sum= a[k] * b[k, j]
}
"""
RELU = model([node("Relu", ["x"], ["y"])], {"x": [2, 3]}, {"y": [2, 3]})


def npz(**arrays):
    """The bytes of an .npz of float32 arrays: name -> (shape, numbers)."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, (shape, numbers) in arrays.items():
            header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
            header += " " * (-(len(header) + 11) % 64) + "\n"
            archive.writestr(name + ".npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) +
                             header.encode() + struct.pack(f"<{len(numbers)}f", *numbers))
    return content.getvalue()


def only_number(path):
    """The one float32 of the one array in an .npz."""
    with zipfile.ZipFile(path) as archive:
        return struct.unpack("<f", archive.read(archive.namelist()[0])[-4:])[0]


def model_of_open_shape():
    return model([node("Relu", ["x"], ["y"])], {"x": ["n", 3]}, {"y": ["n", 3]})


class Cli(unittest.TestCase):
    ceilings = None  # a database with those of this machine

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="tunec-cli-")
        self.addCleanup(self.folder.cleanup)
        self.dir = Path(self.folder.name)
        self.environment = {**os.environ, "HOME": str(self.dir), "XDG_CACHE_HOME": str(self.dir / "cache")}

    def file(self, name, content):
        path = self.dir / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def tunec(self, *arguments, program=None):
        return subprocess.run([program or TUNEC, *map(str, arguments)], capture_output=True, text=True, cwd=self.dir,
                              env=self.environment, timeout=300)

    def good(self, *arguments):
        done = self.tunec(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return done.stdout

    def bad(self, code, message, *arguments):
        """The exit code, and an error in our style that holds the message."""
        done = self.tunec(*arguments)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        first = [line for line in done.stderr.splitlines() if "error: " in line][0]
        self.assertIn(message, done.stderr)
        text = first.split("error: ", 1)[1]
        self.assertNotRegex(text, r"^[A-Z][a-z]|\.$")
        return done

    # --- files that show and opt write

    def test_the_optimised_graph_as_onnx(self):
        graph = self.file("p.graph", GRAPH)
        self.assertEqual(self.good("show", graph, "--no-db", "--onnx", "show.onnx"), "")
        self.assertEqual(self.good("opt", graph, "--onnx", "opt.onnx"), "")
        self.assertEqual((self.dir / "show.onnx").read_bytes(), (self.dir / "opt.onnx").read_bytes())
        self.assertIn("ok", self.good("verify", "show.onnx", "--no-db"))
        self.bad(2, "nowhere", "show", graph, "--no-db", "--onnx", "nowhere/out.onnx")

    def test_a_drawing_needs_graphviz(self):
        graph = self.file("p.graph", GRAPH)
        (self.dir / "empty").mkdir()
        self.environment["PATH"] = str(self.dir / "empty")
        self.bad(2, "install the package graphviz", "show", graph, "--no-db", "--svg", "p.svg")
        dot = self.dir / "empty" / "dot"  # stands in for Graphviz: copies its input to its output
        dot.write_text('#!/bin/sh\n[ "$1" = -Tsvg ] && [ "$2" = -o ] && exec /bin/cp "$4" "$3"\n')
        dot.chmod(0o755)
        self.good("show", graph, "--no-db", "--svg", "p.svg")
        self.assertIn("digraph", (self.dir / "p.svg").read_text())
        dot.write_text("#!/bin/sh\nexit 1\n")
        self.bad(2, "dot failed", "show", graph, "--no-db", "--svg", "q.svg")
        self.assertEqual(sorted(path.name for path in self.dir.iterdir()), ["empty", "p.graph", "p.svg"])

    def test_a_device_is_not_replaced(self):
        self.bad(2, "not a regular file", "opt", self.file("p.graph", GRAPH), "--onnx", "/dev/null")

    def test_passes_are_verified(self):
        graph = self.file("p.graph", GRAPH)
        self.assertIn("canonicalize", self.good("verify", graph, "--no-db", "--pipeline"))
        self.bad(2, "no pass is called 'nothing'", "verify", graph, "--no-db", "--pass", "nothing")
        self.bad(2, "--random-inputs is 0", "verify", graph, "--no-db", "--pipeline", "--random-inputs", 0)

    # --- the user's mistakes

    def test_missing_file(self):
        self.bad(2, "nowhere.onnx", "nowhere.onnx")
        self.bad(2, "nowhere.onnx", "verify", "nowhere.onnx")

    def test_truncated_onnx(self):
        for size in (1, 7, len(RELU) // 2, len(RELU) - 1):
            self.bad(2, "cut.onnx", "show", self.file("cut.onnx", RELU[:size]))

    def test_garbage(self):
        self.bad(2, "junk.onnx", "show", self.file("junk.onnx", bytes(range(256)) * 8))
        self.bad(2, "empty.onnx", "show", self.file("empty.onnx", b""))
        self.bad(2, "junk.graph:1:1: error:", "show", self.file("junk.graph", "\x01\x02 what"))
        self.bad(2, "unknown kind of model", "show", self.file("model.txt", "x"))

    def test_unknown_operators_are_all_listed(self):
        path = self.file("foo.onnx", model([node("Foo", ["x"], ["t"]), node("Bar", ["t"], ["y"])],
                                           {"x": [2]}, {"y": [2]}))
        done = self.bad(2, "Foo", path)
        self.assertIn("Bar", done.stderr)

    def test_shapes(self):
        path = self.file("open.onnx", model([node("Relu", ["x"], ["y"])], {"x": ["n", 3]}, {"y": ["n", 3]}))
        self.bad(2, "x", "show", path)
        for shape in ("x", "x=", "x=2xq", "x=-2x3", "x=2", "x=2x4", "z=2x3"):
            self.bad(2, "shape", "show", path, "--shape", shape)
        self.assertIn("f32[5x3]", self.good("show", path, "--shape", "x=5x3"))

    def test_arrays_and_named_dimensions_give_open_shapes(self):
        path = self.file("open.onnx", model([node("Relu", ["x"], ["y"])], {"x": ["n", 3]}, {"y": ["n", 3]}))
        for command in ([], ["run"], ["show"], ["verify"], ["bench"], ["opt"]):
            self.bad(2, "1 input has open dimensions: 'x' is [n, 3]; fix them, for example with --dim n=1",
                     *command, path)
        for dim in ("n", "n=", "n=-1", "=4", "n=four", "n=99999999999999999999"):
            self.bad(2, f"--dim {dim}: expected a dimension and its size", "show", path, "--dim", dim)
        self.bad(2, "too many elements", "show", path, "--dim", "n=9223372036854775807")
        self.bad(2, "the model's open dimensions are n", "show", path, "--dim", "m=4")
        self.bad(2, "this name is given twice", "show", path, "--dim", "n=4", "--dim", "n=5")
        self.bad(2, "dimension n has 2 sizes, wanted one", "show", path, "--dim", "n=4,5")
        self.bad(2, "expected a dimension and its size", "show", path, "--dim", "n=4,")
        several = self.good(path, "--dim", "n=4,6", "--no-db")
        self.assertIn("n=4:\n", several)
        self.assertIn("n=6:\n", several)
        self.assertEqual(several.count("ready to run"), 2)
        self.bad(2, "--json is of one size", path, "--dim", "n=4,6", "--json")
        self.assertIn("f32[5x3]", self.good("show", path, "--dim", "n=5"))
        fixed = self.file("fixed.onnx", model([node("Relu", ["z"], ["x"])], {"z": [5, 3]}, {"x": [5, 3]}))
        self.good("run", fixed, "--outputs", "x.npz")
        self.assertIn("y f32[5x3]", self.good("run", path, "--inputs", "x.npz"))
        self.assertIn("ok", self.good("verify", path, "--inputs", "x.npz"))
        self.assertIn("compiled", self.good("bench", path, "--inputs", "x.npz", "--runs", "3"))
        self.bad(2, "dimension 'n' is given as 4, and as 5 by the shape of input 'x'",
                 "run", path, "--inputs", "x.npz", "--dim", "n=4")

    def test_named_dimensions_are_shown_but_not_run(self):
        path = self.file("named.graph", "graph g {\n  input x: f32[batch, 3]\n  y = relu(x)\n  output y = y\n}\n")
        self.assertIn("batch", self.good("show", path))
        for command in ([], ["run"], ["bench"], ["verify"]):
            self.bad(2, "input x of g has a dimension that is not fixed", *command, path)

    def test_options(self):
        path = self.file("g.graph", GRAPH)
        self.bad(2, "--trials", path, "--trials", "many")
        self.bad(2, "--trials", path, "--trials", "-1")
        self.bad(2, "--frobnicate", path, "--frobnicate")
        self.bad(2, "--target tpu: expected cpu", path, "--target", "tpu")
        self.bad(2, "pdp11", path, "--cpu", "pdp11")
        self.bad(2, "f33", path, "--accuracy", "f33")
        self.bad(2, "no_such_pass", path, "--disable-pass", "no_such_pass")
        self.bad(2, "no_such_pass", "opt", path, "--passes", "no_such_pass")
        self.bad(2, "no group", "show", path, "--nest", "99")
        self.bad(2, "did you mean loop_steps?", "show", path, "--after", "loop_step")
        self.bad(2, "MODEL")
        self.bad(2, "MODEL", "run")
        self.bad(2, "", "db")
        self.bad(2, "--trials is an option", "--trials", "3", "bench", path)

    def test_what_a_misspelt_word_may_have_meant(self):
        path = self.file("g.graph", GRAPH)
        self.bad(2, "no command and no file bnech; did you mean bench?", "bnech", path)
        self.bad(2, "no command and no file verfy; did you mean verify?", "verfy")
        self.bad(2, "there is no file nothing", "nothing")
        self.bad(2, "unknown option --thread of tunec run; did you mean --threads?", "run", path, "--thread=2")
        self.bad(2, "unknown option --nosuch of tunec run", "run", "--nosuch")
        self.bad(2, "unexpected argument more of tunec run", "run", path, "more")
        (self.dir / "bench").write_text("")  # a file of this name is a model
        self.bad(2, "unknown kind of model", "./bench")

    def test_help_as_a_command(self):
        self.assertEqual(self.good("help"), self.good("--help"))
        self.assertEqual(self.good("help", "bench"), self.good("bench", "--help"))
        self.assertEqual(self.good("help", "db", "list"), self.good("db", "list", "--help"))
        self.bad(2, "there is no command bnech; did you mean bench?", "help", "bnech")
        self.bad(2, "there is no command lsit of tunec db; did you mean list?", "help", "db", "lsit")

    def test_weights_have_to_come_from_somewhere(self):
        path = self.file("w.graph", "graph g {\n  weight w: f32[2]\n  output y = w\n}\n")
        self.bad(2, "w.graph:2:", "show", path)
        self.good("show", path, "--random-weights", "1")

    def test_foreign_database_is_left_alone(self):
        path = self.file("g.graph", GRAPH)
        foreign = self.dir / "foreign.db"
        with sqlite3.connect(foreign) as connection:
            connection.execute("create table notes (text)")
        connection.close()
        for name, content in (("text.db", b"not a database at all, but long enough to be read as one" * 40),
                              ("foreign.db", foreign.read_bytes())):
            target = self.file(name, content)
            self.bad(2, name, path, "--db", target)
            self.assertEqual(Path(target).read_bytes(), content)
        self.bad(2, str(self.dir), path, "--db", self.dir)

    def test_unreadable_inputs(self):
        path = self.file("g.graph", GRAPH)
        self.bad(2, "in.npz", "run", path, "--inputs", "in.npz")
        self.bad(2, "in.npz", "run", path, "--inputs", self.file("in.npz", b"junk"))

    # --- what works

    def test_help_and_version(self):
        self.assertRegex(self.good("--version"), r"^tunec \d+\.\d+\.\d+\n$")
        text = self.good("--help")
        for command in ("run", "bench", "verify", "show", "opt", "db", "doctor", "--trials"):
            self.assertIn(command, text)
            if not command.startswith("-"):
                self.assertIn("tunec", self.good(command, "--help"))

    def test_the_page_of_man(self):
        page = self.good("help", "--man-page")
        for part in (".TH TUNEC 1", ".SS tunec bench", ".SS tunec db list", r"\-\-trials N", ".SH EXIT STATUS"):
            self.assertIn(part, page)
        self.assertEqual(page.count(r".B \-\-trials N"), 1, "an option of many commands is explained once")
        for line in page.splitlines():
            self.assertRegex(line, r"^(\.([A-Z]{1,2}|br)( |$)|[^.'])")  # a macro, or text that is none
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-Tascii", "-ww"], input=page, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("--unfused", re.sub(".\b", "", done.stdout))

    def complete(self, *words):
        """What bash offers for the last word."""
        script = self.file("tunec.bash", self.good("help", "--bash-completion"))
        ask = (f"source {script}; COMP_WORDS=({' '.join(map(repr, words))}); COMP_CWORD={len(words) - 1}; _tunec; "
               'printf "%s\\n" "${COMPREPLY[@]}"')
        return subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True,
                              cwd=self.dir).stdout.split()

    def test_completion(self):
        self.file("bench.graph", GRAPH)
        self.assertEqual(self.complete("tunec", "ben"), ["bench", "bench.graph"])
        self.assertEqual(self.complete("tunec", "bench", "--unf"), ["--unfused"])
        self.assertEqual(self.complete("tunec", "--tri"), ["--trials"])
        self.assertEqual(self.complete("tunec", "db", "li"), ["list"])
        self.assertEqual(self.complete("tunec", "db", "prune", "--keep"), ["--keep-best"])
        self.assertEqual(self.complete("tunec", "run", "bench.g"), ["bench.graph"])

    def test_completion_and_man_page_know_every_option(self):
        page = self.good("help", "--man-page").replace("\\-", "-")
        for command in ("run", "bench", "verify", "show", "opt", "schedule", "doctor", "db list", "db prune"):
            words = command.split()
            options = set(re.findall(r"(?m)^  (?:-\w,)?(--[a-z-]+)", self.good(*words, "--help")))
            self.assertGreater(len(options), 1)
            self.assertLessEqual(options, set(self.complete("tunec", *words, "--")), command)
            for option in options:
                self.assertIn(option, page)

    def test_run_writes_what_run_reads(self):
        path = self.file("g.graph", GRAPH)
        self.good("run", path, "--outputs", "y.npz")
        self.assertTrue((self.dir / "y.npz").exists())
        self.bad(2, "y.npz has no array 'a'", "run", path, "--inputs", "y.npz")
        self.assertEqual(self.good("run", path), self.good("run", path))
        self.assertNotEqual(self.good("run", path), self.good("run", path, "--input-seed", "5"))
        done = self.tunec("run", path, "--outputs", "/dev/full/y.npz")
        self.assertEqual(done.returncode, 2, done.stderr)

    def test_verify(self):
        path = self.file("g.graph", GRAPH)
        for extra in ((), ("--naive",), ("--accuracy", "exact"), ("--threads", "1")):
            self.assertIn("ok", self.good("verify", path, *extra))
        self.good("run", path, "--outputs", "y.npz", "--input-seed", "3")
        relu = self.file("relu.onnx", RELU)
        data = self.dir / "data"
        data.mkdir()
        (data / "input_0.pb").write_bytes(tensor([2, 3], [-1, 0, 1, 2, -3, 4]))
        (data / "output_0.pb").write_bytes(tensor([2, 3], [0, 0, 1, 2, 0, 4]))
        self.assertIn("expected", self.good("verify", relu, "--test-data", data))
        (data / "output_0.pb").write_bytes(tensor([2, 3], [0, 0, 1, 2, 1, 4]))
        self.assertIn("wrong", self.bad(1, "differ", "verify", relu, "--test-data", data).stdout)
        (data / "output_0.pb").write_bytes(tensor([3, 2], [0, 0, 1, 2, 1, 4]))
        self.bad(2, "output_0.pb is f32[3x2]", "verify", relu, "--test-data", data)

    def test_verify_under_a_contract_that_rounds(self):
        """What roundings do to a chain of products is allowed, and what a wrong one of them does is not."""
        def chain(layers, rows="f32[9, 64]", wrong=None):
            mask = ", ".join(["1.0"] * 56 + ["0.0"] * 8)
            lines = [f"input x0: {rows}", f"constant mask: f32[64] = [{mask}]"]
            lines += [f"weight w{i}: f32[64, 64] init=normal(0.18)" for i in range(layers)]
            for i in range(layers):
                # The wrong one leaves out the last products of every sum.
                lines.append(f"m{i} = mul(x{i}, mask)" if i == wrong else f"m{i} = identity(x{i})")
                lines += [f"h{i} = matmul(m{i}, w{i})", f"x{i + 1} = relu(h{i})"]
            return "graph chain {\n  " + "\n  ".join([*lines, f"output y = x{layers}", "output x0"]) + "\n}\n"
        options = ("--random-weights", "7", "--no-db")
        right = self.file("right.graph", chain(20))
        for contract in ("bf16", "tf32"):
            text = self.good("verify", right, *options, "--accuracy", contract)
            self.assertIn(f"(the contract is {contract}: twice what rounding", text)
        self.assertNotIn("contract", self.good("verify", right, *options))
        for layer in (0, 10, 19):
            wrong = self.file("wrong.graph", chain(20, wrong=layer))
            self.good("run", wrong, *options, "--outputs", "y.npz")
            for extra in ((), ("--skip-reference",)):
                done = self.bad(1, "differ", "verify", right, *options, "--accuracy", "bf16",
                                "--expected", "y.npz", *extra)
                self.assertRegex(done.stdout, "expected .* wrong")

    def test_a_gpu_is_emulated(self):
        path = self.file("g.graph", GRAPH)
        cuda = ("--target", "cuda", "--arch", "sm_90a")
        self.assertIn("ok", self.good("verify", path, *cuda, "--emulate", "--no-db"))
        self.assertIn(".target sm_90a", self.good("show", path, *cuda, "--no-db", "--asm", "0"))
        self.bad(2, "unknown arch 'sm_7', expected one of sm_80, ", "verify", path, "--target", "cuda",
                 "--arch", "sm_7")
        self.bad(2, "arch is for the target cuda", "verify", path, "--arch", "sm_90a")
        self.bad(2, "unknown gpu 'a100' of sm_90a, expected one of h100, ", "verify", path, *cuda, "--gpu", "a100")
        self.bad(2, "gpu is for the target cuda", "verify", path, "--gpu", "h100")

    def test_the_ptx_of_a_gpu_s_kernels(self):
        twice = GRAPH.replace("output y = r", "s = softmax(r) {axis=0}\n  output y = r\n  output z = s")
        path = self.file("g.graph", twice)
        cuda = ("--no-db", "--target", "cuda", "--arch", "sm_86")
        one = self.good("show", path, *cuda, "--ptx", "0")
        self.assertEqual(one, self.good("show", path, *cuda, "--asm", "0"))
        self.assertEqual(one.count(".target sm_86"), 1)
        every = self.good("show", path, *cuda, "--ptx")
        self.assertEqual(re.findall(r"(?m)^// group (\d+)$", every), ["0", "1"])
        self.assertEqual(every.count(".target sm_86"), 2)
        self.assertIn(one, every)
        self.assertEqual(one, self.good("show", path, *cuda, "--emulate", "--ptx", "0"))
        self.bad(2, "--ptx is for the target cuda; a processor's code is --asm", "show", path, "--no-db", "--ptx")
        self.bad(2, "--sass is for the target cuda", "show", path, "--no-db", "--sass", "0")
        self.bad(2, "no group '7'", "show", path, *cuda, "--ptx", "7")

    def without_toolkit(self):
        """No program of NVIDIA's is found."""
        for name in ("TUNEC_PTXAS", "TUNEC_NVDISASM"):
            self.environment.pop(name, None)
        self.environment["PATH"] = self.environment["CUDA_HOME"] = "/nowhere"

    @unittest.skipUnless(PTXAS and NVDISASM, "no ptxas or no nvdisasm")
    def test_the_machine_code_of_a_gpu_s_kernels(self):
        path = self.file("g.graph", GRAPH)
        for arch, name in (("sm_80", "sm_80"), ("sm_90a", "sm_90a")):
            cuda = ("--no-db", "--target", "cuda", "--arch", arch)
            one = self.good("show", path, *cuda, "--sass", "0")
            self.assertRegex(one, rf"(?m)^\s*\.target\s+{name}$")
            self.assertIn("FFMA", one)
            self.assertEqual("// group 0\n" + one, self.good("show", path, *cuda, "--sass"))
            self.assertEqual(one, self.good("show", path, *cuda, "--emulate", "--sass", "0"))

    def test_the_machine_code_needs_nvidia_s_programs(self):
        path = self.file("g.graph", GRAPH)
        sass = ("show", path, "--no-db", "--target", "cuda", "--arch", "sm_90a", "--sass")
        self.without_toolkit()
        self.bad(2, "no nvdisasm, NVIDIA's disassembler, in PATH or a CUDA toolkit: `pip install "
                    "nvidia-cuda-nvdisasm==13.2.86` brings one, and TUNEC_NVDISASM names its file", *sass)
        self.environment["TUNEC_NVDISASM"] = self.program("nvdisasm", "echo V13.2.86")
        self.bad(2, "no ptxas, NVIDIA's assembler, in PATH or a CUDA toolkit: `pip install nvidia-cuda-nvcc==13.0.88`",
                 *sass)

    def program(self, name, script):
        path = self.dir / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return str(path)

    def doctor(self, code, program=None):
        """doctor's JSON, and its lines by their first word. It measures once for all tests: that takes seconds."""
        if Cli.ceilings is None:
            folder = tempfile.TemporaryDirectory(prefix="tunec-cli-")
            self.addClassCleanup(folder.cleanup)
            Cli.ceilings = folder.name + "/ceilings.db"
            self.tunec("doctor", "--measure", "--db", Cli.ceilings, "--threads", "1")
        done = self.tunec("doctor", "--db", Cli.ceilings, "--threads", "1", "--json", program=program)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        report = json.loads(done.stdout)
        return report, {row["what"]: row for row in report["checks"]}

    def test_doctor_without_gpu_and_toolkit(self):
        self.without_toolkit()
        self.environment["TUNEC_LIBCUDA"] = ""
        report, checks = self.doctor(0)
        if report["gpus"]:
            self.skipTest("this machine has a GPU")
        self.assertIn("no NVIDIA driver: libcuda.so.1", checks["driver"]["found"])
        self.assertIn("pip install nvidia-cuda-nvcc==13.0.88", checks["ptxas"]["found"])
        self.assertIn("pip install nvidia-cuda-nvdisasm==13.2.86", checks["nvdisasm"]["found"])
        self.assertTrue(all(row["ok"] for row in checks.values()))
        self.assertEqual(set(report["cuda"].values()), {None})

    def test_an_assembler_beside_tunec_comes_first(self):
        self.without_toolkit()
        self.script_cuda()
        self.environment["PATH"] = str(self.dir)
        self.program("ptxas", "echo V13.0.87")
        (self.dir / "packed/bin").mkdir(parents=True)
        tunec = shutil.copy(TUNEC, self.dir / "packed/bin/tunec")
        self.program("packed/bin/tunec-worker", "exit 0")
        beside = self.program("packed/bin/ptxas", "echo V13.0.88")
        _, checks = self.doctor(0, tunec)
        self.assertEqual(checks["ptxas"]["found"], f"13.0.88, {beside}")

    def script_cuda(self, script=""):
        self.environment["TUNEC_LIBCUDA"] = str(Path(TUNEC).parent.parent / "lib/libscripted_cuda.so")
        self.environment["TUNEC_CUDA_SCRIPT"] = script

    def test_doctor_of_a_gpu(self):
        self.without_toolkit()
        self.script_cuda()
        report, checks = self.doctor(1)
        self.assertEqual(checks["driver"]["found"], f"CUDA 13.0, {self.environment['TUNEC_LIBCUDA']}")
        self.assertEqual(checks["gpu"]["found"],
                         "NVIDIA S1 (device 0): sm_90a, 132 multiprocessors, 1.00 MiB, 50.0 MiB L2, 227 KiB shared by a "
                         "block, GPU-00010203-0405-0607-0809-0a0b0c0d0e0f")
        gpu, = report["gpus"]
        self.assertEqual([gpu[key] for key in ("number", "name", "capability", "arch", "multiprocessors")],
                         [0, "NVIDIA S1", "9.0", "sm_90a", 132])
        self.assertEqual([gpu[key] for key in ("memory_bytes", "l2_bytes", "shared_bytes")],
                         [1 << 20, 50 << 20, 227 << 10])
        # A GPU without an assembler is of no use.
        self.assertEqual([what for what, row in checks.items() if not row["ok"]], ["ptxas"])
        self.environment["TUNEC_PTXAS"] = ptxas = self.program("ptxas", "echo Cuda compilation tools, V13.0.88")
        self.environment["TUNEC_NVDISASM"] = nvdisasm = self.program("nvdisasm", "echo V13.2.86")
        report, checks = self.doctor(0)
        self.assertEqual(checks["ptxas"]["found"], f"13.0.88, {ptxas}")
        self.assertEqual(report["cuda"], {"driver": self.environment["TUNEC_LIBCUDA"], "cuda_version": "13.0",
                                          "ptxas": ptxas, "ptxas_version": "13.0.88",
                                          "nvdisasm": nvdisasm, "nvdisasm_version": "13.2.86"})

    def test_doctor_says_what_is_wrong_with_a_driver(self):
        self.environment["TUNEC_PTXAS"] = self.program("ptxas", "echo V13.0.88")
        self.environment["TUNEC_NVDISASM"] = self.program("nvdisasm", "echo V13.2.86")
        for script, what, message in (
                ("init 34", "driver", "is the CUDA toolkit's stub"),
                ("init 100", "driver", "the NVIDIA driver finds no GPU (error 100)"),
                ("version 11080", "driver", "too old: it supports CUDA 11.8, tunec needs 12.0"),
                ("gpu 7 5", "gpu", "no code is generated for NVIDIA S1 (device 0), whose compute capability is 7.5"),
                ("version 12040", "ptxas", "is ahead of the driver, of CUDA 12.4, which may refuse its code")):
            with self.subTest(script):
                self.script_cuda(script)
                report, checks = self.doctor(1)
                self.assertIn(message, checks[what]["found"])
                self.assertEqual([name for name, row in checks.items() if not row["ok"]], [what])
                self.assertEqual(report["problems"], 1)
        self.environment["TUNEC_LIBCUDA"] = "/nowhere/libcuda.so.1"
        _, checks = self.doctor(1)
        self.assertFalse(checks["driver"]["ok"])

    def test_doctor_refuses_a_ptxas_of_wrong_code(self):
        self.script_cuda()
        self.environment["TUNEC_NVDISASM"] = "/nowhere/nvdisasm"
        self.environment["TUNEC_PTXAS"] = ptxas = self.program("ptxas", "echo Cuda compilation tools, V12.3.107")
        report, checks = self.doctor(1)
        self.assertEqual(checks["ptxas"]["found"],
                         "ptxas 12.3.107 is known to write wrong code, 12.6.85 or later is not "
                         f"({ptxas}); TUNEC_PTXAS names another one")
        self.assertEqual(checks["nvdisasm"]["found"],
                         "TUNEC_NVDISASM names '/nowhere/nvdisasm', which is no program that can be run")
        self.assertEqual((report["problems"], report["cuda"]["ptxas"]), (2, None))

    @unittest.skipUnless(PTXAS, "no ptxas")
    def test_times_of_a_gpu_are_predicted(self):
        path = self.file("g.graph", GRAPH)
        cuda = ("--target", "cuda", "--arch", "sm_90a", "--no-db")
        seen = self.good(path, *cuda)
        self.assertRegex(seen, r"(?m)^group +kernel +blocks +threads +registers +spilled +shared +occupancy +waves +"
                               r"L2 +memory +predicted +bound$")
        self.assertIn("no time is measured: those above are predicted for h100 (132 processors, 1.98 GHz, 3350 GB/s); "
                      "it is assumed for sm_90a, --gpu names another", seen)
        self.assertNotIn("latency", seen.split("no time is measured")[1])
        self.assertRegex(self.good(path, *cuda, "--gpu", "h200"), r"predicted for h200 .*4800 GB/s\)\n")
        self.assertIn("no times are predicted: no GPU of sm_103 is known",
                      self.good(path, "--target", "cuda", "--arch", "sm_103", "--no-db"))
        report = json.loads(self.good(path, "--json", *cuda))
        self.assertIn("part=h100", report["target"])
        row, = report["predicted"]
        self.assertGreater(row["registers"], 0)
        self.assertEqual((row["group"], row["spilled_bytes"], row["waves"]), (0, 0, 1))
        self.assertGreaterEqual(row["blocks"] * row["threads"], 24 * 56)
        # Loops whose bounds depend on others' are counted by their middle.
        self.assertGreaterEqual(row["operations"], 0.9 * 24 * 40 * 56)
        self.assertGreaterEqual(row["l2_bytes"], row["memory_bytes"])
        self.assertGreater(row["predicted_ms"], 0.002)
        self.assertNotIn("each_ms", report["kernels"][0])
        self.assertIsNone(json.loads(self.good(path, "--json", "--no-db"))["predicted"])
        emulated, = json.loads(self.good(path, "--json", *cuda, "--emulate"))["predicted"]
        self.assertIsNone(emulated["predicted_ms"])
        self.assertEqual(emulated["operations"], row["operations"])

    @unittest.skipUnless(PTXAS, "no ptxas")
    def test_trials_of_predicted_times(self):
        path = self.file("g.graph", GRAPH)
        cuda = (path, "--target", "cuda", "--arch", "sm_90a")
        seen = self.good(*cuda, "--emulate", "--trials", "50")
        self.assertRegex(seen, r"(?m)^\d+ new trials of predicted times; stopped after \d+ of 50: the budget is spent; "
                               r"\d+ ms each \(compile \d+, check \d+\)$")
        self.assertRegex(seen, r"model \S+ us predicted  elapsed")
        self.assertIn("no time is measured: those above are predicted for h100", seen)
        self.assertNotIn("latency", seen)
        again = json.loads(self.good(*cuda, "--emulate", "--trials", "50", "--json"))
        self.assertEqual((again["trials"]["times"], again["trials"]["new"]), ("predicted", 0))
        self.assertEqual((again["objects_compiled"], again["objects_reused"]), (0, 1))
        kernel, = again["kernels"]
        phase, = again["predicted"]
        self.assertEqual((kernel["schedule"], kernel["recorded_ms"]), ("predicted", None))
        self.assertAlmostEqual(kernel["predicted_ms"], phase["predicted_ms"])
        self.assertNotIn("latency", again)

        task, = json.loads(self.good("db", "list", "--json"))["tasks"]
        self.assertEqual((task["best_ms"], task["gflops_per_second"]), (None, None))
        self.assertAlmostEqual(task["predicted_ms"], kernel["predicted_ms"])
        self.assertRegex(self.good("db", "list"), r"us predicted +- ")
        self.assertRegex(self.good("db", "best"), r"(?m)^# predicted \S+ us, trial ")
        self.assertRegex(self.good("db", "stats"), r"trials (\d+) \(\1 ok, \1 of predicted times\)")

        plain = self.good(*cuda)
        self.assertRegex(plain, r"(?m)^groups tuned: none of 1; by predicted times: 1 \(\d+ trials\)$")
        self.environment["TUNEC_LIBCUDA"] = "/nowhere/libcuda.so.1"
        self.bad(1, "with --emulate, candidates are ranked by predicted times", *cuda, "--trials", "3")
        self.bad(2, "no GPU of sm_103 is known", path, "--target", "cuda", "--arch", "sm_103", "--emulate",
                 "--trials", "3")
        self.assertIn("they say nothing of a sm_90a", self.tunec("bench", *cuda, "--emulate").stderr)

    def test_a_gpu_that_is_not_there(self):
        path = self.file("g.graph", GRAPH)
        self.environment["TUNEC_LIBCUDA"] = "/nowhere/libcuda.so.1"
        cuda = ("verify", path, "--no-db", "--target", "cuda")
        self.bad(1, "no NVIDIA driver: /nowhere/libcuda.so.1", *cuda, "--arch", "sm_90a")
        nameless = self.bad(1, "no NVIDIA driver: /nowhere/libcuda.so.1", *cuda)
        self.assertIn("name one with arch", nameless.stderr)

    def test_a_gpu_that_cannot_be_used(self):
        path = self.file("g.graph", GRAPH)
        self.environment["TUNEC_LIBCUDA"] = str(Path(TUNEC).parent.parent / "lib/libscripted_cuda.so")
        for script, message in (("init 34", "is the CUDA toolkit's stub"),
                                ("init 100", "the NVIDIA driver finds no GPU (error 100)"),
                                ("version 11080", "too old: it supports CUDA 11.8, tunec needs 12.0"),
                                ("missing cuLaunchKernel", "has no cuLaunchKernel"),
                                ("gpu 8 0", "NVIDIA S1 (device 0) has compute capability 8.0")):
            self.environment["TUNEC_CUDA_SCRIPT"] = script
            self.bad(1, message, "verify", path, "--no-db", "--target", "cuda", "--arch", "sm_90a")

    @unittest.skipUnless(PTXAS, "no ptxas")
    def test_a_gpu_that_fails(self):
        path = self.file("g.graph", GRAPH.replace("input b", "weight b"))
        self.environment["TUNEC_LIBCUDA"] = str(Path(TUNEC).parent.parent / "lib/libscripted_cuda.so")
        run = ("run", path, "--no-db", "--random-weights", "1", "--target", "cuda")
        for script, message in (("memory 100", "NVIDIA S1 (device 0) has 100 of 100 bytes free, "),
                                ("memory 100", "are needed: weights 8960, arena "),
                                ("load 200", "cannot load the kernel: CUDA_ERROR_INVALID_IMAGE (200)"),
                                ("load 209", "its driver supports CUDA 13.0: compile for that arch"),
                                ("load 222", "by a ptxas that is no newer"),
                                ("fault 700", "NVIDIA S1 (device 0) is lost: CUDA_ERROR_ILLEGAL_ADDRESS (700)"),
                                ("fault 716", "NVIDIA S1 (device 0) is lost: CUDA_ERROR_MISALIGNED_ADDRESS (716)"),
                                ("fault 719", "NVIDIA S1 (device 0) is lost: CUDA_ERROR_LAUNCH_FAILED (719)")):
            self.environment["TUNEC_CUDA_SCRIPT"] = script
            self.bad(1, message, *run)
        self.environment["TUNEC_CUDA_SCRIPT"] = "hang"
        for command in (run, ("bench", *run[1:])):
            self.bad(1, "NVIDIA S1 (device 0) hangs, in a graph of ", *command, "--hang-after", "0.1s")
            self.bad(1, "not done after 0.1 s (driver of CUDA 13.0); end this process, for the GPU is not free before, "
                        "and see nvidia-smi; hang_after allows longer runs", *command, "--hang-after", "0.1s")
        self.environment["TUNEC_CUDA_SCRIPT"] = "graph 801"
        noted = self.tunec(*run)
        self.assertEqual(noted.returncode, 0, noted.stderr)
        self.assertIn("note: kernels are launched one by one: NVIDIA S1 (device 0) cannot prepare a graph", noted.stderr)

    @unittest.skipUnless(PTXAS, "no ptxas")
    def test_which_gpu(self):
        path = self.file("g.graph", GRAPH)
        self.environment["TUNEC_LIBCUDA"] = str(Path(TUNEC).parent.parent / "lib/libscripted_cuda.so")
        run = ("run", path, "--no-db")
        cuda = (*run, "--target", "cuda")
        uuid = "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"
        self.good(*cuda)
        self.good(*cuda, "--device", "0")
        self.good(*cuda, "--device", uuid)
        nowhere = f"this machine has no GPU '7'; it has NVIDIA S1 (device 0), {uuid}"
        self.bad(1, nowhere, *cuda, "--device", "7")
        self.bad(1, nowhere, *cuda, "--arch", "sm_90a", "--device", "7")
        self.bad(1, nowhere, path, "--target", "cuda", "--arch", "sm_90a", "--device", "7", "--trials", "1")
        self.bad(2, "device is for the target cuda", *run, "--device", "0")
        self.bad(2, "hang_after is for the target cuda", *run, "--hang-after", "3s")
        self.bad(2, "emulated kernels run on its processor", *cuda, "--arch", "sm_90a", "--emulate", "--device", "0")

    def test_verify_judges_by_the_types_the_model_computes_in(self):
        half = self.file("half.graph", HALF)
        self.assertIn("(the model computes in f16: 16 roundings of 2^-11)", self.good("verify", half, "--no-db"))
        self.bad(1, "differ by more than 1e-06", "verify", half, "--no-db", "--tolerance", "1e-6")
        for weight, levels in (("8", "4 of 127"), ("16", "4 of 32767")):
            quantised = self.file(f"q{weight}.graph", QUANTISED.replace("i8", f"i{weight}"))
            self.assertIn(f"(the model is quantised to i{weight}: {levels} levels)",
                          self.good("verify", quantised, "--no-db"))
        self.assertNotIn("(the model", self.good("verify", self.file("g.graph", GRAPH), "--no-db"))

    def test_expected_halves_may_be_given_as_float32(self):
        half = self.file("half.graph", "graph h {\n  input a: f32[3]\n  y = cast(a) {to=\"f16\"}\n  output y = y\n}\n")
        numbers = [1.0, 2.5, 0.1]
        right = self.file("right.npz", npz(a=((3,), numbers), y=((3,), numbers)))
        wrong = self.file("wrong.npz", npz(a=((3,), numbers), y=((3,), [1.0, 2.6, 0.1])))
        shape = self.file("shape.npz", npz(a=((3,), numbers), y=((1,), [1.0])))
        self.assertIn("expected", self.good("verify", half, "--no-db", "--expected", right))
        self.bad(1, "differ", "verify", half, "--no-db", "--expected", wrong)
        self.bad(2, "array 'y' is f32[1]", "verify", half, "--no-db", "--expected", shape)

    # --- the loop pipeline, stage by stage

    def test_what_each_stage_of_the_loop_pipeline_leaves(self):
        path = self.file("g.graph", GRAPH)
        for stage, sign in (("compute_steps", "compute"), ("loop_steps", "sequence"), ("check_legality", "sequence"),
                            ("generate_loops", "phase"), ("insert_barriers", "phase"), ("map_threads", "phase"),
                            ("emit", "define ")):
            shown = self.good("show", path, "--no-db", "--after", stage)
            self.assertRegex(shown, rf"(?m)^# \S+, after {stage} \([0-9.]+ ms\)$")
            self.assertIn(sign, shown)
            self.assertIn(sign, self.good("show", path, "--no-db", "--nest", "0", "--after", stage))

    # --- `exact` rounds products before they are added

    def test_exact_assembly_has_no_fused_multiply_adds(self):
        graph = self.file("g.graph", GRAPH)
        compute = self.file("d.compute", DOT)
        for command in (("schedule", compute, "--last", "--assembly"), ("schedule", compute, "--auto", "--assembly"),
                        ("show", graph, "--no-db", "--asm", "0")):
            command += ("--cpu", "skylake-avx512")
            self.assertIn("vfmadd", self.good(*command), command)
            exact = self.good(*command, "--accuracy", "exact")
            self.assertNotIn("vfmadd", exact, command)
            self.assertRegex(exact, r"\bvmulps|\bvmulss", command)

    def test_exact_models_have_no_fused_multiply_adds(self):
        # -(1 + 2^-11) + a * a for a = 1 + 2^-12 is 0 where the product is rounded, 2^-24 where not.
        graph = self.file("d.graph", "graph d {\n  input a: f32[1, 2]\n  input b: f32[2, 1]\n"
                                     "  y = matmul(a, b)\n  output y = y\n}\n")
        a = 1 + 2.0 ** -12
        inputs = self.file("d.npz", npz(a=((1, 2), [-(1 + 2.0 ** -11), a]), b=((2, 1), [1, a])))
        for options, wanted in ((["f32", "--naive"], 2.0 ** -24), (["exact", "--naive"], 0.0), (["exact"], 0.0)):
            self.good("run", graph, "--no-db", "--inputs", inputs, "--outputs", "y.npz", "--accuracy", *options)
            self.assertEqual(only_number(self.dir / "y.npz"), wanted, options)

    def test_tuning_is_remembered(self):
        path = self.file("g.graph", GRAPH)
        first = self.good(path, "--trials", "4", "--threads", "1")
        self.assertRegex(first, r"\b[1-4] new trials?")
        self.assertRegex(first, r"(?m)^trials \d+/4 ")
        self.assertRegex(first, r"(?m)^[1-4] new trials?; stopped after [1-4] of 4: \S")
        second = self.good(path, "--trials", "4", "--threads", "1")
        self.assertRegex(second, r"(?m)^0 new trials; stopped after [1-4] of 4: \S")
        self.assertIn("0 objects compiled", second)
        self.assertRegex(self.good("db", "stats"), r"workloads 1, ")
        self.assertIn("matmul", self.good("db", "list"))
        self.assertIn("lower ", self.good("db", "best"))
        self.assertIn("sound", self.good("db", "check"))
        self.good("db", "export", "all.jsonl")
        self.assertIn("added", self.good("db", "--db", "other.db", "import", "all.jsonl"))
        self.assertIn("added 0", self.good("db", "merge", "other.db"))
        self.bad(2, "no tuned workload", "db", "best", "ffffffffffff0")
        self.bad(2, "nowhere.db", "db", "stats", "--db", "nowhere.db")
        self.assertFalse((self.dir / "nowhere.db").exists())

    def test_says_for_which_others_a_model_is_tuned(self):
        path = self.file("g.graph", GRAPH)
        self.assertIn("groups tuned: none of 1", self.good(path))
        self.good(path, "--trials", "2", "--threads", "1")
        self.assertIn("groups tuned: 1 of 1 (", self.good(path, "--threads", "1"))
        done = self.tunec("run", path, "--threads", "1", "--accuracy", "exact")
        self.assertIn("note: groups tuned for accuracy=f32: 1 of 1; for accuracy=exact: none", done.stderr)

    def test_the_database_tells_targets_apart_and_forgets(self):
        path = self.file("g.graph", GRAPH)
        self.good(path, "--trials", "2", "--threads", "1")
        self.good(path, "--trials", "2", "--threads", "1", "--accuracy", "exact")
        stats = self.good("db", "stats")
        self.assertRegex(stats, r"(?m)^all targets: cpu \S+ \[.*threads=1$")
        self.assertRegex(stats, r"(?m)^target accuracy=exact$")
        listed = self.good("db", "list")
        self.assertRegex(listed, r"(?m)accuracy=exact$")
        self.assertRegex(listed, r"(?m)accuracy=f32$")
        workload = listed.splitlines()[-1].split()[0]
        self.bad(2, "no workload begins with", "db", "forget", "ffffffffffff0")
        self.assertRegex(self.good("db", "forget", workload), r"removed \d trials? of 2 tasks")
        self.assertIn("groups tuned: none of 1", self.good(path, "--threads", "1"))

    def test_a_model_is_forgotten(self):
        path, other = self.file("g.graph", GRAPH), self.file("other.graph", GRAPH.replace("40", "48"))
        for model in (path, other):
            self.good(model, "--trials", "2", "--threads", "1")
        self.assertRegex(self.good("db", "forget", path), r"removed \d trials? of 1 task\n")
        self.bad(2, "no group of", "db", "forget", path)
        self.assertIn("groups tuned: none of 1", self.good(path, "--threads", "1"))
        self.assertIn("groups tuned: 1 of 1", self.good(other, "--threads", "1"))
        open_model = self.file("open.onnx", model_of_open_shape())
        self.bad(2, "--dim n=1", "db", "forget", open_model)
        self.bad(2, "no group of", "db", "forget", open_model, "--dim", "n=4")

    def test_tuners_at_once_share_their_budget(self):
        path = self.file("g.graph", GRAPH)
        tuners = [subprocess.Popen([TUNEC, path, "--trials", "16", "--seed", str(seed), "--threads", "1"], text=True,
                                   cwd=self.dir, env=self.environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE) for seed in range(3)]
        for tuner in tuners:
            out, err = tuner.communicate(timeout=300)
            self.assertEqual(tuner.returncode, 0, out + err)
        recorded = int(self.good("db", "stats").split("trials ")[1].split()[0])
        self.assertLessEqual(recorded, 16 + len(tuners) - 1)

    def test_tuning_ends_with_its_time_and_goes_on_when_told(self):
        path = self.file("g.graph", GRAPH)
        self.bad(2, "--time-limit soon: expected a duration such as 30s", path, "--time-limit", "soon")
        self.bad(2, "needs trials or a time limit", path, "--retune", "all")
        out = self.good(path, "--time-limit", "4s", "--threads", "1")
        self.assertRegex(out, r"(?m)^\d+ new trials?; stopped after \d+: \S")
        self.bad(2, "no group 'nobody'", path, "--trials", "2", "--retune", "nobody", "--threads", "1")
        for retune in (["--retune", "p"], ["--retune"]):
            out = self.good(path, "--trials", "2", "--threads", "1", *retune)
            self.assertRegex(out, r"(?m)^[0-2] new trials?; stopped after \d+ of \d+: \S")
        out = self.good("run", path, "--retune", "--trials", "2", "--threads", "1")
        self.assertIn("y f32", out)
        out = self.good(path, "--trials", "2", "--retune", "p", "--threads", "1")
        self.assertRegex(out, r"(?m)^[0-2] new trials?; stopped after \d+ of \d+: \S")

    def test_without_a_worker_each_place_is_named_once(self):
        path = self.file("g.graph", GRAPH)
        program = self.dir / "bin" / "tunec"
        program.parent.mkdir()
        shutil.copy(TUNEC, program)
        done = subprocess.run([program, path, "--trials", "6"], capture_output=True, text=True, cwd=self.dir,
                              env=self.environment, timeout=60)
        self.assertEqual(done.returncode, 2, done.stderr)
        places = done.stderr.split("sought ")[1].strip().split(", ")
        self.assertEqual(sorted(places), sorted(set(places)))

    def test_a_program_that_is_no_worker(self):
        path = self.file("g.graph", GRAPH)
        program = self.dir / "bin" / "tunec"
        program.parent.mkdir()
        shutil.copy(TUNEC, program)
        worker = program.parent / "tunec-worker"
        for script, message in (("exit 1", "exit status 1"), ("exec cat", "malformed event"),
                                ("exec yes", "wanted at most 65536")):
            worker.write_text(f"#!/bin/sh\n{script}\n")
            worker.chmod(0o755)
            done = subprocess.run([program, path, "--trials", "6"], capture_output=True, text=True, cwd=self.dir,
                                  env=self.environment, timeout=60)
            self.assertEqual(done.returncode, 2, script + done.stderr + done.stdout)
            self.assertIn(f"error: '{worker}' does not answer as the tunec-worker", done.stderr)
            self.assertIn(message, done.stderr)

    def test_bench_json(self):
        path = self.file("g.graph", GRAPH)
        report = json.loads(self.good("bench", path, "--json", "--unfused", "--runs", "5",
                                      "--threads", "1"))
        self.assertEqual(report["latency"]["runs"], 5)
        self.assertGreater(report["latency"]["median_ms"], 0)
        self.assertLessEqual(report["latency"]["min_ms"], report["latency"]["p99_ms"])
        self.assertLessEqual(report["unfused"]["max_relative_error"], 1e-4)
        self.assertTrue(report["kernels"])

    def test_bench_explains(self):
        path = self.file("g.graph", GRAPH)
        self.good(path, "--trials", "2", "--threads", "1")
        run = ("bench", path, "--explain", "--runs", "3", "--threads", "1")
        text = self.good(*run)
        self.assertRegex(text, r"(?m)^group +kernel +count +in model +alone +tuner +arithmetic ")
        self.assertRegex(text, r"(?m)^ +0 +p r +1 +[\d.]+ \w+ +[\d.]+ \w+ +[\d.]+ \w+ +fma\.f32 ")
        self.assertRegex(text, r"(?m)^the model takes [\d.]+ \w+, its groups [\d.]+ \w+ within it and "
                               r"[\d.]+ \w+ alone: [\d.]+ times those$")
        report = json.loads(self.good(*run, "--json"))
        group, = report["explained"]
        for key in ("in_model_ms", "alone_ms", "tuner_ms", "gflops_per_second"):
            self.assertGreater(group[key], 0, key)
        self.assertAlmostEqual(report["sums"]["alone_ms"], group["alone_ms"], 6)

    def test_bench_draws_a_roofline(self):
        path = self.file("g.graph", GRAPH)
        self.good("bench", path, "--svg", "r.svg", "--runs", "3")
        drawing = ElementTree.parse(self.dir / "r.svg")
        texts = [text.text for text in drawing.iter("{http://www.w3.org/2000/svg}text")]
        self.assertIn("p r", texts)
        self.assertTrue(any(text.startswith("fma.f32 ") for text in texts), texts)
        self.assertTrue(any(text.startswith("memory ") for text in texts), texts)

    def test_json_of_tables(self):
        path = self.file("g.graph", GRAPH)
        report = json.loads(self.good(path, "--json", "--trials", "2", "--threads", "1"))
        self.assertEqual((report["threads"], report["nodes"], report["groups"]), (1, 2, 1))
        self.assertEqual(report["trials"]["asked"], 2)
        kernel, = report["kernels"]
        self.assertEqual((kernel["group"], kernel["kind"], kernel["count"]), (0, "matmul", 1))
        self.assertGreater(kernel["each_ms"], 0)
        self.assertGreater(kernel["recorded_ms"], 0)
        self.assertEqual((kernel["object"], kernel["notes"]), ("reused", []))
        self.assertGreater(report["compile_ms"], 0)
        self.assertGreater(report["latency"]["min_ms"], 0)
        task, = json.loads(self.good("db", "list", "--json"))["tasks"]
        self.assertEqual(task["kind"], "matmul")
        self.assertEqual(task["workload"], kernel["workload"])
        self.assertGreater(task["best_ms"], 0)
        stats = json.loads(self.good("db", "stats", "--json"))
        self.assertEqual(stats["tasks"], 1)
        self.assertTrue(any(target["machine_facts"].get("peak_flops", 0) > 0 for target in stats["targets"]))
        verified = json.loads(self.good("verify", path, "--json"))
        self.assertTrue(verified["ok"])
        self.assertEqual(verified["outputs"][0]["against"], "reference")
        self.assertLess(verified["outputs"][0]["relative"], verified["outputs"][0]["threshold"])
        passes = json.loads(self.good("verify", path, "--pipeline", "--json"))
        self.assertIn("canonicalize", [row["pass"] for row in passes["passes"]])
        group, = json.loads(self.good("show", path, "--groups", "--json"))["groups"]
        self.assertEqual((group["group"], group["flops"]), (0, kernel["flops"]))
        shown = json.loads(self.good("show", path, "--json", "--dependencies", "--counts", "--residuals", "--fusion",
                                     "--fusion-candidates", "--multiply-adds"))
        self.assertEqual([row["nodes"] for row in shown["counts"]], [1, 1, 2])
        self.assertIn({"node": "a", "depends_on": "-", "used_by": "p"}, shown["dependencies"])
        self.assertEqual(shown["residuals"], [])
        edge, = shown["fusion"]
        self.assertEqual((edge["group"], edge["place"], edge["edge"]), (0, "inside", "p -> r"))
        self.assertTrue(shown["fusion_candidates"][0]["fused"])
        self.assertEqual(shown["multiply_adds"][-1]["group"], None)
        nodes = json.loads(self.good("show", path, "--json"))["nodes"]
        self.assertEqual(nodes[-1]["opcode"], "output")
        self.bad(2, "--json", "show", path, "--json", "--nest", "0")
        checks = {row["what"]: row for row in json.loads(self.good("doctor", "--json"))["checks"]}
        self.assertTrue(checks["worker"]["ok"])

    def test_a_bundle_runs_as_its_model_does(self):
        model = self.file("g.graph", GRAPH)
        bundle = model + ".tnc"
        self.assertIn("cpu native: ", self.good("build", model, "--threads", "1", "-o", bundle))
        outputs = [json.loads(self.good("run", path, "--threads", "1", "--json"))["outputs"]
                   for path in (model, bundle)]
        self.assertEqual(outputs[0], outputs[1])
        self.assertIn("runs here", self.good("doctor", bundle))
        self.assertIn("ready to run after", self.good("bench", bundle, "--runs", "3"))
        self.bad(2, "-o", "build", model)
        self.good("build", model, "--cpu", "bdver4", "--cpu", "native", "-o", bundle)
        report = json.loads(self.good("doctor", bundle, "--json"))
        self.assertEqual([row["cpu"] for row in report["variants"]], ["bdver4", "native"])
        self.assertIn("fma4", report["variants"][0]["features"])
        self.assertEqual(json.loads(self.good("bench", bundle, "--runs", "3", "--json"))["variant"], 1)
        self.good("build", model, "--cpu", "bdver4", "-o", bundle)
        self.bad(1, "for cpu bdver4: the processor has no ", "run", bundle)
        self.bad(1, "no variant of the bundle runs on this machine", "doctor", bundle)

    def test_bundles_of_several_sizes(self):
        model = self.file("s.graph", SIZED_GRAPH)
        bundle = model + ".tnc"
        self.assertRegex(self.good("build", model, "--dim", "batch=1,4", "--dim", "length=6..9", "-o", bundle),
                         r"cpu native: 8 executables, \d+ kernels")
        text = self.good("doctor", bundle)
        self.assertIn("8 executables: batch 1, 4 (cut where larger); length up to 9, rounded up to one of 4", text)
        variant, = json.loads(self.good("doctor", bundle, "--json"))["variants"]
        self.assertEqual((variant["executables"], variant["padded"]), (8, True))
        self.assertEqual(variant["dimensions"]["length"], {"sizes": [6, 7, 8, 9], "exact": False, "cut": False})
        output, = json.loads(self.good("run", bundle, "--json"))["outputs"]
        self.assertEqual(output["shape"], [4, 3])
        output, = json.loads(self.good("run", bundle, "--dim", "batch=6", "--dim", "length=2", "--json"))["outputs"]
        self.assertEqual(output["shape"], [6, 3])
        self.bad(2, "length is 10, expected at most 9", "run", bundle, "--dim", "length=10")
        self.bad(2, "the bundle has no open dimension width", "run", bundle, "--dim", "width=10")
        self.assertIn("ready to run after", self.good("bench", bundle, "--runs", "3"))
        self.assertNotIn("launches", json.loads(self.good("bench", bundle, "--runs", "3", "--json")))
        self.bad(2, "or a range, name=16..512", "build", model, "--dim", "batch=4..1", "-o", bundle)

    def test_json_has_the_documented_keys(self):
        model = self.file("g.graph", GRAPH)
        root = Path(__file__).parents[2]
        files = {"MODEL": model, "COMPUTE": self.file("c.compute", COMPUTE)}
        self.good(model, "--trials", "1", "--threads", "1")
        files["BUNDLE"] = model + ".tnc"
        self.good("build", model, "-o", files["BUNDLE"])
        pages = [[cell.strip() for cell in line.split("|")[1:4]]
                 for line in (root / "docs/json.md").read_text().splitlines() if line.startswith("| `tunec")]
        printed = {}
        for command, key, keys in pages:
            words = command.strip("`").split()[1:]
            if "cuda" in words and not PTXAS:
                continue
            if command not in printed:
                printed[command] = json.loads(self.good(*[files.get(word, word) for word in words]))
            found = printed[command][key.strip("`")] if key else printed[command]
            with self.subTest(command=command, key=key):
                for row in found if isinstance(found, list) else [found]:
                    self.assertEqual([f"`{name}`" for name in row], keys.split())
        self.assertGreater(len(pages), 20)

    def test_json_of_runs_and_passes(self):
        path = self.file("g.graph", GRAPH)
        output, = json.loads(self.good("run", path, "--json"))["outputs"]
        self.assertEqual((output["type"], len(output["first"])), ("f32", 6))
        self.assertIn("memory_bytes", json.loads(self.good("run", path, "--json", "--memory")))
        passes = json.loads(self.good("opt", path, "--list", "--json"))
        self.assertEqual({row["name"] for row in passes["passes"]} & set(passes["in_order"]), set(passes["in_order"]))
        self.bad(2, "--json needs --count or --list", "opt", path, "--json")
        compute = self.file("c.compute", COMPUTE)
        timed = json.loads(self.good("schedule", compute, "--time", "--json", "--auto", "--rounds", "2"))
        self.assertEqual([row["after"] for row in timed["schedules"]][-1], "automatic")
        self.assertTrue(all(row["ok"] and row["median_ms"] > 0 for row in timed["schedules"]))
        self.assertGreater(timed["peak_flops"], 0)

    def test_shares_of_the_roofline_say_of_what(self):
        path = self.file("g.graph", GRAPH)
        self.assertIn("(no roofline: the ceilings of these threads are not known; tunec doctor --measure",
                      self.good(path, "--threads", "1"))
        facts = {"peak_flops": 1e13, "l1_bytes_per_second": 1e13, "l2_bytes_per_second": 1e13,
                 "l3_bytes_per_second": 1e13, "dram_bytes_per_second": 1e13, "ceilings_disturbance": 0}
        self.good("doctor", "--measure", "--threads", "1")
        self.set_facts(facts)
        kernel, = json.loads(self.good(path, "--json", "--threads", "1"))["kernels"]
        self.assertEqual((kernel["limit"], kernel["arithmetic"]), ("arithmetic", "fma.f32"))
        self.assertLess(kernel["roofline"], 1)
        self.set_facts({"l1_bytes_per_second": 1e9, "l2_bytes_per_second": 1e9, "l3_bytes_per_second": 1e9,
                        "dram_bytes_per_second": 1e9})
        kernel, = json.loads(self.good(path, "--json", "--threads", "1"))["kernels"]
        self.assertRegex(kernel["limit"], "^L[123]$")
        self.set_facts({"ceilings_disturbance": 0.4})
        self.assertIn("(no roofline: others had 40 % of the machine", self.good(path, "--threads", "1"))

    def set_facts(self, facts):
        with sqlite3.connect(self.dir / "cache" / "tunec/tunec.db") as connection:
            for name, value in facts.items():
                connection.execute("update machine set value = ? where name = ?", (value, name))
        connection.close()

    def test_doctor_only_looks(self):
        self.good("doctor")
        self.assertFalse((self.dir / "cache" / "tunec").exists())
        self.good("doctor", "--measure")
        before = (self.dir / "cache" / "tunec/tunec.db").read_bytes()
        seen = self.good("doctor")
        self.assertIn("0 workloads", seen)
        self.assertRegex(seen, r"(?m)^arithmetic +\d.*FLOP/s f64 multiply-adds")
        # A ceiling for each tile that the line of tiles does not say anything to be lacking of.
        tiles = re.search(r"(?m)^tiles +(.*)", seen)[1].split(", ")
        for tile in (tile for tile in tiles if "lacks" not in tile and not tile.startswith("fma.")):
            self.assertRegex(seen, rf"(?m)^arithmetic +\d.*OP/s .* multiply-adds \({re.escape(tile)}\)")
        self.assertEqual((self.dir / "cache" / "tunec/tunec.db").read_bytes(), before)
        self.bad(1, "1 problem found", "doctor", "--db", "nowhere.db")
        self.assertFalse((self.dir / "nowhere.db").exists())

    def test_drawings_say_where_no_border_of_a_tile_is_in_sight(self):
        compute = self.file("c.compute", COMPUTE)
        for size, noted in ((32, True), (8, False)):
            steps = self.file("s.sched", f"split product.i {size}\nsplit product.j {size}\n"
                                         "reorder product.i.0 product.j.0 product.i.1 product.j.1\n")
            done = self.tunec("schedule", compute, "--steps", steps, "--svg", "out.svg")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("no border of a tile of product is in sight" in done.stderr, noted, done.stderr)

    def test_the_first_page_of_the_tutorial_can_be_copied(self):
        root = Path(__file__).parents[2]
        page = (root / "docs/tutorial/1_order.md").read_text()
        step = self.file("copied.sched", re.search(r"(?m)^    (reorder .*\n)", page)[1])
        compute, given = root / "examples/loops/matmul.compute", root / "examples/loops/matmul/1_order.sched"
        self.assertEqual(self.good("schedule", compute, "--steps", step, "--last"),
                         self.good("schedule", compute, "--steps", given, "--last"))

    def test_names_are_whole_where_nobody_looks(self):
        long = "a_name_that_is_longer_than_a_column_of_forty_characters"
        path = self.file("g.graph", GRAPH.replace("p = ", f"{long} = ").replace("relu(p)", f"relu({long})"))
        table = self.good("bench", path, "--profile", "--runs", "2")
        self.assertRegex(table, rf"(?m)^ +0  {long} r ")

    def test_opt_writes_what_it_reads(self):
        path = self.file("g.graph", GRAPH)
        self.good("opt", path, "-o", "out.graph")
        self.assertEqual((self.dir / "out.graph").read_text(), self.good("opt", path))
        self.good("show", "out.graph")
        self.assertIn("canonicalize", self.good("opt", "--list"))

    def test_interrupt_keeps_trials(self):
        path = self.file("g.graph", GRAPH)
        process = subprocess.Popen([TUNEC, path, "--trials", "100000", "--threads", "1"], text=True,
                                   cwd=self.dir, env=self.environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        line = process.stdout.readline()
        started = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, line + out + err)
        self.assertLess(time.monotonic() - started, 60)
        self.assertRegex(err, r"(?m)^interrupted: \d+ new trials? kept, run again to continue$")
        self.assertNotIn("error", err)
        printed = int(line.split()[1].split("/")[0])
        stats = self.good("db", "stats")
        self.assertGreaterEqual(int(stats.split("trials ")[1].split()[0]), printed)


if __name__ == "__main__":
    position = sys.argv.index("--tunec")
    TUNEC = sys.argv[position + 1]
    del sys.argv[position:position + 2]
    unittest.main(verbosity=2)
