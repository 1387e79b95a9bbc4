"""Tests that files of torch.export.save run no code, and that modules accept NumPy's arrays."""
import json
import os
import pickle
import tempfile
import unittest
import zipfile

try:
    import numpy as np
    import torch
except ImportError:
    raise unittest.SkipTest("torch is not installed")

import tunec
from torch import nn
from tunec.torch import load_program
from tunec.torch.private_folder import why_not_private


class Harmful:
    """An object that creates a file when it is read from a pickle."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


class InFolder(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        torch.manual_seed(5)

    def path(self, name):
        return os.path.join(self.folder, name)


class Archives(InFolder):

    def saved(self, module, inputs, **options):
        path = self.path("model.pt2")
        torch.export.save(torch.export.export(module.eval(), inputs, **options), path)
        return path

    def changed(self, path, name, change):
        """Returns the path of a copy of the archive with `change` applied to the record `name`."""
        copy = self.path(f"changed{len(os.listdir(self.folder))}.pt2")
        with torch.export.pt2_archive._package.PT2ArchiveReader(path) as reader, \
                zipfile.ZipFile(copy, "w", zipfile.ZIP_STORED) as out:
            for record in reader.get_file_names():
                data = reader.read_bytes(record)
                out.writestr(f"model/{record}", change(data) if record == name else data)
            if ".data/version" not in reader.get_file_names():
                out.writestr("model/.data/version", b"3\n")
        return copy

    def changed_text(self, path, change):
        def with_change(data):
            record = json.loads(data)
            change(record)
            return json.dumps(record).encode()
        return self.changed(path, "models/model.json", with_change)

    def test_programs_come_back(self):
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv1d(2, 3, 3)
                self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

            def forward(self, x, scale):
                self.calls += 1
                return self.conv(x) * scale + torch.tensor([[1.0], [2.0], [3.0]])

        length, inputs = torch.export.Dim("length", min=4, max=64), (torch.randn(2, 2, 8), torch.randn(1))
        path = self.saved(Model(), inputs, dynamic_shapes=({2: length}, None))
        loaded, by_torch = load_program(path), torch.export.load(path)
        self.assertEqual(str(loaded.graph), str(by_torch.graph))
        self.assertEqual(str(loaded.range_constraints), str(by_torch.range_constraints))
        x = torch.randn(2, 2, 11)
        torch.testing.assert_close(tunec.compile(path, db=None)(x, inputs[1]), by_torch.module()(x, inputs[1]))

    def test_pickles_are_not_read(self):
        path, trace = self.saved(nn.Linear(4, 4), (torch.randn(2, 4),)), self.path("ran")
        for name in ("data/sample_inputs/model.pt", "data/weights/weight_0", "models/model.json"):
            harmful = self.changed(path, name, lambda data: pickle.dumps(Harmful(trace)))
            try:
                tunec.compile(harmful, db=None)
            except tunec.Error:
                pass
            self.assertFalse(os.path.exists(trace), name)

    def test_weights_that_are_pickles(self):
        path, trace = self.saved(nn.Linear(4, 4), (torch.randn(2, 4),)), self.path("ran")

        def as_pickle(data):
            record = json.loads(data)
            for entry in record["config"].values():
                entry["use_pickle"] = True
            return json.dumps(record).encode()
        marked = self.changed(path, "data/weights/model_weights_config.json", as_pickle)
        harmful = self.changed(marked, "data/weights/weight_0", lambda _: pickle.dumps(Harmful(trace)))
        message = "more than tensors in data/weights/weight_0.*torch.export.load"
        with self.assertRaisesRegex(tunec.InvalidArgument, message):
            tunec.compile(harmful, db=None)
        self.assertFalse(os.path.exists(trace))

    def test_texts_are_not_evaluated(self):
        size = torch.export.Dim("n", min=2, max=64)
        path = self.saved(nn.Linear(4, 4), (torch.randn(3, 4),), dynamic_shapes=({0: size},))
        trace, message = self.path("ran"), "an expression of sizes is expected"
        for text in (f"__import__('os').mkdir({trace!r})", "exec(Symbol('x'))", "Max('open(1)', 2)",
                     "(lambda: 1)()", "[x for x in (1,)][0].__class__"):
            def with_expression(record):
                for value in record["graph_module"]["graph"]["tensor_values"].values():
                    for entry in value["sizes"]:
                        if "as_expr" in entry:
                            entry["as_expr"]["expr_str"] = text
            for change in (with_expression, lambda record: record.update(guards_code=[text])):
                with self.subTest(text=text), self.assertRaisesRegex(tunec.InvalidArgument, message):
                    tunec.compile(self.changed_text(path, change), db=None)
        self.assertFalse(os.path.exists(trace))

    def test_functions_that_are_no_operators(self):
        path = self.saved(nn.Linear(4, 4), (torch.randn(3, 4),))

        def with_target(record):
            record["graph_module"]["graph"]["nodes"][0]["target"] = "torch.load"
            record["verifiers"] = []
        with self.assertRaises(tunec.InvalidArgument):
            tunec.compile(self.changed_text(path, with_target), db=None)

    def test_modules_are_not_imported(self):
        path = self.saved(nn.Linear(4, 4), (torch.randn(3, 4),))

        def with_module(record):
            call = record["graph_module"]["module_call_graph"][0]["signature"]
            call["in_spec"] = call["in_spec"].replace('"[]"', json.dumps(json.dumps(
                {"__enum__": True, "fqn": "antigravity:x", "name": "y"})))
        with self.assertRaisesRegex(tunec.InvalidArgument, "module antigravity, which is not imported"):
            tunec.compile(self.changed_text(path, with_module), db=None)

    def test_what_is_no_archive(self):
        path = self.path("text.pt2")
        with open(path, "w") as file:
            file.write("text")
        with self.assertRaises(tunec.InvalidArgument):
            tunec.compile(path)
        with self.assertRaises(tunec.NotFound):
            tunec.compile(self.path("missing.pt2"))


class PrivateFolders(InFolder):

    def test_a_folder_is_made_for_the_user_alone(self):
        path = self.path("a")
        self.assertIsNone(why_not_private(path))
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o700)
        os.chmod(path, 0o755)
        self.assertIsNone(why_not_private(path))
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o700)

    def test_folders_that_others_may_write(self):
        path = self.path("a/b")
        self.assertIsNone(why_not_private(path))
        os.chmod(path, 0o777)
        self.assertRegex(why_not_private(path), "belongs to this user alone")
        os.chmod(path, 0o700)
        os.chmod(self.path("a"), 0o777)
        self.assertRegex(why_not_private(path), "other users may replace files in .*/a")
        os.chmod(self.path("a"), 0o1777)  # only owners may rename
        self.assertIsNone(why_not_private(path))

    def test_a_link_and_a_file(self):
        os.symlink(self.path("a"), self.path("link"))
        os.mkdir(self.path("a"))
        self.assertRegex(why_not_private(self.path("link")), "belongs to this user alone")
        open(self.path("file"), "w").close()
        self.assertRegex(why_not_private(self.path("file")), "cannot be made")

    @unittest.skipUnless(os.getuid() == 0, "needs root")
    def test_a_folder_of_another_user(self):
        os.mkdir(self.path("a"))
        os.chown(self.path("a"), 65534, 65534)
        self.assertRegex(why_not_private(self.path("a")), "belongs to this user alone")
        self.assertRegex(why_not_private(self.path("a/b")), "other users may replace")


class Arrays(unittest.TestCase):

    def setUp(self):
        torch.manual_seed(6)
        self.model = nn.Sequential(nn.Linear(4, 3), nn.ReLU()).eval()
        self.x = torch.randn(5, 4)
        self.compiled = tunec.compile(self.model, (self.x,), db=None)
        self.expected = self.model(self.x).detach().numpy()

    def test_arrays_give_arrays(self):
        found = self.compiled(self.x.numpy())
        self.assertIsInstance(found, np.ndarray)
        np.testing.assert_allclose(found, self.expected, rtol=1e-5, atol=1e-6)
        self.assertIsInstance(self.compiled(self.x), torch.Tensor)

    def test_arrays_that_torch_has_not(self):
        fixed = self.x.numpy().copy()
        fixed.flags.writeable = False
        np.testing.assert_allclose(self.compiled(fixed), self.expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(self.compiled(fixed[::-1]), self.expected[::-1], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(self.compiled(np.asfortranarray(fixed)), self.expected, rtol=1e-5, atol=1e-6)

    def test_other_arguments(self):
        for given, message in (((), "1 argument.* called with 0"), ((self.x, self.x), "called with 2"),
                               ((np.array([object()]),), "is not an array that torch can read"),
                               ((self.x.double().numpy(),), "has type f64, expected f32")):
            with self.assertRaisesRegex(tunec.InvalidArgument, message):
                self.compiled(*given)


if __name__ == "__main__":
    unittest.main()
