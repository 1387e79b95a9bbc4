"""Implements `tunec.compile`: passes each kind of model to a function of the native module."""
import functools
import json
import os
import sys

from . import _options
from ._errors import InvalidArgument
from ._held import held


class TensorSpec:
    """The `name`, `dtype` (in NumPy's spelling) and `shape` of an input or output."""

    __slots__ = ("name", "dtype", "shape")

    def __init__(self, name, dtype, shape):
        self.name, self.dtype, self.shape = name, dtype, shape

    def __repr__(self):
        return f"TensorSpec({self.name!r}, {self.dtype!r}, {self.shape!r})"

    def __eq__(self, other):
        if not isinstance(other, TensorSpec):
            return NotImplemented
        return (self.name, self.dtype, self.shape) == (other.name, other.dtype, other.shape)


# Name under which the native module is also stored in sys.modules. The package may be removed from
# sys.modules and imported again, but a C++ module can be loaded only once per process.
_LOADED = "_tunec_native"


@functools.cache
def _native():
    """Loads the native module, and with it the compiler, at the first use."""
    module = sys.modules.get(_LOADED)
    if module is None:
        from . import _native as module
        sys.modules[_LOADED] = module
    _complete(module.Executable)
    return module


def _complete(executable):
    """Adds properties whose values are objects of Python classes, and the text of repr()."""
    executable.inputs = property(lambda self: [TensorSpec(*spec) for spec in self._inputs],
                                 doc="A TensorSpec for each input.")
    executable.outputs = property(lambda self: [TensorSpec(*spec) for spec in self._outputs],
                                  doc="A TensorSpec for each output.")
    executable.report = property(lambda self: json.loads(self._report),
                                 doc="Results of compiling as a dict; docs/reference/json.md lists the keys.")
    executable.__repr__ = lambda self: (
        "<tunec.Executable " + ", ".join(f"{spec.name}: {spec.dtype}{list(spec.shape)}"
                                         for spec in self.inputs) + ">")


def _is_graph_text(model):
    return isinstance(model, str) and "\n" in model and model.lstrip().startswith(("graph", "#", "//"))


def compile(model, inputs=None, *, weights=None, progress=None, log=None, **options):
    """Compiles a model to native code.

    model    a path (.onnx, .graph, or a .pt2 of torch.export), the bytes of an ONNX model, the text
             of a .graph, a torch.export.ExportedProgram, or a torch.nn.Module
    inputs   for a Module: a tuple of example inputs. The code is compiled for their types and
             shapes
    weights  for a .graph text: a dict of tensors by name. The tensors are read in place. While the
             executable lives, they cannot be resized and must not be changed
    progress called with a Progress during tuning
    log      called with lines of text. An exception of either callback, or Ctrl-C, ends the call;
             measurements made until then are retained
    options  the options of tunec.h by name: target="cpu", trials=0, time_limit="10m", db=PATH
             (None: no database), threads=0, accuracy="f32", dims={"batch": 8},
             layouts={"x": "channels_last"}, ...

    Returns an Executable. For a Module or an exported program, the result is called like the
    module. Raises tunec.Error or one of its subclasses.
    """
    if _is_torch(model):
        from .torch import compile_module
        return compile_module(model, inputs, progress=progress, log=log, **options)
    if inputs is not None:
        raise InvalidArgument("example inputs are for a torch.nn.Module")
    text = _options.options_json(options)
    if isinstance(model, (bytes, bytearray, memoryview)):
        if weights is not None:
            raise InvalidArgument("weights are for a .graph text")
        return _native().compile_bytes(bytes(model), "", text, progress, log)
    if _is_graph_text(model):
        return _compile_text(model, weights, text, progress, log)
    if weights is not None:
        raise InvalidArgument("weights are for a .graph text; a file has its own")
    path = os.fspath(model)
    if path.endswith(".pt2"):
        from .torch import compile_program_file
        return compile_program_file(path, progress=progress, log=log, **options)
    return _native().compile_file(path, text, progress, log)


def compile_any_size(text_at, dimensions, example, open_axes, *, follows_rules=False, progress=None,
                     log=None, **options):
    """Compiles a model with dynamic shapes; see tunec_compile_any_size in tunec.h.

    text_at        called with a tuple of sizes, one per dimension; returns (.graph text, weights by
                   name)
    dimensions     names of the dimensions
    example        a size for each dimension, for which a text exists
    open_axes      (input, axis, dimension) as indices, for all dynamic axes of inputs
    follows_rules  True if all numbers of the texts are sums and products of sizes, or follow from
                   such numbers by rules of operators. Otherwise the text of each new size is
                   compared with the formulas before a run
    """
    def held_text_at(sizes):
        made, weights = text_at(sizes)
        return made, held(weights)

    text = _options.options_json(options)
    return _native().compile_any_size(held_text_at, list(dimensions), list(example), list(open_axes),
                                      follows_rules, text, progress, log)


def load(path, *, threads=0, share_threads=False, device=None):
    """Loads a bundle that `tunec build` wrote. Returns an Executable; nothing is compiled.

    threads        threads of a run; 0: the number that the bundle was built for, at most one per
                   core
    share_threads  True: runs share one thread pool with other executables
    device         for a bundle with GPU code: the number or UUID of a GPU, or "cpu"; None: the
                   first GPU that can run the bundle, else the CPU

    The bundle's machine code is run unchecked: load bundles only from sources that you trust.
    """
    return _native().load(os.fspath(path), threads, share_threads, device)


def _compile_text(model, weights, text, progress, log):
    if weights is None:
        return _native().compile_bytes(model.encode(), "graph", text, progress, log)
    return _native().compile_graph(model, held(weights), text, progress, log)


def _is_torch(model):
    """Tests for a Module or an exported program. torch is not imported here: if the program has an
    object of torch, it has imported torch already."""
    torch = sys.modules.get("torch")
    if torch is None or isinstance(model, (str, bytes)):
        return False
    if isinstance(model, torch.nn.Module):
        return True
    export = sys.modules.get("torch.export")
    return export is not None and isinstance(model, export.ExportedProgram)
