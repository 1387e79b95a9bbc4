"""Tests of the files that show, opt, run and schedule write and read."""
import re
from pathlib import Path

from cli_case import CliTest, main
from onnx_bytes import with_external_data
from sample_models import COMPUTE, GRAPH


class Files(CliTest):
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
        dot = self.dir / "empty" / "dot"  # replaces Graphviz: copies its input to its output
        dot.write_text('#!/bin/sh\n[ "$1" = -Tsvg ] && [ "$2" = -o ] && exec /bin/cp "$4" "$3"\n')
        dot.chmod(0o755)
        self.good("show", graph, "--no-db", "--svg", "p.svg")
        self.assertIn("digraph", (self.dir / "p.svg").read_text())
        dot.write_text("#!/bin/sh\nexit 1\n")
        self.bad(2, "dot failed", "show", graph, "--no-db", "--svg", "q.svg")
        self.assertEqual(sorted(path.name for path in self.dir.iterdir()), ["empty", "p.graph", "p.svg"])

    def test_a_device_is_not_replaced(self):
        self.bad(2, "not a regular file", "opt", self.file("p.graph", GRAPH), "--onnx", "/dev/null")

    def test_external_data_behind_links(self):
        # Links from a snapshot to blobs may be followed, as in the cache of Hugging Face's hub.
        snapshot = self.dir / "hub/snapshots/0123"
        snapshot.mkdir(parents=True)
        (self.dir / "hub/blobs").mkdir()
        (self.dir / "hub/blobs/aa").write_bytes(with_external_data([4], "w", "model.onnx_data"))
        (self.dir / "hub/blobs/bb").write_bytes(bytes(16))
        (self.dir / "hub/secret").write_bytes(bytes(16))
        (snapshot / "model.onnx").symlink_to("../../blobs/aa")
        data = snapshot / "model.onnx_data"
        data.symlink_to("../../blobs/bb")
        self.assertIn("ok", self.good("verify", "hub/snapshots/0123/model.onnx", "--no-db"))
        data.unlink()
        data.symlink_to("../../secret")
        self.bad(2, "outside of the model's folder", "verify", "hub/snapshots/0123/model.onnx", "--no-db")
        (self.dir / "other").mkdir()
        (self.dir / "other/model.onnx_data").write_bytes(bytes(16))
        self.assertIn("ok", self.good("verify", "hub/snapshots/0123/model.onnx", "--no-db",
                                      "--external-data", "other"))
        self.bad(2, "external data is for ONNX models", "verify", self.file("g.graph", GRAPH), "--no-db",
                 "--external-data", "other")

    def test_run_writes_what_run_reads(self):
        path = self.file("g.graph", GRAPH)
        self.good("run", path, "--outputs", "y.npz")
        self.assertTrue((self.dir / "y.npz").exists())
        self.bad(2, "y.npz has no array 'a'", "run", path, "--inputs", "y.npz")
        self.assertEqual(self.good("run", path), self.good("run", path))
        self.assertNotEqual(self.good("run", path), self.good("run", path, "--input-seed", "5"))
        done = self.tunec("run", path, "--outputs", "/dev/full/y.npz")
        self.assertEqual(done.returncode, 2, done.stderr)

    def test_opt_writes_what_it_reads(self):
        path = self.file("g.graph", GRAPH)
        self.good("opt", path, "-o", "out.graph")
        self.assertEqual((self.dir / "out.graph").read_text(), self.good("opt", path))
        self.good("show", "out.graph")
        self.assertIn("canonicalize", self.good("opt", "--list"))

    def test_what_each_stage_of_the_loop_pipeline_leaves(self):
        path = self.file("g.graph", GRAPH)
        for stage, sign in (("compute_steps", "compute"), ("loop_steps", "sequence"), ("check_legality", "sequence"),
                            ("generate_loops", "phase"), ("check_tiles", "phase"), ("insert_barriers", "phase"),
                            ("map_threads", "phase"), ("emit", "define ")):
            shown = self.good("show", path, "--no-db", "--after", stage)
            self.assertRegex(shown, rf"(?m)^# \S+, after {stage} \([0-9.]+ ms\)$")
            self.assertIn(sign, shown)
            self.assertIn(sign, self.good("show", path, "--no-db", "--nest", "0", "--after", stage))

    def test_what_each_stage_for_a_gpu_leaves(self):
        path = self.file("g.graph", GRAPH)
        show = ("show", path, "--no-db", "--target", "cuda", "--arch", "sm_80", "--after")
        for stage in ("insert_barriers", "replace_copies", "split_copies", "assign_threads", "cut_private_dimensions",
                      "privatize_threads"):
            shown = self.good(*show, stage)
            self.assertRegex(shown, rf"(?m)^# \S+, after {stage} \([0-9.]+ ms\)$")
            self.assertIn("block.x for", shown)
        self.bad(2, "no stage for cuda is called 'map_threads'", *show, "map_threads")
        self.bad(2, "did you mean assign_threads?", *show, "asign_threads")

    def test_drawings_say_where_no_border_of_a_tile_is_in_sight(self):
        compute = self.file("c.compute", COMPUTE)
        for size, noted in ((32, True), (8, False)):
            steps = self.file("s.sched", f"split product.i {size}\nsplit product.j {size}\n"
                                         "reorder product.i.0 product.j.0 product.i.1 product.j.1\n")
            done = self.tunec("schedule", compute, "--steps", steps, "--svg", "out.svg")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("no border of a tile of product is in sight" in done.stderr, noted, done.stderr)

    def test_the_first_page_of_the_tutorial_can_be_copied(self):
        root = Path(__file__).parents[3]
        page = (root / "docs/internals/tutorial/1_order.md").read_text()
        step = self.file("copied.sched", re.search(r"(?m)^    (reorder .*\n)", page)[1])
        compute, given = root / "examples/loops/matmul.compute", root / "examples/loops/matmul/1_order.sched"
        self.assertEqual(self.good("schedule", compute, "--steps", step, "--last"),
                         self.good("schedule", compute, "--steps", given, "--last"))


if __name__ == "__main__":
    main()
