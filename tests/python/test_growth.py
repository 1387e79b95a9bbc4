"""Tests that no resources leak when models are made, run in threads and dropped. growth.py makes
more models."""
import os
import tempfile
import unittest
from unittest import mock

import tunec

import growth
from growth import grown, measure


class Growth(unittest.TestCase):

    def measure(self, **options):
        return measure(150, 30, 3, {"threads": 2, **options}, layouts=True, say=lambda line: None)

    def test_models_leave_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            for options in ({"db": None}, {"db": os.path.join(folder, "a.db")},
                            {"db": None, "share_threads": True}):
                with self.subTest(**options):
                    rows = self.measure(**options)
                    self.assertEqual(grown(rows), [], rows)

    def test_models_that_are_kept_are_seen(self):
        compiled = []

        def compile_and_record(*arguments, **options):
            compiled.append(tunec.compile(*arguments, **options))
            return compiled[-1]

        with mock.patch.object(growth, "tunec", mock.Mock(compile=compile_and_record)):
            rows = self.measure(db=None)
        self.assertLessEqual({"MiB", "threads", "mappings"}, set(grown(rows)), rows)

    def test_what_grows_is_seen(self):
        first = (100, 3, 8, 90, 20)
        self.assertEqual(grown([first, (101, 4, 9, 91, 21), (101.9, 5, 10, 92, 22)]), [])
        self.assertEqual(grown([first, (103, 6, 11, 99, 23), (103, 6, 11, 99, 23)]), [])
        self.assertEqual(grown([first, (101, 4, 9, 91, 21), (103, 6, 11, 93, 23)]),
                         ["MiB", "threads", "files", "mappings", "executable"])


if __name__ == "__main__":
    unittest.main()
