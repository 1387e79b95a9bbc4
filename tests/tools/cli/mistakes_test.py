"""Tests that user errors give a message and an exit code."""
import sqlite3
from pathlib import Path

from cli_case import CliTest, main
from onnx_bytes import model, node
from sample_models import GRAPH, RELU


class Mistakes(CliTest):
    def test_missing_file(self):
        self.bad(2, "nowhere.onnx", "nowhere.onnx")
        self.bad(2, "nowhere.onnx", "verify", "nowhere.onnx")

    def test_truncated_onnx(self):
        for size in (1, 7, len(RELU) // 2, len(RELU) - 1):
            self.bad(2, "cut.onnx", "show", self.file("cut.onnx", RELU[:size]))

    def test_garbage(self):
        self.bad(2, "junk.onnx", "show", self.file("junk.onnx", bytes(range(256)) * 8))
        self.bad(2, "empty.onnx", "show", self.file("empty.onnx", b""))
        self.bad(2, "junk.graph:1:1: error:", "show", self.file("junk.graph", "\x01\x02 what"))
        self.bad(2, "unknown kind of model", "show", self.file("model.txt", "x"))

    def test_unknown_operators_are_all_listed(self):
        path = self.file("foo.onnx", model([node("Foo", ["x"], ["t"]), node("Bar", ["t"], ["y"])],
                                           {"x": [2]}, {"y": [2]}))
        done = self.bad(2, "Foo", path)
        self.assertIn("Bar", done.stderr)

    def test_names_of_a_model_do_not_command_the_terminal(self):
        escape = "\x1b[31m"
        relu = self.file("named.onnx", model([node("Relu", [f"x{escape}"], [f"y{escape}"])],
                                             {f"x{escape}": [2]}, {f"y{escape}": [2]}))
        foo = self.file("foo.onnx", model([node(f"Foo{escape}", ["x"], ["y"])], {"x": [2]}, {"y": [2]}))
        database = self.dir / "named.db"
        for words in (["run", relu], ["show", relu], ["opt", relu, "--changes"], ["verify", relu], ["run", foo],
                      [relu, "--trials", "2", "--db", database], ["db", "list", "--db", database],
                      ["db", "best", "--db", database]):
            done = self.tunec(*words)
            self.assertTrue(done.stdout + done.stderr)
            self.assertNotIn("\x1b", done.stdout + done.stderr, words)

    def test_options(self):
        path = self.file("g.graph", GRAPH)
        self.bad(2, "--trials", path, "--trials", "many")
        self.bad(2, "--trials", path, "--trials", "-1")
        self.bad(2, "--frobnicate", path, "--frobnicate")
        self.bad(2, "--target tpu: expected cpu", path, "--target", "tpu")
        self.bad(2, "pdp11", path, "--cpu", "pdp11")
        self.bad(2, "f33", path, "--accuracy", "f33")
        self.bad(2, "no_such_pass", path, "--disable-pass", "no_such_pass")
        self.bad(2, "no_such_pass", "opt", path, "--passes", "no_such_pass")
        self.bad(2, "no group", "show", path, "--nest", "99")
        self.bad(2, "did you mean loop_steps?", "show", path, "--after", "loop_step")
        self.bad(2, "MODEL")
        self.bad(2, "MODEL", "run")
        self.bad(2, "", "db")
        self.bad(2, "--trials is an option", "--trials", "3", "bench", path)

    def test_what_a_misspelt_word_may_have_meant(self):
        path = self.file("g.graph", GRAPH)
        self.bad(2, "no command and no file bnech; did you mean bench?", "bnech", path)
        self.bad(2, "no command and no file verfy; did you mean verify?", "verfy")
        self.bad(2, "there is no file nothing", "nothing")
        self.bad(2, "unknown option --thread of tunec run; did you mean --threads?", "run", path, "--thread=2")
        self.bad(2, "unknown option --nosuch of tunec run", "run", "--nosuch")
        self.bad(2, "unexpected argument more of tunec run", "run", path, "more")
        (self.dir / "bench").write_text("")  # a file of this name is a model
        self.bad(2, "unknown kind of model", "./bench")

    def test_weights_have_to_come_from_somewhere(self):
        path = self.file("w.graph", "graph g {\n  weight w: f32[2]\n  output y = w\n}\n")
        self.bad(2, "w.graph:2:", "show", path)
        self.good("show", path, "--random-weights", "1")

    def test_foreign_database_is_left_alone(self):
        path = self.file("g.graph", GRAPH)
        foreign = self.dir / "foreign.db"
        with sqlite3.connect(foreign) as connection:
            connection.execute("create table notes (text)")
        connection.close()
        for name, content in (("text.db", b"not a database at all, but long enough to be read as one" * 40),
                              ("foreign.db", foreign.read_bytes())):
            target = self.file(name, content)
            self.bad(2, name, path, "--db", target)
            self.assertEqual(Path(target).read_bytes(), content)
        self.bad(2, str(self.dir), path, "--db", self.dir)

    def test_unreadable_inputs(self):
        path = self.file("g.graph", GRAPH)
        self.bad(2, "in.npz", "run", path, "--inputs", "in.npz")
        self.bad(2, "in.npz", "run", path, "--inputs", self.file("in.npz", b"junk"))


if __name__ == "__main__":
    main()
