"""Runs the networks of graphs.py in tunec and PyTorch, in the rounds of bench/cuda/gpu_peers.py.

tunec runs through libtunec.so, because the machine's Python differs from that of the package.
Without a GPU, PyTorch runs on the CPU and tunec's kernels are emulated. Such a run only tests the
script; its times are meaningless.
"""
import ctypes
import json
import statistics
import sys
import time

import torch

import graphs
import in_torch
from day import ROOT

sys.path.insert(0, str(ROOT / "bench/cuda"))
sys.path.insert(0, str(ROOT / "bench/peers"))
import gpu_peers  # noqa: E402
from systems.tunec_library import Tunec as LibraryPeer  # noqa: E402

CODES = {torch.float32: 2, torch.int64: 0}  # type codes of DLPack
CPU, CUDA = 1, 2
DEFAULT_STREAM = 1


class GraphCase:
    """A network with inputs and float64 outputs, in the form of a case of gpu_peers."""

    def __init__(self, network, accuracy, arrays, device):
        self.network, self.name, self.accuracy, self.device = network, network.name, accuracy, device
        inputs = in_torch.inputs_of(network)
        self.inputs = list(inputs.values())
        self.outputs = {line[1]: arrays[line[1]] for line in network.lines if line[0] == "output"}

    def module(self):
        return in_torch.InTorch(self.network, self.device)

    def tensors(self):
        return [torch.from_numpy(array.copy()).to(self.device) for array in self.inputs]


class RunOptions(ctypes.Structure):
    """The struct tunec_run_options of tunec.h."""
    _fields_ = [("size", ctypes.c_size_t), ("stream", ctypes.c_void_p), ("queued", ctypes.c_size_t)]


class HostTimed:
    """A peer whose `run` returns after completion, timed by wall clock."""

    def __init__(self, options):
        self.options = options

    def begin(self):
        self.torch = torch

    def block(self):
        times = []
        for _ in range(self.options.runs):
            began = time.perf_counter()
            self.run()
            times.append(1e3 * (time.perf_counter() - began))
        return statistics.median(times)


def tensor_of(value, keep_alive):
    """Returns a DLTensor of a dense torch tensor; `keep_alive` holds the memory that it points to."""
    shape = (ctypes.c_int64 * max(value.dim(), 1))(*value.shape)
    keep_alive += [value, shape]
    on_gpu = value.device.type == "cuda"
    return LibraryPeer.Tensor(value.data_ptr(), CUDA if on_gpu else CPU, value.device.index or 0, value.dim(),
                              CODES[value.dtype], 8 * value.element_size(), 1,
                              ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64)), None, 0)


class FromLibrary:
    """The common part of tunec's peers: compile, run once, and return the outputs."""

    def prepare(self, case):
        self.begin()
        self.library = ctypes.CDLL(str(self.options.library))
        self.library.tunec_error_message.restype = ctypes.c_char_p
        self.executable = ctypes.c_void_p()
        settings = {**self.options.target, "accuracy": case.accuracy, "random_weights": graphs.SEED, "db": None}
        self.check(self.library.tunec_compile(str(graphs.file_of(case.network)).encode(),
                                              json.dumps(settings).encode(), ctypes.byref(self.executable)))
        self.keep_alive = []
        outputs = [torch.empty(array.shape, dtype=torch.float32, device=case.device)
                   for array in case.outputs.values()]
        self.inputs, self.results = self.row(case.tensors()), self.row(outputs)
        self.run_options = RunOptions(ctypes.sizeof(RunOptions), *self.stream())
        self.run()
        self.end_of_run()
        return [output.cpu().numpy() for output in outputs]

    def row(self, tensors):
        structs = [ctypes.pointer(tensor_of(tensor, self.keep_alive)) for tensor in tensors]
        return (ctypes.POINTER(LibraryPeer.Tensor) * len(structs))(*structs)

    def check(self, status):
        if status:
            raise gpu_peers.Problem(self.library.tunec_error_message().decode())

    def run(self):
        self.check(self.library.tunec_run_with_options(self.executable, self.inputs, self.results,
                                                       ctypes.byref(self.run_options)))

    def release(self):
        self.library.tunec_release(self.executable)


class TunecOnGpu(FromLibrary, gpu_peers.Timed):
    """tunec in torch's stream: a run enqueues the graph that tunec captured."""

    def stream(self):
        return torch.cuda.current_stream().cuda_stream or DEFAULT_STREAM, 1

    def end_of_run(self):
        torch.cuda.synchronize()


class TunecEmulated(FromLibrary, HostTimed):
    def stream(self):
        return None, 0

    def end_of_run(self):
        pass


class TorchOnHost(HostTimed):
    def prepare(self, case):
        self.begin()
        function, inputs = case.module(), case.tensors()

        def run():
            with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=case.accuracy == "bf16"):
                return function(*inputs)
        self.run = run
        return [output.float().numpy() for output in run()]


class TorchOnGpu(gpu_peers.Torch):
    """cuBLAS, cuDNN and torch's own kernels, in a captured graph."""


class InductorOnGpu(gpu_peers.Torch):
    """torch.compile with default options, in a captured graph."""

    def function(self, case, module):
        return torch.compile(module, dynamic=False)


def compare(case, options, names):
    """Returns the result of gpu_peers.measure: a row for each peer."""
    known = ({"tunec": TunecOnGpu, "torch": TorchOnGpu, "inductor": InductorOnGpu} if case.device == "cuda" else
             {"tunec": TunecEmulated, "torch": TorchOnHost})
    peers = {name: known[name](options) for name in names if name in known}
    rows = gpu_peers.measure(case, peers, options.rounds)
    if getattr(peers.get("tunec"), "executable", None):
        peers["tunec"].release()
    return rows
