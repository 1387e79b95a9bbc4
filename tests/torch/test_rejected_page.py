"""Tests that docs/reference/torch_rejected.md lists exactly the importer's rejections."""
import unittest

try:
    import torch  # noqa: F401
except ImportError:
    raise unittest.SkipTest("torch is not installed")

from rejected_page import PAGE, TAKES, reasons, with_tables


class RejectedPage(unittest.TestCase):
    def test_each_reason_says_what_it_would_take(self):
        self.assertEqual(set(reasons()), set(TAKES))

    def test_tables_are_those_of_today(self):
        text = PAGE.read_text()
        self.assertEqual(text, with_tables(text), "run tests/torch/rejected_page.py")


if __name__ == "__main__":
    unittest.main()
