"""Tests of the thread pool. A quota of one processor gives one thread, forked processes run models,
and models share a pool."""
import multiprocessing
import os
import subprocess
import sys
import textwrap
import unittest

import numpy as np
import tunec

from models import PRODUCT
from quota import one_processor, pool_threads, run_in

CHOSEN = textwrap.dedent("""
    import ctypes
    from pathlib import Path
    import tunec
    from models import PRODUCT
    from quota import pool_threads
    model = tunec.compile(PRODUCT, db=None)
    library = ctypes.CDLL(str(Path(tunec.__path__[0]) / "lib/libtunec_python.so"))
    handle = ctypes.c_void_p()
    status = library.tunec_compile_bytes(PRODUCT.encode(), ctypes.c_size_t(len(PRODUCT)), b"graph", b'{"db": null}',
                                         None, ctypes.byref(handle))
    print(tunec.processors(), model.report["threads"], library.tunec_num_processors(), status, pool_threads())
""")


def inputs():
    random = np.random.default_rng(2)
    return random.standard_normal((48, 96)).astype(np.float32), random.standard_normal((96, 64)).astype(np.float32)


class Quota(unittest.TestCase):

    def test_one_processor_is_one_thread(self):
        try:
            with one_processor() as group:
                chosen = run_in(group, sys.executable, "-c", CHOSEN)
        except (OSError, subprocess.CalledProcessError) as error:
            if isinstance(error, subprocess.CalledProcessError):
                raise
            self.skipTest(f"no control group can be made: {error}")
        self.assertEqual(chosen.split(), ["1", "1", "1", "0", "0"])


def run_and_compare(model, a, b, expected, answers):
    answers.put(np.array_equal(model(a, b)[0], expected))


class Fork(unittest.TestCase):

    def test_children_run_what_the_parent_compiled(self):
        a, b = inputs()
        context = multiprocessing.get_context("fork")
        for options in ({"threads": 2}, {"threads": 2, "share_threads": True}):
            model = tunec.compile(PRODUCT, db=None, **options)
            expected = model(a, b)[0]
            answers = context.Queue()
            children = [context.Process(target=run_and_compare, args=(model, a, b, expected, answers))
                        for _ in range(3)]
            for child in children:
                child.start()
            self.assertEqual([answers.get(timeout=60) for _ in children], [True] * 3)
            for child in children:
                child.join(60)
                self.assertEqual(child.exitcode, 0)
            np.testing.assert_array_equal(model(a, b)[0], expected)

    def test_a_child_compiles_for_another_layout(self):
        a, b = inputs()
        model = tunec.compile(PRODUCT, weights={}, db=None, threads=2)
        expected = model(a, b)[0]
        child = os.fork()
        if child == 0:
            same = np.allclose(model(np.asfortranarray(a), b)[0], expected, rtol=1e-5, atol=1e-5)
            os._exit(0 if same and len(model.other_layouts) == 1 else 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)


class Pool(unittest.TestCase):

    def test_many_models_share_one(self):
        before = pool_threads()
        models = [tunec.compile(PRODUCT, db=None, threads=3, share_threads=True) for _ in range(8)]
        self.assertEqual(pool_threads() - before, 2)
        a, b = inputs()
        for model in models:
            np.testing.assert_array_equal(model(a, b)[0], models[0](a, b)[0])
        own = tunec.compile(PRODUCT, db=None, threads=3)
        self.assertEqual(pool_threads() - before, 4)
        del models, model, own
        self.assertEqual(pool_threads(), before)


if __name__ == "__main__":
    unittest.main()
