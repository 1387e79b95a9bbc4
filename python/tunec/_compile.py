"""Implements `tunec.compile` and `tunec.load` by calls of the native module."""
from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, overload

from . import _options
from ._errors import InvalidArgument
from ._held import held
from ._library import native

if TYPE_CHECKING:
    import torch

    from ._native import Executable, Progress
    from .torch import CompiledModule

    Path = str | os.PathLike[str]
    Bytes = bytes | bytearray | memoryview
    OnProgress = Callable[[Progress], object] | None
    OnLine = Callable[[str], object] | None


def _is_graph_text(model: object) -> bool:
    return isinstance(model, str) and "\n" in model and model.lstrip().startswith(("graph", "#", "//"))


# A path may name a .pt2 file, whose result is a CompiledModule.
@overload
def compile(model: Path, inputs: None = None, *, weights: Mapping[str, object] | None = None,
            progress: OnProgress = None, log: OnLine = None, **options: Any) -> Executable | Any: ...


@overload
def compile(model: Bytes, inputs: None = None, *, weights: None = None, progress: OnProgress = None,
            log: OnLine = None, **options: Any) -> Executable: ...


@overload
def compile(model: torch.nn.Module | torch.export.ExportedProgram, inputs: object = None, *,
            progress: OnProgress = None, log: OnLine = None, **options: Any) -> CompiledModule: ...


def compile(model: Any, inputs: object = None, *, weights: Mapping[str, object] | None = None,
            progress: OnProgress = None, log: OnLine = None, **options: Any) -> Any:
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
             (None: no database), threads=0, accuracy="f32", dims={"batch": 8} (dimensions without
             a size are dynamic), constants={"rate": 16000},
             layouts={"x": "channels_last"}, ...
             With background=True, tuning continues after the call and replaces the code at its end:
             see Executable.wait_tuning

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
        return _warned(native().compile_bytes(bytes(model), "", text, progress, log))
    if _is_graph_text(model):
        return _warned(_compile_text(model, weights, text, progress, log))
    if weights is not None:
        raise InvalidArgument("weights are for a .graph text; a file has its own")
    path = os.fspath(model)
    if path.endswith(".pt2"):
        from .torch import compile_program_file
        return compile_program_file(path, progress=progress, log=log, **options)
    return _warned(native().compile_file(path, text, progress, log))


def _warned(executable: Any) -> Any:
    """Returns the executable. Warns if code for dynamic shapes cannot be padded, because the first
    run of each size then compiles the model."""
    if any(-1 in spec.shape for spec in executable.inputs):
        reason = executable.report.get("refusal")
        if reason:
            warnings.warn(f"each new size compiles the model anew: {reason}. If only a few sizes "
                          "occur, give each dimension one size (dims=)", stacklevel=3)
    return executable


def load(path: Path, *, threads: int = 0, share_threads: bool = False,
         device: str | None = None) -> Executable:
    """Loads a bundle that `tunec build` wrote. Returns an Executable; nothing is compiled.

    threads        threads of a run; 0: the number that the bundle was built for, at most one per
                   core
    share_threads  True: runs share one thread pool with other executables
    device         for a bundle with GPU code: the number or UUID of a GPU, or "cpu"; None: the
                   first GPU that can run the bundle, else the CPU

    The bundle's machine code is run unchecked: load bundles only from sources that you trust.
    """
    return native().load(os.fspath(path), threads, share_threads, device)


def _compile_text(model: str, weights: Mapping[str, object] | None, text: str, progress: OnProgress,
                  log: OnLine) -> Executable:
    if weights is None:
        return native().compile_bytes(model.encode(), "graph", text, progress, log)
    return native().compile_graph(model, held(weights), text, progress, log)


def _is_torch(model: object) -> bool:
    """Tests for a Module or an exported program. torch is not imported here: if the program has an
    object of torch, it has imported torch already."""
    torch = sys.modules.get("torch")
    if torch is None or isinstance(model, (str, bytes)):
        return False
    if isinstance(model, torch.nn.Module):
        return True
    export = sys.modules.get("torch.export")
    return export is not None and isinstance(model, export.ExportedProgram)
