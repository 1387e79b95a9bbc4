"""Tests of bundles, which are models compiled ahead of time."""
import json
import os

from cli_case import CliTest, main
from sample_models import GRAPH, SIZED_GRAPH


class Bundle(CliTest):
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

    def test_a_pipe_is_no_bundle(self):
        pipe = self.file("pipe.tnc", "")
        os.remove(pipe)
        os.mkfifo(pipe)
        for command in ("run", "bench", "doctor"):
            self.bad(2, "pipe.tnc", command, pipe)

    def test_has_the_permissions_that_the_umask_leaves(self):
        model = self.file("g.graph", GRAPH)
        before = os.umask(0o077)
        self.addCleanup(os.umask, before)
        self.good("build", model, "-o", "g.tnc")
        self.good("build", model, "--shared", "-o", "g.so")
        for name in ("g.tnc", "g.so", "g.h"):
            self.assertEqual((self.dir / name).stat().st_mode & 0o777, 0o600, name)

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

    def test_bundles_of_several_sizes_have_layouts(self):
        model = self.file("n.graph", "graph n {\n  input x: f32[batch, 3, 4]\n  y = neg(x)\n  output y\n}\n")
        for sizes in ("batch=1,4", "batch=4"):
            self.good("build", model, "--dim", sizes, "--layout", "y=channels_last", "-o", model + ".tnc")
            output, = json.loads(self.good("run", model + ".tnc", "--json"))["outputs"]
            self.assertEqual(output["shape"], [4, 4, 3])


if __name__ == "__main__":
    main()
