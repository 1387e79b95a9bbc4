"""Tests of the command `python -m tunec.torch`."""
import json
import pathlib
import tempfile
import unittest

try:
    import torch
except ImportError:
    raise unittest.SkipTest("torch is not installed")

import contextlib
import io

from tunec.torch.__main__ import main
from tunec.torch.safetensors import write_safetensors

import small_models
from run_graph import CompiledFile


class Command(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_command(self, *arguments):
        out, error = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            status = main([str(a) for a in arguments])
        return status, out.getvalue(), error.getvalue()

    def check_model(self, module, x, *arguments):
        status, out, error = self.run_command(*arguments)
        self.assertEqual(status, 0, error)
        found = CompiledFile(self.folder / "m.graph")([x], [(torch.float32, (1, 3))])[0]
        torch.testing.assert_close(found, module(x), rtol=1e-5, atol=1e-5)

    def test_exported_program(self):
        module, x = small_models.TinyModel().eval(), torch.randn(1, 4)
        torch.export.save(torch.export.export(module, (x,)), self.folder / "m.pt2")
        self.check_model(module, x, self.folder / "m.pt2")

    def test_torchscript(self):
        module, x = small_models.TinyModel().eval(), torch.randn(1, 4)
        torch.jit.save(torch.jit.trace(module, x), self.folder / "m.pt")
        self.check_model(module, x, self.folder / "m.pt", "--input", "f32[1, 4]", "-o",
                         self.folder / "m.graph")

    def test_torchscript_without_inputs(self):
        module, x = small_models.TinyModel().eval(), torch.randn(1, 4)
        torch.jit.save(torch.jit.trace(module, x), self.folder / "m.pt")
        status, _, error = self.run_command(self.folder / "m.pt")
        self.assertEqual(status, 2)
        self.assertIn("give each by --input", error)

    def test_what_is_no_program(self):
        (self.folder / "m.pt2").write_text("hello")
        status, _, error = self.run_command(self.folder / "m.pt2")
        self.assertEqual(status, 2)
        self.assertIn("not an exported program", error)

    def test_open_sizes(self):
        module, x = small_models.TinyModel().eval(), torch.randn(3, 4)
        dim = torch.export.Dim("batch", min=2, max=8)
        program = torch.export.export(module, (x,), dynamic_shapes=({0: dim},))
        torch.export.save(program, self.folder / "m.pt2")
        status, _, error = self.run_command(self.folder / "m.pt2")
        self.assertEqual(status, 2)
        symbol = error.split("not fixed: ")[1].split()[0]
        status, _, _ = self.run_command(self.folder / "m.pt2", "--size", f"{symbol}=5")
        self.assertEqual(status, 0)
        y = torch.randn(5, 4)
        found = CompiledFile(self.folder / "m.graph")([y], [(torch.float32, (5, 3))])[0]
        torch.testing.assert_close(found, module(y), rtol=1e-5, atol=1e-5)

    def test_named_sizes(self):
        """Writes a text with a named dynamic size, and compiles the text for a range of sizes."""
        module, x = small_models.TinyModel().eval(), torch.randn(3, 4)
        dim = torch.export.Dim("batch", min=2)
        program = torch.export.export(module, (x,), dynamic_shapes=({0: dim},))
        torch.export.save(program, self.folder / "m.pt2")
        status, _, error = self.run_command(self.folder / "m.pt2", "--open", "batch=x:0")
        self.assertEqual(status, 0, error)
        self.assertIn("f32[batch, 4]", (self.folder / "m.graph").read_text())
        open_model = CompiledFile(self.folder / "m.graph", dims={"batch": "4..16"})
        for size in (1, 5, 16):
            y = torch.randn(size, 4)
            found = open_model([y], [(torch.float32, (size, 3))])[0]
            torch.testing.assert_close(found, module(y), rtol=1e-5, atol=1e-5)

    def test_constants_of_named_sizes(self):
        """Expects an error. The importer needs another constant matrix for each size."""
        dim = torch.export.Dim("length", min=2, max=200)
        program = torch.export.export(torch.nn.AdaptiveAvgPool1d(24), (torch.randn(1, 3, 24),),
                                      dynamic_shapes=({2: dim},))
        torch.export.save(program, self.folder / "m.pt2")
        status, _, error = self.run_command(self.folder / "m.pt2", "--open", "length=input:2")
        self.assertEqual(status, 2)
        self.assertIn("expected a fixed size", error)

    def test_named_sizes_that_are_none(self):
        program = torch.export.export(small_models.TinyModel().eval(), (torch.randn(3, 4),))
        torch.export.save(program, self.folder / "m.pt2")
        for given, expected in (("batch=x:0", "expected a dynamic size"), ("batch=y:0", "not an axis"),
                              ("batch=x:2", "not an axis"), ("x:0", "expected NAME=INPUT:AXIS")):
            status, _, error = self.run_command(self.folder / "m.pt2", "--open", given)
            self.assertEqual(status, 2)
            self.assertIn(expected, error)


class Safetensors(unittest.TestCase):
    def test_covers_all_bytes_once(self):
        tensors = {"b": torch.ones(3, dtype=torch.bool), "f": torch.randn(2, 2),
                   "t": torch.randn(4, 3).t(), "e": torch.empty(0, 3), "h": torch.randn(5).half()}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "w.safetensors"
            write_safetensors(path, tensors)
            data = path.read_bytes()
        size = int.from_bytes(data[:8], "little")
        header = json.loads(data[8:8 + size])
        data = data[8 + size:]
        spans = sorted(entry["data_offsets"] for entry in header.values())
        self.assertEqual(spans[0][0], 0)
        self.assertEqual(spans[-1][1], len(data))
        self.assertTrue(all(a[1] == b[0] for a, b in zip(spans, spans[1:])))
        begin, end = header["t"]["data_offsets"]
        stored = torch.frombuffer(bytearray(data[begin:end]), dtype=torch.float32)
        self.assertTrue(torch.equal(stored.reshape(3, 4), tensors["t"]))


if __name__ == "__main__":
    unittest.main()
