"""Tests that the examples of three pages of docs/ run."""
import unittest

from documented import blocks_of, run_page


class Documented(unittest.TestCase):

    def test_blocks(self):
        text = "Text\n\n    a = 1\n\n    b = a\n\n- item\n  more\n\n      c = 2\n\nEnd\n"
        self.assertEqual(blocks_of(text), ["a = 1\n\nb = a\n\n", "c = 2\n\n"])

    def test_python(self):
        run_page("reference/python.md")

    def test_shapes(self):
        run_page("reference/shapes.md")

    def test_dynamic_shapes(self):
        run_page("start/dynamic_shapes.md")


if __name__ == "__main__":
    unittest.main()
