"""Tests a part of torch's table of operators, with the comparison of differential_operators.py.

TUNEC_TEST_SEED selects the samples and the operators of the table (default 0).
"""
import os
import unittest

try:
    import torch  # noqa: F401

    from differential_operators import differences_apart, name_of, operators
except ImportError as missing:
    raise unittest.SkipTest(str(missing))

_SEED = int(os.environ.get("TUNEC_TEST_SEED", "0"))
_PARTS = 16  # one part takes about a minute


class Operators(unittest.TestCase):
    def test_are_as_in_eager_mode(self):
        for operator in operators()[_SEED % _PARTS::_PARTS]:
            with self.subTest(name_of(operator)):
                found = [d for d in differences_apart(operator, _SEED) if d.reason is None]
                self.assertEqual([str(difference) for difference in found], [])


if __name__ == "__main__":
    unittest.main()
