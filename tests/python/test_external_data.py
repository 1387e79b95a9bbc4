"""Tests of ONNX models that have their weights in separate files."""
import struct
import tempfile
import unittest
from pathlib import Path

import numpy as np
import tunec


def _block(field, content):
    content = content.encode() if isinstance(content, str) else content
    return bytes([field << 3 | 2, len(content)]) + content


def _number(field, value):
    return bytes([field << 3, value])


def _value(name):
    return _block(1, name) + _block(2, _block(1, _number(1, 1) + _block(2, _block(1, _number(1, 4)))))


def sum_model(location):
    """Returns the ONNX bytes of y = x + w, of four f32 numbers. The file `location` contains w."""
    weight = (_number(1, 4) + _number(2, 1) + _block(8, "w") + _number(14, 1)
              + _block(13, _block(1, "location") + _block(2, location)))
    node = _block(1, "x") + _block(1, "w") + _block(2, "y") + _block(4, "Add")
    graph = (_block(1, node) + _block(2, "g") + _block(5, weight) + _block(11, _value("x"))
             + _block(12, _value("y")))
    return _number(1, 8) + _block(7, graph) + _block(8, _number(2, 17))


class ExternalData(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)
        (self.dir / "blobs").mkdir()
        (self.dir / "snapshots/0123").mkdir(parents=True)
        (self.dir / "blobs/aa").write_bytes(sum_model("model.onnx_data"))
        (self.dir / "blobs/bb").write_bytes(struct.pack("<4f", 1, 2, 3, 4))
        (self.dir / "secret").write_bytes(struct.pack("<4f", 9, 9, 9, 9))
        self.model = self.link("model.onnx", "../../blobs/aa")
        self.link("model.onnx_data", "../../blobs/bb")

    def link(self, name, target):
        path = self.dir / "snapshots/0123" / name
        path.unlink(missing_ok=True)
        path.symlink_to(target)
        return path

    def check(self, model):
        np.testing.assert_array_equal(model(np.array([10, 20, 30, 40], np.float32)), [11, 22, 33, 44])

    def test_a_snapshot_of_links_loads(self):
        self.check(tunec.compile(self.model, db=None))

    def test_links_out_of_it_are_rejected(self):
        self.link("model.onnx_data", "../../secret")
        with self.assertRaisesRegex(tunec.InvalidArgument, "outside of the model's folder"):
            tunec.compile(self.model, db=None)

    def test_bytes_have_the_folder_that_is_named(self):
        (self.dir / "blobs/model.onnx_data").symlink_to("bb")
        for folder in (self.dir / "blobs", str(self.dir / "blobs")):
            self.check(tunec.compile(self.model.read_bytes(), external_data=folder, db=None))
        with self.assertRaisesRegex(tunec.Unsupported, "external_data"):
            tunec.compile(self.model.read_bytes(), db=None)
        with self.assertRaisesRegex(tunec.InvalidArgument, "outside of the model's folder"):
            tunec.compile(self.model.read_bytes(), external_data=self.model.parent, db=None)


if __name__ == "__main__":
    unittest.main()
