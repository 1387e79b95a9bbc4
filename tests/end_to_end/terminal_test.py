#!/usr/bin/env python3
"""Tests tunec at a terminal. It redraws a table, and the worker receives Ctrl-C too.

    terminal_test.py --tunec PROGRAM [unittest's arguments]
"""
import fcntl
import os
import pty
import select
import struct
import termios
import time

import tunec_process
from tunec_process import PRODUCT, TunecTest

INTERRUPT = b"\x03"
# A graph with five separate groups.
PRODUCTS = "graph products {\n" + "".join(
    f"  input a{n}: f32[{n}, 24]\n  input b{n}: f32[24, 40]\n  p{n} = matmul(a{n}, b{n})\n  output p{n}\n"
    for n in range(8, 13)) + "}\n"


class Terminal(TunecTest):
    def setUp(self):
        super().setUp()
        try:
            for end in os.openpty():
                os.close(end)
        except OSError as error:  # a chroot may have no /dev/pts
            self.skipTest(f"[SKIP] no terminal can be had: {error}")

    def start(self, *arguments):
        """Runs tunec in a new session with a terminal. Returns its process id and the other end of
        the terminal."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.dir)
            os.execve(tunec_process.TUNEC, [tunec_process.TUNEC, *map(str, arguments)], self.environment)
        self.addCleanup(os.close, terminal)
        return pid, terminal

    def read(self, terminal, enough=lambda text: False, seconds=120):
        """Returns the output until `enough` accepts it or tunec ends. Fails after `seconds`."""
        text, deadline = "", time.monotonic() + seconds
        while not enough(text):
            self.assertLess(time.monotonic(), deadline, text)
            if not select.select([terminal], [], [], 1)[0]:
                continue
            try:
                text += os.read(terminal, 65536).decode(errors="replace")
            except OSError:  # the program has ended
                break
        return text

    def tuning(self, trials):
        graph = self.file("product.graph", PRODUCT)
        return self.start(graph, "--random-weights", 7, "--threads", 1, "--trials", trials, "--db", self.db)

    def test_the_table_is_drawn_over(self):
        pid, terminal = self.tuning(16)
        text = self.read(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0, text)
        self.assertIn("\x1b[", text)
        self.assertIn("matmul", text)
        self.assertRegex(text, r"trials \d+/16")
        self.assertIn("new trial", text.rsplit("\x1b[J", 1)[-1], "the summary is below the table")

    def test_a_note_stays_above_the_table(self):
        pid, terminal = self.tuning(100000)
        self.read(terminal, lambda text: "trials " in text)
        for path in self.dir.glob("t.db*"):
            path.unlink()
        text = self.read(terminal, lambda text: "trials " in text.partition("is not kept")[2])
        self.assertRegex(text, r"\x1b\[\d+A\x1b\[Jnote: .*t\.db: removed or replaced")
        table = text.partition("is not kept")[2].partition("trials ")[0]
        self.assertNotRegex(table, r"\x1b\[\d+A", "the table is drawn over the note")
        os.write(terminal, INTERRUPT)
        self.read(terminal, seconds=60)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 130)

    def resize(self, terminal, rows, columns):
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def test_a_small_window_says_what_it_leaves_out(self):
        graph = self.file("products.graph", PRODUCTS)
        pid, terminal = self.start(graph, "--threads", 1, "--trials", 100000, "--db", self.db)
        self.resize(terminal, 7, 60)
        text = self.read(terminal, lambda text: "... 3 more" in text)
        self.assertNotIn("\x1b[2J", text.split("... 3 more")[-1])
        self.resize(terminal, 7, 50)  # old lines may be wrapped now, so tunec clears the screen
        text = self.read(terminal, lambda text: "\x1b[2J" in text)
        self.resize(terminal, 40, 120)
        self.read(terminal, lambda text: text.split("\x1b[2J", 1)[-1].count("matmul") >= 5
                  and "\x1b[2J" in text and "more" not in text.split("\x1b[2J", 1)[-1])
        os.write(terminal, INTERRUPT)
        self.read(terminal, seconds=60)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 130)

    def test_ctrl_c_keeps_what_was_measured(self):
        pid, terminal = self.tuning(100000)
        text = self.read(terminal, lambda text: "trials " in text)
        os.write(terminal, INTERRUPT)
        text += self.read(terminal, seconds=60)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 130, text)
        self.assertRegex(text, r"interrupted: \d+ new trials? kept")
        self.assert_sound()
        # A worker that the same Ctrl-C ended must not count as a crash (status 4) of its candidate.
        self.assertGreater(self.query("select count(*) from trials")[0][0], 0)
        self.assertEqual(self.query("select message from trials where status = 4"), [])


if __name__ == "__main__":
    tunec_process.main()
