"""Tests of the times and the roofline that tunec bench prints, explains and draws."""
import json
import sqlite3
from xml.etree import ElementTree

from cli_case import CliTest, main
from sample_models import GRAPH


class Bench(CliTest):
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

    def test_names_are_whole_where_nobody_looks(self):
        long = "a_name_that_is_longer_than_a_column_of_forty_characters"
        path = self.file("g.graph", GRAPH.replace("p = ", f"{long} = ").replace("relu(p)", f"relu({long})"))
        table = self.good("bench", path, "--profile", "--runs", "2")
        self.assertRegex(table, rf"(?m)^ +0  {long} r ")


if __name__ == "__main__":
    main()
