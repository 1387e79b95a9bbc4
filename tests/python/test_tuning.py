"""Tests of tuning from Python. They check progress, Ctrl-C, failing callbacks, the database, and
when the compiler is loaded."""
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

import numpy as np
import tunec

from models import PRODUCT, SCALED


class Stop(Exception):
    """An exception that a callback raises."""


class Tuning(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.database = os.path.join(folder.name, "tunec.db")

    def test_progress_counts_trials(self):
        seen = []
        model = tunec.compile(PRODUCT, trials=4, threads=1, db=self.database,
                              progress=lambda p: seen.append((p.trials, p.budget, p.tasks)))
        self.assertEqual(seen[-1], (4, 4, 2))
        self.assertEqual({kernel["schedule"] for kernel in model.report["kernels"]}, {"tuned"})
        again = tunec.compile(PRODUCT, trials=4, threads=1, db=self.database)
        self.assertEqual(again.report["trials"]["new"], 0)

    def test_what_a_callback_raises_ends_the_call(self):
        def progress(_):
            raise Stop("enough")

        with self.assertRaisesRegex(Stop, "enough"):
            tunec.compile(PRODUCT, trials=50, threads=1, db=self.database, progress=progress)

    def test_tuning_in_the_background(self):
        model = tunec.compile(PRODUCT, trials=4, threads=1, db=self.database, background=True)
        x = [np.full(spec.shape, 0.5, spec.dtype) for spec in model.inputs]
        before = model(*x)
        self.assertTrue(model.wait_tuning())
        self.assertEqual(model.report["background"], {"state": "ended", "trials": 4, "error": None})
        self.assertEqual({kernel["schedule"] for kernel in model.report["kernels"]}, {"tuned"})
        np.testing.assert_allclose(model(*x), before, rtol=1e-5)

    def test_tuning_in_the_background_is_stopped(self):
        model = tunec.compile(PRODUCT, trials=100000, threads=1, db=self.database, background=True)
        self.assertFalse(model.wait_tuning(timeout=0.01))
        model.stop_tuning()
        self.assertTrue(model.wait_tuning())
        self.assertEqual(model.report["background"]["state"], "stopped")

    def test_the_end_of_the_program_ends_tuning_in_the_background(self):
        program = textwrap.dedent(f"""
            import sys
            sys.path[:0] = {sys.path!r}
            import tunec
            from models import PRODUCT
            tunec.held = tunec.compile(PRODUCT, trials=100000, threads=1, db={self.database!r},
                                       background=True)
            while tunec.held.report["background"]["trials"] == 0:
                tunec.held.wait_tuning(timeout=0.05)
        """)
        ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                               timeout=100, check=False)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        model = tunec.compile(PRODUCT, threads=1, db=self.database)
        self.assertEqual(model.report["kernels"][0]["schedule"], "tuned")

    def test_ctrl_c_ends_tuning_and_keeps_what_was_measured(self):
        program = textwrap.dedent(f"""
            import os
            import signal
            import sys
            sys.path[:0] = {sys.path!r}
            import tunec
            signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background has none
            from models import PRODUCT
            def progress(p):
                if p.measured > 0:
                    os.write(1, b"measured\\n")  # whole, also when the signal comes
            try:
                tunec.compile(PRODUCT, trials=100000, threads=1, db={self.database!r}, progress=progress)
            except KeyboardInterrupt:
                os.write(1, b"interrupted\\n")
        """)
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as child:
            self.assertEqual(child.stdout.readline().strip(), "measured")
            child.send_signal(signal.SIGINT)
            rest = child.communicate(timeout=60)[0]
        self.assertEqual(rest.split()[-1], "interrupted")
        model = tunec.compile(PRODUCT, threads=1, db=self.database)
        self.assertEqual(model.report["kernels"][0]["schedule"], "tuned")


class Loading(unittest.TestCase):

    def run_python(self, program, **variables):
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path), **variables)
        return subprocess.run([sys.executable, "-c", textwrap.dedent(program)], env=environment,
                              capture_output=True, text=True, timeout=120, check=True).stdout

    def test_the_compiler_is_loaded_when_something_compiles(self):
        self.assertEqual(self.run_python("""
            import sys
            import tunec
            loaded = lambda: "libtunec_python" in open("/proc/self/maps").read()
            print(loaded(), "numpy" in sys.modules, "torch" in sys.modules)
            tunec.version()
            print(loaded())
        """).split(), ["False", "False", "False", "True"])

    def test_a_child_after_fork_compiles_and_runs(self):
        self.assertEqual(self.run_python(f"""
            import os
            import numpy as np
            import tunec
            x = np.ones((4, 3), np.float32)
            weights = {{"w": np.ones(3, np.float32)}}
            model = tunec.compile({SCALED!r}, weights=weights, db=None)
            child = os.fork()
            if child == 0:
                right = np.array_equal(tunec.compile({SCALED!r}, weights=weights, db=None)(x), x)
                os._exit(0 if right and np.array_equal(model(x), x) else 1)
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """).split(), ["0"])

    def test_log_gets_lines(self):
        """The log gets a line if the user's database cannot be opened and is left out."""
        with tempfile.NamedTemporaryFile() as file:
            lines = self.run_python(f"""
                import tunec
                tunec.compile({PRODUCT!r}, log=print)
            """, XDG_CACHE_HOME=file.name)
        self.assertIn("going on without a database", lines)


class Memory(unittest.TestCase):

    @staticmethod
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def test_models_that_are_dropped_leave_nothing(self):
        """Models of 4 MB are dropped in each round. The growth must be far below one model per
        round."""
        w = np.ones(1 << 20, np.float32)
        graph = SCALED.replace("f32[3]", "f32[1048576]").replace("f32[4, 3]", "f32[1, 1048576]")
        x = np.ones((1, 1 << 20), np.float32)

        def rounds(count):
            for _ in range(count):
                tunec.compile(graph, weights={"w": w.copy()}, db=None, threads=1)(x)

        rounds(10)
        before = self.resident()
        started = time.monotonic()
        rounds(40)
        self.assertLess(self.resident() - before, 20 << 20, f"in {time.monotonic() - started} s")


if __name__ == "__main__":
    unittest.main()
