#!/usr/bin/env python3
"""Tests the counts of tools/shape.py in code and in a made-up repository.

    shape_test.py
"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import shape  # noqa: E402


class FunctionsTest(unittest.TestCase):
    def expect(self, code, *functions):
        """Expects the first line and the number of lines of each function of the code."""
        found = [(one.line, one.lines) for one in shape.functions_of("a.cc", code)]
        self.assertEqual(found, list(functions), code)

    def test_a_function_is_as_long_as_its_lines(self):
        self.expect("int Zero() { return 0; }\n\nint F(int a,\n        int b) {\n  return a;\n}\n",
                    (1, 1), (3, 4))

    def test_namespaces_and_classes_are_looked_into(self):
        self.expect("namespace a::b {\nclass C final : public D {\n public:\n  C() = default;\n"
                    "  int Get() const { return 1; }\n private:\n  int x_ = 2;\n};\n}\n", (5, 1))

    def test_constructors_initialise_with_braces(self):
        self.expect("A::A(int x) : b_{.x = x}, c_(x), d_{x} {\n  b_.Run();\n}\n", (1, 3))

    def test_values_in_braces_are_no_functions(self):
        self.expect("constexpr int kTable[] = {1, F(2)};\nenum class Kind { kA };\nint x{F(1)};\n"
                    "const auto kOne = [](int) { return 1; };\n")

    def test_a_lambda_belongs_to_its_function(self):
        self.expect("int F() {\n  return G([](int a) {\n    return a;\n  });\n}\n", (1, 5))

    def test_templates_operators_and_trailing_types(self):
        self.expect("template <class T = int, int N = 2>\nauto F(T a) -> T {\n  return a;\n}\n",
                    (1, 4))
        self.expect("bool A::operator==(const A&) const {\n  return true;\n}\n", (1, 3))
        self.expect("void A::operator()() {}\n", (1, 1))

    def test_a_type_spelt_out_before_a_function(self):
        self.expect('struct run* New(void) {\n}\nextern "C" int Run() {\n}\n', (1, 2), (3, 2))
        self.expect('extern "C" {\nint G() {\n}\n}\n', (2, 2))

    def test_braces_in_text_do_not_count(self):
        self.expect("int F() {\n  // {\n  /* { */\n  Say(\"{\", '{', R\"x({ \")\" )x\");\n}\n"
                    "#define OPEN {\nint G() { return 1'000; }\n", (1, 5), (7, 1))

    def test_default_arguments_in_braces(self):
        self.expect("int F(A a = {},\n      B b = {.c = 1}) {\n}\n", (1, 3))


class QuantileTest(unittest.TestCase):
    def test_quantiles_are_lengths_that_occur(self):
        lengths = list(range(1, 11))
        found = [shape.quantile(lengths, percent) for percent in (50, 90, 99, 100)]
        self.assertEqual(found, [5, 9, 10, 10])
        self.assertEqual(shape.quantile([], 50), 0)


class TreeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.git("init", "--quiet")

    def git(self, *words):
        who = ["-c", "user.name=t", "-c", "user.email=t@t"]
        subprocess.run(["git", "-C", self.root, *who, *words], check=True)

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def write_small_product(self):
        self.write("ir/a.h", "#pragma once\n")
        self.write("ir/README.md", "# ir\n")
        self.write("api/include/tunec/tunec.h", "int x;\n")
        self.write("jit/b.cc", '#include "ir/a.h"\n#include "tunec/tunec.h"\n'
                               '#include "jit/cpu/c.h"\n#include <vector>\nint F() { return 1; }\n')
        self.write("jit/cpu/c.h", '#include "jit/cpu/d.h"\n')
        self.write("jit/cpu/d.h", "")
        self.write("tests/t.cc", '#include "ir/a.h"\nint G() { return 1; }\n')
        self.write("examples/e.c", "int main(void) { return 0; }\n")

    def test_counts_of_a_product(self):
        self.write_small_product()
        tree = shape.read_working_tree(self.root)
        self.assertEqual(tree.product(), ["api", "ir", "jit"])
        self.assertEqual(dict(tree.includes()),
                         {("jit", "other folders"): 2, ("jit", "folders inside"): 1,
                          ("jit", "the same folder"): 1})
        self.assertEqual(dict(tree.files_by_folder()),
                         {"ir": 2, "api/include/tunec": 1, "jit": 1, "jit/cpu": 2})
        self.assertEqual(sum(tree.shape(tree.product()).lines.values()), 8)
        self.assertEqual(len(tree.shape(["tests"]).functions), 1)

    def test_a_commit_is_read_as_it_was(self):
        self.write_small_product()
        self.git("add", ".")
        self.git("commit", "--quiet", "-m", "one")
        before = shape.read_working_tree(self.root)
        self.write("ir/a.h", "int F() {\n  return 1;\n}\n")
        self.write("ir/new.h", "")
        committed, now = shape.read_commit(self.root, "HEAD"), shape.read_working_tree(self.root)
        self.assertEqual((committed.paths, committed.sources), (before.paths, before.sources))
        self.assertNotEqual(committed.sources, now.sources)
        tables = "\n".join(shape.report([committed, now]))
        self.assertIn("| product | HEAD | working tree |", tables)
        self.assertIn("| functions | 1 | 2 |", tables)
        self.assertIn("| ir/ | 2 | 3 |", tables)


if __name__ == "__main__":
    unittest.main()
