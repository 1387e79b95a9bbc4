"""Tests that tools/prose/check.py finds faults of each kind with their lines, and none in code."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools/prose"))

import check
from find_passages import passages_of


def kinds(name, text):
    """Returns the findings in a text, as pairs of a line number and the kind's first word."""
    return [(line, kind.split(" ")[0]) for line, kind, _ in check.findings(name, text, check.read_words())]


class Prose(unittest.TestCase):
    def test_a_comment_without_a_main_clause(self):
        self.assertEqual(kinds("a.h", "int a;\n/// Whether the loop is parallel.\nbool b;\n"), [(2, "fragment")])
        self.assertEqual(kinds("a.py", "# What the loop needs.\n"), [(1, "fragment")])
        self.assertEqual(kinds("tools/dev", "# Of each file only the last line.\n"), [(1, "fragment")])
        self.assertEqual(kinds("a.h", "/// Returns whether the loop is parallel.\n"), [])
        self.assertEqual(kinds("a.h", "/// Where the size is fixed, the kernel has no loop.\n"), [])
        self.assertEqual(kinds("a.md", "What is a schedule?\n"), [])

    def test_a_trailing_comment(self):
        self.assertEqual(kinds("a.cc", "int a;  // of the last tile\n"), [(1, "fragment")])
        self.assertEqual(kinds("a.py", "a = 1  # of the last tile\n"), [(1, "fragment")])

    def test_lines_of_one_comment_are_one_text(self):
        text = "// The loop is split. The tail is\n// guarded. Of the parts only the inner\n// one is a vector.\n"
        self.assertEqual(kinds("a.cc", text), [(2, "fragment")])
        self.assertEqual(kinds("a.cc", "/* The loop.\n * Whether it is split.\n */\n"), [(2, "fragment")])

    def test_items_of_a_list_are_separate(self):
        text = "// - " + "loop " * 20 + "\n// - " + "loop " * 20 + "\n"
        self.assertEqual(kinds("a.cc", text), [])
        self.assertEqual(kinds("a.cc", "// - The loop\n// - Whether it is split\n"), [(2, "fragment")])

    def test_strings_of_tests_are_input(self):
        self.assertEqual(kinds("tests/a.cc", 'Fail("tensor has 3 axes, wanted 2");\n'), [])

    def test_a_long_sentence(self):
        self.assertEqual(kinds("a.md", "The " + "loop " * 30 + "ends.\n"), [(1, "long")])
        self.assertEqual(kinds("a.md", "The " + "loop " * 28 + "ends.\n"), [])

    def test_pronouns(self):
        self.assertEqual(kinds("a.md", "It is one of those, and they have its loops as such.\n"), [(1, "pronouns")])

    def test_words(self):
        self.assertEqual(kinds("a.md", "The loop is in vain.\n"), [(1, "word")])
        self.assertEqual(kinds("a.cc", 'Fail("tensor has 3 axes, wanted 2");\n'), [(1, "word")])
        self.assertEqual(kinds("a.py", 'raise Error(f"tensor has 3 axes, wanted {n}")\n'), [(1, "word")])

    def test_of_literals_words_alone_are_checked(self):
        self.assertEqual(kinds("a.cc", 'Say("of these, the last");\n'), [])

    def test_docstrings(self):
        text = 'def f():\n    """Returns 1.\n\n    Whether it is cached.\n    """\n    return 1\n'
        self.assertEqual(kinds("a.py", text), [(4, "fragment")])

    def test_code_is_left_alone(self):
        self.assertEqual(kinds("a.cc", 'char c = \'"\'; Call("x"); int big = 1\'000;\n#include "what/is this.h"\n'), [])
        self.assertEqual(kinds("a.cc", 'auto t = R"(// Whether this is text.\n)";\n'), [])
        self.assertEqual(kinds("a.md", "    Whether this is code.\n\n```\nWhether this is code.\n```\n"), [])
        self.assertEqual(kinds("a.md", "The option `wanted` is set.\n"), [])
        self.assertEqual(passages_of("a.json", "Whether this is prose."), [])

    def test_a_marked_passage_is_accepted(self):
        self.assertEqual(kinds("a.cc", "// Whether it is cached. (prose: ok)\n"), [])


if __name__ == "__main__":
    unittest.main()
