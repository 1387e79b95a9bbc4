#!/usr/bin/env python3
"""Measures the overhead of a call from Python beyond tunec_run, in microseconds: least and median.

    PYTHONPATH=build/python python bench/python/call_cost.py [--rounds N]

The same model is called by the package, with new outputs and with given outputs, and by ctypes with
prepared tensors. These calls alternate. The cost of ctypes is measured by calls of a function that
does almost nothing, and subtracted.
"""
import argparse
import ctypes
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import tunec

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import write_results  # noqa: E402

CALLS = 2000
GRAPH = """graph g {
  input a: f32[16]
  input b: f32[16]
  y = add(a, b)
  output y
}
"""


class Tensor(ctypes.Structure):
    """The struct DLTensor of dlpack.h."""
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


def prepared(library, arrays, outputs):
    """Returns objects to keep alive, and functions that call tunec_run and a function that does almost
    nothing by ctypes."""
    options = b'{"db": null, "threads": 1}'
    handle = ctypes.c_void_p()
    library.tunec_compile_bytes.restype = ctypes.c_int
    status = library.tunec_compile_bytes(GRAPH.encode(), ctypes.c_size_t(len(GRAPH)), b"graph", options, None,
                                         ctypes.byref(handle))
    assert status == 0
    shape = (ctypes.c_int64 * 1)(16)
    keep_alive = []

    def pointers(tensors):
        described = [Tensor(t.ctypes.data, 1, 0, 1, 2, 32, 1, shape, None, 0) for t in tensors]
        keep_alive.extend(described)
        return (ctypes.POINTER(Tensor) * len(described))(*(ctypes.pointer(d) for d in described))

    given, made = pointers(arrays), pointers(outputs)
    run = library.tunec_run
    run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    in_address, out_address = ctypes.addressof(given), ctypes.addressof(made)
    count = library.tunec_num_inputs
    count.argtypes = [ctypes.c_void_p]
    return keep_alive + [given, made], lambda: run(handle, in_address, out_address), lambda: count(None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=31)
    write_results.add_option(parser)
    arguments = parser.parse_args()
    with write_results.recorded(arguments, packages=("tunec", "numpy")):
        measure(arguments)


def measure(arguments):
    """Measures all ways of a call alternately, and prints the overhead of each."""
    arrays = [np.arange(16, dtype=np.float32), np.ones(16, np.float32)]
    out = np.zeros(16, np.float32)
    model = tunec.compile(GRAPH, db=None, threads=1)
    library = ctypes.CDLL(str(Path(tunec.__path__[0]) / "lib/libtunec_python.so"))
    keep_alive, run, nothing = prepared(library, arrays, [out])
    ways = {"run": run, "nothing": nothing, "new outputs": lambda: model(*arrays),
            "outputs given": lambda: model(*arrays, out=out)}
    times = {name: [] for name in ways}
    for _ in range(arguments.rounds):
        for name, call in ways.items():
            started = time.perf_counter()
            for _ in range(CALLS):
                call()
            times[name].append((time.perf_counter() - started) / CALLS * 1e6)
    assert np.array_equal(out, arrays[0] + 1) and keep_alive
    for pick in (min, statistics.median):
        base = pick(times["run"]) - pick(times["nothing"])
        beyond = ", ".join(f"{name} {pick(times[name]) - base:.2f}" for name in ("outputs given", "new outputs"))
        print(f"{pick.__name__}: tunec_run {base:.2f} us; beyond it: {beyond}")


if __name__ == "__main__":
    main()
