"""Tests of the operators besides core ATen that are imported whole, against eager PyTorch."""
import unittest

try:
    import torch  # noqa: F401
except ImportError:
    raise unittest.SkipTest("torch is not installed")

from tunec.torch.handler_table import handled_names

from core_operators import CORE
from other_operators import ELSEWHERE, OTHERS
from test_core_operators import check_operator
from traced import call_graph


class OtherTable(unittest.TestCase):
    def test_has_each_handler(self):
        self.assertEqual(handled_names() - set(CORE), set(OTHERS) | ELSEWHERE)


class OtherOperators(unittest.TestCase):
    """Tests of each operator as a single node, without decomposition."""


def _add_tests():
    for name, row in OTHERS.items():
        def test(self, name=name, row=row):
            check_operator(self, name, row, call_graph)
        setattr(OtherOperators, f"test_{name.replace('.', '_')}", test)


_add_tests()

if __name__ == "__main__":
    unittest.main()
