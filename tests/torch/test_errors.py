"""Tests that UnsupportedNode keeps the old name `place`, with a warning."""
import unittest

from tunec.torch import UnsupportedNode


class OldNames(unittest.TestCase):
    def test_place_is_the_location_and_warns(self):
        node = UnsupportedNode("add", "aten.add.Tensor", "no such type", 'File "net.py", line 7')
        with self.assertWarnsRegex(DeprecationWarning, "UnsupportedNode.location"):
            self.assertEqual(node.place, node.location)


if __name__ == "__main__":
    unittest.main()
