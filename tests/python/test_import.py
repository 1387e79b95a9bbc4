"""Tests of the package's version, of repeated imports, and of errors about dynamic dimensions."""
import importlib
import importlib.metadata
import subprocess
import sys
import unittest

import numpy as np
import tunec

TEXT = "graph g {\n  input x: f32[rows, 4]\n  y = neg(x)\n  output y\n}\n"

# A program to import the package twice. Between the imports it is removed from sys.modules.
AGAIN = r"""
import sys
import numpy as np, tunec
text = "graph g {\n  input x: f32[2, 4]\n  y = neg(x)\n  output y\n}\n"
first = tunec.compile(text, db=None)
for name in [name for name in sys.modules if name.startswith("tunec")]:
    del sys.modules[name]
import tunec as again
assert again is not tunec
second = again.compile(text, db=None)
x = np.ones((2, 4), np.float32)
assert (first(x) == second(x)).all() and (second(x) == -1).all()
assert second.inputs == [again.TensorSpec("x", "float32", (2, 4))]
assert again.Executable is tunec.Executable
try:
    second(x.astype(np.float64))
except again.InvalidArgument:
    print("right")
"""


class Import(unittest.TestCase):

    def test_the_version_is_that_of_the_compiler(self):
        self.assertEqual(tunec.__version__, tunec.version())
        self.assertEqual(tunec.__version__, importlib.metadata.version("tunec"))

    def test_importing_loads_no_compiler(self):
        program = "import sys, tunec; print('tunec._native' in sys.modules)"
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertEqual(ran.stdout.strip(), "False", ran.stderr)

    def test_imported_again_after_it_was_removed(self):
        ran = subprocess.run([sys.executable, "-c", AGAIN], capture_output=True, text=True)
        self.assertEqual(ran.stdout.strip(), "right", ran.stderr)

    def test_reloaded(self):
        importlib.reload(tunec)
        tunec.compile(TEXT, db=None, dims={"rows": 2})

    def test_an_open_dimension_names_itself_and_the_option(self):
        with self.assertRaisesRegex(tunec.Error, r"the size of rows is open: the option dims .*--dim rows=8"):
            tunec.compile(TEXT.replace("rows", "rows * 2"), db=None)
        model = tunec.compile(TEXT, db=None, dims={"rows": 3})
        self.assertEqual(model(np.ones((3, 4), np.float32)).shape, (3, 4))

    def test_a_dimension_without_a_size_is_dynamic(self):
        model = tunec.compile(TEXT, db=None)
        for rows in (1, 3, 20):
            self.assertEqual(model(np.ones((rows, 4), np.float32)).shape, (rows, 4))

    def test_compiling_for_each_size_is_a_warning(self):
        text = ("graph g {\n  input x: i32[n]\n  y = reduce_mean(x) {axes=[0]}\n  output y\n}\n")
        with self.assertWarnsRegex(UserWarning, "each new size compiles the model anew: .*dims="):
            model = tunec.compile(text, db=None)
        self.assertEqual(model(np.full(3, 7, np.int32)).tolist(), [7])


if __name__ == "__main__":
    unittest.main()
