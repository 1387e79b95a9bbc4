#!/usr/bin/env python3
"""Tests that an operator without a required fact does not compile.

Usage: operator_facts_test.py --source ROOT --compiler CXX

Each test compiles a file that expands the rows of graph/ops/op_list.h, and reads the compiler's
output. Most tests change a row first.
"""
import argparse
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ARGUMENTS = None
RELU = re.compile(r"TUNEC_POINTWISE\(X, kRelu,.*\)")


class OperatorFacts(unittest.TestCase):
    def compile(self, path, change, *flags):
        """Compiles ROOT/path with the rows after `change`. Returns the exit code and the errors."""
        with tempfile.TemporaryDirectory() as folder:
            rows = Path(folder) / "graph/ops/op_list.h"
            rows.parent.mkdir(parents=True)
            rows.write_text(change((ARGUMENTS.source / "graph/ops/op_list.h").read_text()))
            done = subprocess.run(
                [ARGUMENTS.compiler, "-std=c++23", "-fsyntax-only", *flags, "-I", folder,
                 "-I", ARGUMENTS.source, ARGUMENTS.source / path],
                capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"})
            return done.returncode, done.stderr

    def expect_error(self, message, path, change):
        status, said = self.compile(path, change)
        self.assertNotEqual(status, 0)
        self.assertRegex(said, message)

    def with_row(self, row):
        """Returns a change that adds a row after that of relu."""
        def change(text):
            self.assertRegex(text, RELU)
            return RELU.sub(lambda match: match[0] + " " + row, text)
        return change

    def test_the_rows_as_they_are(self):
        self.assertEqual(self.compile("graph/ops/op.cc", lambda text: text), (0, ""))

    def test_the_rows_as_sanitizers_see_them(self):
        """Compiles as the preset `sanitize`, which no other test builds. GCC then does not treat
        addresses as constants."""
        for path in ["graph/reference/scalar_functions.cc", "graph/lower/elementwise.cc"]:
            said = self.compile(path, lambda text: text, "-fsanitize=address,undefined")
            self.assertEqual(said, (0, ""), path)

    def test_a_row_without_a_fact(self):
        row = 'TUNEC_POINTWISE(X, kFrob, "frob", Unary(kFloat), 1, Any)'
        self.expect_error('"TUNEC_POINTWISE" requires 7 arguments, but only 6 given',
                          "graph/ops/op.cc", self.with_row(row))

    def test_operands_that_nobody_described(self):
        row = 'TUNEC_POINTWISE(X, kFrob, "frob", Frobs(), 1, Any, Unary)'
        self.expect_error("'Frobs' was not declared", "graph/ops/op_table.cc", self.with_row(row))

    def test_a_range_that_nobody_wrote(self):
        row = 'TUNEC_POINTWISE(X, kFrob, "frob", Unary(kFloat), 1, Frobs, Unary)'
        self.expect_error("'Frobs' was not declared", "graph/rules/value_range.cc",
                          self.with_row(row))

    def test_a_scalar_function_without_a_definition(self):
        row = 'TUNEC_POINTWISE(X, kFrob, "frob", Unary(kFloat), 1, Any, Unary)'
        self.expect_error("an operator of one operand has no scalar function",
                          "graph/reference/scalar_functions.cc", self.with_row(row))

    def test_a_scalar_function_without_an_expression(self):
        row = 'TUNEC_POINTWISE(X, kFrob, "frob", Unary(kFloat), 1, Any, Unary)'
        self.expect_error("a pointwise operator has no expression", "graph/lower/elementwise.cc",
                          self.with_row(row))

    def test_a_reduction_without_a_lowering(self):
        row = ('TUNEC_OVER_ROWS(X, kFrob, "frob", Reduction, Reduction(kNumber), 1, Passes<1>, '
               'Axes, AnyOrder, Any, Reduction, Frobs, Reduction)')
        self.expect_error("'LowerFrobs' was not declared", "graph/lower/lower.cc",
                          self.with_row(row))

    def test_a_reduction_without_a_rule_for_padding(self):
        row = ('TUNEC_OVER_ROWS(X, kFrob, "frob", Reduction, Reduction(kNumber), 1, Passes<1>, '
               'Axes, AnyOrder, Any, Reduction, Reduce, Frobs)')
        self.expect_error("'PadFrobs' was not declared", "graph/pad/rules.cc", self.with_row(row))


def main():
    global ARGUMENTS
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, required=True, help="the root of the repository")
    parser.add_argument("--compiler", required=True)
    ARGUMENTS = parser.parse_args()
    program = unittest.main(argv=sys.argv[:1], exit=False)
    return 0 if program.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
