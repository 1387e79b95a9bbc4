#!/usr/bin/env python3
"""Tests run_documented.py on made-up pages and programs.

    run_documented_test.py
"""
import contextlib
import io
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))
import run_documented  # noqa: E402

PRINTED = """trials 12/30  groups 1  model -  elapsed 1.6 s  left 4 s  |  a: best 2 ms, roofline -
trials 24/30  groups 1  model 591 us  elapsed 7.6 s  left 0 s  |  a: best 591 us, roofline 97 %
3 nodes, 1 kernel (1 distinct), 1 launch of 1 phase
12 new trials; stopped after 24 of 30: within 3 % of the ceiling; 282 ms each (compile 207, check 75, measure 38)

group  kernel  each    share  GFLOP/s  roofline  limit       schedule
    0  h       605 us  100.0 %    111.7      95 %  arithmetic  tuned
"""

PAGE = """# A page

    $ cat model
    graph g {
    }

    $ tunec model
    ...
    trials 30/30  groups 1  model 12.5 ms  elapsed 18.0 s  left 0 s  |  a: best 1.25 ms, roofline -
    3 nodes, 1 kernel (1 distinct), 1 launch of 1 phase
    30 new trials; stopped after 30 of 30: the budget is spent; 1 ms each (compile 2, check 3, measure 4)

    group  kernel   each  share  GFLOP/s  roofline  limit  schedule
        0  h       6.1 s   99 %     11.7         -  -      tuned

And so on.
"""


class RunDocumented(unittest.TestCase):

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = Path(directory.name)
        (self.folder / "printed").write_text(PRINTED)
        self.page = self.folder / "page.md"
        self.tunec = self.folder / "tunec"
        # The program prints the prepared output if its argument is the file that the page shows.
        self.tunec.write_text(f'#!/bin/sh\ngrep -q "graph g" "$1" && cat {self.folder}/printed\n'
                              'echo "note: the machine is busy" >&2\n')
        self.tunec.chmod(0o755)

    def run_it(self, page, *options, bless="0"):
        self.page.write_text(page)
        argv = ["run_documented.py", "--tunec", str(self.tunec), "--source", str(self.folder), *options, str(self.page)]
        out = io.StringIO()
        with mock.patch.object(sys, "argv", argv), mock.patch.dict(os.environ, TUNEC_BLESS=bless), \
                contextlib.redirect_stdout(out):
            return run_documented.main(), out.getvalue()

    def test_a_sample_may_show_other_times(self):
        self.assertEqual(self.run_it(PAGE, "--samples"), (0, "\n"))

    def test_whatever_else_differs_is_seen(self):
        for shown, other in (("3 nodes", "4 nodes"), ("1 kernel ", "1 kernels "), ("30 new trials", "0 new trials"),
                             ("of 30:", "of 40:"), ("tuned", "naive"), ("    ...\n", ""), ("limit ", "border "),
                             ("graph g", "graph h"), ("    3 nodes", "    ...\n    4 nodes"),
                             ("      tuned\n", "      tuned\n    and more\n")):
            with self.subTest(shown=shown):
                self.assertIn(shown, PAGE)
                code, said = self.run_it(PAGE.replace(shown, other, 1), "--samples")
                self.assertEqual(code, 1)
                self.assertIn("as run", said)

    def test_blessing_shows_what_was_printed(self):
        wrong = PAGE.replace("3 nodes", "4 nodes")
        self.assertEqual(self.run_it(wrong, "--samples", bless="1")[0], 0)
        blessed = self.page.read_text()
        self.assertIn("    trials 24/30", blessed)
        self.assertIn("\n\nAnd so on.\n", blessed)
        self.assertEqual(self.run_it(blessed, "--samples"), (0, "\n"))

    def test_a_page_without_commands_shows_nothing(self):
        code, said = self.run_it("# A page\n", "--samples")
        self.assertEqual(code, 1)
        self.assertIn("shows no command", said)

    def test_other_pages_are_compared_exactly(self):
        (self.folder / "model").write_text("graph g {\n}\n")
        shown = "".join("    " + line if line.strip() else line for line in PRINTED.splitlines(True))
        page = f"    $ tunec model\n{shown}    note: the machine is busy\n"
        self.assertEqual(self.run_it(page), (0, "\n"))
        self.assertEqual(self.run_it(page.replace("605 us", "606 us"))[0], 1)
        self.assertEqual(self.run_it(page + "    $ tunec model\n")[0], 1)


if __name__ == "__main__":
    unittest.main()
