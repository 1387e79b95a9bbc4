"""The peers that run models in tunec, with several accuracy modes, processors and databases."""
import ctypes
import json
import os

import numpy as np

from .peer import Peer


class Tunec(Peer):
    """tunec through its C interface (see ../README.md); $TUNEC_LIB names libtunec.so.

    $TUNEC_DB names the tuning database (default: tunec's own); --trials is passed on.
    """
    accuracy, cpu, tunes = "f32", "native", True
    lib_variable, db_variable = "TUNEC_LIB", "TUNEC_DB"
    most_trials = None  # the value of --trials

    class Tensor(ctypes.Structure):
        """The struct DLTensor of dlpack.h."""
        _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                    ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                    ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                    ("shape", ctypes.POINTER(ctypes.c_int64)),
                    ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]

    def tensor(self, array):
        shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
        self.keep_alive += [array, shape]
        code = {"i": 0, "u": 1, "f": 2, "b": 6}[array.dtype.kind]
        return self.Tensor(array.ctypes.data, 1, 0, array.ndim, code, 8 * array.dtype.itemsize, 1,
                           ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64)), None, 0)

    def check(self, status):
        if status:
            raise RuntimeError(self.lib.tunec_error_message().decode())

    def load(self, path, inputs, outputs):
        self.lib = lib = ctypes.CDLL(os.environ[self.lib_variable])
        lib.tunec_error_message.restype = lib.tunec_version.restype = ctypes.c_char_p
        for f in (lib.tunec_input_name, lib.tunec_output_name):
            f.restype, f.argtypes = ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_size_t]
        for f in (lib.tunec_num_inputs, lib.tunec_num_outputs):
            f.restype, f.argtypes = ctypes.c_size_t, [ctypes.c_void_p]
        pointers = ctypes.POINTER(ctypes.POINTER(self.Tensor))
        lib.tunec_run.argtypes = [ctypes.c_void_p, pointers, pointers]
        lib.tunec_release.argtypes = [ctypes.c_void_p]
        trials = self.trials if self.most_trials is None else min(self.trials, self.most_trials)
        options = {"target": "cpu", "threads": self.threads, "trials": trials,
                   "accuracy": self.accuracy, "cpu": self.cpu}
        if self.db_variable in os.environ:
            options["db"] = os.environ[self.db_variable]
        self.exe = ctypes.c_void_p()
        self.check(lib.tunec_compile(path.encode(), json.dumps(options).encode(), ctypes.byref(self.exe)))
        names_in = [lib.tunec_input_name(self.exe, i).decode() for i in range(lib.tunec_num_inputs(self.exe))]
        names_out = [lib.tunec_output_name(self.exe, i).decode() for i in range(lib.tunec_num_outputs(self.exe))]
        self.keep_alive, self.ys = [], {n: np.empty_like(y) for n, y in outputs.items()}

        def row(arrays):
            tensors = [ctypes.pointer(self.tensor(a)) for a in arrays]
            return (ctypes.POINTER(self.Tensor) * len(tensors))(*tensors)
        self.xs = row([np.ascontiguousarray(inputs[n]) for n in names_in])
        self.out = row([self.ys[n] for n in names_out])

    def run(self):
        self.check(self.lib.tunec_run(self.exe, self.xs, self.out))

    def results(self):
        return list(self.ys.values())

    def unload(self):
        if getattr(self, "exe", None):
            self.lib.tunec_release(self.exe)
        super().unload()

    def version(self):
        return self.lib.tunec_version().decode()


class TunecNoAmx(Tunec):
    """tunec limited to AVX-512."""
    cpu = "native,-amx"


class TunecAvx2(Tunec):
    """tunec limited to AVX2, with a separate database: $TUNEC_AVX2_DB."""
    cpu, db_variable = "native,-avx512f", "TUNEC_AVX2_DB"


class TunecBf16(Tunec):
    """tunec in the bf16 accuracy mode."""
    accuracy = "bf16"


class TunecUntuned(Tunec):
    """tunec's analytic schedules. The database $TUNEC_UNTUNED_DB should have no trials."""
    tunes, db_variable, most_trials = False, "TUNEC_UNTUNED_DB", 0


class TunecLoose(Tunec):
    """tunec with an accuracy bound of 1e-5 and the database $TUNEC_LOOSE_DB."""
    accuracy, db_variable = "1e-5", "TUNEC_LOOSE_DB"


class TunecEmulated(Tunec):
    """tunec with emulated AMX, to measure errors; times are meaningless. Database:
    $TUNEC_EMULATED_DB."""
    cpu, db_variable = "native,+amx-emulated", "TUNEC_EMULATED_DB"


class TunecBefore(Tunec):
    """An earlier build of tunec, $TUNEC_BEFORE_LIB, for alternating runs. Database:
    $TUNEC_BEFORE_DB."""
    lib_variable, db_variable = "TUNEC_BEFORE_LIB", "TUNEC_BEFORE_DB"
