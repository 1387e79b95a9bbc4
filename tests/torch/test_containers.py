"""Tests compiled torch modules under a quota of one processor, after fork, and together with torch's
threads."""
import multiprocessing
import subprocess
import sys
import textwrap
import time
import unittest
from pathlib import Path

import torch
import tunec
from torch import nn

sys.path.append(str(Path(__file__).resolve().parents[1] / "python"))
from quota import one_processor, run_in  # noqa: E402

CHOSEN = textwrap.dedent("""
    import torch
    from torch import nn
    from quota import pool_threads
    torch.set_num_threads(2)
    layer = nn.Sequential(nn.Linear(64, 64), nn.GELU()).eval()
    x = torch.randn(8, 64)
    with torch.no_grad():
        compiled = torch.compile(layer, backend="tunec", options={"db": None})
        assert torch.allclose(compiled(x), layer(x), atol=1e-5)
    import tunec
    assert tunec.compile(layer, (x,), db=None).executable.report["threads"] == 1
    print(pool_threads())
""")


def network():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512)).eval()


def run_and_compare(model, x, expected, answers):
    with torch.no_grad():
        answers.put(torch.equal(model(x), expected))


def least(call, rounds=30):
    """Returns the seconds of the fastest of several calls."""
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return min(times)


class Containers(unittest.TestCase):

    def test_one_processor_is_one_thread(self):
        try:
            with one_processor() as group:
                printed = run_in(group, sys.executable, "-c", CHOSEN)
        except (OSError, subprocess.CalledProcessError) as error:
            if isinstance(error, subprocess.CalledProcessError):
                raise
            self.skipTest(f"no control group can be made: {error}")
        self.assertEqual(printed.split()[-1], "0")

    def test_a_child_after_fork_runs(self):
        x = torch.randn(16, 512)
        model = tunec.compile(network(), (x,), db=None, threads=2)
        expected = model(x)
        context = multiprocessing.get_context("fork")
        answers = context.Queue()
        child = context.Process(target=run_and_compare, args=(model, x, expected, answers))
        child.start()
        self.assertTrue(answers.get(timeout=60))
        child.join(60)
        self.assertEqual(child.exitcode, 0)

    def test_beside_torchs_threads_nothing_collapses(self):
        """Expects that alternating calls of torch's threads and tunec's threads take less than three
        times as long as separate calls."""
        x = torch.randn(128, 512)
        eager = network()
        with torch.no_grad():
            compiled = tunec.compile(eager, (x,), db=None, threads=torch.get_num_threads())
            alone = least(lambda: eager(x)) + least(lambda: compiled(x))
            in_turns = least(lambda: (eager(x), compiled(x)))
        self.assertLess(in_turns, 3 * alone)


if __name__ == "__main__":
    unittest.main()
