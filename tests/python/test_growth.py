"""Models that are made, run in threads and dropped leave nothing. growth.py does it with more of them."""
import os
import tempfile
import unittest

from growth import grown, measure


class Growth(unittest.TestCase):

    def measure(self, **options):
        return measure(150, 50, 3, {"threads": 2, **options}, layouts=True, say=lambda line: None)

    def test_models_leave_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            for options in ({"db": None}, {"db": os.path.join(folder, "a.db")},
                            {"db": None, "share_threads": True}):
                with self.subTest(**options):
                    rows = self.measure(**options)
                    self.assertEqual(grown(rows[0], rows[-1]), [])

    def test_what_grows_is_seen(self):
        self.assertEqual(grown((100, 3, 8, 90, 20), (101.9, 5, 10, 92, 22)), [])
        self.assertEqual(grown((100, 3, 8, 90, 20), (103, 6, 11, 93, 23)),
                         ["MiB", "threads", "files", "mappings", "executable"])


if __name__ == "__main__":
    unittest.main()
