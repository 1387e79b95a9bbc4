"""Tests of the JSON that commands print with --json."""
import json
from pathlib import Path

from cli_case import CliTest, main
from cuda_case import PTXAS
from sample_models import COMPUTE, GRAPH, TABLE


class Json(CliTest):
    def test_json_of_tables(self):
        path = self.file("g.graph", GRAPH)
        report = json.loads(self.good(path, "--json", "--trials", "2", "--threads", "1"))
        self.assertEqual((report["threads"], report["nodes"], report["groups"]), (1, 2, 1))
        self.assertEqual(report["trials"]["asked"], 2)
        kernel, = report["kernels"]
        self.assertEqual((kernel["group"], kernel["kind"], kernel["count"]), (0, "matmul", 1))
        self.assertGreater(kernel["each_ms"], 0)
        self.assertGreater(kernel["recorded_ms"], 0)
        self.assertEqual((kernel["object"], kernel["notes"]), ("reused", []))
        self.assertGreater(report["compile_ms"], 0)
        self.assertGreater(report["latency"]["min_ms"], 0)
        task, = json.loads(self.good("db", "list", "--json"))["tasks"]
        self.assertEqual(task["kind"], "matmul")
        self.assertEqual(task["workload"], kernel["workload"])
        self.assertGreater(task["best_ms"], 0)
        stats = json.loads(self.good("db", "stats", "--json"))
        self.assertEqual(stats["tasks"], 1)
        self.assertTrue(any(target["machine_facts"].get("peak_flops", 0) > 0 for target in stats["targets"]))
        verified = json.loads(self.good("verify", path, "--json"))
        self.assertTrue(verified["ok"])
        self.assertEqual(verified["outputs"][0]["against"], "reference")
        self.assertLess(verified["outputs"][0]["relative"], verified["outputs"][0]["threshold"])
        passes = json.loads(self.good("verify", path, "--pipeline", "--json"))
        self.assertIn("canonicalize", [row["pass"] for row in passes["passes"]])
        group, = json.loads(self.good("show", path, "--groups", "--json"))["groups"]
        self.assertEqual((group["group"], group["flops"]), (0, kernel["flops"]))
        shown = json.loads(self.good("show", path, "--json", "--dependencies", "--counts", "--residuals", "--fusion",
                                     "--fusion-candidates", "--multiply-adds"))
        self.assertEqual([row["nodes"] for row in shown["counts"]], [1, 1, 2])
        self.assertIn({"node": "a", "depends_on": "-", "used_by": "p"}, shown["dependencies"])
        self.assertEqual(shown["residuals"], [])
        edge, = shown["fusion"]
        self.assertEqual((edge["group"], edge["place"], edge["edge"]), (0, "inside", "p -> r"))
        self.assertTrue(shown["fusion_candidates"][0]["fused"])
        self.assertEqual(shown["multiply_adds"][-1]["group"], None)
        nodes = json.loads(self.good("show", path, "--json"))["nodes"]
        self.assertEqual(nodes[-1]["opcode"], "output")
        self.bad(2, "--json", "show", path, "--json", "--nest", "0")
        checks = {row["what"]: row for row in json.loads(self.good("doctor", "--json"))["checks"]}
        self.assertTrue(checks["worker"]["ok"])

    def test_json_has_the_documented_keys(self):
        model = self.file("g.graph", GRAPH)
        root = Path(__file__).parents[3]
        files = {"MODEL": model, "COMPUTE": self.file("c.compute", COMPUTE),
                 "TABLE": self.file("t.jsonl", TABLE)}
        self.good(model, "--trials", "1", "--threads", "1")
        files["BUNDLE"] = model + ".tnc"
        self.good("build", model, "-o", files["BUNDLE"])
        pages = [[cell.strip() for cell in line.split("|")[1:4]]
                 for line in (root / "docs/reference/json.md").read_text().splitlines() if line.startswith("| `tunec")]
        printed = {}
        for command, key, keys in pages:
            words = command.strip("`").split()[1:]
            if "cuda" in words and not PTXAS:
                continue
            if command not in printed:
                printed[command] = json.loads(self.good(*[files.get(word, word) for word in words]))
            found = printed[command][key.strip("`")] if key else printed[command]
            with self.subTest(command=command, key=key):
                for row in found if isinstance(found, list) else [found]:
                    self.assertEqual([f"`{name}`" for name in row], keys.split())
        self.assertGreater(len(pages), 20)

    def test_json_of_runs_and_passes(self):
        path = self.file("g.graph", GRAPH)
        output, = json.loads(self.good("run", path, "--json"))["outputs"]
        self.assertEqual((output["type"], len(output["first"])), ("f32", 6))
        self.assertIn("memory_bytes", json.loads(self.good("run", path, "--json", "--memory")))
        passes = json.loads(self.good("opt", path, "--list", "--json"))
        self.assertEqual({row["name"] for row in passes["passes"]} & set(passes["in_order"]), set(passes["in_order"]))
        self.bad(2, "--json needs --count or --list", "opt", path, "--json")
        compute = self.file("c.compute", COMPUTE)
        timed = json.loads(self.good("schedule", compute, "--time", "--json", "--auto", "--rounds", "2"))
        self.assertEqual([row["after"] for row in timed["schedules"]][-1], "automatic")
        self.assertTrue(all(row["ok"] and row["median_ms"] > 0 for row in timed["schedules"]))
        self.assertGreater(timed["peak_flops"], 0)


if __name__ == "__main__":
    main()
