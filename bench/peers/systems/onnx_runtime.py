"""The peer that runs models in ONNX Runtime."""
import numpy as np

from .peer import Peer


class Ort(Peer):
    """ONNX Runtime's CPU provider with all graph optimisations, inputs and outputs bound."""

    def load(self, path, inputs, outputs):
        import onnxruntime as ort
        o = ort.SessionOptions()
        o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        o.intra_op_num_threads, o.inter_op_num_threads = self.threads, 1
        o.log_severity_level = 3
        self.session = ort.InferenceSession(path, o, providers=["CPUExecutionProvider"])
        self.bind = self.session.io_binding()
        self.keep_alive = [ort.OrtValue.ortvalue_from_numpy(x) for x in inputs.values()]
        for name, x in zip(inputs, self.keep_alive):
            self.bind.bind_ortvalue_input(name, x)
        self.out = [ort.OrtValue.ortvalue_from_numpy(np.empty_like(y)) for y in outputs.values()]
        for name, y in zip(outputs, self.out):
            self.bind.bind_ortvalue_output(name, y)

    def run(self):
        self.session.run_with_iobinding(self.bind)

    def results(self):
        return [y.numpy() for y in self.out]

    def version(self):
        return __import__("onnxruntime").__version__
