"""Tests of the tables and of the trace that tunec compile-profile writes."""
import json

from cli_case import CliTest, main
from sample_models import GRAPH

# A processor without AMX. With AMX, kernels for measuring its speed are compiled, too.
CPU = ["--cpu", "x86-64-v3"]


def outermost(events):
    """Returns the events of one thread that no other event contains. Fails if two events overlap."""
    found, ends = [], []
    for event in sorted(events, key=lambda event: (event["ts"], -event["dur"])):
        while ends and ends[-1] <= event["ts"]:
            ends.pop()
        assert not ends or event["ts"] + event["dur"] <= ends[-1], event
        if not ends:
            found.append(event)
        ends.append(event["ts"] + event["dur"])
    return found


class CompileProfile(CliTest):
    def test_tables(self):
        path = self.file("g.graph", GRAPH)
        text = self.good("compile-profile", path, "--no-db", *CPU)
        self.assertRegex(text, r"\A1 object compiled in [\d.]+ \w+, 0 reused\n\n"
                               r"stage +count +processor +share +elapsed\n")
        self.assertRegex(text, r"(?m)^llvm +1 +[\d.]+ ms +[\d.]+ % +[\d.]+ ms$")
        self.assertRegex(text, r"(?m)^kernel +count +processor +share +elapsed\nmatmul\+relu .* 1 +[\d.]+ ms +100.0 %")

    def test_stored_code_is_not_compiled(self):
        path = self.file("g.graph", GRAPH)
        self.assertIn("1 object compiled", self.good("compile-profile", path, *CPU))
        again = json.loads(self.good("compile-profile", path, "--json", *CPU))
        self.assertEqual((again["objects_compiled"], again["objects_reused"]), (0, 1))
        self.assertNotIn("llvm", [row["stage"] for row in again["stages"]])

    def test_the_trace_has_the_times_of_the_stages(self):
        path = self.file("g.graph", GRAPH)
        report = json.loads(self.good("compile-profile", path, "--no-db", "--trace", "t.json", "--json"))
        events = json.loads((self.dir / "t.json").read_text())["traceEvents"]
        threads = {event["tid"] for event in events}
        whole = [event for thread in threads
                 for event in outermost([event for event in events if event["tid"] == thread])]
        self.assertAlmostEqual(sum(row["processor_ms"] for row in report["stages"]),
                               sum(event["tdur"] for event in whole) / 1000, 6)
        self.assertAlmostEqual(sum(row["share"] for row in report["stages"]), 1, 6)
        for row in report["stages"]:
            self.assertGreaterEqual(row["processor_ms"], 0, row)
            self.assertEqual(row["count"], sum(event["name"] == row["stage"] for event in events))
        kernel, = report["kernels"]
        event, = [event for event in events if event["name"] == "kernel"]
        self.assertEqual(event["args"]["detail"], kernel["kernel"])
        self.assertLessEqual(kernel["elapsed_ms"], report["compile_ms"])

    def test_a_file_that_cannot_be_written_is_an_error(self):
        path = self.file("g.graph", GRAPH)
        self.bad(2, "no/t.json", "compile-profile", path, "--trace", "no/t.json")


if __name__ == "__main__":
    main()
