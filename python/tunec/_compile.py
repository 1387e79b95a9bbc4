"""`tunec.compile`: whatever a model is, to the function of the native module that compiles it."""
import functools
import json
import os
import sys

from . import _options
from ._errors import InvalidArgument
from ._held import held


class TensorSpec:
    """What goes in or comes out: `name`, `dtype` (NumPy's word for it) and `shape`."""

    __slots__ = ("name", "dtype", "shape")

    def __init__(self, name, dtype, shape):
        self.name, self.dtype, self.shape = name, dtype, shape

    def __repr__(self):
        return f"TensorSpec({self.name!r}, {self.dtype!r}, {self.shape!r})"

    def __eq__(self, other):
        if not isinstance(other, TensorSpec):
            return NotImplemented
        return (self.name, self.dtype, self.shape) == (other.name, other.dtype, other.shape)


# This name keeps the native module if somebody removes the package from sys.modules and imports it
# again. A module of C++ can be loaded once in a process.
_LOADED = "_tunec_native"


@functools.cache
def _native():
    """The native module, and with it the compiler: only when something compiles."""
    module = sys.modules.get(_LOADED)
    if module is None:
        from . import _native as module
        sys.modules[_LOADED] = module
    _complete(module.Executable)
    return module


def _complete(executable):
    """Properties that are made of Python's own types."""
    executable.inputs = property(lambda self: [TensorSpec(*spec) for spec in self._inputs],
                                 doc="A TensorSpec for each input.")
    executable.outputs = property(lambda self: [TensorSpec(*spec) for spec in self._outputs],
                                  doc="A TensorSpec for each output.")
    executable.report = property(lambda self: json.loads(self._report),
                                 doc="What compiling came to; docs/reference/json.md lists the keys.")
    executable.__repr__ = lambda self: (
        "<tunec.Executable " + ", ".join(f"{spec.name}: {spec.dtype}{list(spec.shape)}"
                                         for spec in self.inputs) + ">")


def _is_graph_text(model):
    return isinstance(model, str) and "\n" in model and model.lstrip().startswith(("graph", "#", "//"))


def compile(model, inputs=None, *, weights=None, progress=None, log=None, **options):
    """Compiles a model to native code.

    model    a path (.onnx, .graph, or .pt2 of torch.export), the bytes of an ONNX model, the text of
             a .graph, a torch.export.ExportedProgram, or a torch.nn.Module.
    inputs   of a Module: a tuple of example inputs, whose types and shapes the code is for.
    weights  of a .graph text: a dict of tensors by name. They are used where they are. While the
             executable lives they cannot be resized, and must not be changed.
    progress called with a Progress as tuning goes on; log with lines of text. What one of them
             raises ends the call, as Ctrl-C does. What was measured until then is kept.
    options  those of tunec.h by their names: target="cpu", trials=0, time_limit="10m", db=PATH (None:
             no database), threads=0, accuracy="f32", dims={"batch": 8},
             layouts={"x": "channels_last"}, ...

    Returns an Executable. With Modules and exported programs it takes and returns what they do.
    Raises tunec.Error or one of its subclasses.
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
    """Compiles a model of any size: see tunec_compile_any_size in tunec.h.

    text_at     makes (.graph text, weights by name) for a tuple of sizes, one for each dimension
    dimensions  their names
    example     of each a size that there is a text for
    open_axes   (input, axis, dimension) by number, of all axes of inputs that are open
    follows_rules  whether all numbers of the texts are sums and products of sizes, or follow from
                   them by rules of operators; otherwise the text of each size is compared
    """
    def held_text_at(sizes):
        made, weights = text_at(sizes)
        return made, held(weights)

    text = _options.options_json(options)
    return _native().compile_any_size(held_text_at, list(dimensions), list(example), list(open_axes),
                                      follows_rules, text, progress, log)


def load(path, *, threads=0, share_threads=False, device=None):
    """Loads a bundle, which `tunec build` wrote: an Executable, without compiling anything.

    threads  of a run; 0: as many as it was built for, at most one for each core
    device   of a bundle that is for GPUs, too: the number or the UUID of one, or "cpu"; None: the first
             GPU that runs it, else the CPU

    Its machine code is run as it is: load bundles only from those whose programs you would run.
    """
    return _native().load(os.fspath(path), threads, share_threads, device)


def _compile_text(model, weights, text, progress, log):
    if weights is None:
        return _native().compile_bytes(model.encode(), "graph", text, progress, log)
    return _native().compile_graph(model, held(weights), text, progress, log)


def _is_torch(model):
    """Whether it is a Module or an exported program. torch is not imported for the question: what is
    of torch has imported it."""
    torch = sys.modules.get("torch")
    if torch is None or isinstance(model, (str, bytes)):
        return False
    if isinstance(model, torch.nn.Module):
        return True
    export = sys.modules.get("torch.export")
    return export is not None and isinstance(model, export.ExportedProgram)
