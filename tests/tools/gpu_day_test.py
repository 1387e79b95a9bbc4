#!/usr/bin/env python3
"""Tests how bench/gpu_day parses programs' output and continues a run. Needs no GPU, torch or
numpy."""
import contextlib
import io
import json
import sys
import tempfile
import time
import unittest
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "bench/gpu_day"))
import cpu16  # noqa: E402
import day  # noqa: E402
import first  # noqa: E402
import gpu  # noqa: E402
import graphs  # noqa: E402
import prepare  # noqa: E402


class Days(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tunec-gpu-day-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name, value in (("CARRIED", self.folder / "carried"), ("ARCHIVE", self.folder / "archive")):
            self.addCleanup(setattr, day, name, getattr(day, name))
            setattr(day, name, value)
        day.ARCHIVE.write_text("a build")
        self.out = 0

    def begin(self, machine="an H200", seconds=100.0, only=""):
        """Returns the Day of another call, with an empty folder of results."""
        self.out += 1
        options = SimpleNamespace(out=self.folder / f"out{self.out}", seconds=seconds, only=only,
                                  dry_run=False)
        return day.Day("first", machine, options)

    def steps(self, of, *names, work=lambda: 1, seconds=1):
        with contextlib.redirect_stdout(io.StringIO()):
            for name in names:
                of.step(name, seconds, work)

    def test_a_step_is_done_once(self):
        self.steps(self.begin(), "a")
        again = self.begin()
        self.steps(again, "a", "b", work=lambda: 2)
        rows = day.read_rows(again.paths[0])
        self.assertEqual([(row["step"], row["result"]) for row in rows], [("a", 1), ("b", 2)])

    def test_another_machine_or_build_does_all_again(self):
        self.steps(self.begin(), "a")
        self.assertFalse(self.begin(machine="an H100").is_done("a"))
        day.ARCHIVE.write_text("another build")
        self.assertFalse(self.begin().is_done("a"))

    def test_what_failed_is_tried_again(self):
        def fail():
            raise day.Problem("no driver")
        begun = self.begin()
        self.steps(begun, "a", work=fail)
        self.assertEqual(begun.rows[0]["problem"], "no driver")
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(begun.end(), 1)
        again = self.begin()
        self.steps(again, "a")
        self.assertEqual(again.rows[-1]["result"], 1)

    def test_what_has_no_time_is_left(self):
        begun = self.begin(seconds=10.0)
        self.steps(begun, "long", seconds=11)
        self.steps(begun, "short")
        self.assertEqual([row["step"] for row in begun.rows], ["short"])
        self.assertEqual(begun.left_out, 1)

    def test_a_row_that_was_cut_off_is_none(self):
        begun = self.begin()
        self.steps(begun, "a")
        with (day.CARRIED / "first.jsonl").open("a") as file:
            file.write('{"step": "b", "resu')
        self.assertEqual([row["step"] for row in self.begin().rows], ["a"])

    def test_only_some_steps(self):
        begun = self.begin(only="kernels bert,table")
        self.steps(begun, "kernels bert f32", "kernels gpt f32", "table x", "answers")
        self.assertEqual([row["step"] for row in begun.rows], ["kernels bert f32", "table x"])


class Programs(unittest.TestCase):
    def test_output_and_problems(self):
        self.assertEqual(day.output_of([sys.executable, "-c", "print(7)"]), "7\n")
        with self.assertRaisesRegex(day.Problem, "exit code 3: lost"):
            day.output_of([sys.executable, "-c", "import sys; print('lost', file=sys.stderr); sys.exit(3)"])
        with self.assertRaisesRegex(day.Problem, "No such file"):
            day.output_of(["/no/program"])

    def test_nothing_is_left_of_what_takes_too_long(self):
        with tempfile.TemporaryDirectory() as folder:
            mark = Path(folder) / "mark"
            inner = f"import pathlib, time; time.sleep(3); pathlib.Path({str(mark)!r}).touch()"
            outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}])"
            with self.assertRaisesRegex(day.Problem, "no end within 1 s"):
                day.output_of([sys.executable, "-c", outer], seconds=1)
            time.sleep(4)
            self.assertFalse(mark.exists())


class Kernels(unittest.TestCase):
    def test_each_is_beside_its_prediction(self):
        kernel = {"name": "m", "kind": "matmul", "flops": 1.0, "bytes": 2.0, "arithmetic": None}
        phase = {"blocks": 3, "threads": 32, "registers": 40, "shared_bytes": 0, "predicted_bound": "l2"}
        report = {"kernels": [{**kernel, "group": 0, "count": 1}, {**kernel, "group": 7, "count": 12}],
                  "predicted": [{**phase, "group": 0, "predicted_ms": 0.001},
                                {**phase, "group": 7, "predicted_ms": 0.002},
                                {**phase, "group": 7, "predicted_ms": 0.004, "predicted_bound": "memory"}]}
        lines = "\n".join(json.dumps(row) for row in (
            {"kernel": "/x/007-933977174ec50378.kernel", "median_us": 9.0},
            {"kernel": "000-a.kernel", "error": "lost"}))
        rows = first.joined(first.predicted_groups(report), first.measured_groups(lines))
        self.assertEqual([row["group"] for row in rows], [7, 0])
        self.assertAlmostEqual(rows[0]["predicted_us"], 6.0)
        self.assertEqual((rows[0]["bound"], rows[0]["measured_us"], len(rows[0]["phases"])), ("memory", 9.0, 2))
        self.assertEqual((rows[1]["measured_us"], rows[1]["problem"]), (None, "lost"))
        self.assertAlmostEqual(first.total(rows, "predicted_us"), 73.0)
        self.assertIsNone(first.total(rows, "measured_us"))

    def test_parts_are_found_in_names(self):
        for name, part in (("NVIDIA H200", "h200"), ("NVIDIA H100 80GB HBM3", "h100"),
                           ("NVIDIA A100-SXM4-80GB", "a100")):
            found = gpu.Gpu(emulated=True)
            found.facts = {"name": name, "compute_cap": 9.0}
            self.assertEqual((found.part, found.arch), (part, "sm_90a"))
        found.facts = {"name": "NVIDIA T4", "compute_cap": 7.5}
        with self.assertRaisesRegex(day.Problem, "no part"):
            print(found.part)
        with self.assertRaisesRegex(day.Problem, "no architecture for compute capability 7.5"):
            print(found.arch)

    def test_clocks_are_summed_up(self):
        watch = gpu.ClockWatch(gpu.Gpu(emulated=True))
        watch.text = "345, 3201, 80.1, 30\n1980, 3201, 600.5, 45\n1410, 3201, 690.0, 50\n14"
        self.assertEqual(watch.summary()["clocks.sm"], [345.0, 1410.0, 1980.0])
        self.assertIsNone(gpu.ClockWatch(gpu.Gpu(emulated=True)).summary())


class Processors(unittest.TestCase):
    def test_vectors_are_compared_to_the_bit(self):
        def text(*results):
            return "\n".join(["tunec-vectors 1", "from x", "A bf16 2", "3f80 3f81", f"D f32 {len(results)}",
                              " ".join(results)])
        stored = text("3f800000", "7fc00000", "00000000")
        recorded = text("3f800000", "ffc00000", "80000000")
        found = cpu16.differences(stored, recorded, floats=True)
        self.assertEqual((found["results"], found["different"]), (3, 1))
        self.assertEqual(cpu16.differences(stored, recorded, floats=False)["different"], 2)

    def test_threads_are_doubled(self):
        self.assertEqual(cpu16.counts(16), [1, 2, 4, 8, 16])
        self.assertEqual(cpu16.counts(6), [1, 2, 4, 6])
        self.assertEqual(cpu16.counts(1), [1])


class Carrying(unittest.TestCase):
    def test_the_models_are_descriptions(self):
        for network in (*graphs.networks(), *graphs.operators(), *graphs.small_operators()):
            self.assertLess(len(network.text()), 80_000, network.name)
            self.assertTrue(network.text().startswith(f"graph {network.name} {{"))

    def test_sizes_are_added_up(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "file"
            path.write_bytes(bytes(3 << 19))
            self.assertEqual(prepare.mebibytes([path, path]), 3.0)


if __name__ == "__main__":
    unittest.main()
