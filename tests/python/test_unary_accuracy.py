"""Tests that functions of one operand are as accurate as docs/reference/operators.md says."""
import unittest

import unary_accuracy


class Accuracy(unittest.TestCase):

    def test_every_function_of_every_type(self):
        names = list(unary_accuracy.FUNCTIONS)
        for name, element, said, _ in unary_accuracy.compare(names, {}, count=10000, seed=7):
            with self.subTest(function=name, element=element):
                self.assertEqual(said, [])


if __name__ == "__main__":
    unittest.main()
