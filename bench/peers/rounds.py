"""Measures one model in every peer: compiles, then times in interleaved rounds."""
import contextlib
import fcntl
import os
import statistics

import numpy as np

from systems.table import PEERS


@contextlib.contextmanager
def locked(path):
    """Returns a context that holds an exclusive flock on `path`, or no lock if `path` is empty."""
    if not path:
        yield
        return
    with open(path, "a") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


def load_all(path, workers, args):
    """Returns a row for each peer: the results of loading the model, or the error."""
    with np.load(path[:-5] + ".npz") as z:
        inputs = [n for n in z.files if n.startswith("x")]
        outputs = [n for n in z.files if n.startswith("y")]
    rows = {}
    for peer, worker in workers.items():
        try:
            with locked(args.lock if PEERS[peer].tunes else None):
                rows[peer] = worker.ask("load", (path, inputs, outputs), args.load_timeout)
        except RuntimeError as e:
            rows[peer] = {"error": str(e)}
    return rows


def warm_up(worker, block):
    """Returns the seconds of a warm call, and the number of calls in `block` seconds."""
    cost = min(worker.ask("time", 2)[0])
    if cost < 0.5:  # caches and threads are warm now
        cost = min(worker.ask("time", 3)[0])
    return cost, max(1, min(1000, int(block / max(cost, 1e-6))))


def quietest_block(worker, cost, calls, args):
    """Runs a block of calls, and repeats it while other processes use the CPUs. Returns the least
    disturbed block."""
    best = None
    slow = cost * calls > 1  # too expensive to repeat
    for _ in range(1 if slow else 1 + args.retries):
        block = worker.ask("time", calls)
        if best is None or block[1] < best[1]:
            best = block
        if best[1] <= args.foreign:
            break
    return best


def take_turns(workers, live, rows, args):
    """Returns the blocks of all rounds by peer. A failed peer has no blocks; `rows` gets its
    error."""
    blocks, samples = {}, {}
    for peer in live:
        try:
            blocks[peer] = warm_up(workers[peer], args.block)
            samples[peer] = []
        except RuntimeError as e:
            rows[peer] = {"error": str(e)}
    for turn in range(args.rounds):
        order = list(samples)
        # the order rotates, so that no peer always follows the spinning threads of another
        first = turn % max(1, len(order))
        for peer in order[first:] + order[:first]:
            try:
                samples[peer].append(quietest_block(workers[peer], *blocks[peer], args))
            except RuntimeError as e:
                rows[peer] = {"error": str(e)}
                del samples[peer]
    return samples


def summary(blocks):
    """Returns the columns of the table that describe a peer's blocks."""
    times = sorted(1e3 * t for block, _ in blocks for t in block)
    medians = [1e3 * statistics.median(b) for b, _ in blocks]
    return {"median_ms": statistics.median(times), "p95_ms": times[int(0.95 * (len(times) - 1))],
            "min_ms": times[0], "calls": len(times), "round_medians_ms": [round(m, 5) for m in medians],
            "foreign_cpus": round(max(f for _, f in blocks), 3)}


def measure(name, workers, args):
    """Compiles `name` in every peer, then times all peers in interleaved rounds. Returns a row for
    each peer. A peer that fails has a row with "error"."""
    rows = load_all(os.path.join(args.modeldir, name + ".onnx"), workers, args)
    live = [peer for peer, row in rows.items() if "error" not in row]
    with locked(args.lock):
        samples = take_turns(workers, live, rows, args)
    for peer, blocks in samples.items():
        rows[peer].update(summary(blocks))
    for peer in live:
        with contextlib.suppress(RuntimeError):
            workers[peer].ask("unload")
    return rows
