"""The peers that run models in OpenVINO, in float32 or in bfloat16."""
from .peer import Peer


class OpenVino(Peer):
    """OpenVINO's CPU plugin, latency mode, one stream."""
    precision = "f32"

    def load(self, path, inputs, outputs):
        import openvino as ov
        core = ov.Core()
        self.net = core.compile_model(core.read_model(path), "CPU", {
            "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": "1",
            "INFERENCE_NUM_THREADS": self.threads, "INFERENCE_PRECISION_HINT": self.precision})
        self.request = self.net.create_infer_request()
        self.keep_alive = list(inputs.values())
        for name, x in inputs.items():
            self.request.set_tensor(name, ov.Tensor(x, shared_memory=True))
        self.names = list(outputs)

    def run(self):
        self.request.infer()

    def results(self):
        return [self.request.get_tensor(n).data for n in self.names]

    def version(self):
        return __import__("openvino").__version__


class OpenVinoBf16(OpenVino):
    """OpenVINO computing in bf16 (its default if the CPU has AMX)."""
    precision = "bf16"
