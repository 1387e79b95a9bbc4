"""Tests of the comparisons and tolerances of tunec verify, and of code for accuracy modes."""
from cli_case import CliTest, main
from onnx_bytes import tensor
from sample_models import DOT, GRAPH, HALF, QUANTISED, RELU, npz, only_number


class Accuracy(CliTest):
    def test_passes_are_verified(self):
        graph = self.file("p.graph", GRAPH)
        self.assertIn("canonicalize", self.good("verify", graph, "--no-db", "--pipeline"))
        self.bad(2, "unknown pass 'nothing'", "verify", graph, "--no-db", "--pass", "nothing")
        self.bad(2, "--random-inputs is 0", "verify", graph, "--no-db", "--pipeline", "--random-inputs", 0)

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
        """Expects that verify accepts roundings in a chain of products, and rejects a wrong
        product."""
        def chain(layers, rows="f32[9, 64]", wrong=None):
            mask = ", ".join(["1.0"] * 56 + ["0.0"] * 8)
            lines = [f"input x0: {rows}", f"constant mask: f32[64] = [{mask}]"]
            lines += [f"weight w{i}: f32[64, 64] init=normal(0.18)" for i in range(layers)]
            for i in range(layers):
                # The wrong product leaves out the last terms of every sum.
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

    def test_verify_sees_a_rewrite_that_loses_large_means(self):
        columns = ", ".join(["-1000.0"] * 64)
        graph = self.file("shift.graph", f"""graph shift {{
          input x: f32[5, 64]
          constant t: f32[64] = [{columns}]
          weight w: f32[64, 32] init=normal(0.1)
          s = add(x, t)
          y = matmul(s, w)
          output y
        }}
        """)
        rules = self.file("shift.rules", """shift_before: matmul(x + t, w)
          => matmul(x, w) + reshape(matmul(reshape(t){shape=[1, elements(t)]}, w)){shape=[dim(out, -1)]}
          where constant(t) and constant(w)
        """)
        options = ("--random-weights", "7", "--no-db")
        self.assertIn("also ok: a large mean, wide exponents, ties, denormals, an infinity, a NaN",
                      self.good("verify", graph, *options))
        done = self.bad(1, "differ", "verify", graph, *options, "--rules", rules)
        self.assertRegex(done.stdout, "reference .*a large mean .*wrong")
        self.assertIn("the constant that s adds is not folded", self.good("opt", graph, *options[:2], "--changes"))

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
        # For a = 1 + 2^-12, -(1 + 2^-11) + a * a is 0 if the product is rounded, otherwise 2^-24.
        graph = self.file("d.graph", "graph d {\n  input a: f32[1, 2]\n  input b: f32[2, 1]\n"
                                     "  y = matmul(a, b)\n  output y = y\n}\n")
        a = 1 + 2.0 ** -12
        inputs = self.file("d.npz", npz(a=((1, 2), [-(1 + 2.0 ** -11), a]), b=((2, 1), [1, a])))
        for options, expected in ((["f32", "--naive"], 2.0 ** -24), (["exact", "--naive"], 0.0), (["exact"], 0.0)):
            self.good("run", graph, "--no-db", "--inputs", inputs, "--outputs", "y.npz", "--accuracy", *options)
            self.assertEqual(only_number(self.dir / "y.npz"), expected, options)


if __name__ == "__main__":
    main()
