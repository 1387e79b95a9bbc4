"""Tests of models whose inputs have dynamic dimensions."""
from cli_case import CliTest, main
from onnx_bytes import model, node
from sample_models import model_of_open_shape


class Sizes(CliTest):
    def test_shapes(self):
        path = self.file("open.onnx", model_of_open_shape())
        self.assertIn("f32[nx3]", self.good("show", path))
        for shape in ("x", "x=", "x=2xq", "x=-2x3", "x=2", "x=2x4", "z=2x3"):
            self.bad(2, "shape", "show", path, "--shape", shape)
        self.assertIn("f32[5x3]", self.good("show", path, "--shape", "x=5x3"))

    def test_arrays_and_named_dimensions_give_open_shapes(self):
        path = self.file("open.onnx", model_of_open_shape())
        for command in (["opt"], ["build", "-o", "out.tnb"]):
            self.bad(2, "1 input has open dimensions: 'x' is [n, 3]; fix them, for example with --dim n=1",
                     *command, path)
        self.bad(2, "no input has a dimension 'four'", "show", path, "--dim", "n=four")
        for dim in ("n", "n=", "n=-1", "=4", "n=4x", "n=99999999999999999999"):
            self.bad(2, f"--dim {dim}: expected a dimension and its size", "show", path, "--dim", dim)
        self.bad(2, "too many elements", "show", path, "--dim", "n=9223372036854775807")
        self.bad(2, "the model's open dimensions are n", "show", path, "--dim", "m=4")
        self.bad(2, "this name is given twice", "show", path, "--dim", "n=4", "--dim", "n=5")
        self.bad(2, "dimension n has 2 sizes, expected one", "show", path, "--dim", "n=4,5")
        self.bad(2, "expected a dimension and its size", "show", path, "--dim", "n=4,")
        self.assertIn("y f32[6x3]", self.good("run", path, "--dim", "n=4,6"))
        self.assertIn("y f32[8x3]", self.good("run", path, "--dim", "n=3..8"))
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
        self.bad(2, "the size of batch is open: the option dims gives sizes, such as --dim batch=8",
                 "build", path, "-o", "out.tnb")

    def test_sizes_that_are_not_given_have_defaults(self):
        onnx = self.file("open.onnx", model_of_open_shape())
        graph = self.file("named.graph", "graph g {\n  input x: f32[n, 3]\n  y = relu(x)\n  output y = y\n}\n")
        for path in (onnx, graph):
            for command in (["--no-db"], ["run"], ["bench", "--runs", "3"], ["verify"], ["show", "--groups"]):
                done = self.tunec(*command, path)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("sizes that are not given have defaults, as with --dim n=1", done.stdout + done.stderr)
            self.assertIn("y f32[1x3]", self.good("run", path))
            self.assertNotIn("defaults", self.good("run", path, "--dim", "n=5"))

    def test_equal_dimensions(self):
        path = self.file("two.onnx", model([node("Add", ["x", "y"], ["z"])], {"x": ["a", 2], "y": ["b", 2]},
                                           {"z": ["a", 2]}))
        self.assertIn("z f32[5x2]", self.good("run", path, "--dim", "a=b", "--dim", "b=5"))
        self.assertIn("z f32[8x2]", self.good("run", path, "--dim", "a=b", "--dim", "b=4,8"))
        self.bad(2, "no input has a dimension 'c'", "run", path, "--dim", "a=c")
        graph = self.file("g.graph", "graph g {\n  input x: f32[a]\n  y = neg(x)\n  output y\n}\n")
        self.bad(2, "a .graph file gives equal sizes one name", "run", graph, "--dim", "a=b")

    def test_constants_are_numbers_or_files(self):
        path = self.file("clip.onnx", model([node("Clip", ["x", "low"], ["y"])], {"x": [3], "low": []}, {"y": [3]}))
        self.assertIn("y f32[3]: 7 7 7", self.good("run", path, "--constant", "low=7"))
        self.bad(2, "seven.npy: No such file", "run", path, "--constant", "low=seven.npy")
        self.bad(2, "has another rank", "run", path, "--constant", "low=[1, 2]")

    def test_dimensions_without_a_name(self):
        path = self.file("nameless.onnx", model([node("Relu", ["x"], ["y"])], {"x": ["", "?", 2]}, {"y": ["", "?", 2]}))
        self.assertIn("f32[x.0xx.1x2]", self.good("show", path).replace("'", "").replace('"', ""))
        self.assertIn("f32[4x5x2]", self.good("run", path, "--dim", "x.0=4", "--dim", "x.1=5"))

    def test_expressions_of_named_sizes(self):
        text = ("graph g {\n  input x: f32[n, 6]\n  y = reshape(x) {shape=[n/2, 12]}\n"
                "  z = slice(y) {starts=[0, 3], ends=[min(n, 2), 12]}\n  output y\n  output z\n}\n")
        path = self.file("expressions.graph", text)
        listing = self.good("show", path)
        self.assertIn("f32[(n/2)x12]", listing)
        self.assertIn("the named sizes must satisfy\n  n mod 2 == 0\n", listing)
        for command in (["opt"], ["opt", "--count"], ["show", "--onnx", "out.onnx"]):
            self.bad(2, "the size of n is open", *command, path)
        self.assertIn("y f32[4x12]", self.good("run", path, "--dim", "n=8"))
        self.bad(2, "reshape sizes differ: input is 9x6 with 54 elements, shape is [4, 12]", "run", path,
                 "--dim", "n=9")
        self.assertIn("f32[4x12]", self.good("show", path, "--dim", "n=8"))
        self.assertNotIn("satisfy", self.good("show", path, "--dim", "n=8"))


if __name__ == "__main__":
    main()
