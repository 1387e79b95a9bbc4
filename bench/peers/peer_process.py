"""Runs one peer in a process, which loads, times and unloads models on request."""
import contextlib
import multiprocessing as mp
import os
import time
import traceback

import numpy as np

from errors import largest_errors, rms_error
from foreign import Foreign
from systems.programs import first_error
from systems.table import PEERS


def set_niceness(value):
    """Sets the nice value of every thread of this process; lowering the value needs privilege."""
    for task in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, int(task), value)


def load(runner, path, inputs, outputs, compile_nice):
    """Compiles the model at `path`, runs it once and checks its outputs. Returns the columns of the
    table that describe compiling and errors."""
    with np.load(path[:-5] + ".npz") as z:
        x, ref = {n: z[n] for n in inputs}, {n: z[n] for n in outputs}
    start = time.perf_counter()
    try:
        if compile_nice and not runner.tunes:
            set_niceness(compile_nice)
        runner.load(path, x, ref)
    finally:
        if compile_nice:
            set_niceness(0)
    compiled = time.perf_counter() - start
    runner.run()
    return {"compile_s": compiled, **largest_errors(runner.results(), ref), "version": runner.version(),
            "rms_error": rms_error(runner.results(), outputs, path)}


def time_calls(runner, count):
    """Returns the seconds of each call of a block, and the CPUs that other processes used
    meanwhile."""
    times = []
    runner.run()
    with Foreign() as foreign:
        for _ in range(count):
            start = time.perf_counter()
            runner.run()
            times.append(time.perf_counter() - start)
    return times, foreign.cpus


def serve(pipe, peer, threads, trials, compile_nice):
    """Answers the parent's load, time and unload requests until it requests a stop."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    with open(os.devnull, "w") as null:  # libraries print; the parent's output is a table
        os.dup2(null.fileno(), 1)
        os.dup2(null.fileno(), 2)
    runner = PEERS[peer](threads, trials)
    while True:
        request, args = pipe.recv()
        try:
            if request == "load":
                answer = load(runner, *args, compile_nice)
            elif request == "time":
                answer = time_calls(runner, args)
            elif request == "unload":
                with contextlib.suppress(Exception):
                    runner.unload()
                answer = None
            else:
                return
            pipe.send(("ok", answer))
        except BaseException as e:
            text = str(e).strip() or traceback.format_exc().splitlines()[-1]
            pipe.send(("error", f"{type(e).__name__}: {first_error(text)}"))


class Worker:
    """A peer's process, started at its first use and again after a crash or a timeout."""

    def __init__(self, peer, args):
        self.peer, self.args, self.process = peer, args, None

    def ask(self, request, args=None, timeout=600):
        if self.process is None:
            context = mp.get_context("spawn")
            self.pipe, theirs = context.Pipe()
            a = self.args
            self.process = context.Process(target=serve, args=(
                theirs, self.peer, a.threads, a.trials, a.compile_nice))
            self.process.start()
            theirs.close()
        try:
            self.pipe.send((request, args))
            if not self.pipe.poll(timeout):
                self.stop()
                raise RuntimeError(f"no answer within {timeout} s")
            status, answer = self.pipe.recv()
        except (EOFError, OSError):
            self.process.join(5)
            code = self.process.exitcode
            self.stop()
            raise RuntimeError(f"process died, exit code {code}") from None
        if status == "error":
            raise RuntimeError(answer)
        return answer

    def stop(self):
        if self.process is not None:
            with contextlib.suppress(OSError):
                self.pipe.send(("stop", None))
            self.process.join(2)
            if self.process.is_alive():
                self.process.kill()
                self.process.join()
            self.process = None
