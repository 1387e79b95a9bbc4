"""Tests of tuning. They check trials, their budget, and the database."""
import fcntl
import json
import shutil
import signal
import struct
import subprocess
import time

from cli_case import CliTest, main
from sample_models import GRAPH, model_of_open_shape


class Tuning(CliTest):
    def start(self, *arguments):
        return subprocess.Popen([self.program_file, *arguments], text=True, cwd=self.dir, env=self.environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_tuning_is_remembered(self):
        path = self.file("g.graph", GRAPH)
        first = self.good(path, "--trials", "4", "--threads", "1")
        self.assertRegex(first, r"\b[1-4] new trials?")
        self.assertRegex(first, r"(?m)^trials \d+/4 ")
        self.assertRegex(first, r"(?m)^[1-4] new trials?; stopped after [1-4] of 4: \S")
        second = self.good(path, "--trials", "4", "--threads", "1")
        self.assertRegex(second, r"(?m)^0 new trials; stopped after [1-4] of 4: \S")
        self.assertIn("0 objects compiled", second)
        self.assertRegex(self.good("db", "stats"), r"workloads 1, ")
        self.assertIn("matmul", self.good("db", "list"))
        self.assertIn("lower ", self.good("db", "best"))
        self.assertIn("sound", self.good("db", "check"))
        self.good("db", "export", "all.jsonl")
        self.assertIn("added", self.good("db", "--db", "other.db", "import", "all.jsonl", "--trust-times"))
        self.assertIn("added 0", self.good("db", "merge", "other.db", "--trust-times"))
        self.assertNotIn("added 0", self.good("db", "merge", "other.db"))
        self.bad(2, "no tuned workload", "db", "best", "ffffffffffff0")
        self.bad(2, "nowhere.db", "db", "stats", "--db", "nowhere.db")
        self.assertFalse((self.dir / "nowhere.db").exists())

    def test_trials_of_another_database_are_seeds(self):
        path = self.file("g.graph", GRAPH)
        self.good(path, "--trials", "3", "--threads", "1", "--db", "other.db")
        self.good("db", "merge", "other.db")
        self.assertIn("seeds", self.good("db", "list"))
        untuned = self.tunec(path, "--threads", "1")
        self.assertIn("groups with trials of another database: 1 of 1; the fastest schedule of each is only used "
                      "by a search (--trials)", untuned.stderr)
        self.assertNotIn(" near", untuned.stdout)
        self.assertRegex(self.good(path, "--trials", "3", "--threads", "1"), r"(?m)^3 new trials")

    def test_says_for_which_others_a_model_is_tuned(self):
        path = self.file("g.graph", GRAPH)
        self.assertIn("groups tuned: none of 1", self.good(path))
        self.good(path, "--trials", "2", "--threads", "1")
        self.assertIn("groups tuned: 1 of 1 (", self.good(path, "--threads", "1"))
        done = self.tunec("run", path, "--threads", "1", "--accuracy", "exact")
        self.assertIn("note: groups tuned for accuracy=f32, not for accuracy=exact: 1 of 1; the fastest schedule "
                      "of each is used until it is measured here", done.stderr)

    def test_only_tuned_schedules_are_allowed(self):
        path = self.file("g.graph", GRAPH)
        missing = self.bad(2, "no tuned schedule that applies", "run", path, "--threads", "1", "--tuned-only")
        self.assertIn("matmul", missing.stderr)
        self.good(path, "--trials", "3", "--threads", "1")
        explained = self.good("db", "explain-miss", self.file("other.graph", GRAPH.replace("40", "48")))
        self.assertIn("never tuned with these shapes and types", explained)
        self.assertIn("0 of 1 distinct groups are tuned", explained)
        self.good("run", path, "--threads", "1", "--tuned-only")
        self.assertIn("1 of 1 distinct groups are tuned", self.good("db", "explain-miss", path, "--threads", "1"))
        other = ("--threads", "2", "--accuracy", "exact")
        self.bad(2, "no tuned schedule that applies", "run", path, *other, "--tuned-only")
        explained = self.good("db", "explain-miss", path, *other)
        self.assertRegex(explained, "threads=1.* there, .*threads=2.* here")
        self.assertRegex(explained, "accuracy=f32.* there, .*accuracy=exact.* here")
        self.bad(2, "takes no trials and no time limit", path, "--trials", "3", "--tuned-only")

    def test_each_trial_is_an_event(self):
        path = self.file("g.graph", GRAPH)
        self.good(path, "--trials", "4", "--threads", "1", "--events", "events.jsonl")
        events = [json.loads(line) for line in (self.dir / "events.jsonl").read_text().splitlines()]
        self.assertEqual([event["trials"] for event in events], list(range(1, len(events) + 1)))
        self.assertGreater(len(events), 1)
        self.assertTrue(all(event["budget"] == 4 and "matmul" in event["group"] for event in events))
        history = json.loads(self.good("db", "history", "--json"))["histories"][0]
        self.assertEqual({trial["schedule"] for trial in history["trials"]},
                         {event["schedule"] for event in events})
        self.bad(2, "cannot write events", path, "--trials", "8", "--events", "nowhere/events.jsonl")
        self.good(path, "--trials", "4", "--threads", "1", "--events", "events.jsonl")
        self.assertEqual((self.dir / "events.jsonl").read_text(), "")

    def test_the_history_of_a_search(self):
        path = self.file("g.graph", GRAPH)
        self.good(path, "--trials", "4", "--threads", "1")
        history = json.loads(self.good("db", "history", "--json"))["histories"][0]
        bests = [trial["best_ms"] for trial in history["trials"] if trial["status"] == "ok"]
        self.assertGreater(len(history["trials"]), 1)
        self.assertEqual(bests, sorted(bests, reverse=True))
        self.assertEqual(history["trials"][0]["origin"], "analytic")
        self.assertTrue(all(trial["schedule"].startswith("lower ") for trial in history["trials"]))
        self.assertIn("analytic", self.good("db", "history", history["workload"][:12]))
        self.assertEqual(self.good("db", "history", "ffffffffffff0"), "")

    def test_the_database_tells_targets_apart_and_forgets(self):
        path = self.file("g.graph", GRAPH)
        self.good(path, "--trials", "2", "--threads", "1")
        self.good(path, "--trials", "2", "--threads", "1", "--accuracy", "exact")
        stats = self.good("db", "stats")
        self.assertRegex(stats, r"(?m)^all targets: cpu \S+ \[.*threads=1$")
        self.assertRegex(stats, r"(?m)^target accuracy=exact$")
        listed = self.good("db", "list")
        self.assertRegex(listed, r"(?m)accuracy=exact$")
        self.assertRegex(listed, r"(?m)accuracy=f32$")
        workload = listed.splitlines()[-1].split()[0]
        self.bad(2, "no workload begins with", "db", "forget", "ffffffffffff0")
        self.assertRegex(self.good("db", "forget", workload), r"removed \d trials? of 2 tasks")
        self.assertIn("groups tuned: none of 1", self.good(path, "--threads", "1"))

    def test_a_model_is_forgotten(self):
        path, other = self.file("g.graph", GRAPH), self.file("other.graph", GRAPH.replace("40", "48"))
        for model in (path, other):
            self.good(model, "--trials", "2", "--threads", "1")
        self.assertRegex(self.good("db", "forget", path), r"removed \d trials? of 1 task\n")
        self.bad(2, "no group of", "db", "forget", path)
        self.assertIn("groups tuned: none of 1", self.good(path, "--threads", "1"))
        self.assertIn("groups tuned: 1 of 1", self.good(other, "--threads", "1"))
        open_model = self.file("open.onnx", model_of_open_shape())
        self.bad(2, "--dim n=1", "db", "forget", open_model)
        self.bad(2, "no group of", "db", "forget", open_model, "--dim", "n=4")

    def test_a_table_of_times_is_recorded_and_completed(self):
        path = self.file("g.graph", GRAPH)
        record = ("db", "record", path, "-o", "t.jsonl", "--threads", "1")
        self.assertRegex(self.good(*record, "--candidates", "3"), r"t.jsonl: [1-9]\d* of \d+ candidates are ok, ")
        few = (self.dir / "t.jsonl").read_text()
        self.good(*record, "--candidates", "20")
        more = (self.dir / "t.jsonl").read_text()
        lines = [[json.loads(line) for line in text.splitlines()] for text in (few, more)]
        self.assertGreater(len(lines[1]), len(lines[0]))
        for before, after in zip(*lines):
            # The fastest candidates are timed again, so only sketch and decisions stay.
            self.assertEqual(before[:2] if isinstance(before, list) else before,
                             after[:2] if isinstance(after, list) else after)
        rows = json.loads(self.good("db", "simulate", "t.jsonl", "--trials", "8", "--json"))["simulations"]
        self.assertEqual([row["strategy"] for row in rows], ["search", "draws"])
        self.bad(2, "record to another file", *record, "--seed", "1")
        self.bad(2, "no group '7'", *record, "--group", "7")
        (self.dir / "t.jsonl").write_text(more + "[0,[]]\n")
        self.bad(2, f"t.jsonl:{len(more.splitlines()) + 1}: error: ", "db", "simulate", "t.jsonl")
        self.bad(2, "nowhere.jsonl", "db", "simulate", "nowhere.jsonl")

    def test_tuners_at_once_share_their_budget(self):
        path = self.file("g.graph", GRAPH)
        tuners = [self.start(path, "--trials", "16", "--seed", str(seed), "--threads", "1") for seed in range(3)]
        for tuner in tuners:
            out, err = tuner.communicate(timeout=300)
            self.assertEqual(tuner.returncode, 0, out + err)
        recorded = int(self.good("db", "stats").split("trials ")[1].split()[0])
        self.assertLessEqual(recorded, 16 + len(tuners) - 1)

    def lock(self):
        """Opens the file of the timing lock. A shared lock of all bytes excludes all owners."""
        path = self.dir / "cache/tunec/timing-cpu.lock"
        path.parent.mkdir(parents=True)
        file = path.open("w+")
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 0, 0))
        return file

    def wait_for_waiting(self, file):
        """Waits until another process has marked the file as one for which it waits."""
        request = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)
        while struct.unpack("hhqqi4x", fcntl.fcntl(file, fcntl.F_OFD_GETLK, request))[0] == fcntl.F_UNLCK:
            time.sleep(0.01)

    def test_tuners_take_turns(self):
        paths = [self.file(f"{size}.graph", GRAPH.replace("40", size)) for size in ("40", "48")]
        tuners = [self.start(path, "--trials", "8", "--threads", "2") for path in paths]
        for tuner in tuners:
            out, err = tuner.communicate(timeout=300)
            self.assertEqual(tuner.returncode, 0, out + err)
            self.assertRegex(out, r"(?m)^[1-8] new trials?; stopped after ")
            self.assertNotIn("timing lock", err)
        self.assertTrue((self.dir / "cache/tunec/timing-cpu.lock").exists())

    def test_a_tuner_that_waits_is_interrupted(self):
        path = self.file("g.graph", GRAPH)
        with self.lock() as file:
            tuner = self.start(path, "--trials", "4", "--threads", "1")
            self.wait_for_waiting(file)
            tuner.send_signal(signal.SIGINT)
            out, err = tuner.communicate(timeout=120)
            self.assertEqual(tuner.returncode, 130, out + err)
            self.assertIn("0 new trials kept", err)
            out = self.good(path, "--trials", "4", "--threads", "1", "--no-lock")
            self.assertRegex(out, r"(?m)^[1-4] new trials?; stopped after ")

    def test_tuning_ends_with_its_time_and_goes_on_when_told(self):
        path = self.file("g.graph", GRAPH)
        self.bad(2, "--time-limit soon: expected a duration such as 30s", path, "--time-limit", "soon")
        self.bad(2, "needs trials or a time limit", path, "--retune", "all")
        out = self.good(path, "--time-limit", "4s", "--threads", "1")
        self.assertRegex(out, r"(?m)^\d+ new trials?; stopped after \d+: \S")
        self.bad(2, "no group 'nobody'", path, "--trials", "2", "--retune", "nobody", "--threads", "1")
        for retune in (["--retune", "p"], ["--retune"]):
            out = self.good(path, "--trials", "2", "--threads", "1", *retune)
            self.assertRegex(out, r"(?m)^[0-2] new trials?; stopped after \d+ of \d+: \S")
        out = self.good("run", path, "--retune", "--trials", "2", "--threads", "1")
        self.assertIn("y f32", out)
        out = self.good(path, "--trials", "2", "--retune", "p", "--threads", "1")
        self.assertRegex(out, r"(?m)^[0-2] new trials?; stopped after \d+ of \d+: \S")

    def test_without_a_worker_each_place_is_named_once(self):
        path = self.file("g.graph", GRAPH)
        program = self.dir / "bin" / "tunec"
        program.parent.mkdir()
        shutil.copy(self.program_file, program)
        done = subprocess.run([program, path, "--trials", "6"], capture_output=True, text=True, cwd=self.dir,
                              env=self.environment, timeout=60)
        self.assertEqual(done.returncode, 2, done.stderr)
        folders = done.stderr.split("tunec-worker not found in ")[1].strip().split(", ")
        self.assertEqual(sorted(folders), sorted(set(folders)))

    def test_a_program_that_is_no_worker(self):
        path = self.file("g.graph", GRAPH)
        program = self.dir / "bin" / "tunec"
        program.parent.mkdir()
        shutil.copy(self.program_file, program)
        worker = program.parent / "tunec-worker"
        for script, message in (("exit 1", "exit status 1"), ("exec cat", "malformed event"),
                                ("exec yes", "expected at most 65536")):
            worker.write_text(f"#!/bin/sh\n{script}\n")
            worker.chmod(0o755)
            done = subprocess.run([program, path, "--trials", "6"], capture_output=True, text=True, cwd=self.dir,
                                  env=self.environment, timeout=60)
            self.assertEqual(done.returncode, 2, script + done.stderr + done.stdout)
            self.assertIn(f"error: '{worker}' does not answer as the tunec-worker", done.stderr)
            self.assertIn(message, done.stderr)

    def test_interrupt_keeps_trials(self):
        path = self.file("g.graph", GRAPH)
        process = self.start(path, "--trials", "100000", "--threads", "1")
        line = process.stdout.readline()
        started = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, line + out + err)
        self.assertLess(time.monotonic() - started, 60)
        self.assertRegex(err, r"(?m)^interrupted: \d+ new trials? kept, run again to continue$")
        self.assertNotIn("error", err)
        printed = int(line.split()[1].split("/")[0])
        stats = self.good("db", "stats")
        self.assertGreaterEqual(int(stats.split("trials ")[1].split()[0]), printed)


if __name__ == "__main__":
    main()
