"""The pieces that the scripts of this folder share: ONNX Runtime, and a counter of tunec's
executables."""
import tempfile
from pathlib import Path


def onnxruntime_call(export, threads):
    """Returns a function that runs a model in ONNX Runtime, and the names of the inputs. The
    function's argument is a dictionary of tensors, which may have more names. Its result is a list
    of tensors. `export` writes the model to a given path."""
    import numpy
    import onnxruntime
    import torch
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        export(path)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    names = [port.name for port in session.get_inputs()]

    def call(tensors):
        fed = {name: numpy.ascontiguousarray(tensors[name].numpy()) for name in names}
        return [torch.from_numpy(array) for array in session.run(None, fed)]
    return call, names


class Compiles:
    """The executables that tunec makes, by a replaced method of tunec.torch."""

    def __init__(self):
        from tunec.torch import ImportedGraph
        self.exact, self.dynamic = 0, []
        compile_graph = ImportedGraph.compile

        def compiled(*arguments, **options):
            executable = compile_graph(*arguments, **options)
            if "compiled" in executable.report:
                self.dynamic.append(executable)
            else:
                self.exact += 1
            return executable
        ImportedGraph.compile = compiled

    def reports(self):
        """Returns the report of each dynamic model."""
        return [executable.report for executable in self.dynamic]

    def total(self):
        """Returns the number of executables."""
        return self.exact + sum(report["compiled"] for report in self.reports())
