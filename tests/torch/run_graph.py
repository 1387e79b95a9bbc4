"""Runs an imported graph through the C interface (api/include/tunec/tunec.h), for tests.

TUNEC_LIBRARY names the library; without it, it is build/lib/libtunec.so of the checkout.
"""
import ctypes
import json
import os
import pathlib
import tempfile

import torch

from tunec.torch.element_types import torch_dtype
from tunec.torch.safetensors import write_safetensors

_ROOT = pathlib.Path(__file__).resolve().parents[2]
_CODES = {torch.bool: 6, torch.bfloat16: 4}


class _Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class _DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", _Device), ("ndim", ctypes.c_int32),
                ("dtype", _DataType), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


def library_path():
    return os.environ.get("TUNEC_LIBRARY") or str(_ROOT / "build" / "lib" / "libtunec.so")


def _library():
    library = ctypes.CDLL(library_path())
    library.tunec_error_message.restype = ctypes.c_char_p
    library.tunec_report_json.restype = ctypes.c_char_p
    library.tunec_release.argtypes = [ctypes.c_void_p]
    library.tunec_report_json.argtypes = [ctypes.c_void_p]
    return library


def _code(dtype):
    if dtype in _CODES:
        return _CODES[dtype]
    if dtype.is_floating_point:
        return 2
    return 0 if dtype.is_signed else 1


def _described(tensor):
    shape = (ctypes.c_int64 * max(tensor.dim(), 1))(*tensor.shape)
    dtype = _DataType(_code(tensor.dtype), tensor.element_size() * 8, 1)
    return _Tensor(tensor.data_ptr(), _Device(1, 0), tensor.dim(), dtype, shape, None, 0)


class CompiledFile:
    """A model file, compiled."""

    def __init__(self, path, **options):
        self._executable = ctypes.c_void_p()
        self._library = _library()
        text = json.dumps({"db": None, "threads": 2} | options)
        self._check(self._library.tunec_compile(str(path).encode(), text.encode(),
                                                ctypes.byref(self._executable)))

    def _check(self, status):
        if status != 0:
            raise RuntimeError(self._library.tunec_error_message().decode())

    def __del__(self):
        if self._executable:
            self._library.tunec_release(self._executable)

    def report(self):
        return json.loads(self._library.tunec_report_json(self._executable))

    def __call__(self, inputs, types):
        """The outputs, of these types: pairs of a dtype and a shape."""
        given = [x.detach().contiguous() for x in inputs]
        made = [torch.empty(shape, dtype=dtype) for dtype, shape in types]
        lists = []
        for tensors in (given, made):
            described = [_described(t) for t in tensors]
            lists.append((ctypes.POINTER(_Tensor) * len(described))(
                *(ctypes.pointer(d) for d in described)))
        self._check(self._library.tunec_run(self._executable, *lists))
        return made


class CompiledGraph:
    """An ImportedGraph, compiled. Its outputs are those of the text, mutations among them."""

    def __init__(self, graph, **options):
        self.graph = graph
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.graph"
            path.write_text(graph.text)
            if graph.weights:
                write_safetensors(path.with_suffix(".safetensors"), graph.weights)
            self._file = CompiledFile(path, **options)

    def report(self):
        return self._file.report()

    def __call__(self, *inputs):
        types = [(torch_dtype(port.element), port.shape) for port in self.graph.outputs]
        return self._file(inputs, types)
