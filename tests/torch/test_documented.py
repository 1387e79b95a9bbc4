"""Tests that run the examples of docs/reference/torch.md and docs/start/pytorch.md."""
import sys
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "python"))
from documented import run_page  # noqa: E402


class Documented(unittest.TestCase):

    def test_torch(self):
        run_page("reference/torch.md")

    def test_pytorch(self):
        run_page("start/pytorch.md")


if __name__ == "__main__":
    unittest.main()
