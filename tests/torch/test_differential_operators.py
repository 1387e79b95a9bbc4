"""A part of torch's own table of operators, as differential_operators.py compares it.

TUNEC_TEST_SEED: which samples, and which operators of the table (default 0).
"""
import os
import unittest

try:
    import torch  # noqa: F401

    from differential_operators import differences_apart, name_of, operators
except ImportError as missing:
    raise unittest.SkipTest(str(missing))

_SEED = int(os.environ.get("TUNEC_TEST_SEED", "0"))
_PARTS = 16  # so that it takes about a minute


class Operators(unittest.TestCase):
    def test_are_as_in_eager_mode(self):
        for operator in operators()[_SEED % _PARTS::_PARTS]:
            with self.subTest(name_of(operator)):
                found = [d for d in differences_apart(operator, _SEED) if d.reason is None]
                self.assertEqual([str(difference) for difference in found], [])


if __name__ == "__main__":
    unittest.main()
