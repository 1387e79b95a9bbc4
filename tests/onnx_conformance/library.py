"""Classes that call the C interface of libtunec.so with NumPy arrays."""
import ctypes
import json

import ml_dtypes
import numpy as np

UNSUPPORTED = 3  # TUNEC_UNSUPPORTED

CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
BFLOAT = 4
DTYPES = {(code, 8 * size): np.dtype(f"{kind}{size}")
          for kind, code in (("i", 0), ("u", 1), ("f", 2)) for size in (1, 2, 4, 8)
          if (kind, size) != ("f", 1)}
DTYPES[6, 8] = np.dtype(bool)
DTYPES[BFLOAT, 16] = np.dtype(ml_dtypes.bfloat16)


class DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("dtype", DLDataType),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class Failure(Exception):
    """The error of a call that does not return TUNEC_OK."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status, self.message = status, message


class Library:
    def __init__(self, path):
        self.lib = lib = ctypes.CDLL(path)
        handle, index = ctypes.c_void_p, ctypes.c_size_t
        tensors = ctypes.POINTER(ctypes.POINTER(DLTensor))
        lib.tunec_error_message.restype = ctypes.c_char_p
        lib.tunec_compile.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(handle)]
        lib.tunec_run.argtypes = [handle, tensors, tensors]
        lib.tunec_release.argtypes = [handle]
        for what in ("input", "output"):
            for name, result in (("name", ctypes.c_char_p), ("type", DLDataType),
                                 ("ndim", ctypes.c_int), ("shape", ctypes.POINTER(ctypes.c_int64))):
                function = getattr(lib, f"tunec_{what}_{name}")
                function.restype, function.argtypes = result, [handle, index]
            count = getattr(lib, f"tunec_num_{what}s")
            count.restype, count.argtypes = index, [handle]

    def check(self, status):
        if status:
            raise Failure(status, self.lib.tunec_error_message().decode(errors="replace"))

    def compile(self, path, options):
        executable = ctypes.c_void_p()
        self.check(self.lib.tunec_compile(path.encode(), json.dumps(options).encode(),
                                          ctypes.byref(executable)))
        return Executable(self, executable)


class Executable:
    def __init__(self, library, handle):
        self.library, self.lib, self.handle = library, library.lib, handle

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lib.tunec_release(self.handle)

    def names(self, what):
        count = getattr(self.lib, f"tunec_num_{what}s")(self.handle)
        return [getattr(self.lib, f"tunec_{what}_name")(self.handle, i).decode()
                for i in range(count)]

    def empty_output(self, i):
        """Returns an array for output `i`. Its bytes are 0xA5, so that unwritten elements show."""
        rank = self.lib.tunec_output_ndim(self.handle, i)
        shape = tuple(self.lib.tunec_output_shape(self.handle, i)[:rank])
        kind = self.lib.tunec_output_type(self.handle, i)
        array = np.empty(shape, DTYPES[kind.code, kind.bits])
        ctypes.memset(array.ctypes.data, 0xA5, array.nbytes)
        return array

    def run(self, inputs):
        """Runs the model on inputs by name. Returns the outputs by name, or raises Failure."""
        keep_alive = []
        names = self.names("output")
        outputs = [self.empty_output(i) for i in range(len(names))]
        sources = [np.ascontiguousarray(inputs[name]).reshape(np.shape(inputs[name]))
                   for name in self.names("input")]
        self.library.check(self.lib.tunec_run(self.handle, row(sources, keep_alive), row(outputs, keep_alive)))
        return dict(zip(names, outputs))


def row(arrays, keep_alive):
    """Returns a C array of DLTensor*. `keep_alive` receives the objects that the array points to."""
    tensors = []
    for array in arrays:
        shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
        code = BFLOAT if array.dtype == ml_dtypes.bfloat16 else CODES[array.dtype.kind]
        dtype = DLDataType(code, 8 * array.dtype.itemsize, 1)
        tensors.append(DLTensor(array.ctypes.data, 1, 0, array.ndim, dtype,
                                ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64)), None, 0))
        keep_alive += [array, shape, tensors[-1]]
    return (ctypes.POINTER(DLTensor) * max(1, len(tensors)))(*map(ctypes.pointer, tensors))
