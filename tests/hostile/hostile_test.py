#!/usr/bin/env python3
"""Tests of models that are damaged, contradictory or too large. The command must reject each with
the expected exit code and message. Unusual but legal models must run. Usage:

    hostile_test.py --tunec PROGRAM [unittest's arguments]
"""
import os
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TUNEC = None
COMMANDS = (["run"], ["verify"], ["show"], [])

# A pattern of each model's error message. Every command must reject the model with exit code 2.
REJECTED = {
    "attention_scalar_lengths_1.onnx": r"Attention.*input 6 \('nonpad_kv_seqlen'\) is a scalar",
    "attention_scalar_lengths_2.onnx": r"Attention.*input 6 .* is a scalar, of rank 0, expected rank 1",
    "duplicate_output.graph": r"duplicate_output.graph:\d+:\d+: error: two outputs are called ne",
    "function_bomb.onnx": r"more than 1000000 nodes with its functions written out",
    "gather_empty.graph": r"gather_empty.graph:4:3: error: gather axis 0 of 0x4 has no elements",
    "gather_empty.onnx": r"Gather\b.*gather axis 0 of .* has no elements",
    "gather_empty_big.onnx": r"Gather\b.*gather axis 0 of .* has no elements",
    "gatherelements_empty.onnx": r"GatherElements.*gather_elements axis 1 of 3x0 has no elements",
    "gathernd_empty.onnx": r"GatherND.*gather axis 0 of .* has no elements",
    "gru_bias_rank1.onnx": r"GRU.*input 3 \('b'\) is 1, of rank 1, expected rank 2",
    "linear_attention_scalar_1.onnx": r"LinearAttention.*expected rank [34]$",
    "linear_attention_scalar_2.onnx": r"LinearAttention.*expected rank [34]$",
    "linear_attention_scalar_3.onnx": r"LinearAttention.*expected rank [34]$",
    "loss_wrong_ranks.onnx": r"NegativeLogLikelihoodLoss.*expected rank",
    "lstm_bias_rank1.onnx": r"LSTM.*input 3 \('b'\) is 33, of rank 1, expected rank 2",
    "lstm_bias_rank1b.onnx": r"LSTM.*input 3 \('b'\) is 1, of rank 1, expected rank 2",
    "recurrent_wrong_ranks.onnx": r"expected rank",
    "resize_contradicts_its_scale.graph": r"resize of axis 1 to 3 elements contradicts its scale 2147483648",
    "odd_window.onnx": r"graph output 'y' is 1, expected 10 as the model declares it",
    "rnn_bias_rank1.onnx": r"RNN.*input 3 \('b'\) is 1, of rank 1, expected rank 2",
    "rnn_wrong_ranks_1.onnx": r"expected rank",
    "rnn_wrong_ranks_2.onnx": r"expected rank",
    "rnn_wrong_ranks_3.onnx": r"expected rank",
    "rotary_cache_empty.onnx": r"RotaryEmbedding.*gather axis 0 of .* has no elements",
    "rotary_scalar_angles.onnx": r"RotaryEmbedding.*expected rank",
    "sce_no_classes.onnx": r"SoftmaxCrossEntropyLoss.*has no elements",
    "stft_scalar_window.onnx": r"STFT.*is a scalar, of rank 0, expected rank 1",
}
# A pattern of the output of `run` for each legal model, or "" if only the exit code is checked.
RUN = {
    "attention_no_query_heads_1.onnx": "",
    "attention_no_query_heads_2.onnx": "",
    "hardsigmoid_nan.onnx": "nan",
    "infinities.onnx": "",
    "legal_functions.onnx": "",
    "legal_integers.onnx": "",
    "lstm_no_steps.onnx": "",
    "matmul_integer_vector.onnx": r"i32\[2\]",
    "nans.onnx": "",
    "no_channels_1.onnx": r"f32\[2x0x8\]",
    "no_channels_2.onnx": r"f32\[2x0x8\]",
    "thresholdedrelu_nan.onnx": "",
}


def array(values, code, kind):
    """Returns a little-endian .npy file of one axis. `code` is struct's type, `kind` NumPy's."""
    data = struct.pack(f"<{len(values)}{code}", *values)
    header = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header = header.ljust(118 - 1) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


class Hostile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tunec-hostile-")
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)
        self.environment = {**os.environ, "HOME": str(self.dir), "XDG_CACHE_HOME": str(self.dir / "cache")}

    def file(self, name, text):
        path = self.dir / name
        path.write_text(text)
        return path

    def tunec(self, command, model, *more):
        options = ["--no-db"] if command in (["show"],) else ["--no-db", "--threads", "1"]
        return subprocess.run([TUNEC, *command, model, *options, *more], capture_output=True, text=True,
                              cwd=self.dir, env=self.environment, timeout=120)

    def rejected(self, code, message, command, model, *more):
        done = self.tunec(command, model, *more)
        self.assertEqual(done.returncode, code, f"{command} {model}: {done.stderr}{done.stdout}")
        self.assertRegex(done.stderr, message)
        self.assertNotRegex(done.stderr, r"error: (internal|pass)")

    def rejected_in_little_memory(self, message, command, model, *more):
        """Expects a rejection with exit code 2, within 2 GiB of memory."""
        with open(self.dir / "stderr", "w+", encoding="utf-8") as errors:
            process = subprocess.Popen([TUNEC, *command, model, "--no-db", *more], stdout=subprocess.DEVNULL,
                                       stderr=errors, cwd=self.dir, env=self.environment)
            _, status, usage = os.wait4(process.pid, 0)
            errors.seek(0)
            self.assertRegex(errors.read(), message)
        self.assertEqual(os.waitstatus_to_exitcode(status), 2)
        self.assertLess(usage.ru_maxrss, 2 << 20)

    def test_every_model_is_in_a_table(self):
        models = {path.name for path in HERE.iterdir() if path.suffix in (".onnx", ".graph")}
        self.assertEqual(models, {*REJECTED, *RUN})

    def test_what_is_wrong_is_rejected_by_every_command(self):
        for name, message in REJECTED.items():
            for command in COMMANDS:
                with self.subTest(name, command=command):
                    self.rejected(2, message, command, HERE / name)

    def test_what_is_legal_runs(self):
        for name, shown in RUN.items():
            for command in COMMANDS:
                with self.subTest(name, command=command):
                    done = self.tunec(command, HERE / name)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    if command == ["run"] and shown:
                        self.assertRegex(done.stdout, shown)

    def test_functions_that_call_each_other_are_not_written_out_first(self):
        self.rejected_in_little_memory("functions written out", ["run"], HERE / "function_bomb.onnx")

    def test_inputs_beyond_memory_are_a_message(self):
        model = self.file("big.graph", f"graph g {{\n  input x: f32[{2**44}, 16]\n"
                          "  y = reduce_sum(x) {axes=[0, 1]}\n  output y\n}\n")
        for command in (["run"], ["verify"], ["bench"], []):
            with self.subTest(command=command):
                self.rejected(1, f"cannot allocate {2**50} bytes for input x", command, model)

    def test_the_loop_level_says_so_too(self):
        compute = self.file("big.compute", f"compute big {{\n  input X: f32[{2**44}, 16]\n  output Y: f32[16]\n"
                            "  first[j: 16]:\n    Y[j] = X[0, j]\n}\n")
        done = subprocess.run([TUNEC, "schedule", compute, "--run"], capture_output=True, text=True,
                              cwd=self.dir, env=self.environment, timeout=120)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"error: cannot allocate {2**50} bytes", done.stderr)

    def test_shapes_are_checked_before_weights_are_filled(self):
        model = self.file("weights.graph", "graph g {\n  input x: f32[2, 3]\n  weight w: f32[2147483648]\n"
                          "  y = matmul(x, w)\n  output y\n}\n")
        self.rejected_in_little_memory("matmul inner sizes differ", ["run"], model, "--random-weights", "1")

    def test_indices_out_of_range_are_counted(self):
        model = self.file("gather.graph", "graph g {\n  constant x: f32[3] = [10, 20, 30]\n  input i: i64[4]\n"
                          "  wte = gather(x, i)\n  output wte\n}\n")
        inputs = self.dir / "i.npz"
        with zipfile.ZipFile(inputs, "w") as file:
            file.writestr("i.npy", array([0, 99, -4, -3], "q", "i8"))
        for command in (["run"], ["verify"]):
            done = self.tunec(command, model, "--inputs", str(inputs))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn('note: 2 indices of gather "wte" outside -3 to 2; the nearest in range were taken',
                          done.stderr)
        self.assertIn("10 30 10 10", self.tunec(["run"], model, "--inputs", str(inputs)).stdout)
        named = self.file("named.graph", "graph g {\n  constant x: f32[3] = [10, 20, 30]\n  input i: i64[4]\n"
                          '  "w\\x1b[31m" = gather(x, i)\n  output "w\\x1b[31m"\n}\n')
        note = self.tunec(["run"], named, "--inputs", str(inputs)).stderr
        self.assertIn('note: 2 indices of gather "w?[31m"', note)
        self.assertNotIn("note", self.tunec(["run"], model).stderr)


if __name__ == "__main__":
    position = sys.argv.index("--tunec")
    TUNEC = os.path.abspath(sys.argv[position + 1])
    del sys.argv[position:position + 2]
    unittest.main()
